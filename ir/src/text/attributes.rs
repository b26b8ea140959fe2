//! Records of attribute sections, both ways: words of which any number may be references, then any
//! number a payload.

use super::fields::Spelling;
use super::lexer::Parsed;
use super::parse::Parser;
use super::print::Printer;
use super::print_tables::due;
use super::quote::put;
use super::references::Claim;
use super::values::*;
use super::words;
use crate::attribute::Attribute;
use crate::attribute::format;
use crate::ids::*;
use cuweld_elf::target::section_types::sht;

const FORMAT: Known<u8> = Known(words::FORMATS, "a record format");

impl<'data> Printer<'_, 'data> {
    pub(super) fn attributes(&mut self, end: usize) {
        let mut heading = None;
        for id in due(&mut self.printed.attributes, end, &self.module.attributes) {
            let attribute = &self.module.attributes[id];
            // Counted before the filter decides, so that the ranges of a whole dump are shown.
            let refs = &attribute.refs;
            let follows = refs.start as usize == self.printed.attribute_refs
                && refs.end >= refs.start
                && refs.end as usize <= self.module.attribute_refs.len();
            if follows {
                self.printed.attribute_refs = refs.end as usize;
            }
            let refs = self.module.refs(attribute);
            if self.shows_optional(attribute.section)
                || refs.iter().any(|target| self.shows_target(*target))
            {
                self.heading(&mut heading, "attributes", attribute.section);
                self.attribute(id, attribute, follows);
            }
        }
    }

    fn attribute(&mut self, id: AttributeId, row: &Attribute<'data>, refs_follow: bool) {
        let section_type = row
            .section
            .and_then(|id| self.module.sections.get(id))
            .map(|section| section.ty);
        let is_compat = match section_type {
            Some(ty) => ty == sht::CUDA_COMPAT,
            None => self.merged_compat.binary_search(&id).is_ok(),
        };
        put!(self.out, "    {id} ");
        FORMAT.print(&row.format, self);
        put!(self.out, " {}", words::attribute_code(row.code, is_compat));
        if row.format != format::SVAL || row.value != 0 {
            put!(self.out, " value={:#x}", row.value);
        }
        if refs_follow {
            for target in self.module.refs(row) {
                self.out.push(' ');
                Target.print(target, self);
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
            Bytes.print(&row.rest, self);
        }
        self.out.push('\n');
    }

    /// Prints the references that no attribute printed in its row.
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
            Target.print(target, self);
        }
        self.out.push('\n');
    }
}

impl Parser<'_, '_, '_> {
    /// Reads a record of this section.
    pub(super) fn attribute(&mut self, section: Option<SectionId>) -> Parsed<()> {
        let start = self.cursor.position();
        self.defined::<AttributeId>(self.module.attributes.len())?;
        let format = FORMAT.parse(self)?;
        let code = self.known_by(words::attribute_code_value, "an attribute code")?;
        let refs_start = self.module.attribute_refs.len();
        let (mut value, mut refs, mut bytes) = (0, None, None);
        let mut payload = Vec::new();
        while self.cursor.peek().is_some() {
            if self.at_digit() {
                payload.extend_from_slice(&self.cursor.narrow::<u32>()?.to_le_bytes());
                continue;
            }
            let position = self.cursor.position();
            match self.cursor.peek_word() {
                "value" => {
                    self.cursor.word("a field")?;
                    value = self.value(Hex)?;
                }
                "refs" => {
                    self.cursor.word("a field")?;
                    self.cursor.expect("=")?;
                    let (start, end) = self.cursor.range()?;
                    self.references.claim(position, Claim::AttributeRefs(end));
                    refs = Some(start..end);
                }
                "bytes" => {
                    self.cursor.word("a field")?;
                    bytes = Some(self.value(Bytes)?);
                }
                "" | "none" if payload.is_empty() && bytes.is_none() => {
                    let target = Target.parse(self)?;
                    self.module.attribute_refs.push(target);
                }
                _ => {
                    let what = "references, then words, or one of the fields value, refs, bytes";
                    return Err(self.cursor.expected(what));
                }
            }
        }
        let refs_end = self.module.attribute_refs.len();
        if refs.is_some() && refs_end != refs_start {
            return Err(start.error("expected either references or the field `refs`"));
        }
        if bytes.is_some() && !payload.is_empty() {
            return Err(start.error("expected either words or the field `bytes`"));
        }
        // A text has fewer than 2^32 references, as it has fewer ids.
        let refs = refs.unwrap_or(refs_start as u32..refs_end as u32);
        let rest = match bytes {
            Some(bytes) => bytes,
            None => self.arena.bytes(&payload),
        };
        self.module.attributes.push(Attribute {
            section,
            format,
            code,
            value,
            refs,
            rest,
        });
        Ok(())
    }
}
