//! Relocations and attributes of local functions of one name in an object with Mercury, which only
//! a link with `-r` makes.
//!
//! nvlink finds the relocations and the attributes of code by the name of their section, in each
//! object anew. So of several sections of a name the first one's rows count for all functions that
//! have one: their code refers to what the first function refers to.

use cuweld_ir::Module;
use cuweld_ir::Object;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hashbrown::HashSet;

/// Sections that are not the first of their name in their object, each with that first one.
#[derive(Default)]
pub(super) struct Shared {
    /// Relocations of code.
    pub(super) rows: Vec<(SectionId, SectionId)>,
    /// Attributes of functions in the Mercury view.
    pub(super) lists: Vec<(SectionId, SectionId)>,
}

/// Returns what functions of one name share.
pub(super) fn shared(module: &Module<'_>) -> Shared {
    let mut shared = Shared::default();
    let mut names = HashSet::<_, FixedState>::default();
    for object in module.objects.values() {
        names.clear();
        let mut functions = object.functions.iter();
        if functions.any(|function| !names.insert(module.function_name(function))) {
            rows_in(module, object, &mut shared.rows);
            lists_in(module, object, &mut shared.lists);
        }
    }
    shared
}

fn rows_in(module: &Module<'_>, object: &Object<'_>, found: &mut Vec<(SectionId, SectionId)>) {
    let mut first = HashMap::<_, _, FixedState>::default();
    for id in object.sections.iter() {
        let section = &module.sections[id];
        let of_code = match (section.kind, section.info) {
            (SectionKind::Relocs | SectionKind::SassRelocs, SectionInfo::Section(patched)) => {
                module.sections[patched].kind.is_code()
            }
            _ => false,
        };
        if of_code {
            let named = *first.entry(section.name).or_insert(id);
            if named != id {
                found.push((id, named));
            }
        }
    }
}

/// Returns `true` if the rows of two sections are of the same types and in the same places, so that
/// one can have what the other says.
pub(super) fn same_sites(module: &Module<'_>, a: SectionId, b: SectionId) -> bool {
    let sites = |id: SectionId| {
        let rows = &module.relocs[module.sections[id].relocs];
        rows.iter().map(|row| (row.offset, row.ty))
    };
    sites(a).eq(sites(b))
}

fn lists_in(module: &Module<'_>, object: &Object<'_>, found: &mut Vec<(SectionId, SectionId)>) {
    let mut first = HashMap::<_, _, FixedState>::default();
    for function in object.functions.iter() {
        let merc = module.functions[function].views.merc;
        if let Some(list) = merc.and_then(|view| view.info) {
            let named = *first.entry(module.function_name(function)).or_insert(list);
            if named != list {
                found.push((list, named));
            }
        }
    }
}

/// Returns `true` if the attributes of two lists are of the same codes and forms, so that one can
/// have what the other says.
pub(super) fn same_attributes(module: &Module<'_>, a: SectionId, b: SectionId) -> bool {
    let forms = |id: SectionId| {
        let records = &module.attributes[module.sections[id].attributes];
        records
            .iter()
            .map(|record| (record.code, record.format, record.refs.len()))
    };
    forms(a).eq(forms(b))
}

/// Gives all rows and attributes of later functions what those of the first function of their name
/// say [section-found-by-name].
pub(super) fn share_rows(module: &mut Module<'_>) {
    let shared = shared(module);
    for (later, first) in shared.rows {
        let (later, first) = (module.sections[later].relocs, module.sections[first].relocs);
        for (later, first) in later.iter().zip(first.iter()) {
            let said = module.relocs[first];
            let row = &mut module.relocs[later];
            (row.target, row.addend) = (said.target, said.addend);
        }
    }
    for (later, first) in shared.lists {
        let records = module.sections[later].attributes;
        for (later, first) in records.iter().zip(module.sections[first].attributes.iter()) {
            let said = module.attributes[first].clone();
            let record = &mut module.attributes[later];
            (record.value, record.rest) = (said.value, said.rest);
            let into = record.refs.start as usize;
            let from = said.refs.start as usize..said.refs.end as usize;
            module.attribute_refs.copy_within(from, into);
        }
    }
}
