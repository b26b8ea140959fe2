//! Passes for tests of the machinery: named and phased as the standard ones, doing next to nothing.

use std::any::TypeId;
use std::cell::Cell;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::link;
use cuweld_ir::Module;
use cuweld_ir::Phase;

use crate::analyses::Analyses;
use crate::analyses::Analysis;
use crate::analyses::Preserved;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::PassInfo;
use crate::registry::Registry;
use crate::remark::Remark;
use crate::remark::RemarkInfo;
use crate::remark::Remarks;

/// A pass that writes its name into the module.
pub struct Fake {
    name: &'static str,
    requires: Phase,
    establishes: Option<Phase>,
}

/// Name, required and established phase of the passes of the standard pipeline, and more: some
/// that change nothing, some that fail.
const FAKES: [(&str, Phase, Option<Phase>); 21] = [
    ("classify", Phase::Lowered, Some(Phase::Classified)),
    ("select-objects", Phase::Classified, Some(Phase::Selected)),
    ("symbol-resolve", Phase::Selected, Some(Phase::Resolved)),
    ("callgraph-dce", Phase::Resolved, Some(Phase::Live)),
    ("merge-metadata", Phase::Live, Some(Phase::Merged)),
    (
        "propagate-resources",
        Phase::Merged,
        Some(Phase::Propagated),
    ),
    ("place-memory", Phase::Propagated, Some(Phase::Placed)),
    ("constant-bank-dedup", Phase::Placed, None),
    ("plan-relocations", Phase::Placed, Some(Phase::Planned)),
    ("layout-output", Phase::Planned, Some(Phase::LaidOut)),
    ("relocate", Phase::LaidOut, Some(Phase::Relocated)),
    ("emit", Phase::Relocated, Some(Phase::Emitted)),
    ("nothing", Phase::Lowered, None),
    ("fail", Phase::Lowered, None),
    ("panic", Phase::Lowered, None),
    ("wrong-phase", Phase::Lowered, None),
    ("report", Phase::Lowered, None),
    ("end-silently", Phase::Lowered, None),
    ("silent-change", Phase::Lowered, None),
    ("ask", Phase::Lowered, None),
    ("keep-written", Phase::Lowered, None),
];

impl Fake {
    /// Returns the fake pass of this name.
    pub fn boxed(name: &str) -> Box<dyn Pass> {
        let (name, requires, establishes) = FAKES
            .into_iter()
            .find(|(known, ..)| *known == name)
            .expect("a fake pass");
        Box::new(Fake {
            name,
            requires,
            establishes,
        })
    }

    /// Registers the fake pass of this name.
    pub fn register(registry: &mut Registry, name: &'static str) {
        registry.register_made(Fake::boxed(name).info(), move |_| Ok(Fake::boxed(name)));
    }

    /// Builds a registry of all fake passes.
    pub fn registry() -> Registry {
        let mut registry = Registry::new();
        for (name, ..) in FAKES {
            Fake::register(&mut registry, name);
        }
        registry
    }
}

impl Pass for Fake {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: self.name,
            summary: "A pass for tests",
            requires: self.requires,
            establishes: self.establishes,
            reports: self.name == "report",
            preserves: match self.name {
                "keep-written" => Preserved::Only(&[TypeId::of::<Written>]),
                _ => Preserved::Only(&[]),
            },
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        match self.name {
            "nothing" => return Ok(Changed::No),
            "fail" => {
                cx.diagnostics
                    .emit(Diagnostic::error(link::UNDEFINED, "second").at(2, 0));
                cx.diagnostics
                    .emit(Diagnostic::error(link::UNDEFINED, "first").at(1, 0));
                return Err(PassError::Diagnosed);
            }
            "panic" => panic!("on {}", "purpose"),
            "report" => {
                cx.diagnostics.emit(Diagnostic::report("reported"));
                return Ok(Changed::No);
            }
            "ask" => {
                cx.analyses.get::<Written>(module);
                cx.analyses.get::<Opaque>(module);
                return Ok(Changed::No);
            }
            "end-silently" => return Err(PassError::Diagnosed),
            "wrong-phase" => module.phase = Phase::Checked,
            _ => {}
        }
        // Any field that a test can read back serves.
        let run = &mut module.options.record.output_name;
        run.extend_from_slice(self.name.as_bytes());
        run.push(b' ');
        if self.name == "silent-change" {
            return Ok(Changed::No);
        }
        cx.statistics.add("runs", 1);
        cx.remarks
            .emit(|| made(Remark::of_link(&RUNS).words("it runs")));
        Ok(Changed::Yes)
    }

    fn remarks(&self, module: &Module<'_>, remarks: &mut Remarks) {
        let written = module.options.record.output_name.len();
        remarks.emit(|| {
            made(
                Remark::of_link(&RAN)
                    .argument("bytes", written)
                    .words(" bytes"),
            )
        });
    }
}

/// How much the fake passes have written.
#[derive(PartialEq, Eq)]
struct Written(usize);

impl Analysis for Written {
    fn compute(module: &Module<'_>, _: &Analyses) -> Self {
        Written(module.options.record.output_name.len())
    }

    fn equals(&self, other: &Self) -> Option<bool> {
        Some(self == other)
    }
}

/// An analysis that cannot be compared.
struct Opaque;

impl Analysis for Opaque {
    fn compute(_: &Module<'_>, _: &Analyses) -> Self {
        Opaque
    }
}

thread_local! {
    /// How many remarks the fake passes of this thread have made.
    pub static REMARKS_MADE: Cell<usize> = const { Cell::new(0) };
}

fn made(remark: Remark) -> Remark {
    REMARKS_MADE.set(REMARKS_MADE.get() + 1);
    remark
}

const RUNS: RemarkInfo = RemarkInfo {
    name: "runs",
    doc: "A fake pass runs",
};
const RAN: RemarkInfo = RemarkInfo {
    name: "ran",
    doc: "A fake pass has run",
};
