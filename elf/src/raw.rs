//! ELF64 little-endian records as they stand in the file.

use crate::symbol::Binding;
use crate::symbol::SymbolOther;
use crate::symbol::SymbolType;
use crate::target::section_types::SectionFlags;

use object::elf;
use zerocopy::FromBytes;
use zerocopy::Immutable;
use zerocopy::IntoBytes;
use zerocopy::KnownLayout;
use zerocopy::Unaligned;
use zerocopy::little_endian::I64;
use zerocopy::little_endian::U16;
use zerocopy::little_endian::U32;
use zerocopy::little_endian::U64;

/// `e_machine` of CUDA device code.
pub const EM_CUDA: u16 = elf::EM_CUDA.0;
/// `e_ident[EI_OSABI]` of the current device ELF.
pub const OSABI_CUDA: u8 = 0x41;
/// `e_ident[EI_ABIVERSION]` of the current device ELF.
pub const ABI_VERSION: u8 = 8;
/// `e_ident[EI_OSABI]` that toolkits up to 12.9 write below sm_100; any other than [`OSABI_CUDA`]
/// means the same to nvlink [toolkit-of-object].
pub const OSABI_LEGACY: u8 = 0x33;
/// `e_ident[EI_ABIVERSION]` of such files.
pub const ABI_VERSION_LEGACY: u8 = 7;
/// `e_version` of ELF files; toolkits up to 12.9 write their number there.
pub const EV_CURRENT: u32 = elf::EV_CURRENT.0 as u32;
/// `e_type` of relocatable objects.
pub const ET_REL: u16 = elf::ET_REL.0;
/// `e_type` of executables.
pub const ET_EXEC: u16 = elf::ET_EXEC.0;
/// `e_type` of EWP objects (`ptxas -ewp`).
pub const ET_EWP: u16 = 0xff00;
/// First reserved section index.
pub const SHN_LORESERVE: u16 = elf::SHN_LORESERVE;
/// Absolute symbols.
pub const SHN_ABS: u16 = elf::SHN_ABS.0;
/// Tentative definitions.
pub const SHN_COMMON: u16 = elf::SHN_COMMON.0;
/// `p_type` of what is loaded into memory.
pub const PT_LOAD: u32 = elf::PT_LOAD.0;
/// `p_type` of the program headers themselves.
pub const PT_PHDR: u32 = elf::PT_PHDR.0;
/// The index is in `.symtab_shndx`.
pub const SHN_XINDEX: u16 = elf::SHN_XINDEX.0;

/// The file header, 64 bytes.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct FileHeader {
    /// Magic, class, data, version, OSABI (7), ABI version (8).
    pub ident: [u8; 16],
    /// File type.
    pub e_type: U16,
    /// Machine.
    pub machine: U16,
    /// 1.
    pub version: U32,
    /// 0.
    pub entry: U64,
    /// Program header table offset.
    pub phoff: U64,
    /// Section header table offset.
    pub shoff: U64,
    /// Flags.
    pub flags: U32,
    /// 64.
    pub ehsize: U16,
    /// 56.
    pub phentsize: U16,
    /// Number of program headers.
    pub phnum: U16,
    /// 64.
    pub shentsize: U16,
    /// Number of sections, 0 if it does not fit.
    pub shnum: U16,
    /// Index of the section name table.
    pub shstrndx: U16,
}

/// A section header, 64 bytes.
#[derive(Clone, Copy, Debug, Default, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct SectionHeader {
    /// Offset in the section name table.
    pub name: U32,
    /// Type.
    pub ty: U32,
    /// Flags.
    pub flags: U64,
    /// Address, 0.
    pub addr: U64,
    /// File offset.
    pub offset: U64,
    /// Size in bytes.
    pub size: U64,
    /// Link.
    pub link: U32,
    /// Info.
    pub info: U32,
    /// Alignment in bytes.
    pub align: U64,
    /// Entry size in bytes.
    pub entsize: U64,
}

impl SectionHeader {
    /// Returns the flags.
    pub fn flags(&self) -> SectionFlags {
        SectionFlags::from_bits_retain(self.flags.get())
    }
}

/// A program header, 56 bytes.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct ProgramHeader {
    /// Type.
    pub ty: U32,
    /// Flags.
    pub flags: U32,
    /// File offset.
    pub offset: U64,
    /// Virtual address, 0.
    pub vaddr: U64,
    /// Physical address, 0.
    pub paddr: U64,
    /// Bytes in the file.
    pub filesz: U64,
    /// Bytes in memory.
    pub memsz: U64,
    /// Alignment in bytes.
    pub align: U64,
}

/// A symbol, 24 bytes.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawSymbol {
    /// Offset in the symbol name table.
    pub name: U32,
    /// Binding (high nibble) and type.
    pub info: u8,
    /// Other.
    pub other: u8,
    /// Section index.
    pub shndx: U16,
    /// Value.
    pub value: U64,
    /// Size in bytes.
    pub size: U64,
}

impl RawSymbol {
    /// Returns the binding.
    pub fn binding(&self) -> Binding {
        Binding::of_info(self.info)
    }

    /// Returns the type.
    pub fn ty(&self) -> SymbolType {
        SymbolType::of_info(self.info)
    }

    /// Returns `st_other`.
    pub fn other(&self) -> SymbolOther {
        SymbolOther::from_bits_retain(self.other)
    }
}

/// A relocation without addend, 16 bytes.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawRel {
    /// Offset in the target section.
    pub offset: U64,
    /// Type.
    pub ty: U32,
    /// Symbol index.
    pub symbol: U32,
}

/// A relocation with addend, 24 bytes.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawRela {
    /// Offset in the target section.
    pub offset: U64,
    /// Type.
    pub ty: U32,
    /// Symbol index.
    pub symbol: U32,
    /// Addend.
    pub addend: I64,
}

/// A pair of words, the record of `.nv.callgraph` and `.nv.prototype`.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RawPair {
    /// First word.
    pub first: U32,
    /// Second word.
    pub second: U32,
}

/// Returns the string that begins at `offset`, without its NUL; `None` if the table ends before.
pub fn string_at(table: &[u8], offset: u32) -> Option<&[u8]> {
    let rest = table.get(offset as usize..)?;
    rest.get(..memchr::memchr(0, rest)?)
}

/// Returns `true` if this string begins at `offset`, without looking for its end.
pub fn is_at(table: &[u8], offset: u32, string: &[u8]) -> bool {
    let rest = table.get(offset as usize..).unwrap_or(&[]);
    rest.strip_prefix(string)
        .is_some_and(|rest| rest.first() == Some(&0))
}

#[cfg(test)]
mod tests {
    use super::string_at;

    #[test]
    fn strings_end_at_the_first_nul_wherever_it_is() {
        let table = b"\x01\x80\xff\0name of a dozen and more bytes\0x\0\0no end";
        for offset in 0..table.len() + 2 {
            let rest = table.get(offset..).unwrap_or(&[]);
            let end = rest.iter().position(|byte| *byte == 0);
            assert_eq!(string_at(table, offset as u32), end.map(|end| &rest[..end]));
        }
    }
}
