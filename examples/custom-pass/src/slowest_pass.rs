//! An instrument: after a link with the variable `SLOWEST_PASS` it says which pass took the longest, and
//! which passes changed nothing.

use std::time::Duration;
use std::time::Instant;

use cuweld_ir::Module;
use cuweld_passes::Changed;
use cuweld_passes::instrument::Instrument;
use cuweld_passes::instrument::InstrumentError;
use cuweld_passes::instrument::PassReport;
use cuweld_passes::instrument::StepInfo;
use cuweld_passes::registry::Registry;

/// What is known of the passes so far.
#[derive(Default)]
struct SlowestPass {
    started: Option<Instant>,
    slowest: Option<(Duration, &'static str)>,
    unchanged: Vec<&'static str>,
    functions: usize,
}

/// Adds the instrument, if it is asked for.
pub fn register(registry: &mut Registry) {
    if std::env::var_os("SLOWEST_PASS").is_some() {
        registry.register_instrument(|| Box::new(SlowestPass::default()));
    }
}

impl Instrument for SlowestPass {
    fn before_pass(&mut self, _: &StepInfo<'_>, _: &Module<'_>) -> Result<(), InstrumentError> {
        self.started = Some(Instant::now());
        Ok(())
    }

    fn after_pass(
        &mut self,
        step: &StepInfo<'_>,
        module: &Module<'_>,
        report: &PassReport<'_>,
    ) -> Result<(), InstrumentError> {
        let time = self
            .started
            .take()
            .map_or(Duration::ZERO, |it| it.elapsed());
        if self.slowest.is_none_or(|(most, _)| time > most) {
            self.slowest = Some((time, step.name));
        }
        if report.changed == Changed::No {
            self.unchanged.push(step.name);
        }
        self.functions = module.functions.len();
        Ok(())
    }

    fn said(&self) -> String {
        let (_, slowest) = self.slowest.unwrap_or_default();
        format!(
            "slowest pass of {} functions: {slowest}; unchanged after: {}\n",
            self.functions,
            self.unchanged.join(", ")
        )
    }
}
