//! Says why functions stay, or go.

use cuweld_ir::CallKind;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Liveness;
use cuweld_ir::Module;
use cuweld_ir::ObjectId;
use cuweld_ir::SymbolId;
use cuweld_ir::table::EntityId;

use crate::analyses::Analyses;
use crate::analyses::CallGraph;
use crate::analyses::HostKernels;
use crate::analyses::KnownBy;
use crate::remark::Remark;
use crate::remark::RemarkInfo;
use crate::remark::Remarks;

const LIVE: RemarkInfo = RemarkInfo {
    name: "live",
    doc: "A function stays",
};
const DROPPED: RemarkInfo = RemarkInfo {
    name: "dropped",
    doc: "A function goes",
};
const ALL_LIVE: RemarkInfo = RemarkInfo {
    name: "all-live",
    doc: "An option keeps all functions; there is no remark about each",
};

pub(super) const KINDS: &[RemarkInfo] = &[LIVE, DROPPED, ALL_LIVE];

/// Makes a remark about each function, in the order of resolved symbols. Linear in the call graph.
pub(super) fn make(module: &Module<'_>, remarks: &mut Remarks) {
    let is_function =
        |id: &LinkSymbolId| module.symbols[module.link_symbols[*id].first].is_function();
    let functions = module.link_symbols.ids().filter(is_function);
    if module.keeps_dead_code() {
        let count = functions.count();
        remarks.emit(|| {
            Remark::of_link(&ALL_LIVE)
                .words("all functions stay: ")
                .argument("functions", count)
                .words(", with -g, -r or -preserve-relocs")
        });
        return;
    }
    let analyses = Analyses::default();
    let reasons = Reasons::new(module, &analyses);
    for id in functions {
        remarks.emit(|| match module.link_symbols[id].live.is_live() {
            true => reasons.of_live(id),
            false => reasons.of_dropped(id),
        });
    }
}

/// What the reasons of all functions are found with.
struct Reasons<'m, 'data> {
    module: &'m Module<'data>,
    graph: &'m CallGraph,
    host: &'m HostKernels,
    /// The node before each one on a shortest path from a kernel that stays.
    origins: Vec<Option<u32>>,
    /// The kernels that stay because their address is taken, by resolved symbol.
    by_address: Vec<bool>,
    /// The first object that takes the address of each function, by resolved symbol.
    taken_in: Vec<Option<ObjectId>>,
    /// The first function that calls each one, by resolved symbol.
    callers: Vec<Option<LinkSymbolId>>,
}

impl<'m, 'data> Reasons<'m, 'data> {
    fn new(module: &'m Module<'data>, analyses: &'m Analyses) -> Self {
        let graph = analyses.get::<CallGraph>(module);
        let host = analyses.get::<HostKernels>(module);
        let count = module.link_symbols.len();
        let mut by_address = vec![false; count];
        let ids = module.link_symbols.ids();
        let mut roots: Vec<LinkSymbolId> = ids.filter(|id| host.contains(*id)).collect();
        if host.only.is_none() {
            let kernels = graph.kernels_by_address(module);
            kernels
                .iter()
                .for_each(|kernel| by_address[kernel.index()] = true);
            roots.extend(kernels);
        }
        let (mut taken_in, mut callers) = (vec![None; count], vec![None; count]);
        let link = |symbol: SymbolId| module.symbols[symbol].link;
        for call in graph.calls(module) {
            let Some(from) = call.from.symbol() else {
                continue;
            };
            match (call.kind, link(from), call.to.symbol().and_then(link)) {
                (CallKind::AddressTaken, Some(taken), _) => {
                    taken_in[taken.index()].get_or_insert(module.symbols[from].object);
                }
                (CallKind::Direct, Some(caller), Some(callee)) => {
                    callers[callee.index()].get_or_insert(caller);
                }
                _ => {}
            }
        }
        Reasons {
            module,
            graph,
            host,
            origins: graph.origins(roots),
            by_address,
            taken_in,
            callers,
        }
    }

    fn of_live(&self, id: LinkSymbolId) -> Remark {
        let remark = Remark::about(&LIVE, id).words(" stays: ");
        if self.host.contains(id) {
            let (reason, why) = match self.host.known_by {
                KnownBy::Nothing => ("kernel", "all kernels do"),
                KnownBy::Options => ("option", "-kernels-used names it"),
                KnownBy::Host => ("host", "host code refers to it"),
            };
            return remark.words(why).silent("reason", reason);
        }
        if self.by_address[id.index()] {
            return remark
                .words("its address is taken, so device code may launch it")
                .silent("reason", "launched-by-address");
        }
        let origin = self.origins[id.index()];
        // A function that calls itself may be its own origin, but is a root then.
        if let Some(before) = origin.filter(|before| *before != id.index_u32()) {
            let (caller, by_pointer) = match self.graph.link_symbol(before) {
                Some(caller) => (Some(caller), false),
                // The node of a prototype, called by what is before it.
                None => {
                    let before = self.origins.get(before as usize).copied().flatten();
                    (before.and_then(|node| self.graph.link_symbol(node)), true)
                }
            };
            if let Some(caller) = caller {
                let remark = remark.argument("caller", caller);
                return match by_pointer {
                    true => remark
                        .words(" makes an indirect call of its prototype, and its address is taken")
                        .silent("reason", "called-by-pointer"),
                    false => remark.words(" calls it").silent("reason", "called"),
                };
            }
        }
        if self.module.link_symbols[id].live == Liveness::ByAddress {
            return remark
                .words("code that can run may call it by its address in data")
                .silent("reason", "address-in-data");
        }
        match (self.taken_in[id.index()], self.callers[id.index()]) {
            (Some(object), _) => remark
                .words("its address is taken in ")
                .argument("object", object)
                .silent("reason", "address-taken"),
            (None, Some(caller)) => remark
                .argument("caller", caller)
                .words(", which stays, calls it, and no object defines it")
                .silent("reason", "called-undefined"),
            (None, None) => remark
                .words("something that stays needs it")
                .silent("reason", "needed"),
        }
    }

    fn of_dropped(&self, id: LinkSymbolId) -> Remark {
        let remark = Remark::about(&DROPPED, id).words(" goes: ");
        let row = &self.module.link_symbols[id];
        if row.live == Liveness::Unreferenced && row.definition.is_some() {
            let (reason, why) = match self.host.known_by {
                KnownBy::Nothing => ("kernel", "nothing launches it"),
                KnownBy::Options => ("option", "-kernels-used does not name this kernel"),
                KnownBy::Host => ("host", "no host code refers to this kernel"),
            };
            return remark.words(why).silent("reason", reason);
        }
        match self.callers[id.index()] {
            Some(caller) => remark
                .words("no kernel that stays reaches it, only code that goes calls it, as ")
                .argument("caller", caller)
                .silent("reason", "unreachable"),
            None => remark
                .words("nothing calls it, and its address is not taken")
                .silent("reason", "unused"),
        }
    }
}
