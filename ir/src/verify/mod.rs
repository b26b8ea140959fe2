//! The verifier: what holds of a module at each phase.
//!
//! [`verify`] checks every invariant of the module's phase and of those before it, and returns all
//! that do not hold, each with the row where it fails. [`Rule`] lists them; each has a name, a
//! sentence, and a `.lir` in `ir/tests/verify` that breaks it and nothing else.
//!
//! - `ids`: every id names a row, and objects own ranges that partition the tables. Everything else
//!   relies on these, so what does not pass is not looked at further.
//! - `rows`: the rows as they are read.
//! - `early`: fields that belong to a later phase are still neutral.
//! - `classified`, `resolved`, `placed`, `planned`: what the passes up to there promise.
//! - `plan`, `file`: the output as decided, by what it refers to and by where it lies in the file.
//!
//! Of a module that a pass has stopped only the ids are checked: the pass may have left anything else.
//!
//! Time is linear in the size of the module, apart from sorting pieces of memory by their offsets.
//! Any module is taken without panicking, also one that no pass could have made.

mod classified;
mod early;
mod file;
mod ids;
mod merge_log;
mod overlaps;
mod placed;
mod plan;
mod planned;
mod resolved;
mod rows;
mod rule;

use std::fmt::Display;

use cuweld_elf::Target;
use thiserror::Error;

pub(crate) use overlaps::overlaps;
pub use rule::Rule;

use crate::ids::*;
use crate::module::Module;
use crate::module::Phase;

/// An invariant that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{rule}: {place}: {what}")]
pub struct VerifyError {
    /// The invariant.
    pub rule: Rule,
    /// The row where it fails, as the text form names it.
    pub place: String,
    /// What is wrong.
    pub what: String,
}

/// Checks every invariant that a module of its phase has. Returns all that do not hold.
pub fn verify(module: &Module<'_>) -> Vec<VerifyError> {
    let mut checker = Checker {
        module,
        errors: Vec::new(),
    };
    ids::check(&mut checker);
    let target = module.target.to_string();
    if Target::parse(&target) != Some(module.target) {
        checker.report(
            Rule::TargetKnown,
            "module",
            format!("target={target} is none"),
        );
        return checker.errors;
    }
    if let Some(pass) = module.stopped {
        // What a pass that failed left is no further than it came.
        if !module.has_ended() {
            let what = "no finding is an error that ends the link";
            checker.report(Rule::StoppedByError, format!("stopped {pass}"), what);
        }
    } else if checker.errors.is_empty() {
        rows::check(&mut checker);
        early::check(&mut checker);
        for (phase, check) in STAGES {
            if module.phase >= phase {
                check(&mut checker);
            }
        }
    }
    checker.errors
}

/// Returns the first id or range that names no rows of a module, or no range of an object.
pub(crate) fn broken_ids(module: &Module<'_>) -> Option<VerifyError> {
    let mut checker = Checker {
        module,
        errors: Vec::new(),
    };
    ids::check(&mut checker);
    checker.errors.into_iter().next()
}

type Check = fn(&mut Checker<'_, '_>);

/// What is checked from which phase on.
const STAGES: [(Phase, Check); 10] = [
    (Phase::Classified, classified::check),
    (Phase::Selected, resolved::check_selected),
    (Phase::Resolved, resolved::check_resolved),
    (Phase::Resolved, merge_log::check),
    (Phase::Live, resolved::check_live),
    (Phase::Placed, placed::check),
    (Phase::Planned, planned::check),
    (Phase::Lowered, planned::check_fixups),
    (Phase::LaidOut, plan::check),
    (Phase::Emitted, file::check_emitted),
];

/// A module under check, with what was found so far.
struct Checker<'m, 'data> {
    module: &'m Module<'data>,
    errors: Vec<VerifyError>,
}

impl<'m, 'data> Checker<'m, 'data> {
    /// Notes that a rule is broken.
    fn report(&mut self, rule: Rule, place: impl Display, what: impl Display) {
        self.errors.push(VerifyError {
            rule,
            place: place.to_string(),
            what: what.to_string(),
        });
    }

    /// Returns `true` if a rule was found broken.
    fn has(&self, rule: Rule) -> bool {
        self.errors.iter().any(|error| error.rule == rule)
    }

    /// Formats a section as the text form refers to it.
    fn section(&self, id: SectionId) -> String {
        named(id, self.module.sections[id].name)
    }

    /// Formats a symbol as the text form refers to it.
    fn symbol(&self, id: SymbolId) -> String {
        named(id, self.module.symbols[id].name)
    }

    /// Formats a function as the text form refers to it.
    fn function(&self, id: FunctionId) -> String {
        named(id, self.module.function_name(id))
    }

    /// Formats a resolved symbol as the text form refers to it.
    fn link(&self, id: LinkSymbolId) -> String {
        named(id, self.module.link_name(id))
    }
}

fn named(id: impl Display, name: &[u8]) -> String {
    format!("{id}:{}", String::from_utf8_lossy(name))
}
