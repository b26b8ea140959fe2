//! Printing the rows that objects own.

use super::content::ImageIndex;
use super::print::Printer;
use super::print::link_name;
use super::print::put_known;
use super::print::put_range;
use super::print::put_signed;
use super::quote::put;
use super::quote::put_name;
use super::quote::put_quoted;
use super::words;
use crate::attribute::Attribute;
use crate::attribute::format;
use crate::ids::*;
use crate::note::Note;
use crate::reloc::Reloc;
use crate::reloc::RelocPlan;
use crate::section::Section;
use crate::section::SectionContent;
use crate::section::SectionInfo;
use crate::section::SectionKind;
use crate::symbol::Symbol;
use crate::symbol::SymbolPlace;
use crate::symbol::SymbolRef;
use crate::table::EntityId;
use cuweld_elf::mercury::capmerc::Capmerc;
use cuweld_elf::note_records::tool_info;
use cuweld_elf::note_records::tool_info_strings;
use cuweld_elf::target::section_types::sht;

/// The ids of a table that are printed next, up to `end`; the counter moves past them.
fn due(printed: &mut usize, end: usize, length: usize) -> std::ops::Range<usize> {
    let start = *printed;
    *printed = end.min(length).max(start);
    start..*printed
}

impl Printer<'_, '_> {
    /// Prints the sections before `end` that are not printed yet. `object` is the block they stand
    /// in, for rows that belong to another.
    pub(super) fn sections(&mut self, end: usize, object: Option<ObjectId>) {
        for index in due(&mut self.printed.sections, end, self.module.sections.len()) {
            let id = SectionId::new(index);
            if self.shows_section(id) {
                self.section(id, &self.module.sections[id], object);
            }
        }
    }

    fn section(&mut self, id: SectionId, section: &Section<'_>, object: Option<ObjectId>) {
        put!(self.out, "    {id} ");
        put_name(&mut self.out, section.name);
        put!(self.out, " {}", words::section_type(section.ty));
        if section.flags != 0 {
            put!(
                self.out,
                " flags={}",
                words::flags(&words::SECTION_FLAGS, section.flags)
            );
        }
        if section.align != 0 {
            put!(self.out, " align={}", section.align);
        }
        if section.entsize != 0 {
            put!(self.out, " entsize={}", section.entsize);
        }
        if let Some(link) = section.link {
            self.out.push_str(" link=");
            self.put_section(link);
        }
        match section.info {
            SectionInfo::None => {}
            SectionInfo::Section(target) => {
                self.out.push_str(" info=");
                self.put_section(target);
            }
            SectionInfo::Symbol { symbol, high } => {
                self.out.push_str(" info=");
                self.put_symbol(symbol);
                put!(self.out, "/{high}");
            }
            SectionInfo::Raw(raw) => put!(self.out, " info={raw:#x}"),
        }
        match section.content {
            SectionContent::Bytes(bytes) => {
                self.out.push_str(" bytes=");
                self.images.put(&mut self.out, bytes, object);
            }
            SectionContent::NoBits(size) => put!(self.out, " nobits={size:#x}"),
            SectionContent::Decoded => self.out.push_str(" decoded"),
        }
        put_range(&mut self.out, " relocs=", section.relocs);
        put_range(&mut self.out, " attributes=", section.attributes);
        if section.kind != SectionKind::Unclassified {
            put!(self.out, " kind={}", words::section_kind(section.kind));
        }
        if let Some(owner) = section.owner {
            self.out.push_str(" owner=");
            self.put_function(owner);
        }
        if let Some(place) = section.place {
            put!(self.out, " place={place:#x}");
        }
        self.end_owned(section.object, object);
        if section.ty == sht::CUDA_CAPMERC {
            self.mercury(section.bytes());
        }
    }

    /// What Mercury code says, as comments.
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

    fn end_owned(&mut self, owner: ObjectId, block: Option<ObjectId>) {
        if Some(owner) != block {
            put!(self.out, " object={owner}");
        }
        self.out.push('\n');
    }

    pub(super) fn symbols(&mut self, end: usize, object: Option<ObjectId>) {
        for index in due(&mut self.printed.symbols, end, self.module.symbols.len()) {
            let id = SymbolId::new(index);
            let symbol = &self.module.symbols[id];
            if self.shows(symbol.name) {
                self.symbol(id, symbol, object);
            }
        }
    }

    fn symbol(&mut self, id: SymbolId, symbol: &Symbol<'_>, object: Option<ObjectId>) {
        put!(self.out, "    {id} ");
        put_name(&mut self.out, symbol.name);
        self.out.push(' ');
        put_known(
            &mut self.out,
            words::BINDINGS.word(symbol.bind),
            symbol.bind.into(),
        );
        self.out.push(' ');
        put_known(
            &mut self.out,
            words::SYMBOL_TYPES.word(symbol.ty),
            symbol.ty.into(),
        );
        if symbol.other != 0 {
            put!(
                self.out,
                " other={}",
                words::flags(&words::SYMBOL_OTHERS, symbol.other.into())
            );
        }
        match symbol.place {
            SymbolPlace::Undefined => self.out.push_str(" undefined"),
            SymbolPlace::Section(section) => {
                self.out.push_str(" in=");
                self.put_section(section);
            }
            SymbolPlace::Common => self.out.push_str(" common"),
            SymbolPlace::Absolute => self.out.push_str(" absolute"),
            SymbolPlace::Reserved(index) => put!(self.out, " reserved={index:#x}"),
        }
        put!(
            self.out,
            " value={:#x} size={:#x}",
            symbol.value,
            symbol.size
        );
        if let Some(function) = symbol.function {
            put!(self.out, " function={function}");
        }
        if let Some(link) = symbol.link {
            self.out.push_str(" link=");
            // A symbol nearly always has the name of what it stands for.
            if link_name(self.module, link) == symbol.name {
                put!(self.out, "{link}");
            } else {
                self.put_link(link);
            }
        }
        self.end_owned(symbol.object, object);
    }

    pub(super) fn functions(&mut self, end: usize, object: Option<ObjectId>) {
        for index in due(
            &mut self.printed.functions,
            end,
            self.module.functions.len(),
        ) {
            let id = FunctionId::new(index);
            if !self.shows_function(id) {
                continue;
            }
            let function = self.module.functions[id];
            put!(self.out, "    {id} ");
            self.put_symbol(function.symbol);
            let merc = function.views.merc;
            for (key, section) in [
                ("sass", Some(function.views.sass.text)),
                ("sass-info", function.views.sass.info),
                ("merc", merc.map(|view| view.text)),
                ("merc-info", merc.and_then(|view| view.info)),
            ] {
                if let Some(section) = section {
                    put!(self.out, " {key}=");
                    self.put_section(section);
                }
            }
            let fate = words::FATES.word(function.fate).unwrap_or("?");
            put!(self.out, " fate={fate} registers={}", function.registers);
            if let Some(frame) = function.shared {
                put!(
                    self.out,
                    " shared=(size={:#x} align={} slots-align={}",
                    frame.size,
                    frame.align,
                    frame.slots_align
                );
                self.out
                    .push_str(if frame.present { " present)" } else { ")" });
            }
            if let Some(address) = function.dynamic_shared {
                put!(self.out, " dynamic-shared={address:#x}");
            }
            if function.header_kinds != 0 {
                let kinds = words::flags(&words::HEADER_KINDS, function.header_kinds.into());
                put!(self.out, " headers={kinds}");
            }
            if function.stack_limit != 0 {
                put!(self.out, " stack-limit={}", function.stack_limit);
            }
            if function.flag_barriers != 0 {
                put!(self.out, " flag-barriers={}", function.flag_barriers);
            }
            if function.merc_size != 0 {
                put!(self.out, " merc-size={:#x}", function.merc_size);
            }
            self.end_owned(function.object, object);
        }
    }

    pub(super) fn relocs(&mut self, end: usize) {
        let mut heading = None;
        for index in due(&mut self.printed.relocs, end, self.module.relocs.len()) {
            let id = RelocId::new(index);
            let reloc = &self.module.relocs[id];
            if !self.shows_section(reloc.section) && !self.shows_target(reloc.target) {
                continue;
            }
            if heading != Some(reloc.section) {
                heading = Some(reloc.section);
                self.out.push_str("  relocs ");
                self.put_section(reloc.section);
                self.out.push('\n');
            }
            self.reloc(id, reloc);
        }
    }

    fn reloc(&mut self, id: RelocId, reloc: &Reloc) {
        put!(
            self.out,
            "    {id} {:#x} {} ",
            reloc.offset,
            words::reloc_name(reloc.ty)
        );
        self.put_target(reloc.target);
        let out = &mut self.out;
        if reloc.addend != 0 {
            out.push_str(" addend=");
            put_signed(out, reloc.addend);
        }
        match reloc.plan {
            RelocPlan::Unplanned => {}
            RelocPlan::Keep { ty, addend, rela } => {
                put!(out, " keep=({} addend=", words::reloc_name(ty));
                put_signed(out, addend);
                out.push_str(if rela { " rela)" } else { ")" });
            }
            RelocPlan::Apply {
                ty,
                value,
                in_place,
            } => {
                put!(out, " apply=({} value={value:#x}", words::reloc_name(ty));
                out.push_str(if in_place { " in-place)" } else { ")" });
            }
            RelocPlan::Clear => out.push_str(" clear"),
            RelocPlan::Drop => out.push_str(" drop"),
            RelocPlan::Gone => out.push_str(" gone"),
        }
        out.push('\n');
    }

    pub(super) fn attributes(&mut self, end: usize, object: Option<ObjectId>) {
        let mut heading = None;
        for index in due(
            &mut self.printed.attributes,
            end,
            self.module.attributes.len(),
        ) {
            let id = AttributeId::new(index);
            let attribute = &self.module.attributes[id];
            // Counted before the filter decides, so that the ranges of a whole dump are shown.
            let refs = &attribute.refs;
            let follows = refs.start as usize == self.printed.attribute_refs
                && refs.end >= refs.start
                && refs.end as usize <= self.module.attribute_refs.len();
            if follows {
                self.printed.attribute_refs = refs.end as usize;
            }
            let shown = attribute
                .section
                .map_or(self.filter.is_none(), |section| self.shows_section(section))
                || self
                    .module
                    .refs(attribute)
                    .iter()
                    .any(|target| self.shows_target(*target));
            if !shown {
                continue;
            }
            if heading != Some(attribute.section) {
                heading = Some(attribute.section);
                self.group_heading("attributes", attribute.section);
            }
            self.attribute(id, attribute, follows, object);
        }
    }

    fn group_heading(&mut self, word: &str, section: Option<SectionId>) {
        put!(self.out, "  {word} ");
        match section {
            Some(section) => self.put_section(section),
            None => self.out.push_str("none"),
        }
        self.out.push('\n');
    }

    fn attribute(
        &mut self,
        id: AttributeId,
        row: &Attribute<'_>,
        refs_follow: bool,
        object: Option<ObjectId>,
    ) {
        let section_type = row
            .section
            .and_then(|id| self.module.sections.get(id))
            .map(|section| section.ty);
        let is_compat = match section_type {
            Some(ty) => ty == sht::CUDA_COMPAT,
            None => self.merged_compat.binary_search(&id).is_ok(),
        };
        put!(self.out, "    {id} ");
        put_known(
            &mut self.out,
            words::FORMATS.word(row.format),
            row.format.into(),
        );
        put!(self.out, " {}", words::attribute_code(row.code, is_compat));
        if row.format != format::SVAL || row.value != 0 {
            put!(self.out, " value={:#x}", row.value);
        }
        if refs_follow {
            for target in self.module.refs(row) {
                self.out.push(' ');
                self.put_target(*target);
            }
        } else {
            put!(self.out, " refs={}..{}", row.refs.start, row.refs.end);
        }
        let words = row.rest.chunks_exact(4);
        if words.remainder().is_empty() {
            for word in words {
                let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
                if word < 0x1_0000 {
                    put!(self.out, " {word}");
                } else {
                    put!(self.out, " {word:#x}");
                }
            }
        } else {
            self.out.push_str(" bytes=");
            self.images.put(&mut self.out, row.rest, object);
        }
        self.out.push('\n');
    }

    /// References that no attribute printed in its row.
    pub(super) fn unowned_refs(&mut self) {
        let rest = self
            .module
            .attribute_refs
            .get(self.printed.attribute_refs..)
            .unwrap_or(&[]);
        if rest.is_empty() || self.filter.is_some() {
            return;
        }
        self.out.push_str("  attribute-refs");
        for target in rest {
            self.out.push(' ');
            self.put_target(*target);
        }
        self.out.push('\n');
    }

    pub(super) fn calls(&mut self, end: usize) {
        for index in due(&mut self.printed.calls, end, self.module.calls.len()) {
            let id = CallId::new(index);
            let call = self.module.calls[id];
            if !self.shows_target(call.from) && !self.shows_target(call.to) {
                continue;
            }
            put!(
                self.out,
                "    {id} {} ",
                words::CALL_KINDS.word(call.kind).unwrap_or("?")
            );
            self.put_target(call.from);
            if call.to != SymbolRef::None {
                self.out.push_str(" -> ");
                self.put_target(call.to);
            }
            self.end_prototype(call.prototype);
        }
    }

    fn end_prototype(&mut self, prototype: &[u8]) {
        if !prototype.is_empty() {
            self.out.push_str(" prototype=");
            put_name(&mut self.out, prototype);
        }
        self.out.push('\n');
    }

    pub(super) fn prototypes(&mut self, end: usize) {
        for index in due(
            &mut self.printed.prototypes,
            end,
            self.module.prototypes.len(),
        ) {
            let id = PrototypeId::new(index);
            let row = self.module.prototypes[id];
            if self.shows_target(row.function) {
                put!(self.out, "    {id} ");
                self.put_target(row.function);
                self.end_prototype(row.prototype);
            }
        }
    }

    pub(super) fn notes(&mut self, end: usize, object: Option<ObjectId>) {
        let mut heading = None;
        for index in due(&mut self.printed.notes, end, self.module.notes.len()) {
            let id = NoteId::new(index);
            let note = &self.module.notes[id];
            if !note
                .section
                .map_or(self.filter.is_none(), |section| self.shows_section(section))
            {
                continue;
            }
            if heading != Some(note.section) {
                heading = Some(note.section);
                self.group_heading("notes", note.section);
            }
            put!(self.out, "    {id} ");
            put_quoted(&mut self.out, note.owner);
            put!(self.out, " type={}", note.ty);
            put_description(&mut self.out, note, &self.images, object);
            self.out.push('\n');
        }
    }
}

/// Descriptors of CUDA's own notes are decoded if that loses nothing.
fn put_description(
    out: &mut String,
    note: &Note<'_>,
    images: &ImageIndex,
    object: Option<ObjectId>,
) {
    if let (1000, &[a, b, c, d, e, f, g, h]) = (note.ty, note.desc) {
        let (version, sm) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
        let toolkit = u32::from_le_bytes([e, f, g, h]);
        put!(out, " cuinfo=(version={version} sm={sm} toolkit={toolkit})");
        return;
    }
    if note.ty == 2000
        && let Some(strings) = tool_info_strings(note.desc)
        && let [Ok(object), Ok(tool), Ok(version), Ok(branch), Ok(options)] =
            strings.map(std::str::from_utf8)
        && tool_info(object, tool, version, branch, options) == note.desc
    {
        out.push_str(" tkinfo=(");
        for (index, text) in strings.into_iter().enumerate() {
            out.push_str(if index == 0 { "" } else { " " });
            put_quoted(out, text);
        }
        out.push(')');
        return;
    }
    out.push_str(" desc=");
    images.put(out, note.desc, object);
}
