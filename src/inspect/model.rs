//! The report: files, what wraps device code in them, and device code.
//!
//! The JSON form is these types as serde writes them. Fields are only added within a
//! [`SCHEMA_VERSION`].

use serde::Serialize;

use super::code_names::Coded;
use super::device_model::DeviceElf;
use super::error::InspectError;
use super::name::Name;

/// Name of the JSON form.
pub const SCHEMA: &str = "cuweld-inspect";
/// Version of the JSON form: raised when a field changes its meaning or goes away.
pub const SCHEMA_VERSION: u32 = 1;

/// What is in some files.
#[derive(Clone, Debug, Serialize)]
pub struct Report<'data> {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Which tables of device ELF files are listed; the others are empty.
    pub tables: Vec<&'static str>,
    /// The files, in the order in which they were named.
    pub files: Vec<Node<'data>>,
}

impl<'data> Report<'data> {
    /// Creates a report about files.
    pub fn new(files: Vec<Node<'data>>) -> Self {
        Report {
            schema: SCHEMA,
            schema_version: SCHEMA_VERSION,
            tables: Vec::new(),
            files,
        }
    }
}

/// A file, or something within one.
#[derive(Clone, Debug, Serialize)]
pub struct Node<'data> {
    /// Path of a file, name of an archive's member, section of a fatbin, identifier of a fatbin's
    /// member.
    pub name: Name<'data>,
    /// Offset in bytes within what holds it.
    pub offset: u64,
    /// Size in bytes.
    pub size: u64,
    /// What it is.
    #[serde(flatten)]
    pub content: Content<'data>,
    /// What could not be read of it, apart from errors of what it holds.
    pub errors: Vec<InspectError>,
}

/// What a file, or something within one, is.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Content<'data> {
    /// An archive.
    Archive(Archive<'data>),
    /// An ELF file of the host.
    HostElf(HostElf<'data>),
    /// A region of a fatbin.
    Fatbin(Fatbin<'data>),
    /// A member of a fatbin.
    FatbinMember(Box<FatbinMember<'data>>),
    /// A device ELF.
    DeviceElf(Box<DeviceElf<'data>>),
    /// PTX text.
    Ptx(Ptx<'data>),
    /// LTO-IR, obfuscated or not.
    LtoIr,
    /// Something else.
    Unknown,
}

/// An archive.
#[derive(Clone, Debug, Serialize)]
pub struct Archive<'data> {
    /// Whether it names its members' files instead of holding them.
    pub thin: bool,
    /// Its members, in order.
    pub members: Vec<Node<'data>>,
}

/// An ELF file of the host.
#[derive(Clone, Debug, Serialize)]
pub struct HostElf<'data> {
    /// `e_type`.
    pub file_type: Coded,
    /// `e_machine`.
    pub machine: Coded,
    /// Ids under which the host registers its device modules.
    pub module_ids: Vec<Name<'data>>,
    /// For a stub of an earlier device link: the modules that were linked then.
    pub prelinked_ids: Vec<Name<'data>>,
    /// Kernels and variables that the host code refers to.
    pub references: Vec<HostReference<'data>>,
    /// Fatbins in `__nv_relfatbin` (relocatable device code) and `.nv_fatbin` (finished).
    pub fatbins: Vec<Node<'data>>,
}

/// A pattern of a `.nvHR*` section.
#[derive(Clone, Debug, Serialize)]
pub struct HostReference<'data> {
    /// Section that it stands in.
    pub section: &'static str,
    /// What it is about.
    pub about: &'static str,
    /// The pattern.
    pub pattern: Name<'data>,
}

/// A region of a fatbin.
#[derive(Clone, Debug, Serialize)]
pub struct Fatbin<'data> {
    /// Format version.
    pub version: u16,
    /// Whether a device linker looks at it: only the first region of `__nv_relfatbin` or a file
    /// counts.
    pub linkable: bool,
    /// Its members, in order.
    pub members: Vec<Node<'data>>,
}

/// A member of a fatbin.
#[derive(Clone, Debug, Serialize)]
pub struct FatbinMember<'data> {
    /// `elf`, `ptx`, `lto-ir` or `other`.
    pub code: &'static str,
    /// The kind field.
    pub code_value: u16,
    /// Architecture, such as `sm_90a`.
    pub arch: String,
    /// Version of the PTX ISA or ELF format: `9.0`.
    pub version: String,
    /// All flags.
    pub flags: u64,
    /// Names of the flags that have one.
    pub flag_names: Vec<&'static str>,
    /// How the data is packed.
    pub codec: &'static str,
    /// Bytes in the fatbin, without padding if it is packed.
    pub stored_size: u64,
    /// Size of the data after unpacking.
    pub unpacked_size: u64,
    /// Options that it was or is to be compiled with.
    pub options: Name<'data>,
    /// The data, if it can be unpacked.
    pub data: Option<Box<Node<'data>>>,
}

/// PTX text.
#[derive(Clone, Debug, Serialize)]
pub struct Ptx<'data> {
    /// Operand of `.version`.
    pub version: Name<'data>,
    /// Operand of `.target`.
    pub target: Name<'data>,
}

impl<'data> Node<'data> {
    /// Creates a node without damage.
    pub fn new(name: Name<'data>, bytes: &[u8], content: Content<'data>) -> Self {
        Node {
            name,
            offset: 0,
            size: bytes.len() as u64,
            content,
            errors: Vec::new(),
        }
    }

    /// Returns the nodes within.
    pub fn children(&self) -> Vec<&Node<'data>> {
        match &self.content {
            Content::Archive(archive) => archive.members.iter().collect(),
            Content::HostElf(host) => host.fatbins.iter().collect(),
            Content::Fatbin(fatbin) => fatbin.members.iter().collect(),
            Content::FatbinMember(member) => member.data.iter().map(Box::as_ref).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the nodes within, to be changed.
    pub fn children_mut(&mut self) -> Vec<&mut Node<'data>> {
        match &mut self.content {
            Content::Archive(archive) => archive.members.iter_mut().collect(),
            Content::HostElf(host) => host.fatbins.iter_mut().collect(),
            Content::Fatbin(fatbin) => fatbin.members.iter_mut().collect(),
            Content::FatbinMember(member) => member.data.iter_mut().map(Box::as_mut).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns all errors of this node and those within, with the names on the way there.
    pub fn all_errors(&self) -> Vec<(String, &InspectError)> {
        let mut found: Vec<_> = self
            .errors
            .iter()
            .map(|error| (self.name.to_string(), error))
            .collect();
        for child in self.children() {
            found.extend(child.all_errors().into_iter().map(|(place, error)| {
                let place = if child.name.is_empty() {
                    self.name.to_string()
                } else {
                    format!("{}: {place}", self.name)
                };
                (place, error)
            }));
        }
        found
    }
}
