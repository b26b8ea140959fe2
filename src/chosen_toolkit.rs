//! The toolkit that a link is of: which one options ask for, and which one the inputs need.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::usage;
use cuweld_elf::toolkit::Toolkit;

use crate::toolkit::profile::Profile;

/// What options say of the toolkit whose linker cuweld stands in for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChosenToolkit {
    /// The one that is asked for; `None` for the newest one that made an input.
    pub fixed: Option<&'static Toolkit>,
    /// The one that stands for those of all inputs before any is read, if it is not the default.
    pub assumed: Option<&'static Toolkit>,
    /// Whether the output says that NVIDIA's linker made it.
    pub stamp_nvlink: bool,
}

impl ChosenToolkit {
    /// Reads the values of `--cuweld-toolkit` (`auto`, a release or a version) and
    /// `--cuweld-stamp` (`cuweld`, `nvlink`, or nvlink with a version). A version in the stamp
    /// chooses the toolkit, too. `shadowed` is what is known of the toolkit that a shadow was made
    /// from, which `auto` means then.
    ///
    /// # Errors
    ///
    /// Names that stand for nothing, and two that stand for different toolkits.
    pub fn parse(
        toolkit: Option<&str>,
        stamp: Option<&str>,
        shadowed: Option<Profile>,
    ) -> Result<Self, Diagnostic> {
        let asked = match toolkit {
            None | Some("auto") => None,
            Some(version) => {
                Some(Toolkit::by_version(version).ok_or_else(|| unknown_toolkit(version))?)
            }
        };
        let stamped = match stamp {
            None | Some("cuweld" | "nvlink") => None,
            Some(name) => Some(Toolkit::by_stamp(name).ok_or_else(|| unknown_stamp(name))?),
        };
        if let (Some(asked), Some(stamped)) = (asked, stamped)
            && asked != stamped
        {
            let message = format!(
                "the stamp '{}' is not that of toolkit {}",
                stamped.stamp.name, asked.version
            );
            return Err(Diagnostic::fatal(usage::COMMAND_LINE, message)
                .help("the stamp 'nvlink' is that of the toolkit, whichever it is"));
        }
        Ok(ChosenToolkit {
            fixed: asked.or(stamped).or(shadowed.and_then(Profile::fixed)),
            assumed: shadowed.map(Profile::toolkit),
            stamp_nvlink: !matches!(stamp, None | Some("cuweld")),
        })
    }

    /// Returns the toolkit, as far as it is known before any input is read.
    pub fn before_inputs(self) -> &'static Toolkit {
        self.fixed.or(self.assumed).unwrap_or_default()
    }
}

fn unknown_toolkit(version: &str) -> Diagnostic {
    let known = Toolkit::ALL.iter().map(|toolkit| toolkit.version);
    let known = known.collect::<Vec<_>>().join(", ");
    Diagnostic::fatal(usage::COMMAND_LINE, format!("unknown toolkit '{version}'")).help(format!(
        "known are {known}, releases such as 13.5, and auto"
    ))
}

fn unknown_stamp(name: &str) -> Diagnostic {
    let known = Toolkit::ALL.iter().map(|toolkit| toolkit.stamp.name);
    let known = known.collect::<Vec<_>>().join(", ");
    Diagnostic::fatal(usage::COMMAND_LINE, format!("unknown stamp '{name}'"))
        .help(format!("known are cuweld, nvlink, {known}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(toolkit: Option<&str>, stamp: Option<&str>) -> Option<(Option<&'static str>, bool)> {
        let chosen = ChosenToolkit::parse(toolkit, stamp, None).ok()?;
        Some((
            chosen.fixed.map(|toolkit| toolkit.version),
            chosen.stamp_nvlink,
        ))
    }

    #[test]
    fn a_stamp_with_a_version_chooses_the_toolkit() {
        assert_eq!(parse(None, None), Some((None, false)));
        assert_eq!(parse(Some("auto"), Some("nvlink")), Some((None, true)));
        assert_eq!(
            parse(Some("13.5"), Some("nvlink")),
            Some((Some("13.5.37"), true))
        );
        assert_eq!(
            parse(None, Some("nvlink-13.0.88")),
            Some((Some("13.0.88"), true))
        );
        assert_eq!(
            parse(Some("13.3.33"), Some("cuweld")),
            Some((Some("13.3.33"), false))
        );
    }

    #[test]
    fn two_toolkits_and_unknown_ones_are_refused() {
        assert_eq!(parse(Some("13.5"), Some("nvlink-13.0.88")), None);
        assert_eq!(parse(Some("14.9"), None), None);
        assert_eq!(parse(None, Some("lld")), None);
    }

    #[test]
    fn a_shadow_is_of_the_toolkit_that_it_was_made_from() {
        let parse = |toolkit, version| {
            let shadowed = Some(Profile::of(version));
            let chosen = ChosenToolkit::parse(toolkit, None, shadowed).expect("right");
            let fixed = chosen.fixed.map(|toolkit| toolkit.version);
            (fixed, chosen.before_inputs().version)
        };
        let known = (Some("13.2.78"), "13.2.78");
        assert_eq!(parse(Some("auto"), "13.2.78"), known);
        assert_eq!(parse(Some("13.2.78"), "13.5.37"), known);
        let newest = Toolkit::newest().version;
        assert_eq!(parse(None, "13.9.1"), (None, newest));
    }
}
