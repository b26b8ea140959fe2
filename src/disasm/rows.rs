//! One row for each instruction of a function.

use std::collections::BTreeMap;

use cuweld_elf::mercury::capmerc::INSTRUCTION;
use cuweld_elf::sass::Control;
use cuweld_elf::sass::Instruction;
use cuweld_elf::sass::operands::Generation;
use cuweld_elf::sass::operands::Operands;
use serde::Serialize;

use super::About;
use super::lines::Lines;
use crate::inspect::Name;
use crate::inspect::device_model::MercuryCode;
use crate::inspect::device_model::Relocations;
use crate::inspect::device_model::Section;
use crate::inspect::device_model::operation;
use crate::inspect::device_model::parts_of;

/// An instruction.
#[derive(Debug, Serialize)]
pub struct Row<'data> {
    /// Offset in bytes in the section.
    pub offset: u64,
    /// Its 128 bits, as 32 hexadecimal digits.
    pub bits: String,
    /// Functions that begin here, but for that of the section.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<Name<'data>>,
    /// The line of the source that begins here, `a.cu:12`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// Its control bits.
    #[serde(with = "ControlFields")]
    pub control: Control,
    /// The name of the operation, without modifiers; none if it is not known.
    pub operation: Option<&'static str>,
    /// The predicate that decides whether it does anything, such as `!P0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard: Option<String>,
    /// The registers that it writes; none if they are not known.
    pub writes: Option<Vec<String>>,
    /// The registers that it reads, its guard among them; none if they are not known.
    pub reads: Option<Vec<String>>,
    /// The offset that a branch leads to, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<u64>,
    /// Relocations that change it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub relocations: Vec<Fixup<'data>>,
    /// The Mercury items that begin here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mercury: Vec<MercuryItem>,
}

/// The fields of [`Control`], as JSON has them.
#[derive(Serialize)]
#[serde(remote = "Control")]
struct ControlFields {
    stall: u8,
    is_yield: bool,
    write_barrier: Option<u8>,
    read_barrier: Option<u8>,
    waits: u8,
    reuse: u8,
}

/// A relocation.
#[derive(Debug, Serialize)]
pub struct Fixup<'data> {
    /// Bytes from the start of the instruction.
    pub at: u64,
    /// Type.
    #[serde(rename = "type")]
    pub ty: String,
    /// Symbol.
    pub symbol: Name<'data>,
    /// Addend; none in a REL section.
    pub addend: Option<i64>,
}

/// A Mercury item.
#[derive(Clone, Debug, Serialize)]
pub struct MercuryItem {
    /// Its number.
    pub number: u32,
    /// `plain`, `record`, `run` or `note`.
    pub form: &'static str,
    /// The operation of its record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<u8>,
    /// How many SASS instructions it stands for.
    pub instructions: u64,
}

/// Returns the instructions of a section. A rest of less than an instruction is left out, as is all
/// code of GPUs before sm_75, whose instructions have another form.
pub(super) fn of_section<'data>(
    sm: u16,
    section: &Section<'data>,
    about: &About<'_, 'data>,
    lines: &Lines,
) -> Vec<Row<'data>> {
    let Some(generation) = Generation::of(sm) else {
        return Vec::new();
    };
    let mut fixups = fixups(&about.relocations);
    let mut items = items(about.mercury);
    let mut labels: BTreeMap<u64, Vec<Name<'data>>> = BTreeMap::new();
    for symbol in about.functions.iter().filter(|symbol| symbol.value != 0) {
        labels.entry(symbol.value).or_default().push(symbol.name);
    }
    let row = |(number, word): (u64, Instruction)| {
        let offset = number * INSTRUCTION;
        let operands = Operands::of(generation, word);
        let guard = operands.as_ref().and_then(|operands| operands.guard);
        let guard = guard.map(|guard| {
            let not = if guard.negated { "!" } else { "" };
            format!("{not}{}{}", guard.file.prefix(), guard.number)
        });
        let relocations = fixups.remove(&offset).unwrap_or_default();
        // What a relocation changes leads nowhere yet.
        let target = word.target(offset, sm).filter(|_| relocations.is_empty());
        Row {
            offset,
            bits: format!("{:032x}", word.0),
            labels: labels.remove(&offset).unwrap_or_default(),
            line: lines.at(section.index, offset).map(str::to_owned),
            control: Control::of(word),
            operation: generation.name(word),
            guard,
            writes: operands.as_ref().map(|operands| operands.defined.ranges()),
            reads: operands.as_ref().map(|operands| operands.used.ranges()),
            target,
            relocations,
            mercury: items.remove(&number).unwrap_or_default(),
        }
    };
    (0..)
        .zip(Instruction::all(section.contents))
        .map(row)
        .collect()
}

/// Returns the relocations that change a section, by the offset of the instruction.
fn fixups<'data>(lists: &[&Relocations<'data>]) -> BTreeMap<u64, Vec<Fixup<'data>>> {
    let rows = lists.iter().flat_map(|list| &list.rows);
    let mut fixups: BTreeMap<u64, Vec<Fixup<'data>>> = BTreeMap::new();
    for row in rows {
        let at = row.offset % INSTRUCTION;
        fixups.entry(row.offset - at).or_default().push(Fixup {
            at,
            ty: row.ty.to_string(),
            symbol: row.symbol.name,
            addend: row.addend,
        });
    }
    fixups
}

/// Returns Mercury items, by the number of the first instruction that they stand for.
fn items(code: Option<&MercuryCode<'_>>) -> BTreeMap<u64, Vec<MercuryItem>> {
    let mut items: BTreeMap<u64, Vec<MercuryItem>> = BTreeMap::new();
    for item in code.into_iter().flat_map(|code| code.code.items()) {
        let (form, _) = parts_of(item.form);
        items
            .entry(item.instruction)
            .or_default()
            .push(MercuryItem {
                number: item.number,
                form,
                operation: operation(item.form),
                instructions: item.count,
            });
    }
    items
}
