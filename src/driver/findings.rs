//! What is said of inputs before passes run: discovery, compilers and the reader, each at the turn
//! of its input.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::Diagnostics;
use cuweld_diagnostics::NvlinkPhase;

use crate::diagnostics::Reporter;
use crate::input::InputDiagnostic;

/// Returns the findings of discovery, each with the place of the input at whose turn it comes.
pub(super) fn of_discovery(
    found: &[InputDiagnostic],
    reporter: &Reporter<'_>,
) -> Vec<(usize, Diagnostic)> {
    let is_said =
        |said: &&InputDiagnostic| !said.is_about_arch() || !reporter.silence_arch_warnings;
    let said = found.iter().filter(is_said);
    said.filter_map(|said| Some((said.inputs_before, said.finding()?)))
        .collect()
}

/// Orders findings as nvlink reads inputs. `has_object` tells for each input whether it became an
/// object of the module: what passes say of an object comes after what is said here of its input.
pub(super) fn by_turns(
    has_object: impl IntoIterator<Item = bool>,
    findings: impl IntoIterator<Item = (usize, Diagnostic)>,
) -> Diagnostics {
    let mut before = vec![0];
    for has_object in has_object {
        before.push(before.last().unwrap_or(&0) + u32::from(has_object));
    }
    let mut all = Diagnostics::default();
    for (input, finding) in findings {
        let object = before.get(input).or(before.last()).copied();
        let finding = finding.of_phase(NvlinkPhase::Inputs);
        all.emit(finding.at(object.unwrap_or(0), input as u32));
    }
    all.end_pass();
    all
}
