//! What objects of a module say to finalizers of their code.

use cuweld_elf::finalize::Profile;
use cuweld_elf::target::compat;
use cuweld_ir::Module;
use cuweld_ir::Object;

/// Reads what `.nv.compat` of an object says of its code.
pub(crate) fn finalizer_profile(module: &Module<'_>, object: &Object<'_>) -> Option<Profile> {
    let mut sections = module.sections[object.sections].iter();
    let section = sections.find(|section| section.name == compat::SECTION)?;
    let records = module.attributes[section.attributes].iter();
    Some(Profile::of_records(
        records.map(|record| (record.code, record.value, record.rest)),
    ))
}
