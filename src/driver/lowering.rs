//! Images on their way into the module, with what is known of them beside their bytes, and those
//! that do not get there.

use std::fmt;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::input;
use cuweld_diagnostics::codes::unsupported;
use cuweld_elf::Target;
use cuweld_elf::class32::is_sound_class32;
use cuweld_elf::toolkit::Toolkit;
use cuweld_elf::validate::StructureError;
use cuweld_ir::Arena;
use cuweld_ir::ObjectOrigin;
use cuweld_ir::elf::ReadError;

use crate::input::DeviceInput;
use crate::input::Image;

/// A device image with its name, ready to be lowered.
#[derive(Clone, Copy, Debug, Eq)]
pub struct NamedImage<'data> {
    /// The input as given.
    pub name: &'data str,
    /// The archive member, or empty.
    pub member: &'data str,
    /// The device ELF.
    pub image: &'data [u8],
    /// It belongs to the device runtime library.
    pub system_library: bool,
    /// Nothing says which of its kernels host code refers to.
    pub is_silent: bool,
    /// In what it stood, or what made it.
    pub origin: ObjectOrigin,
}

/// Of the same file: the bytes lie in the same place.
impl PartialEq for NamedImage<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.image, other.image)
            && (self.name, self.member) == (other.name, other.member)
            && (self.system_library, self.is_silent) == (other.system_library, other.is_silent)
            && self.origin == other.origin
    }
}

impl fmt::Display for NamedImage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.member {
            "" => f.write_str(self.name),
            member => write!(f, "{}:{member}", self.name),
        }
    }
}

/// Returns the image to lower of an input that was discovered and compiled, if it has one. LTO-IR
/// needs NVIDIA's compiler, which is not called here: a typed refusal.
pub(super) fn image<'data>(
    found: &DeviceInput<'data>,
    arena: &'data Arena,
) -> Result<Option<NamedImage<'data>>, Diagnostic> {
    if found.skip.is_some() {
        return Ok(None);
    }
    let what = match &found.image {
        None => return Ok(None),
        Some(Image::Cubin(image)) => {
            return Ok(Some(NamedImage {
                name: arena.string(&found.path),
                member: arena.string(found.member.as_deref().unwrap_or("")),
                image,
                system_library: found.system_library,
                is_silent: found.is_silent,
                origin: found.origin,
            }));
        }
        Some(Image::Ptx(_)) => "PTX, which has to be compiled",
        Some(Image::Nvvm(_)) => "LTO-IR, which has to be compiled",
    };
    Err(
        Diagnostic::fatal(unsupported::UNCOMPILED, format!("'{found}' holds {what}"))
            .help("compile it to a relocatable cubin first (ptxas -c)"),
    )
}

/// Reports an image that cannot be read. With `strict`, such inputs are left out without a message
/// where nvlink does so (deviation D01).
pub(super) fn unreadable(
    image: &NamedImage<'_>,
    error: &ReadError,
    (toolkit, target): (&Toolkit, Target),
    strict: bool,
) -> Option<Diagnostic> {
    if is_sound_class32(image.image) {
        return Some(Diagnostic::fatal(
            input::WORD_SIZE,
            format!("Input file '{image}' size does not match target '-m64'"),
        ));
    }
    // nvlink crashes without the table of section names, and from sm_100 on.
    let is_lost = !target.is_mercury()
        && matches!(error, ReadError::Structure(error) if !matches!(error, StructureError::NameTable(_)));
    if strict && is_lost {
        return None;
    }
    let mut diagnostic = Diagnostic::fatal(
        input::DAMAGED_OBJECT,
        format!("cuweld: '{image}' is damaged: {error}"),
    );
    if is_lost {
        let linker = toolkit.linker();
        let note = format!("{linker} ignores this input without a message, and its code is lost");
        diagnostic = diagnostic.note(note);
    }
    Some(diagnostic.deviates("D01"))
}
