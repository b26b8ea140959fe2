//! Architectures and which input may go into which target.

use std::fmt;

/// The first virtual SM that schedules the threads of a warp independently.
pub const FIRST_INDEPENDENT_THREADS: u16 = 70;

/// A link target: an SM number and its variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Target {
    /// The SM number, such as 90.
    pub sm: u16,
    /// The variant.
    pub suffix: Suffix,
}

/// Variants of an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Suffix {
    /// The plain SM.
    #[default]
    None,
    /// `a`: architecture-specific features.
    Specific,
    /// `f`: family-specific features.
    Family,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = match self.suffix {
            Suffix::None => "",
            Suffix::Specific => "a",
            Suffix::Family => "f",
        };
        write!(f, "sm_{}{suffix}", self.sm)
    }
}

impl Target {
    /// All targets that a toolkit has, by SM with the letters of their variants. Which toolkits have
    /// them says [`Toolkit::has_target`](crate::toolkit::Toolkit::has_target).
    pub const ALL: [(u16, &'static str); 13] = [
        (75, ""),
        (80, ""),
        (86, ""),
        (87, ""),
        (88, ""),
        (89, ""),
        (90, "a"),
        (100, "af"),
        (103, "af"),
        (107, "af"),
        (110, "af"),
        (120, "af"),
        (121, "af"),
    ];

    /// Parses `sm_90a`.
    pub fn parse(name: &str) -> Option<Self> {
        let rest = name.strip_prefix("sm_")?;
        let digits = rest.trim_end_matches(['a', 'f']);
        let sm = digits.parse().ok()?;
        let (_, allowed) = Self::ALL.into_iter().find(|(number, _)| *number == sm)?;
        let suffix = match &rest[digits.len()..] {
            "" => Suffix::None,
            "a" if allowed.contains('a') => Suffix::Specific,
            "f" if allowed.contains('f') => Suffix::Family,
            _ => return None,
        };
        Some(Target { sm, suffix })
    }

    /// Returns `true` if objects of this SM hold Mercury beside SASS.
    pub fn is_mercury(self) -> bool {
        self.sm >= 100
    }

    /// Returns `true` if files of this SM have a `.nv.compat` section.
    pub fn has_compat(self) -> bool {
        self.sm >= 90
    }

    /// Returns the size in bytes of the reserved block with which shared memory of this SM begins
    /// and which counts in section sizes; 0 if there is none.
    pub fn reserved_shared_size(self) -> u64 {
        if self.sm >= 90 { 0x400 } else { 0 }
    }

    /// Returns the target that nvlink compiles PTX for: it leaves the suffix `f` out; what the PTX
    /// names as its own target counts all the same.
    pub fn without_family(self) -> Target {
        match self.suffix {
            Suffix::Family => Target {
                suffix: Suffix::None,
                ..self
            },
            Suffix::None | Suffix::Specific => self,
        }
    }

    /// Returns the largest static shared memory of a kernel in bytes [shared-limit-specific].
    pub fn shared_limit(self) -> u64 {
        match (self.suffix, self.sm) {
            (Suffix::Specific, 120..) => 99 << 10,
            (Suffix::Specific, _) => 227 << 10,
            _ => 48 << 10,
        }
    }

    /// Returns `true` if a device object may be linked for this target; `specific` is the object's
    /// `a` mark.
    pub fn accepts(self, object_sm: u16, specific: bool) -> bool {
        if object_sm == self.sm {
            return true;
        }
        !specific
            && matches!(
                (object_sm, self.sm),
                (80, 86 | 89) | (86, 89) | (100, 103) | (120, 121)
            )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_and_print() {
        for (sm, suffixes) in Target::ALL {
            for suffix in std::iter::once(String::new()).chain(suffixes.chars().map(String::from)) {
                let name = format!("sm_{sm}{suffix}");
                assert_eq!(
                    Target::parse(&name).map(|target| target.to_string()),
                    Some(name)
                );
            }
        }
        for bad in [
            "sm_70",
            "sm_80a",
            "sm_90f",
            "sm_90aa",
            "compute_90",
            "90",
            "",
        ] {
            assert_eq!(Target::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn specific_objects_stay_on_their_sm() {
        let target = Target::parse("sm_103a").unwrap();
        assert!(target.accepts(100, false));
        assert!(!target.accepts(100, true));
        assert!(target.accepts(103, true));
        assert!(!Target::parse("sm_89").unwrap().accepts(87, false));
    }
}
