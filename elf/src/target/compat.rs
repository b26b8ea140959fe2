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

/// Targets inside NVIDIA [compat-internal-target].
pub const CUDA_INTERNAL_TARGET: u8 = 0x0c;
/// Mercury ISA version of newer compilers, which NVIDIA's tools do not name
/// [compat-mercury-version].
pub const MERCURY_VERSION: u8 = 0x0d;
/// Version of the finalizer: four bits each for patch, minor and major, from bit 2 on
/// [compat-finalizer-version].
pub const FINALIZER_VERSION: u8 = 0x0e;

/// A value of one byte.
const BVAL: u8 = 2;
/// A value of two bytes.
const HVAL: u8 = 3;

/// Returns the format of a record that the linker makes for an input that has none of its code.
pub fn format(code: u8) -> u8 {
    match code {
        MERCURY_ISA_MAJOR_MINOR_VERSION | MERCURY_VERSION => HVAL,
        _ => BVAL,
    }
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
