//! The table of forms, and one record against its instruction.

use super::*;

#[test]
fn rows_are_in_order_and_their_fields_lie_in_one_half() {
    let keys = table::TABLE
        .iter()
        .map(|row| (row.sass, row.head, row.operation));
    let keys: Vec<_> = keys.collect();
    assert!(keys.is_sorted_by(|a, b| a < b));
    for row in &table::TABLE {
        let length = match row.head {
            1 => 128,
            2 => 256,
            _ => 32,
        };
        assert_eq!(row.code.1 & !row.code.0, 0, "{row:?}");
        assert_eq!(row.start.1 & !row.start.0, 0, "{row:?}");
        for &(first, second, width) in row.fields {
            let end = u16::from(first) + u16::from(width);
            assert!(end <= length, "{row:?}");
            assert!(first % 128 + width <= 128, "{row:?}");
            assert!(
                second + width <= 105,
                "control bits are not in records: {row:?}"
            );
        }
        for &(bit, first, width) in row.all {
            assert!(u16::from(bit) < length && first + width <= 105, "{row:?}");
        }
    }
}

#[test]
fn a_record_names_the_register_and_the_predicate_of_its_instruction() {
    // `S2R R3, SR_TID.X`, as ptxas writes it.
    let word = Instruction(0x000e_6e00_0000_2100_0000_0000_0003_7919);
    let record: u128 = 0x0000_0201_00c1_0000_0004_00f8_0a04_0b01;
    let stands = |record: u128, word: u128| may_stand_for(&record.to_le_bytes(), Instruction(word));
    assert!(stands(record, word.0));
    // R2, R3 under a predicate, in one of both and in both.
    for (in_record, in_code) in [(1 << 86, 1 << 16), (1 << 35 | 3 << 38, 1 << 12)] {
        assert!(!stands(record ^ in_record, word.0));
        assert!(!stands(record, word.0 ^ in_code));
        assert!(stands(record ^ in_record, word.0 ^ in_code));
    }
    // RZ has more bits in the record.
    assert!(stands(record | 0x3ff << 86, word.0 | 0xff << 16));
    // Scoreboards are not in it.
    assert!(stands(record, word.0 ^ 1 << 110));
}

#[test]
fn a_record_is_of_a_system_value_that_its_instruction_reads() {
    // `S2R R3, SR_TID.X` and `SR_TID.Y`, and a value that is not known.
    let word: u128 = 0x000e_6e00_0000_2100_0000_0000_0003_7919;
    let record: u128 = 0x0000_0201_00c1_0000_0004_00f8_0a04_0b01;
    let stands = |record: u128, word: u128| may_stand_for(&record.to_le_bytes(), Instruction(word));
    assert!(stands(record ^ 3 << 96, word ^ 3 << 72));
    assert!(!stands(record ^ 3 << 96, word));
    assert!(!stands(record, word ^ 3 << 72));
    assert!(stands(record ^ 0xfe << 96, word));
}

#[test]
fn a_return_has_one_head() {
    // `RET.ABS.NODEC R20 0x0`.
    let word: u128 = 0x001f_ea00_03e0_0000_0000_0000_1400_7950;
    let stands = |record: [u8; 4], word: u128| may_stand_for(&record, Instruction(word));
    assert!(stands([0x42, 0x33, 0x00, 0x0e], word));
    assert!(!stands([0x42, 0x33, 0xff, 0x0e], word));
    // Under a predicate it may have another.
    assert!(stands([0x42, 0x33, 0x01, 0x0e], word ^ 7 << 12));
}
