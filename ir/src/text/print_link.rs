//! Printing what the passes add to the whole link: link symbols, placement, merged lists, patches.

use super::print::Printer;
use super::quote::put;
use super::words;
use crate::link_symbol::Liveness;
use crate::table::EntityId;

impl Printer<'_, '_> {
    /// Prints every table of the link.
    pub(super) fn link(&mut self) {
        self.group("\nlink-symbols\n", Self::link_symbols);
        self.group("\nmerge-log\n", Self::merge_log);
        self.group("\nbank-pieces\n", Self::bank_pieces);
        self.group("\npool-parts\n", Self::pool_parts);
        self.group("\nheader-slots\n", Self::header_slots);
        self.group("\nmerged\n", Self::merged);
        self.group("\npatches\n", Self::patches);
    }

    /// Prints rows below a heading, which is left out if there is no row.
    pub(super) fn group(&mut self, heading: &str, rows: impl FnOnce(&mut Self)) {
        let start = self.out.len();
        self.out.push_str(heading);
        let first = self.out.len();
        rows(self);
        if self.out.len() == first {
            self.out.truncate(start);
        }
    }

    fn link_symbols(&mut self) {
        for (id, row) in self.module.link_symbols.iter() {
            if !self.shows_symbol(row.first) {
                continue;
            }
            put!(self.out, "  {id} ");
            self.put_symbol(row.first);
            if let Some(definition) = row.definition {
                self.out.push_str(" definition=");
                self.put_symbol(definition);
            }
            if row.live != Liveness::Unknown {
                put!(
                    self.out,
                    " live={}",
                    words::LIVENESS.word(row.live).unwrap_or("?")
                );
            }
            put!(self.out, " size={:#x}", row.size);
            if row.common_align != 0 {
                put!(self.out, " common-align={}", row.common_align);
            }
            if let Some(value) = row.value {
                put!(self.out, " value={value:#x}");
            }
            if let Some(kernel) = row.kernel {
                self.out.push_str(" kernel=");
                self.put_function(kernel);
            }
            if row.internal {
                self.out.push_str(" internal");
            }
            if let Some(order) = row.order {
                put!(self.out, " order={order}");
            }
            self.out.push('\n');
        }
    }

    fn merge_log(&mut self) {
        for row in &self.module.merge_log {
            if !self.shows_symbol(row.newcomer) && !self.shows_symbol(row.prevailing) {
                continue;
            }
            self.out.push_str("  merge ");
            self.put_symbol(row.newcomer);
            let outcome = words::MERGE_OUTCOMES.word(row.outcome).unwrap_or("?");
            put!(self.out, " {outcome} ");
            self.put_symbol(row.prevailing);
            self.out.push('\n');
        }
    }

    fn bank_pieces(&mut self) {
        for row in &self.module.bank_pieces {
            if !self.shows_function(row.kernel) && !self.shows_section(row.section) {
                continue;
            }
            self.out.push_str("  bank-piece ");
            self.put_function(row.kernel);
            put!(self.out, " bank={} section=", row.bank);
            self.put_section(row.section);
            put!(
                self.out,
                " offset={:#x} size={:#x} align={:#x}\n",
                row.offset,
                row.size,
                row.align
            );
        }
    }

    fn pool_parts(&mut self) {
        for row in &self.module.pool_parts {
            if !self.shows_section(row.section) {
                continue;
            }
            self.out.push_str("  pool-part ");
            self.put_section(row.section);
            put!(self.out, " bank={} start={:#x}", row.bank, row.start);
            put!(self.out, " size={:#x} offset={:#x}\n", row.size, row.offset);
        }
    }

    fn header_slots(&mut self) {
        for row in &self.module.header_slots {
            let first = self
                .module
                .link_symbols
                .get(row.symbol)
                .map(|link| link.first);
            if first.is_some_and(|first| !self.shows_symbol(first)) {
                continue;
            }
            put!(
                self.out,
                "  header-slot {} offset={:#x}\n",
                row.symbol,
                row.offset
            );
        }
    }

    fn merged(&mut self) {
        let module = self.module;
        for list in &module.merged_info {
            let shown = list.function.map_or(self.filter.is_none(), |function| {
                self.shows_function(function)
            });
            if !shown {
                continue;
            }
            self.out.push_str("  merged-info ");
            match list.function {
                Some(function) => self.put_function(function),
                None => self.out.push_str("none"),
            }
            self.ids(&list.records);
        }
        if self.filter.is_some() {
            return;
        }
        if !module.merged_compat.is_empty() {
            self.out.push_str("  merged-compat");
            self.ids(&module.merged_compat);
        }
        if !module.merged_notes.is_empty() {
            self.out.push_str("  merged-notes");
            self.ids(&module.merged_notes);
        }
    }

    fn ids<K: EntityId + std::fmt::Display>(&mut self, ids: &[K]) {
        for id in ids {
            put!(self.out, " {id}");
        }
        self.out.push('\n');
    }

    fn patches(&mut self) {
        for row in &self.module.patches {
            if !self.shows_section(row.section) {
                continue;
            }
            self.out.push_str("  patch ");
            self.put_section(row.section);
            put!(
                self.out,
                " offset={:#x} bit={} width={}",
                row.offset,
                row.bit,
                row.width
            );
            put!(self.out, " value={:#x}", row.value);
            self.out.push_str(if row.add { " add" } else { "" });
            if let Some(cause) = row.cause {
                put!(self.out, " cause={cause}");
            }
            self.out.push('\n');
        }
    }
}
