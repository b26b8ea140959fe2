//! What an input is.

use std::fmt;

use cuweld_elf::raw::EM_CUDA;
use cuweld_elf::raw::ET_REL;

use crate::input::fatbin;
use crate::input::identify::FileKind;
use crate::input::identify::elf_kind;
use crate::input::identify::is_archive;
use crate::input::identify::is_ptx_text;

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// What its bytes say.
    Any,
    /// A device ELF file.
    Cubin,
    /// PTX: text, to the first NUL.
    Ptx,
    /// LTO-IR as the compiler writes it.
    LtoIr,
    /// A fatbin: code for several targets.
    Fatbin,
    /// A host object with device code.
    Object,
    /// An archive of host objects.
    Library,
}

/// Bytes of the header of an ELF file.
const SHORTEST_CUBIN: usize = 64;

/// What LTO-IR begins with.
const LTO_IR_MAGIC: [u8; 4] = [0xed, 0x43, 0x4e, 0x7f];

impl Kind {
    /// Returns the kind that these bytes have, if they may be of this one.
    pub(super) fn of(self, bytes: &[u8]) -> Option<FileKind> {
        let found = found(bytes)?;
        let is_said = match self {
            Kind::Any => true,
            Kind::Cubin => found == FileKind::Cubin,
            Kind::Ptx => found == FileKind::Ptx,
            Kind::LtoIr => found == FileKind::Nvvm,
            Kind::Fatbin => found == FileKind::Fatbin,
            Kind::Object => found == FileKind::HostObject,
            Kind::Library => found == FileKind::Archive,
        };
        is_said.then_some(found)
    }
}

/// Returns the kind of an input, by its first bytes.
fn found(bytes: &[u8]) -> Option<FileKind> {
    match elf_kind(bytes) {
        Some(_) if bytes.len() < SHORTEST_CUBIN => None,
        Some(kind) if kind.machine == EM_CUDA => Some(FileKind::Cubin),
        Some(kind) => (kind.e_type == ET_REL).then_some(FileKind::HostObject),
        None if is_archive(bytes) => Some(FileKind::Archive),
        None if fatbin::has_magic(bytes) => Some(FileKind::Fatbin),
        None if bytes.starts_with(&LTO_IR_MAGIC) => Some(FileKind::Nvvm),
        None => is_ptx_text(bytes).then_some(FileKind::Ptx),
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Any => "anything that is linked",
            Kind::Cubin => "a cubin",
            Kind::Ptx => "PTX",
            Kind::LtoIr => "LTO-IR",
            Kind::Fatbin => "a fatbin",
            Kind::Object => "a host object",
            Kind::Library => "an archive",
        })
    }
}
