//! The record of `.nv.compat` that says on which other targets the SASS would run (measured,
//! `docs/MERCURY.md`).
//!
//! ptxas clears a bit of an object if its code has an instruction that the other target lacks or does in
//! another way; nvlink clears it if the code of a linked function has one. Which instructions do is known
//! for double precision arithmetic and the integer tensor core operation; where neither that nor the record
//! of the object decides, the link is refused.

use cuweld_ir::Module;
use cuweld_ir::Object;
use cuweld_ir::SectionKind;
use cuweld_ir::mercury::sass::Instruction;
use cuweld_ir::plan::PlanContent;
use cuweld_ir::target::compat;
use cuweld_ir::target::section_types::sht;

use super::Encode;
use super::Refusal;

/// Bytes of the record's value, its last.
const VALUE: usize = 8;

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
        for section in &mut self.plan.sections {
            if let (sht::CUDA_COMPAT, PlanContent::Bytes(bytes)) = (section.ty, &section.content) {
                let mut bytes = bytes.to_vec();
                if let Some(start) = bytes.len().checked_sub(VALUE) {
                    bytes.truncate(start);
                    bytes.extend_from_slice(&value.to_le_bytes());
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
        let mut value = None;
        for (_, object) in module.included_objects() {
            let functions = &module.functions[object.functions];
            let (mut linked, mut lost, mut sure) = (0, 0, false);
            for (function, row) in object.functions.iter().zip(functions) {
                if !module.is_function_live(function) {
                    lost += 1;
                    continue;
                }
                linked += 1;
                let code = module.sections[row.views.sass.text].bytes();
                sure |= Instruction::all(code).any(Instruction::is_own_to_target);
            }
            if linked == 0 {
                continue;
            }
            let own = of_object(module, object);
            let refused = |what: &str| {
                let what = format!("{what} ('{}')", object.display());
                Err(Refusal::new(what, None))
            };
            let Some(own) = own.filter(|own| own & !whole == 0) else {
                return refused("a record of fast path targets that is not known");
            };
            if own != whole && lost != 0 && !sure {
                return refused("fast path targets of code that is linked in part");
            }
            if own == whole && sure && module.target.sm == 100 {
                return refused("a record of fast path targets against the code");
            }
            value = Some(value.unwrap_or(whole) & own);
        }
        Ok(value.unwrap_or(0))
    }
}

/// The record of an object.
fn of_object(module: &Module<'_>, object: &Object<'_>) -> Option<u64> {
    let mut sections = object.sections.iter();
    let section = sections.find(|id| module.sections[*id].kind == SectionKind::Compat)?;
    let mut records = module.attributes[module.sections[section].attributes].iter();
    let record = records.find(|record| record.code == compat::CAN_FASTPATH_FINALIZE)?;
    Some(u64::from_le_bytes(record.rest.try_into().ok()?))
}
