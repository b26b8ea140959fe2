//! The output image, which is not stored in the text: writing the plan again gives it.

use crate::elf;
use crate::module::Module;

/// Builds the image of at most `limit` bytes that a module's plan describes. The error says why
/// that cannot be done.
pub(super) fn rebuild(module: &Module<'_>, limit: u64) -> Result<Vec<u8>, String> {
    let plan = module
        .plan
        .as_ref()
        .ok_or("there is no plan to write it from")?;
    if plan.file_size > limit {
        return Err(format!(
            "the plan's file size {:#x} exceeds {limit:#x}",
            plan.file_size
        ));
    }
    elf::write(module, plan).map_err(|error| error.to_string())
}
