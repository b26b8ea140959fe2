//! `fold-identical-functions`: of device functions that do the same one is linked.
//!
//! Opt-in. Functions whose code, relocations, attributes and calls are equal, references to folded
//! functions counting as references to the one that stands for them, become one: all symbols of the
//! others stand for the first, whose name the output has. Callees come before callers, so that
//! functions which differ only in which of two equal functions they call are equal, too.
//!
//! Kept apart: kernels; functions whose address is taken or stands in data, for programs may
//! compare addresses; functions with constants, shared or local memory of their own; functions that
//! are part of a recursion; weak functions of which an earlier copy was replaced. Rows of line
//! tables for a folded function go as those of weak copies that lose.
//!
//! Runs between `symbol-resolve` and `callgraph-dce`; linear in what it compares. Refused: `-r`,
//! `-g` and `-preserve-relocs`, whose output names every function, and objects with Mercury.

mod identity;

use cuweld_ir::Fate;
use cuweld_ir::LinkSymbol;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::table::EntityId;
use cuweld_ir::table::PrimaryMap;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use self::identity::Identities;
use crate::analyses::CallGraph;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::PassInfo;
use crate::remark::Remark;
use crate::remark::RemarkInfo;
use crate::remark::Remarks;
use crate::transforms::opt_in;

const FOLDED: RemarkInfo = RemarkInfo {
    name: "folded",
    doc: "A function that does the same is linked in the place of one",
};

/// The `fold-identical-functions` pass.
#[derive(Debug, Default)]
pub struct FoldIdenticalFunctions;

impl Pass for FoldIdenticalFunctions {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "fold-identical-functions",
            summary: "Link one of several device functions that do the same",
            doc: include_str!("fold_identical_functions.rs"),
            requires: Phase::Resolved,
            before: Some(Phase::Live),
            refuses: &["mercury", "relocatable"],
            remarks: &[FOLDED],
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        if module.keeps_dead_code() {
            opt_in::refuse(self, "-g and -preserve-relocs", cx)?;
        }
        let graph = cx.analyses.get::<CallGraph>(module);
        let mut identities = Identities::new(module);
        // The first that was seen of those that do the same, by resolved symbol.
        let mut class: Vec<LinkSymbolId> = module.link_symbols.ids().collect();
        let components = graph.components();
        for (nodes, cyclic) in components.iter().zip(&components.cyclic) {
            let (&[node], false) = (nodes, *cyclic) else {
                continue;
            };
            let Some(link) = graph.link_symbol(node) else {
                continue;
            };
            class[link.index()] = identities.insert(module, link, &class);
        }
        // The first of the link stays: resolved symbols stand in the order of their first symbols.
        let mut least = class.clone();
        for (link, class) in module.link_symbols.ids().zip(&class) {
            least[class.index()] = least[class.index()].min(link);
        }
        let stands_for: Vec<LinkSymbolId> =
            class.iter().map(|class| least[class.index()]).collect();
        let folded = fold(module, &stands_for, cx);
        Ok(Changed::from(folded))
    }

    fn remarks(&self, module: &Module<'_>, remarks: &mut Remarks) {
        for (id, function) in module.functions.iter() {
            let link = module.symbols[function.symbol].link;
            let other = link.and_then(|link| module.link_function(link));
            if let (Fate::Folded, Some(other)) = (function.fate, other) {
                remarks.emit(|| {
                    Remark::about(&FOLDED, id)
                        .words(" does the same as ")
                        .argument("other", other)
                        .words(", which is linked in its place")
                });
            }
        }
    }
}

/// Makes the symbols of folded functions stand for what they fold into, and forgets their resolved
/// symbols.
fn fold(module: &mut Module<'_>, stands_for: &[LinkSymbolId], cx: &mut PassCx<'_, '_>) -> bool {
    let is_folded = |id: LinkSymbolId| stands_for[id.index()] != id;
    if !module.link_symbols.ids().any(is_folded) {
        return false;
    }
    for function in module.functions.values_mut() {
        let link = module.symbols[function.symbol].link;
        if !link.is_some_and(is_folded) {
            continue;
        }
        if function.fate == Fate::Prevailing {
            cx.statistics.add("functions", 1);
            let size = module.sections[function.views.sass.text].size();
            cx.statistics.add("bytes of code", size);
        }
        function.fate = Fate::Folded;
    }
    let rows: Vec<LinkSymbol> = module.link_symbols.values().copied().collect();
    let mut kept: PrimaryMap<LinkSymbolId, LinkSymbol> = PrimaryMap::new();
    let mut moved: HashMap<LinkSymbolId, LinkSymbolId, FixedState> = HashMap::default();
    for (id, row) in module.link_symbols.ids().zip(rows) {
        if !is_folded(id) {
            moved.insert(id, kept.push(row));
        }
    }
    for symbol in module.symbols.values_mut() {
        symbol.link = symbol
            .link
            .and_then(|link| moved.get(&stands_for[link.index()]).copied());
    }
    module.link_symbols = kept;
    true
}
