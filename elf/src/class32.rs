//! ELF32 device files, as the 32-bit toolkits wrote them: the same tables with other records.
//!
//! [`widen`] writes such a file's records as those of ELF64, after the file itself, so that what
//! reads ELF64 reads these too. Contents stay as they are.

use zerocopy::FromBytes;
use zerocopy::Immutable;
use zerocopy::IntoBytes;
use zerocopy::KnownLayout;
use zerocopy::Unaligned;
use zerocopy::little_endian::I32;
use zerocopy::little_endian::U16;
use zerocopy::little_endian::U32;

use super::raw;
use super::validate::StructureError;
use super::validate::validate_structure;
use crate::target::section_types::sht;

/// `e_ident[EI_CLASS]` of ELF32.
pub const CLASS: u8 = 1;

/// The file header, 52 bytes; fields as in [`raw::FileHeader`].
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct FileHeader {
    ident: [u8; 16],
    e_type: U16,
    machine: U16,
    version: U32,
    entry: U32,
    phoff: U32,
    shoff: U32,
    flags: U32,
    ehsize: U16,
    phentsize: U16,
    phnum: U16,
    shentsize: U16,
    shnum: U16,
    shstrndx: U16,
}

/// A section header, 40 bytes; fields as in [`raw::SectionHeader`].
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct SectionHeader {
    name: U32,
    ty: U32,
    flags: U32,
    addr: U32,
    offset: U32,
    size: U32,
    link: U32,
    info: U32,
    align: U32,
    entsize: U32,
}

/// A program header, 32 bytes; fields as in [`raw::ProgramHeader`].
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct ProgramHeader {
    ty: U32,
    offset: U32,
    vaddr: U32,
    paddr: U32,
    filesz: U32,
    memsz: U32,
    flags: U32,
    align: U32,
}

/// A symbol, 16 bytes; fields as in [`raw::RawSymbol`].
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Symbol {
    name: U32,
    value: U32,
    size: U32,
    info: u8,
    other: u8,
    shndx: U16,
}

/// A relocation without addend, 8 bytes: the symbol is in bits 8 to 31 of `info`, the type in bits
/// 0 to 7.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Rel {
    offset: U32,
    info: U32,
}

/// A relocation with addend, 12 bytes.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Rela {
    offset: U32,
    info: U32,
    addend: I32,
}

/// Where the tables are in the file itself.
#[derive(Clone, Debug, Default)]
pub struct Narrow {
    /// `e_phoff`.
    pub phoff: u64,
    /// `e_shoff`.
    pub shoff: u64,
    /// `sh_offset`, `sh_size` and `sh_entsize` of each section.
    pub sections: Vec<(u64, u64, u64)>,
}

/// Returns `true` if the bytes begin like an ELF32 file.
pub fn is_class32(image: &[u8]) -> bool {
    image.starts_with(b"\x7fELF") && image.get(4) == Some(&CLASS)
}

/// Returns `true` if the bytes are a whole ELF32 file. Of such files nvlink says that they do not
/// fit; damaged ones it ignores [elf32-files].
pub fn is_sound_class32(image: &[u8]) -> bool {
    widen(image).is_ok_and(|(wide, narrow)| {
        !narrow.sections.is_empty() && validate_structure(&wide).is_ok()
    })
}

/// How far contents move to make room for the larger header, in bytes.
pub const SHIFT: u64 = (size_of::<raw::FileHeader>() - size_of::<FileHeader>()) as u64;

/// Builds an ELF64 file with the contents of an ELF32 one. Returns it with the places of the ELF32
/// file's tables. Its contents lie [`SHIFT`] bytes farther on, its tables after them. The result is
/// at most a few times as large, however the tables overlap: each section that is widened must have
/// a place of its own.
pub fn widen(image: &[u8]) -> Result<(Vec<u8>, Narrow), StructureError> {
    let (file, rest) = FileHeader::read_from_prefix(image).map_err(|_| StructureError::NotElf)?;
    if !is_class32(image) {
        return Err(StructureError::NotElf);
    }
    if file.ident[5] != 1 {
        return Err(StructureError::NotLittleEndian);
    }
    let segments: &[ProgramHeader] =
        headers(image, "program", file.phoff, file.phnum, file.phentsize)?;
    let sections: &[SectionHeader] =
        headers(image, "section", file.shoff, file.shnum, file.shentsize)?;
    let mut wide = vec![0; size_of::<raw::FileHeader>()];
    wide.extend_from_slice(rest);
    let mut rows = Vec::with_capacity(sections.len());
    let mut narrow = Narrow {
        phoff: file.phoff.get().into(),
        shoff: file.shoff.get().into(),
        sections: Vec::with_capacity(sections.len()),
    };
    // Tables of a sound file do not overlap, so all of them together are no larger than the file.
    let mut budget = image.len();
    for (index, header) in sections.iter().enumerate() {
        let (offset, size) = (u64::from(header.offset.get()), u64::from(header.size.get()));
        narrow
            .sections
            .push((offset, size, header.entsize.get().into()));
        let mut row = raw::SectionHeader {
            name: header.name,
            ty: header.ty,
            flags: u64::from(header.flags.get()).into(),
            addr: u64::from(header.addr.get()).into(),
            offset: (offset + SHIFT).into(),
            size: size.into(),
            link: header.link,
            info: header.info,
            align: u64::from(header.align.get()).into(),
            entsize: u64::from(header.entsize.get()).into(),
        };
        let table = match header.ty.get() {
            sht::SYMTAB | sht::REL | sht::RELA if index != 0 => Some(header.ty.get()),
            _ => None,
        };
        if let Some(ty) = table {
            let bytes = contents(image, header).ok_or(StructureError::SectionRange {
                index: index as u32,
                offset,
                length: size,
                size: image.len() as u64,
            })?;
            budget = budget
                .checked_sub(bytes.len())
                .ok_or(StructureError::Extent {
                    extent: u64::MAX,
                    size: image.len() as u64,
                })?;
            row.offset = (wide.len() as u64).into();
            let before = wide.len();
            let entsize = match ty {
                sht::SYMTAB => append(&mut wide, bytes, symbol),
                sht::REL => append(&mut wide, bytes, rel),
                _ => append(&mut wide, bytes, rela),
            };
            row.size = ((wide.len() - before) as u64).into();
            row.entsize = entsize.into();
        }
        rows.push(row);
    }
    let phoff = wide.len() as u64;
    for header in segments {
        let row = raw::ProgramHeader {
            ty: header.ty,
            flags: header.flags,
            offset: (u64::from(header.offset.get()) + SHIFT).into(),
            vaddr: u64::from(header.vaddr.get()).into(),
            paddr: u64::from(header.paddr.get()).into(),
            filesz: u64::from(header.filesz.get()).into(),
            memsz: u64::from(header.memsz.get()).into(),
            align: u64::from(header.align.get()).into(),
        };
        wide.extend_from_slice(row.as_bytes());
    }
    let shoff = wide.len() as u64;
    wide.extend_from_slice(rows.as_slice().as_bytes());
    let mut ident = file.ident;
    ident[4] = 2;
    let header = raw::FileHeader {
        ident,
        e_type: file.e_type,
        machine: file.machine,
        version: file.version,
        entry: u64::from(file.entry.get()).into(),
        phoff: if segments.is_empty() { 0 } else { phoff }.into(),
        shoff: if rows.is_empty() { 0 } else { shoff }.into(),
        flags: file.flags,
        ehsize: 64.into(),
        phentsize: 56.into(),
        phnum: file.phnum,
        shentsize: 64.into(),
        shnum: file.shnum,
        shstrndx: file.shstrndx,
    };
    if let Some(place) = wide.get_mut(..size_of::<raw::FileHeader>()) {
        place.copy_from_slice(header.as_bytes());
    }
    Ok((wide, narrow))
}

fn headers<'data, T: FromBytes + Immutable + KnownLayout>(
    image: &'data [u8],
    table: &'static str,
    offset: U32,
    count: U16,
    entry: U16,
) -> Result<&'data [T], StructureError> {
    let (offset, count) = (offset.get(), count.get());
    if count == 0 || offset == 0 {
        return Ok(&[]);
    }
    if usize::from(entry.get()) != size_of::<T>() {
        return Err(StructureError::EntrySize {
            table,
            found: entry.get(),
            expected: size_of::<T>() as u16,
        });
    }
    let bytes = image.get(offset as usize..);
    let rows = bytes.and_then(|bytes| <[T]>::ref_from_prefix_with_elems(bytes, count.into()).ok());
    rows.map(|(rows, _)| rows)
        .ok_or(StructureError::TableRange {
            table,
            offset: offset.into(),
            count: count.into(),
            size: image.len() as u64,
        })
}

fn contents<'data>(image: &'data [u8], header: &SectionHeader) -> Option<&'data [u8]> {
    let start = header.offset.get() as usize;
    image.get(start..start.checked_add(header.size.get() as usize)?)
}

/// Appends each whole record, widened; bytes after the last one are appended as they are, so that
/// they are missed by nobody. Returns the size of a widened record.
fn append<T: FromBytes + Immutable + KnownLayout, W: IntoBytes + Immutable>(
    wide: &mut Vec<u8>,
    bytes: &[u8],
    widened: fn(&T) -> W,
) -> u64 {
    let whole = bytes.len() / size_of::<T>().max(1);
    if let Ok((rows, rest)) = <[T]>::ref_from_prefix_with_elems(bytes, whole) {
        for row in rows {
            wide.extend_from_slice(widened(row).as_bytes());
        }
        wide.extend_from_slice(rest);
    }
    size_of::<W>() as u64
}

fn symbol(row: &Symbol) -> raw::RawSymbol {
    raw::RawSymbol {
        name: row.name,
        info: row.info,
        other: row.other,
        shndx: row.shndx,
        value: u64::from(row.value.get()).into(),
        size: u64::from(row.size.get()).into(),
    }
}

fn rel(row: &Rel) -> raw::RawRel {
    raw::RawRel {
        offset: u64::from(row.offset.get()).into(),
        ty: (row.info.get() & 0xff).into(),
        symbol: (row.info.get() >> 8).into(),
    }
}

fn rela(row: &Rela) -> raw::RawRela {
    raw::RawRela {
        offset: u64::from(row.offset.get()).into(),
        ty: (row.info.get() & 0xff).into(),
        symbol: (row.info.get() >> 8).into(),
        addend: i64::from(row.addend.get()).into(),
    }
}
