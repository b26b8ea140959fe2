//! Creation of the constant banks of kernels that only what they call needs.

use cuweld_elf::target::section_types::SectionFlags;

use super::*;

impl<'data> Replay<'_, 'data> {
    /// Creates the banks of kernels that have no constants of their own but reach functions that
    /// have some. Such banks are created when they are first needed, kernels in reverse order of
    /// creation.
    pub(super) fn late_banks(&mut self) {
        let module = self.module;
        let same_section = |a: &BankPiece, b: &BankPiece| a.section == b.section;
        let groups = || module.bank_pieces.chunk_by(same_section);
        let mut ordinal = Vec::new();
        if groups().any(|group| group.len() > 1) {
            ordinal.resize(module.functions.len(), 0);
            for (index, (_, function)) in self.live.created_kernels.iter().enumerate() {
                ordinal[function.index()] = index;
            }
        }
        // [rows-of-any-constants]
        let mut constants = self.out.constant_rows.keys();
        let has_rows = constants.any(|id| {
            let object = module.sections[*id].object;
            module.objects[object].state.is_included()
        });
        let mut prefix = (0, self.bank_prefix(0));
        let mut with_rows = Vec::new();
        let mut sorted: Vec<&BankPiece> = Vec::new();
        for group in groups() {
            sorted.clear();
            sorted.extend(group);
            if group.len() > 1 {
                sorted.sort_by_key(|piece| std::cmp::Reverse(ordinal[piece.kernel.index()]));
            }
            for piece in &sorted {
                let Some(link) = self.outcomes.get(piece.kernel).link else {
                    continue;
                };
                // [emptied-place-stays]
                if !self.own_banks.is_filled(link, piece) {
                    continue;
                }
                // The bank that its own section made, whose name `classify` has compared but for
                // Mercury.
                let placed = self.out.placed[piece.section.index()];
                let content = Content::Constants(link, piece.bank);
                if !self.out.capmerc
                    && placed != NO_SECTION
                    && self.out.sections[placed as OutId].content == content
                {
                    continue;
                }
                if prefix.0 != piece.bank {
                    prefix = (piece.bank, self.bank_prefix(piece.bank));
                }
                let input = module.sections[piece.section].name;
                let kernel = module.function_name(piece.kernel);
                let name = self.same_or_joined(input, &prefix.1, kernel);
                let header = Header::new(
                    sht::PROGBITS,
                    SectionFlags::ALLOC | SectionFlags::INFO_LINK,
                    piece.align,
                );
                let id = self.of_function(link, name, header, content, true);
                if has_rows {
                    with_rows.push((id, name));
                }
            }
            for (id, name) in with_rows.drain(..) {
                let rows = self.joined(".rela", name);
                self.reloc_section(rows, id, true);
                if module.options.preserve_relocs {
                    let rows = self.joined(".nv.resolvedrela", name);
                    self.resolved_section(rows, name, id);
                }
            }
        }
    }

    /// Returns the prefix of the name of a kernel's bank.
    fn bank_prefix(&self, bank: u8) -> String {
        match Bank::numbered(bank).filter(|_| self.out.capmerc) {
            Some(bank) => format!("{}.", String::from_utf8_lossy(bank.name)),
            None => format!(".nv.constant{bank}."),
        }
    }
}
