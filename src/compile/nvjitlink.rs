//! NVIDIA's libnvJitLink, loaded at run time: link-time optimisation.
//!
//! nvlink hands LTO-IR to entries of libNVVM that are not public. The public library libnvJitLink
//! makes the same PTX of the same inputs; ptxas makes the program of it.

use std::ffi::CString;
use std::ffi::c_char;
use std::ffi::c_int;
use std::ffi::c_void;
use std::path::Path;
use std::path::PathBuf;

use cuweld_elf::toolkit::Toolkit;
use libloading::Library;
use libloading::Symbol;

use crate::replay_root::may_run_file;

/// The library's name, if the system's loader is to find it; releases of one major version are
/// compatible.
const FILE_NAME: &str = Toolkit::DEFAULT.jit_library;

/// What an input of libnvJitLink is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// LTO-IR as the compiler writes it.
    LtoIr,
    /// A fatbin with an LTO-IR member.
    Fatbin,
}

impl InputKind {
    fn code(self) -> c_int {
        match self {
            InputKind::LtoIr => 3,
            InputKind::Fatbin => 4,
        }
    }
}

/// Something to optimise.
#[derive(Clone, Debug)]
pub struct LtoInput<'a> {
    /// The name in messages.
    pub name: String,
    /// How the bytes are to be read.
    pub kind: InputKind,
    /// The LTO-IR, or the fatbin that holds it.
    pub bytes: &'a [u8],
}

/// Why there is no PTX.
#[derive(Debug, thiserror::Error)]
pub enum NvJitLinkError {
    /// The library is nowhere, or has not the functions.
    #[error("there is no usable {FILE_NAME}: {reason}")]
    Library {
        /// What the system says.
        reason: String,
    },
    /// This program is linked statically.
    #[error("a program that is linked statically cannot load '{}'", path.display())]
    Static {
        /// The library.
        path: PathBuf,
    },
    /// A function of the library failed.
    #[error("{function} fails with code {code}")]
    Call {
        /// Its name.
        function: &'static str,
        /// What it returned.
        code: c_int,
        /// What the library wrote.
        log: String,
    },
    /// A text for the library holds a NUL.
    #[error("'{0}' holds a NUL")]
    Text(String),
}

/// A link in the library: null, or what `nvJitLinkCreate` made and `nvJitLinkDestroy` has not ended.
/// The library refuses null.
#[repr(transparent)]
#[derive(Clone, Copy)]
struct Handle(*mut c_void);

// Functions that take nothing but a handle and places to write to are right with any.
type Create = unsafe extern "C" fn(&mut Handle, u32, *const *const c_char) -> c_int;
type Version = extern "C" fn(&mut u32, &mut u32) -> c_int;
type Destroy = extern "C" fn(&mut Handle) -> c_int;
type AddData = unsafe extern "C" fn(Handle, c_int, *const c_void, usize, *const c_char) -> c_int;
type Complete = extern "C" fn(Handle) -> c_int;
type GetSize = extern "C" fn(Handle, &mut usize) -> c_int;
type GetText = unsafe extern "C" fn(Handle, *mut c_char) -> c_int;

/// The library.
pub struct NvJitLink {
    library: Library,
}

impl NvJitLink {
    /// Returns the library: the one that is named, else the first that is in one of the folders,
    /// else a name alone, for the system's loader.
    pub fn find(named: Option<&Path>, folders: &[PathBuf]) -> PathBuf {
        let names = Toolkit::jit_libraries();
        named.map(Path::to_owned).unwrap_or_else(|| {
            folders
                .iter()
                .flat_map(|folder| names.iter().map(|name| folder.join(name)))
                .find(|file| file.is_file())
                .unwrap_or_else(|| FILE_NAME.into())
        })
    }

    /// Loads the library that [`Self::find`] returns.
    pub fn load(named: Option<&Path>, folders: &[PathBuf]) -> Result<Self, NvJitLinkError> {
        let path = Self::find(named, folders);
        if cfg!(target_feature = "crt-static") {
            return Err(NvJitLinkError::Static { path });
        }
        may_run_file(&path).map_err(|error| NvJitLinkError::Library {
            reason: error.to_string(),
        })?;
        // SAFETY: loading runs the initialisers of NVIDIA's library, which has no conditions for
        // that; which file it is, the user or the system's configuration decides.
        let library = unsafe { Library::new(&path) }.map_err(|error| NvJitLinkError::Library {
            reason: error.to_string(),
        })?;
        Ok(NvJitLink { library })
    }

    fn function<T>(&self, name: &'static str) -> Result<Symbol<'_, T>, NvJitLinkError> {
        // SAFETY: the callers below name functions with the types of NVIDIA's header nvJitLink.h.
        // Those that are safe here keep no address, and write through what they are given alone.
        unsafe { self.library.get(name.as_bytes()) }.map_err(|error| NvJitLinkError::Library {
            reason: error.to_string(),
        })
    }

    /// Returns the library's major and minor version.
    pub fn version(&self) -> Result<(u32, u32), NvJitLinkError> {
        let function = "nvJitLinkVersion";
        let version = self.function::<Version>(function)?;
        let (mut major, mut minor) = (0, 0);
        match version(&mut major, &mut minor) {
            0 => Ok((major, minor)),
            code => Err(NvJitLinkError::Call {
                function,
                code,
                log: String::new(),
            }),
        }
    }

    /// Optimises the inputs as one program and gives its PTX.
    pub fn ptx(
        &self,
        options: &[String],
        inputs: &[LtoInput<'_>],
    ) -> Result<Vec<u8>, NvJitLinkError> {
        let text =
            |text: &str| CString::new(text).map_err(|_| NvJitLinkError::Text(text.to_owned()));
        let options = options
            .iter()
            .map(|option| text(option))
            .collect::<Result<Vec<_>, _>>()?;
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let names = inputs
            .iter()
            .map(|input| text(&input.name))
            .collect::<Result<Vec<_>, _>>()?;
        let create = self.function::<Create>("nvJitLinkCreate")?;
        let add = self.function::<AddData>("nvJitLinkAddData")?;
        let complete = self.function::<Complete>("nvJitLinkComplete")?;
        let mut link = Link {
            library: self,
            handle: Handle(std::ptr::null_mut()),
        };
        // SAFETY: the array has as many entries as is said, each a text that ends with NUL and
        // lives until the end of this function; the library fills in the handle.
        let code = unsafe { create(&mut link.handle, pointers.len() as u32, pointers.as_ptr()) };
        link.check("nvJitLinkCreate", code)?;
        for (input, name) in inputs.iter().zip(&names) {
            let (bytes, size) = (input.bytes.as_ptr(), input.bytes.len());
            // SAFETY: the bytes and the name live longer than the link; the size is theirs.
            let code = unsafe {
                add(
                    link.handle,
                    input.kind.code(),
                    bytes.cast(),
                    size,
                    name.as_ptr(),
                )
            };
            link.check("nvJitLinkAddData", code)?;
        }
        link.check("nvJitLinkComplete", complete(link.handle))?;
        link.read("nvJitLinkGetLinkedPtxSize", "nvJitLinkGetLinkedPtx")
    }
}

/// A link in the library; gone when it is dropped.
struct Link<'a> {
    library: &'a NvJitLink,
    handle: Handle,
}

impl Link<'_> {
    fn check(&self, function: &'static str, code: c_int) -> Result<(), NvJitLinkError> {
        if code == 0 {
            return Ok(());
        }
        let log = if self.handle.0.is_null() {
            Vec::new()
        } else {
            self.read("nvJitLinkGetErrorLogSize", "nvJitLinkGetErrorLog")
                .unwrap_or_default()
        };
        Err(NvJitLinkError::Call {
            function,
            code,
            log: String::from_utf8_lossy(&log).into_owned(),
        })
    }

    /// Reads a text: its size, then the bytes; without the NUL at its end.
    fn read(&self, size: &'static str, text: &'static str) -> Result<Vec<u8>, NvJitLinkError> {
        let get_size = self.library.function::<GetSize>(size)?;
        let get_text = self.library.function::<GetText>(text)?;
        let fails = |function, code| NvJitLinkError::Call {
            function,
            code,
            log: String::new(),
        };
        let mut length = 0usize;
        let code = get_size(self.handle, &mut length);
        if code != 0 {
            return Err(fails(size, code));
        }
        let mut bytes = vec![0u8; length];
        if length != 0 {
            // SAFETY: the buffer has the size that the library asked for.
            let code = unsafe { get_text(self.handle, bytes.as_mut_ptr().cast()) };
            if code != 0 {
                return Err(fails(text, code));
            }
        }
        while bytes.last() == Some(&0) {
            bytes.pop();
        }
        Ok(bytes)
    }
}

impl Drop for Link<'_> {
    fn drop(&mut self) {
        if self.handle.0.is_null() {
            return;
        }
        if let Ok(destroy) = self.library.function::<Destroy>("nvJitLinkDestroy") {
            destroy(&mut self.handle);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_is_named() {
        let load = |named: &str| match NvJitLink::load(Some(Path::new(named)), &[]) {
            Ok(library) => library.ptx(&[], &[]).err().map(|error| error.to_string()),
            Err(error) => Some(error.to_string()),
        };
        let text = load("/none/libnvJitLink.so.13").unwrap();
        assert!(text.contains("/none/"), "{text}");
        if cfg!(target_feature = "crt-static") {
            assert!(text.contains("linked statically"), "{text}");
            return;
        }
        assert!(text.contains("no usable libnvJitLink.so.13"), "{text}");
        // A library, but another one.
        let text = load("libc.so.6").unwrap();
        assert!(text.contains("nvJitLinkCreate"), "{text}");
    }
}
