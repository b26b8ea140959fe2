//! Section indices of symbols, in `st_shndx` and in `.symtab_shndx`.
//!
//! A row of `.symtab_shndx` holds the index if `st_shndx` cannot; else what nvlink left there: the
//! number of the section in the order of creation. 0xfff2 means tentative definitions: a section
//! with that index has it as it is, and in relocatable output one with that number too
//! [index-of-tentative].

use cuweld_elf::raw::SHN_COMMON;
use cuweld_elf::raw::SHN_LORESERVE;
use cuweld_elf::raw::SHN_XINDEX;

use super::Finish;
use super::OutId;

/// Returns `st_shndx` and the row of `.symtab_shndx` of a symbol in a section.
fn fields(index: u32, number: u32, relocatable: bool) -> (u16, u32) {
    match u16::try_from(index) {
        Ok(0) => (0, 0),
        _ if relocatable && number == u32::from(SHN_COMMON) => (SHN_COMMON, number),
        Ok(SHN_COMMON) => (SHN_COMMON, number),
        Ok(index @ ..SHN_LORESERVE) => (index, number),
        _ => (SHN_XINDEX, index),
    }
}

impl Finish<'_, '_> {
    /// Returns the `st_shndx` of a symbol that is in this section or in none, and its row of
    /// `.symtab_shndx`, if there is one.
    pub(super) fn symbol_section(&self, section: Option<OutId>) -> (u16, u32) {
        let index = section.map_or(0, |id| self.section_index[id]);
        let relocatable = self.module.options.relocatable;
        // Without a table of indices the number shows in relocatable output alone.
        let shows_number = relocatable || self.out.needs_index_table();
        let number = section
            .filter(|_| shows_number)
            .map_or(0, |id| self.out.sections[id].number);
        fields(index, number, relocatable)
    }
}

#[cfg(test)]
mod tests {
    use super::fields;

    /// Compares rows of files that nvlink wrote, of 67015 sections.
    #[test]
    fn indices_stand_where_nvlink_puts_them() {
        for (index, number, relocatable, expected) in [
            (0, 0, true, (0, 0)),
            (0x82e9, 0x9, true, (0x82e9, 0x9)),
            (0x82e6, 0x105c6, true, (0x82e6, 0x105c6)),
            (0xff00, 0x7c20, true, (0xffff, 0xff00)),
            (0xfff1, 0x7d11, true, (0xffff, 0xfff1)),
            (0xfff2, 0x7d12, true, (0xfff2, 0x7d12)),
            (0xfff2, 0x6c6f, false, (0xfff2, 0x6c6f)),
            (0x105c5, 0x7e00, true, (0xffff, 0x105c5)),
            (0x131ee, 0xfff2, false, (0xffff, 0x131ee)),
            (0x5fc6, 0xfff2, false, (0x5fc6, 0xfff2)),
            (0xa2b1, 0xfff2, true, (0xfff2, 0xfff2)),
        ] {
            assert_eq!(fields(index, number, relocatable), expected, "{index:#x}");
        }
    }
}
