//! The link map: where everything lies in the output, and which input it came from.
//!
//! The map is read off the output layout and the tables of a finished module, so that it shows what
//! the writer writes. It takes time linear in sections, pieces and symbols, and n log n in those of
//! one output section that are not in order of their offsets.
//!
//! Symbols are those of `.symtab`. The second symbol table of a file with Mercury names the same
//! things.

mod contributions;
mod dropped;
mod map_input;
mod pieces;
mod print;
#[cfg(test)]
mod tests;

use cuweld_elf::raw::SHN_LORESERVE;
use cuweld_elf::raw::SHN_XINDEX;
use cuweld_elf::symbol::Binding;
use cuweld_elf::symbol::SymbolType;
use cuweld_elf::target::section_types::is_no_bits;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::Module;
use cuweld_ir::OutputLayout;
use cuweld_ir::Phase;
use cuweld_ir::plan::PlanContent;
use cuweld_ir::plan::PlanSymbol;
use serde::Deserialize;
use serde::Serialize;

use self::contributions::Contributions;

/// What lies where in the output of a link.
///
/// It is printed as a table whose columns are in lld's order; addresses are offsets in bytes from
/// the beginning of the section, since sections of device code have no addresses before they are
/// loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LinkMap {
    /// Sections of the output in order of their numbers, the null section first.
    pub sections: Vec<MapSection>,
    /// Sections of linked objects of which the output holds nothing, in the order of the objects.
    pub dropped: Vec<DroppedSection>,
}

/// A section of the output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MapSection {
    /// Its index in the section header table.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// `sh_type`.
    #[serde(rename = "type")]
    pub ty: u32,
    /// Whether the file holds its bytes: memory that begins as zero has none.
    pub in_file: bool,
    /// File offset in bytes.
    pub offset: u64,
    /// `sh_addr`, which is 0 in every output.
    pub address: u64,
    /// Size in bytes.
    pub size: u64,
    /// `sh_addralign` in bytes.
    pub align: u64,
    /// What it consists of, in order of offset. Bytes between pieces are padding.
    pub pieces: Vec<MapPiece>,
}

/// A part of an output section that has one origin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MapPiece {
    /// Offset in bytes in the output section.
    pub offset: u64,
    /// Size in bytes.
    pub size: u64,
    /// Alignment in bytes that its input asks for.
    pub align: u64,
    /// Where it comes from; `None` if the linker made it.
    pub input: Option<MapInput>,
    /// Symbols that are defined in it, in order of their values.
    pub symbols: Vec<MapSymbol>,
}

/// A place in an input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MapInput {
    /// The name of the input as it was given.
    pub name: String,
    /// The member of an archive or a fatbin, if the object is one.
    pub member: Option<String>,
    /// The name of the section; `COMMON` for a tentative definition.
    pub section: String,
    /// Where the piece begins in that section, in bytes: only constants that were laid out one by
    /// one begin after its start.
    pub offset: u64,
}

/// A symbol of the output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MapSymbol {
    /// Its name.
    pub name: String,
    /// The name as in the source, of a mangled one.
    pub demangled: Option<String>,
    /// `st_value`: the offset in bytes in the section, or an address in shared memory.
    pub value: u64,
    /// Size in bytes.
    pub size: u64,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: SymbolKind,
    /// Its binding.
    pub binding: SymbolBinding,
}

/// The type of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SymbolKind {
    /// A function.
    Function,
    /// A variable.
    Object,
    /// A texture reference.
    Texture,
    /// A sampler.
    Sampler,
    /// A surface reference.
    Surface,
    /// Any other type.
    Other,
}

/// The binding of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SymbolBinding {
    /// Local.
    Local,
    /// Strong global.
    Global,
    /// Weak global.
    Weak,
    /// Any other binding.
    Other,
}

/// A section of a linked object of which the output holds nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DroppedSection {
    /// The section.
    pub input: MapInput,
    /// Its size in bytes.
    pub size: u64,
    /// Why it was dropped.
    pub reason: DropReason,
}

/// Why a section was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DropReason {
    /// It belongs to a definition that never prevailed.
    Discarded,
    /// It belongs to a definition that a later one replaced.
    Replaced,
    /// It belongs to a function in whose place another with the same code is linked.
    Folded,
    /// It belongs to a function that no kept kernel reaches.
    Unreachable,
    /// It belongs to a kernel that no host code references.
    Unreferenced,
    /// Links of this kind, or a pass that was asked for, leave it out.
    LeftOut,
}

impl LinkMap {
    /// Builds the map of a module that has an output layout; `text` makes a text of a name, which
    /// may be no UTF-8. Without a layout there is none.
    pub fn new(module: &Module<'_>, text: impl Fn(&[u8]) -> String) -> Option<Self> {
        let plan = module.plan.as_ref()?;
        let mut symbols = symbols(plan, &text);
        let mut contributions = Contributions::new(module, plan);
        let mut sections = Vec::with_capacity(plan.sections.len());
        for ((number, row), symbols) in (0..).zip(&plan.sections).zip(&mut symbols) {
            let symbols = std::mem::take(symbols);
            let parts = contributions.of(number);
            sections.push(MapSection {
                number,
                name: text(row.name),
                ty: row.ty,
                in_file: row.ty != sht::NULL && !is_no_bits(row.ty, row.flags),
                offset: row.offset,
                address: 0,
                // The null section has the number of sections there if the file header has no room.
                size: if row.ty == sht::NULL { 0 } else { row.size },
                align: row.align,
                pieces: match row.ty {
                    sht::NULL => Vec::new(),
                    _ => pieces::pieces(module, row, parts, symbols, &text),
                },
            });
        }
        Some(LinkMap {
            sections,
            dropped: dropped::dropped(module, &text),
        })
    }
}

/// Returns the sections of linked objects that were left out because nothing which stays uses them, in
/// the order of the objects; `None` before this is decided. `text` makes a text of a name.
pub fn unused_sections(
    module: &Module<'_>,
    text: impl Fn(&[u8]) -> String,
) -> Option<Vec<DroppedSection>> {
    (module.phase >= Phase::Live).then(|| dropped::unused(module, text))
}

/// Returns the symbols of each output section, in order of their values.
fn symbols(plan: &OutputLayout<'_>, text: impl Fn(&[u8]) -> String) -> Vec<Vec<MapSymbol>> {
    let mut of_section = vec![Vec::new(); plan.sections.len()];
    let table = plan
        .sections
        .iter()
        .find_map(|section| match section.content {
            PlanContent::Bytes(bytes) if section.ty == sht::SYMTAB_SHNDX => Some(bytes),
            _ => None,
        });
    let indices = table.map_or(&[][..], |bytes| bytes.as_chunks().0);
    for (number, symbol) in plan.symbols.iter().enumerate() {
        let section = match symbol.shndx {
            SHN_XINDEX => indices
                .get(number)
                .map_or(0, |row| u32::from_le_bytes(*row)),
            SHN_LORESERVE.. => 0,
            index => index.into(),
        };
        if section == 0 || symbol.ty == SymbolType::SECTION {
            continue;
        }
        if let Some(symbols) = of_section.get_mut(section as usize) {
            symbols.push(map_symbol(plan, symbol, &text));
        }
    }
    for symbols in &mut of_section {
        symbols.sort_by_key(|symbol| symbol.value);
    }
    of_section
}

fn map_symbol(
    plan: &OutputLayout<'_>,
    symbol: &PlanSymbol,
    text: impl Fn(&[u8]) -> String,
) -> MapSymbol {
    let names = plan.symbol_names.get(symbol.name_offset as usize..);
    let name = names.and_then(|names| names.split(|byte| *byte == 0).next());
    let name = name.unwrap_or(&[]);
    MapSymbol {
        name: text(name),
        demangled: cuweld_demangle::explained(name),
        value: symbol.value,
        size: symbol.size,
        kind: match symbol.ty {
            SymbolType::FUNC => SymbolKind::Function,
            SymbolType::OBJECT | SymbolType::CUDA_OBJECT => SymbolKind::Object,
            SymbolType::CUDA_TEXTURE => SymbolKind::Texture,
            SymbolType::CUDA_SAMPLER => SymbolKind::Sampler,
            SymbolType::CUDA_SURFACE => SymbolKind::Surface,
            _ => SymbolKind::Other,
        },
        binding: match symbol.bind {
            Binding::LOCAL => SymbolBinding::Local,
            Binding::GLOBAL => SymbolBinding::Global,
            Binding::WEAK => SymbolBinding::Weak,
            _ => SymbolBinding::Other,
        },
    }
}
