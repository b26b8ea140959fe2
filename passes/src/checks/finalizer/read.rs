//! What the finalizer looks at in a file.

use cuweld_elf::finalize::Profile;
use cuweld_elf::raw::ABI_VERSION;
use cuweld_elf::raw::ABI_VERSION_LEGACY;
use cuweld_elf::raw::EM_CUDA;
use cuweld_elf::raw::OSABI_CUDA;
use cuweld_elf::raw::SectionHeader;
use cuweld_elf::target::compat;
use cuweld_elf::target::section_types::is_no_bits;
use cuweld_elf::target::section_types::sht;
use cuweld_elf::validate::Headers;
use cuweld_elf::validate::StructureError;
use cuweld_elf::validate::headers_of_sound;
use cuweld_elf::validate::validate_extent;
use cuweld_elf::validate::validate_structure;
use cuweld_ir::attribute::format;

use super::FinalizerError;

/// A file as the finalizer sees it.
#[derive(Clone, Copy)]
pub(super) struct Input {
    pub(super) e_type: u16,
    pub(super) flags: u32,
    pub(super) osabi: u8,
    pub(super) abi_version: u8,
    pub(super) sm: u16,
    pub(super) profile: Option<Profile>,
}

impl Input {
    /// Reads a file, which may be damaged.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, FinalizerError> {
        let headers = match validate_structure(bytes) {
            Err(StructureError::NotElf) => return Err(FinalizerError::NotElf),
            Err(error) => return Err(FinalizerError::Damaged(error)),
            Ok(headers) => headers,
        };
        if headers.file.machine.get() != EM_CUDA {
            return Err(FinalizerError::NotDeviceElf);
        }
        validate_extent(&headers, bytes.len() as u64).map_err(FinalizerError::Damaged)?;
        // What has no section has no names of sections.
        if headers.sections.is_empty() {
            return Err(FinalizerError::NotElf);
        }
        Ok(Self::of_headers(bytes, &headers))
    }

    /// Reads the image of an object of a link, which was read before.
    pub(super) fn of_object(image: &[u8]) -> Result<Self, FinalizerError> {
        match headers_of_sound(image) {
            Ok(headers) if !headers.sections.is_empty() => Ok(Self::of_headers(image, &headers)),
            _ => Self::read(image),
        }
    }

    fn of_headers(bytes: &[u8], headers: &Headers<'_>) -> Self {
        let file = headers.file;
        let (flags, osabi) = (file.flags.get(), file.ident[7]);
        let sm = if osabi == OSABI_CUDA {
            (flags >> 8 & 0xffff) as u16
        } else {
            (flags & 0xff) as u16
        };
        Input {
            e_type: file.e_type.get(),
            flags,
            osabi,
            abi_version: file.ident[8],
            sm,
            profile: profile_by(bytes, headers),
        }
    }

    /// Returns `true` if the header is one of the two that compilers write.
    pub(super) fn has_known_header(&self) -> bool {
        match self.osabi {
            OSABI_CUDA => self.abi_version == ABI_VERSION,
            _ => matches!(self.abi_version, ABI_VERSION_LEGACY | 0),
        }
    }

    /// Returns `true` if the file has the header of toolkits up to 12.9.
    pub(super) fn is_legacy(&self) -> bool {
        self.osabi != OSABI_CUDA
    }

    /// Returns `true` if the file holds SASS alone.
    pub(super) fn is_sass(&self) -> bool {
        self.is_legacy() || self.flags & 3 == 0
    }

    /// Returns `true` if the file holds Mercury alone.
    pub(super) fn is_bare_mercury(&self) -> bool {
        self.osabi == OSABI_CUDA && self.flags & 3 == 1
    }
}

fn profile_by(image: &[u8], headers: &Headers<'_>) -> Option<Profile> {
    let bytes = |header: &SectionHeader| {
        if is_no_bits(header.ty.get(), header.flags()) || header.ty.get() == sht::NULL {
            return &[][..];
        }
        let start = header.offset.get() as usize;
        let end = start.saturating_add(header.size.get() as usize);
        image.get(start..end).unwrap_or(&[])
    };
    let names = bytes(headers.sections.get(headers.section_names)?);
    let is_compat = |header: &&SectionHeader| {
        let name = names.get(header.name.get() as usize..);
        let name = name.and_then(|name| name.strip_prefix(compat::SECTION));
        name.is_some_and(|end| end.first() == Some(&0))
    };
    let mut rest = bytes(headers.sections.iter().find(is_compat)?);
    Some(Profile::of_records(std::iter::from_fn(|| {
        let [form, code, low, high, payload @ ..] = rest else {
            return None;
        };
        let value = u16::from_le_bytes([*low, *high]);
        let size = if *form == format::SVAL {
            value.into()
        } else {
            0
        };
        let (body, behind) = payload.split_at_checked(size).unwrap_or((payload, &[]));
        rest = behind;
        Some((*code, value, body))
    })))
}
