//! Says which inputs take no part in the link, before passes run.

use cuweld_passes::remark::RemarkInfo;
use cuweld_passes::remark::Shown;
use cuweld_passes::remark::TRACING_TARGET;

use crate::controls::RemarkOptions;
use crate::input::Discovered;
use crate::input::SkipReason;

const IGNORED: RemarkInfo = RemarkInfo {
    name: "ignored",
    doc: "An input, or a member of an archive, takes no part in the link",
};

/// Returns the remarks on what was discovered, if some are asked for that are not about symbols
/// alone: on inputs that were ignored first, then on those that hold device code that is not linked.
pub(super) fn of_discovery(
    discovered: &Discovered<'_>,
    options: Option<&RemarkOptions>,
) -> Vec<Shown> {
    if !options.is_some_and(RemarkOptions::take_discovery) {
        return Vec::new();
    }
    let ignored = discovered.diagnostics.iter().filter_map(|said| {
        let (file, why) = said.ignored()?;
        Some(Shown::of_input(&IGNORED, file, why))
    });
    let skipped = discovered.inputs.iter().filter_map(|input| {
        let reason = match input.skip? {
            SkipReason::Stub => "it is what an earlier device link wrote",
            SkipReason::AlreadyLinked => "an earlier device link has linked its module",
            // The diagnostic says so.
            SkipReason::RawPtx => return None,
            SkipReason::NoCode => "it has no device code for the target",
        };
        let name = input.to_string();
        let why = format!("'{name}' takes no part: {reason}");
        Some(Shown::of_input(&IGNORED, name, why))
    });
    let remarks: Vec<Shown> = ignored.chain(skipped).collect();
    for remark in &remarks {
        let (pass, kind, input) = (remark.pass, remark.kind, remark.object.as_deref());
        tracing::trace!(target: TRACING_TARGET, pass, kind, input, "{}", remark.message);
    }
    remarks
}
