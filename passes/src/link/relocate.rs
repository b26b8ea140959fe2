//! `relocate`: the relocations that are applied become fixups.
//!
//! Each fills `field = (S + A) >> shift` at its bits; constant bank types also fill the bank
//! number. REL rows add to the old field. Within a section rows are applied in reverse input order,
//! so that of two rows on one site the first wins [first-row-wins].

mod header_operands;
mod replaced_constants;
mod yielding;

use std::cmp::Reverse;
use std::ops::Range;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::relocation;
use cuweld_elf::mercury::relocs::counterparts;
use cuweld_elf::target::relocs::BankField;
use cuweld_elf::target::relocs::RelocClass;
use cuweld_elf::target::relocs::reloc_type;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::Fixup;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::Reloc;
use cuweld_ir::RelocAction;
use cuweld_ir::RelocId;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolPlace;
use cuweld_ir::SymbolRef;
use cuweld_ir::table::EntityId;

use crate::analyses::Preserved;
use crate::located::located;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::PassInfo;
use crate::threads::Threads;
use crate::threads::Work;

/// The `relocate` pass.
#[derive(Debug, Default)]
pub struct Relocate;

impl Pass for Relocate {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "relocate",
            summary: "Turn applied relocations into fixups of section contents",
            doc: include_str!("relocate.rs"),
            requires: Phase::LaidOut,
            establishes: Some(Phase::Relocated),
            preserves: Preserved::All,
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        let (fixups, notes) = match fixups(module, patches(module), cx.threads) {
            Ok(made) => made,
            Err(refusal) => {
                cx.diagnostics.emit(refusal);
                return Err(PassError::Diagnosed);
            }
        };
        notes.into_iter().for_each(|note| cx.diagnostics.emit(note));
        cx.statistics.add("fixups", fixups.len() as u64);
        let changed = if fixups.is_empty() {
            Changed::No
        } else {
            Changed::Yes
        };
        module.fixups = fixups;
        Ok(changed)
    }
}

/// Returns the patches of bytes that the output has: of constants it may copy less than there are.
fn patches(module: &Module<'_>) -> Vec<Fixup> {
    if module.fixups.is_empty() {
        return Vec::new();
    }
    let mut copied = vec![u64::MAX; module.sections.len()];
    for piece in module.plan.iter().flat_map(|plan| &plan.pieces) {
        let copied = &mut copied[piece.section.index()];
        *copied = piece.size.unwrap_or(u64::MAX).min(*copied);
    }
    let patches = module.fixups.iter();
    let patches = patches.filter(|fixup| fixup.offset < copied[fixup.section.index()]);
    patches.copied().collect()
}

/// Makes the fixups of a module whose file is laid out, with what there is to say of them. `patches`
/// are those that change what no relocation does.
pub(crate) fn fixups(
    module: &Module<'_>,
    patches: Vec<Fixup>,
    threads: &Threads,
) -> Result<(Vec<Fixup>, Vec<Diagnostic>), Diagnostic> {
    let capmerc = module.is_capmerc();
    let rows = module.relocs.values().as_slice();
    let work = Work::Rows(rows.len());
    let parts = parts(rows, threads.tasks(work));
    let part = |part: &Range<usize>| fixups_of(module, part.clone());
    let mut made = threads.map(work, &parts, part).into_iter();
    let mut fixups = match patches.is_empty() {
        true => made.next().unwrap_or_default(),
        false => patches,
    };
    for more in made {
        fixups.extend(more);
    }
    // The writer finds a section's fixups by binary search; the sort is stable. Few sections have
    // rows of two others.
    fixups.sort_by_key(|fixup| (fixup.section, Reverse(fixup.cause)));
    let of_rows = fixups.len();
    let refused = |code, section| {
        Diagnostic::refusal(code)
            .note(located(module, section))
            .at(module.sections[section].object.index_u32(), 0)
    };
    let notes = match replaced_constants::add(module, &mut fixups) {
        Ok(overwritten) => replaced_constants::kept(module, &overwritten),
        Err(constants) => return Err(refused(relocation::REPLACED_CONSTANTS, constants)),
    };
    if capmerc && let Err(code) = header_operands::add(module, &mut fixups) {
        return Err(refused(relocation::TEXTURE_SLOT_CODE, code));
    }
    if capmerc {
        yielding::add(module, &mut fixups);
    }
    if fixups.len() > of_rows {
        fixups.sort_by_key(|fixup| fixup.section);
    }
    Ok((fixups, notes.into_iter().collect()))
}

/// Divides rows into about `count` parts; those of one section are in one part.
fn parts(rows: &[Reloc], count: usize) -> Vec<Range<usize>> {
    let size = rows.len().div_ceil(count);
    let mut parts = Vec::new();
    let mut start = 0;
    while start < rows.len() {
        let mut end = (start + size).min(rows.len());
        while end < rows.len() && rows[end].section == rows[end - 1].section {
            end += 1;
        }
        parts.push(start..end);
        start = end;
    }
    parts
}

/// Returns the fixups of whole sections of rows.
fn fixups_of(module: &Module<'_>, part: Range<usize>) -> Vec<Fixup> {
    let mut fixups = Vec::new();
    let mut start = part.start;
    let rows = &module.relocs.values().as_slice()[part];
    for rows in rows.chunk_by(|one, next| one.section == next.section) {
        let first = start;
        start += rows.len();
        let changes =
            |row: &Reloc| matches!(row.plan, RelocAction::Apply { .. } | RelocAction::Clear);
        if !rows.iter().any(changes) {
            continue;
        }
        let SectionInfo::Section(section) = module.sections[rows[0].section].info else {
            continue;
        };
        // Mercury code is filled by `mercury-encode`, which knows the records.
        if module.sections[section].kind == SectionKind::MercuryText {
            continue;
        }
        for (ordinal, reloc) in rows.iter().enumerate().rev() {
            let id = RelocId::new(first + ordinal);
            match reloc.plan {
                RelocAction::Apply {
                    ty,
                    value,
                    in_place,
                } => {
                    let filled = (ty, value, in_place);
                    apply(module, &mut fixups, id, reloc, section, filled);
                }
                RelocAction::Clear => {
                    let field = reloc_type(plain_type(reloc.ty)).and_then(|row| row.field);
                    let width = field.map_or(32, |field| field.width);
                    fixups.push(Fixup {
                        section,
                        offset: reloc.offset,
                        bit: 0,
                        width,
                        value: 0,
                        add: false,
                        cause: Some(id),
                    });
                }
                _ => {}
            }
        }
    }
    fixups
}

/// Returns the type whose fields a type has: those of the Mercury view in data have those of the
/// SASS view.
fn plain_type(ty: u32) -> u32 {
    counterparts(ty, false).first().copied().unwrap_or(ty)
}

fn apply(
    module: &Module<'_>,
    fixups: &mut Vec<Fixup>,
    cause: RelocId,
    reloc: &Reloc,
    section: SectionId,
    (ty, value, in_place): (u32, u64, bool),
) {
    let Some(row) = reloc_type(plain_type(ty)) else {
        return;
    };
    let Some(field) = row.field.filter(|_| row.class != RelocClass::None) else {
        return;
    };
    let mut push = |bit: u8, width: u8, value: u64, add: bool| {
        fixups.push(Fixup {
            section,
            // An instruction is of two words.
            offset: reloc.offset.saturating_add(u64::from(bit / 64 * 8)),
            bit: bit % 64,
            width,
            value,
            add,
            cause: Some(cause),
        });
    };
    // Byte slices of a wider value add the old byte before slicing.
    let slice = in_place && field.width == 8 && field.shift > 0;
    let value = if slice {
        let site = usize::try_from(reloc.offset).unwrap_or(usize::MAX);
        let old = module.sections[section]
            .bytes()
            .get(site)
            .copied()
            .unwrap_or(0);
        value.wrapping_add(old.into())
    } else {
        value
    };
    push(
        field.bit,
        field.width,
        value >> field.shift,
        in_place && !slice,
    );
    // The bank of an undefined symbol, as for any other [relocatable-without-slots].
    let has_slot = row.makes_slot && !module.options.relocatable;
    let bank = || match has_slot && is_header(module, reloc.target) {
        true => Some(0),
        false => constant_bank(module, reloc.target),
    };
    let bank = match row.bank {
        BankField::None => None,
        _ => bank(),
    };
    match (row.bank, bank) {
        (BankField::None, _) | (_, None) => {}
        (BankField::At(bit), Some(bank)) => push(bit, 5, bank, in_place),
        (BankField::Split, Some(bank)) => {
            push(42, 4, bank & 15, in_place);
            push(26, 1, bank >> 4, in_place);
        }
    }
}

/// Returns `true` if a relocation refers to a texture, sampler or surface, whose slots lie in bank
/// 0.
fn is_header(module: &Module<'_>, target: SymbolRef) -> bool {
    target
        .symbol()
        .is_some_and(|symbol| module.symbols[symbol].ty.is_header())
}

/// Returns the bank number that nvlink derives from the type of the section that defines the
/// target, without looking whether it is a constant bank; `None` if the instruction keeps its own:
/// nvlink encodes it anew from Mercury, which has none to fill in for an undefined variable
/// [mercury-undefined-constants].
fn constant_bank(module: &Module<'_>, target: SymbolRef) -> Option<u64> {
    let section = match target {
        SymbolRef::Section(section) => Some(section),
        // Dynamic shared memory has no section in the input; with -g and -r nvlink makes it one
        // [dynamic-shared-bank].
        SymbolRef::Symbol(symbol)
            if (module.shows_dynamic_shared() || module.options.relocatable)
                && module.symbols[symbol]
                    .link
                    .is_some_and(|link| module.is_dynamic_shared(link)) =>
        {
            return Some(u64::from(
                sht::CUDA_SHARED.wrapping_sub(sht::CUDA_CONSTANT0) & 0x1f,
            ));
        }
        SymbolRef::Symbol(symbol) => {
            let link = module.symbols[symbol].link;
            link.and_then(|link| module.link_symbols[link].definition)
                .and_then(|definition| match module.symbols[definition].place {
                    SymbolPlace::Section(section) => Some(section),
                    _ => None,
                })
        }
        SymbolRef::None => None,
    };
    let ty = match section {
        Some(section) => module.sections[section].ty,
        None if module.is_capmerc() => return None,
        None => 0,
    };
    Some(u64::from(ty.wrapping_sub(sht::CUDA_CONSTANT0) & 0x1f))
}
