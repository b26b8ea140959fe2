//! What is created after all objects: headers, and what kernels have of their own.

use super::*;
use crate::link::place_memory::shared_relocatable::dynamic_references;

impl Replay<'_, '_> {
    pub(super) fn end(&mut self) {
        let module = self.module;
        let relocatable = module.options.relocatable;
        for link in module.link_symbols.values() {
            if link.common_align != 0 {
                let ty = if relocatable {
                    sht::CUDA_GLOBAL
                } else {
                    sht::NOBITS
                };
                let header = Header::new(
                    ty,
                    SectionFlags::WRITE | SectionFlags::ALLOC,
                    link.common_align,
                );
                self.named(b".nv.global", header, Content::Concatenated, true);
            }
        }
        let pairs = |ty| Header {
            ty,
            flags: SectionFlags::empty(),
            align: 4,
            entsize: 8,
        };
        self.named(
            b".nv.callgraph",
            pairs(sht::CUDA_CALLGRAPH),
            Content::CallGraph,
            true,
        );
        self.named(
            b".nv.prototype",
            pairs(sht::CUDA_PROTOTYPE),
            Content::Prototypes,
            true,
        );
        if !relocatable {
            if self.out.capmerc {
                self.header_indices();
            }
            self.late_shared();
            self.late_banks();
        }
        if !relocatable && !self.out.capmerc {
            let action = Header {
                ty: sht::CUDA_RELOCINFO,
                flags: SectionFlags::empty(),
                align: 8,
                entsize: 8,
            };
            self.named(b".nv.rel.action", action, Content::RelAction, true);
        }
        self.dynamic_instances();
        for symbol in &self.out.global {
            match *symbol {
                OutSymbol::Link(link) => {
                    self.names.add(module.link_name(link), Named::Link(link));
                }
                _ => self
                    .names
                    .add(known_symbols::DYNAMIC_SHARED_INSTANCE, Named::SymbolName),
            }
        }
    }

    /// Creates the sections for the slots of textures, samplers and surfaces of each kernel that
    /// has any, which the Mercury view has apart from parameters.
    fn header_indices(&mut self) {
        for &(link, kernel) in &self.live.kernels {
            if self.module.functions[kernel].header_kinds == 0 {
                continue;
            }
            let name = self.module.function_name(kernel);
            let name = self.joined(".nv.constant.entry_image_header_indices.", name);
            let header = Header::new(
                sht::PROGBITS,
                SectionFlags::ALLOC | SectionFlags::INFO_LINK,
                SLOT_SIZE,
            );
            self.push(name, header, Content::Constants(link, 0), true);
        }
    }

    /// Creates the sections of shared memory that nothing made yet because options leave the kernel
    /// out and it has no variable of its own.
    fn late_shared(&mut self) {
        for (link, kernel) in std::mem::take(&mut self.late_shared) {
            let frame = self.module.functions[kernel].shared;
            if frame.is_some_and(|frame| frame.present) {
                self.kernel_shared(link, kernel, self.module.function_name(kernel));
            }
        }
    }

    /// Creates what relocatable output has for the dynamic shared memory of each kernel that refers
    /// to it, at the first reference: a symbol, and the section of shared memory where nothing made
    /// it yet because options leave the kernel out [dynamic-shared-instance].
    fn dynamic_instances(&mut self) {
        if !self.module.options.relocatable {
            return;
        }
        let mut seen = HashSet::<_, FixedState>::default();
        for (kernel, _) in dynamic_references(self.module) {
            let Some(link) = self
                .outcomes
                .get(kernel)
                .link
                .filter(|_| seen.insert(kernel))
            else {
                continue;
            };
            if !self.module.shows_dynamic_shared() {
                let toolkit = self.module.toolkit;
                if toolkit.has(&behaviours::symbols::WEAK_BEFORE_GLOBAL) {
                    self.names
                        .add(known_symbols::DYNAMIC_SHARED_INSTANCE, Named::SymbolName);
                    self.out.local.push(OutSymbol::DynamicShared(kernel));
                } else {
                    self.out.global.push(OutSymbol::DynamicShared(kernel));
                }
            }
            self.kernel_shared(link, kernel, self.module.function_name(kernel));
        }
    }
}
