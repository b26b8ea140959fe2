//! The fatbin container: a region header, then members with their headers.
//!
//! ```text
//! region:  u32 magic  u16 version  u16 header size  u64 size of all members
//! member:  64-byte header, optional name, optional option record   (`header size` covers all)
//!          stored data, padded to 8 bytes
//! ```
//! Only the first region of a file or section counts. Bytes after it are ignored.

use cuweld_elf::target::arch::Suffix;
use thiserror::Error;
use zerocopy::FromBytes;
use zerocopy::Immutable;
use zerocopy::IntoBytes;
use zerocopy::KnownLayout;
use zerocopy::Unaligned;
use zerocopy::little_endian::U16;
use zerocopy::little_endian::U32;
use zerocopy::little_endian::U64;

use super::Target;

/// Magic number of a region.
pub const REGION_MAGIC: u32 = 0xba55_ed50;
/// The only version of a region.
pub const REGION_VERSION: u16 = 1;
/// The version that every tool writes into a member.
pub const MEMBER_VERSION: u16 = 0x0101;

/// The member is for 64-bit programs; others are invisible.
pub const FLAG_64BIT: u64 = 0x1;
/// Compiled with `-g`.
pub const FLAG_DEBUG: u64 = 0x2;
/// For a host that runs Linux.
pub const FLAG_LINUX: u64 = 0x10;
/// Compressed with zlib.
pub const FLAG_ZLIB: u64 = 0x1000;
/// Compressed as one LZ4 block.
pub const FLAG_LZ4: u64 = 0x2000;
/// Compressed with a codec that no toolkit at hand writes.
pub const FLAG_OTHER_CODEC: u64 = 0x4000;
/// Compressed with Zstandard.
pub const FLAG_ZSTD: u64 = 0x8000;
/// Obfuscated with the key in the header.
pub const FLAG_OBFUSCATED: u64 = 0x1_0000;
/// The SM number has the suffix `a`.
pub const FLAG_SPECIFIC: u64 = 0x10_0000;
/// The SM number has the suffix `f`.
pub const FLAG_FAMILY: u64 = 0x20_0000;
/// The option record is followed by a copy of the cubin's `.nv.compat`.
pub const FLAG_COMPAT: u64 = 0x100_0000;

/// The header of a region.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct RegionHeader {
    /// [`REGION_MAGIC`].
    pub magic: U32,
    /// [`REGION_VERSION`].
    pub version: U16,
    /// Size of this header; members begin there.
    pub header_size: U16,
    /// Size of all members.
    pub size: U64,
}

impl RegionHeader {
    /// Builds the header of a region whose members have `size` bytes.
    pub fn new(size: u64) -> Self {
        RegionHeader {
            magic: REGION_MAGIC.into(),
            version: REGION_VERSION.into(),
            header_size: (size_of::<RegionHeader>() as u16).into(),
            size: size.into(),
        }
    }
}

/// The fixed part of a member's header.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct MemberHeader {
    /// See [`MemberKind`].
    pub kind: U16,
    /// [`MEMBER_VERSION`], not checked.
    pub version: U16,
    /// Size of the header with its tails; the data begins there.
    pub header_size: U32,
    /// Size of the data in the file, padded to 8.
    pub stored_size: U64,
    /// Exact size of compressed data, 0 if it is not compressed.
    pub compressed_size: U32,
    /// Offset of the option record from the member's start, 0 for none.
    pub options_offset: U32,
    /// Minor version of the PTX ISA or ELF format.
    pub minor: U16,
    /// Major version of the PTX ISA or ELF format.
    pub major: U16,
    /// SM number; the suffix is in the flags.
    pub sm: U32,
    /// Offset of the name from the member's start, 0 for none.
    pub name_offset: U32,
    /// Length of the name.
    pub name_length: U32,
    /// `FLAG_*`.
    pub flags: U64,
    /// Obfuscation key, 0 for none.
    pub key: U64,
    /// Size after decompression, 0 if it is not compressed.
    pub uncompressed_size: U64,
}

/// What a member holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberKind {
    /// PTX text.
    Ptx,
    /// A device ELF.
    Elf,
    /// NVVM or LTO-IR.
    Nvvm,
    /// A device ELF for a Mercury target, as a program of its own may pack it; toolkit 13.0 packs
    /// it as [`MemberKind::Elf`].
    Mercury,
    /// What later toolkits add; never chosen.
    Other(u16),
}

impl MemberKind {
    /// Returns the kind with this number.
    fn of_number(number: u16) -> Self {
        match number {
            1 => MemberKind::Ptx,
            2 => MemberKind::Elf,
            8 => MemberKind::Nvvm,
            16 => MemberKind::Mercury,
            other => MemberKind::Other(other),
        }
    }

    /// Returns the number of the kind in a member's header.
    pub fn number(self) -> u16 {
        match self {
            MemberKind::Ptx => 1,
            MemberKind::Elf => 2,
            MemberKind::Nvvm => 8,
            MemberKind::Mercury => 16,
            MemberKind::Other(other) => other,
        }
    }
}

/// Returns the flag that stands for the suffix of an SM number; 0 for none.
pub fn suffix_flag(suffix: Suffix) -> u64 {
    match suffix {
        Suffix::None => 0,
        Suffix::Specific => FLAG_SPECIFIC,
        Suffix::Family => FLAG_FAMILY,
    }
}

/// A fatbin whose headers do not hold together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FatbinError {
    /// Shorter than a region header, or another magic number.
    #[error("no region header")]
    NotAFatbin,
    /// Another format version.
    #[error("format version {0}")]
    Version(u16),
    /// The region header speaks of more bytes than there are.
    #[error("the region of {size:#x} bytes is cut off, {available:#x} are there")]
    RegionTruncated {
        /// Size of the region from its header.
        size: u64,
        /// Bytes that are there.
        available: u64,
    },
    /// A member's header does not fit.
    #[error("the header of the member at {offset:#x} is cut off")]
    HeaderTruncated {
        /// Offset of the member in the fatbin.
        offset: u64,
    },
    /// A header size below that of the fixed part.
    #[error("the member at {offset:#x} has a header of {size} bytes")]
    HeaderSize {
        /// Offset of the member in the fatbin.
        offset: u64,
        /// The header size it claims.
        size: u32,
    },
    /// A member's data reaches past the region.
    #[error("the data of the member at {offset:#x} ({size:#x} bytes) reaches past the fatbin")]
    DataTruncated {
        /// Offset of the member in the fatbin.
        offset: u64,
        /// Size of its data from its header.
        size: u64,
    },
    /// The compressed size exceeds the stored size.
    #[error("the member at {offset:#x} has {compressed:#x} compressed in {stored:#x} stored bytes")]
    CompressedSize {
        /// Offset of the member in the fatbin.
        offset: u64,
        /// The compressed size.
        compressed: u64,
        /// The stored size.
        stored: u64,
    },
    /// The option record lies outside of the header.
    #[error("the options of the member at {offset:#x} lie outside of its header")]
    Options {
        /// Offset of the member in the fatbin.
        offset: u64,
    },
}

/// A member.
#[derive(Clone, Copy, Debug)]
pub struct FatbinMember<'data> {
    /// Offset from the region's start.
    pub offset: u64,
    /// The fixed part of the header.
    pub header: &'data MemberHeader,
    /// The whole header with its tails.
    header_bytes: &'data [u8],
    /// The data as stored: compressed data without its padding, other data with it.
    pub stored: &'data [u8],
}

/// Returns `true` if the bytes begin like a fatbin.
pub fn has_magic(bytes: &[u8]) -> bool {
    bytes.starts_with(&REGION_MAGIC.to_le_bytes())
}

/// Reads the member list of the region at the start of `bytes`.
pub fn parse(bytes: &[u8]) -> Result<Vec<FatbinMember<'_>>, FatbinError> {
    let (region, _) = RegionHeader::ref_from_prefix(bytes).map_err(|_| FatbinError::NotAFatbin)?;
    if region.magic.get() != REGION_MAGIC {
        return Err(FatbinError::NotAFatbin);
    }
    if region.version.get() != REGION_VERSION {
        return Err(FatbinError::Version(region.version.get()));
    }
    let start = usize::from(region.header_size.get());
    let size = region.size.get();
    let available = bytes.len().saturating_sub(start) as u64;
    let region_bytes = usize::try_from(size)
        .ok()
        .and_then(|size| bytes.get(..start.checked_add(size)?))
        .ok_or(FatbinError::RegionTruncated { size, available })?;
    let mut members = Vec::new();
    let mut offset = start;
    while offset < region_bytes.len() {
        let rest = region_bytes.get(offset..).unwrap_or_default();
        let (member, length) = parse_member(rest, offset as u64)?;
        members.push(member);
        offset += length;
    }
    Ok(members)
}

/// Returns the regions after the first one. `ld -r` puts the sections of its inputs one after the
/// other, with zeros for alignment between them.
pub fn further_regions(bytes: &[u8]) -> Vec<&[u8]> {
    let mut regions = Vec::new();
    let mut rest = bytes;
    while let Some(behind) = behind_region(rest) {
        let zeros = behind.iter().take_while(|byte| **byte == 0).count();
        rest = behind.get(zeros..).unwrap_or_default();
        if !has_magic(rest) {
            break;
        }
        regions.push(rest);
    }
    regions
}

/// Returns the bytes after a region; at least its header is passed over.
fn behind_region(bytes: &[u8]) -> Option<&[u8]> {
    let (region, _) = RegionHeader::ref_from_prefix(bytes).ok()?;
    let start = usize::from(region.header_size.get()).max(size_of::<RegionHeader>());
    let size = usize::try_from(region.size.get()).ok()?;
    bytes.get(start.checked_add(size)?..)
}

/// Reads one member and its length. The length is at least that of the header, so that walking
/// always ends.
fn parse_member(bytes: &[u8], offset: u64) -> Result<(FatbinMember<'_>, usize), FatbinError> {
    let cut_off = FatbinError::HeaderTruncated { offset };
    let (header, _) = MemberHeader::ref_from_prefix(bytes).map_err(|_| cut_off)?;
    let size = header.header_size.get();
    if (size as usize) < size_of::<MemberHeader>() {
        return Err(FatbinError::HeaderSize { offset, size });
    }
    let header_bytes = bytes.get(..size as usize).ok_or(cut_off)?;
    let stored_size = header.stored_size.get();
    let data_truncated = FatbinError::DataTruncated {
        offset,
        size: stored_size,
    };
    let end = usize::try_from(stored_size)
        .ok()
        .and_then(|stored| stored.checked_add(header_bytes.len()))
        .ok_or(data_truncated)?;
    let mut stored = bytes.get(header_bytes.len()..end).ok_or(data_truncated)?;
    let compressed = header.compressed_size.get();
    if compressed != 0 {
        stored = stored
            .get(..compressed as usize)
            .ok_or(FatbinError::CompressedSize {
                offset,
                compressed: compressed.into(),
                stored: stored_size,
            })?;
    }
    Ok((
        FatbinMember {
            offset,
            header,
            header_bytes,
            stored,
        },
        end,
    ))
}

impl<'data> FatbinMember<'data> {
    /// Returns the kind of code that the member holds.
    pub fn kind(&self) -> MemberKind {
        MemberKind::of_number(self.header.kind.get())
    }

    /// Returns `true` if a flag is set.
    pub fn has(&self, flag: u64) -> bool {
        self.header.flags.get() & flag != 0
    }

    /// Returns `true` if a 64-bit link sees the member.
    pub fn is_visible(&self) -> bool {
        self.has(FLAG_64BIT)
    }

    /// Returns the size of the member when it is unpacked, as its header gives it.
    pub fn unpacked_size(&self) -> u64 {
        self.header.uncompressed_size.get()
    }

    /// Returns `true` if the data is obfuscated (LTO-IR is) and so cannot be read here.
    pub fn is_obfuscated(&self) -> bool {
        self.has(FLAG_OBFUSCATED) || self.header.key.get() != 0
    }

    /// Returns the architecture it was compiled for; `None` if the SM number is out of range.
    pub fn arch(&self) -> Option<Target> {
        let suffix = if self.has(FLAG_SPECIFIC) {
            Suffix::Specific
        } else if self.has(FLAG_FAMILY) {
            Suffix::Family
        } else {
            Suffix::None
        };
        Some(Target {
            sm: u16::try_from(self.header.sm.get()).ok()?,
            suffix,
        })
    }

    /// Makes a fatbin of the member alone, compiled for its SM without a suffix.
    pub fn alone_without_suffix(&self) -> Vec<u8> {
        let mut header = *self.header;
        header
            .flags
            .set(header.flags.get() & !(FLAG_SPECIFIC | FLAG_FAMILY));
        let mut member = self.header_bytes.to_vec();
        member[..size_of::<MemberHeader>()].copy_from_slice(header.as_bytes());
        member.extend_from_slice(self.stored);
        let size = self.header_bytes.len() as u64 + header.stored_size.get();
        member.resize(usize::try_from(size).unwrap_or(member.len()), 0);
        let region = RegionHeader::new(member.len() as u64);
        [region.as_bytes(), &member].concat()
    }

    /// Returns the name of the source, empty if none is recorded or it lies outside of the header.
    pub fn name(&self) -> &'data [u8] {
        let offset = self.header.name_offset.get() as usize;
        let length = self.header.name_length.get() as usize;
        if offset == 0 {
            return b"";
        }
        range(self.header_bytes, offset, length).unwrap_or_default()
    }

    /// Returns the options that the member was or is to be compiled with. nvlink crashes on PTX
    /// without an option record; here that counts as no options.
    pub fn options(&self) -> Result<&'data [u8], FatbinError> {
        let outside = FatbinError::Options {
            offset: self.offset,
        };
        let at = self.header.options_offset.get() as usize;
        if at == 0 {
            return Ok(b"");
        }
        let record = range(self.header_bytes, at, 8).ok_or(outside)?;
        let (fields, _) = <[U32; 2]>::ref_from_prefix(record).map_err(|_| outside)?;
        let [offset, length] = fields.map(|field| field.get() as usize);
        if length == 0 {
            return Ok(b"");
        }
        range(self.header_bytes, offset, length).ok_or(outside)
    }

    /// Describes the member for lists of what a fatbin holds: `ELF sm_90a`.
    pub fn describe(&self) -> String {
        let kind = match self.kind() {
            MemberKind::Ptx => "PTX",
            MemberKind::Elf => "ELF",
            MemberKind::Nvvm => "LTO-IR",
            MemberKind::Mercury => "Mercury",
            MemberKind::Other(_) => "unknown code",
        };
        match self.arch() {
            Some(arch) => format!("{kind} {arch}"),
            None => format!("{kind} for SM {}", self.header.sm.get()),
        }
    }
}

fn range(bytes: &[u8], offset: usize, length: usize) -> Option<&[u8]> {
    bytes.get(offset..offset.checked_add(length)?)
}

#[cfg(test)]
mod tests {
    use super::super::test_files::Member;
    use super::super::test_files::fatbin;
    use super::*;

    fn two_members() -> Vec<u8> {
        fatbin(&[
            Member::ptx("sm_90a", b".version 9.0").options(b"-g --x "),
            Member::elf("sm_100f", &[7; 12]).name(b"a.cu"),
        ])
    }

    #[test]
    fn members_are_read_as_written() {
        let bytes = two_members();
        let members = parse(&bytes).unwrap();
        assert_eq!(members.len(), 2);
        assert_eq!(members[0].kind(), MemberKind::Ptx);
        assert_eq!(members[0].describe(), "PTX sm_90a");
        assert_eq!(members[0].options().unwrap(), b"-g --x ");
        assert_eq!(members[0].name(), b"");
        assert_eq!(members[1].describe(), "ELF sm_100f");
        assert_eq!(members[1].name(), b"a.cu");
        assert_eq!(members[1].options().unwrap(), b"");
        assert_eq!(members[1].stored[..12], [7; 12]);
    }

    #[test]
    fn bytes_after_the_region_are_ignored() {
        let mut bytes = two_members();
        bytes.extend_from_slice(&fatbin(&[Member::elf("sm_80", b"x")]));
        assert_eq!(parse(&bytes).unwrap().len(), 2);
    }

    #[test]
    fn longer_region_headers_are_honoured() {
        let mut bytes = two_members();
        bytes[6] = 24;
        bytes.splice(16..16, [0xff; 8]);
        assert_eq!(parse(&bytes).unwrap().len(), 2);
    }

    #[test]
    fn every_prefix_is_refused() {
        let bytes = two_members();
        for length in 0..bytes.len() {
            assert!(parse(&bytes[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn headers_must_hold_together() {
        let with = |at: usize, value: &[u8]| {
            let mut bytes = two_members();
            bytes[at..at + value.len()].copy_from_slice(value);
            bytes
        };
        let error = |bytes: &[u8]| parse(bytes).map(|_| ()).unwrap_err();
        assert_eq!(error(&with(0, &[0])), FatbinError::NotAFatbin);
        assert_eq!(error(&with(4, &[2])), FatbinError::Version(2));
        assert!(matches!(
            error(&with(15, &[0x80])),
            FatbinError::RegionTruncated { .. }
        ));
        assert_eq!(
            error(&with(20, &[63])),
            FatbinError::HeaderSize {
                offset: 16,
                size: 63
            }
        );
        let huge = [0xff; 8];
        assert!(matches!(
            error(&with(24, &huge)),
            FatbinError::DataTruncated { offset: 16, .. }
        ));
        assert!(matches!(
            error(&with(22, &[0xff])),
            FatbinError::HeaderTruncated { .. }
        ));
        assert!(matches!(
            error(&with(33, &[0xff])),
            FatbinError::CompressedSize { .. }
        ));
        let bytes = with(37, &[0xff]);
        assert_eq!(
            parse(&bytes).unwrap()[0].options(),
            Err(FatbinError::Options { offset: 16 })
        );
    }
}
