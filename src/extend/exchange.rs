//! A pass that is a function from text to text.

use std::collections::BTreeMap;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::extension;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::text;
use cuweld_ir::text::DumpBytes;
use cuweld_ir::text::ImageKey;
use cuweld_passes::Changed;
use cuweld_passes::PassCx;
use cuweld_passes::PassError;

use super::said::Said;
use crate::invariants::findings;

/// Takes the text that a pass gave back for the module: parsed, of the same link, and verified. Nothing
/// (`None`) and comments alone change nothing; what comments say is handed on. An error is shown as the
/// fault of `who`.
pub fn exchange<'data>(
    module: &mut Module<'data>,
    cx: &mut PassCx<'_, 'data>,
    who: &str,
    establishes: Option<Phase>,
    reply: Result<Option<Vec<u8>>, PassFailure>,
) -> Result<Changed, PassError> {
    let bytes = match reply {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return unchanged(module, cx, who, establishes),
        Err(PassFailure::Crashed(diagnostic)) => {
            return Err(PassError::Crashed(Box::new(diagnostic)));
        }
        Err(PassFailure::Diagnosed(diagnostic)) => {
            cx.diagnostics.emit(diagnostic);
            return Err(PassError::Diagnosed);
        }
    };
    let said = Said::of_text(&bytes);
    if is_comments(&bytes) {
        said.tell(module, cx);
        return unchanged(module, cx, who, establishes);
    }
    match parse(module, cx, who, establishes, bytes) {
        Ok(new) => {
            said.tell(&new, cx);
            if new == *module {
                return Ok(Changed::No);
            }
            *module = new;
            Ok(Changed::Yes)
        }
        Err(diagnostic) => {
            cx.diagnostics.emit(diagnostic);
            Err(PassError::Diagnosed)
        }
    }
}

/// Why a pass gave nothing back.
pub enum PassFailure {
    /// It says what is wrong.
    Diagnosed(Diagnostic),
    /// It did not come to its end.
    Crashed(Diagnostic),
}

/// Returns `true` if a text has comments and empty lines alone.
fn is_comments(text: &[u8]) -> bool {
    text.split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .all(|line| line.is_empty() || line.starts_with(b";"))
}

/// Ends a pass that changed nothing, which may say that a phase is reached all the same.
fn unchanged(
    module: &mut Module<'_>,
    cx: &mut PassCx<'_, '_>,
    who: &str,
    establishes: Option<Phase>,
) -> Result<Changed, PassError> {
    match unfounded(module, who, establishes) {
        None => Ok(Changed::No),
        Some(diagnostic) => {
            cx.diagnostics.emit(diagnostic);
            Err(PassError::Diagnosed)
        }
    }
}

/// Says what a module that did not change lacks of the phase that `who` says it has reached.
fn unfounded(module: &mut Module<'_>, who: &str, establishes: Option<Phase>) -> Option<Diagnostic> {
    let phase = establishes.filter(|phase| *phase != module.phase)?;
    let before = std::mem::replace(&mut module.phase, phase);
    let broken = findings(module);
    module.phase = before;
    if broken.is_empty() {
        return None;
    }
    let what = format!(
        "cuweld: {who} changed nothing, but the module is not '{}'",
        phase.name()
    );
    let mut diagnostic = Diagnostic::fatal(extension::RESULT, what);
    diagnostic.notes = broken;
    Some(diagnostic)
}

/// Names the first row that says what is linked, or what was found, and that is another one than
/// before, with both.
fn changed_row(before: &Module<'_>, after: &Module<'_>) -> Option<String> {
    if after.target != before.target {
        let targets = (after.target, before.target);
        return Some(format!(
            "row 'module': it is for {}, not {}",
            targets.0, targets.1
        ));
    }
    let toolkits = (after.toolkit.version, before.toolkit.version);
    if toolkits.0 != toolkits.1 {
        return Some(format!(
            "row 'module': it is of toolkit {}, not {}",
            toolkits.0, toolkits.1
        ));
    }
    if after.options != before.options {
        let (mut old, mut new) = (before.options.clone(), after.options.clone());
        let mut places = text::option_places(&mut old)
            .into_iter()
            .zip(text::option_places(&mut new));
        let word = places.find(|((_, old), (_, new))| old != new);
        let word = word.map_or("", |((word, _), _)| word);
        return Some(format!(
            "row 'option {word}': options are the command line's"
        ));
    }
    let rows = |module: &Module<'_>| -> Vec<String> {
        let only = Module {
            findings: module.findings.clone(),
            stopped: module.stopped.map(|_| ""),
            ..Module::default()
        };
        let text = text::print(&only, DumpBytes::Hash);
        let lines = text.lines().skip(2).map(str::trim);
        let rows = lines.filter(|line| !matches!(*line, "" | "findings" | "end"));
        rows.map(str::to_owned).collect()
    };
    let (old, new) = (rows(before), rows(after));
    let at = (0..old.len().max(new.len())).find(|at| old.get(*at) != new.get(*at))?;
    let row = new.get(at).or(old.get(at))?;
    Some(format!("row '{row}': what was found stays"))
}

fn parse<'data>(
    module: &Module<'data>,
    cx: &PassCx<'_, 'data>,
    who: &str,
    establishes: Option<Phase>,
    bytes: Vec<u8>,
) -> Result<Module<'data>, Diagnostic> {
    let refuse = |what: &str| {
        Diagnostic::fatal(
            extension::RESULT,
            format!("cuweld: what {who} gave back {what}"),
        )
    };
    let text = String::from_utf8(bytes).map_err(|_| refuse("is no UTF-8 text"))?;
    let images: BTreeMap<_, _> = module
        .objects
        .values()
        .map(|object| {
            let size = object.image.len() as u64;
            ((object.name, object.member, size), object.image)
        })
        .collect();
    // The parser compares the SHA-256.
    let resolve = |key: &ImageKey<'_>| -> Option<&'data [u8]> {
        images.get(&(key.name, key.member, key.size)).copied()
    };
    let new = text::parse(&text, cx.arena, &resolve)
        .map_err(|error| refuse("does not parse").note(error.to_string()))?;
    let expected = establishes.unwrap_or(module.phase);
    if new.phase != expected {
        return Err(refuse(&format!(
            "is '{}', not '{}'",
            new.phase.name(),
            expected.name()
        )));
    }
    let broken = findings(&new);
    if broken.is_empty() {
        return match changed_row(module, &new) {
            Some(row) => Err(refuse(&format!("changes {row}"))),
            None => Ok(new),
        };
    }
    let mut diagnostic = refuse("breaks invariants of the IR");
    diagnostic.notes = broken;
    Err(diagnostic)
}
