//! Attribute lists of the file in both views: the stack and the registers of the same functions.

use super::Findings;
use super::Rule;
use super::View;
use super::ViewSection;
use crate::target::attributes;
use crate::target::section_types::sht;

/// The format of records with a payload.
const SVAL: u8 = 4;

/// A record about a function: its code, the symbol of the function, and what it says of it.
type Record<'data> = (u8, &'data [u8], &'data [u8]);

/// Returns the records of a list: code, value or number of bytes, payload.
fn records(mut rest: &[u8]) -> impl Iterator<Item = (u8, u16, &[u8])> {
    std::iter::from_fn(move || {
        let (&[format, code, low, high], tail) = rest.split_first_chunk::<4>()?;
        let value = u16::from_le_bytes([low, high]);
        let length = match format {
            SVAL => value.into(),
            _ => 0,
        };
        let (payload, after) = tail.split_at_checked(length)?;
        rest = after;
        Some((code, value, payload))
    })
}

/// Returns the records of a list that say what functions take: registers and stack.
fn resources<'data>(list: &'data [u8]) -> impl Iterator<Item = Record<'data>> {
    records(list).filter_map(|(code, _, payload)| {
        let is_resource = matches!(
            code,
            attributes::REGCOUNT | attributes::FRAME_SIZE | attributes::MAX_STACK_SIZE
        );
        let (function, said) = payload.split_at_checked(4).filter(|_| is_resource)?;
        Some((code, function, said))
    })
}

/// Returns `true` if the Mercury code of a section is of a compiler before 13.0: the list of its
/// function names no version of Mercury or, once linked, 1.0.
pub(super) fn is_of_first_version(view: &View<'_>, section: &ViewSection<'_>) -> bool {
    let name = section
        .name
        .strip_prefix(b".nv.capmerc.text.")
        .unwrap_or(b"");
    let is_list = |list: &&ViewSection<'_>| {
        list.ty() == sht::CUDA_MERCURY_INFO
            && list.name.strip_prefix(b".nv.merc.nv.info.") == Some(name)
    };
    let list = view.sections.iter().find(is_list);
    let mut records = records(list.map_or(&[], |list| list.bytes));
    let version = records.find(|(code, ..)| *code == attributes::MERCURY_ISA_VERSION);
    version.is_none_or(|(_, version, _)| version == attributes::FIRST_MERCURY_ISA)
}

/// Compares the list of the file in the Mercury view with the one that it stands for: the same
/// functions have registers and a stack. The frame is that of the Mercury view.
pub(super) fn check(view: &View<'_>, twins: &[Option<usize>], findings: &mut Findings) {
    let lists = view.sections.iter().zip(twins);
    let is_list = |section: &ViewSection<'_>| {
        section.ty() == sht::CUDA_MERCURY_INFO && section.header.info.get() == 0
    };
    for (section, twin) in lists.filter(|(section, _)| is_list(section)) {
        let Some(twin) = twin.map(|twin| &view.sections[twin]) else {
            continue;
        };
        let (mut own, mut other) = (resources(twin.bytes), resources(section.bytes));
        loop {
            let (first, second) = (own.next(), other.next());
            let is_same = match (first, second) {
                (None, None) => break,
                (Some((code, function, said)), Some((other_code, other_function, other_said))) => {
                    (code, function) == (other_code, other_function)
                        && (code == attributes::FRAME_SIZE || said == other_said)
                }
                _ => false,
            };
            if !is_same {
                let code = first.or(second).map_or(0, |(code, ..)| code);
                let name = attributes::attribute_name(code).unwrap_or("");
                let what = format!("a record {name} is not that of the SASS view");
                findings.report(Rule::ListPairs, section.name, 0, what);
                break;
            }
        }
    }
}
