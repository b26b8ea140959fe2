//! The fatbin of linked images, as `fatbinary -link` writes it.
//!
//! The bytes are those of fatbinary 13.0.88. LZ4 data alone differs: it unpacks to the same bytes,
//! but fatbinary packs it tighter. A build without libzstd packs Zstandard data less tightly too.
//!
//! `--create` and `--embedded-fatbin` have the same bytes, the latter as numbers in assembly. The
//! options after `--cmdline` are recorded for PTX alone, which no device link makes.

use cuweld_elf::raw::OSABI_CUDA;
use cuweld_elf::raw::SectionHeader;
use cuweld_elf::raw::is_at;
use cuweld_elf::target::compat;
use cuweld_elf::validate::Headers;
use cuweld_elf::validate::MERCURY_BITS;
use cuweld_elf::validate::MERCURY_FLAG;
use cuweld_elf::validate::StructureError;
use cuweld_elf::validate::validate_structure;
use thiserror::Error;
use zerocopy::IntoBytes;
use zerocopy::little_endian::U32;

use crate::Target;
use crate::input::fatbin;
use crate::input::fatbin::MemberHeader;
use crate::input::fatbin::MemberKind;
use crate::input::fatbin::RegionHeader;
use crate::input::zstd;

/// Members and the strings before their data begin at multiples of this.
const ALIGNMENT: usize = 8;
/// `e_ident[EI_ABIVERSION]`, which becomes the minor version of an ELF member.
const EI_ABIVERSION: usize = 8;
/// `e_ident[EI_OSABI]`.
const EI_OSABI: usize = 7;
/// Bytes of the largest cubin that is not packed where nothing is asked for.
const LARGEST_PLAIN: usize = 10_000_000;
/// The major version of an ELF member.
const ELF_MAJOR: u16 = 1;
/// libzstd's level of [`Compression::Default`] and [`Compression::Balance`].
const DEFAULT_LEVEL: i32 = 5;
/// libzstd's level of [`Compression::Size`].
const SIZE_LEVEL: i32 = 19;

/// How data is packed, as after `--compress-mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Compression {
    /// Zstandard, of members that are packed at all: see [`FatbinOptions::packs`].
    #[default]
    Default,
    /// The same as [`Compression::Default`].
    Balance,
    /// Zstandard at a higher level, of every member.
    Size,
    /// LZ4, of members that are packed at all.
    Speed,
    /// Nothing is packed, whatever else is asked for; `--compress=false` is the same.
    None,
}

/// A linked image.
#[derive(Clone, Copy, Debug)]
pub struct FatbinImage<'a> {
    /// What it is linked for: the text after `sm=`.
    pub target: Target,
    /// The cubin.
    pub cubin: &'a [u8],
}

/// The options of fatbinary that decide bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct FatbinOptions<'a> {
    /// `--compress-mode`.
    pub compression: Compression,
    /// `--compress-all`.
    pub compress_all: bool,
    /// `-g`, which nvcc passes with `-G`.
    pub debug: bool,
    /// `--device-c`, which nvcc passes in place of `-link` with `-r`.
    pub relocatable: bool,
    /// `--ident`, the name of every member; empty for none.
    pub ident: &'a [u8],
}

/// An image that no fatbin can hold.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WriteError {
    /// It is not an ELF64, or is damaged.
    #[error("the image for {target} is no cubin: {error}")]
    Structure {
        /// What it was to be for.
        target: Target,
        /// What is wrong with it.
        error: StructureError,
    },
    /// It is linked for another SM.
    #[error("the image for {target} is of sm_{found}")]
    Sm {
        /// What it was to be for.
        target: Target,
        /// The SM in its header.
        found: u32,
    },
    /// A size that has 32 bits in the header of a member.
    #[error("the {what} of the image for {target} has {size} bytes, which its header cannot say")]
    TooLarge {
        /// What the image was to be for.
        target: Target,
        /// What is too large.
        what: &'static str,
        /// Its size in bytes.
        size: usize,
    },
    /// The data cannot be packed.
    #[error("the image for {target} cannot be packed: {detail}")]
    Pack {
        /// What the image was to be for.
        target: Target,
        /// What the packer says.
        detail: String,
    },
}

impl FatbinOptions<'_> {
    /// Returns `true` if a cubin of this size in bytes is packed. Data that packing makes longer is
    /// packed as well.
    pub fn packs(&self, size: usize) -> bool {
        let asked = self.compress_all || self.debug || self.relocatable || size > LARGEST_PLAIN;
        match self.compression {
            Compression::None => false,
            Compression::Size => true,
            Compression::Default | Compression::Balance | Compression::Speed => asked,
        }
    }
}

/// Writes a fatbin of these images, in their order.
pub fn write_fatbin(
    images: &[FatbinImage<'_>],
    options: &FatbinOptions<'_>,
) -> Result<Vec<u8>, WriteError> {
    let mut writer = FatbinWriter::new(*options);
    images.iter().try_for_each(|image| writer.add(image))?;
    Ok(writer.finish())
}

/// A fatbin to which images are added one after the other, which need not be there together.
#[derive(Clone, Debug)]
pub struct FatbinWriter<'a> {
    options: FatbinOptions<'a>,
    /// Room for the region's header, and the members.
    bytes: Vec<u8>,
}

impl<'a> FatbinWriter<'a> {
    /// Begins a fatbin.
    pub fn new(options: FatbinOptions<'a>) -> Self {
        let bytes = vec![0; size_of::<RegionHeader>()];
        FatbinWriter { options, bytes }
    }

    /// Adds an image.
    ///
    /// # Errors
    ///
    /// If it is none that a fatbin can hold; the fatbin is then as it was.
    pub fn add(&mut self, image: &FatbinImage<'_>) -> Result<(), WriteError> {
        write_member(image, &self.options, &mut self.bytes)
    }

    /// Returns the bytes.
    pub fn finish(mut self) -> Vec<u8> {
        let header_size = size_of::<RegionHeader>();
        let region = RegionHeader::new((self.bytes.len() - header_size) as u64);
        self.bytes[..header_size].copy_from_slice(region.as_bytes());
        self.bytes
    }
}

/// Appends a member.
fn write_member(
    image: &FatbinImage<'_>,
    options: &FatbinOptions<'_>,
    out: &mut Vec<u8>,
) -> Result<(), WriteError> {
    let target = image.target;
    let facts = ImageFacts::of(image)?;
    let packed = pack(image, options)?;
    let tails = Tails::new(options.ident, facts.compat);
    let (pack_flag, data) = match &packed {
        Some((flag, data)) => (*flag, data.as_slice()),
        None => (0, image.cubin),
    };
    let debug_flag = if options.debug { fatbin::FLAG_DEBUG } else { 0 };
    let size_of_packed = match &packed {
        Some((_, data)) => fit(data.len(), "packed data", target)?,
        None => 0.into(),
    };
    let header = MemberHeader {
        kind: MemberKind::Elf.number().into(),
        version: fatbin::MEMBER_VERSION.into(),
        header_size: fit(tails.header_size(), "header", target)?,
        stored_size: (data.len().next_multiple_of(ALIGNMENT) as u64).into(),
        compressed_size: size_of_packed,
        options_offset: fit(tails.options_offset, "name", target)?,
        minor: facts.minor.into(),
        major: ELF_MAJOR.into(),
        sm: u32::from(target.sm).into(),
        name_offset: fit(tails.name_offset, "header", target)?,
        name_length: fit(options.ident.len(), "name", target)?,
        flags: (fatbin::FLAG_64BIT
            | fatbin::FLAG_LINUX
            | debug_flag
            | pack_flag
            | facts.flag
            | fatbin::suffix_flag(target.suffix))
        .into(),
        key: 0.into(),
        uncompressed_size: match packed {
            Some(_) => (image.cubin.len() as u64).into(),
            None => 0.into(),
        },
    };
    out.extend_from_slice(header.as_bytes());
    out.extend_from_slice(&tails.bytes);
    out.extend_from_slice(data);
    pad(out);
    Ok(())
}

/// Converts a size or offset to the width of a member's header.
fn fit(size: usize, what: &'static str, target: Target) -> Result<U32, WriteError> {
    match u32::try_from(size) {
        Ok(size) => Ok(size.into()),
        Err(_) => Err(WriteError::TooLarge { target, what, size }),
    }
}

/// Appends zeros up to the next multiple of [`ALIGNMENT`].
fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
}

/// Returns the packed cubin and the flag of the codec; `None` if it stays as it is.
fn pack(
    image: &FatbinImage<'_>,
    options: &FatbinOptions<'_>,
) -> Result<Option<(u64, Vec<u8>)>, WriteError> {
    if !options.packs(image.cubin.len()) {
        return Ok(None);
    }
    let level = match options.compression {
        Compression::Speed => {
            let packed = lz4_flex::block::compress(image.cubin);
            return Ok(Some((fatbin::FLAG_LZ4, packed)));
        }
        Compression::Size => SIZE_LEVEL,
        Compression::Default | Compression::Balance | Compression::None => DEFAULT_LEVEL,
    };
    match zstd::pack(image.cubin, level) {
        Ok(packed) => Ok(Some((fatbin::FLAG_ZSTD, packed))),
        Err(detail) => Err(WriteError::Pack {
            target: image.target,
            detail,
        }),
    }
}

/// What the cubin says about its member.
struct ImageFacts<'a> {
    /// Minor version of the ELF format.
    minor: u16,
    /// [`fatbin::FLAG_COMPAT`] if the image holds Mercury beside SASS, whether or not there is a
    /// `.nv.compat`.
    flag: u64,
    /// The section that is copied.
    compat: Option<&'a [u8]>,
}

impl<'a> ImageFacts<'a> {
    /// Reads the header of an image. Its SM has to be that of the target; the suffix is in no
    /// header and is not compared.
    fn of(image: &FatbinImage<'a>) -> Result<Self, WriteError> {
        let target = image.target;
        let headers = validate_structure(image.cubin)
            .map_err(|error| WriteError::Structure { target, error })?;
        let flags = headers.file.flags.get();
        let is_legacy = headers.file.ident[EI_OSABI] != OSABI_CUDA;
        let found = match is_legacy {
            true => flags & 0xff,
            false => flags >> 8 & 0xffff,
        };
        if found != u32::from(target.sm) {
            return Err(WriteError::Sm { target, found });
        }
        let has = |bits: u32| !is_legacy && flags & bits != 0;
        Ok(ImageFacts {
            minor: headers.file.ident[EI_ABIVERSION].into(),
            flag: match has(MERCURY_FLAG) {
                true => fatbin::FLAG_COMPAT,
                false => 0,
            },
            compat: match has(MERCURY_BITS) {
                true => compat_section(image.cubin, &headers),
                false => None,
            },
        })
    }
}

/// Returns the contents of the first `.nv.compat`.
fn compat_section<'a>(cubin: &'a [u8], headers: &Headers<'_>) -> Option<&'a [u8]> {
    let names = contents(cubin, headers.sections.get(headers.section_names)?)?;
    let section = headers
        .sections
        .iter()
        .find(|section| is_at(names, section.name.get(), compat::SECTION))?;
    contents(cubin, section)
}

/// Returns the bytes of a section.
fn contents<'a>(cubin: &'a [u8], section: &SectionHeader) -> Option<&'a [u8]> {
    let start = usize::try_from(section.offset.get()).ok()?;
    let length = usize::try_from(section.size.get()).ok()?;
    cubin.get(start..start.checked_add(length)?)
}

/// What follows the fixed part of a member's header: the name and the option record.
struct Tails {
    bytes: Vec<u8>,
    /// From the member's start, 0 for no name.
    name_offset: usize,
    /// From the member's start, 0 for no record.
    options_offset: usize,
}

impl Tails {
    /// Builds the tails. The record of an ELF has an empty string and then, without alignment, the
    /// copy of `.nv.compat`, whose size stands in the place of the string's length.
    fn new(name: &[u8], compat: Option<&[u8]>) -> Self {
        let fixed = size_of::<MemberHeader>();
        let mut tails = Tails {
            bytes: Vec::new(),
            name_offset: 0,
            options_offset: 0,
        };
        if !name.is_empty() {
            tails.name_offset = fixed;
            tails.bytes.extend_from_slice(name);
            tails.bytes.push(0);
            pad(&mut tails.bytes);
        }
        if let Some(compat) = compat {
            tails.options_offset = fixed + tails.bytes.len();
            let string = tails.options_offset + size_of::<[U32; 2]>();
            // Neither number is cut off: the caller refuses a header of such a size.
            let record = [string as u32, compat.len() as u32].map(U32::new);
            tails.bytes.extend_from_slice(record.as_bytes());
            tails.bytes.push(0);
            tails.bytes.extend_from_slice(compat);
            pad(&mut tails.bytes);
        }
        tails
    }

    /// Returns the size of the whole header.
    fn header_size(&self) -> usize {
        size_of::<MemberHeader>() + self.bytes.len()
    }
}
