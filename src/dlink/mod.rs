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

use std::io;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::input;
use cuweld_diagnostics::codes::internal;
use cuweld_diagnostics::codes::link;

use self::fatbin::FatbinImage;
use self::fatbin::FatbinOptions;
use self::fatbin::FatbinWriter;
use self::fatbin::WriteError;
use self::links::TargetLink;
use self::stub::HostForm;
use self::stub::LinkStub;
use self::stub::StubError;
use crate::diagnostics::Reporter;

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

/// The output of a step, made of its links one after the other: what is packed of one is not kept.
pub struct Collected<'a> {
    form: Form,
    fatbin: FatbinWriter<'a>,
    /// The code of the last link, where it is the output.
    cubin: Vec<u8>,
    /// The modules of the last link: as with nvcc, these are those of all.
    module_ids: Vec<String>,
    /// What there is to say, as it is to be written.
    messages: Vec<u8>,
    /// The exit code of the first link that failed.
    exit_code: Option<u8>,
    refused: Option<WriteError>,
}

impl<'a> Collected<'a> {
    /// Begins an output.
    pub fn new(form: Form, options: FatbinOptions<'a>) -> Self {
        Collected {
            form,
            fatbin: FatbinWriter::new(options),
            cubin: Vec::new(),
            module_ids: Vec::new(),
            messages: Vec::new(),
            exit_code: None,
            refused: None,
        }
    }

    /// Adds what came of a link.
    pub fn add(&mut self, link: TargetLink) {
        self.messages.extend_from_slice(&link.messages);
        let Some(cubin) = link.image else {
            self.exit_code.get_or_insert(link.exit_code.max(1));
            return;
        };
        if let Some(registration) = link.registration {
            self.module_ids = registration.module_ids;
        }
        if self.form == Form::Cubin {
            self.cubin = cubin;
            return;
        }
        let _span = tracing::info_span!("pack", bytes = cubin.len()).entered();
        let (target, cubin) = (link.target, cubin.as_slice());
        let added = self.fatbin.add(&FatbinImage { target, cubin });
        self.refused = self.refused.take().or(added.err());
    }

    /// Reports what there is to say, and has the output written if no link failed. Returns the exit
    /// code.
    pub fn finish(
        self,
        reporter: &mut Reporter<'_>,
        write: impl FnOnce(&[u8]) -> Result<(), Diagnostic>,
    ) -> io::Result<u8> {
        reporter.append(&self.messages)?;
        if let Some(code) = self.exit_code {
            return Ok(code);
        }
        let _span = tracing::info_span!("write").entered();
        if let Err(diagnostic) = self.output().and_then(|bytes| write(&bytes)) {
            reporter.report(&diagnostic)?;
        }
        Ok(reporter.exit_code())
    }

    /// Returns the bytes of the output; an error for modules that cannot be registered.
    fn output(self) -> Result<Vec<u8>, Diagnostic> {
        if let Some(error) = self.refused {
            let message = format!("cuweld: {error}");
            return Err(Diagnostic::fatal(internal::FAULT, message));
        }
        let fatbin = self.fatbin.finish();
        let stub = LinkStub {
            fatbin: &fatbin,
            module_ids: &self.module_ids,
        };
        let made = match self.form {
            Form::Object(form) => stub.object(form),
            Form::Source => stub::source(&stub).map(String::into_bytes),
            Form::Fatbin => return Ok(fatbin),
            Form::Cubin => return Ok(self.cubin),
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
}
