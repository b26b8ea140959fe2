//! A file by its headers: sections with names and bytes, symbols, rows.

use std::ops::Range;

use zerocopy::FromBytes;
use zerocopy::little_endian::U32;

use super::Findings;
use super::Rule;
use crate::raw::*;
use crate::target::section_types::SectionFlags;
use crate::target::section_types::is_no_bits;
use crate::target::section_types::sht;
use crate::validate::Headers;

/// A section.
#[derive(Clone, Copy, Debug)]
pub struct ViewSection<'data> {
    /// Its header.
    pub header: &'data SectionHeader,
    /// Its name.
    pub name: &'data [u8],
    /// Its bytes in the file; none for NOBITS.
    pub bytes: &'data [u8],
}

impl ViewSection<'_> {
    /// Returns `sh_type`.
    pub fn ty(&self) -> u32 {
        self.header.ty.get()
    }

    /// Returns `sh_flags`.
    pub fn flags(&self) -> SectionFlags {
        self.header.flags()
    }

    /// Returns `true` if the section belongs to the Mercury view alone.
    pub fn is_mercury(&self) -> bool {
        self.flags().contains(SectionFlags::MERCURY)
    }

    /// Returns `true` if the section holds code.
    pub fn is_code(&self) -> bool {
        let may_hold = matches!(self.ty(), sht::PROGBITS | sht::CUDA_UNIFIED_FUNCTION);
        self.flags().contains(SectionFlags::EXECINSTR) && may_hold
    }
}

/// A file.
#[derive(Clone, Debug)]
pub struct View<'data> {
    /// The whole file.
    pub image: &'data [u8],
    /// Its headers.
    pub headers: Headers<'data>,
    /// Its sections, the null section included.
    pub sections: Vec<ViewSection<'data>>,
    /// Which of them are tables of symbols or of section indices of symbols.
    pub(super) tables: Vec<usize>,
}

/// Returns the tables of symbols, and of section indices of symbols, among some sections.
fn tables(sections: &[ViewSection<'_>]) -> Vec<usize> {
    let numbered = (0..).zip(sections).filter(|(_, section)| {
        let ty = section.ty();
        matches!(
            ty,
            sht::SYMTAB | sht::CUDA_MERCURY_SYMTAB | sht::SYMTAB_SHNDX
        )
    });
    numbered.map(|(index, _)| index).collect()
}

impl<'data> View<'data> {
    /// Builds the view: the names and bytes of the sections. A name outside of the name table is
    /// reported and left empty.
    pub(super) fn new(
        image: &'data [u8],
        headers: Headers<'data>,
        findings: &mut Findings,
    ) -> Option<Self> {
        let names = bytes_of(image, headers.sections.get(headers.section_names)?);
        let mut sections = Vec::with_capacity(headers.sections.len());
        for (index, header) in headers.sections.iter().enumerate() {
            let name = string_at(names, header.name.get()).unwrap_or_else(|| {
                let what = format!("the name of section {index} is outside of its table");
                findings.report(Rule::Names, b"", None, what);
                b""
            });
            sections.push(ViewSection {
                header,
                name,
                bytes: bytes_of(image, header),
            });
        }
        Some(View {
            image,
            headers,
            tables: tables(&sections),
            sections,
        })
    }

    /// Does the same as [`View::new`] where the names are known.
    pub(super) fn with_names(
        image: &'data [u8],
        headers: Headers<'data>,
        names: impl Iterator<Item = &'data [u8]>,
    ) -> Self {
        let sections = headers.sections.iter().zip(names);
        let sections = sections.map(|(header, name)| ViewSection {
            header,
            name,
            bytes: bytes_of(image, header),
        });
        let sections: Vec<_> = sections.collect();
        View {
            image,
            headers,
            tables: tables(&sections),
            sections,
        }
    }

    /// Returns the section of an index.
    pub fn section(&self, index: u32) -> Option<&ViewSection<'data>> {
        self.sections.get(index as usize)
    }

    /// Returns the sections of a range, each with its row of `rows`, a table with a row for each
    /// section.
    pub(super) fn with<'v, T>(
        &'v self,
        rows: &'v [T],
        range: Range<usize>,
    ) -> impl Iterator<Item = (&'v ViewSection<'data>, &'v T)> {
        self.sections[range.clone()].iter().zip(&rows[range])
    }

    /// Returns `true` if the file can be loaded.
    pub fn is_executable(&self) -> bool {
        self.headers.file.e_type.get() == ET_EXEC
    }

    /// Returns the tables of symbols and of section indices of symbols, with their indices.
    fn numbered_tables(&self) -> impl Iterator<Item = (usize, &ViewSection<'data>)> {
        let tables = self.tables.iter();
        tables.map(|index| (*index, &self.sections[*index]))
    }

    /// Returns the first table of a type: symbols, or section indices of symbols.
    pub fn first(&self, ty: u32) -> Option<(usize, &ViewSection<'data>)> {
        self.numbered_tables().find(|(_, row)| row.ty() == ty)
    }

    /// Returns the rows of a symbol table; a rest that is no row is left out.
    pub fn symbols(&self, table: &ViewSection<'data>) -> &'data [RawSymbol] {
        rows(table.bytes)
    }

    /// Returns the rows of the table of section indices that belongs to a symbol table; none
    /// without one.
    pub fn index_rows(&self, table: usize) -> &'data [U32] {
        let belongs = |row: &ViewSection<'data>| {
            row.ty() == sht::SYMTAB_SHNDX && row.header.link.get() as usize == table
        };
        let found = self.numbered_tables().find(|(_, row)| belongs(row));
        found.map_or(&[], |(_, found)| rows(found.bytes))
    }

    /// Returns the name of a symbol, from the table that its own is linked to.
    pub fn symbol_name(
        &self,
        table: &ViewSection<'data>,
        symbol: &RawSymbol,
    ) -> Option<&'data [u8]> {
        let names = self.section(table.header.link.get())?;
        string_at(names.bytes, symbol.name.get())
    }
}

/// Returns the bytes of a section; none for NOBITS.
fn bytes_of<'data>(image: &'data [u8], header: &SectionHeader) -> &'data [u8] {
    if is_no_bits(header.ty.get(), header.flags()) || header.ty.get() == sht::NULL {
        return &[];
    }
    let start = header.offset.get() as usize;
    let end = start.saturating_add(header.size.get() as usize);
    image.get(start..end).unwrap_or(&[])
}

/// Returns the index of a symbol's section, from the rows of the table of section indices where
/// `st_shndx` does not hold it.
pub fn section_of(symbol: &RawSymbol, index: usize, rows: &[U32]) -> u32 {
    match (symbol.shndx.get(), rows.get(index)) {
        (SHN_XINDEX, Some(row)) => row.get(),
        (place, _) => place.into(),
    }
}

/// Returns the whole rows of a table.
pub fn rows<T: FromBytes + zerocopy::Immutable + zerocopy::KnownLayout>(bytes: &[u8]) -> &[T] {
    let count = bytes.len() / size_of::<T>().max(1);
    <[T]>::ref_from_prefix_with_elems(bytes, count).map_or(&[], |(rows, _)| rows)
}
