//! String tables of both views.

use cuweld_diagnostics::codes::mercury;
use cuweld_elf::mercury::Bank;
use foldhash::fast::FixedState;
use hashbrown::HashSet;

use super::Encode;
use super::Refusal;

/// What precedes the names of sections in those of their relocations.
const RELA: &[u8] = b".rela";

impl<'data> Encode<'_, 'data> {
    /// Renames constant banks and appends the names of added sections. The room that names give up
    /// is left between the symbols' names and the symbols: its size in bytes is returned, and for
    /// each section of the view whether it is a constant bank.
    pub(super) fn rename(&mut self) -> (u64, Vec<bool>) {
        let mut gap = 0;
        let mut banks = vec![false; self.view];
        let mut renamed = HashSet::<u32, FixedState>::default();
        for (section, is_bank) in self.plan.sections.iter_mut().zip(&mut banks) {
            let old = section.name;
            let (prefix, bank) = match old.strip_prefix(RELA) {
                Some(rest) => (RELA, rest),
                None => (&b""[..], old),
            };
            let Some((bank, function)) = Bank::of_name(bank) else {
                continue;
            };
            *is_bank = prefix.is_empty();
            // nvlink renames one string twice, and the name of the function is gone.
            if !renamed.insert(section.name_offset) {
                let what = mercury::CONSTANTS_NAME;
                self.refusals.push(Refusal::new(what, None));
            }
            let new = [prefix, bank.sass, function].concat();
            section.name = self.arena.bytes(&new);
            let start = section.name_offset as usize;
            if let Some(place) = self.plan.section_names.get_mut(start..start + old.len()) {
                place.fill(0);
                if let Some(place) = place.get_mut(..new.len()) {
                    place.copy_from_slice(&new);
                }
            }
            gap += (old.len() - new.len() - 1) as u64;
            if !prefix.is_empty() {
                gap += new.len() as u64 + 1;
            }
        }
        let names = &mut self.plan.section_names;
        let added = &self.plan.sections[self.view..];
        names.reserve_exact(added.iter().map(|section| section.name.len() + 1).sum());
        for section in &mut self.plan.sections[self.view..] {
            section.name_offset = names.len() as u32;
            names.extend_from_slice(section.name);
            names.push(0);
        }
        (gap, banks)
    }

    /// Appends a name to those of symbols.
    pub(super) fn append_symbol_name(&mut self, name: &[u8]) -> u32 {
        let offset = self.plan.symbol_names.len() as u32;
        self.plan.symbol_names.extend_from_slice(name);
        self.plan.symbol_names.push(0);
        offset
    }
}
