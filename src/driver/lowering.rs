//! Images on their way into the module, with what is known of them beside their bytes.

use std::fmt;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::unsupported;
use cuweld_ir::Arena;
use cuweld_ir::ObjectOrigin;

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
    /// In what it stood, or what made it.
    pub origin: ObjectOrigin,
}

/// Of the same file: the bytes lie in the same place.
impl PartialEq for NamedImage<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.image, other.image)
            && (self.name, self.member) == (other.name, other.member)
            && (self.system_library, self.origin) == (other.system_library, other.origin)
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

/// The image to lower of an input that was discovered and compiled, if it has one. LTO-IR needs NVIDIA's
/// compiler, which is not called here: a typed refusal.
pub(super) fn image<'data>(
    input: &DeviceInput<'data>,
    arena: &'data Arena,
) -> Result<Option<NamedImage<'data>>, Diagnostic> {
    if input.skip.is_some() {
        return Ok(None);
    }
    let what = match &input.image {
        None => return Ok(None),
        Some(Image::Cubin(image)) => {
            return Ok(Some(NamedImage {
                name: arena.string(&input.path),
                member: arena.string(input.member.as_deref().unwrap_or("")),
                image,
                system_library: input.system_library,
                origin: input.origin,
            }));
        }
        Some(Image::Ptx(_)) => "PTX, which has to be compiled",
        Some(Image::Nvvm(_)) => "LTO-IR, which has to be compiled",
    };
    Err(
        Diagnostic::fatal(unsupported::UNCOMPILED, format!("'{input}' holds {what}"))
            .help("compile it to a relocatable cubin first (ptxas -c)"),
    )
}
