//! Modules that come from outside: whether they keep the invariants of the IR.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::Diagnostics;
use cuweld_diagnostics::codes::input;
use cuweld_ir::Arena;
use cuweld_ir::Module;
use cuweld_passes::Pass;
use cuweld_passes::PassCx;
use cuweld_passes::Statistics;
use cuweld_passes::analyses::Analyses;
use cuweld_passes::checks::check_objects::CheckObjects;
use cuweld_passes::remark::Remarks;
use cuweld_passes::threads::Threads;

/// Returns what `check-objects` refuses of a module: an object that is for another target. For
/// modules that the pass may not have seen, or not with this target.
pub fn misfit<'data>(module: &mut Module<'data>, arena: &'data Arena) -> Option<Diagnostic> {
    let mut found = Diagnostics::default();
    let mut cx = PassCx {
        arena,
        analyses: &mut Analyses::default(),
        diagnostics: &mut found,
        statistics: &mut Statistics::default(),
        remarks: &mut Remarks::default(),
        threads: &Threads::default(),
    };
    CheckObjects.run(module, &mut cx).err()?;
    let mut found = found.into_iter();
    found.find(|finding| finding.code == input::ARCHITECTURE)
}

/// Returns the verifier's findings, the first of them in full.
pub fn findings(module: &Module<'_>) -> Vec<String> {
    const SHOWN: usize = 20;
    let errors = cuweld_ir::verify(module);
    let mut findings: Vec<String> = errors.iter().take(SHOWN).map(ToString::to_string).collect();
    if errors.len() > SHOWN {
        findings.push(format!("and {} more", errors.len() - SHOWN));
    }
    findings
}
