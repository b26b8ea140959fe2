//! What was found, as rows.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::Diagnostics;
use cuweld_diagnostics::NvlinkPhase;
use cuweld_diagnostics::Severity;
use cuweld_diagnostics::code;
use cuweld_diagnostics::codes::link;

use super::*;

/// Makes a finding of every severity, with all that a finding can have.
pub(super) fn every_finding() -> Diagnostics {
    let mut findings = Vec::new();
    for (ordinal, severity) in (1..).zip(Severity::ALL) {
        let finding = Diagnostic::new(severity, link::UNDEFINED, "a\nb").at(ordinal, u32::MAX);
        findings.push(finding);
    }
    let inner = Diagnostic {
        parts: Box::new([Diagnostic::info(link::UNDEFINED, "in it")]),
        ..Diagnostic::warning(link::UNDEFINED, "part").note("of a part")
    };
    let phases = [
        NvlinkPhase::Inputs,
        NvlinkPhase::CallGraph,
        NvlinkPhase::Resources,
    ];
    findings.extend(phases.map(|phase| {
        Diagnostic {
            parts: Box::new([inner.clone(), inner.clone()]),
            ..Diagnostic::error(link::UNDEFINED, "“whole”")
                .note("one\n  two")
                .note("")
                .help("more; of \"it\"")
                .deviates("D07")
                .of_phase(phase)
        }
    }));
    let mut all = Diagnostics::default();
    all.add_sorted(findings);
    all
}

fn parsed(rows: &str) -> Result<Vec<Diagnostic>, String> {
    let text = format!("lir 1\nmodule phase=live target=sm_90\n{rows}\nend\n");
    let arena = Arena::new();
    let module = parse(&text, &arena, &no_input).map_err(|error| error.message)?;
    Ok(module.findings.into_iter().collect())
}

#[test]
fn codes_of_extensions_come_back() {
    let found = parsed("error extension/of-my-pass \"no\"").unwrap();
    assert_eq!(found[0].code, code("extension/of-my-pass").unwrap());
}

#[test]
fn what_is_no_finding_is_refused() {
    for (rows, why) in [
        ("error undefined \"x\"", "expected `/`"),
        ("error link/ \"x\"", "expected the words of a code"),
        ("error links/undefined \"x\"", "expected a code such as"),
        (
            "error link/undefined \"\\xff\"",
            "expected a string in UTF-8",
        ),
        ("error link/undefined \"x\" order=1", "expected `/`"),
        (
            "error link/undefined \"x\" deviation=7",
            "expected a deviation",
        ),
        ("error link/undefined \"x\" phase=late", "expected one of"),
        ("error link/undefined \"x\" part=1", "a part of 1 findings"),
        ("note \"x\"", "expected a finding above"),
        ("stopped a\nstopped b", "a second row `stopped`"),
    ] {
        let error = parsed(rows).unwrap_err();
        assert!(error.contains(why), "{rows}: {error}");
    }
    // Parts of parts of parts are enough; a text cannot make them deeper.
    let deep = |count: usize| -> String {
        let row = |part: usize| format!("error link/undefined \"x\" part={part}\n");
        (0..count).map(row).collect()
    };
    assert_eq!(parsed(&deep(5)).unwrap().len(), 1);
    assert!(parsed(&deep(6)).is_err());
}

#[test]
fn a_filter_shows_findings_that_say_a_name() {
    let mut module = Module::default();
    let finding = |name: &str| Diagnostic::error(link::UNDEFINED, format!("Undefined '{name}'"));
    module.findings.add_sorted(["f", "g"].map(finding));
    let names = vec!["'g'".to_owned()];
    let text = print_filtered(&module, &Filter { names });
    assert!(!text.contains("'f'") && text.contains("error link/undefined \"Undefined 'g'\"\n"));
}
