//! Random batches of edits.

use cuweld_elf::symbol::Binding;
use cuweld_elf::symbol::SymbolType;
use cuweld_elf::target::attributes;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::is_info;
use cuweld_elf::target::section_types::is_relocs;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::attribute::format;
use cuweld_ir::edit::Edits;
use cuweld_ir::table::EntityId;
use cuweld_ir::table::PrimaryMap;
use cuweld_ir::*;

/// A sequence of numbers that is the same for the same seed.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((value ^ value >> 31) % limit.max(1) as u64) as usize
    }

    /// Returns the id of a row; `None` if the table has none.
    fn row<K: EntityId, V>(&mut self, table: &PrimaryMap<K, V>) -> Option<K> {
        (!table.is_empty()).then(|| K::new(self.below(table.len())))
    }

    /// Returns the id of a row that is like this, if one is found soon.
    fn like<K: EntityId, V>(
        &mut self,
        table: &PrimaryMap<K, V>,
        is_such: impl Fn(&V) -> bool,
    ) -> Option<K> {
        (0..20).find_map(|_| self.row(table).filter(|id| is_such(&table[*id])))
    }
}

/// How many kinds of edits there are.
pub const EDITS: usize = 15;

/// How many of them change no references.
#[allow(dead_code)]
pub const EDITS_OF_ROWS: usize = 13;

/// Collects up to six edits, of the first `kinds`; those that a module has no rows for are left out.
pub fn random_edits<'data>(
    module: &Module<'data>,
    numbers: &mut Numbers,
    kinds: usize,
    arena: &'data Arena,
) -> Edits<'data> {
    let mut edits = Edits::new(module).unwrap();
    for _ in 0..=numbers.below(6) {
        let kind = numbers.below(kinds);
        random_edit(module, kind, numbers, arena, &mut edits);
    }
    edits
}

fn random_edit<'data>(
    module: &Module<'data>,
    kind: usize,
    numbers: &mut Numbers,
    arena: &'data Arena,
    edits: &mut Edits<'data>,
) -> Option<()> {
    let object = numbers.row(&module.objects)?;
    match kind {
        0 => {
            let section = edits.add_section(section(object));
            let symbol = edits.add_symbol(Symbol {
                bind: [Binding::LOCAL, Binding::GLOBAL][numbers.below(2)],
                place: SymbolPlace::Section(section),
                ..symbol(object, b"added")
            });
            let rela = edits.rela_section(module, section, arena);
            for place in 0..numbers.below(3) as u64 {
                edits.add_reloc(Reloc {
                    section: rela,
                    offset: place * 8,
                    ty: 2,
                    target: SymbolRef::Symbol(symbol),
                    ..Reloc::default()
                });
            }
        }
        1 => {
            let section = numbers.like(&module.sections, |row| row.ty == sht::RELA)?;
            let object = module.sections[section].object;
            let symbol = edits.add_symbol(symbol(object, b"elsewhere"));
            edits.add_reloc(Reloc {
                section,
                ty: 1,
                target: SymbolRef::Symbol(symbol),
                addend: 16,
                ..Reloc::default()
            });
        }
        2 => {
            let section = numbers.like(&module.sections, |row| is_info(row.ty))?;
            let object = module.sections[section].object;
            let function = numbers.like(&module.functions, |row| row.object == object)?;
            let record = Attribute {
                section: Some(section),
                format: format::SVAL,
                code: attributes::MAX_STACK_SIZE,
                value: 0,
                refs: 0..0,
                rest: &[0; 4],
            };
            edits.add_attribute(
                record,
                &[SymbolRef::Symbol(module.functions[function].symbol)],
            );
        }
        3 => {
            let from = numbers.row(&module.functions)?;
            let object = module.functions[from].object;
            let to = numbers.like(&module.functions, |row| row.object == object)?;
            let symbol = |id: FunctionId| SymbolRef::Symbol(module.functions[id].symbol);
            let call = CallRecord {
                kind: CallKind::Direct,
                from: symbol(from),
                to: symbol(to),
                prototype: b"",
            };
            edits.add_call(object, call);
        }
        4 => {
            // As `.text.F` of compilers: one instruction, EXIT.
            let code: u128 = 0x000f_ea00_0380_0000_0000_0000_0000_794d;
            let text = Section {
                name: b".text.added_function",
                ty: sht::PROGBITS,
                flags: SectionFlags::ALLOC | SectionFlags::EXECINSTR,
                align: 128,
                content: SectionContent::Bytes(arena.bytes(&code.to_le_bytes())),
                ..Section::default()
            };
            let symbol = Symbol {
                ty: SymbolType::FUNC,
                size: 16,
                ..symbol(object, b"added_function")
            };
            edits.add_function(symbol, text);
        }
        5 => edits.erase_function(numbers.row(&module.functions)?),
        6 => edits.erase_reloc(numbers.row(&module.relocs)?),
        7 => edits.erase_call(numbers.row(&module.calls)?),
        8 => edits.erase_attribute(numbers.row(&module.attributes)?),
        9 => edits.erase_note(numbers.row(&module.notes)?),
        10 => edits.erase_prototype(numbers.row(&module.prototypes)?),
        11 => edits.erase_section(numbers.like(&module.sections, |row| {
            is_relocs(row.ty) || is_info(row.ty) || row.ty == sht::PROGBITS
        })?),
        12 => edits.erase_symbol(numbers.like(&module.symbols, |row| row.function.is_none())?),
        13 => {
            // One that was used before has no use after this.
            let of = numbers.row(&module.symbols)?;
            let object = module.symbols[of].object;
            let with = numbers.like(&module.symbols, |row| row.object == object)?;
            edits.replace_all_uses(of, with);
            if module.symbols[of].function.is_none() && of != with {
                edits.erase_symbol(of);
            }
        }
        _ => {
            let of = numbers.row(&module.symbols)?;
            edits.replace_all_uses(of, numbers.row(&module.symbols)?);
        }
    }
    Some(())
}

fn section<'data>(object: ObjectId) -> Section<'data> {
    Section {
        object,
        name: b".added",
        ty: sht::PROGBITS,
        align: 8,
        content: SectionContent::Bytes(&[0; 16]),
        ..Section::default()
    }
}

fn symbol(object: ObjectId, name: &[u8]) -> Symbol<'_> {
    Symbol {
        object,
        name,
        bind: Binding::GLOBAL,
        ty: SymbolType::OBJECT,
        ..Symbol::default()
    }
}
