//! The record of `.nv.compat` that says on which other targets the SASS would run
//! [fast-path-record].
//!
//! ptxas clears a bit of an object if its code has an instruction that the other target does in
//! another way; nvlink clears it if the code of a linked function has one. For sm_100 the
//! instructions are known; for sm_120 none was found. Since CUDA 13.3 there are none
//! [fast-path-whole]. Since CUDA 13.1 code for a target with an `a` runs on no other, unless all
//! objects have a record of tensor cores [fast-path-specific]. An object whose record says otherwise
//! is refused.

use cuweld_diagnostics::codes::mercury;
use cuweld_elf::behaviours;
use cuweld_elf::finalize::fast_path_bit;
use cuweld_elf::mercury::fast_path::has_own_to_sm_100;
use cuweld_elf::target::arch::Suffix;
use cuweld_elf::target::compat;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::AttributeId;
use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::Object;
use cuweld_ir::SectionKind;
use cuweld_ir::plan::PlanContent;

use super::Encode;
use super::Refusal;
use crate::analyses::code_changes::names_no_mercury_version;
use crate::analyses::is_specific;
use crate::threads::Work;

/// Bytes of the record's value, its last; other records have 4 in all.
const VALUE: usize = 8;

/// Bytes of the record, which nvlink adds to the file of the Mercury view.
pub(super) const RECORD: u64 = 4 + VALUE as u64;

impl Encode<'_, '_> {
    /// Writes the value.
    pub(super) fn fast_path(&mut self) {
        let value = match self.fast_path_targets() {
            Ok(value) => value,
            Err(refusal) => {
                self.refusals.push(refusal);
                return;
            }
        };
        let mut records = self.module.merged_compat.iter();
        let is_it = |code| code == compat::CAN_FASTPATH_FINALIZE;
        let Some(before) = records.position(|id| is_it(self.module.attributes[*id].code)) else {
            return;
        };
        let start = 4 * before + 4;
        for section in &mut self.plan.sections {
            if let (sht::CUDA_COMPAT, PlanContent::Bytes(bytes)) = (section.ty, &section.content) {
                let mut bytes = bytes.to_vec();
                if let Some(place) = bytes.get_mut(start..start + VALUE) {
                    place.copy_from_slice(&value.to_le_bytes());
                }
                section.content = PlanContent::Bytes(self.arena.bytes(&bytes));
            }
        }
    }

    fn fast_path_targets(&self) -> Result<u64, Refusal> {
        let module = self.module;
        let whole = compat::fast_path_targets(module.target.sm);
        if whole == 0 {
            return Ok(0);
        }
        let merged = &module.merged_compat;
        let is_for_specific = module.target.suffix == Suffix::Specific;
        let own = specific_targets(module, merged.iter().copied(), is_for_specific);
        if !module.toolkit.has(&behaviours::mercury::FAST_PATH_RECORD) {
            return self.whole_fast_path(whole, own);
        }
        // Whether some of these functions has such an instruction.
        let have_own = |functions: &mut dyn Iterator<Item = FunctionId>| {
            let mut unknown = None;
            for function in functions.filter(|_| module.target.sm == 100) {
                let views = module.functions[function].views;
                let text = views.sass.text;
                let mercury = views
                    .merc
                    .map_or(&[][..], |merc| module.sections[merc.text].bytes());
                match has_own_to_sm_100(module.sections[text].bytes(), mercury) {
                    Some(true) => return Ok(true),
                    Some(false) => {}
                    None => unknown = Some(text),
                }
            }
            let what = mercury::DOUBLE_PRECISION;
            unknown.map_or(Ok(false), |text| Err(Refusal::new(what, text)))
        };
        let without = |own: bool| {
            if own {
                whole & !fast_path_bit(103)
            } else {
                whole
            }
        };
        let objects: Vec<&Object<'_>> = module.included_objects().map(|(_, row)| row).collect();
        let work = Work::Objects(module.functions.len());
        // What becomes of the value by an object, if it has functions that are linked.
        let found = self.threads.map_chunks(work, &objects, |objects| {
            let of_objects = objects.iter().map(|object| {
                let functions = |live: bool| {
                    let all = object.functions.iter();
                    all.filter(move |id| module.is_function_live(*id) == live)
                };
                let (mut linked, mut lost) = (functions(true).peekable(), functions(false));
                if linked.peek().is_none() {
                    return Ok(None);
                }
                let is_own = have_own(&mut linked)?;
                let all = is_own || have_own(&mut lost)?;
                let records = compat_records(module, object);
                let of_object = specific_targets(module, records, is_specific(module, object));
                // Compilers before 13.0 write no such record.
                let is_said = recorded(module, object);
                let may_lack = || {
                    let functions = &module.functions[object.functions];
                    (functions.iter()).any(|row| names_no_mercury_version(module, row))
                };
                if is_said != Some(without(all) & of_object) && (is_said.is_some() || !may_lack()) {
                    return Err(against_code(object));
                }
                Ok(Some(without(is_own) & own))
            });
            of_objects.collect::<Result<Vec<_>, _>>()
        });
        let mut value = None;
        for of_objects in found {
            for targets in of_objects?.into_iter().flatten() {
                value = Some(value.unwrap_or(whole) & targets);
            }
        }
        Ok(value.unwrap_or(0))
    }

    /// Returns the value where no instruction clears a bit, as the objects of such compilers say, too;
    /// `own` are the targets on which functions may run.
    fn whole_fast_path(&self, whole: u64, own: u64) -> Result<u64, Refusal> {
        let module = self.module;
        let first = behaviours::mercury::FAST_PATH_WHOLE.since;
        let first = u32::from(first.major) * 10 + u32::from(first.minor);
        let alone = whole & fast_path_bit(module.target.sm);
        let is_other = |object: &&Object<'_>| {
            module.origin(object).toolkit >= first
                && recorded(module, object)
                    .is_some_and(|targets| ![whole, alone].contains(&targets))
        };
        let mut objects = module.included_objects().map(|(_, object)| object);
        if let Some(object) = objects.find(is_other) {
            return Err(against_code(object));
        }
        let has_functions = self.functions.iter().any(Option::is_some);
        Ok(if has_functions { whole & own } else { whole })
    }
}

/// Returns the targets that such records leave to code for a target that ends in `a`.
fn specific_targets(
    module: &Module<'_>,
    mut records: impl Iterator<Item = AttributeId>,
    is_specific: bool,
) -> u64 {
    let rule = &behaviours::mercury::FAST_PATH_SPECIFIC;
    let has_tensor_cores = |id: AttributeId| module.attributes[id].code == compat::INST_TCGEN05_MMA;
    match is_specific && module.toolkit.has(rule) && !records.any(has_tensor_cores) {
        true => fast_path_bit(module.target.sm),
        false => u64::MAX,
    }
}

/// Refuses an object whose record does not say what its code does.
fn against_code(object: &Object<'_>) -> Refusal {
    let what = format!(
        "a record of fast path targets against the code ('{}')",
        object.display()
    );
    Refusal::with(mercury::FAST_PATH, what, None)
}

/// Returns the `.nv.compat` records of an object.
fn compat_records(module: &Module<'_>, object: &Object<'_>) -> impl Iterator<Item = AttributeId> {
    let mut sections = object.sections.iter();
    let section = sections.find(|id| module.sections[*id].kind == SectionKind::Compat);
    let records = section.map(|section| module.sections[section].attributes);
    records.into_iter().flat_map(|records| records.iter())
}

/// Returns the targets that an object says.
fn recorded(module: &Module<'_>, object: &Object<'_>) -> Option<u64> {
    let mut records = compat_records(module, object).map(|id| &module.attributes[id]);
    let record = records.find(|record| record.code == compat::CAN_FASTPATH_FINALIZE)?;
    Some(u64::from_le_bytes(record.rest.try_into().ok()?))
}
