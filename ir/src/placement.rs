//! What `place-memory` decides beside offsets of sections and values of symbols.

use crate::ids::*;

/// Layout of a kernel's shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SharedFrame {
    /// Size in bytes of `.nv.shared.K`, reserved shared memory included.
    pub size: u64,
    /// Alignment in bytes of `.nv.shared.K`.
    pub align: u64,
    /// Alignment in bytes of the slots that several kernels share, 1 if there are none; the same
    /// for all kernels.
    pub slots_align: u64,
    /// Whether the output has the section: it has a size, or dynamic shared memory is used.
    pub present: bool,
}

/// The place of a texture, sampler or surface header in constant bank 0 of the kernels that use any
/// [header-slots].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct HeaderSlot {
    /// The texture, sampler or surface.
    pub symbol: LinkSymbolId,
    /// Offset in bytes in the bank, the same for all kernels.
    pub offset: u64,
}

/// A function's constants as part of a kernel's constant bank [constants-join-banks].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct BankPiece {
    /// The kernel whose `.nv.constantN.K` it is part of; the owner itself if no kernel reaches it.
    pub kernel: FunctionId,
    /// The bank number.
    pub bank: u8,
    /// The input section of the function that owns the constants.
    pub section: SectionId,
    /// Offset in bytes in the kernel's bank.
    pub offset: u64,
    /// Size in bytes: the section's, or 0 if only the place of the section remains. nvlink keeps
    /// that when a copy without constants replaces one that has some [emptied-place-stays].
    pub size: u64,
    /// Alignment in bytes of the kernel's bank once this piece is in it; its size is a multiple.
    pub align: u64,
}

/// A compiler constant in a pool that takes the place of a bank's pieces: each kernel that has
/// pieces of the bank has the whole pool instead [pool-beyond-limit].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PoolPart {
    /// The bank number.
    pub bank: u8,
    /// The input section that holds the bytes.
    pub section: SectionId,
    /// Offset in bytes in that section.
    pub start: u64,
    /// Size in bytes.
    pub size: u64,
    /// Offset in bytes in the pool.
    pub offset: u64,
}
