//! What calls return, and the numbers that stand for kinds and severities.

use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

/// What a call returns.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It did what it is for.
    Ok = 0,
    /// A pointer is null where none may be, a text is no UTF-8, or the linker has linked already.
    Invalid = 1,
    /// There is no such architecture.
    UnknownArch = 2,
    /// There is no such setting, or it does not take the value.
    BadSetting = 3,
    /// The bytes are of another kind than was said.
    OtherKind = 4,
    /// All inputs have more bytes than the setting `input-limit` allows.
    TooLarge = 5,
    /// The link failed; the findings say why.
    Failed = 6,
    /// The function that is told of progress ended the link.
    Cancelled = 7,
    /// A fault in cuweld. No output is handed out.
    Fault = 8,
}

/// What an input is.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What its bytes say.
    Any = 0,
    /// A device ELF file.
    Cubin = 1,
    /// PTX: text, to the first NUL.
    Ptx = 2,
    /// LTO-IR as the compiler writes it.
    LtoIr = 3,
    /// A fatbin: code for several targets.
    Fatbin = 4,
    /// A host object with device code.
    Object = 5,
    /// An archive of host objects.
    Library = 6,
}

/// How bad a finding is. A link has an output if nothing is worse than `ERROR_LINE`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Part of a report that was asked for.
    Report = 0,
    /// nvlink says nothing here.
    Note = 1,
    /// For information.
    Info = 2,
    /// The link goes on and succeeds.
    Warning = 3,
    /// nvlink writes an error line, and links.
    ErrorLine = 4,
    /// The link goes on to find more, and fails.
    Error = 5,
    /// The link ends here.
    Fatal = 6,
}

impl Kind {
    /// Returns the kind with a number of the header.
    pub(crate) fn by_number(number: u32) -> Option<cuweld::Kind> {
        const KINDS: [(Kind, cuweld::Kind); 7] = [
            (Kind::Any, cuweld::Kind::Any),
            (Kind::Cubin, cuweld::Kind::Cubin),
            (Kind::Ptx, cuweld::Kind::Ptx),
            (Kind::LtoIr, cuweld::Kind::LtoIr),
            (Kind::Fatbin, cuweld::Kind::Fatbin),
            (Kind::Object, cuweld::Kind::Object),
            (Kind::Library, cuweld::Kind::Library),
        ];
        let mut kinds = KINDS.into_iter();
        kinds.find_map(|(kind, known)| (kind as u32 == number).then_some(known))
    }
}

impl From<cuweld::diagnostics::Severity> for Severity {
    fn from(severity: cuweld::diagnostics::Severity) -> Self {
        match severity {
            cuweld::diagnostics::Severity::Report => Severity::Report,
            cuweld::diagnostics::Severity::Note => Severity::Note,
            cuweld::diagnostics::Severity::Info => Severity::Info,
            cuweld::diagnostics::Severity::Warning => Severity::Warning,
            cuweld::diagnostics::Severity::ErrorLine => Severity::ErrorLine,
            cuweld::diagnostics::Severity::Error => Severity::Error,
            cuweld::diagnostics::Severity::Fatal => Severity::Fatal,
        }
    }
}

/// Runs what a call does: a fault does not unwind into C.
pub(crate) fn guarded(call: impl FnOnce() -> Status) -> Status {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or(Status::Fault)
}
