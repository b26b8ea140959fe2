//! As which linker cuweld stands in for that of an installed toolkit.

use std::fmt;

use cuweld_elf::toolkit::Toolkit;

/// What is known of a toolkit's version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// It is known.
    Known(&'static Toolkit),
    /// Another version of its release is known: the last one.
    OtherPatch(&'static Toolkit),
    /// It is a later release of CUDA 13 than all that are known: the newest of them, whose rules its
    /// objects are linked by (deviation D27).
    Newer(&'static Toolkit),
    /// It is older than all that are known.
    Older,
    /// It is of a major version that is not known.
    Unknown,
}

impl Profile {
    /// Returns what is known of a version such as `13.5.37`.
    pub fn of(version: &str) -> Profile {
        if let Some(toolkit) = Toolkit::by_version(version) {
            return Profile::Known(toolkit);
        }
        let mut parts = version.split('.').map(|part| part.parse::<u32>().ok());
        let (Some(Some(major)), Some(Some(minor))) = (parts.next(), parts.next()) else {
            return Profile::Unknown;
        };
        if let Some(toolkit) = Toolkit::by_version(&format!("{major}.{minor}")) {
            return Profile::OtherPatch(toolkit);
        }
        let newest = Toolkit::newest();
        match major.cmp(&(newest.number / 10)) {
            std::cmp::Ordering::Less => Profile::Older,
            std::cmp::Ordering::Equal => Profile::Newer(newest),
            std::cmp::Ordering::Greater => Profile::Unknown,
        }
    }

    /// Returns the toolkit whose linker is stood in for.
    pub fn toolkit(self) -> &'static Toolkit {
        match self {
            Profile::Known(toolkit) | Profile::OtherPatch(toolkit) | Profile::Newer(toolkit) => {
                toolkit
            }
            Profile::Older => Toolkit::DEFAULT,
            Profile::Unknown => Toolkit::newest(),
        }
    }

    /// Returns the toolkit that links are of whatever their inputs; `None` for what the inputs need.
    pub fn fixed(self) -> Option<&'static Toolkit> {
        match self {
            Profile::Known(toolkit) | Profile::OtherPatch(toolkit) => Some(toolkit),
            Profile::Newer(_) | Profile::Older | Profile::Unknown => None,
        }
    }

    /// Returns what a user of such a toolkit has to know, if anything.
    pub fn warning(self) -> Option<ProfileWarning> {
        match self {
            Profile::Known(_) => None,
            other => Some(ProfileWarning(other)),
        }
    }
}

/// What a user of a toolkit has to know.
#[derive(Clone, Copy, Debug)]
pub struct ProfileWarning(Profile);

impl fmt::Display for ProfileWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let linker = self.0.toolkit().linker();
        match self.0 {
            Profile::Known(_) => Ok(()),
            Profile::OtherPatch(_) => write!(
                f,
                "this version is not known: links are those of {linker}, of the same release"
            ),
            Profile::Newer(_) => write!(
                f,
                "this release is not known: its objects are linked as {linker} links its own, with a note (deviation D27)"
            ),
            Profile::Older => write!(
                f,
                "this release is older than those that are known: links are those of {linker}, which drivers of its time may not load"
            ),
            Profile::Unknown => write!(
                f,
                "this major version is not known: its objects are refused"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(version: &str) -> (&'static str, Option<&'static str>, bool) {
        let profile = Profile::of(version);
        let fixed = profile.fixed().map(|toolkit| toolkit.version);
        let warns = profile.warning().is_some();
        (profile.toolkit().version, fixed, warns)
    }

    #[test]
    fn versions_stand_for_what_is_nearest() {
        let newest = Toolkit::newest().version;
        assert_eq!(of("13.2.51"), ("13.2.51", Some("13.2.51"), false));
        assert_eq!(of("13.2.99"), ("13.2.86", Some("13.2.86"), true));
        assert_eq!(of("13.9.1"), (newest, None, true));
        assert_eq!(of("12.9.86"), ("12.9.86", Some("12.9.86"), false));
        assert_eq!(of("12.5.82"), ("13.0.88", None, true));
        assert_eq!(of("14.0.1"), (newest, None, true));
        assert_eq!(of("x"), (newest, None, true));
    }
}
