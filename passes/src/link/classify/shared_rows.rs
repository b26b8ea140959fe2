//! Relocations and attributes of local functions of one name in an object with Mercury, which only
//! a link with `-r` makes.
//!
//! nvlink finds the relocations and the attributes of code by the name of their section, in each
//! object anew. So of several sections of a name the first one's rows count for all functions that
//! have one: their code refers to what the first function refers to. Without `strict` a function
//! that differs from the first keeps its own rows (deviation D18).

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::deviation;
use cuweld_elf::target::attributes;
use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::Object;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolRef;
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
/// have what the other says, and nvlink makes the code of both in the same way.
pub(super) fn same_attributes(module: &Module<'_>, a: SectionId, b: SectionId) -> bool {
    let forms = |id: SectionId| {
        let records = &module.attributes[module.sections[id].attributes];
        records.iter().map(|record| {
            let options = record.code == attributes::MERCURY_FINALIZER_OPTIONS;
            let options = options.then_some(record.rest);
            (record.code, record.format, record.refs.len(), options)
        })
    };
    forms(a).eq(forms(b))
}

/// Returns `true` if two lists say the same.
fn equal_attributes(module: &Module<'_>, a: SectionId, b: SectionId) -> bool {
    let records = |id: SectionId| {
        let records = &module.attributes[module.sections[id].attributes];
        records.iter().map(|record| {
            let refs = record.refs.start as usize..record.refs.end as usize;
            let refs = module.attribute_refs.get(refs);
            (record.code, record.format, record.value, refs, record.rest)
        })
    };
    records(a).eq(records(b))
}

/// Returns `true` if the rows of two sections say the same of two functions with the same code, but
/// that each refers to its own.
fn equal_rows(module: &Module<'_>, a: SectionId, b: SectionId) -> bool {
    let owner = |id: SectionId| module.sections[id].owner;
    let (Some(of_a), Some(of_b)) = (owner(a), owner(b)) else {
        return false;
    };
    let code = |function: FunctionId| {
        let views = module.functions[function].views;
        let merc = views.merc.map(|view| module.sections[view.text].bytes());
        // The first word is the index of the section.
        let merc = merc.and_then(|bytes| bytes.get(4..));
        (module.sections[views.sass.text].bytes(), merc)
    };
    let rows = |id: SectionId, function: FunctionId| {
        let own = SymbolRef::Symbol(module.functions[function].symbol);
        let rows = &module.relocs[module.sections[id].relocs];
        rows.iter().map(move |row| {
            let target = Some(row.target).filter(|target| *target != own);
            (row.offset, row.ty, target, row.addend)
        })
    };
    code(of_a) == code(of_b) && rows(a, of_a).eq(rows(b, of_b))
}

/// Gives later functions what the rows and attributes of the first function of their name say
/// [section-found-by-name]: under `strict` all of them, else those that are equal to it. Returns
/// what is to be said of the others.
pub(super) fn share_rows(module: &mut Module<'_>) -> Option<Diagnostic> {
    let mut shared = shared(module);
    let mut note = None;
    if !module.options.strict {
        let rows = shared.rows.iter();
        let rows = rows.filter(|(later, first)| !equal_rows(module, *later, *first));
        let lists = shared.lists.iter();
        let lists = lists.filter(|(later, first)| !equal_attributes(module, *later, *first));
        let others = rows.chain(lists);
        let others: HashSet<_, FixedState> = others
            .filter_map(|(later, _)| module.sections[*later].owner)
            .collect();
        note = own_rows(module, &others);
        let is_shared = |(later, _): &(SectionId, SectionId)| {
            let owner = module.sections[*later].owner;
            owner.is_some_and(|owner| !others.contains(&owner))
        };
        shared.rows.retain(is_shared);
        shared.lists.clear();
    }
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
    note
}

/// Says that functions keep their own rows, in whose place nvlink takes those of another.
fn own_rows(module: &Module<'_>, others: &HashSet<FunctionId, FixedState>) -> Option<Diagnostic> {
    let mut functions = module.functions.iter();
    let (first, function) = functions.find(|(id, _)| others.contains(id))?;
    let name = String::from_utf8_lossy(module.function_name(first));
    let file = module.objects[function.object].display();
    let message = match others.len() {
        1 => format!("local function '{name}' of '{file}' keeps its own relocations"),
        count => format!(
            "{count} local functions keep their own relocations, the first is '{name}' in '{file}'"
        ),
    };
    Some(Diagnostic::remark(deviation::OWN_ROWS, message).deviates("D18"))
}
