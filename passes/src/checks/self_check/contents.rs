//! Contents of the file against the objects and the plan.

use cuweld_elf::check::Findings;
use cuweld_elf::check::Rule;
use cuweld_elf::check::View;
use cuweld_elf::check::ViewSection;
use cuweld_elf::mercury::capmerc::Capmerc;
use cuweld_elf::mercury::capmerc::Form;
use cuweld_elf::mercury::capmerc::IMMEDIATE;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::Fixup;
use cuweld_ir::Module;
use cuweld_ir::OutputLayout;
use cuweld_ir::SectionId;
use cuweld_ir::plan::PlanContent;
use cuweld_ir::plan::PlanPiece;

pub(super) fn check(
    module: &Module<'_>,
    plan: &OutputLayout<'_>,
    view: &View<'_>,
    findings: &mut Findings,
) {
    for (section, row) in view.sections.iter().zip(&plan.sections) {
        let rule = rule(section);
        let expected = match &row.content {
            PlanContent::Pieces(range) => {
                let pieces = plan.pieces.get(range.start as usize..range.end as usize);
                copied(module, pieces.unwrap_or(&[]), section.bytes.len())
            }
            PlanContent::Bytes(bytes) => bytes.to_vec(),
            PlanContent::SectionNames => plan.section_names.clone(),
            PlanContent::SymbolNames => plan.symbol_names.clone(),
            _ => continue,
        };
        if section.bytes.len() != expected.len() {
            let what = format!(
                "{:#x} bytes, not {:#x}",
                section.bytes.len(),
                expected.len()
            );
            findings.report(rule, section.name, None, what);
        }
        let differs = section
            .bytes
            .iter()
            .zip(&expected)
            .position(|(found, due)| found != due);
        if let Some(at) = differs {
            let what = format!("{:#04x}, not {:#04x}", section.bytes[at], expected[at]);
            findings.report(rule, section.name, at as u64, what);
        }
    }
    mercury(module, view, findings);
}

/// Returns the rule for the contents of a section.
fn rule(section: &ViewSection<'_>) -> Rule {
    let name = section.name;
    let has = |part: &[u8]| name.windows(part.len()).any(|bytes| bytes == part);
    if section.is_code() {
        Rule::TextKept
    } else if section.ty() == sht::CUDA_CAPMERC {
        Rule::MercuryKept
    } else if section.ty() == sht::CUDA_MERCURY_SYMTAB || name == b".strtab" {
        Rule::SymbolsPlanned
    } else if name == b".shstrtab" {
        Rule::SectionsPlanned
    } else if has(b".debug_") || has(b"nv_debug_") {
        Rule::DebugKept
    } else {
        Rule::DataKept
    }
}

/// Returns the bytes of the objects with relocations applied, zeros between them.
fn copied(module: &Module<'_>, pieces: &[PlanPiece], size: usize) -> Vec<u8> {
    let mut bytes = vec![0; size];
    for piece in pieces {
        let Some(input) = module.sections.get(piece.section) else {
            continue;
        };
        let input = input.bytes();
        let length = piece
            .size
            .map_or(input.len(), |size| input.len().min(size as usize));
        let start = usize::try_from(piece.offset).unwrap_or(usize::MAX);
        let Some(part) = bytes.get_mut(start..start.saturating_add(length)) else {
            continue;
        };
        part.copy_from_slice(&input[..length]);
        for fixup in fixups_of(module, piece.section) {
            apply(part, fixup);
        }
    }
    bytes
}

fn fixups_of<'m>(module: &'m Module<'_>, section: SectionId) -> &'m [Fixup] {
    let start = module
        .fixups
        .partition_point(|fixup| fixup.section < section);
    let end = module
        .fixups
        .partition_point(|fixup| fixup.section <= section);
    module.fixups.get(start..end).unwrap_or(&[])
}

/// Sets the bits of a field one by one; those past the end of the section are left out.
fn apply(bytes: &mut [u8], fixup: &Fixup) {
    let places = (0..u64::from(fixup.width)).map(|bit| {
        let place = u64::from(fixup.bit) + bit;
        let byte = usize::try_from(fixup.offset.saturating_add(place / 8)).unwrap_or(usize::MAX);
        (bit, byte, (place % 8) as u32)
    });
    let mut value = fixup.value;
    if fixup.add {
        let old = places.clone().fold(0_u64, |old, (bit, byte, shift)| {
            old | u64::from(bytes.get(byte).map_or(0, |byte| byte >> shift & 1)) << bit
        });
        value = value.wrapping_add(old);
    }
    for (bit, byte, shift) in places {
        if let Some(byte) = bytes.get_mut(byte) {
            *byte = *byte & !(1 << shift) | ((value >> bit & 1) as u8) << shift;
        }
    }
}

/// Checks that Mercury code is that of the objects but for its first word and the values of
/// records.
fn mercury(module: &Module<'_>, view: &View<'_>, findings: &mut Findings) {
    if !module.is_capmerc() {
        return;
    }
    let mut inputs: Vec<(&[u8], &[u8])> = module
        .functions
        .iter()
        .filter(|(id, _)| module.is_function_live(*id))
        .filter_map(|(_, row)| {
            let section = &module.sections[row.views.merc?.text];
            Some((section.name, section.bytes()))
        })
        .collect();
    inputs.sort_unstable();
    for section in view
        .sections
        .iter()
        .filter(|section| section.ty() == sht::CUDA_CAPMERC)
    {
        let first = inputs.partition_point(|(name, _)| *name < section.name);
        let named = inputs[first..]
            .iter()
            .take_while(|(name, _)| *name == section.name);
        let mut differs = None;
        let mut found = false;
        for (_, bytes) in named {
            match difference(section.bytes, bytes) {
                None => {
                    found = true;
                    break;
                }
                at => differs = at,
            }
        }
        if !found {
            let what = "it is not that of the object";
            findings.report(Rule::MercuryKept, section.name, differs, what);
        }
    }
}

/// Returns the first offset at which Mercury code differs from that of an object in bytes that a
/// link does not change.
fn difference(found: &[u8], input: &[u8]) -> Option<u64> {
    if found.len() != input.len() {
        return Some(found.len().min(input.len()) as u64);
    }
    let mut may_differ = vec![false; input.len()];
    let mut mark = |start: usize| {
        for slot in may_differ.iter_mut().skip(start).take(4) {
            *slot = true;
        }
    };
    mark(0);
    let items = Capmerc::parse(input).ok();
    for item in items.iter().flat_map(Capmerc::items) {
        if matches!(item.form, Form::Record(record) if record.len() == 32) {
            mark(item.at + IMMEDIATE);
        }
    }
    let mut rows = found.iter().zip(input).zip(&may_differ);
    let at = rows.position(|((found, due), may_differ)| found != due && !may_differ)?;
    Some(at as u64)
}
