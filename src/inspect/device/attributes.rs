//! Records of `.nv.info*` and `.nv.compat`.

use cuweld_elf::target::attributes as codes;
use cuweld_ir::attribute::format;

use super::Decoder;
use crate::inspect::code_names;
use crate::inspect::device_model::*;
use crate::inspect::error::SectionDamage;
use crate::inspect::name::Hex;

impl<'data> Decoder<'data> {
    pub(super) fn info(
        &mut self,
        section: &Section<'data>,
        sections: &[Section<'data>],
    ) -> Attributes<'data> {
        // `sh_info` names the function's code, whose own `sh_info` names the function.
        let code = match section.refers_to {
            Some(Reference::Section(_)) => sections.get(section.info as usize),
            _ => None,
        };
        let function = match code.and_then(|code| code.refers_to) {
            Some(Reference::Function { symbol, .. }) => Some(symbol),
            _ => None,
        };
        Attributes {
            section: section.name,
            section_index: section.index,
            function,
            records: self.records(section, true),
        }
    }

    pub(super) fn compat(&mut self, section: &Section<'data>) -> Attributes<'data> {
        Attributes {
            section: section.name,
            section_index: section.index,
            function: None,
            records: self.records(section, false),
        }
    }

    fn records(&mut self, section: &Section<'data>, is_info: bool) -> Vec<Attribute<'data>> {
        let bytes = self.take(section);
        let mut records = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let offset = (bytes.len() - rest.len()) as u64;
            let &[format, code, low, high, ref tail @ ..] = rest else {
                self.damage(section.index, SectionDamage::Record(offset));
                break;
            };
            let number = u16::from_le_bytes([low, high]);
            rest = tail;
            let value = if format == format::SVAL {
                let Some((payload, behind)) = tail.split_at_checked(number.into()) else {
                    self.damage(section.index, SectionDamage::Record(offset));
                    break;
                };
                rest = behind;
                self.payload(section, if is_info { Some(code) } else { None }, payload)
            } else {
                AttributeValue::Number(number)
            };
            records.push(Attribute {
                offset,
                format: code_names::attribute_format(format),
                code: if is_info {
                    code_names::info_code(code)
                } else {
                    code_names::compat_code(code)
                },
                value,
            });
        }
        records
    }

    fn payload(
        &mut self,
        section: &Section<'data>,
        code: Option<u8>,
        payload: &'data [u8],
    ) -> AttributeValue<'data> {
        let (chunks, bytes) = payload.as_chunks::<4>();
        let mut words: Vec<u32> = chunks
            .iter()
            .map(|word| u32::from_le_bytes(*word))
            .collect();
        if let (Some(codes::KPARAM_INFO), &[index, place, word], []) = (code, &words[..], bytes) {
            return AttributeValue::Parameter {
                index,
                ordinal: place as u16,
                offset: (place >> 16) as u16,
                size: (word >> 18) as u16,
                word,
            };
        }
        let count = code.map_or(0, |code| codes::reference_words(code, words.len()));
        let behind = words.split_off(count.min(words.len()));
        let mut symbols = Vec::with_capacity(words.len());
        for (row, index) in words.into_iter().enumerate() {
            let found = self.symbols.find(section.link, index);
            if found.is_none() {
                let symbol = index;
                self.damage(section.index, SectionDamage::Symbol { row, symbol });
            }
            symbols.push(found.unwrap_or(SymbolUse {
                index,
                name: Default::default(),
            }));
        }
        match (code, &symbols[..], &behind[..], bytes) {
            (Some(codes::PARAM_CBANK), &[section], &[word], []) => AttributeValue::ParameterBank {
                section,
                offset: word as u16,
                size: (word >> 16) as u16,
            },
            _ => AttributeValue::Payload {
                symbols,
                words: behind,
                bytes: Hex(bytes),
            },
        }
    }
}
