//! Which code NVIDIA's finalizer takes for which target, by what `.nv.compat` says of the code
//! (`docs/formats/mercury.md`).
//!
//! The numbers of SMs are mapped first: 104 counts as 120, 130 as 107, 101 as 110. Two SMs are of
//! one family if they have the same tens.

use crate::target::compat;
use crate::toolkit::Toolkit;
use thiserror::Error;

/// What `.nv.compat` says of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// ISA class: record 2.
    pub isa_class: u8,
    /// Finalization class, 0 to 4: record 6.
    pub class: u8,
    /// The special flag, code for an `a` variant: record 9.
    pub specific: bool,
    /// Version of the Mercury ISA: record 7.
    pub version: u16,
    /// SMs on which the SASS runs as it is, a bit each: record 0x0b.
    pub fast_path: u64,
}

impl Profile {
    /// Gathers what `records` of `.nv.compat` say: code, value and payload of each. Records that
    /// are not there have the values that a merge gives them.
    pub fn of_records<'a>(records: impl Iterator<Item = (u8, u16, &'a [u8])>) -> Self {
        let mut profile = Profile {
            isa_class: 0,
            class: 1,
            specific: false,
            version: 0x100,
            fast_path: 0,
        };
        for (code, value, body) in records {
            match code {
                compat::ISA_CLASS => profile.isa_class = value as u8,
                compat::ENABLE_OPPORTUNISTIC_FINALIZATION => profile.class = value as u8,
                compat::CUDA_ACCELERATOR_TARGET => profile.specific = value & 0xff == 1,
                compat::MERCURY_ISA_MAJOR_MINOR_VERSION => profile.version = value,
                compat::CAN_FASTPATH_FINALIZE => {
                    profile.fast_path = body.try_into().map_or(0, u64::from_le_bytes);
                }
                _ => {}
            }
        }
        profile
    }
}

/// Why code is not taken for a target. The numbers are those of NVIDIA's check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Incompatible {
    /// 24.
    #[error("the file does not say what its code needs (.nv.compat)")]
    NoProfile,
    /// 25.
    #[error("version {0:#x} of the Mercury ISA, higher than 0x101")]
    Version(u16),
    /// 26.
    #[error(
        "code of finalization class {0} goes to later SMs of its family only, and not if it is for an 'a' variant"
    )]
    Class(u8),
    /// 27.
    #[error("code of finalization class 4 goes to later SMs of its family, to 110 and to 121")]
    Class4,
    /// 28.
    #[error("code of finalization class 3 goes to later SMs of its family, to 100, 103 and 120")]
    Class3,
    /// 29.
    #[error("code of finalization class 2 goes to later SMs of its family only")]
    Class2,
    /// 30.
    #[error("unknown finalization class {0}")]
    UnknownClass(u8),
}

impl Incompatible {
    /// Returns the number of NVIDIA's check.
    pub fn code(self) -> u32 {
        match self {
            Incompatible::NoProfile => 24,
            Incompatible::Version(_) => 25,
            Incompatible::Class(_) => 26,
            Incompatible::Class4 => 27,
            Incompatible::Class3 => 28,
            Incompatible::Class2 => 29,
            Incompatible::UnknownClass(_) => 30,
        }
    }
}

/// Returns the SM that an SM counts as.
pub fn counts_as(sm: u16) -> u16 {
    match sm {
        104 => 120,
        130 => 107,
        101 => 110,
        sm => sm,
    }
}

/// Returns `true` if two SMs are of one family.
pub fn same_family(source: u16, target: u16) -> bool {
    counts_as(source) / 10 == counts_as(target) / 10
}

/// Decides whether the finalizer of a toolkit takes code for an SM for a target.
pub fn can_finalize(
    toolkit: &Toolkit,
    profile: Option<&Profile>,
    source: u16,
    target: u16,
) -> Result<(), Incompatible> {
    if source == target {
        return Ok(());
    }
    let Some(profile) = profile else {
        return Err(Incompatible::NoProfile);
    };
    if is_bypass(profile, source, target) {
        return Ok(());
    }
    if profile.version > toolkit.mercury_version {
        return Err(Incompatible::Version(profile.version));
    }
    let (from, to) = (counts_as(source), counts_as(target));
    if from == to {
        return Ok(());
    }
    // Code of ISA class 1 goes to other families, that of 2 within its own. That of 3 does from the
    // first SM of a family, for an 'a' variant and finalization classes 2 and 3.
    let upwards = from < to;
    let in_family = from / 10 == to / 10 && upwards && matches!(profile.isa_class, 1 | 2);
    let across = from / 10 != to / 10 && upwards && profile.isa_class == 1;
    let specific = from / 10 == to / 10
        && upwards
        && profile.isa_class == 3
        && profile.specific
        && matches!(from, 100 | 120);
    let in_family_any = in_family || specific;
    let (fits, refusal) = match profile.class {
        class @ (0 | 1) => (in_family && !profile.specific, Incompatible::Class(class)),
        2 => (in_family_any, Incompatible::Class2),
        3 => {
            let reaches = across && from <= 107 && matches!(to, 100 | 103 | 120);
            (in_family_any || reaches, Incompatible::Class3)
        }
        4 => {
            let reaches = across && from <= 107 && matches!(to, 110 | 121)
                || across && from == 110 && matches!(to, 120 | 121);
            (
                in_family && !profile.specific || reaches,
                Incompatible::Class4,
            )
        }
        class => (false, Incompatible::UnknownClass(class)),
    };
    if fits { Ok(()) } else { Err(refusal) }
}

/// Returns `true` if code for sm_120 runs on sm_121 as it is, without any other check. Code for 104
/// is not let through here.
fn is_bypass(profile: &Profile, source: u16, target: u16) -> bool {
    (source, target) == (120, 121) && !profile.specific
}

/// Returns the bit of an SM in the record of SMs on which the SASS runs as it is; 0 for those
/// without one.
pub fn fast_path_bit(sm: u16) -> u64 {
    match counts_as(sm) {
        100 => 1,
        110 => 2,
        103 => 8,
        120 => 0x10,
        121 => 0x40,
        _ => 0,
    }
}

/// How far code may be copied for another SM than it was compiled for
/// (`--opportunistic-finalization-lvl`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum OffTarget {
    /// Not at all: levels 0 and 1.
    #[default]
    None,
    /// Within a family: level 2.
    Family,
    /// To other families too: levels 3 and 4.
    All,
}

/// What becomes of code for a target that takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It is for the target already.
    Same,
    /// sm_120 to sm_121: it is the same there, and only the file says another SM.
    Bypass,
    /// Its SASS runs on the target as it is, and a copy was asked for.
    Copy,
    /// NVIDIA's finalizer would compile it anew.
    Compile,
}

/// Returns the treatment of code that [`can_finalize`] lets through.
pub fn action(profile: Option<&Profile>, source: u16, target: u16, copies: OffTarget) -> Action {
    if counts_as(source) == counts_as(target) {
        return Action::Same;
    }
    let Some(profile) = profile else {
        return Action::Compile;
    };
    if is_bypass(profile, source, target) {
        return Action::Bypass;
    }
    let needed = if same_family(source, target) {
        OffTarget::Family
    } else {
        OffTarget::All
    };
    let bit = fast_path_bit(target);
    if copies >= needed && bit != 0 && profile.fast_path & bit != 0 {
        Action::Copy
    } else {
        Action::Compile
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolkit::V13_0;

    const USUAL: Profile = Profile {
        isa_class: 1,
        class: 1,
        specific: false,
        version: 0x101,
        fast_path: 9,
    };

    fn code(profile: Profile, source: u16, target: u16) -> u32 {
        can_finalize(&V13_0, Some(&profile), source, target).map_or_else(Incompatible::code, |()| 0)
    }

    #[test]
    fn classes_decide_how_far_code_goes() {
        let of = |class| Profile { class, ..USUAL };
        for class in [0, 1, 2, 3, 4] {
            assert_eq!(code(of(class), 100, 103), 0, "{class}");
            assert_eq!(code(of(class), 120, 121), 0, "{class}");
        }
        let across = |class| [110, 120, 121].map(|target| code(of(class), 100, target));
        assert_eq!(across(0), [26, 26, 26]);
        assert_eq!(across(1), [26, 26, 26]);
        assert_eq!(across(2), [29, 29, 29]);
        assert_eq!(across(3), [28, 0, 28]);
        assert_eq!(across(4), [0, 27, 0]);
        assert_eq!(across(5), [30, 30, 30]);
        assert_eq!(code(of(4), 110, 120), 0);
        assert_eq!(code(of(3), 110, 120), 28);
        assert_eq!(code(of(5), 120, 121), 0);
        assert_eq!(code(of(1), 103, 100), 26);
    }

    #[test]
    fn flags_versions_and_isa_classes_restrict() {
        let specific = |class| Profile {
            class,
            specific: true,
            ..USUAL
        };
        assert_eq!(code(specific(1), 100, 103), 26);
        assert_eq!(code(specific(2), 100, 103), 0);
        assert_eq!(code(specific(4), 100, 103), 27);
        assert_eq!(code(specific(4), 100, 110), 0);
        assert_eq!(code(specific(1), 120, 121), 26);
        assert_eq!(code(specific(1), 100, 100), 0);
        let newer = Profile {
            version: 0x102,
            ..USUAL
        };
        assert_eq!(code(newer, 100, 103), 25);
        assert_eq!(code(newer, 100, 100), 0);
        assert_eq!(code(newer, 120, 121), 0);
        let other = Profile {
            isa_class: 3,
            ..USUAL
        };
        assert_eq!(code(other, 100, 103), 28 - 2);
        assert_eq!(code(Profile { class: 3, ..other }, 100, 120), 28);
        assert_eq!(code(other, 104, 121), 26);
        assert_eq!(
            code(
                Profile {
                    class: 2,
                    specific: true,
                    ..other
                },
                100,
                103
            ),
            0
        );
        assert_eq!(code(Profile { class: 2, ..other }, 100, 103), 29);
        assert_eq!(
            code(
                Profile {
                    class: 2,
                    specific: true,
                    ..other
                },
                102,
                103
            ),
            29
        );
        let second = Profile {
            isa_class: 2,
            class: 3,
            ..USUAL
        };
        assert_eq!((code(second, 100, 103), code(second, 100, 120)), (0, 28));
        assert_eq!(code(other, 120, 121), 0);
        assert_eq!(
            can_finalize(&V13_0, None, 100, 103),
            Err(Incompatible::NoProfile)
        );
        assert_eq!(can_finalize(&V13_0, None, 100, 100), Ok(()));
    }

    #[test]
    fn numbers_are_mapped() {
        assert_eq!(code(USUAL, 101, 110), 0);
        assert_eq!(code(USUAL, 104, 120), 0);
        assert_eq!(code(USUAL, 104, 121), 0);
        assert_eq!(code(USUAL, 130, 107), 0);
        assert!(same_family(104, 121) && !same_family(101, 100));
        assert_eq!(
            [100, 103, 110, 120, 121, 90].map(fast_path_bit),
            [1, 8, 2, 0x10, 0x40, 0]
        );
    }

    #[test]
    fn code_is_copied_if_asked_for_and_able() {
        let usual = |copies| action(Some(&USUAL), 100, 103, copies);
        assert_eq!(usual(OffTarget::None), Action::Compile);
        assert_eq!(usual(OffTarget::Family), Action::Copy);
        let own = Profile {
            fast_path: 1,
            ..USUAL
        };
        assert_eq!(
            action(Some(&own), 100, 103, OffTarget::All),
            Action::Compile
        );
        let wide = Profile {
            class: 4,
            fast_path: 0x43,
            ..USUAL
        };
        assert_eq!(
            action(Some(&wide), 100, 121, OffTarget::Family),
            Action::Compile
        );
        assert_eq!(action(Some(&wide), 100, 121, OffTarget::All), Action::Copy);
        assert_eq!(
            action(Some(&USUAL), 120, 121, OffTarget::None),
            Action::Bypass
        );
        assert_eq!(action(None, 100, 100, OffTarget::None), Action::Same);
    }
}
