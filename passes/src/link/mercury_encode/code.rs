//! `.nv.capmerc.text.F`: copied, with the few words that a link changes.

use cuweld_diagnostics::codes::mercury;
use cuweld_elf::known_symbols;
use cuweld_elf::mercury::capmerc::Capmerc;
use cuweld_elf::mercury::capmerc::Form;
use cuweld_elf::mercury::capmerc::IMMEDIATE;
use cuweld_elf::mercury::capmerc::INSTRUCTION;
use cuweld_elf::mercury::capmerc::Item;
use cuweld_elf::mercury::relocs::CONSTANT_OFFSET;
use cuweld_elf::target::relocs::is_yield;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::Reloc;
use cuweld_ir::RelocAction;
use cuweld_ir::SectionId;
use cuweld_ir::plan::PlanContent;
use cuweld_ir::plan::PlanSection;
use cuweld_ir::table::EntityId;

use super::Encode;
use super::Refusal;
use super::contents::Contents;
use super::inputs::Inputs;
use crate::threads::Work;

/// A function in the Mercury view.
struct Code {
    /// The index of the section with its SASS.
    text: u32,
    function: FunctionId,
    /// Its Mercury code in the object.
    mercury: SectionId,
}

impl Encode<'_, '_> {
    /// Creates the sections with the Mercury code, in the order of the SASS.
    pub(super) fn code_sections(&mut self) {
        let (module, inputs) = (self.module, &self.inputs);
        let functions = (0..).zip(&self.functions);
        let codes = functions.filter_map(|(text, function)| {
            let function = (*function)?;
            let mercury = module.functions[function].views.merc?.text;
            Some(Code {
                text,
                function,
                mercury,
            })
        });
        let codes: Vec<Code> = codes.collect();
        let made = self
            .threads
            .map_chunks(Work::Objects(codes.len()), &codes, |codes| {
                let mercury = |code: &Code| &module.sections[code.mercury];
                let room = codes.iter().map(|code| mercury(code).bytes().len());
                let (mut made, mut items) = (Contents::with_room(room), Vec::new());
                for code in codes {
                    let start = made.bytes.len();
                    made.bytes.extend_from_slice(mercury(code).bytes());
                    let bytes = &mut made.bytes[start..];
                    if let Some(word) = bytes.get_mut(..4) {
                        word.copy_from_slice(&code.text.to_le_bytes());
                    }
                    if let Err(refusal) = fill(module, inputs, code, bytes, &mut items) {
                        made.refusals.push(refusal);
                    }
                    made.end();
                }
                made
            });
        let mut codes = codes.into_iter();
        for part in made {
            let bytes = self.arena.bytes(&part.bytes);
            for (bytes, code) in part.sections(bytes).zip(&mut codes) {
                let input = &module.sections[code.mercury];
                self.plan.sections.push(PlanSection {
                    name: input.name,
                    name_offset: 0,
                    ty: sht::CUDA_CAPMERC,
                    flags: SectionFlags::MERCURY,
                    offset: 0,
                    size: bytes.len() as u64,
                    link: self.mercury_symbols,
                    info: self.plan.sections[code.text as usize].info & 0x00ff_ffff,
                    align: input.align,
                    entsize: input.entsize,
                    content: PlanContent::Bytes(bytes),
                });
            }
            self.refusals.extend(part.refusals);
        }
    }
}

/// Returns `true` if a row of the Mercury view has no counterpart: reserved shared memory, whose
/// addresses are in the SASS already.
fn is_alone(module: &Module<'_>, reloc: &Reloc) -> bool {
    let symbol = reloc.target.symbol();
    symbol
        .is_some_and(|symbol| known_symbols::is_reserved_shared_symbol(module.symbols[symbol].name))
}

/// Fills the records at which relocations are applied. The rows of both views stand for each other
/// in order, and a SASS instruction leads to the item that stands for it. `items` holds the items
/// meanwhile.
fn fill<'m>(
    module: &'m Module<'_>,
    inputs: &Inputs,
    code: &Code,
    bytes: &mut [u8],
    items: &mut Vec<Item<'m>>,
) -> Result<(), Refusal> {
    let merc = code.mercury;
    let rows = |section: Option<SectionId>| {
        let range = section.map(|id| module.sections[id].relocs);
        range.map_or(&[][..], |range| &module.relocs[range])
    };
    let mercury = rows(inputs.mercury_relocs[code.function.index()]);
    let sass = rows(inputs.sass_relocs[code.function.index()]);
    let (mut count, mut is_changed) = (0, false);
    for row in mercury.iter().filter(|row| !is_alone(module, row)) {
        count += 1;
        is_changed |= matches!(row.plan, RelocAction::Apply { .. } | RelocAction::Clear);
    }
    let sass = sass.iter().filter(|row| !is_yield(row.ty));
    if count != sass.clone().count() {
        let what = "relocations of the two views that do not stand for each other";
        return Err(Refusal::with(mercury::RELOCATION_VIEWS, what, merc));
    }
    if !is_changed {
        return Ok(());
    }
    let capmerc = Capmerc::parse(module.sections[merc].bytes()).map_err(|error| {
        Refusal::with(
            mercury::FORM,
            format!("Mercury of another form: {error}"),
            merc,
        )
    })?;
    if capmerc.items == 0 {
        return Err(Refusal::with(
            mercury::RELOCATION_PLACE,
            "a relocation outside of Mercury code",
            merc,
        ));
    }
    items.clear();
    let is_note = |item: &Item<'_>| matches!(item.form, Form::Note(_));
    items.extend(capmerc.marked().filter(|item| !is_note(item)));
    let mercury = mercury.iter().filter(|row| !is_alone(module, row));
    for (mercury, sass) in mercury.zip(sass) {
        let RelocAction::Apply { value, .. } = mercury.plan else {
            if mercury.plan == RelocAction::Clear {
                return Err(Refusal::with(
                    mercury::RELOCATION_PLACE,
                    "a cleared site in Mercury code",
                    merc,
                ));
            }
            continue;
        };
        let instruction = sass.offset / INSTRUCTION;
        let after = items.partition_point(|item| item.instruction <= instruction);
        let item = after.checked_sub(1).and_then(|index| items.get(index));
        // The last item stands for all that follows.
        let item = item.filter(|item| {
            instruction - item.instruction < item.count || item.number + 1 == capmerc.items
        });
        // Items between those that have an entry are plain.
        let Some(item) = item else {
            continue;
        };
        match item.form {
            Form::Plain | Form::Note(_) => {}
            Form::Record(record) if record.len() == 32 => {
                let at = item.at + IMMEDIATE;
                // Offsets in constant banks have 16 bits.
                let value = match mercury.ty {
                    CONSTANT_OFFSET => value as u32 & 0xffff,
                    _ => value as u32,
                };
                if let Some(word) = bytes.get_mut(at..at + 4) {
                    word.copy_from_slice(&value.to_le_bytes());
                }
            }
            Form::Record(_) | Form::Run(_) => {
                let what = "an applied relocation of a Mercury record without a value";
                return Err(Refusal::with(mercury::RELOCATION_PLACE, what, merc));
            }
        }
    }
    Ok(())
}
