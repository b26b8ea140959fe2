//! Operands of SASS that read the slots of textures, samplers and surfaces, in links of Mercury
//! [mercury-slots].
//!
//! Mercury counts slots from the first. nvlink makes the operands of such loads anew: the place of
//! the first slot in constant bank 0, which the output decides, and what the Mercury instruction
//! says. Where a row gives an operand its slot, the row is enough; loads by an index in a register
//! have none, and rows of relocatable output stay.

use cuweld_elf::mercury::capmerc::Capmerc;
use cuweld_elf::mercury::capmerc::Form;
use cuweld_elf::mercury::capmerc::INSTRUCTION;
use cuweld_elf::mercury::capmerc::header_operand;
use cuweld_elf::sass::Instruction;
use cuweld_elf::target::relocs::BankField;
use cuweld_elf::target::relocs::reloc_type;
use cuweld_ir::Fixup;
use cuweld_ir::Module;
use cuweld_ir::RelocAction;
use cuweld_ir::RelocId;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashSet;

use super::is_header;
use crate::link::place_memory::headers::base_behind_parameters;

/// The rows of a function's code against textures, samplers and surfaces.
#[derive(Clone, Default)]
struct Rows {
    /// The first.
    first: Option<RelocId>,
    /// Instructions whose operand a row gives.
    filled: HashSet<u64, FixedState>,
    /// Instructions with a row of an operand that stays.
    kept: HashSet<u64, FixedState>,
}

/// Adds the fixups of linked code; `Err` names code in which they are not known.
pub(super) fn add(module: &Module<'_>, fixups: &mut Vec<Fixup>) -> Result<(), SectionId> {
    // Most links have no textures.
    let mut symbols = module.symbols.values();
    if !symbols.any(|symbol| symbol.ty.is_header()) {
        return Ok(());
    }
    let rows = rows(module);
    if rows.iter().all(|rows| rows.first.is_none()) {
        return Ok(());
    }
    let base = base_behind_parameters(module);
    for (id, function) in module.functions.iter() {
        // The code of an alias is that of its function.
        let has_code = module.is_function_live(id) && !module.is_alias(id);
        let Some(merc) = function.views.merc.filter(|_| has_code) else {
            continue;
        };
        let text = function.views.sass.text;
        of_function(module, (text, merc.text), &rows[id.index()], base, fixups).ok_or(text)?;
    }
    Ok(())
}

fn rows(module: &Module<'_>) -> Vec<Rows> {
    let mut found = vec![Rows::default(); module.functions.len()];
    for (id, reloc) in module.relocs.iter() {
        let section = &module.sections[reloc.section];
        let (SectionKind::SassRelocs, Some(owner), SectionInfo::Section(patched)) =
            (section.kind, section.owner, section.info)
        else {
            continue;
        };
        if module.sections[patched].kind != SectionKind::Text || !is_header(module, reloc.target) {
            continue;
        }
        let rows: &mut Rows = &mut found[owner.index()];
        rows.first.get_or_insert(id);
        let in_bank = |ty| reloc_type(ty).is_some_and(|row| row.bank != BankField::None);
        match reloc.plan {
            RelocAction::Apply { ty, .. } if in_bank(ty) => {
                rows.filled.insert(reloc.offset / INSTRUCTION);
            }
            RelocAction::Keep { ty, .. } if in_bank(ty) => {
                rows.kept.insert(reloc.offset / INSTRUCTION);
            }
            _ => {}
        }
    }
    found
}

fn of_function(
    module: &Module<'_>,
    (text, merc): (SectionId, SectionId),
    rows: &Rows,
    base: u64,
    fixups: &mut Vec<Fixup>,
) -> Option<()> {
    let code = module.sections[text].bytes();
    let capmerc = Capmerc::parse(module.sections[merc].bytes()).ok()?;
    let mut waiting = rows.kept.len();
    for item in capmerc.items() {
        let Form::Record(record) = item.form else {
            continue;
        };
        let Some(place) =
            header_operand(record).filter(|_| !rows.filled.contains(&item.instruction))
        else {
            continue;
        };
        waiting -= usize::from(rows.kept.contains(&item.instruction));
        let offset = item.instruction.checked_mul(INSTRUCTION)?;
        let start = usize::try_from(offset).ok()?;
        let instruction = Instruction::all(code.get(start..)?).next()?;
        let field = instruction.constant_operand()?;
        fixups.push(Fixup {
            section: text,
            offset,
            bit: field.bit,
            width: field.width,
            value: base.wrapping_add(place.into()),
            add: false,
            cause: Some(rows.first?),
        });
    }
    (waiting == 0).then_some(())
}
