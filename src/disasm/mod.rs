//! The instructions of device code: `cuweld disasm`.
//!
//! ```text
//! inspect::Report ──of_file──▶ Listing (functions, rows) ──▶ text
//!                                                        ──▶ JSON (serde)
//! ```
//!
//! What an instruction writes and reads comes from the tables of [`cuweld_elf::sass::operands`], its
//! control bits from [`cuweld_elf::sass::Instruction`]; modifiers, immediates and addresses are not decoded. Beside it
//! stand its line of the source, the relocations that change it and, for sm_100 and later, the Mercury
//! item that stands for it.

mod lines;
mod rows;
pub mod text;

use std::collections::BTreeMap;

use cuweld_elf::symbol::SymbolType;
use cuweld_elf::target::section_types::SectionFlags;
use serde::Serialize;

use self::lines::Lines;
use crate::inspect::DeviceElf;
use crate::inspect::Name;
use crate::inspect::Node;
use crate::inspect::device_model::Demangled;
use crate::inspect::device_model::MercuryCode;
use crate::inspect::device_model::Place;
use crate::inspect::device_model::Relocations;
use crate::inspect::device_model::Section;
use crate::inspect::device_model::Symbol;
use crate::inspect::model::Content;

pub use self::rows::Fixup;
pub use self::rows::MercuryItem;
pub use self::rows::Row;

/// Name of the JSON form.
pub const SCHEMA: &str = "cuweld-disasm";
/// Version of the JSON form: raised when a field changes its meaning or goes away.
pub const SCHEMA_VERSION: u32 = 1;

/// The instructions of some files.
#[derive(Debug, Serialize)]
pub struct Listing<'data> {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Device code, in the order in which it stands in the files.
    pub images: Vec<Image<'data>>,
}

/// A device ELF.
#[derive(Debug, Serialize)]
pub struct Image<'data> {
    /// The file, and what leads to the device ELF in it.
    pub path: String,
    /// Architecture, such as `sm_90a`.
    pub arch: String,
    /// The SM number.
    #[serde(skip)]
    pub sm: u16,
    /// Its functions, in the order of their sections.
    pub functions: Vec<Function<'data>>,
}

/// The code of a section, which is a function's.
#[derive(Debug, Serialize)]
pub struct Function<'data> {
    /// Its name; empty if no symbol stands for the whole section.
    pub name: Name<'data>,
    /// The name as in the source, if it is mangled.
    pub demangled: Demangled<'data>,
    /// Its section.
    pub section: Name<'data>,
    /// Size in bytes, with what fills it up.
    pub size: u64,
    /// Its instructions.
    pub instructions: Vec<Row<'data>>,
}

impl<'data> Listing<'data> {
    /// Lists the functions of files for which `wanted` is true: it is asked with the name in the
    /// file and with that in the source.
    pub fn new(files: &[Node<'data>], wanted: &dyn Fn(&str) -> bool) -> Self {
        let mut images = Vec::new();
        for file in files {
            collect(file, "", wanted, &mut images);
        }
        Listing {
            schema: SCHEMA,
            schema_version: SCHEMA_VERSION,
            images,
        }
    }
}

fn collect<'data>(
    node: &Node<'data>,
    within: &str,
    wanted: &dyn Fn(&str) -> bool,
    images: &mut Vec<Image<'data>>,
) {
    let path = match (within, node.name.is_empty()) {
        (_, true) => within.to_owned(),
        ("", false) => node.name.to_string(),
        (within, false) => format!("{within}: {}", node.name),
    };
    if let Content::DeviceElf(elf) = &node.content {
        images.push(image(path, elf, wanted));
        return;
    }
    for child in node.children() {
        collect(child, &path, wanted, images);
    }
}

fn image<'data>(
    path: String,
    elf: &DeviceElf<'data>,
    wanted: &dyn Fn(&str) -> bool,
) -> Image<'data> {
    let lines = Lines::new(elf);
    let sections = about_sections(elf);
    let nothing = About::default();
    let code = elf.sections.iter().filter(|section| is_code(section));
    let functions = code.filter_map(|section| {
        let about = sections.get(&section.index).unwrap_or(&nothing);
        let whole = about.functions.iter().find(|symbol| symbol.value == 0);
        let name = whole.map_or(Name::default(), |symbol| symbol.name);
        let is_wanted = about.functions.iter().any(|symbol| {
            let source = symbol.name.demangled();
            wanted(&symbol.name.to_string()) || source.is_some_and(|source| wanted(&source))
        });
        let is_wanted = is_wanted || wanted(&section.name.to_string());
        is_wanted.then(|| Function {
            name,
            demangled: Demangled(name),
            section: section.name,
            size: section.size,
            instructions: rows::of_section(elf.header.sm, section, about, &lines),
        })
    });
    Image {
        path,
        arch: elf.header.arch.clone(),
        sm: elf.header.sm,
        functions: functions.collect(),
    }
}

/// Returns `true` for sections that hold instructions.
fn is_code(section: &Section<'_>) -> bool {
    SectionFlags::from(section.flags).contains(SectionFlags::EXECINSTR)
        && !section.contents.is_empty()
}

/// What a device ELF says of a section.
#[derive(Debug, Default)]
struct About<'elf, 'data> {
    /// The functions that begin in it.
    functions: Vec<&'elf Symbol<'data>>,
    /// The relocations that change it.
    relocations: Vec<&'elf Relocations<'data>>,
    /// Its Mercury code.
    mercury: Option<&'elf MercuryCode<'data>>,
}

/// Returns what a device ELF says of its sections, by their index. Linear in its tables.
fn about_sections<'elf, 'data>(elf: &'elf DeviceElf<'data>) -> BTreeMap<u32, About<'elf, 'data>> {
    let mut sections: BTreeMap<u32, About<'_, '_>> = BTreeMap::new();
    for symbol in elf.symbol_tables.iter().flat_map(|table| &table.symbols) {
        if let Place::In { index, .. } = symbol.section
            && symbol.ty.value == u32::from(SymbolType::FUNC.0)
        {
            sections.entry(index).or_default().functions.push(symbol);
        }
    }
    for list in &elf.relocations {
        if let Some(holder) = elf.sections.get(list.section_index as usize) {
            let about = sections.entry(holder.info).or_default();
            about.relocations.push(list);
        }
    }
    for code in &elf.mercury {
        sections.entry(code.code.text).or_default().mercury = Some(code);
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::Listing;
    use crate::disasm::text::TextOptions;
    use crate::disasm::text::write_listing;
    use crate::input::InputArena;
    use crate::inspect::inspect_bytes;

    #[test]
    fn instructions_of_another_form_are_not_read() {
        let bytes = include_bytes!("../../tests/links/inputs/ewp-toolkit/sm_90/a.cubin");
        let mut bytes = bytes.to_vec();
        // The SM number in the flags.
        bytes[49] = 61;
        let arena = InputArena::new();
        let listing = Listing::new(&[inspect_bytes(b"a", &bytes, &arena)], &|_| true);
        assert!(listing.images[0].functions[0].instructions.is_empty());
        let options = TextOptions {
            bits: false,
            mercury: false,
            demangle: true,
        };
        let mut text = Vec::new();
        write_listing(&listing, options, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(
            text.contains("instructions before sm_75 are not read"),
            "{text}"
        );
    }
}
