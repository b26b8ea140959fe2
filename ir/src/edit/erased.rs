//! What goes with the rows that an author erases.

use crate::ids::*;
use crate::module::Module;
use crate::section::SectionInfo;
use crate::symbol::SymbolPlace;
use crate::symbol::SymbolRef;
use crate::table::EntityId;
use crate::table::PrimaryMap;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::is_relocs;

/// Rows that go, by table.
#[derive(Clone, Debug, Default)]
pub(super) struct Erased {
    pub(super) sections: Vec<bool>,
    pub(super) symbols: Vec<bool>,
    pub(super) functions: Vec<bool>,
    pub(super) relocs: Vec<bool>,
    pub(super) attributes: Vec<bool>,
    pub(super) calls: Vec<bool>,
    pub(super) prototypes: Vec<bool>,
    pub(super) notes: Vec<bool>,
}

/// What an author erases.
#[derive(Clone, Debug, Default)]
pub(super) struct Erasures {
    pub(super) sections: Vec<SectionId>,
    pub(super) symbols: Vec<SymbolId>,
    pub(super) functions: Vec<FunctionId>,
    pub(super) relocs: Vec<RelocId>,
    pub(super) attributes: Vec<AttributeId>,
    pub(super) calls: Vec<CallId>,
    pub(super) prototypes: Vec<PrototypeId>,
    pub(super) notes: Vec<NoteId>,
}

impl Erased {
    /// Collects the rows that go, with those that belong to them. Linear in the module, as sections
    /// belong to others in at most two steps. The ids of the module name rows; ids of `erasures`
    /// that do not are passed over.
    pub(super) fn new(module: &Module<'_>, erasures: &Erasures) -> Self {
        let mut erased = Erased {
            sections: marked(&module.sections, &erasures.sections),
            symbols: marked(&module.symbols, &erasures.symbols),
            functions: marked(&module.functions, &erasures.functions),
            relocs: marked(&module.relocs, &erasures.relocs),
            attributes: marked(&module.attributes, &erasures.attributes),
            calls: marked(&module.calls, &erasures.calls),
            prototypes: marked(&module.prototypes, &erasures.prototypes),
            notes: marked(&module.notes, &erasures.notes),
        };
        let has_functions = erased.functions.contains(&true);
        if has_functions {
            erased.with_functions(module);
        }
        if erased.sections.contains(&true) {
            erased.with_sections(module);
        }
        if has_functions {
            erased.uses_by_functions(module);
        }
        erased
    }

    /// Adds the symbols and sections of functions, and variables in these.
    fn with_functions(&mut self, module: &Module<'_>) {
        let mut owned = vec![false; module.sections.len()];
        for (id, function) in module.functions.iter() {
            if self.functions[id.index()] {
                self.symbols[function.symbol.index()] = true;
                owned[function.views.sass.text.index()] = true;
            }
        }
        self.belonging(module, &mut owned, |_| true);
        for (index, symbol) in module.symbols.values().enumerate() {
            if let SymbolPlace::Section(section) = symbol.place
                && symbol.function.is_none()
            {
                self.symbols[index] |= owned[section.index()];
            }
        }
        for (section, owned) in self.sections.iter_mut().zip(owned) {
            *section |= owned;
        }
    }

    /// Adds the relocations that apply to sections, and the rows that sections hold.
    fn with_sections(&mut self, module: &Module<'_>) {
        let mut sections = std::mem::take(&mut self.sections);
        self.belonging(module, &mut sections, is_relocs);
        self.sections = sections;
        for (index, reloc) in module.relocs.values().enumerate() {
            self.relocs[index] |= self.sections[reloc.section.index()];
        }
        for (index, attribute) in module.attributes.values().enumerate() {
            let section = attribute.section;
            self.attributes[index] |= section.is_some_and(|id| self.sections[id.index()]);
        }
        for (index, note) in module.notes.values().enumerate() {
            let section = note.section;
            self.notes[index] |= section.is_some_and(|id| self.sections[id.index()]);
        }
    }

    /// Marks the sections of some types that name a marked one, until none is left.
    fn belonging(&self, module: &Module<'_>, marked: &mut [bool], of_type: impl Fn(u32) -> bool) {
        loop {
            let mut found = false;
            for (id, section) in module.sections.iter() {
                if let SectionInfo::Section(of) = section.info
                    && !marked[id.index()]
                    && marked[of.index()]
                    && of_type(section.ty)
                {
                    marked[id.index()] = true;
                    found = true;
                }
            }
            if !found {
                return;
            }
        }
    }

    /// Adds what functions that go say of themselves outside of their sections: records of
    /// `.nv.info`, rows of the call graph, and what debug information says of them.
    fn uses_by_functions(&mut self, module: &Module<'_>) {
        let is_own = |erased: &Self, target: SymbolRef| match target {
            SymbolRef::None => false,
            SymbolRef::Symbol(id) => {
                let function = module.symbols[id].function;
                function.is_some_and(|function| erased.functions[function.index()])
            }
            SymbolRef::Section(id) => erased.sections[id.index()],
        };
        for (index, attribute) in module.attributes.values().enumerate() {
            let first = module.refs(attribute).first();
            self.attributes[index] |= first.is_some_and(|first| is_own(self, *first));
        }
        for (index, call) in module.calls.values().enumerate() {
            self.calls[index] |= is_own(self, call.from);
        }
        for (index, prototype) in module.prototypes.values().enumerate() {
            self.prototypes[index] |= is_own(self, prototype.function);
        }
        for (index, reloc) in module.relocs.values().enumerate() {
            let SectionInfo::Section(patched) = module.sections[reloc.section].info else {
                continue;
            };
            let is_debug = !module.sections[patched].flags.contains(SectionFlags::ALLOC);
            self.relocs[index] |= is_debug && is_own(self, reloc.target);
        }
    }
}

fn marked<K: EntityId, V>(table: &PrimaryMap<K, V>, ids: &[K]) -> Vec<bool> {
    let mut marked = vec![false; table.len()];
    for id in ids {
        if let Some(mark) = marked.get_mut(id.index()) {
            *mark = true;
        }
    }
    marked
}
