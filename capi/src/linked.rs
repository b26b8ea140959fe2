//! What came of a link.

use std::ffi::CStr;
use std::ffi::CString;
use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::ptr;

use cuweld::LinkError;
use cuweld::diagnostics::Diagnostic;

use crate::status::Severity;
use crate::status::Status;
use crate::status::guarded;
use crate::text::c_string;

/// What came of a link: the output, if there is one, and findings. It does not change: any number of
/// threads may read it.
pub struct Linked {
    cubin: Option<Vec<u8>>,
    findings: Vec<Texts>,
    statistics: Statistics,
    map: Option<CString>,
}

/// The texts of a finding.
struct Texts {
    severity: Severity,
    code: CString,
    message: CString,
    explanation: CString,
}

/// A finding. The texts stay as long as what it is a finding of.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What it is about, such as "link/undefined": `cuweld explain` says more.
    pub code: *const c_char,
    /// What nvlink would say, or one line that begins with "cuweld: ".
    pub message: *const c_char,
    /// What more is known and what can be done: lines that begin with "note: " and "help: ", or "".
    pub explanation: *const c_char,
}

/// How much was linked.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Statistics {
    /// Inputs that were added.
    pub inputs: usize,
    /// Their bytes.
    pub input_bytes: u64,
    /// Bytes of the output.
    pub output_bytes: u64,
}

impl Linked {
    pub(crate) fn new(outcome: Result<cuweld::Linked, LinkError>) -> Self {
        match outcome {
            Ok(linked) => Linked {
                findings: linked.diagnostics.iter().map(Texts::new).collect(),
                statistics: Statistics {
                    inputs: linked.statistics.inputs,
                    input_bytes: linked.statistics.input_bytes,
                    output_bytes: linked.statistics.output_bytes,
                },
                cubin: Some(linked.cubin),
                map: linked
                    .map
                    .and_then(|map| serde_json::to_vec(&map).ok())
                    .map(c_string),
            },
            Err(error) => Linked {
                cubin: None,
                findings: match error {
                    LinkError::Failed { diagnostics } => {
                        diagnostics.iter().map(Texts::new).collect()
                    }
                    LinkError::Cancelled => Vec::new(),
                },
                statistics: Statistics::default(),
                map: None,
            },
        }
    }
}

impl Texts {
    fn new(finding: &Diagnostic) -> Self {
        let notes = finding.notes.iter().map(|line| format!("note: {line}\n"));
        let helps = finding.helps.iter().map(|line| format!("help: {line}\n"));
        Texts {
            severity: finding.severity.into(),
            code: c_string(finding.code.name()),
            message: c_string(finding.text().into_owned()),
            explanation: c_string(notes.chain(helps).collect::<String>()),
        }
    }
}

/// Frees what `cuweld_linker_link` made. Null is nothing.
#[unsafe(no_mangle)]
pub extern "C" fn cuweld_linked_destroy(linked: Option<Box<Linked>>) {
    guarded(|| {
        drop(linked);
        Status::Ok
    });
}

/// Returns the output, and its size in bytes if `size` is not null. It stays as long as what it is
/// the output of; null if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn cuweld_linked_cubin(
    linked: Option<&Linked>,
    size: Option<&mut MaybeUninit<usize>>,
) -> *const u8 {
    let cubin = linked.and_then(|linked| linked.cubin.as_deref());
    if let Some(size) = size {
        size.write(cubin.map_or(0, <[u8]>::len));
    }
    cubin.map_or(ptr::null(), <[u8]>::as_ptr)
}

/// Returns the number of findings.
#[unsafe(no_mangle)]
pub extern "C" fn cuweld_linked_finding_count(linked: Option<&Linked>) -> usize {
    linked.map_or(0, |linked| linked.findings.len())
}

/// Reads a finding, counted from 0.
#[unsafe(no_mangle)]
pub extern "C" fn cuweld_linked_finding(
    linked: Option<&Linked>,
    index: usize,
    finding: Option<&mut MaybeUninit<Finding>>,
) -> Status {
    let texts = linked.and_then(|linked| linked.findings.get(index));
    let (Some(texts), Some(finding)) = (texts, finding) else {
        return Status::Invalid;
    };
    finding.write(Finding {
        severity: texts.severity,
        code: texts.code.as_ptr(),
        message: texts.message.as_ptr(),
        explanation: texts.explanation.as_ptr(),
    });
    Status::Ok
}

/// Returns how much was linked: nothing if there is no output.
#[unsafe(no_mangle)]
pub extern "C" fn cuweld_linked_statistics(linked: Option<&Linked>) -> Statistics {
    linked.map_or(Statistics::default(), |linked| linked.statistics)
}

/// Returns the map of the output as JSON, if the setting `map` asks for it: what lies where, and which
/// input it came from. docs/using/files.md says what it holds. Null if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn cuweld_linked_map(linked: Option<&Linked>) -> *const c_char {
    let map = linked.and_then(|linked| linked.map.as_deref());
    map.map_or(ptr::null(), CStr::as_ptr)
}
