//! Contents of decoded sections, encoded for given output indices.

use zerocopy::IntoBytes;

use crate::attribute::Attribute;
use crate::attribute::format;
use crate::callgraph_record::CallKind;
use crate::plan::PlanSymbol;
use cuweld_elf::raw::RawSymbol;

fn has_payload(attribute: &Attribute<'_>) -> bool {
    attribute.format == format::SVAL
}

/// Appends an attribute record; `refs` are the output symbol indices of its references.
pub fn append_attribute(
    out: &mut Vec<u8>,
    attribute: &Attribute<'_>,
    refs: impl ExactSizeIterator<Item = u32>,
) {
    let value = match has_payload(attribute) {
        // Payload lengths were u16 in the input, and the linker's own records are shorter still.
        true => (refs.len() * 4 + attribute.rest.len()) as u16,
        false => attribute.value,
    };
    let [low, high] = value.to_le_bytes();
    out.extend_from_slice(&[attribute.format, attribute.code, low, high]);
    if has_payload(attribute) {
        for index in refs {
            out.extend_from_slice(&index.to_le_bytes());
        }
        // Most payloads are a word or two.
        let mut rest = attribute.rest;
        while let Some((word, behind)) = rest.split_first_chunk::<4>().filter(|_| rest.len() <= 16)
        {
            out.extend_from_slice(word);
            rest = behind;
        }
        out.extend_from_slice(rest);
    }
}

/// Appends a pair of words.
pub fn append_pair(out: &mut Vec<u8>, first: u32, second: u32) {
    out.extend_from_slice(&first.to_le_bytes());
    out.extend_from_slice(&second.to_le_bytes());
}

/// Appends the marker row of a call graph group.
pub fn append_marker(out: &mut Vec<u8>, kind: CallKind) {
    append_pair(out, 0, kind.marker() as u32);
}
/// Appends a row of a symbol table.
pub fn append_symbol(bytes: &mut Vec<u8>, symbol: &PlanSymbol) {
    bytes.extend_from_slice(raw_symbol(symbol).as_bytes());
}

/// Returns a symbol as the file has it.
pub(super) fn raw_symbol(symbol: &PlanSymbol) -> RawSymbol {
    RawSymbol {
        name: symbol.name_offset.into(),
        info: symbol.bind.info(symbol.ty),
        other: symbol.other.bits(),
        shndx: symbol.shndx.into(),
        value: symbol.value.into(),
        size: symbol.size.into(),
    }
}
