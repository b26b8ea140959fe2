//! What symbols stand for, side by side: rows of symbols and functions are large, and records refer
//! to them in any order.

use cuweld_ir::Fate;
use cuweld_ir::Function;
use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::SymbolId;
use cuweld_ir::table::EntityId;

use super::Analyses;
use super::Analysis;

/// What each symbol of a resolved module stands for.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Meanings {
    links: Vec<Option<LinkSymbolId>>,
    /// The fate of the function that it defines; `Candidate` if it defines none.
    fates: Vec<Fate>,
}

impl Analysis for Meanings {
    fn compute(module: &Module<'_>, _: &Analyses) -> Self {
        let fate = |function: FunctionId| module.functions[function].fate;
        let symbols = module.symbols.values();
        let (links, fates) = symbols
            .map(|symbol| (symbol.link, symbol.function.map_or(Fate::Candidate, fate)))
            .unzip();
        Meanings { links, fates }
    }

    fn equals(&self, other: &Self) -> Option<bool> {
        Some(self == other)
    }
}

impl Meanings {
    /// Returns the meanings of `symbols` symbols that stand for nothing so far.
    pub(crate) fn of_nothing(symbols: usize) -> Self {
        Meanings {
            links: vec![None; symbols],
            fates: vec![Fate::Candidate; symbols],
        }
    }

    /// Notes the resolved symbol that a symbol stands for.
    pub(crate) fn set(&mut self, symbol: SymbolId, link: LinkSymbolId) {
        self.links[symbol.index()] = Some(link);
    }

    /// Notes which definition of a function prevails so far.
    pub(crate) fn set_copy(&mut self, function: &Function) {
        self.fates[function.symbol.index()] = function.fate;
    }

    /// Returns the resolved symbol that a symbol stands for.
    pub fn link(&self, symbol: SymbolId) -> Option<LinkSymbolId> {
        self.links[symbol.index()]
    }

    /// Returns `true` if a symbol defines a function in whose place another definition is linked.
    pub fn is_discarded(&self, symbol: SymbolId) -> bool {
        self.fates[symbol.index()].is_non_prevailing()
    }

    /// Returns `true` if a symbol defines one that never was part of the link.
    pub fn is_passed(&self, symbol: SymbolId) -> bool {
        matches!(self.fates[symbol.index()], Fate::Discarded | Fate::Folded)
    }
}
