//! `.eh_frame`: how frames of a link stub are unwound, as the System V ABI and DWARF have it.

use super::code::Code;
use super::code::FrameRule;
use super::code::Function;

/// Addresses are 4 bytes that count from where they are.
const POINTER_ENCODING: u8 = 0x1b;
const DW_CFA_NOP: u8 = 0;
const DW_CFA_ADVANCE_LOC: u8 = 0x40;
const DW_CFA_OFFSET: u8 = 0x80;
const DW_CFA_RESTORE: u8 = 0xc0;
const DW_CFA_ADVANCE_LOC1: u8 = 2;
const DW_CFA_DEF_CFA: u8 = 0xc;
const DW_CFA_DEF_CFA_OFFSET: u8 = 0xe;

/// Sizes are in multiples of -8: a SLEB128.
const DATA_ALIGNMENT: u8 = 0x78;

/// What the machine's calls do, in DWARF's numbers of registers.
#[derive(Clone, Copy, Debug)]
pub struct Registers {
    /// What distances in code are multiples of.
    pub code_alignment: u8,
    /// The register, or column, of the return address.
    pub return_address: u8,
    /// The stack pointer.
    pub stack_pointer: u8,
    /// Bytes that a call puts on the stack.
    pub entry_size: u8,
    /// Whether the return address is among them.
    pub return_is_saved: bool,
}

/// The section, and where it refers to functions.
pub struct EhFrame {
    /// The contents.
    pub bytes: Vec<u8>,
    /// Offsets of the distances to functions, in the order of the functions.
    pub functions: Vec<u64>,
}

/// Builds the section for all functions of some code.
pub fn eh_frame(code: &Code, registers: &Registers) -> EhFrame {
    let mut common = Vec::new();
    common.extend_from_slice(&0u32.to_le_bytes());
    common.push(1);
    common.extend_from_slice(b"zR\0");
    common.extend_from_slice(&[
        registers.code_alignment,
        DATA_ALIGNMENT,
        registers.return_address,
        1,
        POINTER_ENCODING,
        DW_CFA_DEF_CFA,
        registers.stack_pointer,
        registers.entry_size,
    ]);
    if registers.return_is_saved {
        common.extend_from_slice(&[DW_CFA_OFFSET | registers.return_address, 1]);
    }
    let mut frame = EhFrame {
        bytes: Vec::new(),
        functions: Vec::new(),
    };
    frame.entry(common);
    for function in &code.functions {
        // From the field back to the entry that is common to all, which is the first.
        let back = frame.bytes.len() as u32 + 4;
        frame.functions.push(u64::from(back) + 4);
        let mut entry = back.to_le_bytes().to_vec();
        entry.extend_from_slice(&0u32.to_le_bytes());
        entry.extend_from_slice(&(function.size as u32).to_le_bytes());
        entry.push(0);
        rules(function, registers, &mut entry);
        frame.entry(entry);
    }
    frame
}

impl EhFrame {
    /// Adds an entry, filled up to a multiple of 8 bytes.
    fn entry(&mut self, mut entry: Vec<u8>) {
        let size = (entry.len() + 4).next_multiple_of(8) - 4;
        entry.resize(size, DW_CFA_NOP);
        self.bytes.extend_from_slice(&(size as u32).to_le_bytes());
        self.bytes.extend_from_slice(&entry);
    }
}

fn rules(function: &Function, registers: &Registers, entry: &mut Vec<u8>) {
    let mut at = 0;
    for (offset, rule) in &function.frame {
        let distance = ((offset - at) / u64::from(registers.code_alignment)) as u8;
        at = *offset;
        match distance {
            0 => {}
            1..0x40 => entry.push(DW_CFA_ADVANCE_LOC | distance),
            _ => entry.extend_from_slice(&[DW_CFA_ADVANCE_LOC1, distance]),
        }
        match rule {
            FrameRule::Size(size) => entry.extend_from_slice(&[DW_CFA_DEF_CFA_OFFSET, *size]),
            FrameRule::Saved(register, slot) => {
                entry.extend_from_slice(&[DW_CFA_OFFSET | register, *slot]);
            }
            FrameRule::Restored(register) => entry.push(DW_CFA_RESTORE | register),
        }
    }
}
