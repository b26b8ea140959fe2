//! A link that is to be done: settings first, then inputs, in the order in which they are linked.

use std::ffi::CStr;
use std::ffi::CString;
use std::ffi::c_char;
use std::ffi::c_int;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ops::ControlFlow;
use std::ptr;
use std::slice;

use cuweld::AddError;
use cuweld::Target;

use crate::linked::Linked;
use crate::status::Kind;
use crate::status::Status;
use crate::status::guarded;
use crate::text::c_string;
use crate::text::text;

/// A link that is to be done. It may be handed from thread to thread, and belongs to one at a time.
pub struct Linker {
    /// `None` once it has linked.
    linker: Option<cuweld::Linker>,
    /// What the last call that failed says of it.
    error: CString,
}

/// Is told of each pass before it runs: its name, its number from 1, their number, and what was
/// given with the function. Anything but 0 cancels the link. It may be called on another thread
/// than that which links, never on two at once.
pub type Progress = Option<
    unsafe extern "C" fn(pass: *const c_char, number: usize, of: usize, data: *mut c_void) -> c_int,
>;

/// Where progress is told.
struct Told {
    function: unsafe extern "C" fn(*const c_char, usize, usize, *mut c_void) -> c_int,
    data: *mut c_void,
}

// SAFETY: `cuweld_linker_set_progress` asks for a function and data that may be used on another thread.
unsafe impl Send for Told {}
// SAFETY: passes run one after the other, and so do the calls.
unsafe impl Sync for Told {}

impl Told {
    fn tell(&self, pass: &str, number: usize, of: usize) -> ControlFlow<()> {
        let pass = c_string(pass);
        // SAFETY: the caller of `cuweld_linker_set_progress` vouches for it.
        match unsafe { (self.function)(pass.as_ptr(), number, of, self.data) } {
            0 => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    }
}

impl Linker {
    fn fail(&mut self, status: Status, text: impl ToString) -> Status {
        self.error = c_string(text.to_string());
        status
    }
}

/// Returns the version of the library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn cuweld_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => c"",
        };
    VERSION.as_ptr()
}

/// Begins a link for a target such as "sm_90". Without one the place for it gets null.
///
/// # Safety
///
/// `arch` is null or ends with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuweld_linker_create(
    arch: *const c_char,
    linker: Option<&mut MaybeUninit<*mut Linker>>,
) -> Status {
    guarded(|| {
        // SAFETY: the caller vouches for it.
        let arch = unsafe { text(arch) };
        let Some(linker) = linker else {
            return Status::Invalid;
        };
        linker.write(ptr::null_mut());
        let Some(arch) = arch else {
            return Status::Invalid;
        };
        let Some(target) = Target::parse(arch) else {
            return Status::UnknownArch;
        };
        linker.write(Box::into_raw(Box::new(Linker {
            linker: Some(cuweld::Linker::new(target)),
            error: CString::default(),
        })));
        Status::Ok
    })
}

/// Frees what `cuweld_linker_create` made, linked or not. Null is nothing.
#[unsafe(no_mangle)]
pub extern "C" fn cuweld_linker_destroy(linker: Option<Box<Linker>>) {
    guarded(|| {
        drop(linker);
        Status::Ok
    });
}

/// Sets what a word names, such as "toolkit", "debug" or "kernels-used": docs/using/library.md lists
/// the words. A setting that is on or off takes no value, "true" or "false".
///
/// # Safety
///
/// `word` and each of `count` values end with NUL or are null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuweld_linker_set(
    linker: Option<&mut Linker>,
    word: *const c_char,
    values: *const *const c_char,
    count: usize,
) -> Status {
    guarded(|| {
        let Some(linker) = linker else {
            return Status::Invalid;
        };
        let mut known = Vec::new();
        if values.is_null() && count > 0 {
            return linker.fail(Status::Invalid, "the values are null");
        }
        for index in 0..count {
            // SAFETY: the caller vouches for as many values.
            match unsafe { text(*values.add(index)) } {
                Some(value) => known.push(value),
                None => return linker.fail(Status::Invalid, "a value is null or no UTF-8"),
            }
        }
        // SAFETY: the caller vouches for it.
        let Some(word) = (unsafe { text(word) }) else {
            return linker.fail(Status::Invalid, "the word is null or no UTF-8");
        };
        let Some(open) = &mut linker.linker else {
            return linker.fail(Status::Invalid, LINKED);
        };
        match open.set(word, &known) {
            Ok(()) => Status::Ok,
            Err(finding) => linker.fail(Status::BadSetting, finding),
        }
    })
}

/// Tells a function of each pass. Null tells nobody.
///
/// # Safety
///
/// The function may be called with `data` on another thread, until the link has ended; it does not
/// unwind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuweld_linker_set_progress(
    linker: Option<&mut Linker>,
    function: Progress,
    data: *mut c_void,
) -> Status {
    guarded(|| {
        let Some(linker) = linker else {
            return Status::Invalid;
        };
        let Some(open) = linker.linker.take() else {
            return linker.fail(Status::Invalid, LINKED);
        };
        let told = function.map(|function| Told { function, data });
        linker.linker = Some(open.progress(move |pass, number, of| match &told {
            Some(told) => told.tell(pass, number, of),
            None => ControlFlow::Continue(()),
        }));
        Status::Ok
    })
}

/// Adds an input: a copy of its bytes, what it is (a number of `cuweld_kind`), and the name that
/// messages use.
///
/// # Safety
///
/// `data` is null or has so many bytes; `name` is null or ends with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuweld_linker_add(
    linker: Option<&mut Linker>,
    data: *const c_void,
    size: usize,
    kind: u32,
    name: *const c_char,
) -> Status {
    guarded(|| {
        let Some(linker) = linker else {
            return Status::Invalid;
        };
        // SAFETY: the caller vouches for it.
        let name = unsafe { text(name) };
        let (Some(name), Some(kind)) = (name, Kind::by_number(kind)) else {
            let error = "the kind has no such number, or the name is null or no UTF-8";
            return linker.fail(Status::Invalid, error);
        };
        if data.is_null() && size > 0 {
            return linker.fail(Status::Invalid, "the bytes are null");
        }
        let bytes = match size {
            0 => &[],
            // SAFETY: it is not null, and the caller vouches for its size.
            _ => unsafe { slice::from_raw_parts(data.cast::<u8>(), size) },
        };
        let Some(open) = &mut linker.linker else {
            return linker.fail(Status::Invalid, LINKED);
        };
        match open.push(bytes.to_vec(), kind, name.to_owned()) {
            Ok(()) => Status::Ok,
            Err(error @ AddError::Kind { .. }) => linker.fail(Status::OtherKind, error),
            Err(error @ AddError::Limit { .. }) => linker.fail(Status::TooLarge, error),
        }
    })
}

/// Returns what the last call for this linker that failed says of it: "" if none did. It stays until
/// the next call.
#[unsafe(no_mangle)]
pub extern "C" fn cuweld_linker_error(linker: Option<&Linker>) -> *const c_char {
    linker.map_or(c"the linker is null".as_ptr(), |linker| {
        linker.error.as_ptr()
    })
}

/// Links, which a linker does once. What came of it is handed out also where the link fails: the
/// findings say why.
#[unsafe(no_mangle)]
pub extern "C" fn cuweld_linker_link(
    linker: Option<&mut Linker>,
    linked: Option<&mut MaybeUninit<*mut Linked>>,
) -> Status {
    guarded(|| {
        let Some(linker) = linker else {
            return Status::Invalid;
        };
        let Some(linked) = linked else {
            return linker.fail(Status::Invalid, "the place for what comes of it is null");
        };
        linked.write(ptr::null_mut());
        let Some(open) = linker.linker.take() else {
            return linker.fail(Status::Invalid, LINKED);
        };
        let outcome = open.link();
        let status = match &outcome {
            Ok(_) => Status::Ok,
            Err(error) => {
                let status = match error {
                    cuweld::LinkError::Cancelled => Status::Cancelled,
                    cuweld::LinkError::Failed { .. } => Status::Failed,
                };
                linker.fail(status, error)
            }
        };
        linked.write(Box::into_raw(Box::new(Linked::new(outcome))));
        status
    })
}

/// What is said to calls that come too late.
const LINKED: &str = "the linker has linked already";
