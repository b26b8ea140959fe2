//! Printing the plan of the output file and the image.

use super::DumpBytes;
use super::content::put_block;
use super::content::put_digest;
use super::print::Printer;
use super::print::put_known;
use super::print::put_signed;
use super::quote::put;
use super::quote::put_name;
use super::quote::put_quoted;
use super::rebuild::rebuild;
use super::words;
use crate::plan::ElfPlan;
use crate::plan::PlanContent;
use crate::plan::PlanSection;
use cuweld_elf::raw::string_at;

impl<'m> Printer<'m, '_> {
    /// Prints the plan, if there is one.
    pub(super) fn plan(&mut self) {
        let module = self.module;
        let Some(plan) = &module.plan else { return };
        self.out.push_str("\nplan type=");
        put_known(
            &mut self.out,
            words::FILE_TYPES.word(plan.e_type),
            plan.e_type.into(),
        );
        put!(self.out, " flags={:#x}", plan.e_flags);
        if let Some(toolkit) = plan.legacy {
            put!(self.out, " legacy={toolkit}");
        }
        put!(self.out, " shoff={:#x}", plan.shoff);
        put!(
            self.out,
            " phoff={:#x} shstrndx={}",
            plan.phoff,
            plan.shstrndx
        );
        put!(self.out, " file-size={:#x}\n", plan.file_size);
        self.group("  section-names\n", |p| p.strings(&plan.section_names));
        self.group("  symbol-names\n", |p| p.strings(&plan.symbol_names));
        self.group("  output-sections\n", |p| p.plan_sections(plan));
        self.group("  pieces\n", |p| p.pieces(plan));
        self.group("  output-symbols\n", |p| p.plan_symbols(plan));
        self.group("  output-relocs\n", |p| p.plan_relocs(plan));
        self.group("  segments\n", |p| p.segments(plan));
    }

    /// A string table, split at NULs; the offsets are those that rows refer to.
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

    fn plan_sections(&mut self, plan: &ElfPlan<'_>) {
        for (index, row) in plan.sections.iter().enumerate() {
            if self.shows(row.name) {
                self.plan_section(index, row);
            }
        }
    }

    fn plan_section(&mut self, index: usize, row: &PlanSection<'_>) {
        let out = &mut self.out;
        put!(out, "    output-section {index} ");
        put_name(out, row.name);
        put!(
            out,
            " name={:#x} type={}",
            row.name_offset,
            words::section_type(row.ty)
        );
        if row.flags != 0 {
            put!(
                out,
                " flags={}",
                words::flags(&words::SECTION_FLAGS, row.flags)
            );
        }
        put!(out, " offset={:#x} size={:#x}", row.offset, row.size);
        put!(out, " link={} info={:#x}", row.link, row.info);
        put!(out, " align={} entsize={} ", row.align, row.entsize);
        match &row.content {
            PlanContent::None => out.push_str("no-bytes"),
            PlanContent::Bytes(bytes) => {
                out.push_str("bytes=");
                self.images.put(out, bytes, None);
            }
            PlanContent::Pieces(range) => put!(out, "pieces={}..{}", range.start, range.end),
            PlanContent::Relocs(range) => put!(out, "relocs={}..{}", range.start, range.end),
            PlanContent::Alias(section) => put!(out, "alias={section}"),
            PlanContent::SectionNames => out.push_str("section-names"),
            PlanContent::SymbolNames => out.push_str("symbol-names"),
            PlanContent::Symbols => out.push_str("symbols"),
        }
        self.out.push('\n');
    }

    fn pieces(&mut self, plan: &ElfPlan<'_>) {
        for (index, row) in plan.pieces.iter().enumerate() {
            if self.shows_section(row.section) {
                put!(
                    self.out,
                    "    piece {index} offset={:#x} section=",
                    row.offset
                );
                self.put_section(row.section);
                if let Some(size) = row.size {
                    put!(self.out, " size={size:#x}");
                }
                self.out.push('\n');
            }
        }
    }

    /// A number with the name that stands at this offset of the symbol names.
    fn put_named(&mut self, number: impl std::fmt::Display, plan: &'m ElfPlan<'_>, offset: u32) {
        put!(self.out, "{number}");
        if let Some(name) = string_at(&plan.symbol_names, offset)
            && !name.is_empty()
        {
            self.out.push(':');
            put_name(&mut self.out, name);
        }
    }

    fn plan_symbols(&mut self, plan: &'m ElfPlan<'_>) {
        for (index, row) in plan.symbols.iter().enumerate() {
            if !self.shows(string_at(&plan.symbol_names, row.name_offset).unwrap_or(b"")) {
                continue;
            }
            put!(self.out, "    output-symbol {index} name=");
            self.put_named(
                format_args!("{:#x}", row.name_offset),
                plan,
                row.name_offset,
            );
            let (bind, ty) = (row.info >> 4, row.info & 15);
            let out = &mut self.out;
            out.push_str(" bind=");
            put_known(out, words::BINDINGS.word(bind), bind.into());
            out.push_str(" type=");
            put_known(out, words::SYMBOL_TYPES.word(ty), ty.into());
            if row.other != 0 {
                put!(
                    out,
                    " other={}",
                    words::flags(&words::SYMBOL_OTHERS, row.other.into())
                );
            }
            out.push_str(" section=");
            match words::RESERVED_INDICES.word(row.shndx) {
                Some(word) => out.push_str(word),
                None => put!(out, "{}", row.shndx),
            }
            put!(out, " value={:#x} size={:#x}\n", row.value, row.size);
        }
    }

    fn plan_relocs(&mut self, plan: &'m ElfPlan<'_>) {
        for (index, row) in plan.relocs.iter().enumerate() {
            let name_offset = plan
                .symbols
                .get(row.symbol as usize)
                .map_or(0, |symbol| symbol.name_offset);
            if !self.shows(string_at(&plan.symbol_names, name_offset).unwrap_or(b"")) {
                continue;
            }
            put!(
                self.out,
                "    output-reloc {index} offset={:#x}",
                row.offset
            );
            put!(self.out, " type={} symbol=", words::reloc_name(row.ty));
            self.put_named(row.symbol, plan, name_offset);
            if row.addend != 0 {
                self.out.push_str(" addend=");
                put_signed(&mut self.out, row.addend);
            }
            self.out.push('\n');
        }
    }

    fn segments(&mut self, plan: &ElfPlan<'_>) {
        if self.filter.is_some() {
            return;
        }
        for row in &plan.segments {
            let out = &mut self.out;
            out.push_str("    segment type=");
            put_known(out, words::SEGMENT_TYPES.word(row.ty), row.ty.into());
            put!(
                out,
                " flags={}",
                words::flags(&words::SEGMENT_FLAGS, row.flags.into())
            );
            put!(
                out,
                " offset={:#x} file-size={:#x}",
                row.offset,
                row.file_size
            );
            put!(out, " mem-size={:#x}\n", row.mem_size);
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
