//! Sections of shared memory of kernels in which no variable lies, as `-r` makes them for dynamic
//! shared memory [empty-kernel-shared].
//!
//! In executables such a section is memory of its own. What it is with `-r`, with `-g` and with
//! `--reserve-null-pointer` is not known, nor which place the null symbol gets of several copies,
//! and beside slots.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::unsupported;
use cuweld_elf::align::align_up;
use cuweld_elf::behaviours::memory;
use cuweld_elf::raw::ET_EWP;
use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::SectionId;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolPlace;
use cuweld_ir::table::EntityId;

use super::shared_variables::null_size;
use crate::located::located;

/// Sections without a variable of one kernel, of all its copies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EmptySection {
    /// Bytes.
    pub size: u64,
    /// In bytes.
    pub align: u64,
    /// The first of them.
    pub first: SectionId,
}

/// The sections without variables.
pub(crate) struct EmptySections {
    /// The sections, sorted.
    sections: Vec<SectionId>,
    /// What they are together, by resolved symbol of the kernel; empty if there are none.
    of: Vec<Option<EmptySection>>,
}

impl EmptySections {
    /// Finds those that count: none up to toolkit 13.3.
    pub fn new(module: &Module<'_>) -> Self {
        let mut sections = Vec::new();
        let mut of = Vec::new();
        if module.toolkit.has(&memory::EMPTY_KERNEL_SHARED) {
            let objects = module.included_objects();
            for (_, object) in objects.filter(|(_, object)| object.e_type != ET_EWP) {
                let of_kernels = |id: &SectionId| {
                    let section = &module.sections[*id];
                    section.kind == SectionKind::KernelShared && section.owner.is_some()
                };
                sections.extend(object.sections.iter().filter(of_kernels));
            }
        }
        if !sections.is_empty() {
            let mut has_variable = vec![false; module.sections.len()];
            for symbol in module.symbols.values() {
                if let SymbolPlace::Section(section) = symbol.place {
                    has_variable[section.index()] = true;
                }
            }
            sections.retain(|id| !has_variable[id.index()]);
            of.resize(module.link_symbols.len(), None);
        }
        for id in &sections {
            let section = &module.sections[*id];
            if let Some(kernel) = section.owner.and_then(|owner| link_of(module, owner)) {
                let none = EmptySection {
                    size: 0,
                    align: 1,
                    first: *id,
                };
                let all = of[kernel.index()].get_or_insert(none);
                all.size = align_up(all.size, section.align).saturating_add(section.size());
                all.align = all.align.max(section.align);
            }
        }
        EmptySections { sections, of }
    }

    /// Returns the number of those that have a size and whose kernel is linked.
    pub fn linked(&self, module: &Module<'_>) -> usize {
        let linked = |id: &&SectionId| {
            let section = &module.sections[**id];
            let kernel = section.owner.and_then(|owner| link_of(module, owner));
            let definition = kernel.and_then(|kernel| module.link_function(kernel));
            section.size() != 0
                && definition.is_some_and(|function| module.is_function_live(function))
        };
        self.sections.iter().filter(linked).count()
    }

    /// Returns `true` if a section is one.
    pub fn has(&self, section: SectionId) -> bool {
        self.sections.binary_search(&section).is_ok()
    }

    /// Returns those of a kernel.
    pub fn of(&self, kernel: LinkSymbolId) -> Option<EmptySection> {
        *self.of.get(kernel.index())?
    }
}

fn link_of(module: &Module<'_>, function: FunctionId) -> Option<LinkSymbolId> {
    module.symbols[module.functions[function].symbol].link
}

/// Refuses such sections in links of which their meaning is not known.
pub(super) fn refuse(module: &Module<'_>, errors: &mut Vec<Diagnostic>) {
    let is_known =
        !module.options.relocatable && !module.shows_dynamic_shared() && null_size(module) == 0;
    let empty = EmptySections::new(module);
    let is_copy = |section: &SectionId| {
        let owner = module.sections[*section].owner;
        let kernel = owner.and_then(|owner| link_of(module, owner));
        let all = kernel.and_then(|kernel| empty.of(kernel));
        all.is_some_and(|all| all.first != *section)
    };
    let mut sections = empty.sections.iter();
    if let Some(section) = sections.find(|section| !is_known || is_copy(section)) {
        errors.push(refusal(module, *section));
    }
}

/// Makes the refusal of such a section.
pub(super) fn refusal(module: &Module<'_>, section: SectionId) -> Diagnostic {
    let code = unsupported::DYNAMIC_SHARED_AGAIN;
    Diagnostic::fatal(code, code.title()).note(located(module, section))
}
