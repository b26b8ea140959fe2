//! `check-link`: what the link decided is proved before the file is written.
//!
//! The passes before it decide what stays, what each relocation becomes and what kernels need. This
//! one reads the rows of the inputs again and asks, with nothing that made these decisions, whether
//! the program still holds together:
//!
//! - `call-target`: a function that can run calls nothing that is left out, nor what nobody defines unless the driver does.
//! - `relocation-fate`: every relocation of code and data that stays is kept, applied or one of those that may go.
//! - `relocation-target`: what a relocation that stays or is applied refers to is part of the output, and has an address.
//! - `address-taken`: a function whose address is taken by what stays is part of the output.
//! - `record-target`: attribute records that stay refer to nothing that is left out.
//! - `registers`, `barriers`, `stack`: a kernel has as many as each function that it reaches.
//!
//! A rule that is broken is a bug in cuweld, whatever the input: the link ends with an internal
//! error, which leaves a reproducer, and no output.
//!
//! Code that refers to a function which its call graph does not name is refused: what such code
//! reaches is not known, and no compiler writes it.
//!
//! Data has the addresses of functions that code which can run may call by them. Strict mode has 0
//! where nvlink does (deviation D16).
//!
//! Where nvlink itself drops what a function calls, that function must not be able to run: it stays
//! for its address alone, and no indirect call has its prototype, or host code refers to one
//! kernel, and it is another (`LiveFunctions::only_kernel`).
//!
//! Time is linear in calls, relocations, records and functions.

mod calls;
mod records;
mod relocations;
mod resources;
#[cfg(test)]
mod tests;

use std::fmt::Display;
use std::sync::OnceLock;

use cuweld_diagnostics::Diagnostic;
use cuweld_ir::CallKind;
use cuweld_ir::CallRecord;
use cuweld_ir::LinkSymbol;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::SymbolRef;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashSet;

use crate::analyses::CallGraph;
use crate::analyses::Kinds;
use crate::analyses::LiveFunctions;
use crate::analyses::Meanings;
use crate::analyses::Preserved;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::PassInfo;
use crate::pass::Required;
use crate::threads::Work;

/// The `check-link` pass.
#[derive(Debug, Default)]
pub struct CheckLink;

impl Pass for CheckLink {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "check-link",
            summary: "Prove that what stays refers to nothing that goes, and that kernels have what they reach",
            doc: include_str!("check_link.rs"),
            requires: Phase::Planned,
            before: Some(Phase::Emitted),
            required: Required::Always,
            preserves: Preserved::All,
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        let graph = cx.analyses.get::<CallGraph>(module);
        let live = cx.analyses.get::<LiveFunctions>(module);
        let kinds = cx.analyses.get::<Kinds>(module);
        let meanings = cx.analyses.get::<Meanings>(module);
        let links = module.link_symbols.values().as_slice();
        let link = Link {
            module,
            kinds,
            meanings,
            states: cx.threads.map(Work::Rows(links.len()), links, State::of),
            running: graph.reach(live.reaching_kernels().map(|(link, _)| link)),
            called_by_address: OnceLock::new(),
        };
        let (mut check, later) = cx.threads.join(
            Work::Rows(module.relocs.len() + module.attributes.len()),
            || {
                let mut check = Check::default();
                calls::check(&link, graph, &mut check);
                check.add(relocations::check(&link, cx.threads));
                check
            },
            || {
                let mut check = Check::default();
                let given = records::check(
                    &link,
                    live.reaching_kernels().map(|(link, _)| link),
                    &mut check,
                );
                if !module.options.relocatable {
                    resources::check(&link, graph, live, &given, &mut check);
                }
                check
            },
        );
        check.add(later);
        cx.statistics.add("broken rules", check.count);
        if let Some(refusal) = check.refused {
            cx.diagnostics.emit(refusal);
            return Err(PassError::Diagnosed);
        }
        match check.first {
            None => Ok(Changed::No),
            Some(first) => Err(PassError::Internal(match check.count {
                1 => first,
                count => format!("{first}; {count} rules are broken in all"),
            })),
        }
    }
}

/// What became of a resolved symbol, side by side with the others: rows are large, and relocations
/// refer to them in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It is not part of the output.
    LeftOut,
    /// It is, and is defined without a value.
    Unplaced,
    /// It is.
    Kept,
}

impl State {
    fn of(link: &LinkSymbol) -> Self {
        match (link.live.is_live(), link.definition, link.value) {
            (false, ..) => State::LeftOut,
            (true, Some(_), None) => State::Unplaced,
            _ => State::Kept,
        }
    }

    fn is_live(self) -> bool {
        self != State::LeftOut
    }
}

/// A link whose decisions are made.
struct Link<'a, 'data> {
    module: &'a Module<'data>,
    kinds: &'a Kinds,
    meanings: &'a Meanings,
    /// What became of each resolved symbol.
    states: Vec<State>,
    /// Whether each node of the call graph, resolved symbols first, can run.
    running: Vec<bool>,
    /// Whether code that can run calls functions of the type of each link symbol whose address any
    /// object takes, if a row has asked.
    called_by_address: OnceLock<Vec<bool>>,
}

impl Link<'_, '_> {
    /// Returns the resolved symbol that a reference stands for.
    fn of(&self, target: SymbolRef) -> Option<LinkSymbolId> {
        self.meanings.link(target.symbol()?)
    }

    fn is_live(&self, link: LinkSymbolId) -> bool {
        self.states[link.index()].is_live()
    }

    /// Returns the resolved symbol that a reference stands for, if that is left out.
    fn dead(&self, target: SymbolRef) -> Option<LinkSymbolId> {
        self.of(target).filter(|link| !self.is_live(*link))
    }

    /// Returns `true` if a reference stands for something that is defined and has no value.
    fn is_unplaced(&self, target: SymbolRef) -> bool {
        let link = self.of(target);
        link.is_some_and(|link| self.states[link.index()] == State::Unplaced)
    }

    /// Returns `true` if a call graph row says that a function calls another, or takes its address.
    /// Looks at all rows.
    fn names(&self, from: LinkSymbolId, to: LinkSymbolId) -> bool {
        let mut calls = self.module.calls.values();
        calls.any(|call| self.of(call.from) == Some(from) && self.of(call.to) == Some(to))
    }

    /// Returns `true` if an object takes the address of a device function, and code that can run
    /// calls functions of its type by address. Objects of discarded definitions count among those
    /// that take the address; calls are those of the linked code.
    fn is_called_by_address(&self, function: LinkSymbolId) -> bool {
        let find = || {
            let calls = || self.module.calls.values();
            let of_kind = |kind| calls().filter(move |call| call.kind == kind);
            let runs = |link: LinkSymbolId| self.running[link.index()];
            let is_of_linked_code = |call: &&CallRecord<'_>| {
                self.of(call.from).is_some_and(|link| {
                    runs(link) && self.module.link_symbols[link].definition == call.from.symbol()
                })
            };
            let called = of_kind(CallKind::Indirect)
                .filter(is_of_linked_code)
                .map(|call| call.prototype);
            let called: HashSet<&[u8], FixedState> = called.collect();
            let is_kernel = |link: LinkSymbolId| {
                let first = self.module.link_symbols[link].first;
                self.module.symbols[first].is_entry()
            };
            let mut found = vec![false; self.states.len()];
            for call in of_kind(CallKind::AddressTaken) {
                if called.contains(call.prototype)
                    && let Some(link) = self.of(call.from)
                    && !is_kernel(link)
                {
                    found[link.index()] = true;
                }
            }
            found
        };
        self.called_by_address.get_or_init(find)[function.index()]
    }

    /// Returns the name of a resolved symbol in quotes.
    fn quoted(&self, link: LinkSymbolId) -> String {
        format!("'{}'", String::from_utf8_lossy(self.module.link_name(link)))
    }
}

/// What was found so far.
#[derive(Default)]
struct Check {
    first: Option<String>,
    count: u64,
    /// What is wrong with the input: its call graph lacks what its code does.
    refused: Option<Diagnostic>,
}

impl Check {
    /// Notes that a rule is broken. Only the first place is told.
    #[cold]
    fn report(&mut self, rule: &'static str, what: impl Display) {
        self.count += 1;
        if self.first.is_none() {
            self.first = Some(format!("the link breaks the rule '{rule}': {what}"));
        }
    }

    /// Adds what was found in later rows.
    fn add(&mut self, later: Check) {
        self.count += later.count;
        self.first = self.first.take().or(later.first);
        self.refused = self.refused.take().or(later.refused);
    }
}
