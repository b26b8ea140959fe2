//! `.nv.merc.nv.shared.reserved.0`: memory without bytes, to which nvlink gives some.
//!
//! nvlink copies what lies at its place in the file of the Mercury view that it makes first. That file has no bytes for
//! it, so that what lies there is padding and, at the end of the file, the first headers of sections (measured).

use cuweld_ir::elf::layout::align_up;
use cuweld_ir::elf::raw::FileHeader;
use cuweld_ir::elf::raw::SectionHeader;
use cuweld_ir::target::section_types::is_no_bits;
use cuweld_ir::target::section_types::sht;
use zerocopy::IntoBytes;

use super::Encode;
use super::RESERVED_SHARED;

/// Up to this alignment in bytes the place of the headers does not depend on what comes before.
const OWN_ALIGN: u64 = 16;

impl Encode<'_, '_> {
    /// The bytes of the section in the file of the Mercury view; `None` if their place is not known.
    pub(super) fn reserved_bytes(&self, size: u64) -> Option<Vec<u8>> {
        let view = &self.plan.sections[..self.view];
        let own = view
            .iter()
            .position(|section| section.name == RESERVED_SHARED)?;
        // Offsets count from the last code, whose alignment and size in the view are known.
        let code = self.functions.iter().rposition(Option::is_some);
        let known = code.map_or(OWN_ALIGN, |index| view[index].align.max(OWN_ALIGN));
        let mut offset = code
            .and_then(|index| self.functions[index])
            .map_or(0, |function| self.module.functions[function].merc_size);
        let first = code.map_or(own, |index| index + 1);
        let mut start = 0;
        for (index, section) in view.iter().enumerate().skip(first) {
            if section.align > known {
                return None;
            }
            offset = align_up(offset, section.align);
            if index == own {
                start = offset;
            }
            if !is_no_bits(section.ty, section.flags) {
                offset = offset.saturating_add(section.size);
            }
        }
        let padding = usize::try_from(align_up(offset, 8).checked_sub(start)?).ok()?;
        let length = usize::try_from(size).ok()?;
        let first_header = SectionHeader {
            name: view.get(1)?.name_offset.into(),
            ty: sht::STRTAB.into(),
            offset: (size_of::<FileHeader>() as u64).into(),
            size: (self.plan.section_names.len() as u64).into(),
            align: 1.into(),
            ..Default::default()
        };
        let mut bytes = vec![0; padding + size_of::<SectionHeader>()];
        bytes.extend_from_slice(first_header.as_bytes());
        (length <= bytes.len()).then(|| {
            bytes.truncate(length);
            bytes
        })
    }
}
