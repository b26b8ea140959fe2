//! `emit`: the plan becomes the image.

use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::elf;

use crate::analyses::Preserved;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;

/// The `emit` pass.
pub struct Emit;

impl Pass for Emit {
    fn name(&self) -> &'static str {
        "emit"
    }

    fn summary(&self) -> &'static str {
        "Write the planned file"
    }

    fn requires(&self) -> Phase {
        Phase::Relocated
    }

    fn establishes(&self) -> Option<Phase> {
        Some(Phase::Emitted)
    }

    fn preserves(&self) -> Preserved {
        Preserved::ALL
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
