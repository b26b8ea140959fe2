//! From `selected`, `resolved` and `live` on: which objects take part, what names stand for, what
//! is kept.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::Checker;
use super::Rule;
use crate::function::Fate;
use crate::ids::*;
use crate::link_symbol::Liveness;
use crate::module::Module;
use crate::object::ObjectState;
use crate::symbol::SymbolPlace;
use crate::symbol::SymbolRef;
use crate::table::EntityId;
use cuweld_elf::known_symbols;
use cuweld_elf::raw::ET_EXEC;

pub(super) fn check_selected(checker: &mut Checker<'_, '_>) {
    for (id, object) in checker.module.objects.iter() {
        match object.state {
            ObjectState::Candidate => {
                checker.report(Rule::StateSet, id, "it is still a candidate");
            }
            ObjectState::Included if object.e_type == ET_EXEC => {
                checker.report(Rule::IncludedType, id, "it is an executable");
            }
            _ => {}
        }
    }
}

pub(super) fn check_resolved(checker: &mut Checker<'_, '_>) {
    members(checker);
    link_symbols(checker);
    link_order(checker);
    function_states(checker);
}

/// Checks symbols against the resolved symbols that they stand for.
fn members(checker: &mut Checker<'_, '_>) {
    let module = checker.module;
    let mut count = vec![0usize; module.link_symbols.len()];
    let mut local = vec![false; module.link_symbols.len()];
    let folded = folded_names(module);
    let first_sass = module.first_sass_object();
    for (id, symbol) in module.symbols.iter() {
        let included = module.objects[symbol.object].state.is_included();
        // [undeclared-names]
        let has_link = symbol.link.is_some();
        let may_have = included && symbol.is_undeclared();
        if has_link != (included && !module.stands_for_nothing(symbol, first_sass))
            && !(has_link && may_have)
        {
            let what = if included {
                "it stands for nothing, or is a filler and stands for something"
            } else {
                "its object is not included, but it stands for something"
            };
            let place = checker.symbol(id);
            checker.report(Rule::LinkSet, place, what);
        }
        let Some(link) = symbol.link else { continue };
        if folded.get(symbol.name) == Some(&link)
            || symbol
                .function
                .is_some_and(|function| module.functions[function].fate == Fate::Folded)
        {
            continue;
        }
        if symbol.is_filler() {
            named_right(checker, id, link);
            continue;
        }
        count[link.index()] += 1;
        // The size of all constants is one symbol [constants-size].
        local[link.index()] |= symbol.is_local() && symbol.name != known_symbols::CONSTANTS_SIZE;
        named_right(checker, id, link);
    }
    for (id, (count, local)) in module.link_symbols.ids().zip(count.iter().zip(local)) {
        if local && *count > 1 {
            let place = checker.link(id);
            checker.report(Rule::LinkName, place, "a local symbol does not stand alone");
        }
    }
}

/// Checks that a symbol has the name of what it stands for.
fn named_right(checker: &mut Checker<'_, '_>, id: SymbolId, link: LinkSymbolId) {
    if checker.module.symbols[id].name != checker.module.link_name(link) {
        let what = format!("it stands for {}", checker.link(link));
        let place = checker.symbol(id);
        checker.report(Rule::LinkName, place, what);
    }
}

/// Returns the names of folded functions that other objects can name, and what they stand for.
fn folded_names<'data>(module: &Module<'data>) -> HashMap<&'data [u8], LinkSymbolId, FixedState> {
    let folded = module
        .functions
        .values()
        .filter(|row| row.fate == Fate::Folded);
    folded
        .filter_map(|row| {
            let symbol = &module.symbols[row.symbol];
            let link = symbol.link.filter(|_| !symbol.is_local())?;
            Some((symbol.name, link))
        })
        .collect()
}

fn link_symbols(checker: &mut Checker<'_, '_>) {
    let module = checker.module;
    let mut names: HashMap<&[u8], LinkSymbolId, FixedState> = HashMap::default();
    for (id, link) in module.link_symbols.iter() {
        let stands = |symbol: SymbolId| module.symbols[symbol].link == Some(id);
        let defines = |symbol| stands(symbol) && !module.symbols[symbol].is_undefined();
        if !stands(link.first) || !link.definition.is_none_or(defines) {
            let what = "its first symbol or its definition stands for something else, or defines \
                        nothing";
            let place = checker.link(id);
            checker.report(Rule::LinkMembers, place, what);
        }
        let common = link
            .definition
            .is_some_and(|symbol| module.symbols[symbol].place == SymbolPlace::Common);
        if link.common_align != 0 && !common {
            let place = checker.link(id);
            checker.report(Rule::CommonAlign, place, "it has no tentative definition");
        }
        let first = &module.symbols[link.first];
        if !first.is_local()
            && let Some(other) = names.insert(first.name, id)
        {
            let place = checker.link(id);
            checker.report(
                Rule::LinkUnique,
                place,
                format!("{other} has the same name"),
            );
        }
    }
}

/// Checks that resolved symbols stand in the order in which they were made, from which the output's
/// orders follow.
fn link_order(checker: &mut Checker<'_, '_>) {
    let module = checker.module;
    let turn = |id: SymbolId| {
        let symbol = &module.symbols[id];
        (symbol.object, !symbol.is_function(), id)
    };
    let mut last = None;
    for (id, link) in module.link_symbols.iter() {
        let first = Some(turn(link.first));
        if first <= last {
            let place = checker.link(id);
            checker.report(
                Rule::LinkOrder,
                place,
                "an earlier one has a later first symbol",
            );
        }
        last = first;
    }
    for (id, symbol) in module.symbols.iter() {
        if let Some(link) = symbol.link
            && turn(id) < turn(module.link_symbols[link].first)
        {
            let what = format!("{} has a later first symbol", checker.link(link));
            let place = checker.symbol(id);
            checker.report(Rule::LinkOrder, place, what);
        }
    }
}

fn function_states(checker: &mut Checker<'_, '_>) {
    let module = checker.module;
    for (id, function) in module.functions.iter() {
        let included = module.objects[function.object].state.is_included();
        let link = module.symbols[function.symbol].link;
        let defines =
            link.is_some_and(|link| module.link_symbols[link].definition == Some(function.symbol));
        let is_expected = match (included, defines) {
            (false, _) => function.fate == Fate::Candidate,
            (true, true) => function.fate == Fate::Prevailing,
            (true, false) => function.fate.is_non_prevailing(),
        };
        if !is_expected {
            let what = format!("its fate is {:?}", function.fate);
            let place = checker.function(id);
            checker.report(Rule::FunctionState, place, what);
        }
    }
}

pub(super) fn check_live(checker: &mut Checker<'_, '_>) {
    let module = checker.module;
    for (id, link) in module.link_symbols.iter() {
        if link.live == Liveness::Unknown {
            let place = checker.link(id);
            checker.report(Rule::LiveSet, place, "it is not known whether it is kept");
        }
    }
    let mut seen = vec![false; module.functions.len()];
    for (index, list) in module.merged_info.iter().enumerate() {
        let what = match list.function {
            None if index != 0 => "it belongs to no function",
            Some(_) if index == 0 => "it is not the module's",
            Some(function) if !module.is_function_live(function) => "its function is not live",
            Some(function) if std::mem::replace(&mut seen[function.index()], true) => {
                "its function has another"
            }
            _ => continue,
        };
        checker.report(Rule::MergedInfo, format!("merged list {index}"), what);
    }
    merged_refs(checker);
}

/// Checks that records of the output lists refer to symbols and sections that stay.
fn merged_refs(checker: &mut Checker<'_, '_>) {
    let module = checker.module;
    // Linear only where records have references of their own.
    if checker.has(Rule::AttributeRefs) {
        return;
    }
    let survives = |target: &SymbolRef| match *target {
        SymbolRef::None => true,
        SymbolRef::Section(section) => module.is_section_linked(section),
        SymbolRef::Symbol(symbol) => module.symbols[symbol]
            .link
            .is_some_and(|link| module.link_symbols[link].live.is_live()),
    };
    let stays: Vec<bool> = module
        .attributes
        .values()
        .map(|record| module.refs(record).iter().all(survives))
        .collect();
    let lists = module.merged_info.iter().flat_map(|list| &list.records);
    for id in lists.chain(&module.merged_compat) {
        if !stays[id.index()] {
            checker.report(Rule::MergedRefs, id, "it refers to what the output lacks");
        }
    }
}
