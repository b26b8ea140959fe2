//! The shared library of this build, and its functions.

use std::ffi::CString;
use std::ffi::c_char;
use std::ffi::c_int;
use std::ffi::c_void;
use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use libloading::Library;
use libloading::Symbol;

/// Returns a file of this crate.
pub fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Returns NVIDIA's library, if its toolkit is installed for tests.
pub fn nvidias() -> Option<PathBuf> {
    let oracle = PathBuf::from(std::env::var_os("CUDA_ORACLE")?);
    Some(oracle.join("lib/libnvJitLink.so.13"))
}

/// Makes the shared library of the newest static one beside this test, as `cargo xtask jitlink`
/// does. Returns its path.
pub fn shared() -> &'static Path {
    static MADE: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, file) = MADE.get_or_init(|| {
        let test = std::env::current_exe().unwrap();
        let built = fs::read_dir(test.parent().unwrap()).unwrap();
        let built = built.map(|entry| entry.unwrap().path());
        let archive = built
            .filter(|path| {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                name.starts_with("libcuweld_nvjitlink") && name.ends_with(".a")
            })
            .max_by_key(|path| fs::metadata(path).unwrap().modified().unwrap())
            .expect("cargo makes the static library with this test");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("libnvJitLink.so.13");
        let status = Command::new(here("make-shared"))
            .args([&archive, &file])
            .status()
            .unwrap();
        assert!(status.success());
        (folder, file)
    });
    file
}

/// A library with the interface.
pub struct Interface(Library);

impl Interface {
    pub fn load(file: &Path) -> Self {
        // SAFETY: the libraries have no conditions for loading.
        Interface(unsafe { Library::new(file) }.unwrap())
    }

    pub fn has(&self, name: &str) -> bool {
        // SAFETY: the symbol is not used.
        unsafe { self.0.get::<*const c_void>(name.as_bytes()) }.is_ok()
    }

    fn function<T>(&self, name: &str) -> Symbol<'_, T> {
        // SAFETY: the callers below name functions with the types of the interface.
        unsafe { self.0.get(name.as_bytes()) }.unwrap()
    }

    pub fn version(&self) -> (u32, u32) {
        let version =
            self.function::<unsafe extern "C" fn(*mut u32, *mut u32) -> c_int>("nvJitLinkVersion");
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both are written to.
        unsafe { version(&mut major, &mut minor) };
        (major, minor)
    }

    /// Begins a link.
    pub fn create(&self, options: &[&str]) -> (Link<'_>, c_int) {
        let options: Vec<CString> = options
            .iter()
            .map(|it| CString::new(*it).unwrap())
            .collect();
        let pointers: Vec<*const c_char> = options.iter().map(|it| it.as_ptr()).collect();
        let create = self
            .function::<unsafe extern "C" fn(*mut *mut c_void, u32, *const *const c_char) -> c_int>(
                "nvJitLinkCreate",
            );
        let mut handle = std::ptr::null_mut();
        // SAFETY: the array has as many texts.
        let code = unsafe { create(&mut handle, pointers.len() as u32, pointers.as_ptr()) };
        let link = Link {
            interface: self,
            handle,
            names: Vec::new(),
        };
        (link, code)
    }
}

/// A link of a library.
pub struct Link<'i> {
    interface: &'i Interface,
    handle: *mut c_void,
    /// NVIDIA's library keeps their addresses.
    names: Vec<CString>,
}

impl Link<'_> {
    pub fn add(&mut self, kind: c_int, data: Option<&[u8]>, name: Option<&str>) -> c_int {
        let add = self.interface.function::<unsafe extern "C" fn(
            *mut c_void,
            c_int,
            *const c_void,
            usize,
            *const c_char,
        ) -> c_int>("nvJitLinkAddData");
        let name = name.map(|name| CString::new(name).unwrap());
        let pointer = name.as_ref().map_or(std::ptr::null(), |name| name.as_ptr());
        let bytes = data.map_or(std::ptr::null(), <[u8]>::as_ptr);
        self.names.extend(name);
        // SAFETY: the bytes have the size; the name lives as long as the link.
        unsafe {
            add(
                self.handle,
                kind,
                bytes.cast(),
                data.map_or(0, <[u8]>::len),
                pointer,
            )
        }
    }

    pub fn add_file(&mut self, kind: c_int, path: Option<&Path>) -> c_int {
        let add = self
            .interface
            .function::<unsafe extern "C" fn(*mut c_void, c_int, *const c_char) -> c_int>(
                "nvJitLinkAddFile",
            );
        let path = path.map(|path| CString::new(path.to_str().unwrap()).unwrap());
        let pointer = path.as_ref().map_or(std::ptr::null(), |path| path.as_ptr());
        self.names.extend(path);
        // SAFETY: the path lives as long as the link.
        unsafe { add(self.handle, kind, pointer) }
    }

    pub fn complete(&self) -> c_int {
        let complete = self
            .interface
            .function::<unsafe extern "C" fn(*mut c_void) -> c_int>("nvJitLinkComplete");
        // SAFETY: any handle may be given.
        unsafe { complete(self.handle) }
    }

    /// Reads a result, such as `LinkedCubin`.
    pub fn get(&self, what: &str) -> Result<Vec<u8>, c_int> {
        let size = format!("nvJitLinkGet{what}Size");
        let size = self
            .interface
            .function::<unsafe extern "C" fn(*mut c_void, *mut usize) -> c_int>(&size);
        let get = format!("nvJitLinkGet{what}");
        let get = self
            .interface
            .function::<unsafe extern "C" fn(*mut c_void, *mut u8) -> c_int>(&get);
        let mut length = 0;
        // SAFETY: the size is written to, and the buffer has it.
        let (code, bytes) = unsafe {
            match size(self.handle, &mut length) {
                0 => {}
                code => return Err(code),
            }
            let mut bytes = vec![0; length + 1];
            let code = get(self.handle, bytes.as_mut_ptr());
            bytes.truncate(length);
            (code, bytes)
        };
        match code {
            0 => Ok(bytes),
            code => Err(code),
        }
    }

    /// Reads a log: its text without the NUL at its end.
    pub fn log(&self, what: &str) -> String {
        let mut bytes = self.get(what).unwrap_or_default();
        assert!(bytes.is_empty() || bytes.pop() == Some(0));
        String::from_utf8(bytes).unwrap()
    }

    pub fn destroy(mut self) -> c_int {
        let destroy = self
            .interface
            .function::<unsafe extern "C" fn(*mut *mut c_void) -> c_int>("nvJitLinkDestroy");
        // SAFETY: the handle is written to.
        unsafe { destroy(&mut self.handle) }
    }
}
