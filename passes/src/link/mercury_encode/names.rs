//! String tables of both views.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::deviation;
use cuweld_elf::behaviours;
use cuweld_elf::mercury::Bank;
use foldhash::fast::FixedState;
use hashbrown::HashSet;

use super::Encode;

/// What precedes the names of sections in those of their relocations.
const RELA: &[u8] = b".rela";

/// Gives a section its new name in the table, where its old one is; the last `kept` bytes of both
/// are the same. The string of further sections of the name is renamed as if it still were the old
/// one, so that the name of the function is cut [renamed-again].
fn rename(place: &mut [u8], new: &[u8], kept: usize, is_first: bool) {
    let (old, head) = (place.len() - kept, new.len() - kept);
    let mut name = new.to_vec();
    if !is_first {
        let end = place.iter().position(|byte| *byte == 0);
        let rest = place.get(old..end.unwrap_or(place.len()));
        name.truncate(head);
        name.extend_from_slice(rest.unwrap_or(&[]));
    }
    place.fill(0);
    if let Some(place) = place.get_mut(..name.len()) {
        place.copy_from_slice(&name);
    }
}

/// Says that the name of constants is whole, which nvlink cuts.
pub(super) fn whole_name(name: &[u8]) -> Diagnostic {
    let name = String::from_utf8_lossy(name);
    let message = format!("several sections '{name}' keep this name");
    Diagnostic::remark(deviation::WHOLE_NAME, message).deviates("D19")
}

impl<'data> Encode<'_, 'data> {
    /// Renames constant banks and appends the names of added sections. The room that names give up
    /// is left between the symbols' names and the symbols: its size in bytes is returned, and for
    /// each section of the view whether it is a constant bank.
    pub(super) fn rename(&mut self) -> (u64, Vec<bool>) {
        let is_cut = self.module.toolkit.has(&behaviours::mercury::RENAMED_AGAIN);
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
            let new = [prefix, bank.sass, function].concat();
            section.name = self.arena.bytes(&new);
            let start = section.name_offset as usize;
            if let Some(place) = self.plan.section_names.get_mut(start..start + old.len()) {
                let is_first = renamed.insert(section.name_offset);
                if is_first || is_cut && self.module.options.strict {
                    rename(place, &new, function.len().saturating_sub(1), is_first);
                } else if is_cut {
                    self.whole_name.get_or_insert(&section.name[prefix.len()..]);
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

    /// Gives sections the names that the table has, of which `strict` cuts some.
    pub(super) fn cut_names(&mut self) {
        let names = &self.plan.section_names;
        for section in &mut self.plan.sections {
            if let Some(rest) = names.get(section.name_offset as usize..)
                && let Some(name) = rest.split(|byte| *byte == 0).next()
                && name != section.name
            {
                section.name = self.arena.bytes(name);
            }
        }
    }

    /// Appends a name to those of symbols.
    pub(super) fn append_symbol_name(&mut self, name: &[u8]) -> u32 {
        let offset = self.plan.symbol_names.len() as u32;
        self.plan.symbol_names.extend_from_slice(name);
        self.plan.symbol_names.push(0);
        offset
    }
}
