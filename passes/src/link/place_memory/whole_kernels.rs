//! Kernels of EWP objects (`ptxas -ewp`): their code has the addresses of their shared variables,
//! for which there are no symbols any more [whole-kernel-shared].
//!
//! What such a kernel has keeps its place from 0 on, and dynamic shared memory follows. There is no
//! room for variables of functions that it calls: nvlink has an error for each reference to one.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::link;
use cuweld_diagnostics::codes::unsupported;
use cuweld_elf::known_symbols;
use cuweld_elf::raw::ET_EWP;
use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::SectionKind;
use cuweld_ir::table::EntityId;

use super::shared_uses::Uses;
use super::shared_variables::Variable;
use crate::located::located;

/// The kernels of EWP objects, by ordinal.
pub(super) struct WholeKernels {
    /// Whether each kernel is one; empty if there is none.
    whole: Vec<bool>,
    /// Size and alignment in bytes of the `.nv.shared.K` that it comes with.
    sections: Vec<Option<(u64, u64)>>,
}

impl WholeKernels {
    pub(super) fn new(module: &Module<'_>, kernels: &[(LinkSymbolId, FunctionId)]) -> Self {
        let mut found = WholeKernels {
            whole: Vec::new(),
            sections: Vec::new(),
        };
        if !module.has_ewp_object() {
            return found;
        }
        let is_whole = |function: FunctionId| {
            module.objects[module.functions[function].object].e_type == ET_EWP
        };
        found
            .whole
            .extend(kernels.iter().map(|(_, function)| is_whole(*function)));
        let mut sections = vec![None; module.functions.len()];
        for section in module.sections.values() {
            if let (SectionKind::KernelShared, Some(owner)) = (section.kind, section.owner)
                && is_whole(owner)
            {
                sections[owner.index()] = Some((section.size(), section.align.max(1)));
            }
        }
        let of = |(_, function): &(LinkSymbolId, FunctionId)| sections[function.index()];
        found.sections.extend(kernels.iter().map(of));
        found
    }

    /// Refuses links with `-g`, where nvlink loses the section, with `-r`, where it is not what it was,
    /// and with `-preserve-relocs` and `-variables-used`, where nvlink makes it. Refuses shared memory that no kernel of its object uses: nvlink gives the
    /// output its section, of sizes that are not known. Refuses debug information for sm_100 and up, whose two views have their bytes in
    /// common.
    pub(super) fn refuse_sections(module: &Module<'_>, errors: &mut Vec<Diagnostic>) {
        if !module.has_ewp_object() {
            return;
        }
        let options = &module.options;
        let placed_otherwise = if options.relocatable {
            Some("-r")
        } else if options.debug {
            Some("-g")
        } else {
            let is_preserved = options.preserve_relocs && options.host.variables_used.is_some();
            is_preserved.then_some("-preserve-relocs and -variables-used")
        };
        let of_whole = module.sections.iter().filter(|(_, section)| {
            let object = &module.objects[section.object];
            object.e_type == ET_EWP && object.state.is_included()
        });
        for (id, section) in of_whole {
            let is_debug = section.kind == SectionKind::MercuryDebug;
            if is_debug && section.name == b".nv.merc.debug_info" {
                let message = "debug information of an -ewp object for sm_100 and up";
                let refused = Diagnostic::fatal(unsupported::EWP_DEBUG, message);
                errors.push(refused.note(located(module, id)));
            }
            if section.kind == SectionKind::ModuleShared {
                let message = "shared memory of an -ewp object that none of its kernels uses";
                let refused = Diagnostic::fatal(unsupported::EWP_SHARED, message);
                errors.push(refused.note(located(module, id)));
            }
            if let Some(option) = placed_otherwise
                && section.kind == SectionKind::KernelShared
                && module.is_section_linked(id)
            {
                errors.push(
                    Diagnostic::fatal(
                        unsupported::EWP_SHARED,
                        format!("shared memory of an -ewp object with {option}"),
                    )
                    .note(located(module, id)),
                );
            }
        }
    }

    /// Refuses kernels with shared memory of which one copy is from an EWP object: what nvlink makes
    /// of the section of a copy that it does not link, and of variables without one, is not known.
    pub(super) fn refuse_copies(module: &Module<'_>, errors: &mut Vec<Diagnostic>) {
        if !module.has_ewp_object() {
            return;
        }
        let has_variables = || {
            let mut included = module.symbols.values();
            included.any(|symbol| {
                symbol.is_shared()
                    && !known_symbols::is_of_driver(symbol.name)
                    && module.objects[symbol.object].state.is_included()
            })
        };
        let has_section = || {
            let mut sections = module.sections.values();
            sections.any(|section| {
                section.kind == SectionKind::KernelShared
                    && module.objects[section.object].state.is_included()
            })
        };
        if !has_variables() && !has_section() {
            return;
        }
        let mut copies: Vec<(u32, bool)> = vec![(0, false); module.link_symbols.len()];
        for function in module.functions.values() {
            let symbol = &module.symbols[function.symbol];
            let object = &module.objects[function.object];
            if let Some(link) = symbol.link.filter(|_| symbol.is_entry())
                && object.state.is_included()
            {
                let (count, is_whole) = &mut copies[link.index()];
                *count += 1;
                *is_whole |= object.e_type == ET_EWP;
            }
        }
        for ((link, _), (count, is_whole)) in module.link_symbols.iter().zip(copies) {
            if count > 1 && is_whole {
                let message = "shared memory beside copies of a kernel of an -ewp object";
                let name = String::from_utf8_lossy(module.link_name(link)).into_owned();
                let refused = Diagnostic::fatal(unsupported::EWP_SHARED, message);
                errors.push(refused.note(format!("kernel '{name}'")));
            }
        }
    }

    /// Returns the section that a kernel comes with.
    pub(super) fn section(&self, kernel: usize) -> Option<(u64, u64)> {
        self.sections.get(kernel).copied().flatten()
    }

    /// Adds what the kernels come with to the sizes of their shared memory.
    pub(super) fn add_sizes(&self, sizes: &mut [u64]) {
        for (size, section) in sizes.iter_mut().zip(&self.sections) {
            *size = (*size).max(section.map_or(0, |(size, _)| size));
        }
    }

    /// Reports a variable that such kernels use: for each reference the kernels, last created
    /// first.
    pub(super) fn refuse(
        &self,
        module: &Module<'_>,
        uses: &Uses,
        variable: &Variable,
        users: &[u32],
        kernels: &[(LinkSymbolId, FunctionId)],
        errors: &mut Vec<Diagnostic>,
    ) {
        let is_whole = |kernel: &u32| self.whole.get(*kernel as usize) == Some(&true);
        let text = |link| String::from_utf8_lossy(module.link_name(link)).into_owned();
        for _ in 0..uses.references(variable.link) {
            for kernel in users.iter().rev().filter(|kernel| is_whole(kernel)) {
                let Some((kernel, _)) = kernels.get(*kernel as usize) else {
                    continue;
                };
                errors.push(
                    Diagnostic::error(
                        link::EWP_SHARED,
                        format!(
                            "Cannot link shared object '{}' with partially linked kernel '{}'",
                            text(variable.link),
                            text(*kernel)
                        ),
                    )
                    .note("the kernel was compiled with -ewp, which fixes its shared memory"),
                );
            }
        }
    }
}
