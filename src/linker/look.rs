//! What an input holds for the target of a link, before it is added.

use std::io;

use cuweld_diagnostics::Diagnostic;
use cuweld_elf::validate::ArchitectureError;
use cuweld_elf::validate::ObjectFacts;
use cuweld_elf::validate::validate_architecture;
use cuweld_elf::validate::validate_structure;

use super::Kind;
use super::Linker;
use crate::compile::other_release;
use crate::compile::ptxas::CompileError;
use crate::compile::ptxas::Compiled;
use crate::compile::ptxas::Ptxas;
use crate::input::DeviceInput;
use crate::input::DiscoverOptions;
use crate::input::Image;
use crate::input::InputArena;
use crate::input::PtxImage;
use crate::input::arena::ToldInput;
use crate::input::discover::discover;
use crate::input::identify::FileKind;
use crate::input::identify::elf_kind;

/// `ELFCLASS64`.
const ELFCLASS64: u8 = 2;

/// What an input holds for the target of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Look {
    /// Code for the target.
    Fits,
    /// PTX, which is compiled for it.
    Ptx,
    /// LTO-IR and nothing else for the target.
    LtoIr,
    /// Code for other targets alone.
    OtherTarget,
    /// SASS without Mercury, for a target whose objects have it.
    SassAlone,
    /// Something that cannot be read.
    Damaged,
    /// Another kind of file.
    OtherKind,
}

impl Linker {
    /// Looks into an input without adding it.
    pub fn look(&self, bytes: &[u8], kind: Kind) -> Look {
        match kind.of(bytes) {
            None => Look::OtherKind,
            Some(FileKind::Cubin) => self.look_at_cubin(bytes),
            Some(FileKind::Ptx) => Look::Ptx,
            Some(FileKind::Nvvm) => Look::LtoIr,
            Some(found) => self.look_at_wrapped(found, bytes),
        }
    }

    /// Looks at the header of a cubin: whether the parts of an object fit decides the link.
    fn look_at_cubin(&self, bytes: &[u8]) -> Look {
        let toolkit = self.toolkit.unwrap_or_default();
        if elf_kind(bytes).is_some_and(|kind| kind.class != ELFCLASS64) {
            return Look::OtherTarget;
        }
        let Ok(headers) = validate_structure(bytes) else {
            return Look::Damaged;
        };
        let file = headers.file;
        let facts = ObjectFacts {
            abi: [file.ident[7], file.ident[8]],
            e_type: file.e_type.get(),
            flags: file.flags.get(),
            toolkit: toolkit.number,
            specific: false,
            profile: None,
            after_mercury: false,
            after_ewp: false,
        };
        if self.target.is_mercury() {
            // Which Mercury fits where, its own records say.
            return match facts.is_sass_alone() {
                true => Look::SassAlone,
                false => Look::Fits,
            };
        }
        match validate_architecture(&facts, (toolkit, self.target)) {
            Err(ArchitectureError::Sm { .. }) => Look::OtherTarget,
            _ => Look::Fits,
        }
    }

    /// Looks into what holds code for several targets.
    fn look_at_wrapped(&self, kind: FileKind, bytes: &[u8]) -> Look {
        let names = ["0".to_owned()];
        let told = ToldInput {
            name: String::new(),
            kind,
            is_compiled: false,
        };
        let arena = InputArena::of_inputs([(told, bytes.to_vec())]);
        let found = |lto| {
            let options = DiscoverOptions {
                lto,
                ..self.discover(&names)
            };
            discover(&options, &arena).map(|found| found.inputs)
        };
        let has = |inputs: &[DeviceInput<'_>], is_such: fn(&Image<'_>) -> bool| {
            inputs
                .iter()
                .any(|input| input.image.as_ref().is_some_and(is_such))
        };
        // LTO-IR alone is an error where it is not optimised.
        let inputs = match found(false) {
            Ok(inputs) => inputs,
            Err(_) if found(true).is_err() => return Look::Damaged,
            Err(_) => Vec::new(),
        };
        if has(&inputs, |_| true) {
            return match has(&inputs, |image| matches!(image, Image::Ptx(_))) {
                true => Look::Ptx,
                false => Look::Fits,
            };
        }
        match found(true) {
            Ok(inputs) if has(&inputs, |image| matches!(image, Image::Nvvm(_))) => Look::LtoIr,
            // A host object without device code has none for another target either.
            Ok(inputs) if inputs.is_empty() => Look::Fits,
            _ => Look::OtherTarget,
        }
    }

    /// Compiles PTX for the target with the compiler that [`Self::compile`] names. What comes of it
    /// can be added; the remark says that the compiler is of another release than the link.
    ///
    /// # Errors
    ///
    /// What the compiler says, or why there is none.
    pub fn compile_ptx(&self, text: &[u8]) -> Result<(Compiled, Option<Diagnostic>), CompileError> {
        let path = self.compile.tools.ptxas().map_err(|missing| {
            let looked_at = format!("looked at {}", missing.looked_at());
            CompileError::System {
                action: "find ptxas",
                error: io::Error::new(io::ErrorKind::NotFound, looked_at),
            }
        })?;
        let end = text.iter().position(|byte| *byte == 0);
        let text = &text[..end.unwrap_or(text.len())];
        let ptxas = Ptxas::new(path, self.target, &self.compile.ptxas);
        let compiled = ptxas.compile(PtxImage {
            text,
            options: b"",
            arch: None,
        })?;
        let toolkit = self.toolkit.unwrap_or_default();
        let options = self.compile_options();
        let release = compiled.release.as_deref();
        let remark =
            release.and_then(|release| other_release(toolkit, &options, ptxas.path(), release));
        Ok((compiled, remark))
    }
}
