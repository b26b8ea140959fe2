//! The code of a link stub for x86-64. It does not depend on where it is, for programs and shared
//! libraries alike.

use object::elf::R_X86_64_64;
use object::elf::R_X86_64_PC32;
use object::elf::R_X86_64_PLT32;
use object::elf::R_X86_64_REX_GOTPCRELX;

use super::Machine;
use super::code::Code;
use super::code::FrameRule;
use super::code::Place;
use super::code::Role;
use super::unwind::Registers;

/// `rbx` in DWARF's numbers.
const RBX: u8 = 3;

/// What is particular to the machine.
pub const MACHINE: Machine = Machine {
    architecture: object::Architecture::X86_64,
    pointer: R_X86_64_64,
    relative: R_X86_64_PC32,
    registers: Registers {
        code_alignment: 1,
        return_address: 16,
        stack_pointer: 7,
        // The call has put the return address there.
        entry_size: 8,
        return_is_saved: true,
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
        relative(code, &[0x48, 0x8b, 0x3d], Place::Handle); // mov handle(%rip), %rdi
        jump(code, Place::External(super::UNREGISTER));
    });
    for index in 0..modules as usize {
        code.function(Role::Module(index), |code| module(code, index));
    }
    code.function(Role::Register, |code| register(code, modules));
    code
}

/// Writes the function of a module: `rdi` is what it wants to be called back, `rcx` what it wants to
/// be called with its id.
fn module(code: &mut Code, index: usize) {
    enter(code);
    code.put(&[0x48, 0x89, 0xfb]); // mov %rdi, %rbx
    relative(code, &[0x48, 0x8d, 0x3d], Place::IdReference(index)); // lea id(%rip), %rdi
    code.put(&[0xff, 0xd1]); // call *%rcx
    // The descriptor may be in another part of the program than a distance of 32 bits reaches.
    code.put(&[0x48, 0x8b, 0x3d]); // mov descriptor@GOTPCREL(%rip), %rdi
    let place = Place::ModuleDescriptor(index);
    field(code, R_X86_64_REX_GOTPCRELX, place);
    code.put(&[0x48, 0x89, 0xde]); // mov %rbx, %rsi
    leave(code);
    jump(code, Place::Function(Role::Register));
}

/// Writes the function that counts modules: `rdi` is the descriptor of one, `rsi` what it wants to
/// be called back.
fn register(code: &mut Code, modules: u32) {
    relative(code, &[0x8b, 0x05], Place::Count); // mov count(%rip), %eax
    code.put(&[0x48, 0x8b, 0x57, 0x08]); // mov 8(%rdi), %rdx
    relative(code, &[0x48, 0x8d, 0x0d], Place::Fatbins); // lea fatbins(%rip), %rcx
    code.put(&[0x48, 0x89, 0x14, 0xc1]); // mov %rdx, (%rcx,%rax,8)
    relative(code, &[0x48, 0x8d, 0x15], Place::Callbacks); // lea callbacks(%rip), %rdx
    code.put(&[0x48, 0x89, 0x34, 0xc2]); // mov %rsi, (%rdx,%rax,8)
    code.put(&[0x83, 0xc0, 0x01]); // add $1, %eax
    relative(code, &[0x89, 0x05], Place::Count); // mov %eax, count(%rip)
    code.put(&[0x3d]); // cmp $modules, %eax
    code.put(&modules.to_le_bytes());
    code.put(&[0x74, 0x01]); // je over the next instruction
    code.put(&[0xc3]); // ret
    enter(code);
    relative(code, &[0x48, 0x8d, 0x3d], Place::Descriptor); // lea descriptor(%rip), %rdi
    call(code, Place::External(super::REGISTER));
    relative(code, &[0x48, 0x89, 0x05], Place::Handle); // mov %rax, handle(%rip)
    let unregister = Place::Function(Role::Unregister);
    relative(code, &[0x48, 0x8d, 0x3d], unregister); // lea unregister(%rip), %rdi
    call(code, Place::External(super::AT_EXIT));
    code.put(&[0x31, 0xdb]); // xor %ebx, %ebx
    let start = code.at();
    relative(code, &[0x48, 0x8b, 0x3d], Place::Handle); // mov handle(%rip), %rdi
    relative(code, &[0x48, 0x8d, 0x05], Place::Callbacks); // lea callbacks(%rip), %rax
    code.put(&[0xff, 0x14, 0xd8]); // call *(%rax,%rbx,8)
    code.put(&[0x83, 0xc3, 0x01]); // add $1, %ebx
    code.put(&[0x81, 0xfb]); // cmp $modules, %ebx
    code.put(&modules.to_le_bytes());
    let back = (code.at() + 2 - start) as u8;
    code.put(&[0x75, back.wrapping_neg()]); // jne start
    relative(code, &[0x48, 0x8b, 0x3d], Place::Handle); // mov handle(%rip), %rdi
    leave(code);
    jump(code, Place::External(super::REGISTER_END));
}

/// Saves a register, which aligns the stack for calls.
fn enter(code: &mut Code) {
    code.put(&[0x53]); // push %rbx
    code.frame(&[FrameRule::Size(16), FrameRule::Saved(RBX, 2)]);
}

fn leave(code: &mut Code) {
    code.put(&[0x5b]); // pop %rbx
    code.frame(&[FrameRule::Size(8), FrameRule::Restored(RBX)]);
}

/// Adds an instruction that ends with the distance to a place.
fn relative(code: &mut Code, instruction: &[u8], place: Place) {
    code.put(instruction);
    field(code, R_X86_64_PC32, place);
}

fn call(code: &mut Code, place: Place) {
    code.put(&[0xe8]);
    field(code, R_X86_64_PLT32, place);
}

fn jump(code: &mut Code, place: Place) {
    code.put(&[0xe9]);
    field(code, R_X86_64_PLT32, place);
}

/// Adds the distance of 32 bits from the end of an instruction.
fn field(code: &mut Code, kind: object::elf::RelocationType, place: Place) {
    code.fixup(code.at(), kind, place, -4);
    code.put(&[0; 4]);
}
