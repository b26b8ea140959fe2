//! How much a link may take. Beyond a limit it ends with an error that names the limit.
//!
//! Inputs of a few bytes can ask for files and memory of any size, by data that unpacks to more or
//! by sections without contents; what is reasonable depends on the size of the inputs.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::system;
use cuweld_diagnostics::codes::usage;
use thiserror::Error;

/// An amount, or a multiple of bytes of inputs, whichever is more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    amount: u64,
    times: u64,
}

/// The limits of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes to which packed members of inputs unpack; the multiple is of their packed bytes.
    pub unpacked: Bound,
    /// Bytes of the output; the multiple is of those of the linked objects.
    pub output: Bound,
    /// Files that are looked for because of `-l`.
    pub lookups: Bound,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            unpacked: Bound {
                amount: 4 << 30,
                times: 64,
            },
            output: Bound {
                amount: 256 << 20,
                times: 64,
            },
            lookups: Bound {
                amount: 1_000_000,
                times: 0,
            },
        }
    }
}

/// A link goes beyond a limit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{found} {what} are more than the {allowed} of the limit '{name}'")]
pub struct LimitError {
    name: &'static str,
    what: &'static str,
    found: u64,
    allowed: u64,
}

impl LimitError {
    /// Returns what the user can do.
    pub fn help(&self) -> String {
        let name = self.name;
        format!(
            "`--cuweld-limit={name}=N` (`cuweld link --limit {name}=N`) allows more, {name}=none any number"
        )
    }

    /// Returns the error as a finding.
    pub fn diagnostic(&self) -> Diagnostic {
        Diagnostic::fatal(system::LIMIT, format!("cuweld: {self}")).help(self.help())
    }
}

impl Bound {
    fn check(
        self,
        name: &'static str,
        what: &'static str,
        found: u64,
        measure: u64,
    ) -> Result<(), LimitError> {
        let allowed = self.amount.max(self.times.saturating_mul(measure));
        match found <= allowed {
            true => Ok(()),
            false => Err(LimitError {
                name,
                what,
                found,
                allowed,
            }),
        }
    }
}

impl Limits {
    /// Reads settings such as `unpacked=8G` and `output=none`; later ones win.
    ///
    /// # Errors
    ///
    /// Names of no limit, and what is no number.
    pub fn parse<'a>(settings: impl IntoIterator<Item = &'a str>) -> Result<Self, Diagnostic> {
        let mut limits = Limits::default();
        for setting in settings.into_iter().filter(|setting| !setting.is_empty()) {
            let wrong = |what: &str| {
                let message = format!("the limit '{setting}': {what}");
                Diagnostic::fatal(usage::COMMAND_LINE, message)
                    .help("limits are unpacked=N, output=N (bytes; K, M and G stand for powers of 1,024) and lookups=N; N may be none")
            };
            let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
            let bound = match name {
                "unpacked" => &mut limits.unpacked,
                "output" => &mut limits.output,
                "lookups" => &mut limits.lookups,
                _ => return Err(wrong("there is no such limit")),
            };
            let amount = amount(value).ok_or_else(|| wrong("a number is missing"))?;
            *bound = Bound { amount, times: 0 };
        }
        Ok(limits)
    }

    /// Checks how many bytes some packed bytes unpack to.
    ///
    /// # Errors
    ///
    /// If these are too many.
    pub fn unpacked(&self, bytes: u64, packed: u64) -> Result<(), LimitError> {
        let what = "bytes that inputs unpack to";
        self.unpacked.check("unpacked", what, bytes, packed)
    }

    /// Checks the size of an output in bytes, given that of the linked objects.
    ///
    /// # Errors
    ///
    /// If it is too large.
    pub fn output(&self, bytes: u64, linked: u64) -> Result<(), LimitError> {
        let what = "bytes of output";
        self.output.check("output", what, bytes, linked)
    }

    /// Checks the number of files that are looked for.
    ///
    /// # Errors
    ///
    /// If these are too many.
    pub fn lookups(&self, files: u64) -> Result<(), LimitError> {
        let what = "files to look for (libraries times folders)";
        self.lookups.check("lookups", what, files, 0)
    }
}

/// Reads a number with a letter for a power of 1,024, or `none`.
fn amount(text: &str) -> Option<u64> {
    if text == "none" {
        return Some(u64::MAX);
    }
    let (digits, shift) = match text.strip_suffix(['K', 'M', 'G']) {
        Some(digits) if text.ends_with('K') => (digits, 10),
        Some(digits) if text.ends_with('M') => (digits, 20),
        Some(digits) => (digits, 30),
        None => (text, 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read() {
        let limits = Limits::parse(["unpacked=2G", "output=none", "lookups=7", ""]).unwrap();
        assert!(limits.unpacked(2 << 30, 1 << 60).is_ok());
        let beyond = limits.unpacked((2 << 30) + 1, 1 << 60).unwrap_err();
        assert_eq!(
            beyond.to_string(),
            "2147483649 bytes that inputs unpack to are more than the 2147483648 of the limit 'unpacked'"
        );
        assert!(limits.output(u64::MAX, 0).is_ok());
        assert!(limits.lookups(7).is_ok() && limits.lookups(8).is_err());
        for wrong in ["size=1", "output", "output=1T", "output=-1", "output=1 G"] {
            assert!(Limits::parse([wrong]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn defaults_grow_with_the_inputs() {
        let limits = Limits::default();
        assert!(limits.output(1 << 30, 5_000).is_err());
        assert!(limits.output(1 << 30, 16 << 20).is_ok());
        assert!(limits.unpacked(5 << 30, 1 << 20).is_err());
        assert!(limits.unpacked(5 << 30, 1 << 30).is_ok());
    }
}
