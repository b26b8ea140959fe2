//! Patches: bytes of a section that change without a relocation.
//!
//! A patch is a fixup without a cause. Contents stay as they are; `relocate` keeps patches beside
//! the fixups of relocations, and the writer applies both. What reads code or constants in order to
//! decide by them reads [`Module::patched_bytes`].

use std::borrow::Cow;

use thiserror::Error;

use crate::elf::write::apply_all;
use crate::ids::*;
use crate::module::Module;
use crate::module::Phase;
use crate::reloc::Fixup;
use crate::section::Section;
use crate::section::SectionContent;
use crate::table::EntityId;
use crate::verify::overlaps;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::constant_bank;
use cuweld_elf::target::section_types::sht;

/// Bits of a word.
const WORD: u64 = 64;

/// A change of some bytes or of a field of bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    section: SectionId,
    /// Bits that change, by word.
    fields: Vec<Field>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Field {
    /// Offset in bytes of the word.
    offset: u64,
    bit: u8,
    width: u8,
    value: u64,
}

impl Patch {
    /// Builds a patch of the bytes from `offset` on.
    pub fn bytes(section: SectionId, offset: u64, bytes: &[u8]) -> Self {
        let field = |(word, bytes): (u64, &[u8])| {
            let value = bytes
                .iter()
                .rev()
                .fold(0, |value, byte| value << 8 | u64::from(*byte));
            Field {
                offset: offset.saturating_add(word * 8),
                bit: 0,
                width: 8 * bytes.len() as u8,
                value,
            }
        };
        Patch {
            section,
            fields: (0..).zip(bytes.chunks(8)).map(field).collect(),
        }
    }

    /// Builds a patch of a field of `width` bits, at most 64, whose first bit is `bit`, counted from
    /// the least significant bit of the byte at `offset`. Bits of `value` beyond the field do not
    /// count.
    pub fn field(section: SectionId, offset: u64, bit: u32, width: u32, value: u64) -> Self {
        let mut fields = Vec::new();
        let (mut bit, mut left, mut value) = (u64::from(bit), u64::from(width.min(64)), value);
        while left > 0 {
            // A word has no more bits than are left in it.
            let room = left.min(WORD - bit % WORD);
            fields.push(Field {
                offset: offset.saturating_add(bit / WORD * 8),
                bit: (bit % WORD) as u8,
                width: room as u8,
                value,
            });
            value = value.checked_shr(room as u32).unwrap_or(0);
            (bit, left) = (bit + room, left - room);
        }
        Patch { section, fields }
    }

    fn fixups(&self) -> impl Iterator<Item = Fixup> {
        self.fields.iter().map(|field| Fixup {
            section: self.section,
            offset: field.offset,
            bit: field.bit,
            width: field.width,
            value: field.value,
            add: false,
            cause: None,
        })
    }
}

/// Why bytes cannot be patched. The module is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PatchError {
    /// The file is written.
    #[error("the module is '{}': its file is written", .0.name())]
    TooLate(Phase),
    /// The section does not exist.
    #[error("there is no section {0}")]
    NoSection(SectionId),
    /// The bytes of the section in the output are not copied from its contents: a table of the
    /// linker, debug information, memory without contents.
    #[error("{0} is neither code nor data with contents")]
    NotCopied(SectionId),
    /// The link merges code as Mercury, from which SASS is made again.
    #[error("{0} is part of a link of Mercury, from which the driver makes SASS anew")]
    Mercury(SectionId),
    /// The constants of the section lie in a pool already.
    #[error("the constants of {0} lie in a pool")]
    Pooled(SectionId),
    /// The patch does not lie within the section.
    #[error("offset {offset:#x} of {section} is out of bounds: it has {size:#x} bytes")]
    OutOfBounds {
        /// The section.
        section: SectionId,
        /// Where the word begins that does not lie within it.
        offset: u64,
        /// Its size in bytes.
        size: u64,
    },
    /// A relocation that is not dropped changes the same bits.
    #[error("{reloc} changes the bits of {section} at offset {offset:#x}, too")]
    Relocated {
        /// The section.
        section: SectionId,
        /// Where the word begins.
        offset: u64,
        /// The relocation.
        reloc: RelocId,
    },
}

impl<'data> Module<'data> {
    /// Changes bytes of code and data; allowed until `emitted`. A later patch of the same bits wins.
    /// Linear in the module for all patches together.
    pub fn patch(&mut self, patches: &[Patch]) -> Result<(), PatchError> {
        if self.phase >= Phase::Emitted {
            return Err(PatchError::TooLate(self.phase));
        }
        let is_capmerc = self.is_capmerc();
        let mut pooled = vec![false; self.sections.len()];
        for part in &self.pool_parts {
            if let Some(pooled) = pooled.get_mut(part.section.index()) {
                *pooled = true;
            }
        }
        for patch in patches {
            let is_pooled = pooled.get(patch.section.index()) == Some(&true);
            self.check_patch(patch, is_capmerc, is_pooled)?;
        }
        let added: Vec<Fixup> = patches.iter().flat_map(Patch::fixups).collect();
        if let Some((place, reloc)) = overlaps(self, &added).into_iter().next() {
            let fixup = added.get(place).copied().unwrap_or_default();
            return Err(PatchError::Relocated {
                section: fixup.section,
                offset: fixup.offset,
                reloc,
            });
        }
        self.fixups.extend(added);
        self.fixups.sort_by_key(|fixup| fixup.section);
        Ok(())
    }

    fn check_patch(
        &self,
        patch: &Patch,
        is_capmerc: bool,
        is_pooled: bool,
    ) -> Result<(), PatchError> {
        let id = patch.section;
        let section = self.sections.get(id).ok_or(PatchError::NoSection(id))?;
        let SectionContent::Bytes(bytes) = section.content else {
            return Err(PatchError::NotCopied(id));
        };
        if !is_copied(section) {
            return Err(PatchError::NotCopied(id));
        }
        if is_capmerc {
            return Err(PatchError::Mercury(id));
        }
        if is_pooled {
            return Err(PatchError::Pooled(id));
        }
        let size = bytes.len() as u64;
        for field in &patch.fields {
            let bits = u64::from(field.bit) + u64::from(field.width);
            let end = field.offset.checked_add(bits.div_ceil(8));
            if end.is_none_or(|end| end > size) {
                return Err(PatchError::OutOfBounds {
                    section: id,
                    offset: field.offset,
                    size,
                });
            }
        }
        Ok(())
    }

    /// Returns the contents of a section with its patches; relocations are not applied.
    pub fn patched_bytes(&self, section: SectionId) -> Cow<'data, [u8]> {
        let Some(SectionContent::Bytes(bytes)) = self.sections.get(section).map(|row| row.content)
        else {
            return Cow::Borrowed(&[]);
        };
        let start = self.fixups.partition_point(|row| row.section < section);
        let patches = self.fixups.get(start..).unwrap_or(&[]).iter();
        let patches = patches.take_while(|row| row.section == section);
        let patches: Vec<Fixup> = patches.filter(|row| row.cause.is_none()).copied().collect();
        if patches.is_empty() {
            return Cow::Borrowed(bytes);
        }
        let mut bytes = bytes.to_vec();
        // One that does not lie in the section changes nothing; the verifier reports it.
        let _ = apply_all(&mut bytes, 0, &patches);
        Cow::Owned(bytes)
    }
}

/// Returns `true` if the output has the contents of a section as they are, but for fixups.
fn is_copied(section: &Section<'_>) -> bool {
    let name = section.name;
    let is_debug = name.starts_with(b".debug_") || name.starts_with(b".nv_debug_");
    let is_data = section.ty == sht::CUDA_GLOBAL_INIT
        || section.ty == sht::PROGBITS
        || constant_bank(section.ty).is_some();
    let is_code = section.flags.contains(SectionFlags::EXECINSTR);
    !is_debug && (is_code || is_data) && !section.flags.contains(SectionFlags::MERCURY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_cut_into_words() {
        let section = SectionId::new(1);
        let patch = Patch::bytes(section, 4, &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let fields: Vec<_> = patch
            .fields
            .iter()
            .map(|row| (row.offset, row.width, row.value))
            .collect();
        assert_eq!(fields, [(4, 64, 0x0807_0605_0403_0201), (12, 8, 9)]);
        // The field of an instruction that lies in both words.
        let patch = Patch::field(section, 0x20, 60, 8, 0xab);
        let fields: Vec<_> = patch
            .fields
            .iter()
            .map(|row| (row.offset, row.bit, row.width, row.value))
            .collect();
        assert_eq!(fields, [(0x20, 60, 4, 0xab), (0x28, 0, 4, 0xa)]);
        assert_eq!(Patch::field(section, 0, 105, 4, 1).fields[0].offset, 8);
    }
}
