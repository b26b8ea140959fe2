//! Which code for sm_100 does not run on sm_103, as nvlink and ptxas say [fast-path-record]: what
//! has double precision arithmetic, `IMMA`, `DMMA` or `UTCIMMA`. Of the comparisons by `AND` with
//! an immediate, between `PT` and `PT`, Mercury has a short and a long form, which are one in SASS.
//! The short one of single precision counts instead of that of double precision: NVIDIA's table has
//! the one for the other.

use super::capmerc::Capmerc;
use super::capmerc::Form;
use crate::sass::Instruction;

/// What an instruction says by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    /// It is none of the target's own.
    No,
    /// It is one.
    Own,
    /// `DSETP` that may be of the short form.
    MayBeShortDouble,
    /// `FSETP` that may be of the short form.
    MayBeShortSingle,
    /// It is of a form that no compiler writes.
    Unknown,
}

/// Bytes 1 and 2 of records: what the instruction is.
const SHORT_DOUBLE: [u8; 2] = [0x10, 0x16];
const LONG_DOUBLE: [u8; 2] = [0x10, 0x0a];
const SHORT_SINGLE: [u8; 2] = [0x10, 0x1c];
const LONG_SINGLE: [u8; 2] = [0x10, 0x10];

fn says(word: Instruction) -> Says {
    let and = word.bits(74, 2) == 0;
    let may_be_short = and && word.bits(84, 3) == 7 && word.bits(87, 4) == 7;
    match word.operation() {
        // `DMUL`, `DADD`, `DFMA`, `DSETP`, with registers, an immediate or a uniform register.
        0x228 | 0x828 | 0xc28 | 0x229 | 0x429 | 0xe29 => Says::Own,
        0x22b | 0x42b | 0x82b | 0xc2b | 0xe2b | 0x22a | 0xe2a => Says::Own,
        0x42a if may_be_short => Says::MayBeShortDouble,
        0x42a => Says::Own,
        // `FSETP`.
        0x80b if may_be_short => Says::MayBeShortSingle,
        0x80b => Says::No,
        other => match other & 0x1ff {
            0x28..=0x2b => Says::Unknown,
            // `IMMA`, `DMMA`.
            0x37 | 0x3f => Says::Own,
            // `UTCIMMA` among others.
            0x1ea if word.bits(72, 2) == 1 => Says::Own,
            _ => Says::No,
        },
    }
}

/// Returns whether some code for sm_100 has an instruction of the target's own; `None` if no
/// instruction is known to be one, but for at least one it is not known.
pub fn has_own_to_sm_100(code: &[u8], capmerc: &[u8]) -> Option<bool> {
    // What may be one, by the last nine bits of its operation: most instructions are not looked at
    // further.
    const MAY_BE: [u64; 8] = {
        let mut set = [0; 8];
        let operations = [0x0b, 0x28, 0x29, 0x2a, 0x2b, 0x37, 0x3f, 0x1ea];
        let mut index = 0;
        while index < operations.len() {
            set[operations[index] / 64] |= 1 << (operations[index] % 64);
            index += 1;
        }
        set
    };
    let (words, _) = code.as_chunks::<16>();
    let (mut is_asked, mut is_known) = (false, true);
    for word in words {
        let operation = usize::from(u16::from_le_bytes([word[0], word[1]]) & 0x1ff);
        if MAY_BE[operation / 64] >> (operation % 64) & 1 == 0 {
            continue;
        }
        match says(Instruction(u128::from_le_bytes(*word))) {
            Says::No => {}
            Says::Own => return Some(true),
            Says::MayBeShortDouble | Says::MayBeShortSingle => is_asked = true,
            Says::Unknown => is_known = false,
        }
    }
    if is_asked {
        match has_short_single_or_long_double(words, capmerc) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => is_known = false,
        }
    }
    is_known.then_some(false)
}

/// Returns whether one of the comparisons whose form is given by Mercury is one of the target's
/// own; `None` if no comparison is known to be one, but for at least one it is not known.
fn has_short_single_or_long_double(words: &[[u8; 16]], capmerc: &[u8]) -> Option<bool> {
    let mut is_known = true;
    for item in Capmerc::parse(capmerc).ok()?.items() {
        if matches!(item.form, Form::Note(_)) {
            continue;
        }
        let word = words.get(usize::try_from(item.instruction).ok()?)?;
        let says = says(Instruction(u128::from_le_bytes(*word)));
        let is_double = match says {
            Says::MayBeShortDouble => true,
            Says::MayBeShortSingle => false,
            _ => continue,
        };
        let record = match item.form {
            // nvlink takes the short form, which of double precision has no plain item: its
            // immediate is a record's.
            Form::Plain if !is_double => return Some(true),
            Form::Record(&[_, first, second, ..]) => [first, second],
            Form::Plain | Form::Record(_) | Form::Run(_) | Form::Note(_) => [0; 2],
        };
        match (is_double, record) {
            (true, LONG_DOUBLE) | (false, SHORT_SINGLE) => return Some(true),
            (true, SHORT_DOUBLE) | (false, LONG_SINGLE) => {}
            _ => is_known = false,
        }
    }
    is_known.then_some(false)
}
