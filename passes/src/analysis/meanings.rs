//! What symbols stand for, side by side: rows of symbols and functions are large, and records refer to them in any order.

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
    losing: Vec<bool>,
}

impl Meanings {
    /// Those of a resolved module.
    pub fn new(module: &Module<'_>) -> Self {
        let losing =
            |function: FunctionId| module.functions[function].state == FunctionState::Losing;
        let symbols = module.symbols.values();
        let (links, losing) = symbols
            .map(|symbol| (symbol.link, symbol.function.is_some_and(losing)))
            .unzip();
        Meanings { links, losing }
    }

    /// Those of so many symbols that stand for nothing so far.
    pub(crate) fn of_nothing(symbols: usize) -> Self {
        Meanings {
            links: vec![None; symbols],
            losing: vec![false; symbols],
        }
    }

    /// A symbol stands for this.
    pub(crate) fn set(&mut self, symbol: SymbolId, link: LinkSymbolId) {
        self.links[symbol.index()] = Some(link);
    }

    /// Another copy of the function is linked that a symbol defines, or not.
    pub(crate) fn set_losing(&mut self, symbol: SymbolId, is_losing: bool) {
        self.losing[symbol.index()] = is_losing;
    }

    /// What a symbol stands for.
    pub fn link(&self, symbol: SymbolId) -> Option<LinkSymbolId> {
        self.links[symbol.index()]
    }

    /// Whether a symbol defines a copy of a function in whose place another copy is linked.
    pub fn is_losing(&self, symbol: SymbolId) -> bool {
        self.losing[symbol.index()]
    }
}
