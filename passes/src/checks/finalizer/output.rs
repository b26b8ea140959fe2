//! `finalize-output`: asks of the linked file what NVIDIA's finalizer asks after a link.
//!
//! The file has to hold Mercury, for the target. nvlink derives the SASS view at this point; here
//! `mercury-encode` has decided it already, so that the plan of the file is asked.

use cuweld_ir::Module;
use cuweld_ir::Phase;

use super::EntryPoint;
use super::FinalizerConfig;
use super::Stage;
use super::guard;
use super::inputs::emit;
use crate::analyses::Preserved;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::PassInfo;

/// The `finalize-output` pass.
#[derive(Debug, Default)]
pub struct FinalizeOutput;

impl Pass for FinalizeOutput {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "finalize-output",
            summary: "Ask of the linked file what NVIDIA's finalizer asks after a link",
            doc: include_str!("output.rs"),
            requires: Phase::LaidOut,
            preserves: Preserved::All,
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        let Some(plan) = module.plan.as_ref().filter(|_| module.is_capmerc()) else {
            return Ok(Changed::No);
        };
        let (of, entry) = ((module.toolkit, module.target), EntryPoint::PostLink);
        let config = FinalizerConfig::of_link(of, entry, &module.options);
        let mut trace = Vec::new();
        config.trace_start(&mut trace);
        let asked = guard(plan.e_flags, plan.legacy.is_some(), Stage::PostLink);
        config.trace_end(&mut trace);
        emit(cx.diagnostics, trace, asked, || config.name.clone(), 0)?;
        Ok(Changed::No)
    }
}
