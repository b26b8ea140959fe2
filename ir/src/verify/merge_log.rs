//! From `resolved` on: the merge log agrees with the definitions and fates that it explains.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::Checker;
use super::Rule;
use crate::function::Fate;
use crate::ids::*;
use crate::symbol::SymbolPlace;

pub(super) fn check(checker: &mut Checker<'_, '_>) {
    let module = checker.module;
    let is_folded = |symbol: SymbolId| {
        let function = module.symbols[symbol].function;
        function.is_some_and(|function| module.functions[function].fate == Fate::Folded)
    };
    // The definition of each name so far, and what the log says of functions that do not prevail.
    let mut current: HashMap<LinkSymbolId, SymbolId, FixedState> = HashMap::default();
    let mut fates: HashMap<FunctionId, Fate, FixedState> = HashMap::default();
    for (index, event) in module.merge_log.iter().enumerate() {
        // What another function stands for has the name of that one.
        if is_folded(event.newcomer) || is_folded(event.prevailing) {
            continue;
        }
        let place = format!("merge event {index}");
        let [newcomer, prevailing] =
            [event.newcomer, event.prevailing].map(|id| &module.symbols[id]);
        let link = newcomer.link.filter(|link| prevailing.link == Some(*link));
        let is_defined = |place: SymbolPlace| place != SymbolPlace::Undefined;
        let Some(link) =
            link.filter(|_| is_defined(newcomer.place) && is_defined(prevailing.place))
        else {
            let what = "it is not between two definitions of one name";
            checker.report(Rule::MergeLog, place, what);
            continue;
        };
        let before = current.insert(link, event.prevailing());
        if before.is_some_and(|before| before != event.prevailing) {
            let what = "another definition prevailed before it";
            checker.report(Rule::MergeLog, place, what);
        }
        let fate = match event.outcome.replaces() {
            true => Fate::Replaced,
            false => Fate::Discarded,
        };
        if let Some(function) = module.symbols[event.discarded()].function {
            fates.insert(function, fate);
        }
    }
    for (id, link) in module.link_symbols.iter() {
        if current
            .get(&id)
            .is_some_and(|symbol| link.definition != Some(*symbol))
        {
            let place = checker.link(id);
            checker.report(
                Rule::MergeLog,
                place,
                "the log ends with another definition",
            );
        }
    }
    for (id, function) in module.functions.iter() {
        let logged = fates.get(&id).copied();
        let is_same = match function.fate {
            Fate::Replaced | Fate::Discarded => logged == Some(function.fate),
            _ => logged.is_none(),
        };
        if !is_same {
            let what = format!("its fate is {:?}, the log says otherwise", function.fate);
            let place = checker.function(id);
            checker.report(Rule::MergeLog, place, what);
        }
    }
}
