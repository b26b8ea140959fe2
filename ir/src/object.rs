//! Input objects.

use crate::ids::*;
use crate::table::IdRange;
use cuweld_elf::raw::ABI_VERSION;
use cuweld_elf::raw::ABI_VERSION_LEGACY;
use cuweld_elf::raw::OSABI_CUDA;
use cuweld_elf::raw::OSABI_LEGACY;
use cuweld_elf::validate::MERCURY_FLAG;

/// One relocatable device ELF, or the linker's own object.
///
/// An object owns contiguous id ranges of every table, so that a worker that owns an object owns
/// slices.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Object<'data> {
    /// The input as the user gave it (a path, as data).
    pub name: &'data [u8],
    /// The archive member or fatbin member inside the input, empty if the input is the object
    /// itself.
    pub member: &'data [u8],
    /// The whole device ELF image; section contents are slices of it. Empty for a parsed text form
    /// whose inputs are not at hand and for the linker's own object.
    pub image: &'data [u8],
    /// `e_type`: 1 relocatable, 2 executable, 0xff00 EWP.
    pub e_type: u16,
    /// `e_flags`. Bits 8..23 are the SM number, bits 31:24 the index of `.note.nv.cuinfo`; with the
    /// legacy header bits 7:0 are the SM number, bit 10 says 64-bit addresses, bit 11 `a`, bits
    /// 23:16 are the virtual SM.
    pub e_flags: u32,
    /// `e_ident[EI_OSABI]` and `e_ident[EI_ABIVERSION]` as one big-endian number, if they are not
    /// the usual ones of the header.
    pub unusual_abi: Option<u16>,
    /// The toolkit that made an object with the legacy header (OSABI 0x33; up to 12.9 below
    /// sm_100): its `e_version`, major * 10 + minor. `None` with the current header.
    pub legacy: Option<u32>,
    /// Whether and why the object takes part in the link.
    pub state: ObjectState,
    /// The object comes from NVIDIA's device runtime library (its path contains `cudadevrt`).
    pub system_library: bool,
    /// Nothing says which of its kernels host code refers to. What comes from elsewhere than the
    /// device runtime tells as much for the link in its options.
    pub is_silent: bool,
    /// In what its device ELF stood, or what made it.
    pub origin: ObjectOrigin,
    /// Sections in file order; ordinal 0 is the null section.
    pub sections: IdRange<SectionId>,
    /// Symbols in file order, without the null and SECTION symbols.
    pub symbols: IdRange<SymbolId>,
    /// Defined functions in symbol order.
    pub functions: IdRange<FunctionId>,
    /// Relocations: sections in file order, rows in section order.
    pub relocs: IdRange<RelocId>,
    /// Records of `.nv.info*` and `.nv.compat`, sections in file order.
    pub attributes: IdRange<AttributeId>,
    /// Rows of `.nv.callgraph`.
    pub calls: IdRange<CallId>,
    /// Rows of `.nv.prototype`.
    pub prototypes: IdRange<PrototypeId>,
    /// Notes, sections in file order.
    pub notes: IdRange<NoteId>,
}

/// OSABI and ABI version with the current header.
const ABI_OF_CURRENT: [u8; 2] = [OSABI_CUDA, ABI_VERSION];
/// OSABI and ABI version with the legacy header.
const ABI_OF_LEGACY: [u8; 2] = [OSABI_LEGACY, ABI_VERSION_LEGACY];

/// Returns the OSABI and ABI version of a file as one number, if they are not the usual ones of its
/// header.
pub(crate) fn unusual_abi(abi: [u8; 2]) -> Option<u16> {
    (abi != ABI_OF_CURRENT && abi != ABI_OF_LEGACY).then(|| u16::from_be_bytes(abi))
}

impl Object<'_> {
    /// Returns the OSABI and ABI version.
    pub fn abi(&self) -> [u8; 2] {
        match (self.unusual_abi, self.legacy) {
            (Some(abi), _) => abi.to_be_bytes(),
            (None, Some(_)) => ABI_OF_LEGACY,
            (None, None) => ABI_OF_CURRENT,
        }
    }

    /// Returns the SM number of `e_flags`.
    pub fn sm(&self) -> u16 {
        match self.legacy {
            Some(_) => (self.e_flags & 0xff) as u16,
            None => ((self.e_flags >> 8) & 0xffff) as u16,
        }
    }

    /// Returns the virtual SM that the legacy header names; others have it in `.note.nv.cuinfo`.
    pub fn legacy_virtual_sm(&self) -> Option<u16> {
        self.legacy.map(|_| ((self.e_flags >> 16) & 0xff) as u16)
    }

    /// Returns `true` if the object holds Mercury beside SASS: bit 1 of `e_flags`. Bit 0 beside it
    /// has no effect [kind-bits].
    pub fn is_capmerc(&self) -> bool {
        self.legacy.is_none() && self.e_flags & MERCURY_FLAG != 0
    }

    /// Returns the name that messages use: `PATH`, or `PATH:member`.
    pub fn display(&self) -> String {
        let name = String::from_utf8_lossy(self.name);
        if self.member.is_empty() {
            name.into_owned()
        } else {
            format!("{name}:{}", String::from_utf8_lossy(self.member))
        }
    }
}

/// Where the device ELF of an object comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ObjectOrigin {
    /// A file, or a member of an archive, of its own.
    #[default]
    Cubin,
    /// A fatbin.
    Fatbin,
    /// PTX or LTO-IR that was compiled for the link.
    Compiled,
}

/// Whether an object takes part in the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ObjectState {
    /// `select-objects` has not run.
    #[default]
    Candidate,
    /// Linked.
    Included,
    /// A member of a system library at whose turn nothing was undefined [runtime-when-needed].
    SkippedUnneeded,
    /// Already executable (`e_type` 2): ignored without a message.
    SkippedExecutable,
    /// Made by the linker itself: owns created attributes and notes, has no sections.
    Linker,
}

impl ObjectState {
    /// Returns `true` if the entities of the object take part in the link.
    pub fn is_included(self) -> bool {
        self == ObjectState::Included
    }
}
