//! Section types, flags and well-known names of device ELF files.

use bitflags::bitflags;
use object::elf;

/// `sh_type` values.
pub mod sht {
    use object::elf;

    /// The null section.
    pub const NULL: u32 = elf::SHT_NULL.0;
    /// Bytes.
    pub const PROGBITS: u32 = elf::SHT_PROGBITS.0;
    /// A symbol table.
    pub const SYMTAB: u32 = elf::SHT_SYMTAB.0;
    /// A string table.
    pub const STRTAB: u32 = elf::SHT_STRTAB.0;
    /// Relocations with explicit addends.
    pub const RELA: u32 = elf::SHT_RELA.0;
    /// Notes.
    pub const NOTE: u32 = elf::SHT_NOTE.0;
    /// Memory without bytes in the file.
    pub const NOBITS: u32 = elf::SHT_NOBITS.0;
    /// Relocations whose addends are in place.
    pub const REL: u32 = elf::SHT_REL.0;
    /// Extended section indices of symbols.
    pub const SYMTAB_SHNDX: u32 = elf::SHT_SYMTAB_SHNDX.0;
    /// `.nv.info*`.
    pub const CUDA_INFO: u32 = 0x7000_0000;
    /// `.nv.callgraph`.
    pub const CUDA_CALLGRAPH: u32 = 0x7000_0001;
    /// `.nv.prototype`.
    pub const CUDA_PROTOTYPE: u32 = 0x7000_0002;
    /// `.nv.resolvedrela*`.
    pub const CUDA_RESOLVED_RELA: u32 = 0x7000_0003;
    /// `.nv.global`: NOBITS in global memory.
    pub const CUDA_GLOBAL: u32 = 0x7000_0007;
    /// `.nv.global.init`.
    pub const CUDA_GLOBAL_INIT: u32 = 0x7000_0008;
    /// `.nv.local.F`: NOBITS.
    pub const CUDA_LOCAL: u32 = 0x7000_0009;
    /// `.nv.shared*`: NOBITS.
    pub const CUDA_SHARED: u32 = 0x7000_000a;
    /// `.nv.rel.action`.
    pub const CUDA_RELOCINFO: u32 = 0x7000_000b;
    /// `.nv.uft.rel.F`: the entry of a function in the unified table.
    pub const CUDA_UNIFIED_FUNCTION: u32 = 0x7000_000e;
    /// `.nv.uft.entry`: the functions with unified addresses, in rows of 32 bytes.
    pub const CUDA_UNIFIED_FUNCTIONS: u32 = 0x7000_0011;
    /// `.nv.udt`: variables with unified addresses.
    pub const CUDA_UNIFIED_DATA: u32 = 0x7000_0012;
    /// `.nv.udt.entry`: the variables with unified addresses, in rows of 32 bytes.
    pub const CUDA_UNIFIED_VARIABLES: u32 = 0x7000_0014;
    /// Reserved shared memory and the like: exempt from extent checks.
    pub const CUDA_SHARED_RESERVED: u32 = 0x7000_0015;
    /// Constant bank 0; bank N is this + N, up to 17.
    pub const CUDA_CONSTANT0: u32 = 0x7000_0064;
    /// The last constant bank, 17.
    pub const CUDA_CONSTANT17: u32 = 0x7000_0075;
    /// All types of constants, those of the Mercury view too.
    pub const CUDA_CONSTANTS: std::ops::RangeInclusive<u32> = CUDA_CONSTANT0..=CUDA_CONSTANT26;
    /// The last type of constants.
    pub const CUDA_CONSTANT26: u32 = 0x7000_007e;
    /// `.nv.capmerc.text.F`: what turns the SASS of a function back into Mercury.
    pub const CUDA_CAPMERC: u32 = 0x7000_0016;
    /// `.nv.merc.nv.constant.entry_image_header_indices.K`: what bank 0 of a kernel has after its
    /// parameters.
    pub const CUDA_MERCURY_HEADER_INDICES: u32 = 0x7000_0079;
    /// `.nv.merc.nv.constant.user`, the Mercury form of bank 3.
    pub const CUDA_MERCURY_CONSTANT_USER: u32 = 0x7000_007c;
    /// `.nv.merc.nv.constant.pic`, the Mercury form of bank 4.
    pub const CUDA_MERCURY_CONSTANT_PIC: u32 = 0x7000_007d;
    /// `.nv.merc.rela*`: RELA rows of the Mercury view.
    pub const CUDA_MERCURY_RELA: u32 = 0x7000_0082;
    /// `.nv.merc.nv.info*`.
    pub const CUDA_MERCURY_INFO: u32 = 0x7000_0083;
    /// `.nv.merc.nv.constant.optimizer.F`, the Mercury form of bank 2.
    pub const CUDA_MERCURY_CONSTANT_OPTIMIZER: u32 = 0x7000_0084;
    /// `.nv.merc.nv.resolvedrela*`.
    pub const CUDA_MERCURY_RESOLVED_RELA: u32 = 0x7000_0088;
    /// `.nv.merc.symtab`.
    pub const CUDA_MERCURY_SYMTAB: u32 = 0x7000_0085;
    /// `.nv.merc.nv.callgraph`, of compilers since CUDA 13.4.
    pub const CUDA_MERCURY_CALLGRAPH: u32 = 0x7000_008a;
    /// `.nv.merc.nv.prototype`, of compilers since CUDA 13.4.
    pub const CUDA_MERCURY_PROTOTYPE: u32 = 0x7000_008b;
    /// `.nv.compat`.
    pub const CUDA_COMPAT: u32 = 0x7000_0086;
}

bitflags! {
    /// `sh_flags`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct SectionFlags: u64 {
        /// Writable memory.
        const WRITE = elf::SHF_WRITE.0;
        /// Occupies device memory.
        const ALLOC = elf::SHF_ALLOC.0;
        /// Code.
        const EXECINSTR = elf::SHF_EXECINSTR.0;
        /// `sh_info` is a section index.
        const INFO_LINK = elf::SHF_INFO_LINK.0;
        /// The contents are packed (SHF_COMPRESSED), which means nothing to nvlink
        /// [compressed-flag-kept].
        const COMPRESSED = elf::SHF_COMPRESSED.0;
        /// Of code: how many barriers it uses, as compilers before 13.0 write it.
        const BARRIERS = 0x7f << 20;
        /// Of the Mercury view.
        const MERCURY = 0x1000_0000;
        /// On `.note.nv.cuinfo`.
        const CUDA_INFO_NOTE = 0x0100_0000;
        /// On `.note.nv.tkinfo`.
        const CUDA_TOOL_NOTE = 0x0200_0000;
        // Files may have any bit.
        const _ = !0;
    }
}

impl SectionFlags {
    /// Returns the barrier count of code; 0 without one.
    pub fn barriers(self) -> u8 {
        ((self & Self::BARRIERS).bits() >> 20) as u8
    }

    /// Returns these flags with this barrier count.
    pub fn with_barriers(self, count: u8) -> Self {
        let count = Self::from_bits_retain(u64::from(count) << 20);
        (self - Self::BARRIERS) | (count & Self::BARRIERS)
    }
}

impl From<SectionFlags> for u64 {
    fn from(flags: SectionFlags) -> Self {
        flags.bits()
    }
}

impl From<u64> for SectionFlags {
    fn from(bits: u64) -> Self {
        Self::from_bits_retain(bits)
    }
}

/// Returns the values of `sh_entsize` that compilers and nvlink write for a type, in bytes; none for
/// types whose values are not known.
pub fn entry_sizes(ty: u32) -> &'static [u64] {
    match ty {
        sht::SYMTAB
        | sht::RELA
        | sht::CUDA_RESOLVED_RELA
        | sht::CUDA_MERCURY_RELA
        | sht::CUDA_MERCURY_SYMTAB
        | sht::CUDA_MERCURY_RESOLVED_RELA => &[24],
        sht::REL => &[16],
        sht::CUDA_CALLGRAPH
        | sht::CUDA_PROTOTYPE
        | sht::CUDA_RELOCINFO
        | sht::CUDA_MERCURY_CALLGRAPH
        | sht::CUDA_MERCURY_PROTOTYPE => &[8],
        sht::CUDA_UNIFIED_FUNCTION => &[128],
        sht::CUDA_UNIFIED_FUNCTIONS | sht::CUDA_UNIFIED_VARIABLES => &[32],
        // That of a stub of a unified function is the larger.
        sht::CUDA_CAPMERC => &[0, 128],
        sht::PROGBITS
        | sht::STRTAB
        | sht::NOTE
        | sht::NOBITS
        | sht::CUDA_INFO
        | sht::CUDA_GLOBAL
        | sht::CUDA_GLOBAL_INIT
        | sht::CUDA_LOCAL
        | sht::CUDA_SHARED
        | sht::CUDA_UNIFIED_DATA
        | sht::CUDA_SHARED_RESERVED
        | sht::CUDA_MERCURY_INFO
        | sht::CUDA_COMPAT
        | sht::CUDA_MERCURY_CONSTANT_OPTIMIZER
        | sht::CUDA_CONSTANT0..=sht::CUDA_CONSTANT26 => &[0],
        _ => &[],
    }
}

/// Returns `true` if a section of this type and with these flags has no bytes in the file:
/// SHT_NOBITS and the types whose bit is set in the mask 0x400D over 0x70000007. The Mercury form
/// of reserved shared memory has some [reserved-shared-bytes].
pub fn is_no_bits(ty: u32, flags: SectionFlags) -> bool {
    let has_bytes = || ty == sht::CUDA_SHARED_RESERVED && flags.contains(SectionFlags::MERCURY);
    let relative = ty.wrapping_sub(sht::CUDA_GLOBAL);
    ty == sht::NOBITS || relative <= 14 && (0x400d_u32 >> relative) & 1 != 0 && !has_bytes()
}

/// Returns `true` if a section of this type holds relocations, of the SASS or of the Mercury view.
pub fn is_relocs(ty: u32) -> bool {
    matches!(ty, sht::REL | sht::RELA | sht::CUDA_MERCURY_RELA)
}

/// Returns `true` if the relocations in a section of this type have explicit addends.
pub fn is_rela(ty: u32) -> bool {
    matches!(ty, sht::RELA | sht::CUDA_MERCURY_RELA)
}

/// Returns `true` if a section of this type holds attribute records that refer to symbols.
pub fn is_info(ty: u32) -> bool {
    matches!(ty, sht::CUDA_INFO | sht::CUDA_MERCURY_INFO)
}

/// Returns `true` if the type is that of `.nv.uft.entry` or `.nv.udt.entry`.
pub fn is_unified_entries(ty: u32) -> bool {
    matches!(
        ty,
        sht::CUDA_UNIFIED_FUNCTIONS | sht::CUDA_UNIFIED_VARIABLES
    )
}

/// Returns `true` if the rows of a section are attribute records.
pub fn has_records(ty: u32) -> bool {
    is_info(ty) || ty == sht::CUDA_COMPAT || is_unified_entries(ty)
}

/// Returns `true` if the contents of a section are rows of the IR, not bytes.
pub fn is_decoded(ty: u32) -> bool {
    has_records(ty)
        || matches!(
            ty,
            sht::SYMTAB
                | sht::STRTAB
                | sht::RELA
                | sht::REL
                | sht::NOTE
                | sht::SYMTAB_SHNDX
                | sht::CUDA_MERCURY_RELA
                | sht::CUDA_CALLGRAPH
                | sht::CUDA_PROTOTYPE
        )
}

/// Returns `true` if `sh_info` of a section of this type, if it is not 0, is the section of the
/// function that it belongs to, whether or not `SHF_INFO_LINK` says so.
pub fn may_have_owner(ty: u32) -> bool {
    ty == sht::CUDA_INFO || ty == sht::CUDA_SHARED || constant_bank(ty).is_some()
}

/// Returns `true` if compilers and nvlink write 0 for `sh_link` of sections of this type.
pub fn links_nothing(ty: u32, flags: SectionFlags) -> bool {
    match ty {
        sht::PROGBITS => !flags.contains(SectionFlags::EXECINSTR),
        sht::STRTAB
        | sht::CUDA_GLOBAL
        | sht::CUDA_GLOBAL_INIT
        | sht::CUDA_LOCAL
        | sht::CUDA_SHARED
        | sht::CUDA_RELOCINFO
        | sht::CUDA_UNIFIED_DATA
        | sht::CUDA_SHARED_RESERVED
        | sht::CUDA_COMPAT
        | sht::CUDA_MERCURY_CONSTANT_OPTIMIZER => true,
        ty => sht::CUDA_CONSTANTS.contains(&ty),
    }
}

/// Returns the bank of a constant section type.
pub fn constant_bank(ty: u32) -> Option<u8> {
    (sht::CUDA_CONSTANT0..=sht::CUDA_CONSTANT17)
        .contains(&ty)
        .then(|| (ty - sht::CUDA_CONSTANT0) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_without_bytes_are_those_of_the_specification() {
        let exempt: Vec<u32> = (0x7000_0000..0x7000_0090)
            .filter(|ty| is_no_bits(*ty, SectionFlags::empty()))
            .collect();
        assert_eq!(exempt, [0x7000_0007, 0x7000_0009, 0x7000_000a, 0x7000_0015]);
        assert!(is_no_bits(8, SectionFlags::empty()));
        assert!(!is_no_bits(1, SectionFlags::empty()));
    }

    #[test]
    fn banks_come_from_types() {
        assert_eq!(constant_bank(0x7000_0064), Some(0));
        assert_eq!(constant_bank(0x7000_0075), Some(17));
        assert_eq!(constant_bank(0x7000_0076), None);
        assert_eq!(constant_bank(1), None);
    }
}
