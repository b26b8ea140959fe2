//! Creation of the constant banks of kernels that only what they call needs.

use super::*;

impl<'data> Replay<'_, 'data> {
    /// Banks of kernels that have no constants of their own but reach functions that have: created
    /// at first need, kernels in reverse order of creation.
    pub(super) fn late_banks(&mut self) {
        let module = self.module;
        let functions = functions_in_creation_order(module);
        let mut ordinal = vec![0; module.functions.len()];
        for (index, (_, function)) in kernels(module, &functions).enumerate() {
            ordinal[function.index()] = index;
        }
        let mut pieces = module.bank_pieces.as_slice();
        while let Some(first) = pieces.first() {
            let length = pieces.partition_point(|piece| piece.section == first.section);
            let (group, rest) = pieces.split_at(length.max(1));
            pieces = rest;
            let mut group = group.to_vec();
            group.sort_by_key(|piece| std::cmp::Reverse(ordinal[piece.kernel.index()]));
            let mut with_rows = Vec::new();
            for piece in group {
                let symbol = &module.symbols[module.functions[piece.kernel].symbol];
                let Some(link) = symbol.link else { continue };
                // The place of a copy that a replacement left empty makes a bank that others fill, but no empty one (measured).
                if !self.banks.contains(&(link, piece.bank)) {
                    continue;
                }
                let prefix = match Bank::numbered(piece.bank).filter(|_| self.out.capmerc) {
                    Some(bank) => format!("{}.", String::from_utf8_lossy(bank.name)),
                    None => format!(".nv.constant{}.", piece.bank),
                };
                let input = module.sections[piece.section].name;
                let name = self.same_or_joined(input, &prefix, symbol.name);
                let header = Header::new(sht::PROGBITS, shf::ALLOC | shf::INFO_LINK, piece.align);
                let content = Content::Constants(link, piece.bank);
                let id = self.of_function(link, name, header, content, true);
                if self.out.constant_rows.contains_key(&piece.section) {
                    with_rows.push((id, name));
                }
            }
            for (id, name) in with_rows {
                let rows = self.joined(".rela", name);
                self.reloc_section(rows, id, true);
            }
        }
    }
}
