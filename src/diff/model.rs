//! A difference, and the list of them.

use serde::Serialize;

/// Name of the JSON form.
pub const SCHEMA: &str = "cuweld-diff";
/// Version of the JSON form: raised when a field changes its meaning or goes away.
pub const SCHEMA_VERSION: u32 = 1;

/// What a difference is about, in the order in which they are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// A field of the file header.
    Header,
    /// A section, or a field of its header.
    Section,
    /// A symbol, or a field of it.
    Symbol,
    /// A record of `.nv.info*` or `.nv.compat`.
    Attribute,
    /// A relocation.
    Relocation,
    /// A note.
    Note,
    /// A row of `.nv.callgraph`.
    CallGraph,
    /// A row of `.nv.prototype`.
    Prototype,
    /// Bytes of code or data.
    Contents,
    /// A program header.
    Segment,
    /// The order of rows that are in both files.
    Order,
    /// Offsets and indices, which follow from the rest.
    Layout,
    /// A byte that belongs to none of the above.
    Byte,
}

impl Category {
    /// Returns the category's name in text.
    pub fn name(self) -> &'static str {
        match self {
            Category::Header => "file",
            Category::Section => "section",
            Category::Symbol => "symbol",
            Category::Attribute => "attribute",
            Category::Relocation => "relocation",
            Category::Note => "note",
            Category::CallGraph => "call graph",
            Category::Prototype => "prototype",
            Category::Contents => "contents",
            Category::Segment => "segment",
            Category::Order => "order",
            Category::Layout => "layout",
            Category::Byte => "byte",
        }
    }
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// What it is about.
    pub category: Category,
    /// Which row: a name, or a place such as `.text.k+0x40`.
    pub subject: String,
    /// The subject's name as in the source, if it has a mangled one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_name: Option<String>,
    /// Which field of it; none if only one file has the row.
    pub field: Option<&'static str>,
    /// The value, or the whole row, in the first file; none if it does not have it.
    pub left: Option<String>,
    /// The same in the second file.
    pub right: Option<String>,
    /// More about the place: the symbol that covers it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
}

/// The differences of two files.
#[derive(Clone, Debug, Serialize)]
pub struct DiffReport {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Name of the first file.
    pub left: String,
    /// Name of the second file.
    pub right: String,
    /// Whether all bytes are equal.
    pub identical: bool,
    /// How many differences there are.
    pub total: usize,
    /// The first of them.
    pub differences: Vec<Difference>,
}

impl DiffReport {
    /// Creates a report with at most `limit` of the differences.
    pub fn new(left: &str, right: &str, mut differences: Vec<Difference>, limit: usize) -> Self {
        let total = differences.len();
        differences.truncate(limit);
        DiffReport {
            schema: SCHEMA,
            schema_version: SCHEMA_VERSION,
            left: left.to_owned(),
            right: right.to_owned(),
            identical: total == 0,
            total,
            differences,
        }
    }
}
