//! A pass that is a function from text to text.
//!
//! A comment `; remark: ID TEXT` in what it gives back is a remark about the row with this id;
//! without an id it is about the link.

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
use cuweld_passes::Remark;
use cuweld_passes::RemarkInfo;
use cuweld_passes::remark::Entity;

use crate::invariants::findings;

/// Gives a module as text to `transform` and takes what it returns for the module: parsed, of the
/// same link, and verified. `None` means that nothing changes, an error is shown as the fault of
/// `who`.
pub fn exchange<'data>(
    module: &mut Module<'data>,
    cx: &mut PassCx<'_, 'data>,
    who: &str,
    form: DumpBytes,
    establishes: Option<Phase>,
    transform: impl FnOnce(&str) -> Result<Option<Vec<u8>>, Diagnostic>,
) -> Result<Changed, PassError> {
    let result = transform(&text::print(module, form)).and_then(|bytes| {
        let Some(bytes) = bytes else {
            return Ok(None);
        };
        let said = match cx.remarks.is_on() {
            true => comments(&bytes),
            false => Vec::new(),
        };
        let new = parse(module, cx, who, establishes, bytes)?;
        Ok(Some((new, said)))
    });
    match result {
        Ok(None) => Ok(Changed::No),
        Ok(Some((new, said))) => {
            said.iter()
                .for_each(|said| cx.remarks.emit(|| remark(&new, said)));
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

/// What a pass from outside says of a row of the module, or of the link.
pub const SAID: RemarkInfo = RemarkInfo {
    name: "said",
    doc: "The text that came back has a comment that begins with `remark:`",
};

/// Returns what comments of a text remark.
fn comments(text: &[u8]) -> Vec<String> {
    let lines = text.split(|byte| *byte == b'\n');
    let said = lines.filter_map(|line| line.strip_prefix(b"; remark: "));
    said.map(|said| String::from_utf8_lossy(said).trim().to_owned())
        .collect()
}

/// Returns the remark of a comment, which begins with the id of a row if it is about one.
fn remark(module: &Module<'_>, said: &str) -> Remark {
    let (id, rest) = said.split_once(' ').unwrap_or((said, ""));
    match Entity::parse(id, module) {
        Some(entity) => Remark::about(&SAID, entity).words(format!(" {rest}")),
        None => Remark::of_link(&SAID).words(said.to_owned()),
    }
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
