//! The interface of NVIDIA's libnvJitLink, in a library that is loaded at run time.
//!
//! A code that is none of success and a function that the library does not have are errors.

use std::borrow::Borrow;
use std::ffi::CString;
use std::ffi::c_char;
use std::ffi::c_int;
use std::ffi::c_void;
use std::path::Path;

use libloading::Library;
use libloading::Symbol;

/// A link in the library: null, or what `nvJitLinkCreate` made and `nvJitLinkDestroy` has not ended.
/// The library refuses null.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
struct Handle(*mut c_void);

// SAFETY: the library lets any thread use a link, one at a time: adding needs the link as `&mut`, and
// the other calls read what is complete.
unsafe impl Send for Handle {}

// Functions that take nothing but a handle and places to write to are right with any.
type Version = extern "C" fn(&mut u32, &mut u32) -> c_int;
type Create = unsafe extern "C" fn(&mut Handle, u32, *const *const c_char) -> c_int;
type Destroy = extern "C" fn(&mut Handle) -> c_int;
type AddData = unsafe extern "C" fn(Handle, c_int, *const c_void, usize, *const c_char) -> c_int;
type Complete = extern "C" fn(Handle) -> c_int;
type GetSize = extern "C" fn(Handle, &mut usize) -> c_int;
type GetBytes = unsafe extern "C" fn(Handle, *mut c_char) -> c_int;

/// Why a call did not do its work.
#[derive(Debug, thiserror::Error)]
pub enum JitLinkError {
    /// The library cannot be loaded, or lacks the function.
    #[error(transparent)]
    Missing(#[from] libloading::Error),
    /// The function failed.
    #[error("{function} fails with code {code}")]
    Code {
        /// Its name.
        function: String,
        /// What it returned.
        code: c_int,
    },
}

/// A library that has the interface, or is said to.
#[derive(Debug)]
pub struct JitLinkLibrary(Library);

impl JitLinkLibrary {
    /// Loads a library by its path, or by a name that the system's loader finds.
    ///
    /// # Errors
    ///
    /// What the system says if it cannot load it.
    pub fn load(file: &Path) -> Result<Self, JitLinkError> {
        // SAFETY: loading runs the initialisers of the library, which have no conditions; which file
        // it is, the user or the system's configuration decides.
        let library = unsafe { Library::new(file) }?;
        Ok(JitLinkLibrary(library))
    }

    /// Returns a function by its name, with the type of NVIDIA's header nvJitLink.h.
    fn function<T>(&self, name: &str) -> Result<Symbol<'_, T>, JitLinkError> {
        // SAFETY: this module alone names functions and their types. Those that are safe here keep no
        // address, and write through what they are given alone.
        Ok(unsafe { self.0.get(name.as_bytes()) }?)
    }

    /// Returns `true` if the library has a symbol.
    pub fn has(&self, symbol: &str) -> bool {
        // Looked for and not used.
        self.function::<*const c_void>(symbol).is_ok()
    }

    /// Returns the library's major and minor version.
    pub fn version(&self) -> Result<(u32, u32), JitLinkError> {
        let function = "nvJitLinkVersion";
        let version = self.function::<Version>(function)?;
        let (mut major, mut minor) = (0, 0);
        succeeded(function, version(&mut major, &mut minor))?;
        Ok((major, minor))
    }
}

/// A link in a library; it ends when it is dropped.
#[derive(Debug)]
pub struct JitLink<L: Borrow<JitLinkLibrary>> {
    library: L,
    handle: Handle,
    /// Names of inputs: the library keeps their addresses until the link is complete.
    names: Vec<CString>,
}

impl<L: Borrow<JitLinkLibrary>> JitLink<L> {
    /// Begins a link with options, and returns what the library says of them. If that is none of
    /// success there may be no link, and the library refuses all calls.
    ///
    /// # Errors
    ///
    /// The library has no such function.
    pub fn create(library: L, options: &[CString]) -> Result<(Self, c_int), JitLinkError> {
        let mut link = JitLink {
            library,
            handle: Handle(std::ptr::null_mut()),
            names: Vec::new(),
        };
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let create = link
            .library
            .borrow()
            .function::<Create>("nvJitLinkCreate")?;
        // SAFETY: the array has as many entries as is said, each a text that ends with NUL and lives
        // until the end of this function; the library fills in the handle.
        let code = unsafe { create(&mut link.handle, pointers.len() as u32, pointers.as_ptr()) };
        Ok((link, code))
    }

    /// Returns `true` if there is a link.
    pub fn is_there(&self) -> bool {
        !self.handle.0.is_null()
    }

    /// Adds an input of a kind, by its number in the interface.
    pub fn add(
        &mut self,
        kind: c_int,
        data: &[u8],
        name: Option<CString>,
    ) -> Result<(), JitLinkError> {
        let function = "nvJitLinkAddData";
        let add = self.library.borrow().function::<AddData>(function)?;
        let pointer = name.as_ref().map_or(std::ptr::null(), |name| name.as_ptr());
        self.names.extend(name);
        let bytes = data.as_ptr().cast();
        // SAFETY: the library copies the bytes, whose size is said; the name lives as long as the
        // link.
        let code = unsafe { add(self.handle, kind, bytes, data.len(), pointer) };
        succeeded(function, code)
    }

    /// Links what was added.
    pub fn complete(&self) -> Result<(), JitLinkError> {
        let function = "nvJitLinkComplete";
        let complete = self.library.borrow().function::<Complete>(function)?;
        succeeded(function, complete(self.handle))
    }

    /// Reads a result by the names of the functions for its size and for its bytes.
    pub fn get(&self, size: &str, bytes: &str) -> Result<Vec<u8>, JitLinkError> {
        let get_size = self.library.borrow().function::<GetSize>(size)?;
        let get_bytes = self.library.borrow().function::<GetBytes>(bytes)?;
        let mut length = 0;
        succeeded(size, get_size(self.handle, &mut length))?;
        let mut read = vec![0_u8; length];
        if length != 0 {
            // SAFETY: the buffer has the size that the library asked for.
            let code = unsafe { get_bytes(self.handle, read.as_mut_ptr().cast()) };
            succeeded(bytes, code)?;
        }
        Ok(read)
    }
}

impl<L: Borrow<JitLinkLibrary>> Drop for JitLink<L> {
    fn drop(&mut self) {
        let mut handle = self.handle;
        if self.is_there()
            && let Ok(destroy) = self
                .library
                .borrow()
                .function::<Destroy>("nvJitLinkDestroy")
        {
            destroy(&mut handle);
        }
    }
}

/// Returns an error for a code that is none of success.
fn succeeded(function: &str, code: c_int) -> Result<(), JitLinkError> {
    match code {
        0 => Ok(()),
        code => Err(JitLinkError::Code {
            function: function.to_owned(),
            code,
        }),
    }
}
