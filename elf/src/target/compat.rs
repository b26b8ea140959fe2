//! Codes of `.nv.compat` records (EICOMPAT_ATTR_*) and how values merge [compat-merged].

/// The section that says what finalizers may do with an object's code.
pub const SECTION: &[u8] = b".nv.compat";

/// The linker's own first record: 1 if the target ends in `a`.
pub const CUDA_ACCELERATOR_TARGET: u8 = 0x09;
/// ISA class.
pub const ISA_CLASS: u8 = 0x02;
/// Tensor map instructions.
pub const INST_TENSORMAP_V1: u8 = 0x03;
/// Tensor core generation 5 instructions.
pub const INST_TCGEN05_MMA: u8 = 0x05;
/// Opportunistic finalization [compat-finalization-class].
pub const ENABLE_OPPORTUNISTIC_FINALIZATION: u8 = 0x06;
/// Mercury ISA version, major and minor.
pub const MERCURY_ISA_MAJOR_MINOR_VERSION: u8 = 0x07;
/// Mercury ISA patch version.
pub const MERCURY_ISA_PATCH_VERSION: u8 = 0x08;
/// Fast-path finalization, Mercury targets only.
pub const CAN_FASTPATH_FINALIZE: u8 = 0x0b;

/// Codes that are merged, with the value a lacking input counts as; in the order of the defaults.
pub const DEFAULTS: [(u8, u16); 5] = [
    (ISA_CLASS, 0),
    (INST_TENSORMAP_V1, 3),
    (INST_TCGEN05_MMA, 0),
    (ENABLE_OPPORTUNISTIC_FINALIZATION, 1),
    (MERCURY_ISA_MAJOR_MINOR_VERSION, 0x0100),
];

/// Returns `true` if records of this code are merged into the output; others are dropped.
pub fn is_merged(code: u8) -> bool {
    code == MERCURY_ISA_PATCH_VERSION || DEFAULTS.iter().any(|(known, _)| *known == code)
}

/// Returns the value of [`CAN_FASTPATH_FINALIZE`] of code for an SM that has nothing of its own.
/// Bits: 1 sm_100, 8 sm_103, 0x10 sm_120, 0x40 sm_121.
pub fn fast_path_targets(sm: u16) -> u64 {
    match sm {
        100 => 9,
        120 => 0x50,
        _ => 0,
    }
}

fn merge_class(a: u16, b: u16) -> u16 {
    if a == 0 || b == 0 { 0 } else { a.max(b) }
}

/// Merges two values of a code, pairwise in input order.
pub fn merge(code: u8, old: u16, new: u16) -> u16 {
    match code {
        ISA_CLASS => merge_class(old, new),
        INST_TENSORMAP_V1 => old | new,
        INST_TCGEN05_MMA => {
            let low = merge_class(old & 3, new & 3);
            let high = merge_class((old >> 2) & 3, (new >> 2) & 3);
            (old & 0xf0) | high << 2 | low
        }
        ENABLE_OPPORTUNISTIC_FINALIZATION if old != new => 1,
        ENABLE_OPPORTUNISTIC_FINALIZATION => old,
        _ => old.max(new),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_merge_as_measured() {
        assert_eq!(merge(ISA_CLASS, 1, 0), 0);
        assert_eq!(merge(ISA_CLASS, 1, 2), 2);
        assert_eq!(merge(INST_TENSORMAP_V1, 1, 2), 3);
        assert_eq!(merge(INST_TCGEN05_MMA, 5, 5), 5);
        assert_eq!(merge(INST_TCGEN05_MMA, 0x35, 0x14), 0x34);
        assert_eq!(merge(ENABLE_OPPORTUNISTIC_FINALIZATION, 0, 0), 0);
        assert_eq!(merge(ENABLE_OPPORTUNISTIC_FINALIZATION, 0, 5), 1);
        assert_eq!(merge(MERCURY_ISA_MAJOR_MINOR_VERSION, 0x101, 0x100), 0x101);
    }
}
