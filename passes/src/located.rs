//! How notes name the rows of a module.

use cuweld_ir::Module;
use cuweld_ir::SectionId;

/// Returns the place of a section, for messages.
pub(crate) fn located(module: &Module<'_>, section: SectionId) -> String {
    let row = &module.sections[section];
    let object = &module.objects[row.object];
    let index = object.sections.ordinal(section).unwrap_or(0);
    format!(
        "in '{}', section {index} '{}'",
        object.display(),
        String::from_utf8_lossy(row.name)
    )
}
