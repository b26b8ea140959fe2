//! `emit`: the plan becomes the image.

use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::elf;

use crate::analyses::Preserved;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::PassInfo;

/// The `emit` pass.
#[derive(Debug, Default)]
pub struct Emit;

impl Pass for Emit {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "emit",
            summary: "Write the planned file",
            doc: include_str!("emit.rs"),
            requires: Phase::Relocated,
            establishes: Some(Phase::Emitted),
            writes_plan: true,
            preserves: Preserved::All,
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        let Some(plan) = &module.plan else {
            return Err(PassError::Internal("there is no plan to emit".to_owned()));
        };
        let image =
            elf::write(module, plan).map_err(|error| PassError::Internal(error.to_string()))?;
        cx.statistics.add("bytes", image.len() as u64);
        module.image = Some(image);
        Ok(Changed::Yes)
    }
}
