//! The headers of a device ELF, as far as they lie within the file.

use cuweld_elf::raw::FileHeader;
use cuweld_elf::raw::ProgramHeader;
use cuweld_elf::raw::SHN_XINDEX;
use cuweld_elf::raw::SectionHeader;
use cuweld_elf::raw::string_at;
use cuweld_elf::target::section_types::is_no_bits;
use cuweld_elf::validate::StructureError;
use cuweld_elf::validate::validate_extent;
use cuweld_elf::validate::validate_structure;
use zerocopy::FromBytes;
use zerocopy::Immutable;
use zerocopy::KnownLayout;

use crate::inspect::name::Name;

/// The headers, and the file that they speak of.
#[derive(Clone, Copy)]
pub(super) struct View<'data> {
    pub(super) image: &'data [u8],
    pub(super) file: &'data FileHeader,
    pub(super) sections: &'data [SectionHeader],
    pub(super) segments: &'data [ProgramHeader],
}

impl<'data> View<'data> {
    /// Reads the headers. A sound file gives no error; a damaged one gives as many whole headers as
    /// it has. Ranges of sections are reported by section, when their bytes are asked for.
    pub(super) fn read(
        image: &'data [u8],
    ) -> Result<(Self, Option<StructureError>), StructureError> {
        let checked = validate_structure(image);
        if let Ok(headers) = checked {
            let view = View {
                image,
                file: headers.file,
                sections: headers.sections,
                segments: headers.segments,
            };
            return Ok((view, validate_extent(&headers, image.len() as u64).err()));
        }
        let error = checked.err();
        if let Some(
            fatal @ (StructureError::NotElf
            | StructureError::Not64Bit
            | StructureError::NotLittleEndian),
        ) = error
        {
            return Err(fatal);
        }
        let (file, _) = FileHeader::ref_from_prefix(image).map_err(|_| StructureError::NotElf)?;
        let mut view = View {
            image,
            file,
            sections: &[],
            segments: &[],
        };
        if file.phentsize.get() == 56 {
            view.segments = rows(image, file.phoff.get(), file.phnum.get().into());
        }
        if file.shentsize.get() == 64 && file.shoff.get() != 0 {
            let mut count = u64::from(file.shnum.get());
            if count == 0 {
                let first: &[SectionHeader] = rows(image, file.shoff.get(), 1);
                count = first.first().map_or(0, |header| header.size.get());
            }
            view.sections = rows(image, file.shoff.get(), count);
        }
        let by_section = matches!(
            error,
            Some(StructureError::SectionRange { .. })
                | Some(StructureError::Overflow {
                    what: "section",
                    ..
                })
        );
        Ok((view, error.filter(|_| !by_section)))
    }

    /// Returns the bytes of a section; none if they lie outside of the file.
    pub(super) fn bytes(&self, header: &SectionHeader) -> Option<&'data [u8]> {
        if is_no_bits(header.ty.get(), header.flags()) || header.ty.get() == 0 {
            return Some(&[]);
        }
        let start = usize::try_from(header.offset.get()).ok()?;
        let size = usize::try_from(header.size.get()).ok()?;
        self.image.get(start..start.checked_add(size)?)
    }

    /// Returns the bytes of the section with this index.
    pub(super) fn bytes_at(&self, index: u32) -> Option<&'data [u8]> {
        self.bytes(self.sections.get(index as usize)?)
    }

    /// Returns the name of a section.
    pub(super) fn name(&self, index: u32) -> Option<Name<'data>> {
        let header = self.sections.get(index as usize)?;
        let names = match (self.file.shstrndx.get(), self.sections.first()) {
            (SHN_XINDEX, Some(null)) => null.link.get(),
            (index, _) => index.into(),
        };
        let names = self.bytes_at(names)?;
        string_at(names, header.name.get()).map(Name)
    }
}

/// Returns as many of `count` rows as lie within the file.
fn rows<T: FromBytes + Immutable + KnownLayout>(image: &[u8], offset: u64, count: u64) -> &[T] {
    let bytes = usize::try_from(offset)
        .ok()
        .and_then(|start| image.get(start..))
        .unwrap_or_default();
    let there = bytes.len() / size_of::<T>().max(1);
    let count = usize::try_from(count).unwrap_or(usize::MAX).min(there);
    match <[T]>::ref_from_prefix_with_elems(bytes, count) {
        Ok((rows, _)) => rows,
        Err(_) => &[],
    }
}
