//! What is changed in an object: one or two fields of relocations, symbols and section headers, the same for the same seed.

use std::ops::Range;

use super::object::Object;

/// A sequence of numbers that is the same for the same seed.
pub struct Numbers(u64);

impl Numbers {
    /// The sequence of a seed.
    pub fn new(seed: u32) -> Self {
        let mut numbers = Numbers((u64::from(seed) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for _ in 0..4 {
            numbers.next();
        }
        numbers
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below a limit, 0 if the limit is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        ((self.next() >> 16) % limit.max(1) as u64) as usize
    }

    /// One of some values.
    pub fn one_of<T: Copy>(&mut self, values: &[T]) -> Option<T> {
        values.get(self.below(values.len())).copied()
    }
}

impl Numbers {
    /// One of some ranges.
    fn one_of_ranges(&mut self, ranges: &[Range<usize>]) -> Option<Range<usize>> {
        ranges.get(self.below(ranges.len())).cloned()
    }
}

/// What a mutation changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Type of a relocation.
    Type,
    /// Type and symbol of a relocation.
    TypeAndSymbol,
    /// Symbol of a relocation.
    Symbol,
    /// Addend of a relocation.
    Addend,
    /// Offset of a relocation.
    Offset,
    /// Type and symbol of a relocation in a section that becomes REL.
    Rel,
    /// Binding of a symbol.
    Binding,
    /// Size of a symbol.
    Size,
    /// Value of a symbol.
    Value,
    /// `st_other` of a symbol.
    Other,
    /// Type of a symbol.
    SymbolType,
    /// Section of a symbol.
    SymbolSection,
    /// Alignment of a section.
    Align,
    /// Code or value of a record of `.nv.info`.
    Attribute,
}

impl Kind {
    /// How many of the kinds change relocations; these are tried by default.
    pub const RELOCATIONS: usize = 6;

    /// All kinds, by name for `CUWELD_MUTATION_KINDS`.
    pub const ALL: [(&'static str, Kind); 14] = [
        ("type", Kind::Type),
        ("type-and-symbol", Kind::TypeAndSymbol),
        ("symbol", Kind::Symbol),
        ("addend", Kind::Addend),
        ("offset", Kind::Offset),
        ("rel", Kind::Rel),
        ("binding", Kind::Binding),
        ("size", Kind::Size),
        ("value", Kind::Value),
        ("other", Kind::Other),
        ("symbol-type", Kind::SymbolType),
        ("symbol-section", Kind::SymbolSection),
        ("align", Kind::Align),
        ("attribute", Kind::Attribute),
    ];
}

/// Number of types that are tried: all of R_CUDA and a few after it.
const TYPES: usize = 0x76;

/// Number of attribute codes that are tried.
const CODES: usize = 0x62;

/// Changes an object and says what was changed; nothing if it has nothing of that kind.
pub fn mutate(object: &mut Object, kind: Kind, numbers: &mut Numbers) -> Option<String> {
    let rows = object.relocations();
    let symbols = object.symbol_count();
    let symbol = numbers.below(symbols);
    match kind {
        Kind::Type
        | Kind::TypeAndSymbol
        | Kind::Symbol
        | Kind::Addend
        | Kind::Offset
        | Kind::Rel => {
            let row = numbers.one_of(&rows)?;
            let place = rows.iter().position(|other| *other == row).unwrap_or(0);
            let (old_type, old_symbol) = (object.reloc_type(row), object.reloc_symbol(row));
            let was = format!(
                "relocation {place} in section {} (type {old_type:#x}, symbol {old_symbol})",
                row.section
            );
            let mut said = String::new();
            if matches!(kind, Kind::Type | Kind::TypeAndSymbol | Kind::Rel) {
                let ty = numbers.below(TYPES) as u32;
                object.set_reloc_type(row, ty);
                said += &format!(" type {ty:#x}");
            }
            if matches!(kind, Kind::Symbol | Kind::TypeAndSymbol | Kind::Rel) {
                object.set_reloc_symbol(row, symbol);
                said += &format!(" symbol {symbol}");
            }
            if kind == Kind::Addend {
                let any = numbers.below(0x1000) as u64;
                let addend = numbers.one_of(&[any, any << 28, any.wrapping_neg(), 0, u64::MAX])?;
                object.set_reloc_addend(row, addend);
                said += &format!(" addend {addend:#x}");
            }
            if kind == Kind::Offset {
                let size = object.size(object.target(row.section));
                let any = numbers.below(size as usize) as u64;
                let last = size.saturating_sub(1);
                let offset =
                    numbers.one_of(&[any, any & !7, any, last, size, size + 8, any << 32])?;
                object.set_reloc_offset(row, offset);
                said += &format!(" offset {offset:#x} of {size:#x}");
            }
            if kind == Kind::Rel {
                object.make_rel(row.section);
                said += " REL";
            }
            Some(format!("{was}:{said}"))
        }
        Kind::Align => {
            let section = numbers.below(object.section_count());
            let align = 1u64 << numbers.below(10);
            object.set_align(section, align);
            Some(format!("section {section}: alignment {align}"))
        }
        Kind::Attribute => {
            let record = numbers.one_of_ranges(&object.attributes())?;
            let head = object.bytes.get(record.start..record.start + 4)?.to_vec();
            let (at, value) = match numbers.below(3) {
                0 => {
                    let code = numbers.below(CODES) as u8;
                    (record.start + 1, vec![code])
                }
                _ if record.len() == 4 => {
                    let value = numbers.one_of(&[0u16, 1, 2, 8, 0x100, 0xffff])?;
                    (record.start + 2, value.to_le_bytes().to_vec())
                }
                _ => {
                    let words = (record.len() - 4) / 4;
                    let value = numbers.one_of(&[0u32, 1, 4, 0x20, 0x1000, u32::MAX])?;
                    (
                        record.start + 4 + 4 * numbers.below(words),
                        value.to_le_bytes().to_vec(),
                    )
                }
            };
            object.set_bytes(at, &value);
            Some(format!(
                "record {head:x?} at {:#x}: byte {} is {value:x?}",
                record.start,
                at - record.start
            ))
        }
        _ if symbol == 0 => None,
        Kind::Binding => {
            let bind = numbers.below(3) as u8;
            let info = object.symbol_byte(symbol, 4)?;
            *info = *info & 15 | bind << 4;
            Some(format!("symbol {symbol}: binding {bind}"))
        }
        Kind::SymbolType => {
            let ty = numbers.one_of(&[0, 1, 2, 10, 11, 12, 13])?;
            let info = object.symbol_byte(symbol, 4)?;
            *info = *info & 0xf0 | ty;
            Some(format!("symbol {symbol}: type {ty}"))
        }
        Kind::Other => {
            let other = numbers.one_of(&[0, 0x10, 0x20, 0x40, 0x80, 0x81, 0xa0, 3])?;
            *object.symbol_byte(symbol, 5)? = other;
            Some(format!("symbol {symbol}: st_other {other:#x}"))
        }
        Kind::Size => {
            let size = numbers.one_of(&[0, 1, 4, 8, 12, 0x100, 0x20000])?;
            object.set_symbol_size(symbol, size);
            Some(format!("symbol {symbol}: size {size:#x}"))
        }
        Kind::Value => {
            let value = numbers.one_of(&[0, 1, 4, 8, 16, 0x100, 1 << 40])?;
            object.set_symbol_value(symbol, value);
            Some(format!("symbol {symbol}: value {value:#x}"))
        }
        Kind::SymbolSection => {
            let any = numbers.below(object.section_count()) as u16;
            let section = numbers.one_of(&[any, 0, any, any, 0xfff2, 0xfff1])?;
            object.set_symbol_section(symbol, section);
            Some(format!("symbol {symbol}: section {section:#x}"))
        }
    }
}
