//! The record of `.nv.compat` that says on which other targets the SASS would run
//! [fast-path-record].
//!
//! ptxas clears a bit of an object if its code has an instruction that the other target does in
//! another way; nvlink clears it if the code of a linked function has one. For sm_100 the
//! instructions of CUDA 13.0 are known; for sm_120 none was found. An object whose record says
//! otherwise is refused, or taken at its word in links of a later toolkit (deviation D20).

use cuweld_diagnostics::codes::mercury;
use cuweld_elf::finalize::fast_path_bit;
use cuweld_elf::mercury::fast_path::has_own_to_sm_100;
use cuweld_elf::target::compat;
use cuweld_elf::target::section_types::sht;
use cuweld_elf::toolkit::Toolkit;
use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::Object;
use cuweld_ir::SectionKind;
use cuweld_ir::plan::PlanContent;

use super::Encode;
use super::Refusal;
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
                if module.toolkit.release > Toolkit::DEFAULT.release {
                    return Ok(of_object(module, object));
                }
                let own = have_own(&mut linked)?;
                let all = own || have_own(&mut lost)?;
                if of_object(module, object) != Some(without(all)) {
                    let what = format!(
                        "a record of fast path targets against the code ('{}')",
                        object.display()
                    );
                    return Err(Refusal::with(mercury::FAST_PATH, what, None));
                }
                Ok(Some(without(own)))
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
}

/// Returns the record of an object.
fn of_object(module: &Module<'_>, object: &Object<'_>) -> Option<u64> {
    let mut sections = object.sections.iter();
    let section = sections.find(|id| module.sections[*id].kind == SectionKind::Compat)?;
    let mut records = module.attributes[module.sections[section].attributes].iter();
    let record = records.find(|record| record.code == compat::CAN_FASTPATH_FINALIZE)?;
    Some(u64::from_le_bytes(record.rest.try_into().ok()?))
}
