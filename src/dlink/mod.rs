//! The whole device-link step, which `nvcc -dlink` does with nvlink, fatbinary and a compiler for
//! the host.
//!
//! [`links`] does the links of all targets, [`fatbin`] packs what comes of them, [`stub`] makes the
//! host object that carries it and registers it when the program starts. [`nvcc`] reads what nvcc
//! would do.

pub mod architectures;
pub mod dependencies;
pub mod fatbin;
pub mod links;
pub mod nvcc;
pub mod stub;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::input;
use cuweld_diagnostics::codes::internal;
use cuweld_diagnostics::codes::link;

use self::fatbin::FatbinImage;
use self::fatbin::FatbinOptions;
use self::links::TargetLink;
use self::stub::HostForm;
use self::stub::LinkStub;
use self::stub::StubError;

/// What is made of linked device code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The host object that registers it.
    Object(HostForm),
    /// C that registers it.
    Source,
    /// The code of all targets, alone.
    Fatbin,
    /// The code of one target, alone.
    Cubin,
}

/// Makes the output of links that have succeeded. As with nvcc, the modules are those of the last
/// link.
///
/// # Errors
///
/// Modules that cannot be registered.
pub fn output(
    form: Form,
    linked: &[TargetLink],
    options: &FatbinOptions<'_>,
) -> Result<Vec<u8>, Diagnostic> {
    let images = linked.iter().filter_map(|link| {
        let cubin = link.image.as_deref()?;
        let target = link.target;
        Some(FatbinImage { target, cubin })
    });
    let images: Vec<_> = images.collect();
    if let (Form::Cubin, [image]) = (form, images.as_slice()) {
        return Ok(image.cubin.to_vec());
    }
    let fatbin = fatbin::write_fatbin(&images, options)
        .map_err(|error| Diagnostic::fatal(internal::FAULT, format!("cuweld: {error}")))?;
    let mut links = linked.iter().rev();
    let last = links.find_map(|link| link.registration.as_ref());
    let stub = LinkStub {
        fatbin: &fatbin,
        module_ids: last.map_or(&[], |registration| &registration.module_ids),
    };
    let made = match form {
        Form::Object(form) => stub.object(form),
        Form::Source => stub::source(&stub).map(String::into_bytes),
        Form::Fatbin | Form::Cubin => return Ok(fatbin),
    };
    made.map_err(|error| {
        let code = match error {
            StubError::Repeated(_) => link::REPEATED_MODULE_ID,
            StubError::NoName(_) => input::MODULE_IDS,
            StubError::Modules(_) | StubError::NoFunction(_) | StubError::Object(_) => {
                internal::FAULT
            }
        };
        Diagnostic::fatal(code, format!("no output: {error}"))
    })
}
