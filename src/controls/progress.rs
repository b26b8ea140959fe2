//! Tells a caller which pass comes next, and ends the link if the caller says so.

use cuweld_ir::Module;
use cuweld_passes::instrument::Instrument;
use cuweld_passes::instrument::InstrumentError;
use cuweld_passes::instrument::StepInfo;

use super::Progress;

impl Instrument for Progress {
    fn before_pass(&mut self, step: &StepInfo<'_>, _: &Module<'_>) -> Result<(), InstrumentError> {
        match self.tell(step.name, step.number, step.of).is_break() {
            true => Err(InstrumentError::Check("the link was cancelled".to_owned())),
            false => Ok(()),
        }
    }
}
