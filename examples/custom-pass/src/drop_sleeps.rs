//! `drop-sleeps`: takes `__nanosleep` out of functions, to see what a program waits for.
//!
//! Each `NANOSLEEP` becomes an instruction that does nothing, with the same control bits; no code moves.

use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::edit::Patch;
use cuweld_passes::Changed;
use cuweld_passes::Pass;
use cuweld_passes::PassCx;
use cuweld_passes::PassError;
use cuweld_passes::PassInfo;
use cuweld_passes::Remark;
use cuweld_passes::RemarkInfo;
use cuweld_passes::analyses::Instructions;
use cuweld_passes::registry::Registry;

const DROPPED: RemarkInfo = RemarkInfo {
    name: "dropped",
    doc: "A function does not sleep any more",
};

#[derive(Default)]
struct DropSleeps;

/// Adds the pass.
pub fn register(registry: &mut Registry) {
    registry.register::<DropSleeps>();
}

impl Pass for DropSleeps {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "drop-sleeps",
            summary: "Take __nanosleep out of functions",
            doc: include_str!("drop_sleeps.rs"),
            before: Some(Phase::Emitted),
            refuses: &["mercury"],
            remarks: &[DROPPED],
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        let instructions = cx.analyses.get::<Instructions>(module);
        let mut patches = Vec::new();
        for (id, function) in module
            .functions
            .iter()
            .filter(|(id, _)| !module.is_alias(*id))
        {
            let before = patches.len();
            for slot in instructions.of(module, id) {
                if slot.name == Some("NANOSLEEP") && slot.relocs.is_empty() {
                    let nothing = slot.word.emptied().0.to_le_bytes();
                    patches.push(Patch::bytes(
                        function.views.sass.text,
                        slot.offset,
                        &nothing,
                    ));
                }
            }
            let dropped = (patches.len() - before) as u64;
            cx.statistics.add("instructions", dropped);
            if dropped > 0 {
                cx.remarks.emit(|| {
                    Remark::about(&DROPPED, id)
                        .words(" does not sleep any more, in ")
                        .argument("places", dropped)
                        .words(" places")
                });
            }
        }
        if patches.is_empty() {
            return Ok(Changed::No);
        }
        let patched = module.patch(&patches);
        patched.map_err(|error| PassError::Internal(error.to_string()))?;
        Ok(Changed::Yes)
    }
}
