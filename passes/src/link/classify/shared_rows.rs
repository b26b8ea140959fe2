//! Relocations of local functions of one name in an object with Mercury, which only a link with
//! `-r` makes.
//!
//! nvlink finds the relocations of code by the name of their section, in each object anew. So of
//! several sections of a name the first one's rows count for all functions that have one: their
//! code refers to what the first function refers to.

use cuweld_ir::Module;
use cuweld_ir::Object;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hashbrown::HashSet;

/// Returns the relocation sections of code that are not the first of their name in their object,
/// each with that first one.
pub(super) fn shared_rows(module: &Module<'_>) -> Vec<(SectionId, SectionId)> {
    let mut found = Vec::new();
    let mut names = HashSet::<_, FixedState>::default();
    for object in module.objects.values() {
        names.clear();
        let mut functions = object.functions.iter();
        if functions.any(|function| !names.insert(module.function_name(function))) {
            shared_in(module, object, &mut found);
        }
    }
    found
}

fn shared_in(module: &Module<'_>, object: &Object<'_>, found: &mut Vec<(SectionId, SectionId)>) {
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

/// Gives all rows of later functions what those of the first function of their name say.
pub(super) fn share_rows(module: &mut Module<'_>) {
    for (later, first) in shared_rows(module) {
        let (later, first) = (module.sections[later].relocs, module.sections[first].relocs);
        for (later, first) in later.iter().zip(first.iter()) {
            let said = module.relocs[first];
            let row = &mut module.relocs[later];
            (row.target, row.addend) = (said.target, said.addend);
        }
    }
}
