//! How the data of fatbin members is packed, and why it could not be unpacked.

use std::fmt;

use thiserror::Error;

use super::fatbin;
use super::fatbin::FatbinMember;
use crate::limits::LimitError;

/// How data is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// As is.
    None,
    /// A zlib stream.
    Zlib,
    /// One raw LZ4 block.
    Lz4,
    /// A codec that has a flag, but that no toolkit at hand writes.
    Unknown,
    /// Zstandard frames; what fatbinary does by default.
    Zstd,
}

impl Codec {
    /// Returns the codec of a member. With several flags set, nvlink takes the first in this order.
    pub fn of(member: &FatbinMember<'_>) -> Codec {
        [
            (fatbin::FLAG_ZLIB, Codec::Zlib),
            (fatbin::FLAG_LZ4, Codec::Lz4),
            (fatbin::FLAG_OTHER_CODEC, Codec::Unknown),
            (fatbin::FLAG_ZSTD, Codec::Zstd),
        ]
        .into_iter()
        .find(|(flag, _)| member.has(*flag))
        .map_or(Codec::None, |(_, codec)| codec)
    }

    /// Returns the most bytes that one packed byte can stand for, which bounds what a declared size
    /// may make us allocate. LZ4 adds 255 for each length byte, deflate codes 258 in two bits, and
    /// a Zstandard run-length block gives 128 KiB for four bytes.
    pub(super) fn largest_ratio(self) -> u64 {
        match self {
            Codec::None | Codec::Unknown => 1,
            Codec::Lz4 => 255,
            Codec::Zlib => 1032,
            Codec::Zstd => 32 << 10,
        }
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Codec::None => "uncompressed",
            Codec::Zlib => "zlib",
            Codec::Lz4 => "LZ4",
            Codec::Unknown => "unknown (flag 0x4000)",
            Codec::Zstd => "Zstandard",
        })
    }
}

/// Why data could not be unpacked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DecompressError {
    /// The packed data is damaged.
    #[error("damaged {codec} data: {detail}")]
    Damaged {
        /// The codec.
        codec: Codec,
        /// What the decoder says.
        detail: String,
    },
    /// The data is sound, but has another size than the header says.
    #[error("the {codec} data has {found} bytes, its header says {declared}")]
    Size {
        /// The codec.
        codec: Codec,
        /// Size of the unpacked data.
        found: u64,
        /// Size from the header.
        declared: u64,
    },
    /// No data of that length unpacks to the declared size.
    #[error("{stored} bytes of {codec} data cannot hold the {declared} bytes of its header")]
    Absurd {
        /// The codec.
        codec: Codec,
        /// Size of the packed data.
        stored: u64,
        /// Size from the header.
        declared: u64,
    },
    /// The inputs unpack to more than they may.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// The codec is not known.
    #[error("a codec that this linker does not know")]
    UnknownCodec,
    /// The data is obfuscated.
    #[error("the data is obfuscated")]
    Obfuscated,
}

impl DecompressError {
    /// Returns the number of times that nvlink says "Uncompress failed": twice if a Zstandard frame
    /// is bad.
    pub(super) fn nvlink_repeats(&self) -> usize {
        match self {
            DecompressError::Damaged {
                codec: Codec::Zstd, ..
            } => 2,
            _ => 1,
        }
    }
}
