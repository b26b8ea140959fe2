//! Creation of one output section with its names and its symbol.

use std::borrow::Cow;

use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::is_unified_entries;

use super::super::contents::of_kernel;
use super::super::contents::reserved_size;
use super::*;

/// Type, flags and alignment of a section that is created.
pub(super) struct Header {
    pub(super) ty: u32,
    pub(super) flags: SectionFlags,
    pub(super) align: u64,
    pub(super) entsize: u64,
}

impl Header {
    pub(super) fn new(ty: u32, flags: SectionFlags, align: u64) -> Self {
        Header {
            ty,
            flags,
            align,
            entsize: 0,
        }
    }

    /// Builds the header from that of an input section. Executables have plain types where
    /// relocatable objects have CUDA's own.
    pub(super) fn of(section: &Section<'_>, relocatable: bool) -> Self {
        let ty = match section.kind {
            _ if relocatable => section.ty,
            SectionKind::FunctionConstants(_)
            | SectionKind::ConstantBank(_)
            | SectionKind::GlobalInit => sht::PROGBITS,
            SectionKind::Global
            | SectionKind::KernelShared
            | SectionKind::ModuleShared
            | SectionKind::ReservedShared
            | SectionKind::Local => sht::NOBITS,
            // Constants of the Mercury view that a link of SASS takes along.
            SectionKind::Other if sht::CUDA_CONSTANTS.contains(&section.ty) => sht::PROGBITS,
            _ => section.ty,
        };
        // [info-link-added]
        let linked = match section.kind {
            SectionKind::FunctionConstants(1..) | SectionKind::KernelShared => {
                SectionFlags::INFO_LINK
            }
            _ => SectionFlags::empty(),
        };
        // [compressed-flag-kept]
        let lost = match section.kind {
            SectionKind::KernelShared | SectionKind::ModuleShared => SectionFlags::COMPRESSED,
            _ => SectionFlags::empty(),
        };
        Header {
            ty,
            flags: (section.flags - lost) | linked,
            align: section.align,
            entsize: section.entsize,
        }
    }
}

impl<'data> Replay<'_, 'data> {
    /// Returns the number of a section that is created now.
    pub(super) fn number(&mut self) -> u32 {
        let number = self.out.next_number;
        self.out.next_number = number.saturating_add(1);
        number
    }

    /// Adds a name to both tables, of something that is not in the output [names-stay].
    pub(super) fn unused_name(&mut self, name: &'data [u8]) {
        self.names.add(name, Named::Unused);
    }

    pub(super) fn joined(&self, prefix: &str, name: &[u8]) -> &'data [u8] {
        self.arena.joined(prefix.as_bytes(), name)
    }

    /// Returns a prefix and a name as one string, which is most often the name of an input section.
    pub(super) fn same_or_joined(
        &self,
        input: &'data [u8],
        prefix: &str,
        name: &[u8],
    ) -> &'data [u8] {
        match input.strip_prefix(prefix.as_bytes()) {
            Some(rest) if rest == name => input,
            _ => self.joined(prefix, name),
        }
    }

    pub(super) fn push(
        &mut self,
        name: &'data [u8],
        header: Header,
        content: Content,
        has_symbol: bool,
    ) -> OutId {
        let id = self.out.sections.len();
        let mut has_relocs_number = false;
        let mut header_relocs = None;
        if let Content::Constants(link, 0) = content
            && !self.module.options.relocatable
        {
            // The relocation section of header slots; its name stays where there are none.
            let rela = self.out.capmerc || self.module.options.force_rela;
            let rel = self.joined(if rela { ".rela" } else { ".rel" }, name);
            let kernel = self.module.link_function(link);
            let slots = kernel.map_or(0, |kernel| self.module.header_slots_of(kernel).count());
            header_relocs = (slots != 0).then_some((rel, link, slots));
            self.names.add(name, Named::SectionAlone(id));
            match header_relocs {
                Some(_) => self.names.add(rel, Named::Section(id + 1)),
                None => self.unused_name(rel),
            }
            self.names.add(name, Named::SectionSymbol(id));
            has_relocs_number = true;
        } else {
            self.names.add(name, Named::Section(id));
        }
        let number = self.number();
        self.out.sections.push(OutSection {
            name,
            ty: header.ty,
            flags: header.flags,
            align: header.align,
            entsize: header.entsize,
            content,
            size: 0,
            number,
            // Stays if rows come.
            removed: matches!(content, Content::Relocs(_) | Content::ResolvedRelocs(_)),
        });
        match content {
            Content::Constants(..) | Content::KernelShared(_) => {
                of_kernel(self.module, &mut self.out, id);
            }
            Content::ReservedShared => {
                self.out.sections[id].size = reserved_size(self.module);
                self.out.reserved.push(id);
            }
            content if content.is_special() => self.out.special.push(id),
            _ => {}
        }
        if has_symbol {
            self.out.local.push(OutSymbol::Section(id as u32));
        }
        if has_relocs_number {
            let number = self.number();
            if let Some((rel, link, slots)) = header_relocs {
                // [info-link-added]
                let (ty, flags, entsize) = if self.out.capmerc || self.module.options.force_rela {
                    (sht::RELA, SectionFlags::INFO_LINK, 24)
                } else {
                    (sht::REL, SectionFlags::empty(), 16)
                };
                self.out.sections.push(OutSection {
                    name: rel,
                    ty,
                    flags,
                    align: 8,
                    entsize,
                    content: Content::HeaderRelocs(id as u32, link),
                    size: (slots as u64).saturating_mul(entsize),
                    number,
                    removed: false,
                });
            }
        }
        id
    }

    /// Returns a module-wide section, which is created when it is first needed.
    pub(super) fn named(
        &mut self,
        name: &'data [u8],
        header: Header,
        content: Content,
        has_symbol: bool,
    ) -> OutId {
        if let Some(id) = self.out.by_name.get(name).copied() {
            let section = &mut self.out.sections[id];
            section.align = section.align.max(header.align);
            return id;
        }
        let id = self.push(name, header, content, has_symbol);
        self.out.by_name.insert(name, id);
        id
    }

    /// Returns a function's section, which is created when it is first needed.
    pub(super) fn of_function(
        &mut self,
        link: LinkSymbolId,
        name: &'data [u8],
        header: Header,
        content: Content,
        has_symbol: bool,
    ) -> OutId {
        if let Some(id) = self.out.of_function(link, name) {
            return id;
        }
        let id = self.push(name, header, content, has_symbol);
        self.out.by_function.insert(link, name, id);
        id
    }

    /// Creates the section of a kernel's shared memory. Every kernel gets one; those that stay
    /// empty are removed and leave their names.
    pub(super) fn kernel_shared(
        &mut self,
        link: LinkSymbolId,
        function: FunctionId,
        kernel: &[u8],
    ) {
        let name = self.joined(".nv.shared.", kernel);
        if !self.module.options.relocatable {
            let header = Header::new(
                sht::NOBITS,
                SectionFlags::WRITE | SectionFlags::ALLOC | SectionFlags::INFO_LINK,
                1,
            );
            self.of_function(link, name, header, Content::KernelShared(link), true);
        } else if let Some(id) = self.own_shared[function.index()] {
            self.symbol_section(id);
        } else {
            let flags = SectionFlags::WRITE | SectionFlags::ALLOC | SectionFlags::INFO_LINK;
            let header = Header::new(sht::CUDA_SHARED, flags, 1);
            self.of_function(link, name, header, Content::KernelShared(link), true);
        }
    }

    /// Creates the attribute section of a function.
    pub(super) fn info(&mut self, link: LinkSymbolId, name: &'data [u8]) {
        let header = Header::new(sht::CUDA_INFO, SectionFlags::INFO_LINK, 4);
        self.of_function(link, name, header, Content::Info(Some(link)), false);
    }

    /// Returns `true` if the output has a symbol for a shared variable: with `-g`, if it has an
    /// address.
    pub(super) fn shows_shared(&self, link: LinkSymbolId) -> bool {
        self.module.shows_shared_variables() && self.module.link_symbols[link].value.is_some()
    }

    /// Creates the section of a symbol if it is part of the link; says whether it is.
    pub(super) fn symbol_section(&mut self, id: SectionId) -> bool {
        self.object_section(id, true)
    }

    /// Creates a section of an object if it is part of the link; says whether it is. `of_symbol`
    /// says that a symbol needs it.
    pub(super) fn object_section(&mut self, id: SectionId, of_symbol: bool) -> bool {
        if self.out.placed[id.index()] != NO_SECTION {
            return true;
        }
        let section = &self.module.sections[id];
        let Some(owner) = section.owner else {
            if section.kind == SectionKind::Global && section.place.is_none() {
                return true;
            }
            let content = match section.kind {
                SectionKind::ModuleShared => Content::ModuleShared,
                SectionKind::ReservedShared => Content::ReservedShared,
                _ if is_unified_entries(section.ty) => Content::UnifiedEntries,
                _ => Content::Concatenated,
            };
            let header = Header::of(section, self.module.options.relocatable);
            let name = self.view_name(section);
            let out = self.named(name, header, content, true);
            self.out.placed[id.index()] = out as u32;
            return true;
        };
        let holder = match section.kind {
            // That of the copy that is linked.
            SectionKind::FunctionConstants(0) => {
                let link = self.module.symbols[self.module.functions[owner].symbol].link;
                let kernel = link.and_then(|link| self.module.link_function(link));
                self.shared_parameters.holder(kernel.unwrap_or(owner))
            }
            _ => None,
        };
        let taken = match section.kind {
            _ if holder.is_some() => holder.and_then(|holder| self.outcomes.get(holder).link),
            SectionKind::FunctionConstants(_) if self.own_banks.begins[id.index()] => {
                self.module.symbols[self.module.functions[owner].symbol].link
            }
            SectionKind::KernelShared if self.is_live(owner) => self.outcomes.get(owner).link,
            _ => self.taken(owner),
        };
        let Some(link) = taken else {
            let removed = matches!(section.kind, SectionKind::FunctionConstants(1..))
                && !self.own_banks.begins[id.index()];
            if removed && self.module.options.relocatable {
                self.unused_name(section.name);
                self.number();
            }
            return false;
        };
        let content = match section.kind {
            // Constants of device functions become part of the banks of kernels that reach them;
            // their section is made first, and removed [constants-join-banks].
            SectionKind::FunctionConstants(_)
                if holder.is_none() && !self.own_banks.begins[id.index()] =>
            {
                if self.moved_banks.insert((link, section.name)) {
                    self.number();
                    // What a replaced copy had left of a discarded one.
                    if self.module.options.relocatable {
                        self.unused_name(section.name);
                    }
                }
                return false;
            }
            SectionKind::FunctionConstants(bank) => Content::Constants(link, bank),
            SectionKind::KernelShared => Content::KernelShared(link),
            SectionKind::Text => return true,
            _ => Content::OfFunction(link),
        };
        let mut header = Header::of(section, self.module.options.relocatable);
        if matches!(content, Content::Constants(_, 1..)) && !of_symbol {
            // [flags-of-first-constants]
            header.flags = section.flags;
        }
        let name = self.view_name(section);
        let out = self.of_function(link, name, header, content, true);
        if !section.kind.is_code() {
            self.out.placed[id.index()] = out as u32;
        }
        true
    }

    /// Returns the name of an input section in what is laid out.
    fn view_name(&self, section: &Section<'data>) -> &'data [u8] {
        match self.out.name_of(section) {
            Cow::Borrowed(name) => name,
            Cow::Owned(name) => self.arena.bytes(&name),
        }
    }
}
