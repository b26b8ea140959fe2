//! What discovery has to say without stopping: warnings, and notes on what was ignored.

use std::fmt;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::Severity;
use cuweld_diagnostics::codes::deviation;
use cuweld_diagnostics::codes::input;

use super::Target;
use super::codec::DecompressError;

/// Why a file or an archive member takes no part in the link. nvlink says nothing about these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IgnoredReason {
    /// The file has no bytes.
    Empty,
    /// The base name has no dot.
    NoExtension,
    /// Neither an archive nor an ELF file.
    UnknownContent,
    /// A device ELF under an extension other than `.cubin` and `.o`.
    CubinExtension,
    /// Shared objects hold no relocatable device code.
    SharedObject,
    /// A host executable, or a shared object under another extension.
    LinkedHostFile,
    /// A device executable: it is linked already.
    DeviceExecutable,
    /// A host object without device code.
    NoDeviceCode,
    /// A host object whose device code is not relocatable (compiled without `-rdc=true`).
    WholeProgramDeviceCode,
    /// A cubin as an archive member.
    CubinInArchive,
    /// The device runtime's archive before all inputs with device code.
    RuntimeFirst,
    /// An archive that was an input before.
    RepeatedArchive,
    /// An archive is read up to its first damaged or non-ELF member.
    RestOfArchive,
    /// An archive member has nothing for the target.
    MemberArchNotFound,
}

impl fmt::Display for IgnoredReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            IgnoredReason::Empty => "it is empty",
            IgnoredReason::NoExtension => "its name has no extension",
            IgnoredReason::UnknownContent => "it is neither an archive nor an ELF file",
            IgnoredReason::CubinExtension => "it is a device ELF, but named neither .cubin nor .o",
            IgnoredReason::SharedObject => "shared objects have no relocatable device code",
            IgnoredReason::LinkedHostFile => "it is a linked host file",
            IgnoredReason::DeviceExecutable => "its device code is linked already",
            IgnoredReason::NoDeviceCode => "it has no device code",
            IgnoredReason::WholeProgramDeviceCode => {
                "its device code is not relocatable (compile with -rdc=true)"
            }
            IgnoredReason::CubinInArchive => "cubins in archives are not linked",
            IgnoredReason::RuntimeFirst => {
                "the device runtime comes before all inputs that could need it"
            }
            IgnoredReason::RepeatedArchive => "this archive is an input already",
            IgnoredReason::RestOfArchive => {
                "the archive is read only up to its first damaged or non-ELF member"
            }
            IgnoredReason::MemberArchNotFound => "it has no device code for the target",
        })
    }
}

/// A message and the input it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputDiagnostic {
    /// How many inputs had been found before: where it stands among what is said of these.
    pub inputs_before: usize,
    /// Ordinal of the input: positional inputs in order, then `-l` libraries. Messages of the
    /// library search come before all inputs and have none.
    pub ordinal: Option<usize>,
    /// Whether it is a warning that is an error.
    pub is_error: bool,
    /// The message.
    pub kind: DiagnosticKind,
}

/// The messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiagnosticKind {
    /// Nothing in the input fits the target.
    SmArchNotFound {
        /// The input.
        file: String,
        /// The target.
        target: Target,
        /// What the input holds, such as `ELF sm_80`, in file order.
        found: Vec<String>,
    },
    /// A library for another host architecture, or one without members.
    SkippingIncompatible {
        /// The archive.
        file: String,
        /// The name after `-l`.
        library: String,
        /// What is incompatible.
        why: &'static str,
    },
    /// An LZ4 member cannot be decompressed; the input then counts as having none for the target.
    Uncompress {
        /// The input.
        file: String,
        /// The fatbin member, such as `ELF sm_90`.
        member: String,
        /// Where in the input it is.
        offset: u64,
        /// What went wrong.
        error: DecompressError,
    },
    /// The input takes no part in the link.
    Ignored {
        /// The input.
        file: String,
        /// Why.
        reason: IgnoredReason,
    },
    /// Code is linked that nvlink loses.
    Deviation {
        /// The entry of docs/deviations.md.
        id: &'static str,
        /// What is done, and what nvlink does.
        text: String,
    },
    /// PTX files are compiled, but not linked, for targets below sm_90.
    RawPtxDropped {
        /// The input.
        file: String,
        /// The target.
        target: Target,
    },
}

impl InputDiagnostic {
    /// Returns `true` if the diagnostic says that an input has nothing for the target, which an
    /// option of its own silences.
    pub fn is_about_arch(&self) -> bool {
        matches!(self.kind, DiagnosticKind::SmArchNotFound { .. })
    }

    /// Returns the finding that is reported; `None` for what nvlink passes over in silence.
    pub fn finding(&self) -> Option<Diagnostic> {
        let warning = match self.is_error {
            true => Diagnostic::error,
            false => Diagnostic::warning,
        };
        Some(match &self.kind {
            DiagnosticKind::SmArchNotFound {
                file,
                target,
                found,
            } => {
                let held = match found.is_empty() {
                    true => format!("'{file}' holds no 64-bit device code"),
                    false => format!("'{file}' holds {}", found.join(", ")),
                };
                let message = format!("SM Arch ('{target}') not found in '{file}'");
                warning(input::NO_CODE_FOR_TARGET, message).help(held)
            }
            DiagnosticKind::SkippingIncompatible { file, library, why } => warning(
                input::SKIPPED_LIBRARY,
                format!("Skipping incompatible '{file}' when searching for -l{library}"),
            )
            .note(*why),
            DiagnosticKind::Uncompress {
                file,
                member,
                offset,
                error,
            } => Diagnostic::new(
                Severity::ErrorLine,
                input::DECOMPRESSION,
                "Uncompress failed",
            )
            .help(format!(
                "cannot decompress the fatbin member {member} at {offset:#x} of '{file}': {error}"
            )),
            DiagnosticKind::Deviation { id, text } => {
                Diagnostic::remark(deviation::INPUT, text.clone()).deviates(id)
            }
            DiagnosticKind::Ignored { .. } | DiagnosticKind::RawPtxDropped { .. } => return None,
        })
    }

    /// Returns an input that takes no part in the link and that nvlink passes over in silence, with
    /// a sentence that says why.
    pub fn ignored(&self) -> Option<(String, String)> {
        match &self.kind {
            DiagnosticKind::Ignored { file, reason } => {
                Some((file.clone(), format!("'{file}' is ignored: {reason}")))
            }
            DiagnosticKind::RawPtxDropped { file, target } => {
                let why = format!(
                    "'{file}' is not linked: files named .ptx count only for sm_90 and up, \
                     the target is {target}; put it into a fatbin"
                );
                Some((file.clone(), why))
            }
            _ => None,
        }
    }

    /// Returns the reason why an input takes no part in the link, for those that nvlink passes over
    /// in silence.
    pub fn why_ignored(&self) -> Option<String> {
        self.ignored().map(|(_, why)| why)
    }
}
