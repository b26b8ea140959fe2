//! Functions that come after an alias of theirs [mercury-early-aliases].

use cuweld_elf::behaviours;
use cuweld_elf::symbol::Binding;
use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::SymbolId;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashSet;

use super::Analyses;
use super::Analysis;
use super::LiveFunctions;
use super::aliases_before_functions;

/// The functions of a link of objects with Mercury of which an alias comes first in a table of
/// symbols. nvlink takes the alias for the function when it makes the SASS view, and leaves the
/// debug information of the function as it is in the Mercury view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EarlyAliases {
    /// Those of the output.
    in_output: HashSet<LinkSymbolId, FixedState>,
    /// Those of objects, which `-r` wrote: the debug information of their SASS view lacks them.
    in_objects: HashSet<FunctionId, FixedState>,
}

impl Analysis for EarlyAliases {
    fn compute(module: &Module<'_>, analyses: &Analyses) -> Self {
        let mut found = EarlyAliases::default();
        let rule = &behaviours::mercury::MERCURY_EARLY_ALIASES;
        if !module.is_capmerc()
            || !module.toolkit.has(rule)
            || !module.functions.ids().any(|id| module.is_alias(id))
        {
            return found;
        }
        let in_objects = aliases_before_functions(module);
        found.in_objects = in_objects.map(|(_, function)| function).collect();
        let live = analyses.get::<LiveFunctions>(module);
        let mut places = vec![usize::MAX; module.link_symbols.len()];
        for (place, link) in live.functions.iter().enumerate() {
            places[link.index()] = place;
        }
        // Its place in the table of symbols, which has local ones first.
        let place = |link: LinkSymbolId| {
            let row = &module.link_symbols[link];
            let is_global = match module.symbols[row.first].bind {
                Binding::GLOBAL => true,
                Binding::WEAK => !module.toolkit.has(&behaviours::symbols::WEAK_BEFORE_GLOBAL),
                _ => false,
            };
            (is_global && !row.internal, places[link.index()])
        };
        let link_of = |symbol: SymbolId| module.symbols[symbol].link;
        for (id, alias) in module.functions.iter() {
            let Some(function) = module.aliased(id) else {
                continue;
            };
            let symbol = module.functions[function].symbol;
            if let (Some(alias), Some(function)) = (link_of(alias.symbol), link_of(symbol))
                && module.link_symbols[alias].live.is_live()
                && place(alias) < place(function)
            {
                found.in_output.insert(function);
            }
        }
        found
    }

    fn equals(&self, other: &Self) -> Option<bool> {
        Some(self == other)
    }
}

impl EarlyAliases {
    /// Returns `true` if no function of the link comes after an alias.
    pub fn is_empty(&self) -> bool {
        self.in_output.is_empty() && self.in_objects.is_empty()
    }

    /// Returns `true` if a symbol is a function that comes after an alias in the output.
    pub fn in_output(&self, module: &Module<'_>, symbol: Option<SymbolId>) -> bool {
        let link = symbol.and_then(|symbol| module.symbols[symbol].link);
        !self.in_output.is_empty() && link.is_some_and(|link| self.in_output.contains(&link))
    }

    /// Returns the function of a symbol, if it comes after an alias in its object.
    pub fn in_object(&self, module: &Module<'_>, symbol: Option<SymbolId>) -> Option<FunctionId> {
        let function = symbol.filter(|_| !self.in_objects.is_empty());
        let function = module.symbols[function?].function?;
        self.in_objects.contains(&function).then_some(function)
    }
}
