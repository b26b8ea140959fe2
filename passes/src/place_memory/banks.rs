//! Constant banks of kernels (`merge.md` section 8).
//!
//! A kernel's bank begins with its own section. The sections of the device functions that it reaches
//! follow, last section of the last object first; a function has one offset, the largest that any
//! kernel that reaches it needs. Constants of a losing weak
//! copy whose winner has none stay, in a section of their own (measured).
//!
//! Bound: for every section of a device function, the kernels that reach it.

use cuweld_ir::BankPiece;
use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::SectionId;
use cuweld_ir::SectionKind;
use cuweld_ir::elf::layout::align_up;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hashbrown::HashSet;

use super::CONSTANT_BANK_LIMIT;
use crate::analysis::CallGraph;
use crate::analysis::functions_in_creation_order;
use crate::analysis::kernels;
use crate::analysis::reachers;
use crate::diagnostic::Diagnostic;

/// Places the constants of functions.
pub fn place(module: &mut Module<'_>, graph: &CallGraph, errors: &mut Vec<Diagnostic>) {
    let functions = functions_in_creation_order(module);
    let kernels: Vec<(LinkSymbolId, FunctionId)> = kernels(module, &functions).collect();
    let mut is_kernel = vec![false; module.functions.len()];
    for (_, function) in &kernels {
        is_kernel[function.index()] = true;
    }
    // Sections of the functions that are linked, in section order.
    let mut sections: Vec<(u8, FunctionId, SectionId)> = Vec::new();
    for (id, section) in module.sections.iter() {
        if let (SectionKind::FunctionConstants(bank), Some(owner)) = (section.kind, section.owner)
            && module.is_section_linked(id)
        {
            sections.push((bank, owner, id));
        }
    }
    for (bank, owner, section) in &sections {
        if is_kernel[owner.index()] {
            module.sections[*section].place = Some(0);
            module.bank_pieces.push(BankPiece {
                kernel: *owner,
                bank: *bank,
                section: *section,
                offset: 0,
            });
        }
    }
    keep_orphans(module, &sections);
    let mut banks: Vec<u8> = sections
        .iter()
        .filter(|(_, owner, _)| !is_kernel[owner.index()])
        .map(|(bank, ..)| *bank)
        .collect();
    banks.sort_unstable();
    banks.dedup();
    for bank in banks {
        place_bank(module, graph, bank, &kernels, &sections, errors);
    }
}

/// Constants of losing weak copies stay, one behind the other, if no copy that was taken has any: nvlink
/// drops a section of a losing copy only where it knows the function's constants already.
fn keep_orphans(module: &mut Module<'_>, linked: &[(u8, FunctionId, SectionId)]) {
    let link_of = |module: &Module<'_>, function: FunctionId| {
        module.symbols[module.functions[function].symbol].link
    };
    let known: HashSet<(LinkSymbolId, u8), FixedState> = linked
        .iter()
        .filter_map(|(bank, owner, _)| Some((link_of(module, *owner)?, *bank)))
        .collect();
    let mut ends: HashMap<(LinkSymbolId, u8), u64, FixedState> = HashMap::default();
    let mut orphans = Vec::new();
    for (id, section) in module.sections.iter() {
        if let (SectionKind::FunctionConstants(bank), Some(owner)) = (section.kind, section.owner)
            && module.objects[section.object].state.is_included()
            && let Some(link) = link_of(module, owner)
            && module.link_symbols[link].live.is_live()
            && let Some(kernel) = module.link_function(link)
            && !known.contains(&(link, bank))
        {
            let end = ends.entry((link, bank)).or_default();
            let offset = align_up(*end, section.align);
            *end = offset + section.size();
            orphans.push(BankPiece {
                kernel,
                bank,
                section: id,
                offset,
            });
        }
    }
    for orphan in orphans {
        module.sections[orphan.section].place = Some(orphan.offset);
        module.bank_pieces.push(orphan);
    }
}

fn place_bank(
    module: &mut Module<'_>,
    graph: &CallGraph,
    bank: u8,
    kernels: &[(LinkSymbolId, FunctionId)],
    sections: &[(u8, FunctionId, SectionId)],
    errors: &mut Vec<Diagnostic>,
) {
    let mut of_function: Vec<Option<SectionId>> = vec![None; module.functions.len()];
    for (of, owner, section) in sections {
        if *of == bank {
            of_function[owner.index()] = Some(*section);
        }
    }
    // Sizes so far, by kernel ordinal.
    let mut sizes: Vec<u64> = kernels
        .iter()
        .map(|(_, kernel)| {
            of_function[kernel.index()].map_or(0, |section| module.sections[section].size())
        })
        .collect();
    let device: Vec<(LinkSymbolId, FunctionId, SectionId)> = sections
        .iter()
        .filter(|(of, ..)| *of == bank)
        .filter_map(|(_, function, section)| {
            let symbol = &module.symbols[module.functions[*function].symbol];
            (!symbol.is_entry()).then_some((symbol.link?, *function, *section))
        })
        .collect();
    let users = reachers(
        module,
        graph,
        kernels,
        device.iter().map(|(link, ..)| *link),
    );
    for ((_, _, section), users) in device.iter().zip(&users).rev() {
        let row = &module.sections[*section];
        let (align, size) = (row.align, row.size());
        let most = users
            .iter()
            .map(|kernel| sizes[*kernel as usize])
            .max()
            .unwrap_or(0);
        let offset = align_up(most, align);
        module.sections[*section].place = Some(offset);
        for kernel in users {
            sizes[*kernel as usize] = offset + size;
            module.bank_pieces.push(BankPiece {
                kernel: kernels[*kernel as usize].1,
                bank,
                section: *section,
                offset,
            });
        }
    }
    for ((link, _), size) in kernels.iter().zip(&sizes) {
        if *size > CONSTANT_BANK_LIMIT {
            let name = String::from_utf8_lossy(module.link_name(*link)).into_owned();
            errors.push(
                Diagnostic::fatal(
                    "cuweld: unsupported: constants that only fit if equal values are merged",
                )
                .note(format!("bank {bank} of kernel '{name}' needs {size:#x} bytes of {CONSTANT_BANK_LIMIT:#x}")),
            );
        }
    }
}
