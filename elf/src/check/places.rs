//! Records of the SASS view that name instructions of a function's code.

use super::Findings;
use super::Rule;
use super::View;
use super::ViewSection;
use crate::branch_targets::branches_by_table;
use crate::mercury::capmerc::INSTRUCTION;
use crate::sass::Instruction;
use crate::target::attributes;
use crate::target::section_types::sht;

/// The format of records with a payload.
const SVAL: u8 = 4;

/// The work-arounds that compilers for targets with Mercury may name.
const WORK_AROUNDS: [u32; 2] = [0, 8];

/// Checks the lists of the SASS view.
pub(super) fn check(view: &View<'_>, findings: &mut Findings) {
    let banks = parameters(view);
    for section in view
        .sections
        .iter()
        .filter(|row| row.ty() == sht::CUDA_INFO)
    {
        let code = view.section(section.header.info.get());
        if let Some(code) = code.filter(|code| code.ty() == sht::PROGBITS && code.is_code()) {
            let bank = banks.get(section.header.info.get() as usize).copied();
            let bank = bank.flatten().filter(|_| !view.is_executable());
            list(section, code, bank, view.is_executable(), findings);
        }
    }
}

/// Returns the bytes of the parameters of each section of code, with what comes before them in their
/// constant bank.
fn parameters(view: &View<'_>) -> Vec<Option<u64>> {
    let mut banks = vec![None; view.sections.len()];
    for section in &view.sections {
        if section.ty() == sht::CUDA_CONSTANT0
            && let Some(bank) = banks.get_mut(section.header.info.get() as usize)
        {
            *bank = Some(section.header.size.get());
        }
    }
    banks
}

fn list(
    section: &ViewSection<'_>,
    code: &ViewSection<'_>,
    bank: Option<u64>,
    is_linked: bool,
    findings: &mut Findings,
) {
    let mut rest = section.bytes;
    let mut has_work_around = false;
    // Bytes of parameters, by the record of their bank and by their own.
    let mut sizes = [None; 2];
    let mut start = 0;
    while let &[format, record, low, high, ref tail @ ..] = rest {
        let value = u16::from_le_bytes([low, high]);
        let payload = if format == SVAL { value.into() } else { 0 };
        let Some((payload, after)) = tail.split_at_checked(payload) else {
            return;
        };
        match record {
            attributes::PARAM_CBANK => {
                let half = |at: usize| {
                    let bytes = payload.get(at..)?.first_chunk()?;
                    Some(u16::from_le_bytes(*bytes))
                };
                start = half(4).unwrap_or(0);
                sizes[0] = half(6);
            }
            attributes::CBANK_PARAM_SIZE => sizes[1] = Some(value),
            _ => {}
        }
        // Compilers add it behind all others but those of later ones; links add more behind it.
        let is_late = matches!(record, attributes::NVSAL_SW_WAR | attributes::PREEXIT_USED);
        let is_in_order = is_linked || is_late || !has_work_around;
        has_work_around |= record == attributes::SW_WAR;
        if !is_in_order || format == SVAL && !fits(record, payload, code.bytes) {
            let name = attributes::attribute_name(record).unwrap_or("");
            let what = format!("the record {name} is not one of this code");
            let at = section.bytes.len() - rest.len();
            findings.report(Rule::RecordPlaces, section.name, at as u64, what);
        }
        rest = after;
    }
    let is_end = |size: u16| bank.is_none_or(|bank| bank == u64::from(start) + u64::from(size));
    if sizes[0] != sizes[1] || !sizes[0].is_none_or(is_end) {
        let what = "its records disagree about the size of the parameters";
        findings.report(Rule::RecordPlaces, section.name, 0, what);
    }
}

/// Returns `true` if a record may be one of this code.
fn fits(record: u8, payload: &[u8], code: &[u8]) -> bool {
    let words = || {
        let words = payload.chunks_exact(4);
        words.map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
    };
    let is_place =
        |place: u32| u64::from(place).is_multiple_of(INSTRUCTION) && (place as usize) < code.len();
    match record {
        attributes::EXIT_INSTR_OFFSETS => {
            let is_exit = |place: u32| {
                let instruction = code.get(place as usize..).unwrap_or(&[]);
                let instruction = Instruction::all(instruction).next();
                instruction.is_some_and(Instruction::is_exit)
            };
            words().is_sorted_by(|a, b| a < b)
                && words().all(|place| is_place(place) && is_exit(place))
        }
        attributes::COOP_GROUP_INSTR_OFFSETS | attributes::INT_WARP_WIDE_INSTR_OFFSETS => {
            words().is_sorted_by(|a, b| a < b) && words().all(is_place)
        }
        attributes::INDIRECT_BRANCH_TARGETS => {
            let mut branches = branches_by_table(payload);
            branches.all(|branch| {
                branch
                    .is_some_and(|branch| is_place(branch.place) && branch.targets().all(is_place))
            })
        }
        attributes::SW_WAR => words().all(|word| WORK_AROUNDS.contains(&word)),
        _ => true,
    }
}
