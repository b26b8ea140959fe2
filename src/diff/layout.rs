//! The order of sections, offsets, indices and string tables: what follows from everything else.

use super::Category;
use super::Diff;
use super::Difference;
use super::HexNumber;
use super::matching::Matched;
use super::matching::ordinal;
use crate::inspect::DeviceElf;
use crate::inspect::Name;
use crate::inspect::code_names;
use crate::inspect::code_names::Table;
use crate::inspect::device_model::Section;

impl Diff {
    pub(super) fn section_order(
        &mut self,
        left: &DeviceElf<'_>,
        right: &DeviceElf<'_>,
        matched: &Matched,
    ) {
        let name = |sections: &[Section<'_>], index: usize| {
            sections
                .get(index)
                .map_or_else(String::new, |section| section.name.to_string())
        };
        self.order(
            "sections",
            matched,
            |index| name(&left.sections, index),
            |index| name(&right.sections, index),
        );
    }

    pub(super) fn layout(
        &mut self,
        left: &DeviceElf<'_>,
        right: &DeviceElf<'_>,
        matched: &Matched,
    ) {
        for pair in &matched.pairs {
            let (Some(a), Some(b)) = (left.sections.get(pair.left), right.sections.get(pair.right))
            else {
                continue;
            };
            let subject = || format!("{}{}", a.name, ordinal(pair.nth));
            let category = Category::Layout;
            let table = code_names::table(a.ty.value);
            if table == Table::Strings && a.contents != b.contents {
                self.strings(subject(), a.contents, b.contents);
            }
            if table != Table::Bytes {
                let size = (HexNumber(a.size), HexNumber(b.size));
                self.field(category, subject, "size", size.0, size.1);
            }
            if table == Table::Symbols {
                self.field(category, subject, "first global symbol", a.info, b.info);
            }
            let offset = (HexNumber(a.offset), HexNumber(b.offset));
            self.field(category, subject, "offset", offset.0, offset.1);
        }
        for (index, (a, b)) in left.segments.iter().zip(&right.segments).enumerate() {
            let subject = || format!("program header {index}");
            let offset = (HexNumber(a.offset), HexNumber(b.offset));
            self.field(Category::Layout, subject, "offset", offset.0, offset.1);
        }
        let (a, b) = (&left.header, &right.header);
        let mut field = |field, left: u64, right: u64| {
            let subject = || "file header".to_owned();
            let values = (HexNumber(left), HexNumber(right));
            self.field(Category::Layout, subject, field, values.0, values.1);
        };
        field(
            "flags: index of the CUDA info note",
            a.cuda_info_section.into(),
            b.cuda_info_section.into(),
        );
        field(
            "program headers",
            a.program_header_count.into(),
            b.program_header_count.into(),
        );
        field(
            "section headers",
            a.section_header_count.into(),
            b.section_header_count.into(),
        );
        field(
            "index of the section names",
            a.section_names_section.into(),
            b.section_names_section.into(),
        );
        field(
            "offset of program headers",
            a.program_headers_offset,
            b.program_headers_offset,
        );
        field(
            "offset of section headers",
            a.section_headers_offset,
            b.section_headers_offset,
        );
    }

    /// Reports the first string that differs; all later strings are at other offsets.
    fn strings(&mut self, table: String, left: &[u8], right: &[u8]) {
        let mut at = 0;
        let (mut ours, mut theirs) = (left, right);
        loop {
            let (a, b) = (first_string(ours), first_string(theirs));
            if a != b || ours.is_empty() {
                self.found.push(Difference {
                    category: Category::Layout,
                    subject: format!("{table}+{at:#x}"),
                    source_name: None,
                    field: Some("string"),
                    left: (!ours.is_empty()).then(|| format!("'{}'", Name(a))),
                    right: (!theirs.is_empty()).then(|| format!("'{}'", Name(b))),
                    within: None,
                });
                return;
            }
            at += a.len() + 1;
            ours = ours.get(a.len() + 1..).unwrap_or_default();
            theirs = theirs.get(b.len() + 1..).unwrap_or_default();
        }
    }
}

fn first_string(table: &[u8]) -> &[u8] {
    table.split(|byte| *byte == 0).next().unwrap_or_default()
}
