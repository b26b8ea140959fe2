//! What symbols stand for, side by side: rows of symbols and functions are large, and records refer to them in any order.

use cuweld_ir::Function;
use cuweld_ir::FunctionId;
use cuweld_ir::FunctionState;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::SymbolId;
use cuweld_ir::table::EntityId;

/// What each symbol stands for.
#[derive(Debug, Default)]
pub struct Meanings {
    links: Vec<Option<LinkSymbolId>>,
    copies: Vec<Copied>,
}

/// What became of the copy of a function that a symbol defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Copied {
    /// Another one is not linked in its place, or it is none.
    No,
    /// Another one took its place, once it was part of the link.
    Replaced,
    /// It never was part of the link.
    Passed,
}

impl Copied {
    fn of(function: &Function) -> Self {
        match (function.state, function.edges_count) {
            (FunctionState::Losing, true) => Copied::Replaced,
            (FunctionState::Losing, false) => Copied::Passed,
            _ => Copied::No,
        }
    }
}

impl Meanings {
    /// Those of a resolved module.
    pub fn new(module: &Module<'_>) -> Self {
        let copied = |function: FunctionId| Copied::of(&module.functions[function]);
        let symbols = module.symbols.values();
        let (links, copies) = symbols
            .map(|symbol| (symbol.link, symbol.function.map_or(Copied::No, copied)))
            .unzip();
        Meanings { links, copies }
    }

    /// Those of so many symbols that stand for nothing so far.
    pub(crate) fn of_nothing(symbols: usize) -> Self {
        Meanings {
            links: vec![None; symbols],
            copies: vec![Copied::No; symbols],
        }
    }

    /// A symbol stands for this.
    pub(crate) fn set(&mut self, symbol: SymbolId, link: LinkSymbolId) {
        self.links[symbol.index()] = Some(link);
    }

    /// It is known which copy of a function is linked so far.
    pub(crate) fn set_copy(&mut self, function: &Function) {
        self.copies[function.symbol.index()] = Copied::of(function);
    }

    /// What a symbol stands for.
    pub fn link(&self, symbol: SymbolId) -> Option<LinkSymbolId> {
        self.links[symbol.index()]
    }

    /// Whether a symbol defines a copy of a function in whose place another copy is linked.
    pub fn is_losing(&self, symbol: SymbolId) -> bool {
        self.copies[symbol.index()] != Copied::No
    }

    /// Whether it defines one that never was part of the link.
    pub fn is_passed(&self, symbol: SymbolId) -> bool {
        self.copies[symbol.index()] == Copied::Passed
    }
}
