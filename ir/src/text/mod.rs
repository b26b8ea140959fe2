//! The text form of a module, `.lir`: printed at any phase, parsed back to an equal module.
//!
//! The grammar is described in `docs/framework/lir.md`. Rows are lines; the first word of a line
//! says what it is, so that blocks and indentation only help the eye. A row that defines an entity
//! begins with its id, and ids of a table count up through the file. A reference is an id with its
//! name as an annotation, `%12:_Z3foov`, which the parser compares with the table.
//!
//! - `rows`, `link_rows`, `plan_rows`, `finding_rows`: the fields of every row, declared once; `fields`: what a declaration is;
//!   `values`: how values are written; `attributes`: the row that has no fixed fields; `options`: those of the link.
//! - `print`, `print_tables`: the printer. `parse`, `parse_tables`, `parse_values`, `reading`: the parser.
//! - `renumber`: ids of an edited text that count up again.
//! - `lexer`: positions and tokens; `references`: what is checked once the tables are complete; `tables`: rows by prefix.
//! - `content`: bytes as slices of an image, as hex or as a hash; `rebuild`: the output image.
//! - [`outline`]: where rows and ids stand, also of a text that does not parse.
//! - [`vocabulary`]: what words mean, for editors.
//! - `quote`, `words`: how names and enumerations are spelled; `names`: the words for programs.
//!
//! Both directions are linear in the size of the text. The parser never panics, and every reference
//! of a module that it returns is an id of its table.

mod attributes;
mod content;
pub(crate) mod fields;
mod finding_rows;
mod json;
mod lexer;
mod link_rows;
mod names;
mod options;
pub mod outline;
mod parse;
mod parse_tables;
mod parse_values;
mod plan_rows;
mod print;
mod print_tables;
mod quote;
mod reading;
mod rebuild;
mod references;
mod renumber;
mod rows;
mod tables;
mod values;
pub mod vocabulary;
mod words;

#[cfg(test)]
mod tests;

use thiserror::Error;

pub use json::rows_as_json;
pub use names::binding_by_name;
pub use names::format_name;
pub use names::reloc_type_name;
pub use options::OptionPlace;
pub use options::option_places;
pub use parse::parse;
pub use print::print;
pub use print::print_filtered;
pub use renumber::renumber;

/// How section contents are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DumpBytes {
    /// As slices of the inputs, which are named by their SHA-256: `@0[0x40..0x80]`. Parses back
    /// with the inputs at hand.
    #[default]
    Ref,
    /// As slices of the inputs, which are printed whole. Parses back alone.
    Full,
    /// As a hash and a size. Does not parse back; for comparing dumps.
    Hash,
}

impl DumpBytes {
    /// All forms.
    pub const ALL: [DumpBytes; 3] = [DumpBytes::Ref, DumpBytes::Full, DumpBytes::Hash];

    /// Returns the option's name on the command line and in the text form.
    pub fn name(self) -> &'static str {
        match self {
            DumpBytes::Ref => "ref",
            DumpBytes::Full => "full",
            DumpBytes::Hash => "hash",
        }
    }

    /// Returns the form with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name() == name)
    }
}

/// Which entities a filtered dump shows.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Filter {
    /// An entity is shown if its name, or a name that it refers to, contains one of these.
    pub names: Vec<String>,
}

/// What the text form says of an input image, for finding it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageKey<'a> {
    /// SHA-256 of the whole image.
    pub sha256: [u8; 32],
    /// Its size in bytes.
    pub size: u64,
    /// The input as the user gave it.
    pub name: &'a [u8],
    /// The archive or fatbin member, empty if the input is the image itself.
    pub member: &'a [u8],
}

/// Why a text is no module.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {message}")]
pub struct ParseError {
    /// Line, counted from 1.
    pub line: usize,
    /// Column in bytes, counted from 1.
    pub column: usize,
    /// What was expected and what was found.
    pub message: String,
    /// What to do about it, if there is something.
    pub help: Option<&'static str>,
}
