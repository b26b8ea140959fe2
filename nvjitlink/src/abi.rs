//! The functions of the interface: for each of a set one without a version, which programs look up
//! by name, and one for each minor version of CUDA 13, which the header of that version calls.
//!
//! NVIDIA's library gets a set with each minor version; ours has all.

use std::borrow::Cow;
use std::ffi::CStr;
use std::ffi::c_char;
use std::ffi::c_int;
use std::ffi::c_void;
use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

use cuweld::Toolkit;

use crate::handles;
use crate::handles::Handle;
use crate::handles::locked;
use crate::result::ResultCode;
use crate::session::Session;
use crate::surroundings::Surroundings;

/// Tells that the library is cuweld's.
#[unsafe(no_mangle)]
pub extern "C" fn nvJitLinkOfCuweld() -> c_int {
    1
}

/// Does nothing: what NVIDIA's function of this name does is not public.
#[unsafe(export_name = "__nvJitLinkAPI")]
pub extern "C" fn api() -> ResultCode {
    ResultCode::INTERNAL
}

/// Tells the major and minor version of the toolkit: that of `CUWELD_TOOLKIT`, else the newest that
/// is known.
///
/// # Safety
///
/// Both are null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvJitLinkVersion(major: *mut u32, minor: *mut u32) -> ResultCode {
    let toolkit = Surroundings::read().toolkit.unwrap_or(Toolkit::newest());
    let places = (major.is_null() || minor.is_null()).then_some(ResultCode::NULL_INPUT);
    places.unwrap_or_else(|| {
        // SAFETY: the caller vouches for both, which are not null.
        unsafe {
            major.write(u32::from(toolkit.release.major));
            minor.write(u32::from(toolkit.release.minor));
        }
        ResultCode::SUCCESS
    })
}

/// Runs what a call does; a fault of ours is an internal error and not the end of the process.
fn guarded(call: impl FnOnce() -> ResultCode) -> ResultCode {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or(ResultCode::INTERNAL)
}

/// Does something with an open link.
fn with(handle: Handle, call: impl FnOnce(&mut Session) -> ResultCode) -> ResultCode {
    guarded(|| match handles::find(handle) {
        Some(session) => call(&mut locked(&session)),
        None => ResultCode::NULL_INPUT,
    })
}

/// Returns a text of the caller.
///
/// # Safety
///
/// It is null, or ends with NUL and is not changed meanwhile.
unsafe fn text<'c>(text: *const c_char) -> Option<Cow<'c, str>> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the caller vouches for it.
    Some(unsafe { CStr::from_ptr(text) }.to_string_lossy())
}

/// Begins a link for the set of functions with this minor version.
///
/// # Safety
///
/// As for `nvJitLinkCreate`: `handle` is null or may be written to; `options` is null or has
/// `count` texts that end with NUL, or null.
unsafe fn create(
    handle: *mut Handle,
    count: u32,
    options: *const *const c_char,
    minor: Option<u32>,
) -> ResultCode {
    guarded(|| {
        if handle.is_null() || options.is_null() && count > 0 {
            return ResultCode::NULL_INPUT;
        }
        let mut words = Vec::new();
        for index in 0..count as usize {
            // SAFETY: the caller vouches for as many entries, each a text or null.
            match unsafe { text(*options.add(index)) } {
                Some(word) => words.push(word),
                None => return ResultCode::NULL_INPUT,
            }
        }
        let words: Vec<&str> = words.iter().map(|word| &**word).collect();
        let (session, code) = Session::create(&words, minor, Surroundings::read());
        // SAFETY: the caller vouches for it, and it is not null.
        unsafe { handle.write(handles::open(session)) };
        code
    })
}

/// Ends a link.
///
/// # Safety
///
/// `handle` is null or may be read and written.
unsafe fn destroy(handle: *mut Handle) -> ResultCode {
    guarded(|| {
        if handle.is_null() {
            return ResultCode::NULL_INPUT;
        }
        // SAFETY: the caller vouches for it, and it is not null.
        match handles::close(unsafe { handle.replace(0) }) {
            true => ResultCode::SUCCESS,
            false => ResultCode::NULL_INPUT,
        }
    })
}

/// Adds bytes.
///
/// # Safety
///
/// `data` is null or has `size` bytes, `name` is null or ends with NUL.
unsafe fn add_data(
    handle: Handle,
    kind: c_int,
    data: *const c_void,
    size: usize,
    name: *const c_char,
) -> ResultCode {
    with(handle, |session| {
        // SAFETY: the caller vouches for both.
        let (name, bytes) = unsafe {
            let bytes = match data.is_null() || size == 0 {
                true => &[][..],
                false => std::slice::from_raw_parts(data.cast::<u8>(), size),
            };
            (text(name), bytes)
        };
        session.add(kind, bytes, name.as_deref())
    })
}

/// Adds a file.
///
/// # Safety
///
/// `path` is null or ends with NUL.
unsafe fn add_file(handle: Handle, kind: c_int, path: *const c_char) -> ResultCode {
    with(handle, |session| {
        // SAFETY: the caller vouches for it.
        match unsafe { text(path) } {
            Some(path) => session.add_file(kind, &path),
            None => ResultCode::NULL_INPUT,
        }
    })
}

/// Links.
fn complete(handle: Handle) -> ResultCode {
    with(handle, Session::complete)
}

/// A result of a link.
type Read = for<'s> fn(&'s Session) -> Result<Cow<'s, [u8]>, ResultCode>;

/// Gives a result to whoever writes it to the caller's place, which is not null.
fn result<T>(
    handle: Handle,
    place: *mut T,
    read: Read,
    give: impl FnOnce(*mut T, &[u8]),
) -> ResultCode {
    with(handle, |session| {
        if place.is_null() {
            return ResultCode::NULL_INPUT;
        }
        match read(session) {
            Ok(bytes) => {
                give(place, &bytes);
                ResultCode::SUCCESS
            }
            Err(code) => code,
        }
    })
}

/// Tells the size of a result.
///
/// # Safety
///
/// `size` is null or may be written to.
unsafe fn size_of_result(handle: Handle, size: *mut usize, read: Read) -> ResultCode {
    // SAFETY: the caller vouches for the place, which is not null.
    result(handle, size, read, |size, bytes| unsafe {
        size.write(bytes.len());
    })
}

/// Copies a result.
///
/// # Safety
///
/// `place` is null or has room for as many bytes as [`size_of_result`] tells.
unsafe fn copy_of_result(handle: Handle, place: *mut c_char, read: Read) -> ResultCode {
    // SAFETY: the caller vouches for the room, and the bytes are ours.
    result(handle, place, read, |place, bytes| unsafe {
        place.cast::<u8>().copy_from(bytes.as_ptr(), bytes.len());
    })
}

/// Exports the functions that read a result: what their names begin and end with, and its name.
macro_rules! result {
    ($begin:literal, $end:literal, $name:literal, $read:expr) => {
        const _: () = {
            #[unsafe(export_name = concat!($begin, "Get", $name, "Size", $end))]
            unsafe extern "C" fn size(handle: Handle, size: *mut usize) -> ResultCode {
                // SAFETY: as the interface says.
                unsafe { size_of_result(handle, size, $read) }
            }
            #[unsafe(export_name = concat!($begin, "Get", $name, $end))]
            unsafe extern "C" fn copy(handle: Handle, place: *mut c_char) -> ResultCode {
                // SAFETY: as the interface says.
                unsafe { copy_of_result(handle, place, $read) }
            }
        };
    };
}

/// Exports a set of functions: what their names begin and end with, and its minor version.
macro_rules! set {
    ($begin:literal, $end:literal, $minor:expr) => {
        const _: () = {
            #[unsafe(export_name = concat!($begin, "Create", $end))]
            unsafe extern "C" fn set_create(
                handle: *mut Handle,
                count: u32,
                options: *const *const c_char,
            ) -> ResultCode {
                // SAFETY: as the interface says.
                unsafe { create(handle, count, options, $minor) }
            }
            #[unsafe(export_name = concat!($begin, "Destroy", $end))]
            unsafe extern "C" fn set_destroy(handle: *mut Handle) -> ResultCode {
                // SAFETY: as the interface says.
                unsafe { destroy(handle) }
            }
            #[unsafe(export_name = concat!($begin, "AddData", $end))]
            unsafe extern "C" fn set_add_data(
                handle: Handle,
                kind: c_int,
                data: *const c_void,
                size: usize,
                name: *const c_char,
            ) -> ResultCode {
                // SAFETY: as the interface says.
                unsafe { add_data(handle, kind, data, size, name) }
            }
            #[unsafe(export_name = concat!($begin, "AddFile", $end))]
            unsafe extern "C" fn set_add_file(
                handle: Handle,
                kind: c_int,
                path: *const c_char,
            ) -> ResultCode {
                // SAFETY: as the interface says.
                unsafe { add_file(handle, kind, path) }
            }
            #[unsafe(export_name = concat!($begin, "Complete", $end))]
            extern "C" fn set_complete(handle: Handle) -> ResultCode {
                complete(handle)
            }
        };
        result!($begin, $end, "LinkedCubin", Session::cubin);
        result!($begin, $end, "LinkedPtx", Session::ptx);
        result!($begin, $end, "LinkedLTOIR", Session::lto_ir);
        result!($begin, $end, "ErrorLog", Session::error_log);
        result!($begin, $end, "InfoLog", Session::info_log);
    };
}

set!("nvJitLink", "", None);
set!("__nvJitLink", "_13_0", Some(0));
set!("__nvJitLink", "_13_1", Some(1));
set!("__nvJitLink", "_13_2", Some(2));
set!("__nvJitLink", "_13_3", Some(3));
set!("__nvJitLink", "_13_4", Some(4));
set!("__nvJitLink", "_13_5", Some(5));
