//! Printing tables: which rows of them, in which order, below which headings.

use super::DumpBytes;
use super::content::put_block;
use super::content::put_digest;
use super::fields::Row;
use super::fields::Visitor;
use super::print::Printer;
use super::quote::put;
use super::quote::put_quoted;
use super::rebuild::rebuild;
use crate::ids::*;
use crate::plan::OutputLayout;
use crate::table::EntityId;
use crate::table::PrimaryMap;
use cuweld_elf::mercury::capmerc::Capmerc;
use cuweld_elf::raw::string_at;
use cuweld_elf::target::section_types::sht;

/// Returns the ids of a table that are printed next, up to `end`; the counter moves past them.
pub(super) fn due<K: EntityId, R>(
    printed: &mut usize,
    end: usize,
    table: &PrimaryMap<K, R>,
) -> impl Iterator<Item = K> + use<K, R> {
    let start = *printed;
    *printed = end.min(table.len()).max(start);
    (start..*printed).map(K::new)
}

impl<'m, 'data> Printer<'m, 'data> {
    /// Prints the sections before `end` that are not printed yet.
    pub(super) fn sections(&mut self, end: usize) {
        for id in due(&mut self.printed.sections, end, &self.module.sections) {
            let section = &self.module.sections[id];
            if self.shows(section.name) {
                self.row(format_args!("    {id}"), section);
                if section.ty == sht::CUDA_CAPMERC {
                    self.mercury(section.bytes());
                }
            }
        }
    }

    /// Prints the contents of Mercury code as comments.
    fn mercury(&mut self, bytes: &[u8]) {
        match Capmerc::parse(bytes) {
            Ok(capmerc) => {
                for line in capmerc.lines() {
                    put!(self.out, "      ; {line}\n");
                }
            }
            Err(error) => put!(self.out, "      ; Mercury of another form: {error}\n"),
        }
    }

    pub(super) fn symbols(&mut self, end: usize) {
        for id in due(&mut self.printed.symbols, end, &self.module.symbols) {
            let symbol = &self.module.symbols[id];
            if self.shows(symbol.name) {
                self.row(format_args!("    {id}"), symbol);
            }
        }
    }

    pub(super) fn functions(&mut self, end: usize) {
        for id in due(&mut self.printed.functions, end, &self.module.functions) {
            if self.shows_id(id) {
                self.row(format_args!("    {id}"), &self.module.functions[id]);
            }
        }
    }

    pub(super) fn relocs(&mut self, end: usize) {
        let mut heading = None;
        for id in due(&mut self.printed.relocs, end, &self.module.relocs) {
            let reloc = &self.module.relocs[id];
            if self.shows_id(reloc.section) || self.shows_target(reloc.target) {
                self.heading(&mut heading, "relocs", Some(reloc.section));
                self.row(format_args!("    {id}"), reloc);
            }
        }
    }

    /// Prints a heading, unless the rows before stand below it.
    pub(super) fn heading(
        &mut self,
        last: &mut Option<Option<SectionId>>,
        word: &str,
        section: Option<SectionId>,
    ) {
        if *last == Some(section) {
            return;
        }
        *last = Some(section);
        put!(self.out, "  {word} ");
        match section {
            Some(section) => self.put_id(section),
            None => self.out.push_str("none"),
        }
        self.out.push('\n');
    }

    pub(super) fn calls(&mut self, end: usize) {
        for id in due(&mut self.printed.calls, end, &self.module.calls) {
            let call = &self.module.calls[id];
            if self.shows_target(call.from) || self.shows_target(call.to) {
                self.row(format_args!("    {id}"), call);
            }
        }
    }

    pub(super) fn prototypes(&mut self, end: usize) {
        for id in due(&mut self.printed.prototypes, end, &self.module.prototypes) {
            let prototype = &self.module.prototypes[id];
            if self.shows_target(prototype.function) {
                self.row(format_args!("    {id}"), prototype);
            }
        }
    }

    pub(super) fn notes(&mut self, end: usize) {
        let mut heading = None;
        for id in due(&mut self.printed.notes, end, &self.module.notes) {
            let note = &self.module.notes[id];
            if self.shows_optional(note.section) {
                self.heading(&mut heading, "notes", note.section);
                self.row(format_args!("    {id}"), note);
            }
        }
    }

    /// Prints every table of the link.
    pub(super) fn link(&mut self) {
        let module = self.module;
        self.group("\nlink-symbols\n", |p| {
            for (id, row) in module.link_symbols.iter() {
                if p.shows_id(row.first) {
                    p.row(format_args!("  {id}"), row);
                }
            }
        });
        self.group("\nmerge-log\n", |p| {
            p.list("merge", &module.merge_log, |p, row| {
                p.shows_id(row.newcomer) || p.shows_id(row.prevailing)
            });
        });
        self.group("\nbank-pieces\n", |p| {
            p.list("bank-piece", &module.bank_pieces, |p, row| {
                p.shows_id(row.kernel) || p.shows_id(row.section)
            });
        });
        self.group("\npool-parts\n", |p| {
            p.list("pool-part", &module.pool_parts, |p, row| {
                p.shows_id(row.section)
            });
        });
        self.group("\nheader-slots\n", |p| {
            p.list("header-slot", &module.header_slots, |p, row| {
                p.shows_id(row.symbol)
            });
        });
        self.group("\nmerged\n", |p| {
            p.list("merged-info", &module.merged_info, |p, row| {
                p.shows_optional(row.function)
            });
            p.ids("merged-compat", &module.merged_compat);
            p.ids("merged-notes", &module.merged_notes);
        });
        self.group("\nfixups\n", |p| {
            p.list("fixup", &module.fixups, |p, row| p.shows_id(row.section));
        });
    }

    /// Prints rows without ids that a filter shows.
    fn list<R: Row<'data>>(&mut self, word: &str, rows: &[R], shows: impl Fn(&Self, &R) -> bool) {
        for row in rows {
            if shows(self, row) {
                self.row(format_args!("  {word}"), row);
            }
        }
    }

    pub(super) fn shows_optional<K: EntityId>(&self, id: Option<K>) -> bool {
        id.map_or(self.filter.is_none(), |id| self.shows_id(id))
    }

    /// Prints a row of ids, if there are any.
    fn ids<K: EntityId>(&mut self, word: &str, ids: &[K]) {
        if self.filter.is_none() && !ids.is_empty() {
            put!(self.out, "  {word}");
            Visitor::list(self, &mut ids.to_vec());
            self.out.push('\n');
        }
    }

    /// Prints the plan, if there is one.
    pub(super) fn plan(&mut self) {
        let Some(plan) = &self.module.plan else {
            return;
        };
        let header = OutputLayout {
            sections: Vec::new(),
            symbols: Vec::new(),
            section_names: Vec::new(),
            symbol_names: Vec::new(),
            pieces: Vec::new(),
            relocs: Vec::new(),
            segments: Vec::new(),
            ..*plan
        };
        self.row(format_args!("\nplan"), &header);
        self.group("  section-names\n", |p| p.strings(&plan.section_names));
        self.group("  symbol-names\n", |p| p.strings(&plan.symbol_names));
        self.group("  output-sections\n", |p| {
            p.numbered("output-section", &plan.sections, |p, row| p.shows(row.name));
        });
        self.group("  pieces\n", |p| {
            p.numbered("piece", &plan.pieces, |p, row| p.shows_id(row.section));
        });
        self.group("  output-symbols\n", |p| {
            p.numbered("output-symbol", &plan.symbols, |p, row| {
                p.shows(p.plan_name(row.name_offset))
            });
        });
        self.group("  output-relocs\n", |p| {
            p.numbered("output-reloc", &plan.relocs, |p, row| {
                p.shows(p.plan_name(p.plan_name_offset(row.symbol)))
            });
        });
        self.group("  segments\n", |p| {
            p.list("  segment", &plan.segments, |p, _| p.filter.is_none());
        });
    }

    /// Prints rows of the plan, which are numbered, that a filter shows.
    fn numbered<R: Row<'data>>(
        &mut self,
        word: &str,
        rows: &[R],
        shows: impl Fn(&Self, &R) -> bool,
    ) {
        for (index, row) in rows.iter().enumerate() {
            if shows(self, row) {
                self.row(format_args!("    {word} {index}"), row);
            }
        }
    }

    /// Returns the string at an offset of the plan's symbol names; empty if there is none.
    pub(super) fn plan_name(&self, offset: u32) -> &'m [u8] {
        let plan = self.module.plan.as_ref();
        let name = plan.and_then(|plan| string_at(&plan.symbol_names, offset));
        name.unwrap_or(b"")
    }

    /// Returns the offset of an output symbol's name.
    pub(super) fn plan_name_offset(&self, symbol: u32) -> u32 {
        let symbols = self
            .module
            .plan
            .as_ref()
            .map_or(&[][..], |plan| &plan.symbols);
        symbols
            .get(symbol as usize)
            .map_or(0, |symbol| symbol.name_offset)
    }

    /// Prints a string table, split at NULs, with the offsets that rows refer to.
    fn strings(&mut self, table: &[u8]) {
        if self.filter.is_some() {
            return;
        }
        let mut offset = 0;
        for part in table.split_inclusive(|byte| *byte == 0) {
            let text = part.strip_suffix(&[0]);
            put!(self.out, "    {offset:#x}: ");
            put_quoted(&mut self.out, text.unwrap_or(part));
            self.out.push_str(if text.is_some() {
                "\n"
            } else {
                " unterminated\n"
            });
            offset += part.len();
        }
    }

    /// Prints the image by its hash. Its bytes follow only if the plan does not give them.
    pub(super) fn image(&mut self) {
        let Some(image) = &self.module.image else {
            return;
        };
        self.out.push_str("\nimage ");
        put_digest(&mut self.out, image);
        self.out.push('\n');
        if self.form != DumpBytes::Hash
            && rebuild(self.module, image.len() as u64).as_deref() != Ok(image)
        {
            put_block(&mut self.out, image, "  ");
        }
    }
}
