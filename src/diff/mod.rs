//! How two device ELF files differ, in a linker's terms: `cuweld diff`.
//!
//! ```text
//! two images ──inspect──▶ two models ──match by name──▶ rows of both, rows of one
//!                                                            │
//!              fields, contents, order, layout ◀─────────────┘
//! ```
//!
//! Rows are matched by name (the k-th of a name with the k-th), then compared field by field. What
//! refers to sections and symbols is compared by their names, so that a shifted index is no
//! difference. The order of rows comes after everything else, file offsets last: they follow from
//! the rest. If the models are equal and the bytes are not, `locate` says what lies at the first
//! byte that differs.

mod contents;
mod headers;
mod layout;
mod locate;
mod matching;
mod model;
mod records;
mod symbols;
#[cfg(test)]
mod tests;
pub mod text;

pub use model::Category;
pub use model::DiffReport;
pub use model::Difference;
pub use model::SCHEMA;
pub use model::SCHEMA_VERSION;

use crate::inspect::Content;
use crate::inspect::DeviceElf;
use crate::inspect::InspectError;
use crate::inspect::Node;
use crate::inspect::decode_device_elf;

/// Returns all differences of two device ELF files; none if their bytes are equal. An error says
/// which of the files, 0 or 1, cannot be read.
pub fn diff_images(left: &[u8], right: &[u8]) -> Result<Vec<Difference>, (usize, InspectError)> {
    if left == right {
        return Ok(Vec::new());
    }
    let read = |side: usize, image| -> Result<DeviceElf<'_>, (usize, InspectError)> {
        let (elf, errors) = decode_device_elf(image).map_err(|error| (side, error.into()))?;
        match errors.into_iter().next() {
            Some(error) => Err((side, error)),
            None => Ok(elf),
        }
    };
    let (left_elf, right_elf) = (read(0, left)?, read(1, right)?);
    let mut diff = Diff::default();
    diff.compare(&left_elf, &right_elf);
    if diff.found.is_empty() {
        diff.found
            .push(locate::first_byte(left, right, &left_elf, &right_elf));
    }
    Ok(diff.found)
}

/// Returns the one device ELF that a file is or holds; an error says why there is none, or that
/// there are several.
pub fn only_image<'data>(file: &Node<'data>) -> Result<&'data [u8], String> {
    let mut images = Vec::new();
    device_images(file, &mut images);
    let name = file.name;
    match images[..] {
        [image] => Ok(image),
        [] => match file.all_errors().first() {
            Some((place, error)) => Err(format!("{place}: {error}")),
            None => Err(format!("'{name}' holds no device ELF")),
        },
        _ => Err(format!(
            "'{name}' holds {} device ELF files; unpack those to be compared",
            images.len()
        )),
    }
}

fn device_images<'data>(node: &Node<'data>, images: &mut Vec<&'data [u8]>) {
    if let Content::DeviceElf(elf) = &node.content {
        images.push(elf.image);
    }
    for child in node.children() {
        device_images(child, images);
    }
}

/// Collects differences.
#[derive(Default)]
struct Diff {
    found: Vec<Difference>,
}

impl Diff {
    /// Compares two files. The differences that matter most come first.
    fn compare<'data>(&mut self, left: &DeviceElf<'data>, right: &DeviceElf<'data>) {
        self.header(&left.header, &right.header);
        let sections = matching::match_rows(&left.sections, &right.sections, |row| row.name);
        self.sections(&left.sections, &right.sections, &sections);
        self.symbol_tables(&left.symbol_tables, &right.symbol_tables);
        self.attributes(&left.attributes, &right.attributes);
        self.relocations(left, right);
        self.notes(&left.notes, &right.notes);
        self.call_graph(&left.call_graph, &right.call_graph);
        self.prototypes(&left.prototypes, &right.prototypes);
        self.contents(left, right, &sections);
        self.segments(&left.segments, &right.segments);
        self.section_order(left, right, &sections);
        // Stable: within a category differences stay in file order.
        self.found.sort_by_key(|difference| difference.category);
        self.layout(left, right, &sections);
    }

    /// Compares a field. `subject` is asked only if the values differ.
    fn field<T: PartialEq + ToString>(
        &mut self,
        category: Category,
        subject: impl FnOnce() -> String,
        field: &'static str,
        left: T,
        right: T,
    ) -> Option<&mut Difference> {
        if left == right {
            return None;
        }
        self.found.push(Difference {
            category,
            subject: subject(),
            source_name: None,
            field: Some(field),
            left: Some(left.to_string()),
            right: Some(right.to_string()),
            within: None,
        });
        self.found.last_mut()
    }

    /// Adds a row that only one file has.
    fn lone(&mut self, category: Category, subject: String, row: Side<String>) -> &mut Difference {
        let (left, right) = match row {
            Side::Left(text) => (Some(text), None),
            Side::Right(text) => (None, Some(text)),
        };
        let at = self.found.len();
        self.found.push(Difference {
            category,
            subject,
            source_name: None,
            field: None,
            left,
            right,
            within: None,
        });
        &mut self.found[at]
    }

    /// Says where two sequences of rows, all of which are in both files, are in another order.
    fn order(
        &mut self,
        subject: &str,
        matched: &matching::Matched,
        left: impl Fn(usize) -> String,
        right: impl Fn(usize) -> String,
    ) {
        if let Some((place, at_left, at_right)) = matched.first_out_of_order() {
            self.found.push(Difference {
                category: Category::Order,
                subject: subject.to_owned(),
                source_name: None,
                field: Some("order"),
                left: Some(left(at_left)),
                right: Some(right(at_right)),
                within: Some(format!("number {place} of those in both")),
            });
        }
    }
}

/// One of the two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side<T> {
    Left(T),
    Right(T),
}

/// A number that shows in hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq)]
struct HexNumber(u64);

impl std::fmt::Display for HexNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}
