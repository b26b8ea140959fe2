//! The four layers of checks on a device ELF.
//!
//! 1. Structure: entry sizes, table ranges, section ranges (types without bytes in the file are
//!    exempt), no overflow.
//! 2. Extent: the highest byte that the headers speak of lies within the file.
//! 3. Architecture: OSABI, ABI version, SM, toolkit.
//! 4. Finalizer precondition: a file is finalized once.

use thiserror::Error;
use zerocopy::FromBytes;

use super::raw::*;
use crate::behaviours;
use crate::finalize::Profile;
use crate::finalize::can_finalize;
use crate::target::Target;
use crate::target::arch::Suffix;
use crate::target::section_types::is_no_bits;
use crate::toolkit::Toolkit;

/// The headers of a file that passed layer 1.
#[derive(Clone, Copy, Debug)]
pub struct Headers<'data> {
    /// The file header.
    pub file: &'data FileHeader,
    /// Section headers.
    pub sections: &'data [SectionHeader],
    /// Program headers.
    pub segments: &'data [ProgramHeader],
    /// Index of the section name table, from `e_shstrndx` or the null section's link.
    pub section_names: usize,
}

/// What is wrong with the structure of a file (layers 1 and 2). Always the input's fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum StructureError {
    /// The file is shorter than an ELF header, or has another magic number.
    #[error("not an ELF file")]
    NotElf,
    /// ELF32.
    #[error("a 32-bit ELF file")]
    Not64Bit,
    /// Big endian.
    #[error("not a little-endian ELF file")]
    NotLittleEndian,
    /// `e_shentsize` or `e_phentsize` is not that of ELF64.
    #[error("{table} header entries have {found} bytes, not {expected}")]
    EntrySize {
        /// Which table.
        table: &'static str,
        /// The size in the file.
        found: u16,
        /// The only right size.
        expected: u16,
    },
    /// A header table does not lie within the file.
    #[error(
        "the {table} header table at {offset:#x} ({count} entries) reaches past the end of the file ({size:#x} bytes)"
    )]
    TableRange {
        /// Which table.
        table: &'static str,
        /// Its file offset.
        offset: u64,
        /// Its number of entries.
        count: u64,
        /// Size of the file.
        size: u64,
    },
    /// `e_shoff` is 0, and `e_shnum` is not.
    #[error("the file header names {0} sections, but no section header table")]
    NoTable(u16),
    /// A section's bytes do not lie within the file.
    #[error(
        "section {index} ({offset:#x}, {length:#x} bytes) reaches past the end of the file ({size:#x} bytes)"
    )]
    SectionRange {
        /// Index of the section.
        index: u32,
        /// `sh_offset`.
        offset: u64,
        /// `sh_size`.
        length: u64,
        /// Size of the file.
        size: u64,
    },
    /// Offset and size of a section or segment do not add up in 64 bits.
    #[error("offset {offset:#x} and size {length:#x} of {what} {index} overflow")]
    Overflow {
        /// "section" or "segment".
        what: &'static str,
        /// Its index.
        index: u32,
        /// Its offset.
        offset: u64,
        /// Its size.
        length: u64,
    },
    /// The headers speak of bytes past the end of the file (layer 2).
    #[error("the headers describe {extent:#x} bytes, the file has {size:#x}")]
    Extent {
        /// One past the last byte.
        extent: u64,
        /// Size of the file.
        size: u64,
    },
    /// `e_shstrndx` names no section.
    #[error("the section name table index {0} names no section")]
    NameTable(u32),
}

impl StructureError {
    /// Returns the file offset of the field with the wrong value, or of the bytes that lie outside
    /// of the file.
    pub fn offset(&self) -> u64 {
        match self {
            StructureError::NotElf => 0,
            StructureError::Not64Bit => 4,
            StructureError::NotLittleEndian => 5,
            StructureError::EntrySize { table, .. } if *table == "program" => {
                std::mem::offset_of!(FileHeader, phentsize) as u64
            }
            StructureError::NoTable(_) => std::mem::offset_of!(FileHeader, shoff) as u64,
            StructureError::EntrySize { .. } => std::mem::offset_of!(FileHeader, shentsize) as u64,
            StructureError::TableRange { offset, .. }
            | StructureError::SectionRange { offset, .. }
            | StructureError::Overflow { offset, .. } => *offset,
            StructureError::Extent { size, .. } => *size,
            StructureError::NameTable(_) => std::mem::offset_of!(FileHeader, shstrndx) as u64,
        }
    }
}

/// Checks layer 1: the structure.
pub fn validate_structure(image: &[u8]) -> Result<Headers<'_>, StructureError> {
    let headers = tables(image)?;
    let size = image.len() as u64;
    for (index, header) in headers.sections.iter().enumerate() {
        let (index, offset, length) = (index as u32, header.offset.get(), header.size.get());
        if index == 0 || is_no_bits(header.ty.get(), header.flags()) {
            continue;
        }
        let end = offset.checked_add(length).ok_or(StructureError::Overflow {
            what: "section",
            index,
            offset,
            length,
        })?;
        if end > size {
            return Err(StructureError::SectionRange {
                index,
                offset,
                length,
                size,
            });
        }
    }
    with_names(headers)
}

/// Returns the headers of a file that went through [`validate_structure`] before: its sections are
/// not looked at again.
pub fn headers_of_sound(image: &[u8]) -> Result<Headers<'_>, StructureError> {
    with_names(tables(image)?)
}

/// Finds the section name table.
fn with_names(mut headers: Headers<'_>) -> Result<Headers<'_>, StructureError> {
    let names = match (headers.file.shstrndx.get(), headers.sections.first()) {
        (SHN_XINDEX, Some(null)) => null.link.get(),
        (index, _) => index.into(),
    };
    if !headers.sections.is_empty() && names as usize >= headers.sections.len() {
        return Err(StructureError::NameTable(names));
    }
    headers.section_names = names as usize;
    Ok(headers)
}

/// Returns the tables of headers; the section name table is not known yet.
fn tables(image: &[u8]) -> Result<Headers<'_>, StructureError> {
    let (file, _) = FileHeader::ref_from_prefix(image).map_err(|_| StructureError::NotElf)?;
    if file.ident[..4] != *b"\x7fELF" {
        return Err(StructureError::NotElf);
    }
    if file.ident[4] != 2 {
        return Err(StructureError::Not64Bit);
    }
    if file.ident[5] != 1 {
        return Err(StructureError::NotLittleEndian);
    }
    let entry = |table, found: u16, expected: u16, needed: bool| {
        if needed && found != expected {
            return Err(StructureError::EntrySize {
                table,
                found,
                expected,
            });
        }
        Ok(())
    };
    entry("program", file.phentsize.get(), 56, file.phnum.get() != 0)?;
    entry("section", file.shentsize.get(), 64, file.shoff.get() != 0)?;
    let segments =
        table::<ProgramHeader>(image, "program", file.phoff.get(), file.phnum.get().into())?;
    let sections = if file.shoff.get() == 0 {
        if file.shnum.get() != 0 {
            return Err(StructureError::NoTable(file.shnum.get()));
        }
        &[]
    } else {
        let mut count = u64::from(file.shnum.get());
        if count == 0 {
            let first = table::<SectionHeader>(image, "section", file.shoff.get(), 1)?;
            count = first.first().map_or(0, |header| header.size.get());
        }
        table::<SectionHeader>(image, "section", file.shoff.get(), count)?
    };
    Ok(Headers {
        file,
        sections,
        segments,
        section_names: 0,
    })
}

fn table<'data, T: FromBytes + zerocopy::Immutable + zerocopy::KnownLayout>(
    image: &'data [u8],
    table: &'static str,
    offset: u64,
    count: u64,
) -> Result<&'data [T], StructureError> {
    let out_of_range = StructureError::TableRange {
        table,
        offset,
        count,
        size: image.len() as u64,
    };
    if count == 0 {
        return Ok(&[]);
    }
    let start = usize::try_from(offset).map_err(|_| out_of_range)?;
    let number = usize::try_from(count).map_err(|_| out_of_range)?;
    let bytes = image.get(start..).ok_or(out_of_range)?;
    let (rows, _) = <[T]>::ref_from_prefix_with_elems(bytes, number).map_err(|_| out_of_range)?;
    Ok(rows)
}

/// Checks layer 2: returns the offset one past the last byte that the headers describe, which must
/// lie within the file.
pub fn validate_extent(headers: &Headers<'_>, size: u64) -> Result<u64, StructureError> {
    let mut extent = 64;
    cover_tables(headers, &mut extent)?;
    for (index, header) in headers.sections.iter().enumerate().skip(1) {
        if !is_no_bits(header.ty.get(), header.flags()) {
            let (offset, length) = (header.offset.get(), header.size.get());
            cover(&mut extent, "section", index, offset, length)?;
        }
    }
    within(extent, size)
}

/// Checks layer 2 of a file that went through [`validate_structure`], which has found that the
/// sections lie within it.
pub fn validate_tables(headers: &Headers<'_>, size: u64) -> Result<(), StructureError> {
    let mut extent = 64;
    cover_tables(headers, &mut extent)?;
    within(extent, size).map(|_| ())
}

/// Moves `extent` to the end of the tables of headers and of the segments.
fn cover_tables(headers: &Headers<'_>, extent: &mut u64) -> Result<(), StructureError> {
    let file = headers.file;
    cover(
        extent,
        "section header table",
        0,
        file.shoff.get(),
        headers.sections.len() as u64 * 64,
    )?;
    cover(
        extent,
        "program header table",
        0,
        file.phoff.get(),
        headers.segments.len() as u64 * 56,
    )?;
    for (index, header) in headers.segments.iter().enumerate() {
        let (offset, length) = (header.offset.get(), header.filesz.get());
        cover(extent, "segment", index, offset, length)?;
    }
    Ok(())
}

/// Moves `extent` to the end of some bytes, if that lies after it.
fn cover(
    extent: &mut u64,
    what: &'static str,
    index: usize,
    offset: u64,
    length: u64,
) -> Result<(), StructureError> {
    let end = offset.checked_add(length).ok_or(StructureError::Overflow {
        what,
        index: index as u32,
        offset,
        length,
    })?;
    *extent = (*extent).max(end);
    Ok(())
}

/// Returns the extent, if it lies within a file of this size.
fn within(extent: u64, size: u64) -> Result<u64, StructureError> {
    match extent > size {
        true => Err(StructureError::Extent { extent, size }),
        false => Ok(extent),
    }
}

/// What layer 3 knows of an object.
#[derive(Clone, Copy, Debug)]
pub struct ObjectFacts {
    /// `e_ident[EI_OSABI]` and `e_ident[EI_ABIVERSION]`.
    pub abi: [u8; 2],
    /// `e_type`.
    pub e_type: u16,
    /// `e_flags`.
    pub flags: u32,
    /// The toolkit that made the object, 0 if it does not say.
    pub toolkit: u32,
    /// `.nv.compat` marks the object as made for an `a` variant.
    pub specific: bool,
    /// What `.nv.compat` says, for Mercury targets.
    pub profile: Option<Profile>,
    /// An object with Mercury comes before this one: nvlink looks at SASS as it does at Mercury
    /// then.
    pub after_mercury: bool,
    /// An EWP object comes before this one: from there on all objects have to be of the current
    /// toolkit [whole-program-lock].
    pub after_ewp: bool,
}

impl ObjectFacts {
    /// Returns `true` if the file has the header of toolkits up to 12.9.
    pub fn is_legacy(&self) -> bool {
        self.abi[0] != OSABI_CUDA
    }

    /// Returns `true` if the object holds no Mercury, so that its link is one of SASS alone.
    pub fn is_sass_alone(&self) -> bool {
        self.is_legacy() || self.flags & MERCURY_BITS == 0
    }

    /// Returns `true` if nvlink warns that the object lacks the flag of 64-bit addresses, which
    /// only the legacy header has.
    pub fn lacks_64bit_flag(&self) -> bool {
        self.is_legacy() && self.flags & LEGACY_64BIT_ADDRESS == 0
    }
}

/// Of `e_flags` with the current header: the object holds Mercury.
pub const MERCURY_FLAG: u32 = 2;
/// Of `e_flags` with the current header: Mercury alone (1), Mercury beside SASS (2). Files with
/// neither are SASS alone.
pub const MERCURY_BITS: u32 = 3;
/// Of `e_flags` with the legacy header: addresses have 64 bits.
const LEGACY_64BIT_ADDRESS: u32 = 0x400;
/// Of `e_flags` with the legacy header: compilers and linkers set it.
const LEGACY_ALWAYS: u32 = 0x100;
/// Of `e_flags` with the legacy header: made for an `a` variant.
const LEGACY_SPECIFIC: u32 = 0x800;
/// Of `e_flags` with the legacy header: bits of Mercury objects. nvlink takes such a file for one
/// whose ABI version is another, or crashes.
const LEGACY_MERCURY: [u32; 2] = [0x8000_0000, 0x4000];
/// First SM that has an `a` variant.
const FIRST_SPECIFIC_SM: u16 = 90;

/// Returns `e_flags` of an output with the legacy header, for a target and the smallest virtual SM
/// of what is linked.
pub fn legacy_flags(target: Target, virtual_sm: u16) -> u32 {
    let specific = match target.suffix {
        Suffix::Specific => LEGACY_SPECIFIC,
        _ => 0,
    };
    let sm = u32::from(target.sm) | u32::from(virtual_sm) << 16;
    sm | LEGACY_64BIT_ADDRESS | LEGACY_ALWAYS | specific
}

/// Why an object does not fit the target (layer 3). [`ArchitectureError::message`] is
/// nvlink's wording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchitectureError {
    /// OSABI or ABI version of another generation.
    Abi {
        /// `e_ident[EI_OSABI]`.
        osabi: u8,
        /// `e_ident[EI_ABIVERSION]`.
        version: u8,
    },
    /// Code for an `a` architecture, which only a link for that takes.
    Specific,
    /// Another SM.
    Sm {
        /// SM of the object.
        found: u16,
        /// Target of the link.
        target: Target,
    },
    /// Older than any toolkit that this linker can link.
    TooOld,
    /// Newer than this linker knows.
    TooNew {
        /// Toolkit of the object: major * 10 + minor.
        found: u32,
        /// That of the link.
        known: u32,
    },
    /// An EWP object, or an object that meets one, of another toolkit.
    EwpToolkit,
    /// Flags of Mercury objects on an object that cannot be one. nvlink crashes for some of them.
    MercuryFlags {
        /// `e_flags`.
        flags: u32,
    },
}

impl ArchitectureError {
    /// Returns nvlink's wording for an input of this name.
    pub fn message(&self, file: &str) -> String {
        match self {
            ArchitectureError::Abi { .. } => format!("Input file '{file}' abi does not match"),
            ArchitectureError::Specific => {
                "cannot link accelerated arch to non-accelerated".to_owned()
            }
            ArchitectureError::Sm { target, .. } => {
                format!("Input file '{file}' arch does not match target '{target}'")
            }
            ArchitectureError::TooOld => {
                format!("Input file '{file}' must be recompiled with toolkit >= Cuda 12.0")
            }
            ArchitectureError::TooNew { found, known } => {
                format!("Input file '{file}' newer than toolkit ({found} vs {known})")
            }
            ArchitectureError::EwpToolkit => {
                "linking with -ewp objects requires using current toolkit".to_owned()
            }
            ArchitectureError::MercuryFlags { .. } => "Internal error".to_owned(),
        }
    }
}

/// Checks layer 3: the architecture, then the toolkit, in nvlink's order.
pub fn validate_architecture(
    facts: &ObjectFacts,
    (toolkit, target): (&Toolkit, Target),
) -> Result<(), ArchitectureError> {
    let ([osabi, version], flags) = (facts.abi, facts.flags);
    let legacy = facts.is_legacy();
    let expected = if legacy {
        ABI_VERSION_LEGACY
    } else {
        ABI_VERSION
    };
    let [mercury, mercury_sass] = LEGACY_MERCURY;
    if version != expected || legacy && flags & mercury != 0 {
        return Err(ArchitectureError::Abi { osabi, version });
    }
    let (found, specific) = if legacy {
        let found = (flags & 0xff) as u16;
        (
            found,
            found >= FIRST_SPECIFIC_SM && flags & LEGACY_SPECIFIC != 0,
        )
    } else {
        (((flags >> 8) & 0xffff) as u16, facts.specific)
    };
    // [specific-for-itself]
    if toolkit.has(&behaviours::messages::SPECIFIC_FOR_ITSELF)
        && specific
        && target.suffix != Suffix::Specific
    {
        return Err(ArchitectureError::Specific);
    }
    let is_finalized =
        target.is_mercury() && !legacy && (flags & MERCURY_FLAG != 0 || facts.after_mercury);
    let fits = if is_finalized {
        can_finalize(toolkit, facts.profile.as_ref(), found, target.sm).is_ok()
    } else {
        toolkit.accepts(target, found, specific)
    };
    if !fits {
        return Err(ArchitectureError::Sm { found, target });
    }
    if facts.toolkit > toolkit.number {
        return Err(ArchitectureError::TooNew {
            found: facts.toolkit,
            known: toolkit.number,
        });
    }
    if found == 90 && facts.toolkit < toolkit.oldest_number {
        return Err(ArchitectureError::TooOld);
    }
    if (facts.after_ewp || facts.e_type == ET_EWP) && facts.toolkit != toolkit.number {
        return Err(ArchitectureError::EwpToolkit);
    }
    let wrong_flags = if legacy {
        flags & mercury_sass != 0
    } else {
        !target.is_mercury() && flags & MERCURY_FLAG != 0
    };
    if wrong_flags {
        return Err(ArchitectureError::MercuryFlags { flags });
    }
    Ok(())
}

/// When the finalizer looks at a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinalizerStage {
    /// Before the link: the file must not be finalized yet.
    PreLink,
    /// After the link: the file must hold machine code.
    PostLink,
}

/// Layer 4 failed. nvlink says "Internal error".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the finalizer cannot take a file with e_flags {flags:#x} {}", match stage {
    FinalizerStage::PreLink => "before the link: it is finalized already",
    FinalizerStage::PostLink => "after the link: it holds no machine code",
})]
pub struct FinalizerError {
    /// `e_flags` of the file.
    pub flags: u32,
    /// The stage at which it was looked at.
    pub stage: FinalizerStage,
}

/// Checks layer 4: the finalizer's precondition. `e_flags` bit 1 says Mercury-capable, bit 2
/// classic SASS.
pub fn validate_finalizer(flags: u32, stage: FinalizerStage) -> Result<(), FinalizerError> {
    let holds = match stage {
        FinalizerStage::PreLink => flags & 4 == 0,
        FinalizerStage::PostLink => flags & 6 != 0,
    };
    if holds {
        Ok(())
    } else {
        Err(FinalizerError { flags, stage })
    }
}

#[cfg(test)]
mod tests;
