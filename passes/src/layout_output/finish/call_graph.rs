//! `.nv.callgraph` and `.nv.prototype` of the output.

use crate::analysis::counting_calls;
use cuweld_ir::CallKind;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::elf::encode::append_marker;
use cuweld_ir::elf::encode::append_pair;
use cuweld_ir::plan::PlanContent;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashSet;

use super::Finish;

impl<'data> Finish<'_, 'data> {
    /// The call graph, by functions in order of creation (`merge.md` section 7). Rows of one caller
    /// are in reverse.
    pub(super) fn call_graph(&mut self) -> PlanContent<'data> {
        let mut bytes = Vec::new();
        let rows = self.call_rows();
        for kind in CallKind::ALL {
            append_marker(&mut bytes, kind);
            for (row_kind, from, second) in &rows {
                if *row_kind == kind {
                    append_pair(&mut bytes, *from, *second);
                }
            }
        }
        PlanContent::Bytes(self.arena.bytes(&bytes))
    }

    /// All call graph rows, ordered by caller.
    fn call_rows(&mut self) -> Vec<(CallKind, u32, u32)> {
        let mut place = vec![u32::MAX; self.module.link_symbols.len()];
        for (index, link) in self.functions.iter().enumerate() {
            place[link.index()] = index as u32;
        }
        let mut rows: Vec<(u32, CallKind, u32, u32)> = Vec::new();
        // Relocatable output has each call with a target once (measured).
        let mut known: HashSet<(CallKind, u32, u32), FixedState> = HashSet::default();
        for call in counting_calls(self.module) {
            let symbol = call
                .from
                .symbol()
                .map(|symbol| &self.module.symbols[symbol]);
            let Some(link) = symbol.and_then(|symbol| symbol.link) else {
                continue;
            };
            let caller = place[link.index()];
            if caller == u32::MAX {
                continue;
            }
            let second = if call.kind.has_prototype() {
                self.strings.symbols.add_even_empty(call.prototype)
            } else {
                // What an address-taken function calls may be dead; such rows are left out.
                match self.reference(call.to) {
                    0 => continue,
                    to => to,
                }
            };
            let once = self.module.options.relocatable && !call.kind.has_prototype();
            if !once || known.insert((call.kind, caller, second)) {
                rows.push((caller, call.kind, self.symbol_index[link.index()], second));
            }
        }
        // Stable, so that rows of one caller stay in input order; then each caller's are reversed.
        rows.reverse();
        rows.sort_by_key(|(caller, ..)| *caller);
        rows.into_iter()
            .map(|(_, kind, from, second)| (kind, from, second))
            .collect()
    }

    /// Live device functions whose address is not taken, with their prototypes.
    pub(super) fn prototype_rows(&self) -> Vec<(LinkSymbolId, &'data [u8])> {
        let module = self.module;
        let mut prototype: Vec<Option<&'data [u8]>> = vec![None; module.link_symbols.len()];
        for (_, object) in module.included_objects() {
            for row in &module.prototypes[object.prototypes] {
                if let Some(link) = row.function.symbol().and_then(|id| module.symbols[id].link) {
                    prototype[link.index()].get_or_insert(row.prototype);
                }
            }
        }
        for call in counting_calls(module) {
            if call.kind == CallKind::AddressTaken
                && let Some(link) = call.from.symbol().and_then(|id| module.symbols[id].link)
            {
                prototype[link.index()] = None;
            }
        }
        // No other object can call what is internal.
        for (link, prototype) in module.link_symbols.values().zip(&mut prototype) {
            if link.internal {
                *prototype = None;
            }
        }
        let with_prototype =
            |link: &LinkSymbolId| prototype[link.index()].map(|prototype| (*link, prototype));
        self.functions.iter().filter_map(with_prototype).collect()
    }

    pub(super) fn prototypes(&mut self) -> PlanContent<'data> {
        let mut bytes = Vec::new();
        for (link, prototype) in &self.prototypes {
            let name = self.strings.symbols.add_even_empty(prototype);
            append_pair(&mut bytes, self.symbol_index[link.index()], name);
        }
        PlanContent::Bytes(self.arena.bytes(&bytes))
    }
}
