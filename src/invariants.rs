//! Modules that come from outside: whether they keep the invariants of the IR.

use cuweld_ir::Module;

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
