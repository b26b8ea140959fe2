//! What objects of a module say to finalizers of their code.

use cuweld_elf::finalize::Profile;
use cuweld_elf::target::compat;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::Module;
use cuweld_ir::Object;
use cuweld_ir::SectionId;

/// Reads what `.nv.compat` of an object says of its code.
pub(crate) fn finalizer_profile(module: &Module<'_>, object: &Object<'_>) -> Option<Profile> {
    let mut sections = module.sections[object.sections].iter();
    let section = sections.find(|section| section.name == compat::SECTION)?;
    let records = module.attributes[section.attributes].iter();
    Some(Profile::of_records(
        records.map(|record| (record.code, record.value, record.rest)),
    ))
}

/// Returns `true` if an object says that it was compiled for a target that ends in `a`.
pub(crate) fn is_specific(module: &Module<'_>, object: &Object<'_>) -> bool {
    // Rows of records are smaller than those of sections, and few have the code.
    let is_compat = |section: SectionId| module.sections[section].ty == sht::CUDA_COMPAT;
    let mut records = module.attributes[object.attributes].iter();
    records.any(|record| {
        record.code == compat::CUDA_ACCELERATOR_TARGET
            && record.value == 1
            && record.section.is_some_and(is_compat)
    })
}
