//! The data of a report, as its JSON.
//!
//! Tables are written by column, and names once: the report of 10,000 functions stays small.

use serde::Serialize;

/// Name of the JSON form.
pub const SCHEMA: &str = "cuweld-report";
/// Version of the JSON form: raised when a field changes its meaning or goes away.
pub const SCHEMA_VERSION: u32 = 1;

/// The data of a report.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// What the report is about.
    pub title: String,
    /// What made it.
    pub tool: String,
    /// Images of device code.
    pub images: Vec<Image>,
    /// The link that made the file, if the report is that of a link.
    pub link: Option<Link>,
}

/// An image of device code.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Image {
    /// The file, with the member of an archive that it stands in.
    pub name: String,
    /// Architecture, with the kind of code.
    pub arch: String,
    /// Whether it is linked.
    pub linked: bool,
    /// Size in bytes, after unpacking.
    pub size: u64,
    /// Bytes of memory.
    pub memory: u64,
    /// Texts that the tables refer to by number.
    pub labels: Vec<String>,
    /// Its parts.
    pub leaves: Leaves,
    /// What the parts belong to.
    pub symbols: Symbols,
    /// Its functions.
    pub functions: Functions,
    /// Prototypes by which functions are called.
    pub prototypes: Vec<String>,
    /// For each function, then for each prototype, what it calls: numbers of functions, then of
    /// prototypes.
    pub callees: Vec<Vec<usize>>,
    /// Shared memory of kernels.
    pub shared: Vec<SharedBlock>,
    /// Constant banks.
    pub constants: Vec<Bank>,
    /// Functions with the same code, those that waste most first.
    pub duplicates: Vec<Duplicate>,
}

/// The parts of an image, a column for each field.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Leaves {
    /// Kind of section, as a label.
    pub kind: Vec<u32>,
    /// Row of [`Symbols`].
    pub symbol: Vec<u32>,
    /// Object that it came from, as a label; empty if that is not known.
    pub object: Vec<u32>,
    /// Bytes in the image.
    pub file: Vec<u64>,
    /// Bytes of memory.
    pub memory: Vec<u64>,
}

/// What parts belong to, a column for each field.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Symbols {
    /// The symbol, as a label.
    pub name: Vec<u32>,
    /// The kernel that alone reaches it, as a label.
    pub kernel: Vec<u32>,
    /// Its template, as a label.
    pub template: Vec<u32>,
    /// Row of [`Functions`], if it is a function.
    pub function: Vec<Option<usize>>,
}

/// Functions, a column for each field.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Functions {
    /// The name in the file.
    pub name: Vec<String>,
    /// The name as in the source, if that is another.
    pub source: Vec<Option<String>>,
    /// Whether it is a kernel (1) or not (0), or defined elsewhere (2).
    pub kind: Vec<u8>,
    /// Bytes of code.
    pub code: Vec<u64>,
    /// Registers.
    pub registers: Vec<Option<u32>>,
    /// Bytes of stack of its own.
    pub frame: Vec<Option<u32>>,
    /// Bytes of stack of a kernel with all that it calls; -1 with recursion.
    pub stack: Vec<Option<i64>>,
    /// Bytes of shared memory.
    pub shared: Vec<u64>,
    /// Bytes of constants.
    pub constants: Vec<u64>,
    /// Object that its code came from, as a label; empty if that is not known.
    pub object: Vec<Option<u32>>,
}

/// The shared memory of a kernel.
#[derive(Clone, Debug, Serialize)]
pub struct SharedBlock {
    /// Row of [`Functions`].
    pub function: usize,
    /// Bytes of a block.
    pub size: u64,
    /// Name, address and size in bytes of each variable that is known, by address.
    pub variables: Vec<(String, u64, u64)>,
}

/// A constant bank.
#[derive(Clone, Debug, Serialize)]
pub struct Bank {
    /// Its section.
    pub section: String,
    /// Row of [`Functions`], if it belongs to one.
    pub function: Option<usize>,
    /// Bytes.
    pub size: u64,
    /// Name, offset and size in bytes of what is known to lie in it, by offset. A name that is a
    /// number is that of a parameter.
    pub entries: Vec<(String, u64, u64)>,
}

/// Functions with the same code.
#[derive(Clone, Debug, Serialize)]
pub struct Duplicate {
    /// Bytes of code of each.
    pub size: u64,
    /// Rows of [`Functions`].
    pub functions: Vec<usize>,
}

/// A link.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Link {
    /// The pipeline.
    pub pipeline: String,
    /// What says which kernels host code refers to: `nothing`, `options` or `host`; `None` if the
    /// link did not get there.
    pub known_by: Option<&'static str>,
    /// The passes that ran.
    pub passes: Vec<Pass>,
    /// What was left out.
    pub dropped: Dropped,
}

/// A pass that ran.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Pass {
    /// Its place in the pipeline, from 1.
    pub number: usize,
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// Included pipelines that it comes from.
    pub via: Vec<String>,
    /// Whether it says that it changed the module.
    pub changed: bool,
    /// What it counted.
    pub counters: Vec<(&'static str, u64)>,
    /// Milliseconds, if times were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<f64>,
    /// What it changed in the text of the module; `None` of modules that are too large.
    pub diff: Option<Diff>,
}

/// What changed in a text.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Diff {
    /// Lines that are new.
    pub added: usize,
    /// Lines that are gone.
    pub removed: usize,
    /// The first lines of the unified diff.
    pub text: String,
    /// How many lines of it are left out.
    pub omitted: usize,
}

/// Sections that were left out, a column for each field, largest first.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Dropped {
    /// Texts that the columns refer to.
    pub labels: Vec<String>,
    /// Object, as a label.
    pub object: Vec<u32>,
    /// Name of the section, as in the source.
    pub section: Vec<String>,
    /// Bytes.
    pub size: Vec<u64>,
    /// Reason, as a label.
    pub reason: Vec<u32>,
    /// For a definition that was not taken: the object of the one that was, and why, as a label.
    pub instead: Vec<Option<u32>>,
    /// Reason, number and bytes of all sections.
    pub totals: Vec<(&'static str, usize, u64)>,
}
