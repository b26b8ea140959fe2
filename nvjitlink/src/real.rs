//! NVIDIA's own libnvJitLink, which does all of a link with link-time optimisation, and of one with
//! PTX where there is no ptxas.

use std::borrow::Cow;
use std::ffi::CString;
use std::ffi::c_int;
use std::path::PathBuf;

use cuweld::internals::jitlink_library::JitLink;
use cuweld::internals::jitlink_library::JitLinkError;
use cuweld::internals::jitlink_library::JitLinkLibrary;

use crate::result::ResultCode;

/// A symbol that NVIDIA's library does not have.
const MARK: &str = "nvJitLinkOfCuweld";

/// A link in NVIDIA's library.
pub(crate) struct RealLink(JitLink<JitLinkLibrary>);

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
        let is_real = |library: &JitLinkLibrary| !library.has(MARK);
        let mut files = files.iter().filter(|file| file.is_file());
        let library = files.find_map(|file| JitLinkLibrary::load(file).ok().filter(is_real));
        let library = library.ok_or_else(looked)?;
        let words: Vec<CString> = words
            .iter()
            .filter_map(|word| CString::new(*word).ok())
            .collect();
        let (link, code) = JitLink::create(library, &words).map_err(|_| looked())?;
        Ok((RealLink(link), ResultCode(code)))
    }

    /// Adds an input.
    pub(crate) fn add(&mut self, kind: c_int, data: &[u8], name: Option<&str>) -> ResultCode {
        let name = name.and_then(|name| CString::new(name).ok());
        // The library reads text up to a NUL, whatever its size.
        let is_open = data.last() != Some(&0) && std::str::from_utf8(data).is_ok();
        let data = match is_open {
            true => Cow::Owned([data, b"\0"].concat()),
            false => Cow::Borrowed(data),
        };
        code_of(self.0.add(kind, &data, name))
    }

    /// Links.
    pub(crate) fn complete(&self) -> ResultCode {
        code_of(self.0.complete())
    }

    /// Reads a result by the names of the functions for its size and for its bytes.
    ///
    /// # Errors
    ///
    /// What the library returns.
    pub(crate) fn get(&self, size: &str, bytes: &str) -> Result<Vec<u8>, ResultCode> {
        self.0.get(size, bytes).map_err(|error| code_of(Err(error)))
    }
}

/// Returns the code of a call: what the library returned, if it has the function.
fn code_of(called: Result<(), JitLinkError>) -> ResultCode {
    match called {
        Ok(()) => ResultCode::SUCCESS,
        Err(JitLinkError::Code { code, .. }) => ResultCode(code),
        Err(JitLinkError::Missing(_)) => ResultCode::INTERNAL,
    }
}
