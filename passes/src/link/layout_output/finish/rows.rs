//! Relocation rows of the output.

use cuweld_elf::mercury::relocs::header_type as mercury_header_type;
use cuweld_elf::target::relocs::header_reloc_type;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::RelocAction;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SymbolId;
use cuweld_ir::SymbolRef;
use cuweld_ir::plan::PlanReloc;
use cuweld_ir::table::EntityId;
use hashbrown::HashMap;

use super::super::constant_rows::of_bank;
use super::super::resolved::is_recorded;
use super::super::resolved::resolved_addend;
use super::Content;
use super::Finish;
use super::OutId;
use super::OutSection;
use super::output_of;

/// Returns the number of rows of a section of relocations; 0 of any other.
pub(super) fn count(section: &OutSection<'_>) -> usize {
    let of_rows = matches!(
        section.content,
        Content::Relocs(_) | Content::ResolvedRelocs(_) | Content::HeaderRelocs(..)
    );
    let count = section
        .size
        .checked_div(section.entsize)
        .filter(|_| of_rows);
    count.map_or(0, |count| count as usize)
}

impl Finish<'_, '_> {
    /// Makes the rows of a section of relocations.
    pub(super) fn put_rows(&self, id: OutId, room: &mut [PlanReloc]) {
        let mut room = room.iter_mut();
        let mut put = |row: PlanReloc| {
            if let Some(place) = room.next() {
                *place = row;
            }
        };
        let content = self.out.sections[id].content;
        if let Content::HeaderRelocs(_, kernel) = content {
            return self.header_relocs(kernel, put);
        }
        if let Content::Relocs(target) = content
            && let Some(rows) = of_bank(self.module, &self.out, target as OutId)
        {
            // Rows of copies that are not linked stay with their constants.
            for (offset, row) in rows {
                put(PlanReloc {
                    offset,
                    ty: row.ty,
                    symbol: self.named_symbol(row.target),
                    addend: row.addend,
                });
            }
            return;
        }
        let is_resolved = matches!(content, Content::ResolvedRelocs(_));
        let is_rela = self.out.sections[id].ty == sht::RELA;
        // Kept rows go to the front of their section's list, so that each list is the reverse of
        // the input.
        for section in self.out.row_sections.of(id).iter().rev() {
            let section = &self.module.sections[*section];
            let base = match section.info {
                SectionInfo::Section(target) => self.module.sections[target].place.unwrap_or(0),
                _ => 0,
            };
            let dynamic = self.own_dynamic_symbol(section.info);
            // Rows of tables have one target.
            let mut last = None;
            for row in self.module.relocs[section.relocs].iter().rev() {
                let (ty, addend) = match row.plan {
                    RelocAction::Keep { ty, addend, rela } if !is_resolved && rela == is_rela => {
                        (ty, addend)
                    }
                    RelocAction::Apply { ty, in_place, .. }
                        if is_resolved && is_recorded(self.module, &self.out, row) =>
                    {
                        (ty, resolved_addend(self.module, row, ty, in_place))
                    }
                    _ => continue,
                };
                let symbol = match last {
                    Some((target, symbol)) if target == row.target => symbol,
                    _ => self.reloc_symbol(row.target, dynamic),
                };
                last = Some((row.target, symbol));
                put(PlanReloc {
                    offset: row.offset + base,
                    ty,
                    symbol,
                    addend,
                });
            }
        }
    }

    /// Returns the symbol of the first section that has the name of an input section's output. This
    /// is how nvlink finds the symbol of a row where local functions of one name have several
    /// [section-found-by-name].
    fn section_by_name(&self, section: SectionId) -> u32 {
        let Some(id) = output_of(self.module, &self.out, section) else {
            return 0;
        };
        let first_named = self.first_named.get_or_init(|| {
            let mut first_named = HashMap::default();
            for id in 0..self.out.sections.len() {
                first_named.entry(self.strings.of_section(id)).or_insert(id);
            }
            first_named
        });
        let first = first_named.get(&self.strings.of_section(id)).copied();
        self.section_symbol[first.unwrap_or(id)]
    }

    /// Returns the output symbol of the own dynamic shared memory of the kernel whose code rows
    /// apply to; `None` for rows of other sections.
    fn own_dynamic_symbol(&self, patched: SectionInfo) -> Option<u32> {
        let SectionInfo::Section(patched) = patched else {
            return None;
        };
        let patched = &self.module.sections[patched];
        let owner = patched.owner.filter(|_| patched.kind.is_code())?;
        let index = self.dynamic_symbol.get(owner.index()).copied();
        index.filter(|index| *index != 0)
    }

    /// Returns the output symbol of what a relocation refers to. Code of a kernel refers to the
    /// kernel's own `dynamic` shared memory.
    fn reloc_symbol(&self, target: SymbolRef, dynamic: Option<u32>) -> u32 {
        let is_dynamic = |symbol: SymbolId| {
            let link = self.module.symbols[symbol].link;
            link.is_some_and(|link| self.module.is_dynamic_shared(link))
        };
        match (target, dynamic) {
            (SymbolRef::Section(section), _) => self.section_by_name(section),
            (SymbolRef::Symbol(symbol), Some(dynamic)) if is_dynamic(symbol) => dynamic,
            (SymbolRef::Symbol(symbol), _) if self.module.symbols[symbol].is_undeclared() => {
                match self.named_section(symbol) {
                    Some(section) => self.section_by_name(section),
                    None => self.named_symbol(target),
                }
            }
            _ => self.named_symbol(target),
        }
    }

    /// Returns the section of its object that an undeclared name is the name of: a compiler that
    /// comes to a reference before the section writes it so [undeclared-names].
    fn named_section(&self, symbol: SymbolId) -> Option<SectionId> {
        let symbol = &self.module.symbols[symbol];
        let mut sections = self.module.objects[symbol.object].sections.iter();
        sections.find(|id| symbol.link.is_none() && self.module.sections[*id].name == symbol.name)
    }

    /// Returns the output symbol of what a relocation names: of an alias that of its function.
    fn named_symbol(&self, target: SymbolRef) -> u32 {
        if self.out.has_aliases
            && let Some(function) = self.aliased(target)
        {
            return self.symbol_index[function.index()];
        }
        self.reference(target)
    }

    /// Returns the function that an alias is another name of [function-aliases].
    fn aliased(&self, target: SymbolRef) -> Option<LinkSymbolId> {
        let link = self.module.symbols[target.symbol()?].link?;
        let alias = self.module.link_function(link)?;
        let owner = self.module.aliased(alias)?;
        self.module.symbols[self.module.functions[owner].symbol].link
    }

    /// Passes a relocation to `put` for every header slot that a kernel needs, last slot first.
    fn header_relocs(&self, kernel: LinkSymbolId, mut put: impl FnMut(PlanReloc)) {
        let kernel = self.module.link_function(kernel);
        let slots = kernel
            .into_iter()
            .flat_map(|kernel| self.module.header_slots_of(kernel).rev());
        for slot in slots {
            let first = self.module.link_symbols[slot.symbol].first;
            let ty = self.module.symbols[first].ty;
            let (offset, ty) = match self.out.capmerc {
                true => (
                    slot.offset.saturating_sub(self.module.header_base()),
                    mercury_header_type(ty),
                ),
                false => (slot.offset, header_reloc_type(ty)),
            };
            put(PlanReloc {
                offset,
                ty,
                symbol: self.symbol_index[slot.symbol.index()],
                addend: 0,
            });
        }
    }
}
