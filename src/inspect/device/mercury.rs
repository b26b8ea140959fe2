//! Code of the Mercury view.

use cuweld_elf::mercury::capmerc::Capmerc;
use cuweld_elf::target::section_types::sht;

use super::Decoder;
use crate::inspect::device_model::*;
use crate::inspect::error::SectionDamage;

impl<'data> Decoder<'data> {
    /// Returns the Mercury code of a section, if it holds any; with a finding if it is of another
    /// form, or does not stand for the code of the section that it names.
    pub(super) fn mercury(
        &mut self,
        section: &Section<'data>,
        sections: &[Section<'data>],
    ) -> Option<MercuryCode<'data>> {
        if section.ty.value != sht::CUDA_CAPMERC {
            return None;
        }
        let bytes = self.take(section);
        let parsed = Capmerc::parse(bytes).and_then(|code| {
            let text = sections.get(code.text as usize);
            code.covers(text.map_or(0, |text| text.size))?;
            Ok(code)
        });
        match parsed {
            Ok(code) => Some(MercuryCode {
                section: section.name,
                section_index: section.index,
                code,
            }),
            Err(error) => {
                self.damage(section.index, SectionDamage::Mercury(error));
                None
            }
        }
    }
}
