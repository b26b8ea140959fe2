//! The functions of the interface: for each of a set one without a version, which programs look up
//! by name, and one for each minor version of CUDA 13, which the header of that version calls.
//!
//! NVIDIA's library gets a set with each minor version; ours has all.

use std::borrow::Cow;
use std::cell::Cell;
use std::ffi::c_int;
use std::mem::MaybeUninit;
use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

use cuweld::Toolkit;

use crate::arguments::Array;
use crate::arguments::Place;
use crate::arguments::Room;
use crate::arguments::Text;
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
#[unsafe(no_mangle)]
pub extern "C" fn nvJitLinkVersion(major: Place<'_, u32>, minor: Place<'_, u32>) -> ResultCode {
    let toolkit = Surroundings::read().toolkit.unwrap_or(Toolkit::newest());
    let (Some(major), Some(minor)) = (major, minor) else {
        return ResultCode::NULL_INPUT;
    };
    major.set(MaybeUninit::new(u32::from(toolkit.release.major)));
    minor.set(MaybeUninit::new(u32::from(toolkit.release.minor)));
    ResultCode::SUCCESS
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

/// Begins a link for the set of functions with this minor version.
fn create(
    handle: Place<'_, Handle>,
    options: Option<&[Text<'_>]>,
    minor: Option<u32>,
) -> ResultCode {
    guarded(|| {
        let (Some(handle), Some(options)) = (handle, options) else {
            return ResultCode::NULL_INPUT;
        };
        let words: Option<Vec<_>> = options.iter().map(|option| option.read()).collect();
        let Some(words) = words else {
            return ResultCode::NULL_INPUT;
        };
        let words: Vec<&str> = words.iter().map(|word| &**word).collect();
        let (session, code) = Session::create(&words, minor, Surroundings::read());
        handle.set(MaybeUninit::new(handles::open(session)));
        code
    })
}

/// Ends a link.
fn destroy(handle: Option<&Cell<Handle>>) -> ResultCode {
    guarded(
        || match handle.is_some_and(|handle| handles::close(handle.replace(0))) {
            true => ResultCode::SUCCESS,
            false => ResultCode::NULL_INPUT,
        },
    )
}

/// Adds a file.
fn add_file(handle: Handle, kind: c_int, path: Text<'_>) -> ResultCode {
    with(handle, |session| match path.read() {
        Some(path) => session.add_file(kind, &path),
        None => ResultCode::NULL_INPUT,
    })
}

/// Links.
fn complete(handle: Handle) -> ResultCode {
    with(handle, Session::complete)
}

/// A result of a link.
type Read = for<'s> fn(&'s Session) -> Result<Cow<'s, [u8]>, ResultCode>;

/// Tells the size of a result.
fn size_of_result(handle: Handle, size: Place<'_, usize>, read: Read) -> ResultCode {
    with(handle, |session| {
        let Some(size) = size else {
            return ResultCode::NULL_INPUT;
        };
        match read(session) {
            Ok(bytes) => {
                size.set(MaybeUninit::new(bytes.len()));
                ResultCode::SUCCESS
            }
            Err(code) => code,
        }
    })
}

/// Copies a result.
fn copy_of_result(handle: Handle, place: Room<'_>, read: Read) -> ResultCode {
    with(handle, |session| {
        if place.is_null() {
            return ResultCode::NULL_INPUT;
        }
        match read(session) {
            Ok(bytes) => {
                // SAFETY: it is not null, and was handed to the function for these bytes.
                unsafe { place.fill(&bytes) };
                ResultCode::SUCCESS
            }
            Err(code) => code,
        }
    })
}

/// Exports the functions that read a result: what their names begin and end with, and its name.
macro_rules! result {
    ($begin:literal, $end:literal, $name:literal, $read:expr) => {
        const _: () = {
            #[unsafe(export_name = concat!($begin, "Get", $name, "Size", $end))]
            extern "C" fn size(handle: Handle, size: Place<'_, usize>) -> ResultCode {
                size_of_result(handle, size, $read)
            }
            #[unsafe(export_name = concat!($begin, "Get", $name, $end))]
            extern "C" fn copy(handle: Handle, place: Room<'_>) -> ResultCode {
                copy_of_result(handle, place, $read)
            }
        };
    };
}

/// Exports a set of functions: what their names begin and end with, and its minor version.
macro_rules! set {
    ($begin:literal, $end:literal, $minor:expr) => {
        const _: () = {
            #[unsafe(export_name = concat!($begin, "Create", $end))]
            extern "C" fn set_create(
                handle: Place<'_, Handle>,
                count: u32,
                options: Array<'_, Text<'_>>,
            ) -> ResultCode {
                // SAFETY: as the interface says, the array has as many entries as the count.
                create(handle, unsafe { options.read(count as usize) }, $minor)
            }
            #[unsafe(export_name = concat!($begin, "Destroy", $end))]
            extern "C" fn set_destroy(handle: Option<&Cell<Handle>>) -> ResultCode {
                destroy(handle)
            }
            #[unsafe(export_name = concat!($begin, "AddData", $end))]
            extern "C" fn set_add_data(
                handle: Handle,
                kind: c_int,
                data: Array<'_, u8>,
                size: usize,
                name: Text<'_>,
            ) -> ResultCode {
                with(handle, |session| {
                    // SAFETY: as the interface says, the data is null or has `size` bytes.
                    let bytes = unsafe { data.read(size) }.unwrap_or_default();
                    session.add(kind, bytes, name.read().as_deref())
                })
            }
            #[unsafe(export_name = concat!($begin, "AddFile", $end))]
            extern "C" fn set_add_file(handle: Handle, kind: c_int, path: Text<'_>) -> ResultCode {
                add_file(handle, kind, path)
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
