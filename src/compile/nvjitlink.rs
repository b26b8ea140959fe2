//! NVIDIA's libnvJitLink, loaded at run time: link-time optimisation.
//!
//! nvlink hands LTO-IR to entries of libNVVM that are not public. The public library libnvJitLink
//! makes the same PTX of the same inputs; ptxas makes the program of it.

use std::ffi::CString;
use std::ffi::c_int;
use std::path::Path;
use std::path::PathBuf;

use cuweld_elf::toolkit::Toolkit;

use super::jitlink_library::JitLink;
use super::jitlink_library::JitLinkError;
use super::jitlink_library::JitLinkLibrary;
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
        function: String,
        /// What it returned.
        code: c_int,
        /// What the library wrote.
        log: String,
    },
    /// A text for the library holds a NUL.
    #[error("'{0}' holds a NUL")]
    Text(String),
}

/// Returns the error of a call.
fn failed(error: JitLinkError) -> NvJitLinkError {
    match error {
        JitLinkError::Missing(error) => NvJitLinkError::Library {
            reason: error.to_string(),
        },
        JitLinkError::Code { function, code } => NvJitLinkError::Call {
            function,
            code,
            log: String::new(),
        },
    }
}

/// The library.
#[derive(Debug)]
pub struct NvJitLink(JitLinkLibrary);

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
        JitLinkLibrary::load(&path).map(NvJitLink).map_err(failed)
    }

    /// Returns the library's major and minor version.
    pub fn version(&self) -> Result<(u32, u32), NvJitLinkError> {
        self.0.version().map_err(failed)
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
        let names = inputs
            .iter()
            .map(|input| text(&input.name))
            .collect::<Result<Vec<_>, _>>()?;
        let (mut link, code) = JitLink::create(&self.0, &options).map_err(failed)?;
        let create = "nvJitLinkCreate".to_owned();
        let created = match code {
            0 => Ok(()),
            code => Err(JitLinkError::Code {
                function: create,
                code,
            }),
        };
        created.map_err(|error| with_log(&link, error))?;
        for (input, name) in inputs.iter().zip(names) {
            let added = link.add(input.kind.code(), input.bytes, Some(name));
            added.map_err(|error| with_log(&link, error))?;
        }
        link.complete().map_err(|error| with_log(&link, error))?;
        text_of(&link, "nvJitLinkGetLinkedPtxSize", "nvJitLinkGetLinkedPtx").map_err(failed)
    }
}

/// Returns the error of a call, with what the library wrote of it.
fn with_log(link: &JitLink<&JitLinkLibrary>, error: JitLinkError) -> NvJitLinkError {
    let mut error = failed(error);
    if let NvJitLinkError::Call { log, .. } = &mut error
        && link.is_there()
    {
        let text = text_of(link, "nvJitLinkGetErrorLogSize", "nvJitLinkGetErrorLog");
        *log = String::from_utf8_lossy(&text.unwrap_or_default()).into_owned();
    }
    error
}

/// Reads a text: its size, then the bytes; without the NUL at its end.
fn text_of(
    link: &JitLink<&JitLinkLibrary>,
    size: &str,
    text: &str,
) -> Result<Vec<u8>, JitLinkError> {
    let mut bytes = link.get(size, text)?;
    while bytes.last() == Some(&0) {
        bytes.pop();
    }
    Ok(bytes)
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
