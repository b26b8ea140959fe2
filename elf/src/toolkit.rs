//! What differs between releases of the CUDA toolkit, as data: words, strings, names, and which
//! rules hold. Relocation types and attribute codes are the same in all of them, or only grow, and
//! stand in [`target`](crate::target).
//!
//! A link is one of a toolkit ([`Toolkit`]), whose linker it stands in for. Code asks the toolkit
//! of its module; a rule that another release has differently is asked for by name
//! ([`Toolkit::has`]).

mod merged_compat;
pub mod releases;
mod v13_0;

use std::fmt;

use crate::behaviours;
use crate::behaviours::Behaviour;
use crate::behaviours::Release;
use crate::target::Target;
use crate::target::arch::Suffix;
pub use merged_compat::Merged;
pub use v13_0::V13_0;

/// What a linker of NVIDIA's writes into files as its name.
#[derive(Debug)]
pub struct Stamp {
    /// Tool and version, as `--cuweld-stamp` takes them.
    pub name: &'static str,
    /// The tool.
    pub tool: &'static str,
    /// Its version in words.
    pub version: &'static str,
    /// The branch that it was built from.
    pub branch: &'static str,
}

/// SMs that came after [`behaviours::FIRST`], with the release that brought them.
const LATER_TARGETS: [(u16, Release); 7] = {
    const fn release(major: u8, minor: u8) -> Release {
        Release { major, minor }
    }
    [
        (88, release(13, 0)),
        (100, release(12, 8)),
        (103, release(12, 9)),
        (107, release(13, 4)),
        (110, release(13, 0)),
        (120, release(12, 8)),
        (121, release(12, 9)),
    ]
};

/// A release of the CUDA toolkit.
pub struct Toolkit {
    /// Its minor release, by which rules differ.
    pub release: Release,
    /// Its patch release, by which few do.
    pub patch: u16,
    /// Its version in digits.
    pub version: &'static str,
    /// What its linker writes as its name.
    pub stamp: Stamp,
    /// The toolkit in `.note.nv.cuinfo`: ten times the major release and the minor one. Objects of
    /// newer ones are refused.
    pub number: u32,
    /// The oldest toolkit whose objects for sm_90 are accepted.
    pub oldest_number: u32,
    /// Objects of older toolkits make the linker record HAS_PRE_V10_OBJECT [pre-v10-object].
    pub first_v10_number: u32,
    /// Contents of `.nv.rel.action`: the field layout of CONST_FIELD22_37 for older drivers.
    pub relocation_action: [u8; 16],
    /// What the names of system calls begin with [system-functions].
    pub system_call_prefix: &'static [u8],
    /// Other functions that may stay undefined because the driver provides them, sorted
    /// [system-functions]. ptxas knows the same names: it takes no address of them.
    pub system_functions: &'static [&'static [u8]],
    /// The last version of Mercury that its finalizer takes: major and minor, a byte each
    /// [mercury-version].
    pub mercury_version: u16,
    /// The version of its finalizer in `.nv.compat` [compat-finalizer-version].
    pub finalizer_version: u16,
    /// Where parameters begin in bank 0 of kernels for sm_100 and up, in bytes: the least place of
    /// the slots of textures after.
    pub mercury_parameters_start: u64,
    /// Where variables in reserved shared memory begin, in bytes, in the SASS view of executables.
    pub reserved_shared_start: u64,
    /// File name of its library for link-time optimisation.
    pub jit_library: &'static str,
}

impl Toolkit {
    /// All that are known, oldest first.
    pub const ALL: &'static [&'static Toolkit] = releases::ALL;

    /// The release that links are of unless something else is asked for.
    pub const DEFAULT: &'static Toolkit = &V13_0;

    /// Returns the newest one that is known.
    pub fn newest() -> &'static Toolkit {
        Self::ALL.last().copied().unwrap_or(Self::DEFAULT)
    }

    /// Finds a toolkit by its version, such as `13.0.88`, or the last version of a release, such as
    /// `13.0`.
    pub fn by_version(version: &str) -> Option<&'static Toolkit> {
        let mut all = Self::ALL.iter().rev().copied();
        all.find(|toolkit| toolkit.version == version || toolkit.release.to_string() == version)
    }

    /// Finds the last version of the release whose compiler writes this number into objects
    /// ([`Toolkit::number`]).
    pub fn by_number(number: u32) -> Option<&'static Toolkit> {
        let mut all = Self::ALL.iter().rev().copied();
        all.find(|toolkit| toolkit.number == number)
    }

    /// Returns the toolkit that links objects for a target, the newest of which is of the one with
    /// this number: the last version of its release, or the nearest that is known, has the target and
    /// is not older than the default.
    pub fn for_objects(number: u32, target: Target) -> &'static Toolkit {
        let (first, newest) = (Self::first_for(target.sm), Self::newest());
        match Self::by_number(number) {
            Some(toolkit) if toolkit.release > first.release => toolkit,
            None if number > newest.number => newest,
            _ => first,
        }
    }

    /// Finds the toolkit whose linker writes a stamp of this name, such as `nvlink-13.0.88`.
    pub fn by_stamp(name: &str) -> Option<&'static Toolkit> {
        let mut all = Self::ALL.iter().copied();
        all.find(|toolkit| toolkit.stamp.name == name)
    }

    /// Returns the file names of libraries for link-time optimisation, the newest first.
    pub fn jit_libraries() -> Vec<&'static str> {
        let mut names: Vec<_> = Self::ALL
            .iter()
            .map(|toolkit| toolkit.jit_library)
            .collect();
        names.reverse();
        names.dedup();
        names
    }

    /// Returns `true` if the toolkit has an SM as target.
    pub fn has_target(&self, sm: u16) -> bool {
        let later = LATER_TARGETS.iter().find(|(later, _)| *later == sm);
        match later {
            Some((_, since)) => self.release >= *since,
            None => Target::ALL.iter().any(|(known, _)| *known == sm),
        }
    }

    /// Returns the oldest release that has an SM as target, in its last version, but none before the
    /// default; the default for an unknown one.
    pub fn first_for(sm: u16) -> &'static Toolkit {
        let later = LATER_TARGETS.iter().find(|(later, _)| *later == sm);
        let since = later.map_or(Self::DEFAULT.release, |(_, since)| *since);
        let mut known = Self::ALL.iter().rev().copied();
        let first = known.find(|toolkit| toolkit.release == since);
        let first = first.filter(|first| first.release > Self::DEFAULT.release);
        first.unwrap_or(Self::DEFAULT)
    }

    /// Returns the toolkit in `e_version`, if its outputs for a target have the legacy header
    /// [legacy-header-written].
    pub fn legacy_version(&self, target: Target) -> Option<u32> {
        let is_legacy = self.has(&behaviours::attributes::LEGACY_HEADER_WRITTEN);
        (is_legacy && !target.is_mercury()).then_some(self.number)
    }

    /// Returns `true` if outputs for a target have a `.nv.compat` section.
    pub fn writes_compat(&self, target: Target) -> bool {
        target.has_compat() && self.legacy_version(target).is_none()
    }

    /// Returns `true` if the toolkit's linker follows a rule.
    pub fn has(&self, rule: &Behaviour) -> bool {
        rule.holds_for(self.release, self.patch)
    }

    /// Returns `true` if the toolkit's linker takes a device object for a target; `specific` is the
    /// object's `a` mark.
    pub fn accepts(&self, target: Target, object_sm: u16, specific: bool) -> bool {
        // [specific-for-itself]
        if specific && self.has(&behaviours::messages::SPECIFIC_FOR_ITSELF) {
            return object_sm == target.sm && target.suffix == Suffix::Specific;
        }
        // [all-before-in-family]
        let is_ampere = |sm: u16| (80..90).contains(&sm);
        target.accepts(object_sm, specific)
            || is_ampere(object_sm)
                && is_ampere(target.sm)
                && object_sm <= target.sm
                && self.has(&behaviours::messages::ALL_BEFORE_IN_FAMILY)
    }

    /// Returns `true` if the linkers of both toolkits take the same members of fatbins.
    pub fn selects_as(&self, other: &Toolkit) -> bool {
        let rule = &behaviours::messages::SPECIFIC_FOR_ITSELF;
        self.has(rule) == other.has(rule)
    }

    /// Returns `true` if an undefined function of this name is accepted, because the driver
    /// provides it [system-functions].
    pub fn is_system_function(&self, name: &[u8]) -> bool {
        // Nearly all functions have another beginning.
        may_be_system_function(name)
            && (name.starts_with(self.system_call_prefix)
                || self.system_functions.binary_search(&name).is_ok())
    }

    /// Returns the name and version of the toolkit's linker, as messages have them: `nvlink
    /// 13.0.88`.
    pub fn linker(&self) -> String {
        format!("{} {}", self.stamp.tool, self.version)
    }
}

/// Returns `true` if a name begins as some of [`Toolkit::system_functions`] or
/// [`Toolkit::system_call_prefix`] do, in all toolkits.
fn may_be_system_function(name: &[u8]) -> bool {
    let beginnings = [b"__", b"cn", b"cu", b"fr", b"ma", b"vf", b"vp"];
    name.first_chunk()
        .is_some_and(|start| beginnings.contains(&start))
}

impl Default for &'static Toolkit {
    fn default() -> Self {
        Toolkit::DEFAULT
    }
}

/// Toolkits are equal if their versions are.
impl PartialEq for Toolkit {
    fn eq(&self, other: &Self) -> bool {
        self.version == other.version
    }
}

impl Eq for Toolkit {}

impl fmt::Debug for Toolkit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Toolkit({})", self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_found_by_version_and_by_stamp() {
        for toolkit in Toolkit::ALL {
            assert_eq!(Toolkit::by_version(toolkit.version), Some(*toolkit));
            assert_eq!(Toolkit::by_stamp(toolkit.stamp.name), Some(*toolkit));
            assert!(toolkit.system_functions.is_sorted());
            let names = toolkit.system_functions.iter();
            let mut names = names.chain([&toolkit.system_call_prefix]);
            assert!(names.all(|name| may_be_system_function(name)));
        }
        assert_eq!(Toolkit::by_stamp("nvlink"), None);
        assert_eq!(Toolkit::by_version("13.2"), Some(&releases::V13_2_86));
        assert_eq!(Toolkit::by_version("13"), None);
        assert_eq!(Toolkit::by_number(0x82), Some(&V13_0));
        assert_eq!(Toolkit::newest().version, "13.5.37");
        assert_eq!(
            releases::V13_5_37.stamp.branch,
            "Build cuda_13.5.r13.5/compiler.39125733_0"
        );
    }

    #[test]
    fn later_targets_are_of_later_releases() {
        let has = |version, sm| Toolkit::by_version(version).expect("known").has_target(sm);
        assert!(!has("13.3", 107) && has("13.4.59", 107) && has("13.5", 107));
        assert!(has("13.0", 103) && !has("13.5", 70));
        assert!(has("12.8", 100) && !has("12.8", 103) && has("12.6", 90) && !has("12.9", 88));
        assert_eq!(Toolkit::first_for(107).version, "13.4.92");
        assert_eq!(Toolkit::first_for(90), Toolkit::DEFAULT);
        assert_eq!(Toolkit::first_for(103), Toolkit::DEFAULT);
    }

    #[test]
    fn objects_are_linked_by_their_toolkit_or_the_nearest_one() {
        let version = |number, sm: &str| {
            let target = Target::parse(sm).expect("a target");
            Toolkit::for_objects(number, target).version
        };
        assert_eq!(version(0x81, "sm_90"), "13.0.88");
        assert_eq!(version(0x84, "sm_90"), "13.2.86");
        assert_eq!(version(0x84, "sm_107"), "13.4.92");
        assert_eq!(version(0x8b, "sm_90"), Toolkit::newest().version);
    }

    #[test]
    fn rules_hold_from_one_release_to_another() {
        let rule = &behaviours::symbols::WEAK_BEFORE_GLOBAL;
        let release = |minor| Release { major: 13, minor };
        assert!(rule.holds_for(release(0), 0) && rule.holds_for(release(3), 0));
        assert!(!rule.holds_for(release(4), 0) && !rule.holds_for(release(5), 0));
        assert!(V13_0.has(rule));
    }

    #[test]
    fn system_functions_are_known_by_name() {
        assert!(V13_0.is_system_function(b"vprintf"));
        assert!(V13_0.is_system_function(b"__cuda_syscall_x"));
        assert!(!V13_0.is_system_function(b"printf"));
    }
}
