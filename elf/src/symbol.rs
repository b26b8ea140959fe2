//! Fields of a symbol: types, bindings, and what CUDA keeps in `st_other`.

/// `st_info` types that CUDA uses.
pub mod stt {
    /// Untyped.
    pub const NOTYPE: u8 = 0;
    /// A variable, in executables and for the linker's own symbols.
    pub const OBJECT: u8 = 1;
    /// A function.
    pub const FUNC: u8 = 2;
    /// A section.
    pub const SECTION: u8 = 3;
    /// A texture reference.
    pub const CUDA_TEXTURE: u8 = 10;
    /// A sampler.
    pub const CUDA_SAMPLER: u8 = 11;
    /// A surface reference.
    pub const CUDA_SURFACE: u8 = 12;
    /// A variable, in relocatable objects.
    pub const CUDA_OBJECT: u8 = 13;

    /// Whether it is a texture, sampler or surface reference.
    pub const fn is_header(ty: u8) -> bool {
        header_kind(ty) != 0
    }

    /// The type of a texture, sampler or surface reference as one of the bits in
    /// [`header`](super::header); 0 for all other types.
    pub const fn header_kind(ty: u8) -> u8 {
        match ty {
            CUDA_TEXTURE => super::header::TEXTURE,
            CUDA_SAMPLER => super::header::SAMPLER,
            CUDA_SURFACE => super::header::SURFACE,
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

/// `st_info` bindings.
pub mod stb {
    /// Local to its object.
    pub const LOCAL: u8 = 0;
    /// Strong global.
    pub const GLOBAL: u8 = 1;
    /// Weak global.
    pub const WEAK: u8 = 2;
}

/// `st_other` bits.
pub mod sto {
    /// A kernel.
    pub const ENTRY: u8 = 0x10;
    /// A variable in global memory.
    pub const GLOBAL: u8 = 0x20;
    /// A variable in shared memory.
    pub const SHARED: u8 = 0x40;
    /// A variable in a constant bank.
    pub const CONSTANT: u8 = 0x80;
    /// A variable in reserved shared memory.
    pub const RESERVED: u8 = 0xa0;
    /// With [`GLOBAL`]: managed memory, which host code uses by address.
    pub const MANAGED: u8 = 0x04;
    /// Of a function: it has a unified address.
    pub const UNIFIED: u8 = 0x04;
    /// Of a variable, beside its space: it has a unified address.
    pub const UNIFIED_VARIABLE: u8 = 0x10;
    /// With [`CONSTANT`]: made by the compiler (`F.const_opt.*`, `_param`).
    pub const COMPILER: u8 = 0x01;
}
