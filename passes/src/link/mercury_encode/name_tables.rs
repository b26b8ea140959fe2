//! String tables of CUDA 13.5 and later: each holds the names that the file has, and no others
//! [names-of-the-file].
//!
//! The names of sections stand in the order of the sections; those of symbols in the order of the
//! symbols, then what only the Mercury view has, then prototypes.

use cuweld_elf::behaviours;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::CallKind;
use cuweld_ir::plan::PlanContent;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::Encode;
use super::segments::NAMES_GAP;

/// A table in the making.
struct Names<'t> {
    old: &'t [u8],
    new: Vec<u8>,
    /// The offsets of its names.
    offsets: HashMap<&'t [u8], u32, FixedState>,
}

impl<'t> Names<'t> {
    fn new(old: &'t [u8]) -> Self {
        Names {
            old,
            new: vec![0],
            offsets: HashMap::from_iter([(&b""[..], 0)]),
        }
    }

    /// Returns the offset of a name that is at `offset` of the old table; it is added if it is not
    /// there.
    fn of(&mut self, offset: u32) -> u32 {
        let name = self.old.get(offset as usize..).unwrap_or(&[]);
        let end = name.iter().position(|byte| *byte == 0);
        let name = &name[..end.unwrap_or(name.len())];
        *self.offsets.entry(name).or_insert_with(|| {
            let added = self.new.len() as u32;
            self.new.extend_from_slice(name);
            self.new.push(0);
            added
        })
    }
}

impl Encode<'_, '_> {
    /// Makes both tables anew where the toolkit's linker has them so; says whether it does.
    pub(super) fn names_of_the_file(&mut self) -> bool {
        let rule = &behaviours::mercury::NAMES_OF_THE_FILE;
        if !self.module.toolkit.has(rule) {
            return false;
        }
        let old = std::mem::take(&mut self.plan.section_names);
        let mut names = Names::new(&old);
        for section in &mut self.plan.sections {
            section.name_offset = names.of(section.name_offset);
        }
        self.plan.section_names = names.new;
        // What elsewhere is left between the tables is part of this one.
        let left = self.plan.section_names.len() + NAMES_GAP as usize;
        self.plan.section_names.resize(left, 0);

        let old = std::mem::take(&mut self.plan.symbol_names);
        let mut names = Names::new(&old);
        for symbol in &mut self.plan.symbols {
            symbol.name_offset = names.of(symbol.name_offset);
        }
        for is_symbols in [true, false] {
            for section in &mut self.plan.sections {
                let PlanContent::Bytes(bytes) = section.content else {
                    continue;
                };
                let renamed = match section.ty {
                    sht::CUDA_MERCURY_SYMTAB if is_symbols => symbols(bytes, &mut names),
                    _ if is_symbols => continue,
                    sht::CUDA_CALLGRAPH | sht::CUDA_MERCURY_CALLGRAPH => calls(bytes, &mut names),
                    sht::CUDA_PROTOTYPE | sht::CUDA_MERCURY_PROTOTYPE => {
                        prototypes(bytes, &mut names)
                    }
                    _ => continue,
                };
                section.content = PlanContent::Bytes(self.arena.bytes(&renamed));
            }
        }
        self.plan.symbol_names = names.new;
        for section in &mut self.plan.sections {
            match section.content {
                PlanContent::SectionNames => section.size = self.plan.section_names.len() as u64,
                PlanContent::SymbolNames => section.size = self.plan.symbol_names.len() as u64,
                _ => {}
            }
        }
        true
    }
}

/// Returns rows of a table of symbols with their new names.
fn symbols(rows: &[u8], names: &mut Names<'_>) -> Vec<u8> {
    let mut rows = rows.to_vec();
    let (symbols, _) = rows.as_chunks_mut::<24>();
    for row in symbols {
        let (name, _) = row
            .split_first_chunk_mut::<4>()
            .expect("rows have 24 bytes");
        *name = names.of(u32::from_le_bytes(*name)).to_le_bytes();
    }
    rows
}

/// Returns a call graph with the new places of its prototypes.
fn calls(rows: &[u8], names: &mut Names<'_>) -> Vec<u8> {
    let mut kind = None;
    renamed(rows, |first, second| {
        if let (0, Some(next)) = (first, CallKind::from_marker(second as i32)) {
            kind = Some(next);
            return second;
        }
        match kind.is_some_and(CallKind::has_prototype) {
            true => names.of(second),
            false => second,
        }
    })
}

/// Returns the prototypes of functions with their new places.
fn prototypes(rows: &[u8], names: &mut Names<'_>) -> Vec<u8> {
    renamed(rows, |_, second| names.of(second))
}

/// Returns rows of two words whose second ones are changed.
fn renamed(rows: &[u8], mut change: impl FnMut(u32, u32) -> u32) -> Vec<u8> {
    let (words, _) = rows.as_chunks::<4>();
    let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let (pairs, _) = words.as_chunks::<2>();
    let pairs = pairs
        .iter()
        .map(|[first, second]| [*first, change(*first, *second)]);
    pairs.flatten().flat_map(u32::to_le_bytes).collect()
}
