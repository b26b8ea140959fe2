//! Which records of `.nv.compat` are merged [compat-merged].

use super::Toolkit;
use crate::behaviours::attributes;
use crate::target::compat::*;

/// A code whose records are merged into the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The code.
    pub code: u8,
    /// What an input counts as that has other records, but none of this code.
    pub default: Option<u16>,
}

impl Toolkit {
    /// Returns the codes whose records in `.nv.compat` the toolkit's linker merges, those with defaults in the order in
    /// which it adds them.
    pub fn merged_compat(&self) -> Vec<Merged> {
        let has = |rule| self.has(rule);
        let code = |code, default| Merged { code, default };
        let mut codes = vec![
            code(ISA_CLASS, Some(0)),
            code(INST_TENSORMAP_V1, Some(3)),
            code(INST_TCGEN05_MMA, Some(0)),
        ];
        if has(&attributes::COMPAT_FINALIZATION_CLASS) {
            codes.push(code(ENABLE_OPPORTUNISTIC_FINALIZATION, Some(1)));
        }
        let is_older = !has(&attributes::COMPAT_MERCURY_VERSION);
        codes.push(code(
            MERCURY_ISA_MAJOR_MINOR_VERSION,
            is_older.then_some(0x0100),
        ));
        codes.push(code(MERCURY_ISA_PATCH_VERSION, None));
        if has(&attributes::COMPAT_INTERNAL_TARGET) {
            codes.push(code(CUDA_INTERNAL_TARGET, Some(2)));
        }
        if !is_older {
            codes.push(code(MERCURY_VERSION, Some(0x0100)));
        }
        codes
    }
}
