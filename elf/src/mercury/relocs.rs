//! Relocation types of the Mercury view, by what the SASS view has in the same places. No tool
//! prints names of theirs.

use crate::symbol::SymbolType;

/// The Mercury type of an offset in a constant bank.
pub const CONSTANT_OFFSET: u32 = 0x10004;

/// The Mercury type of a place in a line table, and of an instruction that a table of a switch
/// names.
pub const LINE_TABLE: u32 = 0x10008;

const TEXTURE_HEADER: u32 = 0x1000b;
const SAMPLER_HEADER: u32 = 0x1000c;
const SURFACE_HEADER: u32 = 0x1000d;

/// Mercury types in code, each with the SASS types in the same place. The first decides what
/// becomes of a row.
const IN_CODE: [(u32, &[u32]); 9] = [
    (0x10002, &[0x4b, 0x72]),
    (0x10003, &[0x37, 0x73]),
    (CONSTANT_OFFSET, &[0x3b, 0x42]),
    (0x10005, &[0x38, 0x70, 0x3e]),
    (0x10006, &[0x39, 0x71, 0x3f]),
    // The address of an instruction of the function itself: addends count bytes of the view's own
    // code.
    (0x10028, &[0x38]),
    (0x10029, &[0x39]),
    (0x1003e, &[0x70, 0x3e]),
    (0x1003f, &[0x71, 0x3f]),
];

/// Mercury types in data and debug sections.
const IN_DATA: [(u32, &[u32]); 44] = [
    (0x10001, &[0x04]),
    (0x10002, &[0x02, 0x66]),
    (0x10003, &[0x01, 0x67]),
    (LINE_TABLE, &[0x01]),
    // Slots of textures, samplers and surfaces.
    (TEXTURE_HEADER, &[0x06]),
    (SAMPLER_HEADER, &[0x65]),
    (SURFACE_HEADER, &[0x34]),
    (0x1000e, &[0x49]),
    (0x1000f, &[0x23]),
    // Single bytes of addresses, which packed structures and `mask()` have: plain, generic, of
    // function descriptors.
    (0x10010, &[0x4c, 0x68]),
    (0x10011, &[0x4d, 0x69]),
    (0x10012, &[0x4e, 0x6a]),
    (0x10013, &[0x4f, 0x6b]),
    (0x10014, &[0x50, 0x6c]),
    (0x10015, &[0x51, 0x6d]),
    (0x10016, &[0x52, 0x6e]),
    (0x10017, &[0x53, 0x6f]),
    (0x10018, &[0x54]),
    (0x10019, &[0x55]),
    (0x1001a, &[0x56]),
    (0x1001b, &[0x57]),
    (0x1001c, &[0x58]),
    (0x1001d, &[0x59]),
    (0x1001e, &[0x5a]),
    (0x1001f, &[0x5b]),
    (0x10020, &[0x5c]),
    (0x10021, &[0x5d]),
    (0x10022, &[0x5e]),
    (0x10023, &[0x5f]),
    (0x10024, &[0x60]),
    (0x10025, &[0x61]),
    (0x10026, &[0x62]),
    (0x10027, &[0x63]),
    (0x10032, &[0x66]),
    (0x10033, &[0x67]),
    (0x10034, &[0x68]),
    (0x10035, &[0x69]),
    (0x10036, &[0x6a]),
    (0x10037, &[0x6b]),
    (0x10038, &[0x6c]),
    (0x10039, &[0x6d]),
    (0x1003a, &[0x6e]),
    (0x1003b, &[0x6f]),
    (0x1003d, &[0x02]),
];

/// SASS types by the last bits of a Mercury type.
type Counterparts = [&'static [u32]; 0x40];

const fn by_type(pairs: &[(u32, &'static [u32])]) -> Counterparts {
    let mut table: Counterparts = [&[]; 0x40];
    let mut index = 0;
    while index < pairs.len() {
        table[(pairs[index].0 - MERCURY) as usize] = pairs[index].1;
        index += 1;
    }
    table
}

static OF_CODE: Counterparts = by_type(&IN_CODE);
static OF_DATA: Counterparts = by_type(&IN_DATA);

/// The first Mercury type.
const MERCURY: u32 = 0x10000;

/// Returns `true` if a type belongs to the Mercury view.
pub fn is_mercury(ty: u32) -> bool {
    ty >= MERCURY
}

/// Returns the SASS types that stand in the place of a Mercury type; empty if it is not known.
pub fn counterparts(ty: u32, in_code: bool) -> &'static [u32] {
    let table = if in_code { &OF_CODE } else { &OF_DATA };
    let index = ty.wrapping_sub(MERCURY) as usize;
    table.get(index).copied().unwrap_or(&[])
}

/// Returns the type that an executable has in the place of a UNIFIED one.
pub fn plain(ty: u32) -> Option<u32> {
    match ty {
        0x1003e => Some(0x10005),
        0x1003f => Some(0x10006),
        0x10032 | 0x10033 => Some(ty - 0x30),
        0x10034..=0x1003b => Some(ty - 0x24),
        _ => None,
    }
}

/// Returns the type by which the driver fills the header slot of a texture, sampler or surface, by
/// the type of its symbol.
pub fn header_type(symbol_type: SymbolType) -> u32 {
    match symbol_type {
        SymbolType::CUDA_SURFACE => SURFACE_HEADER,
        SymbolType::CUDA_SAMPLER => SAMPLER_HEADER,
        _ => TEXTURE_HEADER,
    }
}

/// Returns `true` if a type gives the address of an instruction, with an addend that counts in its
/// own view.
pub fn is_instruction_address(ty: u32) -> bool {
    matches!(ty, 0x10028 | 0x10029 | 0x1003d)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_tell_equal_types_apart() {
        assert_eq!(counterparts(0x10002, true), [0x4b, 0x72]);
        assert_eq!(counterparts(0x10002, false), [0x02, 0x66]);
        assert_eq!(plain(0x10032), Some(0x10002));
        assert!(counterparts(0x10007, true).is_empty());
        assert!(is_mercury(0x10001) && !is_mercury(0x73));
    }
}
