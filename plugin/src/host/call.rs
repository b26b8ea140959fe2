//! Calls of a plugin's pass.

use std::ffi::CStr;
use std::ffi::CString;
use std::ffi::c_char;
use std::ffi::c_void;

use super::PluginPass;
use crate::abi::CRASHED;
use crate::abi::DONE;
use crate::abi::RawCall;
use crate::abi::RawFinding;
use crate::abi::RawOutput;
use crate::abi::RawValue;
use crate::exchanged::Finding;
use crate::exchanged::Severity;
use crate::exchanged::Value;

/// Takes what a pass says while it runs.
pub trait Listener {
    /// Takes a finding.
    fn report(&mut self, finding: Finding);

    /// Adds to a counter.
    fn count(&mut self, name: &str, more: u64);
}

/// Why a pass did not do its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What the pass says, one or several lines.
    pub message: String,
    /// Whether that is a fault of the pass, by what it returned.
    pub crashed: bool,
}

impl Failure {
    fn failed(message: impl Into<String>) -> Self {
        Failure {
            message: message.into(),
            crashed: false,
        }
    }
}

/// What the functions of a call work on.
struct Context<'l> {
    listener: &'l mut dyn Listener,
    /// What was wrong with a finding or a counter.
    broken: Option<String>,
}

/// Texts that end with NUL.
type Texts = Vec<CString>;

impl PluginPass {
    /// Runs the pass on a module in text form, with a value for each option in their order: the new
    /// text, or `None` if the module is as it was.
    pub fn run(
        &self,
        text: &str,
        values: &[Value],
        listener: &mut dyn Listener,
    ) -> Result<Option<Vec<u8>>, Failure> {
        let texts: Result<Vec<Texts>, _> = values.iter().map(texts_of).collect();
        let texts = texts.map_err(|_| Failure::failed("an option has a NUL"))?;
        let pointers: Vec<Vec<*const c_char>> = texts
            .iter()
            .map(|texts| texts.iter().map(|text| text.as_ptr()).collect())
            .collect();
        let rows = values.iter().zip(&pointers);
        let values: Vec<RawValue> = rows.map(|(value, texts)| raw_value(value, texts)).collect();
        let mut context = Context {
            listener,
            broken: None,
        };
        let call = RawCall {
            input: text.as_ptr(),
            size: text.len(),
            options: values.as_ptr(),
            option_count: values.len(),
            context: (&raw mut context).cast(),
            report,
            count,
        };
        let mut output = RawOutput {
            data: std::ptr::null_mut(),
            size: 0,
        };
        // SAFETY: `run` is of the plugin's table and the library is loaded; all that the call points
        // to is ours and lives during the call, the output does not overlap it. By contract `run`
        // does not unwind, and uses the context with the functions beside it alone, from this
        // thread.
        let status = unsafe { (self.run)(&raw const call, &raw mut output) };
        let mut bytes = None;
        if !output.data.is_null() {
            // SAFETY: by contract the data is valid for `size` bytes until it is released, and
            // `release` takes what `run` put out, once; it is not used again.
            unsafe {
                bytes = Some(std::slice::from_raw_parts(output.data, output.size).to_vec());
                (self.release)(&raw mut output);
            }
        }
        if let Some(what) = context.broken {
            return Err(Failure::failed(what));
        }
        if status == DONE {
            return Ok(bytes);
        }
        Err(Failure {
            message: bytes.map_or_else(
                || format!("it returned {status}"),
                |bytes| String::from_utf8_lossy(&bytes).into_owned(),
            ),
            crashed: status == CRASHED,
        })
    }
}

/// Returns the texts of a value.
fn texts_of(value: &Value) -> Result<Texts, std::ffi::NulError> {
    match value {
        Value::Bool(_) | Value::Integer(_) => Ok(Vec::new()),
        Value::String(text) => Ok(vec![CString::new(text.as_str())?]),
        Value::Strings(texts) => texts.iter().map(|it| CString::new(it.as_str())).collect(),
    }
}

/// Returns a value for the plugin, with pointers to its texts.
fn raw_value(value: &Value, texts: &[*const c_char]) -> RawValue {
    let none = RawValue {
        integer: 0,
        string: std::ptr::null(),
        strings: std::ptr::null(),
        string_count: 0,
    };
    match value {
        Value::Bool(is) => RawValue {
            integer: i64::from(*is),
            ..none
        },
        Value::Integer(number) => RawValue {
            integer: *number,
            ..none
        },
        Value::String(_) => RawValue {
            string: texts.first().copied().unwrap_or(std::ptr::null()),
            ..none
        },
        Value::Strings(_) => RawValue {
            strings: texts.as_ptr(),
            string_count: texts.len(),
            ..none
        },
    }
}

/// Takes a finding of a plugin.
unsafe extern "C" fn report(context: *mut c_void, finding: *const RawFinding) {
    // SAFETY: by contract the context is that of the call, which is running, and nobody else uses
    // it; the finding is null or valid during this call.
    let (context, finding) = unsafe { (&mut *context.cast::<Context<'_>>(), finding.as_ref()) };
    let read = finding.ok_or("it is null").and_then(|raw| {
        // SAFETY: as above.
        unsafe { read_finding(raw) }
    });
    match read {
        Ok(finding) => context.listener.report(finding),
        Err(what) => context.broken = Some(format!("it reported a broken finding: {what}")),
    }
}

/// Adds to a counter for a plugin.
unsafe extern "C" fn count(context: *mut c_void, name: *const c_char, more: u64) {
    // SAFETY: as for `report`; the name is null or a string that ends with NUL.
    let (context, name) = unsafe { (&mut *context.cast::<Context<'_>>(), text(name)) };
    match name {
        Some(name) => context.listener.count(&name, more),
        None => context.broken = Some("it counted without a name".to_owned()),
    }
}

/// Reads a finding.
///
/// # Safety
///
/// Its pointers are null or as `cuweld-plugin.h` says.
unsafe fn read_finding(raw: &RawFinding) -> Result<Finding, &'static str> {
    // SAFETY: the caller's contract.
    unsafe {
        Ok(Finding {
            severity: Severity::from_number(raw.severity).ok_or("there is no such severity")?,
            code: text(raw.code),
            message: text(raw.message).ok_or("it has no message")?,
            row: text(raw.row),
            notes: texts(raw.notes, raw.note_count)?,
            helps: texts(raw.helps, raw.help_count)?,
        })
    }
}

/// Reads texts.
///
/// # Safety
///
/// The pointer is null, or to `count` pointers that [`text`] can read.
unsafe fn texts(pointers: *const *const c_char, count: usize) -> Result<Vec<String>, &'static str> {
    if count > 0 && pointers.is_null() {
        return Err("its notes or helps are missing");
    }
    // SAFETY: the caller's contract; the index is below the count.
    let read = (0..count).map(|index| unsafe { text(*pointers.add(index)) });
    read.map(|text| text.ok_or("one of its notes or helps is missing"))
        .collect()
}

/// Reads a text; `None` if the pointer is null. What is no UTF-8 is replaced.
///
/// # Safety
///
/// The pointer is null, or to a string that ends with NUL.
unsafe fn text(pointer: *const c_char) -> Option<String> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: the caller's contract.
    let text = unsafe { CStr::from_ptr(pointer) };
    Some(text.to_string_lossy().into_owned())
}
