//! Attribute lists of both views, which say the same but where they are about code.

use super::Findings;
use super::Rule;
use super::View;
use super::ViewSection;
use crate::target::attributes;
use crate::target::attributes::attribute_name;
use crate::target::section_types::sht;

/// The format of records with a payload.
const SVAL: u8 = 4;

/// Records of functions that one view has alone: options of NVIDIA's finalizer in the Mercury view, and
/// what is known of a kernel's constant bank and of the code in the SASS view.
const OF_ONE_VIEW: [u8; 9] = [
    attributes::PARAM_CBANK,
    attributes::BINDLESS_TEXTURE_BANK,
    attributes::BINDLESS_SURFACE_BANK,
    attributes::CBANK_PARAM_SIZE,
    attributes::SW_WAR,
    attributes::MERCURY_FINALIZER_OPTIONS,
    // What compilers since CUDA 13.4 say of code, without a name.
    0x67,
    attributes::NVSAL_SW_WAR,
    attributes::PREEXIT_USED,
];

/// A set of codes of records, a bit each.
const fn set(codes: &[u8]) -> [u64; 4] {
    let mut bits = [0; 4];
    let mut at = 0;
    while at < codes.len() {
        bits[codes[at] as usize / 64] |= 1 << (codes[at] % 64);
        at += 1;
    }
    bits
}

const ONE_VIEW: [u64; 4] = set(&OF_ONE_VIEW);

fn is_in(set: [u64; 4], code: u8) -> bool {
    set[usize::from(code / 64)] >> (code % 64) & 1 != 0
}

/// A record: its format and code, its value, and its payload.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Record<'data> {
    head: [u8; 2],
    value: u16,
    payload: &'data [u8],
}

impl Record<'_> {
    fn code(&self) -> u8 {
        self.head[1]
    }

    /// Returns `true` if a record of the SASS view says the same as this one of the Mercury view.
    fn stands_for(&self, other: &Record<'_>) -> bool {
        self == other
            || self.head == other.head
                && self.payload.len() == other.payload.len()
                && match self.code() {
                    // The frame is that of the Mercury view; only the function is compared.
                    attributes::FRAME_SIZE => self.payload.get(..4) == other.payload.get(..4),
                    // They count bytes of the view's own code.
                    code => attributes::holds_places(code),
                }
    }
}

/// Takes the next record that both views have from a list; `None` at its end.
fn next<'data>(rest: &mut &'data [u8]) -> Option<Record<'data>> {
    loop {
        let (head, tail) = rest.split_first_chunk::<4>()?;
        let value = u16::from_le_bytes([head[2], head[3]]);
        let length = if head[0] == SVAL { value.into() } else { 0 };
        let (payload, after) = tail.split_at_checked(length)?;
        *rest = after;
        if !is_in(ONE_VIEW, head[1]) {
            let head = [head[0], head[1]];
            return Some(Record {
                head,
                value,
                payload,
            });
        }
    }
}

/// Compares the lists of the Mercury view with those that they stand for.
pub(super) fn check(view: &View<'_>, twins: &[Option<usize>], findings: &mut Findings) {
    let sections = view.sections.iter().zip(twins);
    for (section, twin) in sections.filter(|(row, _)| row.ty() == sht::CUDA_MERCURY_INFO) {
        if let Some(twin) = *twin {
            pair(section, &view.sections[twin], findings);
        }
    }
}

fn pair(section: &ViewSection<'_>, twin: &ViewSection<'_>, findings: &mut Findings) {
    let (mut mercury, mut sass) = (section.bytes, twin.bytes);
    loop {
        let (first, second) = (next(&mut mercury), next(&mut sass));
        let is_same = match (&first, &second) {
            (None, None) => return,
            (Some(first), Some(second)) => first.stands_for(second),
            _ => false,
        };
        if !is_same {
            let code = first.or(second).map_or(0, |record| record.code());
            let name = attribute_name(code).unwrap_or("of an unknown code");
            let what = format!("its record {name} is not that of the SASS view");
            let at = (section.bytes.len() - mercury.len()) as u64;
            findings.report(Rule::ListPairs, section.name, at, what);
            return;
        }
    }
}
