//! A pass that is a function from text to text.

use std::collections::BTreeMap;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::extension;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::text;
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
        Ok(None) => return Ok(Changed::No),
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
        return Ok(Changed::No);
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
    if new.target != module.target {
        return Err(refuse(&format!(
            "is for {}, not {}",
            new.target, module.target
        )));
    }
    let broken = findings(&new);
    if broken.is_empty() {
        return Ok(new);
    }
    let mut diagnostic = refuse("breaks invariants of the IR");
    diagnostic.notes = broken;
    Err(diagnostic)
}
