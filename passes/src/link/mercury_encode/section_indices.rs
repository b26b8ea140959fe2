//! Section indices of symbols where 16 bits do not hold them.
//!
//! The view that was laid out has a `.symtab_shndx` if the classic linker needs one; the Mercury
//! view then has a clone of it. If only the whole file has too many sections, both tables are
//! added: one after the view, one in front of `.nv.merc.symtab`, each with a row for every symbol
//! of the SASS view.

use cuweld_elf::raw::SHN_LORESERVE;
use cuweld_elf::raw::SHN_XINDEX;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::plan::PlanContent;
use cuweld_ir::plan::PlanSection;

use super::Encode;
use super::segments::NAMES_GAP;

/// The tables of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IndexTables {
    /// There are none.
    None,
    /// The view has one, at this index.
    Cloned(u32),
    /// Both are added.
    Added {
        /// Index of `.nv.merc.symtab_shndx`.
        mercury: u32,
    },
}

/// Returns `st_shndx` of a symbol in the section with this index, and its row, which is `other`
/// where it is not needed. Indices above 0xff00 always have a row.
fn fields(index: u32, other: u32) -> (u16, u32) {
    match u16::try_from(index) {
        Ok(index @ ..=SHN_LORESERVE) => (index, other),
        _ => (SHN_XINDEX, index),
    }
}

impl<'data> Encode<'_, 'data> {
    /// Returns the table of the view, if it has one.
    pub(super) fn classic_index_table(&self) -> Option<u32> {
        let mut sections = (0..).zip(&self.plan.sections[..self.view]);
        sections
            .find(|(_, section)| section.ty == sht::SYMTAB_SHNDX)
            .map(|(index, _)| index)
    }

    /// Returns the rows of the table of the view.
    pub(super) fn classic_rows(&self) -> Vec<u32> {
        let IndexTables::Cloned(index) = self.index_tables else {
            return Vec::new();
        };
        let PlanContent::Bytes(bytes) = self.plan.sections[index as usize].content else {
            return Vec::new();
        };
        let (words, _) = bytes.as_chunks::<4>();
        words.iter().map(|word| u32::from_le_bytes(*word)).collect()
    }

    /// Returns the number of bytes that are left after the names of sections, in which the names of
    /// added tables would fit.
    pub(super) fn names_gap(&self) -> u64 {
        match self.index_tables {
            IndexTables::Added { .. } => 0,
            _ => NAMES_GAP,
        }
    }

    /// Adds the table of the SASS view after the sections of the view. Its rows come later.
    pub(super) fn added_index_table(&mut self) {
        if matches!(self.index_tables, IndexTables::Added { .. }) {
            let table = index_table(b".symtab_shndx", SectionFlags::empty(), SYMBOLS);
            self.plan.sections.push(table);
        }
    }

    /// Adds the table of the Mercury view, if it is one of those that are added. Its rows come later.
    pub(super) fn added_mercury_table(&mut self) {
        if matches!(self.index_tables, IndexTables::Added { .. }) {
            let table = index_table(MERCURY_TABLE, SectionFlags::MERCURY, self.mercury_symbols);
            self.plan.sections.push(table);
        }
    }

    /// Returns `st_shndx` of a symbol and its row.
    pub(super) fn index_fields(&self, index: u32, other: u32) -> (u16, u32) {
        match self.index_tables {
            IndexTables::None => (index as u16, 0),
            _ => fields(index, other),
        }
    }

    /// Writes the rows of both tables.
    pub(super) fn index_rows(&mut self, sass: &[u32], mercury: Vec<u32>) {
        let (first, second) = match self.index_tables {
            IndexTables::None => return,
            IndexTables::Cloned(index) => (index, self.twin_of(index)),
            IndexTables::Added { mercury } => (self.view as u32, mercury),
        };
        let mut mercury = mercury;
        if matches!(self.index_tables, IndexTables::Added { .. }) {
            mercury.resize(sass.len(), 0);
        }
        for (index, rows) in [(first, sass), (second, &mercury)] {
            let bytes: Vec<u8> = rows.iter().flat_map(|row| row.to_le_bytes()).collect();
            let section = &mut self.plan.sections[index as usize];
            section.size = bytes.len() as u64;
            section.content = PlanContent::Bytes(self.arena.bytes(&bytes));
        }
    }
}

/// Index of `.symtab`.
const SYMBOLS: u32 = 3;

/// The table of the Mercury view.
const MERCURY_TABLE: &[u8] = b".nv.merc.symtab_shndx";

fn index_table(name: &'static [u8], flags: SectionFlags, link: u32) -> PlanSection<'static> {
    PlanSection {
        name,
        name_offset: 0,
        ty: sht::SYMTAB_SHNDX,
        flags,
        offset: 0,
        size: 0,
        link,
        info: 0,
        align: 4,
        entsize: 4,
        content: PlanContent::None,
    }
}

#[cfg(test)]
mod tests {
    use super::fields;

    /// Compares rows of files that nvlink wrote, of up to 140820 sections.
    #[test]
    fn indices_above_0xff00_stand_in_the_row() {
        assert_eq!(fields(0xff00, 7), (0xff00, 7));
        assert_eq!(fields(0xff01, 7), (0xffff, 0xff01));
        assert_eq!(fields(0xfff2, 0), (0xffff, 0xfff2));
        assert_eq!(fields(0xffff, 0), (0xffff, 0xffff));
        assert_eq!(fields(0x1_3eb3, 9), (0xffff, 0x1_3eb3));
    }
}
