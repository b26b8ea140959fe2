//! The output image, which is not stored in the text: writing the plan again gives it.

use crate::elf;
use crate::module::Module;

/// Why an image cannot be rebuilt, in words.
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
    // What the writer takes for granted of a module that its verifier has seen.
    if plan.shoff > plan.file_size || plan.phoff > plan.file_size {
        return Err("a header table of the plan lies outside the file".to_owned());
    }
    if plan
        .pieces
        .iter()
        .any(|piece| module.sections.get(piece.section).is_none())
    {
        return Err("a piece of the plan copies no section".to_owned());
    }
    if module
        .patches
        .iter()
        .any(|patch| patch.bit >= 64 || patch.width == 0)
    {
        return Err("a patch has no field within 64 bits".to_owned());
    }
    elf::write(module, plan).map_err(|error| error.to_string())
}
