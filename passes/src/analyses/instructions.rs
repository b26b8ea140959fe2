//! The instructions of functions, slot by slot: what they do, their control bits and registers, and
//! the relocations that change them.

use cuweld_elf::mercury::capmerc::INSTRUCTION;
use cuweld_elf::sass::Class;
use cuweld_elf::sass::Control;
use cuweld_elf::sass::Instruction;
use cuweld_elf::sass::operands::Generation;
use cuweld_elf::sass::operands::Operands;
use cuweld_elf::target::relocs::BankField;
use cuweld_elf::target::relocs::Field;
use cuweld_elf::target::relocs::RelocClass;
use cuweld_elf::target::relocs::changed_bits;
use cuweld_elf::target::relocs::reloc_type;
use cuweld_elf::target::section_types::is_relocs;
use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::RelocId;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;

use super::Analyses;
use super::Analysis;

/// The SASS of all functions, for passes that look at code.
///
/// It knows where relocations of code are; instructions are decoded when a function is asked for. Code
/// for GPUs before sm_75 has another form, and is not read.
#[derive(Debug)]
pub struct Instructions {
    /// Sections with the sections of relocations that apply to them, sorted.
    relocs: Vec<(SectionId, SectionId)>,
}

/// An instruction: 16 bytes of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Offset in bytes in the section of the code.
    pub offset: u64,
    /// Its bits, with patches and without relocations.
    pub word: Instruction,
    /// The name of its operation, without modifiers; none if it is not known.
    pub name: Option<&'static str>,
    /// What it does.
    pub class: Class,
    /// When the next instruction follows, and what is waited for.
    pub control: Control,
    /// The registers that it writes and reads, and its guard; none if they are not known.
    pub operands: Option<Operands>,
    /// The offset that a branch leads to, where no relocation changes it.
    pub target: Option<u64>,
    /// The relocations that change it, in the order of their rows.
    pub relocs: Vec<SlotReloc>,
}

/// A relocation of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotReloc {
    /// The row.
    pub id: RelocId,
    /// What it fills in.
    pub operand: RelocatedOperand,
    /// The bits that it changes, counted from the least significant bit of the instruction. Empty if
    /// they are not known.
    pub fields: Vec<Field>,
}

/// The part of an instruction that a relocation fills in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelocatedOperand {
    /// A value in the instruction, such as half of an address.
    Immediate,
    /// An offset in a constant bank, with the bank's number.
    Constant,
    /// Where a branch or a call leads to.
    Target,
    /// The descriptor of a function.
    Descriptor,
    /// The operation itself: an instruction that yields becomes one that does nothing.
    Operation,
}

impl Analysis for Instructions {
    fn compute(module: &Module<'_>, _: &Analyses) -> Self {
        let sections = module.sections.iter();
        let relocs = sections.filter(|(_, row)| is_relocs(row.ty) && !row.relocs.is_empty());
        let relocs = relocs.filter_map(|(id, row)| match row.info {
            SectionInfo::Section(patched) => Some((patched, id)),
            _ => None,
        });
        let mut relocs: Vec<_> = relocs.collect();
        relocs.sort_unstable();
        Instructions { relocs }
    }
}

impl Instructions {
    /// Returns the instructions of the section in which a function's code is. An alias has those of
    /// the function that it is an alias of. Linear in the code, but for sorting its relocations.
    pub fn of(&self, module: &Module<'_>, function: FunctionId) -> Vec<Slot> {
        let row = &module.functions[function];
        let text = row.views.sass.text;
        let sm = module.objects[row.object].sm();
        let Some(generation) = Generation::of(sm) else {
            return Vec::new();
        };
        let mut relocs = self.relocs_of(module, text).into_iter().peekable();
        let code = module.patched_bytes(text);
        let slot = |(number, word): (u64, Instruction)| {
            let offset = number * INSTRUCTION;
            let end = offset + INSTRUCTION;
            let own = std::iter::from_fn(|| relocs.next_if(|(at, _)| *at < end));
            let relocs: Vec<SlotReloc> = own
                .map(|(at, id)| slot_reloc(module, id, word, at - offset))
                .collect();
            let is_free = relocs.is_empty();
            Slot {
                offset,
                word,
                name: generation.name(word),
                class: generation.class(word),
                control: Control::of(word),
                operands: Operands::of(generation, word),
                target: word.target(offset, sm).filter(|_| is_free),
                relocs,
            }
        };
        (0..).zip(Instruction::all(&code)).map(slot).collect()
    }

    /// Returns the relocations of a section, by offset.
    fn relocs_of(&self, module: &Module<'_>, text: SectionId) -> Vec<(u64, RelocId)> {
        let first = self.relocs.partition_point(|(patched, _)| *patched < text);
        let holders = self.relocs.get(first..).unwrap_or(&[]).iter();
        let holders = holders.take_while(|(patched, _)| *patched == text);
        let rows = holders.flat_map(|(_, holder)| module.sections[*holder].relocs.iter());
        let mut rows: Vec<_> = rows.map(|id| (module.relocs[id].offset, id)).collect();
        rows.sort_unstable_by_key(|(offset, id)| (offset / INSTRUCTION, *id));
        rows
    }
}

/// Describes a relocation of an instruction at some bytes from its start.
fn slot_reloc(module: &Module<'_>, id: RelocId, word: Instruction, at: u64) -> SlotReloc {
    let ty = module.relocs[id].ty;
    let row = reloc_type(ty);
    let operand = match row.map(|row| (row.class, row.bank)) {
        Some((RelocClass::FunctionDescriptor, _)) => RelocatedOperand::Descriptor,
        Some((RelocClass::Yield | RelocClass::YieldPredicate, _)) => RelocatedOperand::Operation,
        Some((_, BankField::At(_) | BankField::Split)) => RelocatedOperand::Constant,
        _ if word.is_call() || word.leads_to(module.target.sm).is_some() => {
            RelocatedOperand::Target
        }
        _ => RelocatedOperand::Immediate,
    };
    let mut fields = changed_bits(ty);
    for field in &mut fields {
        field.bit = field.bit.saturating_add(at as u8 * 8);
    }
    SlotReloc {
        id,
        operand,
        fields,
    }
}

#[cfg(test)]
mod tests {
    use cuweld_elf::sass::Space;
    use cuweld_elf::sass::operands::File;
    use cuweld_ir::Arena;
    use cuweld_ir::table::EntityId;
    use cuweld_ir::text;

    use super::*;

    /// A call, a load, a patched instruction, and a branch to itself.
    const MODULE: &str = r#"lir 1
module phase=lowered toolkit=13.0.88 target=sm_90 bytes=full
object @0 a.cubin type=REL flags=0x5a04 state=candidate
  owns #0..2 %0..2 fn0..1 r0..2
  #0 .text.k PROGBITS flags=ALLOC|EXECINSTR align=128 info=%0/0 bytes=x"43790000000000000000c00300ea0f00817907020600000000191e0c006401004779fc00fcffffffffff830300c00f0002780400000000000000000000e40f00"
  #1 .rela.text.k RELA flags=INFO_LINK entsize=24 info=#0 decoded relocs=r0..2
  %0 k GLOBAL FUNC other=ENTRY in=#0 size=0x40 function=fn0
  %1 helper GLOBAL FUNC undefined
  fn0 %0 sass=#0
  relocs #1
    r0 0x30 R_CUDA_ABS32_LO_32 %1
    r1 0x0 R_CUDA_ABS47_34 %1
fixup #0 offset=0x18 bit=41 width=4 value=3
end
"#;

    #[test]
    fn slots_say_what_instructions_do() {
        let arena = Arena::new();
        let module = text::parse(MODULE, &arena, &|_| None).unwrap();
        assert_eq!(cuweld_ir::verify(&module), []);
        let analyses = Analyses::default();
        let instructions = analyses.get::<Instructions>(&module);
        let slots = instructions.of(&module, FunctionId::new(0));
        let names: Vec<_> = slots.iter().filter_map(|slot| slot.name).collect();
        assert_eq!(names, ["CALL", "LDG", "BRA", "MOV"]);
        let [call, load, branch, copy] = &slots[..] else {
            panic!("{slots:?}");
        };
        assert_eq!(call.class, Class::Call);
        assert_eq!(call.relocs.len(), 1);
        assert_eq!(call.relocs[0].id, RelocId::new(1));
        assert_eq!(call.relocs[0].operand, RelocatedOperand::Target);
        assert_eq!(
            (call.relocs[0].fields[0].bit, call.relocs[0].fields[0].width),
            (34, 47)
        );
        assert_eq!(load.class, Class::Load(Space::Global));
        // The patch made three cycles of two.
        assert_eq!(
            (load.offset, load.control.stall, load.relocs.len()),
            (0x10, 3, 0)
        );
        let operands = load.operands.unwrap();
        assert!(operands.defined.has(File::General, 7) && operands.used.has(File::General, 2));
        assert_eq!((branch.class, branch.target), (Class::Branch, Some(0x20)));
        assert_eq!(copy.relocs[0].operand, RelocatedOperand::Immediate);
        assert_eq!((copy.relocs[0].fields[0].bit, copy.target), (32, None));
    }
}
