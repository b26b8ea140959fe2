//! The file header, section headers and program headers.

use super::Category;
use super::Diff;
use super::HexNumber;
use super::Side;
use super::matching::Matched;
use super::matching::ordinal;
use crate::inspect::code_names;
use crate::inspect::code_names::Table;
use crate::inspect::device_model::*;

impl Diff {
    pub(super) fn header(&mut self, left: &Header, right: &Header) {
        let subject = || "header".to_owned();
        let category = Category::Header;
        let machine = (&left.machine, &right.machine);
        self.field(category, subject, "type", &left.file_type, &right.file_type);
        self.field(category, subject, "machine", machine.0, machine.1);
        self.field(category, subject, "OS ABI", left.os_abi, right.os_abi);
        let abi = (left.abi_version, right.abi_version);
        self.field(category, subject, "ABI version", abi.0, abi.1);
        self.field(category, subject, "version", left.version, right.version);
        let entry = (HexNumber(left.entry), HexNumber(right.entry));
        self.field(category, subject, "entry", entry.0, entry.1);
        self.field(category, subject, "flags: SM", left.sm, right.sm);
        self.field(category, subject, "flags: code", &left.code, &right.code);
    }

    pub(super) fn sections(
        &mut self,
        left: &[Section<'_>],
        right: &[Section<'_>],
        matched: &Matched,
    ) {
        for pair in &matched.pairs {
            let (Some(a), Some(b)) = (left.get(pair.left), right.get(pair.right)) else {
                continue;
            };
            let subject = || format!("{}{}", a.name, ordinal(pair.nth));
            let category = Category::Section;
            self.field(category, subject, "type", &a.ty, &b.ty);
            let flags = (HexNumber(a.flags), HexNumber(b.flags));
            self.field(category, subject, "flags", flags.0, flags.1);
            // Sizes of tables follow from their rows, those of string tables from the names.
            let is_bytes = code_names::table(a.ty.value) == Table::Bytes;
            if is_bytes || code_names::table(b.ty.value) == Table::Bytes {
                let size = (HexNumber(a.size), HexNumber(b.size));
                self.field(category, subject, "size", size.0, size.1);
            }
            let align = (HexNumber(a.align), HexNumber(b.align));
            self.field(category, subject, "align", align.0, align.1);
            let entry = (HexNumber(a.entry_size), HexNumber(b.entry_size));
            self.field(category, subject, "entry size", entry.0, entry.1);
            let address = (HexNumber(a.address), HexNumber(b.address));
            self.field(category, subject, "address", address.0, address.1);
            let link = (section_name(left, a.link), section_name(right, b.link));
            self.field(category, subject, "link", link.0, link.1);
            // The first global symbol: that is the order of symbols.
            if code_names::table(a.ty.value) != Table::Symbols {
                self.field(category, subject, "info", info(a), info(b));
            }
        }
        for index in &matched.only_left {
            if let Some(section) = left.get(*index) {
                let row = Side::Left(describe(section));
                self.lone(Category::Section, section.name.to_string(), row);
            }
        }
        for index in &matched.only_right {
            if let Some(section) = right.get(*index) {
                let row = Side::Right(describe(section));
                self.lone(Category::Section, section.name.to_string(), row);
            }
        }
    }

    pub(super) fn segments(&mut self, left: &[Segment<'_>], right: &[Segment<'_>]) {
        for (index, (a, b)) in left.iter().zip(right).enumerate() {
            let subject = || format!("program header {index}");
            let category = Category::Segment;
            self.field(category, subject, "type", &a.ty, &b.ty);
            let flags = (HexNumber(a.flags.into()), HexNumber(b.flags.into()));
            self.field(category, subject, "flags", flags.0, flags.1);
            let size = (HexNumber(a.file_size), HexNumber(b.file_size));
            self.field(category, subject, "file size", size.0, size.1);
            let size = (HexNumber(a.memory_size), HexNumber(b.memory_size));
            self.field(category, subject, "memory size", size.0, size.1);
            let align = (HexNumber(a.align), HexNumber(b.align));
            self.field(category, subject, "align", align.0, align.1);
            let address = (HexNumber(a.virtual_address), HexNumber(b.virtual_address));
            self.field(category, subject, "virtual address", address.0, address.1);
            let address = (HexNumber(a.physical_address), HexNumber(b.physical_address));
            self.field(category, subject, "physical address", address.0, address.1);
        }
        let describe = |segment: &Segment<'_>| format!("{} {:#x}", segment.ty, segment.file_size);
        let subject = |index: usize| format!("program header {index}");
        for (index, segment) in left.iter().enumerate().skip(right.len()) {
            let row = Side::Left(describe(segment));
            self.lone(Category::Segment, subject(index), row);
        }
        for (index, segment) in right.iter().enumerate().skip(left.len()) {
            let row = Side::Right(describe(segment));
            self.lone(Category::Segment, subject(index), row);
        }
    }
}

fn describe(section: &Section<'_>) -> String {
    format!("{}, {:#x} bytes", section.ty, section.size)
}

/// Returns the name of the section with this index; 0 is none.
fn section_name(sections: &[Section<'_>], index: u32) -> String {
    match (index, sections.get(index as usize)) {
        (0, _) => "none".to_owned(),
        (_, Some(section)) => section.name.to_string(),
        (index, None) => index.to_string(),
    }
}

fn info(section: &Section<'_>) -> String {
    match section.refers_to {
        Some(Reference::Section(name)) => name.to_string(),
        Some(Reference::Function { symbol, high: 0 }) => symbol.to_string(),
        Some(Reference::Function { symbol, high }) => format!("{symbol}, {high} registers"),
        None => section.info.to_string(),
    }
}
