//! The end of a function's SASS, which no Mercury stands for.

/// `BRA` to itself, as nvlink writes it after the code of each function.
const BRANCH: u128 = 0x000f_c000_0383_ffff_ffff_fffc_00fc_7947;

/// `NOP`, as nvlink fills code up with it.
const FILLING: u128 = 0x000f_c000_0000_0000_0000_0000_0000_7918;

/// Returns `true` if code is a branch to itself and padding, to the bit: nvlink makes both anew and
/// reads neither.
pub(super) fn is_tail(code: &[u8]) -> bool {
    let (words, _) = code.as_chunks::<16>();
    let is = |word: &[u8; 16], other| u128::from_le_bytes(*word) == other;
    match words {
        [first, rest @ ..] => is(first, BRANCH) && rest.iter().all(|word| is(word, FILLING)),
        [] => false,
    }
}
