//! The code of a link stub for 64-bit Arm. It does not depend on where it is, for programs and
//! shared libraries alike.

use object::elf::R_AARCH64_ABS64;
use object::elf::R_AARCH64_ADD_ABS_LO12_NC;
use object::elf::R_AARCH64_ADR_GOT_PAGE;
use object::elf::R_AARCH64_ADR_PREL_PG_HI21;
use object::elf::R_AARCH64_CALL26;
use object::elf::R_AARCH64_JUMP26;
use object::elf::R_AARCH64_LD64_GOT_LO12_NC;
use object::elf::R_AARCH64_PREL32;

use super::Machine;
use super::code::Code;
use super::code::FrameRule;
use super::code::Place;
use super::code::Role;
use super::unwind::Registers;

/// Size of the frames that are made here, in bytes.
const FRAME: u8 = 32;

/// What is particular to the machine.
pub const MACHINE: Machine = Machine {
    architecture: object::Architecture::Aarch64,
    pointer: R_AARCH64_ABS64,
    relative: R_AARCH64_PREL32,
    registers: Registers {
        code_alignment: 4,
        return_address: 30,
        stack_pointer: 31,
        entry_size: 0,
        return_is_saved: false,
    },
    code,
};

/// Writes the functions of a stub that waits for this number of modules.
fn code(modules: u32) -> Code {
    let mut code = Code::default();
    if modules == 0 {
        return code;
    }
    code.function(Role::Unregister, |code| {
        address(code, 0, Place::Handle);
        put(code, 0xf940_0000); // ldr x0, [x0]
        jump(code, Place::External(super::UNREGISTER));
    });
    for index in 0..modules as usize {
        code.function(Role::Module(index), |code| module(code, index));
    }
    code.function(Role::Register, |code| register(code, modules));
    code
}

/// Writes the function of a module: `x0` is what it wants to be called back, `x3` what it wants to be
/// called with its id.
fn module(code: &mut Code, index: usize) {
    enter(code);
    put(code, 0xaa00_03f3); // mov x19, x0
    address(code, 0, Place::IdReference(index));
    put(code, 0xd63f_0060); // blr x3
    let place = Place::ModuleDescriptor(index);
    refer(code, 0x9000_0000, R_AARCH64_ADR_GOT_PAGE, place); // adrp x0, :got:descriptor
    refer(code, 0xf940_0000, R_AARCH64_LD64_GOT_LO12_NC, place); // ldr x0, [x0, :got_lo12:descriptor]
    put(code, 0xaa13_03e1); // mov x1, x19
    leave(code);
    jump(code, Place::Function(Role::Register));
}

/// Writes the function that counts modules: `x0` is the descriptor of one, `x1` what it wants to be
/// called back.
fn register(code: &mut Code, modules: u32) {
    address(code, 2, Place::Count);
    put(code, 0xb940_0043); // ldr w3, [x2]
    put(code, 0xf940_0404); // ldr x4, [x0, #8]
    address(code, 5, Place::Fatbins);
    put(code, 0xf823_78a4); // str x4, [x5, x3, lsl #3]
    address(code, 5, Place::Callbacks);
    put(code, 0xf823_78a1); // str x1, [x5, x3, lsl #3]
    put(code, 0x1100_0463); // add w3, w3, #1
    put(code, 0xb900_0043); // str w3, [x2]
    number(code, 4, modules);
    put(code, 0x6b04_007f); // cmp w3, w4
    put(code, 0x5400_0040); // b.eq over the next instruction
    put(code, 0xd65f_03c0); // ret
    enter(code);
    address(code, 0, Place::Descriptor);
    call(code, Place::External(super::REGISTER));
    address(code, 19, Place::Handle);
    put(code, 0xf900_0260); // str x0, [x19]
    address(code, 0, Place::Function(Role::Unregister));
    call(code, Place::External(super::AT_EXIT));
    put(code, 0x5280_0014); // mov w20, #0
    let start = code.at();
    put(code, 0xf940_0260); // ldr x0, [x19]
    address(code, 1, Place::Callbacks);
    put(code, 0xf874_7821); // ldr x1, [x1, x20, lsl #3]
    put(code, 0xd63f_0020); // blr x1
    put(code, 0x1100_0694); // add w20, w20, #1
    number(code, 4, modules);
    put(code, 0x6b04_029f); // cmp w20, w4
    let back = ((code.at() - start) / 4) as u32;
    put(code, 0x5400_0001 | (back.wrapping_neg() & 0x7_ffff) << 5); // b.ne start
    put(code, 0xf940_0260); // ldr x0, [x19]
    leave(code);
    jump(code, Place::External(super::REGISTER_END));
}

/// Saves the registers that are used across calls.
fn enter(code: &mut Code) {
    put(code, 0xa9be_7bfd); // stp x29, x30, [sp, #-32]!
    code.frame(&[
        FrameRule::Size(FRAME),
        FrameRule::Saved(29, 4),
        FrameRule::Saved(30, 3),
    ]);
    put(code, 0x9100_03fd); // mov x29, sp
    put(code, 0xa901_53f3); // stp x19, x20, [sp, #16]
    code.frame(&[FrameRule::Saved(19, 2), FrameRule::Saved(20, 1)]);
}

fn leave(code: &mut Code) {
    put(code, 0xa941_53f3); // ldp x19, x20, [sp, #16]
    put(code, 0xa8c2_7bfd); // ldp x29, x30, [sp], #32
    let restored = [19, 20, 29, 30].map(FrameRule::Restored);
    code.frame(&[FrameRule::Size(0)]);
    code.frame(&restored);
}

/// Loads the address of a place of the stub into a register.
fn address(code: &mut Code, register: u32, place: Place) {
    let page = 0x9000_0000 | register; // adrp register, place
    refer(code, page, R_AARCH64_ADR_PREL_PG_HI21, place);
    let rest = 0x9100_0000 | register << 5 | register; // add register, register, :lo12:place
    refer(code, rest, R_AARCH64_ADD_ABS_LO12_NC, place);
}

/// Loads a number into a register.
fn number(code: &mut Code, register: u32, value: u32) {
    put(code, 0x5280_0000 | (value & 0xffff) << 5 | register); // movz register, #low
    put(code, 0x72a0_0000 | (value >> 16) << 5 | register); // movk register, #high, lsl #16
}

fn call(code: &mut Code, place: Place) {
    refer(code, 0x9400_0000, R_AARCH64_CALL26, place);
}

fn jump(code: &mut Code, place: Place) {
    refer(code, 0x1400_0000, R_AARCH64_JUMP26, place);
}

fn refer(code: &mut Code, instruction: u32, kind: object::elf::RelocationType, place: Place) {
    code.fixup(code.at(), kind, place, 0);
    put(code, instruction);
}

fn put(code: &mut Code, instruction: u32) {
    code.put(&instruction.to_le_bytes());
}
