//! The functions of a device ELF: what each needs, and what it calls.
//!
//! Functions are those of `.symtab`; undefined ones are listed too, since they are called. Calls by
//! address go through the node of a prototype, so that a table of N functions and M callers costs
//! N + M edges. All of this is linear in symbols, records and rows.

use cuweld_elf::symbol::SymbolOther;
use cuweld_elf::symbol::SymbolType;
use cuweld_elf::target::attributes as code;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::sht;

use super::device_model::*;
use super::name::Name;

/// The functions of a device ELF and their calls.
#[derive(Clone, Debug, Default)]
pub struct Functions<'data> {
    /// The functions, in the order of their symbols.
    pub list: Vec<Function<'data>>,
    /// The prototypes by which functions are called.
    pub prototypes: Vec<Name<'data>>,
    /// For each function, then for each prototype, the nodes that it calls, in order and without
    /// repetitions: numbers below the number of functions are functions, others prototypes.
    pub callees: Vec<Vec<usize>>,
    /// The function of each symbol, by the symbol's index.
    of_symbol: Vec<Option<usize>>,
    /// The function of each section, by the section's index.
    of_section: Vec<Option<usize>>,
    /// The functions by name, in order; of several of one name the first comes first.
    by_name: Vec<(Name<'data>, usize)>,
}

/// A function, and what it needs. What no record says is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Function<'data> {
    /// Its name.
    pub name: Name<'data>,
    /// Index of its symbol.
    pub symbol: u32,
    /// Index of the section with its code; `None` if it is defined elsewhere.
    pub section: Option<u32>,
    /// Whether the host launches it.
    pub is_kernel: bool,
    /// Bytes of code.
    pub code: u64,
    /// Registers of a thread: of a linked kernel with all that it calls.
    pub registers: Option<u32>,
    /// Bytes of stack of its own.
    pub frame: Option<u32>,
    /// Bytes of stack of a kernel with all that it calls; [`UNKNOWN_STACK`] with recursion.
    pub stack: Option<u32>,
    /// Bytes of shared memory of a block that are its own, or those of a linked kernel.
    pub shared: u64,
    /// Bytes of constants of its own, parameters included.
    pub constants: u64,
}

/// The stack of a kernel that reaches recursion.
pub const UNKNOWN_STACK: u32 = u32::MAX;

impl<'data> Functions<'data> {
    /// Collects the functions of a device ELF.
    pub fn of(elf: &DeviceElf<'data>) -> Self {
        let symbols = symbol_table(elf).map_or(&[][..], |table| &table.symbols);
        let mut all = Functions::default();
        for symbol in symbols {
            let is_function = symbol.ty.value == u32::from(SymbolType::FUNC.0);
            all.of_symbol.push(is_function.then_some(all.list.len()));
            if !is_function {
                continue;
            }
            all.list.push(Function {
                name: symbol.name,
                symbol: symbol.index,
                section: match symbol.section {
                    Place::In { index, .. } => Some(index),
                    _ => None,
                },
                is_kernel: SymbolOther::from_bits_retain(symbol.other).contains(SymbolOther::ENTRY),
                code: symbol.size,
                ..Function::default()
            });
        }
        let functions = all.list.iter().enumerate();
        all.by_name = functions.map(|(at, row)| (row.name, at)).collect();
        all.by_name.sort_unstable();
        all.find_sections(elf);
        all.add_memory(elf);
        all.add_records(elf);
        all.add_calls(elf);
        all
    }

    /// Returns the function of a symbol of `.symtab`, if it is one.
    pub fn of_symbol(&self, index: u32) -> Option<usize> {
        self.of_symbol.get(index as usize).copied().flatten()
    }

    /// Returns the function of this name; of several the first.
    pub fn named(&self, name: Name<'_>) -> Option<usize> {
        let at = self.by_name.partition_point(|(other, _)| other.0 < name.0);
        let (found, function) = self.by_name.get(at)?;
        (found.0 == name.0).then_some(*function)
    }

    /// Returns the function that a section belongs to, such as that of `.nv.info.f`.
    pub fn of_section(&self, index: u32) -> Option<usize> {
        self.of_section.get(index as usize).copied().flatten()
    }

    /// Finds the function of each section: code names its function, other sections name code.
    fn find_sections(&mut self, elf: &DeviceElf<'data>) {
        let main = symbol_table(elf).map_or(0, |table| table.section_index);
        let is_code = |section: &Section<'_>| {
            SectionFlags::from(section.flags).contains(SectionFlags::EXECINSTR)
        };
        let mut of_section = vec![None; elf.sections.len()];
        for (section, slot) in elf.sections.iter().zip(&mut of_section) {
            *slot = match section.refers_to {
                Some(Reference::Function { .. }) if section.link == main => {
                    self.of_symbol(section.info & 0x00ff_ffff)
                }
                // Mercury code names a symbol of the other symbol table, whose names are the same.
                Some(Reference::Function { symbol, .. }) => self.named(symbol),
                _ => None,
            };
        }
        // Some code does not say whose it is.
        for (index, function) in self.list.iter().enumerate() {
            let section = function.section.and_then(|section| {
                let row = elf.sections.get(section as usize)?;
                is_code(row).then(|| of_section.get_mut(section as usize))?
            });
            if let Some(slot @ None) = section {
                *slot = Some(index);
            }
        }
        // Data of a function names its code, relocations of that data name the data.
        for _ in 0..2 {
            let known = of_section.clone();
            for (section, slot) in elf.sections.iter().zip(&mut of_section) {
                if let (Some(Reference::Section(_)), None) = (section.refers_to, &slot) {
                    *slot = known.get(section.info as usize).copied().flatten();
                }
            }
        }
        self.of_section = of_section;
    }

    fn add_memory(&mut self, elf: &DeviceElf<'data>) {
        for section in &elf.sections {
            let function = self.of_section(section.index);
            let Some(function) = function.and_then(|function| self.list.get_mut(function)) else {
                continue;
            };
            match section.ty.value {
                sht::CUDA_SHARED => function.shared += section.size,
                _ if section.name.0.starts_with(b".nv.shared.") => function.shared += section.size,
                _ if section.name.0.starts_with(b".nv.constant") => {
                    function.constants += section.size;
                }
                _ => {}
            }
        }
    }

    fn add_records(&mut self, elf: &DeviceElf<'data>) {
        let lists = elf.attributes.iter();
        let of_file = lists.filter(|list| list.section == Name(b".nv.info"));
        for record in of_file.flat_map(|list| &list.records) {
            let AttributeValue::Payload { symbols, words, .. } = &record.value else {
                continue;
            };
            let ([symbol], Some(&word)) = (&symbols[..], words.first()) else {
                continue;
            };
            let function = self.of_symbol(symbol.index);
            let function = function.and_then(|at| self.list.get_mut(at));
            let Some(function) = function else {
                continue;
            };
            match u8::try_from(record.code.value) {
                Ok(code::REGCOUNT) => function.registers = Some(word),
                Ok(code::FRAME_SIZE) => function.frame = Some(word),
                Ok(code::MIN_STACK_SIZE) => function.stack = Some(word),
                _ => {}
            }
        }
    }

    fn add_calls(&mut self, elf: &DeviceElf<'data>) {
        let rows = elf.call_graph.iter();
        let mut prototypes: Vec<Name<'data>> = rows
            .filter_map(|row| match row.to {
                CallTarget::Prototype(name) => Some(name),
                CallTarget::Function(_) => None,
            })
            .collect();
        prototypes.sort_unstable();
        prototypes.dedup();
        let functions = self.list.len();
        let prototype = |name| Some(functions + prototypes.binary_search(&name).ok()?);
        let mut callees = vec![Vec::new(); functions + prototypes.len()];
        for row in &elf.call_graph {
            let to = match row.to {
                CallTarget::Function(symbol) => self.of_symbol(symbol.index),
                CallTarget::Prototype(name) => prototype(name),
            };
            let (Some(from), Some(to)) = (self.of_symbol(row.from.index), to) else {
                continue;
            };
            let edge = match row.group {
                CallGroup::Direct | CallGroup::Indirect => (from, to),
                CallGroup::AddressTaken => (to, from),
                // Taking an address calls nothing.
                CallGroup::TakesAddress => continue,
            };
            if let Some(list) = callees.get_mut(edge.0) {
                list.push(edge.1);
            }
        }
        for list in &mut callees {
            list.sort_unstable();
            list.dedup();
        }
        (self.prototypes, self.callees) = (prototypes, callees);
    }
}

/// Returns `.symtab`.
pub fn symbol_table<'e, 'data>(elf: &'e DeviceElf<'data>) -> Option<&'e SymbolTable<'data>> {
    let mut tables = elf.symbol_tables.iter();
    tables.find(|table| table.section == Name(b".symtab"))
}

/// Which kernels reach a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reached {
    /// None.
    #[default]
    ByNone,
    /// This function, a kernel, alone.
    By(usize),
    /// Several.
    BySeveral,
}

impl Functions<'_> {
    /// Returns for each function, then for each prototype, which kernels reach it. A kernel is
    /// reached by itself alone, whoever else launches it. Linear in functions and calls: what is
    /// said of a node changes twice at most.
    pub fn reached(&self) -> Vec<Reached> {
        let mut reached = vec![Reached::ByNone; self.callees.len()];
        let is_kernel = |node: usize| self.list.get(node).is_some_and(|row| row.is_kernel);
        let mut work = Vec::new();
        for kernel in (0..self.list.len()).filter(|node| is_kernel(*node)) {
            if let Some(slot) = reached.get_mut(kernel) {
                *slot = Reached::By(kernel);
            }
            work.push(kernel);
        }
        while let Some(node) = work.pop() {
            let Some(&by) = reached.get(node) else {
                continue;
            };
            for &next in self.callees.get(node).into_iter().flatten() {
                let Some(slot) = reached.get_mut(next).filter(|_| !is_kernel(next)) else {
                    continue;
                };
                let joined = match *slot {
                    Reached::ByNone => by,
                    same if same == by => same,
                    _ => Reached::BySeveral,
                };
                if joined != *slot {
                    *slot = joined;
                    work.push(next);
                }
            }
        }
        reached
    }
}
