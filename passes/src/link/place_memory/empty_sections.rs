//! Sections of shared memory of kernels in which no variable lies, as `-r` makes them for dynamic
//! shared memory [empty-kernel-shared].
//!
//! In executables such a section is memory of its own. What it is with `-r`, with `-g` and with
//! `--reserve-null-pointer` is not known.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::unsupported;
use cuweld_elf::behaviours::memory;
use cuweld_elf::raw::ET_EWP;
use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::SectionId;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolPlace;
use cuweld_ir::table::EntityId;

use super::shared::null_size;
use crate::located::located;

/// A section without a variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EmptySection {
    /// Bytes.
    pub size: u64,
    /// In bytes.
    pub align: u64,
    section: SectionId,
}

/// Sections without variables by the function that has them.
pub(crate) struct EmptySections {
    of: Vec<Option<EmptySection>>,
}

impl EmptySections {
    /// Finds those that count: none up to toolkit 13.3.
    pub fn new(module: &Module<'_>) -> Self {
        let mut of = Vec::new();
        if !module.toolkit.has(&memory::EMPTY_KERNEL_SHARED) {
            return EmptySections { of };
        }
        let objects = module.included_objects();
        for (_, object) in objects.filter(|(_, object)| object.e_type != ET_EWP) {
            for id in object.sections.iter() {
                let section = &module.sections[id];
                if let (SectionKind::KernelShared, Some(owner)) = (section.kind, section.owner) {
                    of.resize(module.functions.len(), None);
                    of[owner.index()] = Some(EmptySection {
                        size: section.size(),
                        align: section.align,
                        section: id,
                    });
                }
            }
        }
        if of.is_empty() {
            return EmptySections { of };
        }
        for symbol in module.symbols.values() {
            if let SymbolPlace::Section(section) = symbol.place
                && module.sections[section].kind == SectionKind::KernelShared
                && let Some(owner) = module.sections[section].owner
            {
                of[owner.index()] = None;
            }
        }
        EmptySections { of }
    }

    /// Returns the number of those that have a size and are linked.
    pub fn linked(&self, module: &Module<'_>) -> usize {
        let sections = self.of.iter().flatten();
        let linked =
            |found: &&EmptySection| found.size != 0 && module.is_section_linked(found.section);
        sections.filter(linked).count()
    }

    /// Returns `true` if a section is that of a kernel.
    pub fn has(&self, kernel: FunctionId, section: SectionId) -> bool {
        self.of(kernel)
            .is_some_and(|found| found.section == section)
    }

    /// Returns that of a kernel.
    pub fn of(&self, kernel: FunctionId) -> Option<EmptySection> {
        *self.of.get(kernel.index())?
    }
}

/// Refuses such sections in links of which their meaning is not known.
pub(super) fn refuse(module: &Module<'_>, errors: &mut Vec<Diagnostic>) {
    let is_known =
        !module.options.relocatable && !module.shows_dynamic_shared() && null_size(module) == 0;
    let empty = if is_known {
        None
    } else {
        Some(EmptySections::new(module))
    };
    let mut sections = empty.iter().flat_map(|empty| empty.of.iter().flatten());
    if let Some(found) = sections.next() {
        let code = unsupported::DYNAMIC_SHARED_AGAIN;
        errors.push(Diagnostic::fatal(code, code.title()).note(located(module, found.section)));
    }
}
