//! Fields of a symbol: binding, type, and what CUDA keeps in `st_other`.

use bitflags::bitflags;
use object::elf;

/// The binding of a symbol: the upper half of `st_info`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Binding(pub u8);

impl Binding {
    /// Local to its object.
    pub const LOCAL: Self = Binding(elf::STB_LOCAL.0);
    /// Strong global.
    pub const GLOBAL: Self = Binding(elf::STB_GLOBAL.0);
    /// Weak global.
    pub const WEAK: Self = Binding(elf::STB_WEAK.0);

    /// Returns the binding that stands in `st_info`.
    pub const fn of_info(info: u8) -> Self {
        Binding(info >> 4)
    }

    /// Returns `st_info` of a symbol of this type.
    pub const fn info(self, ty: SymbolType) -> u8 {
        self.0 << 4 | ty.0
    }
}

/// The type of a symbol: the lower half of `st_info`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolType(pub u8);

impl SymbolType {
    /// Untyped.
    pub const NOTYPE: Self = SymbolType(elf::STT_NOTYPE.0);
    /// A variable, in executables and for the linker's own symbols.
    pub const OBJECT: Self = SymbolType(elf::STT_OBJECT.0);
    /// A function.
    pub const FUNC: Self = SymbolType(elf::STT_FUNC.0);
    /// A section.
    pub const SECTION: Self = SymbolType(elf::STT_SECTION.0);
    /// A texture reference.
    pub const CUDA_TEXTURE: Self = SymbolType(10);
    /// A sampler.
    pub const CUDA_SAMPLER: Self = SymbolType(11);
    /// A surface reference.
    pub const CUDA_SURFACE: Self = SymbolType(12);
    /// A variable, in relocatable objects.
    pub const CUDA_OBJECT: Self = SymbolType(13);

    /// Returns the type that stands in `st_info`.
    pub const fn of_info(info: u8) -> Self {
        SymbolType(info & 15)
    }

    /// Returns `true` if the type is that of a texture, sampler or surface reference.
    pub const fn is_header(self) -> bool {
        self.header_kind() != 0
    }

    /// Returns the type of a texture, sampler or surface reference as one of the bits in
    /// [`header`]; 0 for all other types.
    pub const fn header_kind(self) -> u8 {
        match self {
            Self::CUDA_TEXTURE => header::TEXTURE,
            Self::CUDA_SAMPLER => header::SAMPLER,
            Self::CUDA_SURFACE => header::SURFACE,
            _ => 0,
        }
    }
}

/// Kinds of headers that the driver fills in, as a set of bits.
pub mod header {
    /// Textures.
    pub const TEXTURE: u8 = 1;
    /// Samplers.
    pub const SAMPLER: u8 = 2;
    /// Surfaces.
    pub const SURFACE: u8 = 4;
}

bitflags! {
    /// `st_other`. The upper three bits of a variable's are its memory space, which is a number and
    /// no set: see [`SymbolOther::space`].
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct SymbolOther: u8 {
        /// A kernel.
        const ENTRY = 0x10;
        /// A variable in global memory.
        const GLOBAL = 0x20;
        /// A variable in shared memory.
        const SHARED = 0x40;
        /// A variable in a constant bank.
        const CONSTANT = 0x80;
        /// A variable in reserved shared memory.
        const RESERVED = 0xa0;
        /// The bits of the memory space.
        const SPACE = 0xe0;
        /// With [`SymbolOther::GLOBAL`]: managed memory, which host code uses by address.
        const MANAGED = 0x04;
        /// Of a function: it has a unified address.
        const UNIFIED = 0x04;
        /// Of a variable, beside its space: it has a unified address.
        const UNIFIED_VARIABLE = 0x10;
        /// With [`SymbolOther::CONSTANT`]: made by the compiler (`F.const_opt.*`, `_param`).
        const COMPILER = 0x01;
        // Files may have any bit.
        const _ = !0;
    }
}

impl SymbolOther {
    /// Returns the memory space of a variable: none, [`GLOBAL`](Self::GLOBAL),
    /// [`SHARED`](Self::SHARED), [`CONSTANT`](Self::CONSTANT), [`RESERVED`](Self::RESERVED), or
    /// bits that mean nothing.
    pub const fn space(self) -> Self {
        self.intersection(Self::SPACE)
    }
}

/// Makes a field of a symbol a number of the text form.
macro_rules! number {
    ($($field:ident($make:path, $bits:expr))*) => {$(
        impl From<$field> for u64 {
            fn from(field: $field) -> Self {
                $bits(field).into()
            }
        }

        impl TryFrom<u64> for $field {
            type Error = std::num::TryFromIntError;

            fn try_from(number: u64) -> Result<Self, Self::Error> {
                number.try_into().map($make)
            }
        }
    )*};
}

number! {
    Binding(Binding, |field: Binding| field.0)
    SymbolType(SymbolType, |field: SymbolType| field.0)
    SymbolOther(SymbolOther::from_bits_retain, |field: SymbolOther| field.bits())
}
