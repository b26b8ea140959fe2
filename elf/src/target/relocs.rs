//! Relocation types R_CUDA_0x00..0x73 of SASS sections, as data.
//!
//! Bits count from the least significant bit of the little-endian word at `r_offset`.

/// What the linker does with a type where the symbol's kind lets it apply relocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelocClass {
    /// R_CUDA_NONE.
    None,
    /// The linker fills the field.
    Applied,
    /// Only the driver fills the field: always kept.
    Driver,
    /// A function descriptor: kept, and meaningful against functions only.
    FunctionDescriptor,
    /// Clears the field if its function is gone.
    Clear,
    /// Makes an instruction that yields one that does nothing: its opcode. Filled where all code is
    /// of PTX before sm_70, otherwise dropped.
    Yield,
    /// The same of the predicate of that instruction, which is cleared.
    YieldPredicate,
    /// Legacy slot numbers, never written for sm_75 and up.
    Slot,
    /// Legacy branches, never written for sm_75 and up.
    PcRelative,
}

/// Bits that a relocation fills with `value >> shift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// First bit.
    pub bit: u8,
    /// Number of bits.
    pub width: u8,
    /// Bits of the value that are left out at the low end.
    pub shift: u8,
}

impl Field {
    /// Returns the value of the field, not shifted; `bytes` begin at the place of the relocation.
    pub fn read(self, bytes: &[u8]) -> u64 {
        let word = bytes
            .iter()
            .take(16)
            .rev()
            .fold(0, |word: u128, byte| word << 8 | u128::from(*byte));
        let mask = u64::MAX.unbounded_shr(64 - u32::from(self.width).min(64));
        word.unbounded_shr(self.bit.into()) as u64 & mask
    }
}

/// Width in bits of the number of a constant bank in an instruction.
const BANK_WIDTH: u8 = 5;

/// Where a constant bank number goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BankField {
    /// The type has none.
    None,
    /// Five bits at this bit.
    At(u8),
    /// FIELD19_28: bits 3..0 of the bank at bit 42, bit 4 at bit 26.
    Split,
}

/// A relocation type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelocType {
    /// Its name as NVIDIA's tools print it, without `R_CUDA_`.
    pub name: &'static str,
    /// What the linker does with it.
    pub class: RelocClass,
    /// The value field, if the linker fills it.
    pub field: Option<Field>,
    /// The constant bank field.
    pub bank: BankField,
    /// Against a texture, sampler or surface the type makes a slot in constant bank 0.
    pub makes_slot: bool,
    /// The plain type that an executable link turns this UNIFIED type into.
    pub plain: Option<u32>,
}

/// Returns the type with this number; `None` from 0x74 on.
pub fn reloc_type(ty: u32) -> Option<&'static RelocType> {
    RELOC_TYPES.get(ty as usize)
}

/// The type by which an instruction that yields gets the opcode of its addend.
pub const YIELD_OPCODE: u32 = 0x44;
/// The type by which it gets no predicate.
pub const YIELD_PREDICATE: u32 = 0x45;
/// That opcode, `NOP`, without its form.
pub const NO_OPERATION: u16 = 0x118;

/// Returns `true` if a type makes an instruction that yields one that does nothing. Such rows are
/// of the SASS view alone.
pub fn is_yield(ty: u32) -> bool {
    let class = reloc_type(ty).map(|row| row.class);
    matches!(class, Some(RelocClass::Yield | RelocClass::YieldPredicate))
}

/// Returns the type number with this name (without `R_CUDA_`).
pub fn reloc_by_name(name: &str) -> Option<u32> {
    RELOC_TYPES
        .iter()
        .position(|row| row.name == name)
        .map(|index| index as u32)
}

impl RelocType {
    /// Returns the bytes from the offset of a relocation to the end of the last field that it
    /// changes.
    pub fn bytes(&self) -> u64 {
        let bank = match self.bank {
            BankField::None => 0,
            BankField::At(bit) => bit + BANK_WIDTH,
            BankField::Split => 46,
        };
        let end = self.field.map_or(0, |field| field.bit + field.width);
        u64::from(end.max(bank)).div_ceil(8)
    }
}

/// Returns the type by which the driver fills the header slot of a texture, sampler or surface, by
/// the type of its symbol; sm_100 and up have another one for samplers [slots-by-kind].
pub fn header_reloc_type(symbol_type: SymbolType) -> u32 {
    match symbol_type {
        SymbolType::CUDA_SURFACE => 0x34,
        SymbolType::CUDA_SAMPLER => 0x07,
        _ => 0x06,
    }
}

/// The fields that hold the addend of a relocation type without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddendFields {
    value: Field,
    /// The number of the constant bank, which counts as a part of the addend.
    bank: Option<Field>,
}

impl AddendFields {
    /// Returns the addend; `bytes` begin at the place of the relocation.
    pub fn read(self, bytes: &[u8]) -> u64 {
        let bank = self.bank.map_or(0, |bank| bank.read(bytes));
        self.value.read(bytes).wrapping_add(bank)
    }

    /// Returns the bytes from the offset of a relocation to the end of the last field.
    pub fn bytes(self) -> u64 {
        let end = |field: Field| u64::from(field.bit + field.width).div_ceil(8);
        end(self.value).max(self.bank.map_or(0, end))
    }
}

/// Returns the fields that hold the addend of a type without one, for types of which they are
/// known [field-as-addend].
pub fn addend_fields(ty: u32) -> Option<AddendFields> {
    let row = reloc_type(ty)?;
    let value = match ty {
        0x03 | 0x22 => field(0, 32, 0),
        0x04 | 0x23 => field(0, 64, 0),
        0x1f..=0x21 => field(23, 32, 0),
        0x2f..=0x31 => field(20, 32, 0),
        0x3a => field(34, 47, 0),
        0x3d..=0x3f => field(32, 32, 0),
        0x54..=0x63 => field(0, 8, 0),
        _ => row
            .field
            .filter(|_| row.class != RelocClass::YieldPredicate),
    }?;
    let bank = match row.bank {
        BankField::None => None,
        BankField::At(bit) => field(bit, BANK_WIDTH, 0),
        BankField::Split => return None,
    };
    Some(AddendFields { value, bank })
}

/// Returns the fields that the linker or the driver changes at the place of a relocation: those of
/// its value, of the addend that it may hold before, and of the number of a constant bank. Empty if
/// they are not known.
pub fn changed_bits(ty: u32) -> Vec<Field> {
    let bits = |bit, width| Field {
        bit,
        width,
        shift: 0,
    };
    let row = reloc_type(ty);
    let mut fields: Vec<Field> = row.and_then(|row| row.field).into_iter().collect();
    fields.extend(addend_fields(ty).map(|addend| addend.value));
    match row.map_or(BankField::None, |row| row.bank) {
        BankField::None => {}
        BankField::At(bit) => fields.push(bits(bit, BANK_WIDTH)),
        BankField::Split => fields.extend([bits(42, 4), bits(26, 1)]),
    }
    fields.dedup_by_key(|field| (field.bit, field.width));
    fields
}

const fn field(bit: u8, width: u8, shift: u8) -> Option<Field> {
    Some(Field { bit, width, shift })
}

const fn row(
    name: &'static str,
    class: RelocClass,
    field: Option<Field>,
    bank: BankField,
    makes_slot: bool,
    plain: Option<u32>,
) -> RelocType {
    RelocType {
        name,
        class,
        field,
        bank,
        makes_slot,
        plain,
    }
}

use crate::symbol::SymbolType;

use BankField as Bank;
use RelocClass as Class;

/// All types, indexed by number.
#[rustfmt::skip]
pub static RELOC_TYPES: [RelocType; 116] = [
    /* 00 */ row("NONE", Class::None, None, Bank::None, false, None),
    /* 01 */ row("32", Class::Applied, field(0, 32, 0), Bank::None, false, None),
    /* 02 */ row("64", Class::Applied, field(0, 64, 0), Bank::None, false, None),
    /* 03 */ row("G32", Class::Driver, None, Bank::None, false, None),
    /* 04 */ row("G64", Class::Driver, None, Bank::None, false, None),
    /* 05 */ row("ABS32_26", Class::Applied, field(26, 32, 0), Bank::None, true, None),
    /* 06 */ row("TEX_HEADER_INDEX", Class::Driver, None, Bank::None, false, None),
    /* 07 */ row("SAMP_HEADER_INDEX", Class::Driver, None, Bank::None, false, None),
    /* 08 */ row("SURF_HW_DESC", Class::Driver, None, Bank::None, false, None),
    /* 09 */ row("SURF_HW_SW_DESC", Class::Driver, None, Bank::None, false, None),
    /* 0a */ row("ABS32_LO_26", Class::Applied, field(26, 32, 0), Bank::None, false, None),
    /* 0b */ row("ABS32_HI_26", Class::Applied, field(26, 32, 32), Bank::None, false, None),
    /* 0c */ row("ABS32_23", Class::Applied, field(23, 32, 0), Bank::None, true, None),
    /* 0d */ row("ABS32_LO_23", Class::Applied, field(23, 32, 0), Bank::None, false, None),
    /* 0e */ row("ABS32_HI_23", Class::Applied, field(23, 32, 32), Bank::None, false, None),
    /* 0f */ row("ABS24_26", Class::Applied, field(26, 24, 0), Bank::None, false, None),
    /* 10 */ row("ABS24_23", Class::Applied, field(23, 24, 0), Bank::None, false, None),
    /* 11 */ row("ABS16_26", Class::Applied, field(26, 16, 0), Bank::None, true, None),
    /* 12 */ row("ABS16_23", Class::Applied, field(23, 16, 0), Bank::None, true, None),
    /* 13 */ row("TEX_SLOT", Class::Slot, field(32, 8, 0), Bank::None, false, None),
    /* 14 */ row("SAMP_SLOT", Class::Slot, field(40, 5, 0), Bank::None, false, None),
    /* 15 */ row("SURF_SLOT", Class::Slot, field(26, 6, 0), Bank::None, false, None),
    /* 16 */ row("TEX_BINDLESSOFF13_32", Class::Applied, field(32, 13, 2), Bank::None, true, None),
    /* 17 */ row("TEX_BINDLESSOFF13_47", Class::Applied, field(47, 13, 2), Bank::None, true, None),
    /* 18 */ row("CONST_FIELD19_28", Class::Applied, field(28, 14, 2), Bank::Split, true, None),
    /* 19 */ row("CONST_FIELD19_23", Class::Applied, field(23, 14, 2), Bank::At(37), true, None),
    /* 1a */ row("TEX_SLOT9_49", Class::Slot, field(49, 9, 0), Bank::None, false, None),
    /* 1b */ row("6_31", Class::Applied, field(31, 6, 0), Bank::None, false, None),
    /* 1c */ row("2_47", Class::Applied, field(47, 2, 0), Bank::None, false, None),
    /* 1d */ row("TEX_BINDLESSOFF13_41", Class::Applied, field(41, 13, 2), Bank::None, true, None),
    /* 1e */ row("TEX_BINDLESSOFF13_45", Class::Applied, field(45, 13, 2), Bank::None, true, None),
    /* 1f */ row("FUNC_DESC32_23", Class::FunctionDescriptor, None, Bank::None, false, None),
    /* 20 */ row("FUNC_DESC32_LO_23", Class::FunctionDescriptor, None, Bank::None, false, None),
    /* 21 */ row("FUNC_DESC32_HI_23", Class::FunctionDescriptor, None, Bank::None, false, None),
    /* 22 */ row("FUNC_DESC_32", Class::FunctionDescriptor, None, Bank::None, false, None),
    /* 23 */ row("FUNC_DESC_64", Class::FunctionDescriptor, None, Bank::None, false, None),
    /* 24 */ row("CONST_FIELD21_26", Class::Applied, field(26, 16, 0), Bank::At(42), false, None),
    /* 25 */ row("QUERY_DESC21_37", Class::Applied, field(37, 16, 0), Bank::At(53), false, None),
    /* 26 */ row("CONST_FIELD19_26", Class::Applied, field(26, 14, 2), Bank::At(40), true, None),
    /* 27 */ row("CONST_FIELD21_23", Class::Applied, field(23, 16, 0), Bank::At(39), true, None),
    /* 28 */ row("PCREL_IMM24_26", Class::PcRelative, None, Bank::None, false, None),
    /* 29 */ row("PCREL_IMM24_23", Class::PcRelative, None, Bank::None, false, None),
    /* 2a */ row("ABS32_20", Class::Applied, field(20, 32, 0), Bank::None, true, None),
    /* 2b */ row("ABS32_LO_20", Class::Applied, field(20, 32, 0), Bank::None, false, None),
    /* 2c */ row("ABS32_HI_20", Class::Applied, field(20, 32, 32), Bank::None, false, None),
    /* 2d */ row("ABS24_20", Class::Applied, field(20, 24, 0), Bank::None, false, None),
    /* 2e */ row("ABS16_20", Class::Applied, field(20, 16, 0), Bank::None, true, None),
    /* 2f */ row("FUNC_DESC32_20", Class::FunctionDescriptor, None, Bank::None, false, None),
    /* 30 */ row("FUNC_DESC32_LO_20", Class::FunctionDescriptor, None, Bank::None, false, None),
    /* 31 */ row("FUNC_DESC32_HI_20", Class::FunctionDescriptor, None, Bank::None, false, None),
    /* 32 */ row("CONST_FIELD19_20", Class::Applied, field(20, 14, 2), Bank::At(34), true, None),
    /* 33 */ row("BINDLESSOFF13_36", Class::Applied, field(36, 13, 2), Bank::None, true, None),
    /* 34 */ row("SURF_HEADER_INDEX", Class::Driver, None, Bank::None, false, None),
    /* 35 */ row("INSTRUCTION64", Class::Driver, None, Bank::None, false, None),
    /* 36 */ row("CONST_FIELD21_20", Class::Applied, field(20, 16, 0), Bank::At(36), true, None),
    /* 37 */ row("ABS32_32", Class::Applied, field(32, 32, 0), Bank::None, true, None),
    /* 38 */ row("ABS32_LO_32", Class::Applied, field(32, 32, 0), Bank::None, false, None),
    /* 39 */ row("ABS32_HI_32", Class::Applied, field(32, 32, 32), Bank::None, false, None),
    /* 3a */ row("ABS47_34", Class::Driver, None, Bank::None, false, None),
    /* 3b */ row("ABS16_32", Class::Applied, field(32, 16, 0), Bank::None, true, None),
    /* 3c */ row("ABS24_32", Class::Applied, field(32, 24, 0), Bank::None, false, None),
    /* 3d */ row("FUNC_DESC32_32", Class::FunctionDescriptor, None, Bank::None, false, None),
    /* 3e */ row("FUNC_DESC32_LO_32", Class::FunctionDescriptor, None, Bank::None, false, None),
    /* 3f */ row("FUNC_DESC32_HI_32", Class::FunctionDescriptor, None, Bank::None, false, None),
    /* 40 */ row("CONST_FIELD19_40", Class::Applied, field(40, 14, 2), Bank::At(54), true, None),
    /* 41 */ row("BINDLESSOFF14_40", Class::Applied, field(40, 14, 2), Bank::None, true, None),
    /* 42 */ row("CONST_FIELD21_38", Class::Applied, field(38, 16, 0), Bank::At(54), true, None),
    /* 43 */ row("INSTRUCTION128", Class::Driver, None, Bank::None, false, None),
    /* 44 */ row("YIELD_OPCODE9_0", Class::Yield, field(0, 9, 0), Bank::None, false, None),
    /* 45 */ row("YIELD_CLEAR_PRED4_87", Class::YieldPredicate, field(87, 4, 0), Bank::None, false, None),
    /* 46 */ row("32_LO", Class::Applied, field(0, 32, 0), Bank::None, false, None),
    /* 47 */ row("32_HI", Class::Applied, field(0, 32, 32), Bank::None, false, None),
    /* 48 */ row("UNUSED_CLEAR32", Class::Clear, field(0, 32, 0), Bank::None, false, None),
    /* 49 */ row("UNUSED_CLEAR64", Class::Clear, field(0, 64, 0), Bank::None, false, None),
    /* 4a */ row("ABS24_40", Class::Applied, field(40, 24, 0), Bank::None, false, None),
    /* 4b */ row("ABS55_16_34", Class::Driver, None, Bank::None, false, None),
    /* 4c */ row("8_0", Class::Applied, field(0, 8, 0), Bank::None, false, None),
    /* 4d */ row("8_8", Class::Applied, field(0, 8, 8), Bank::None, false, None),
    /* 4e */ row("8_16", Class::Applied, field(0, 8, 16), Bank::None, false, None),
    /* 4f */ row("8_24", Class::Applied, field(0, 8, 24), Bank::None, false, None),
    /* 50 */ row("8_32", Class::Applied, field(0, 8, 32), Bank::None, false, None),
    /* 51 */ row("8_40", Class::Applied, field(0, 8, 40), Bank::None, false, None),
    /* 52 */ row("8_48", Class::Applied, field(0, 8, 48), Bank::None, false, None),
    /* 53 */ row("8_56", Class::Applied, field(0, 8, 56), Bank::None, false, None),
    /* 54 */ row("G8_0", Class::Driver, None, Bank::None, false, None),
    /* 55 */ row("G8_8", Class::Driver, None, Bank::None, false, None),
    /* 56 */ row("G8_16", Class::Driver, None, Bank::None, false, None),
    /* 57 */ row("G8_24", Class::Driver, None, Bank::None, false, None),
    /* 58 */ row("G8_32", Class::Driver, None, Bank::None, false, None),
    /* 59 */ row("G8_40", Class::Driver, None, Bank::None, false, None),
    /* 5a */ row("G8_48", Class::Driver, None, Bank::None, false, None),
    /* 5b */ row("G8_56", Class::Driver, None, Bank::None, false, None),
    /* 5c */ row("FUNC_DESC_8_0", Class::Driver, None, Bank::None, false, None),
    /* 5d */ row("FUNC_DESC_8_8", Class::Driver, None, Bank::None, false, None),
    /* 5e */ row("FUNC_DESC_8_16", Class::Driver, None, Bank::None, false, None),
    /* 5f */ row("FUNC_DESC_8_24", Class::Driver, None, Bank::None, false, None),
    /* 60 */ row("FUNC_DESC_8_32", Class::Driver, None, Bank::None, false, None),
    /* 61 */ row("FUNC_DESC_8_40", Class::Driver, None, Bank::None, false, None),
    /* 62 */ row("FUNC_DESC_8_48", Class::Driver, None, Bank::None, false, None),
    /* 63 */ row("FUNC_DESC_8_56", Class::Driver, None, Bank::None, false, None),
    /* 64 */ row("ABS20_44", Class::Applied, field(44, 20, 0), Bank::None, false, None),
    /* 65 */ row("SAMP_HEADER_INDEX_0", Class::Driver, None, Bank::None, false, None),
    /* 66 */ row("UNIFIED", Class::Applied, field(0, 64, 0), Bank::None, false, Some(0x02)),
    /* 67 */ row("UNIFIED_32", Class::Applied, field(0, 32, 0), Bank::None, false, Some(0x01)),
    /* 68 */ row("UNIFIED_8_0", Class::Applied, field(0, 8, 0), Bank::None, false, Some(0x4c)),
    /* 69 */ row("UNIFIED_8_8", Class::Applied, field(0, 8, 8), Bank::None, false, Some(0x4d)),
    /* 6a */ row("UNIFIED_8_16", Class::Applied, field(0, 8, 16), Bank::None, false, Some(0x4e)),
    /* 6b */ row("UNIFIED_8_24", Class::Applied, field(0, 8, 24), Bank::None, false, Some(0x4f)),
    /* 6c */ row("UNIFIED_8_32", Class::Applied, field(0, 8, 32), Bank::None, false, Some(0x50)),
    /* 6d */ row("UNIFIED_8_40", Class::Applied, field(0, 8, 40), Bank::None, false, Some(0x51)),
    /* 6e */ row("UNIFIED_8_48", Class::Applied, field(0, 8, 48), Bank::None, false, Some(0x52)),
    /* 6f */ row("UNIFIED_8_56", Class::Applied, field(0, 8, 56), Bank::None, false, Some(0x53)),
    /* 70 */ row("UNIFIED32_LO_32", Class::Applied, field(32, 32, 0), Bank::None, false, Some(0x38)),
    /* 71 */ row("UNIFIED32_HI_32", Class::Applied, field(32, 32, 32), Bank::None, false, Some(0x39)),
    /* 72 */ row("ABS56_16_34", Class::Driver, None, Bank::None, false, None),
    /* 73 */ row("CONST_FIELD22_37", Class::Applied, field(37, 17, 0), Bank::At(54), true, None),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found_again() {
        for (index, row) in RELOC_TYPES.iter().enumerate() {
            assert_eq!(reloc_by_name(row.name), Some(index as u32), "{}", row.name);
        }
    }

    #[test]
    fn fields_lie_within_a_word_of_an_instruction() {
        for row in &RELOC_TYPES {
            if let Some(field) = row.field {
                assert!(
                    field.width >= 1 && field.bit % 64 + field.width <= 64,
                    "{}",
                    row.name
                );
            }
            if let BankField::At(bit) = row.bank {
                assert!(bit + 5 <= 64, "{}", row.name);
            }
        }
    }

    #[test]
    fn addends_of_constants_have_the_number_of_the_bank() {
        let word: u64 = 1 << 40 | 5 << 54;
        let read = |ty| addend_fields(ty).map(|fields| fields.read(&word.to_le_bytes()));
        assert_eq!(read(0x40), Some(1 + 5));
        assert_eq!(read(0x3e), Some(word >> 32));
        assert_eq!(read(0x5c), Some(0));
    }

    #[test]
    fn unified_types_have_the_field_of_their_plain_type() {
        for row in &RELOC_TYPES {
            if let Some(plain) = row.plain {
                assert_eq!(
                    reloc_type(plain).and_then(|plain| plain.field),
                    row.field,
                    "{}",
                    row.name
                );
            }
        }
    }

    #[test]
    fn unknown_types_have_no_row() {
        assert!(reloc_type(0x73).is_some());
        assert!(reloc_type(0x74).is_none());
        assert!(reloc_type(u32::MAX).is_none());
    }
}
