//! `.nv.callgraph` and `.nv.prototype` of the output.

use cuweld_ir::CallKind;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::elf::encode::append_marker;
use cuweld_ir::elf::encode::append_pair;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashSet;

use super::Finish;

/// No place.
const NONE: u32 = u32::MAX;

/// A row of the output with the place of its caller among functions.
#[derive(Clone, Copy)]
struct Row {
    caller: u32,
    kind: CallKind,
    from: u32,
    second: u32,
}

impl<'data> Finish<'_, 'data> {
    /// Returns the call graph, by functions in order of creation. Rows of one caller are in reverse
    /// [creation-order].
    pub(super) fn call_graph(&self) -> Vec<u8> {
        let rows = self.call_rows();
        let mut bytes = Vec::with_capacity(8 * (rows.len() + CallKind::ALL.len()));
        for kind in CallKind::ALL {
            append_marker(&mut bytes, kind);
            for row in &rows {
                if row.kind == kind {
                    append_pair(&mut bytes, row.from, row.second);
                }
            }
        }
        bytes
    }

    /// Returns all call graph rows, ordered by caller.
    fn call_rows(&self) -> Vec<Row> {
        let functions = &self.out.functions;
        let mut place = vec![NONE; self.module.link_symbols.len()];
        for (index, link) in functions.iter().enumerate() {
            place[link.index()] = index as u32;
        }
        let mut rows: Vec<Row> = Vec::with_capacity(self.calls.len());
        // The end of each caller's rows.
        let mut ends = vec![0_u32; functions.len()];
        // [relocatable-calls-once]
        let mut known: HashSet<(CallKind, u32, u32), FixedState> = HashSet::default();
        for call in &self.calls {
            let symbol = call
                .from
                .symbol()
                .map(|symbol| &self.module.symbols[symbol]);
            let Some(link) = symbol.and_then(|symbol| symbol.link) else {
                continue;
            };
            let caller = place[link.index()];
            if caller == NONE {
                continue;
            }
            let second = if call.kind == CallKind::AddressTaken {
                // Kernels of which only copies that lost have their addresses taken have none.
                let known = self.known_prototypes.get(link);
                known.map_or(0, |prototype| self.prototype_name(prototype))
            } else if call.kind.has_prototype() {
                self.prototype_name(call.prototype)
            } else {
                // What an address-taken function calls may be dead; such rows are left out.
                match self.reference(call.to) {
                    0 => continue,
                    to => to,
                }
            };
            let once = self.module.options.relocatable && !call.kind.has_prototype();
            if !once || known.insert((call.kind, caller, second)) {
                let from = self.symbol_index[link.index()];
                let kind = call.kind;
                rows.push(Row {
                    caller,
                    kind,
                    from,
                    second,
                });
                ends[caller as usize] += 1;
            }
        }
        let mut end = 0;
        for of_caller in &mut ends {
            end += *of_caller;
            *of_caller = end;
        }
        // Rows of one caller are reversed.
        let mut sorted = rows.clone();
        for row in rows {
            let end = &mut ends[row.caller as usize];
            *end -= 1;
            sorted[*end as usize] = row;
        }
        sorted
    }

    /// Returns the live device functions whose address is not taken, with their prototypes.
    pub(super) fn prototype_rows(&self) -> Vec<(LinkSymbolId, &'data [u8])> {
        let module = self.module;
        let mut taken = vec![false; module.link_symbols.len()];
        for call in &self.calls {
            if call.kind == CallKind::AddressTaken
                && let Some(link) = call.from.symbol().and_then(|id| module.symbols[id].link)
            {
                taken[link.index()] = true;
            }
        }
        let with_prototype = |link: &LinkSymbolId| {
            // No other object can call what is internal.
            if taken[link.index()] || module.link_symbols[*link].internal {
                return None;
            }
            Some((*link, self.known_prototypes.get(*link)?))
        };
        self.out
            .functions
            .iter()
            .filter_map(with_prototype)
            .collect()
    }

    /// Returns the contents of `.nv.prototype`.
    pub(super) fn prototypes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(8 * self.prototypes.len());
        // Neighbours often have the same.
        let mut last = (&b""[..], self.prototype_name(b""));
        for (link, prototype) in &self.prototypes {
            if *prototype != last.0 {
                last = (prototype, self.prototype_name(prototype));
            }
            append_pair(&mut bytes, self.symbol_index[link.index()], last.1);
        }
        bytes
    }

    /// Returns the offset of a prototype, which was among the first names.
    fn prototype_name(&self, prototype: &[u8]) -> u32 {
        self.strings.in_symbols(prototype)
    }
}
