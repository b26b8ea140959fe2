//! The table of forms, and one record against its instruction.

use super::*;

#[test]
fn forms_are_in_order_and_operands_lie_in_one_half() {
    let keys = table::TABLE
        .iter()
        .map(|row| (row.sass, row.head, row.operation));
    let keys: Vec<_> = keys.collect();
    assert!(keys.is_sorted_by(|a, b| a < b));
    for row in table::TABLE {
        let registers = row.registers.iter().map(|&(a, b)| (a, b, REGISTER, 2));
        let predicates = row.predicates.iter().map(|&(a, b)| (a, b, PREDICATE, 2));
        let immediates = row.immediates.iter().map(|&(a, b, width)| (a, b, width, 0));
        for (first, second, width, more) in registers.chain(predicates).chain(immediates) {
            let end = u16::from(first) + u16::from(width + more);
            assert!(end <= u16::from(row.head) * 128, "{row:?}");
            assert!(first % 128 + width + more <= 128, "{row:?}");
            assert!(
                second + width <= 105,
                "control bits are not in records: {row:?}"
            );
        }
    }
}

/// `S2R R3, SR_TID.X`, as ptxas writes it, and its record.
const WORD: u128 = 0x000e_6e00_0000_2100_0000_0000_0003_7919;
const RECORD: u128 = 0x0000_0201_00c1_0000_0004_00f8_0a04_0b01;

fn may(record: u128, word: u128) -> bool {
    may_become(&record.to_le_bytes(), Instruction(word))
}

#[test]
fn a_record_has_the_register_and_the_guard_of_its_instruction() {
    assert!(may(RECORD, WORD));
    // R2, R3 if P4, R3 if not, in one of both and in both.
    let guard = (1 << 35 | 1 << 36 | 3 << 38, 1 << 12 | 1 << 13);
    for (in_record, in_code) in [(1 << 86, 1 << 16), guard, (1 << 32, 1 << 15)] {
        assert!(!may(RECORD ^ in_record, WORD));
        assert!(!may(RECORD, WORD ^ in_code));
        assert!(may(RECORD ^ in_record, WORD ^ in_code));
    }
    // RZ has two more bits in the record.
    assert!(may(RECORD | 0x3ff << 86, WORD | 0xff << 16));
    assert!(!may(RECORD | 0xff << 86, WORD | 0xff << 16));
}

#[test]
fn a_record_is_of_the_system_value_that_its_instruction_reads() {
    // SR_TID.Y in one of both and in both, and a value that is not known.
    assert!(may(RECORD ^ 3 << 96, WORD ^ 3 << 72));
    assert!(!may(RECORD ^ 3 << 96, WORD));
    assert!(!may(RECORD, WORD ^ 3 << 72));
    assert!(may(RECORD ^ 0xfe << 96, WORD));
}

#[test]
fn control_bits_and_unknown_forms_are_not_asked_for() {
    assert!(may(RECORD, WORD ^ 1 << 110));
    // An operation that has no form.
    assert!(may(RECORD ^ 0x40 << 8, WORD ^ 1 << 16));
    assert!(!may_become(&[], Instruction(WORD)));
}
