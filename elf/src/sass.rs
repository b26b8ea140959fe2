//! SASS: the instructions of sm_75 and later.
//!
//! Control bits lie at the same place in all of them. What else is asked of an instruction was
//! measured for sm_100 and later, where it decides whether nvlink would schedule a kernel anew
//! [scheduled-anew].

mod class;
mod control;
pub mod operands;

pub use class::Class;
pub use class::Space;
pub use control::Control;

use crate::target::relocs::Field;

/// A SASS instruction: 128 bits, little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction(pub u128);

/// The first bit of the number of the scoreboard that `DEPBAR` names.
const NAMED_SCOREBOARD: u32 = 44;

impl Instruction {
    /// Returns the instructions of some code; a rest of less than 16 bytes is left out.
    pub fn all(code: &[u8]) -> impl Iterator<Item = Instruction> {
        let (words, _) = code.as_chunks::<16>();
        words
            .iter()
            .map(|word| Instruction(u128::from_le_bytes(*word)))
    }

    /// Returns the operation, bits 0 to 11 with the form of the operands.
    pub fn operation(self) -> u16 {
        (self.0 & 0xfff) as u16
    }

    /// Returns `true` if the instruction calls a function: `CALL` in all forms.
    pub fn is_call(self) -> bool {
        matches!(self.operation() & 0x1ff, 0x143 | 0x144)
    }

    /// Returns `width` bits of the instruction, from bit `low`.
    pub fn bits(self, low: u32, width: u32) -> u128 {
        self.0 >> low & ((1 << width) - 1)
    }

    /// Returns the number of the register that it writes, bits 16 to 23; 255 for none.
    pub fn destination(self) -> u16 {
        (self.0 >> 16 & 0xff) as u16
    }

    /// Returns `true` if the instruction loads from shared memory into no register, as code does
    /// that waits for shared memory.
    pub fn waits_for_shared(self) -> bool {
        self.operation() == 0x984 && self.destination() == 0xff
    }

    /// Returns `true` if the next instruction follows after 15 cycles, the most there are, as each
    /// does that was compiled without optimisation.
    pub fn stalls_longest(self) -> bool {
        self.stall() == 0xf
    }

    /// Returns `true` if the instruction lets dependent grids begin, `PREEXIT`.
    pub fn is_early_exit(self) -> bool {
        self.operation() == 0x82d
    }

    /// Returns `true` if the instruction is a memory barrier, `MEMBAR`.
    pub fn is_memory_barrier(self) -> bool {
        self.operation() == 0x992
    }

    /// Returns `true` if the instruction is the weaker memory barrier of a block of threads,
    /// `MEMBAR.ALL.CTA`.
    pub fn is_weak_block_barrier(self) -> bool {
        self.is_memory_barrier() && self.bits(76, 4) == 8
    }

    /// Returns `true` if the instruction is a memory barrier of the GPU or of the system.
    pub fn is_wide_memory_barrier(self) -> bool {
        self.is_memory_barrier() && matches!(self.bits(76, 3), 2 | 3)
    }

    /// Returns `true` if the instruction is the memory barrier where code for the debugger ends,
    /// `MEMBAR.SC.VC`.
    pub fn is_end_barrier(self) -> bool {
        self.is_memory_barrier() && self.bits(76, 4) == 5
    }

    /// Returns `true` if the instruction copies from global to shared memory while threads go on,
    /// `LDGSTS`.
    pub fn copies_to_shared(self) -> bool {
        self.operation() == 0xfae
    }

    /// Returns `true` if the instruction writes to a surface: `SUST` and `SURED`.
    pub fn writes_surface(self) -> bool {
        matches!(
            self.operation(),
            0xb9b | 0xf9b | 0xb9d | 0xf9d | 0xb9f | 0xf9f
        )
    }

    /// Returns `true` if the instruction waits for loads of earlier ones by the number of a scoreboard,
    /// `DEPBAR`.
    pub fn names_scoreboard(self) -> bool {
        self.operation() == 0x91a
    }

    /// Returns the scoreboard that `DEPBAR` names.
    pub fn named_scoreboard(self) -> u8 {
        self.bits(NAMED_SCOREBOARD, 3) as u8
    }

    /// Returns `DEPBAR` with another scoreboard.
    pub fn naming_scoreboard(self, scoreboard: u8) -> Instruction {
        let bits = self.0 & !(7 << NAMED_SCOREBOARD);
        Instruction(bits | u128::from(scoreboard & 7) << NAMED_SCOREBOARD)
    }

    /// Returns `true` if the instruction waits until errors of memory accesses are known,
    /// `CGAERRBAR`, as code for the debugger does where it ends.
    pub fn is_error_barrier(self) -> bool {
        self.operation() == 0x5ab
    }

    /// Returns `true` if the instruction lets other threads of its warp run, `YIELD`.
    pub fn is_yield(self) -> bool {
        self.operation() == 0x946
    }

    /// Returns `true` if the instruction ends the thread, `EXIT`.
    pub fn is_exit(self) -> bool {
        self.operation() == 0x94d
    }

    /// Returns `true` if the instruction fills code up, `NOP`.
    pub fn is_filling(self) -> bool {
        self.operation() == 0x918
    }

    /// Returns how many instructions after the next one a branch (`BRA`) or `WARPSYNC` leads to,
    /// which may be fewer than none; `None` for other instructions.
    pub fn branch(self) -> Option<i64> {
        if !matches!(self.operation(), 0x947 | 0x547 | 0x348 | 0x948) {
            return None;
        }
        Some(self.distance())
    }

    /// Returns how many instructions after the next one the place lies that an instruction with such
    /// a place names, `BRA` among others: 56 bits, in units of four bytes, with their sign.
    pub fn distance(self) -> i64 {
        let distance = self.bits(34, 48) << 8 | self.bits(16, 8);
        (distance as i64) << 8 >> 8 >> 2
    }

    /// Returns the instruction with another place of this kind; `None` if it is too far.
    pub fn with_distance(self, distance: i64) -> Option<Instruction> {
        const FIELDS: u128 = ((1 << 48) - 1) << 34 | 0xff << 16;
        let units = u128::from((distance << 2) as u64);
        let moved = self.0 & !FIELDS | (units & 0xff) << 16 | (units >> 8 & ((1 << 48) - 1)) << 34;
        Some(Instruction(moved)).filter(|moved| moved.distance() == distance)
    }

    /// Returns how many instructions after the next one the place lies that a branch (`BRA`) in code
    /// for a GPU leads to, or at which threads meet again (`BSSY`); `None` for other instructions.
    pub fn leads_to(self, sm: u16) -> Option<i64> {
        match self.operation() {
            // In units of four bytes, with its sign.
            0x947 if sm < 90 => Some((self.bits(34, 48) << 16) as i64 >> 16 >> 2),
            0x947 | 0x547 => self.branch(),
            _ => self.marked_place(),
        }
    }

    /// Returns `true` if a branch (`BRA`) depends on a predicate beside its guard, or divides the
    /// threads of its warp (`BRA.DIV`, `BRA.CONV`).
    pub fn is_conditional_branch(self) -> bool {
        self.operation() == 0x547 || self.bits(87, 4) != 7 || self.bits(32, 2) >= 2
    }

    /// Returns how many instructions after the next one the place lies at which threads meet again
    /// (`BSSY`); `None` for other instructions.
    pub fn marked_place(self) -> Option<i64> {
        let distance = i64::from(self.bits(32, 32) as u32 as i32);
        (self.operation() == 0x945).then_some(distance / 16)
    }

    /// Returns the instruction with another such place; `None` if it is too far.
    pub fn with_marked_place(self, distance: i64) -> Option<Instruction> {
        let distance = i32::try_from(distance.checked_mul(16)?).ok()?;
        let field = u128::from(distance as u32) << 32;
        Some(Instruction(self.0 & !(0xffff_ffff << 32) | field))
    }

    /// Returns the write barrier of the control bits, 7 for none.
    pub fn write_barrier(self) -> u8 {
        (self.0 >> 110 & 7) as u8
    }

    /// Returns the read barrier of the control bits, 7 for none.
    pub fn read_barrier(self) -> u8 {
        (self.0 >> 113 & 7) as u8
    }

    /// Returns the barriers that the instruction waits for, a bit for each of six.
    pub fn waits(self) -> u8 {
        self.bits(116, 6) as u8
    }

    /// Returns the instruction with other barriers.
    #[must_use]
    pub fn with_barriers(self, write: u8, read: u8, waits: u8) -> Instruction {
        let barriers = u128::from(write & 7) | u128::from(read & 7) << 3;
        let barriers = barriers | u128::from(waits & 0x3f) << 6;
        Instruction(self.0 & !(0xfff << 110) | barriers << 110)
    }

    /// Returns the cycles until the next instruction may be issued.
    pub fn stall(self) -> u8 {
        self.bits(105, 4) as u8
    }

    /// Returns the instruction with another number of these cycles, at most 15.
    #[must_use]
    pub fn with_stall(self, stall: u8) -> Instruction {
        Instruction(self.0 & !(0xf << 105) | u128::from(stall & 0xf) << 105)
    }

    /// Returns the instruction so that other threads are not preferred to the one that meets it.
    #[must_use]
    pub fn without_yield(self) -> Instruction {
        Instruction(self.0 | 1 << 109)
    }

    /// Returns the instruction with the barriers that another waits for.
    #[must_use]
    pub fn waiting_as(self, other: Instruction) -> Instruction {
        self.with_barriers(self.write_barrier(), self.read_barrier(), other.waits())
    }

    /// Returns the instruction with the control bits of another.
    #[must_use]
    pub fn controlled_as(self, other: Instruction) -> Instruction {
        const CONTROL: u128 = ((1 << 21) - 1) << 105;
        Instruction(self.0 & !CONTROL | other.0 & CONTROL)
    }

    /// Returns the field in which a load from a constant bank (`LDC` or `LDCU`) has its offset, in
    /// bytes.
    pub fn constant_operand(self) -> Option<Field> {
        let (bit, width) = match self.operation() & 0x1ff {
            0x182 => (38, 16),
            0x1ac => (37, 17),
            _ => return None,
        };
        Some(Field {
            bit,
            width,
            shift: 0,
        })
    }

    /// Returns `true` if the instruction computes R1 from R1, as code with a stack frame does at
    /// its start and end.
    pub fn moves_stack_pointer(self) -> bool {
        self.0 >> 16 & 0xffff == 0x0101
    }

    /// Returns `true` if the instruction is `LDC R1, c[0][…]`, which loads the stack pointer.
    pub fn loads_stack_pointer(self) -> bool {
        self.operation() == 0xb82 && self.0 >> 16 & 0xff == 1
    }
}
