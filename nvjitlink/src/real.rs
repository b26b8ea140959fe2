//! NVIDIA's own libnvJitLink, which does all of a link with link-time optimisation, and of one with
//! PTX where there is no ptxas.

use std::borrow::Cow;
use std::ffi::CString;
use std::ffi::c_char;
use std::ffi::c_int;
use std::ffi::c_void;
use std::path::PathBuf;

use libloading::Library;
use libloading::Symbol;

use crate::result::ResultCode;

/// A symbol that NVIDIA's library does not have.
const MARK: &[u8] = b"nvJitLinkOfCuweld";

/// A link of the library: null, or what `nvJitLinkCreate` made and `nvJitLinkDestroy` has not ended.
/// The library refuses null.
#[repr(transparent)]
#[derive(Clone, Copy)]
struct Handle(*mut c_void);

// SAFETY: the library lets any thread use a link, one at a time, which the session's lock sees to.
unsafe impl Send for Handle {}

// Functions that take nothing but a handle and places to write to are right with any.
type Create = unsafe extern "C" fn(&mut Handle, u32, *const *const c_char) -> ResultCode;
type Destroy = extern "C" fn(&mut Handle) -> ResultCode;
type Add = unsafe extern "C" fn(Handle, c_int, *const c_void, usize, *const c_char) -> ResultCode;
type Complete = extern "C" fn(Handle) -> ResultCode;
type GetSize = extern "C" fn(Handle, &mut usize) -> ResultCode;
type Get = unsafe extern "C" fn(Handle, *mut c_char) -> ResultCode;

/// A link in NVIDIA's library; it ends when it is dropped.
pub(crate) struct RealLink {
    library: Library,
    handle: Handle,
    /// Names of inputs: the library keeps their addresses until the link is complete.
    names: Vec<CString>,
}

impl RealLink {
    /// Begins a link with options, in the first of some files that is NVIDIA's library. Returns
    /// what the library says of the options.
    ///
    /// # Errors
    ///
    /// Where was looked, if there is no such file.
    pub(crate) fn create(files: &[PathBuf], words: &[&str]) -> Result<(Self, ResultCode), String> {
        let looked = || {
            let files: Vec<_> = files
                .iter()
                .map(|file| file.display().to_string())
                .collect();
            format!(
                "name it with CUWELD_NVJITLINK; looked at {}",
                files.join(", ")
            )
        };
        let library = files.iter().filter(|file| file.is_file()).find_map(load);
        let library = library.ok_or_else(looked)?;
        let mut link = RealLink {
            library,
            handle: Handle(std::ptr::null_mut()),
            names: Vec::new(),
        };
        let words: Vec<CString> = words
            .iter()
            .filter_map(|word| CString::new(*word).ok())
            .collect();
        let pointers: Vec<*const c_char> = words.iter().map(|word| word.as_ptr()).collect();
        let mut handle = Handle(std::ptr::null_mut());
        let create = link.function::<Create>("nvJitLinkCreate");
        let create = create.ok_or_else(looked)?;
        // SAFETY: the array has as many entries as is said, each a text that ends with NUL and lives
        // until the end of this function; the library fills in the handle.
        let code = unsafe { create(&mut handle, pointers.len() as u32, pointers.as_ptr()) };
        link.handle = handle;
        Ok((link, code))
    }

    fn function<T>(&self, name: &str) -> Option<Symbol<'_, T>> {
        // SAFETY: the callers name functions with the types of NVIDIA's documentation. Those that
        // are safe here keep no address, and write through what they are given alone.
        unsafe { self.library.get(name.as_bytes()) }.ok()
    }

    /// Adds an input.
    pub(crate) fn add(&mut self, kind: c_int, data: &[u8], name: Option<&str>) -> ResultCode {
        let name = name.and_then(|name| CString::new(name).ok());
        let pointer = name.as_ref().map_or(std::ptr::null(), |name| name.as_ptr());
        self.names.extend(name);
        let Some(add) = self.function::<Add>("nvJitLinkAddData") else {
            return ResultCode::INTERNAL;
        };
        // The library reads text up to a NUL, whatever its size.
        let is_open = data.last() != Some(&0) && std::str::from_utf8(data).is_ok();
        let data = match is_open {
            true => Cow::Owned([data, b"\0"].concat()),
            false => Cow::Borrowed(data),
        };
        // SAFETY: the library copies the bytes, whose size is said; the name lives as long as the
        // link.
        unsafe { add(self.handle, kind, data.as_ptr().cast(), data.len(), pointer) }
    }

    /// Links.
    pub(crate) fn complete(&self) -> ResultCode {
        let complete = self.function::<Complete>("nvJitLinkComplete");
        complete.map_or(ResultCode::INTERNAL, |complete| complete(self.handle))
    }

    /// Reads a result by the names of the functions for its size and for its bytes.
    ///
    /// # Errors
    ///
    /// What the library returns.
    pub(crate) fn get(&self, size: &str, bytes: &str) -> Result<Vec<u8>, ResultCode> {
        let functions = self
            .function::<GetSize>(size)
            .zip(self.function::<Get>(bytes));
        let (get_size, get) = functions.ok_or(ResultCode::INTERNAL)?;
        let mut length = 0;
        match get_size(self.handle, &mut length) {
            ResultCode::SUCCESS => {}
            code => return Err(code),
        }
        let mut read = vec![0; length];
        if length > 0 {
            // SAFETY: the buffer has the size that the library asked for.
            match unsafe { get(self.handle, read.as_mut_ptr().cast()) } {
                ResultCode::SUCCESS => {}
                code => return Err(code),
            }
        }
        Ok(read)
    }
}

impl Drop for RealLink {
    fn drop(&mut self) {
        let mut handle = self.handle;
        if !handle.0.is_null()
            && let Some(destroy) = self.function::<Destroy>("nvJitLinkDestroy")
        {
            destroy(&mut handle);
        }
    }
}

/// Loads a library that is not ours.
fn load(file: &PathBuf) -> Option<Library> {
    // SAFETY: loading runs the initialisers of the library, which have no conditions; which file it
    // is, the user or the system's configuration decides.
    let library = unsafe { Library::new(file) }.ok()?;
    // SAFETY: the symbol is looked for and not used.
    let is_ours = unsafe { library.get::<*const c_void>(MARK) }.is_ok();
    (!is_ours).then_some(library)
}
