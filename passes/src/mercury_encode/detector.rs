//! Kernels that nvlink would schedule anew (`mercury.md` section 4).

use cuweld_ir::FunctionId;
use cuweld_ir::mercury::capmerc::Capmerc;
use cuweld_ir::mercury::capmerc::Form;
use cuweld_ir::mercury::sass::Instruction;

use super::Encode;
use super::Refusal;

/// The operation of a memory barrier, the second byte of a record.
const MEMBAR: u8 = 0x49;

/// SASS instructions of a memory barrier without what ptxas adds in relocatable code.
const PLAIN_BARRIER: u64 = 4;

impl Encode<'_, '_> {
    /// Refuses kernels whose code nvlink would change. It changes none in relocatable output.
    pub(super) fn detect(&mut self) {
        if self.module.options.relocatable {
            return;
        }
        for index in 0..self.functions.len() {
            if let Some(function) = self.functions[index]
                && let Some(why) = self.is_scheduled_anew(function)
            {
                let text = self.module.functions[function].views.sass.text;
                let what = format!(
                    "kernel '{}' needs NVIDIA's finalizer: {why}",
                    String::from_utf8_lossy(self.module.function_name(function))
                );
                self.refusals.push(Refusal::new(what, text));
            }
        }
    }

    fn is_scheduled_anew(&self, function: FunctionId) -> Option<&'static str> {
        let row = &self.module.functions[function];
        if !self.module.symbols[row.symbol].is_entry() {
            return None;
        }
        let code = self.module.sections[row.views.sass.text].bytes();
        if Instruction::all(code).any(Instruction::is_call) {
            return None;
        }
        let stack = Instruction::all(code).find(|word| word.loads_stack_pointer());
        if stack.is_some_and(|word| word.write_barrier() != 7) {
            return Some("it calls nothing, and its first load has a scoreboard");
        }
        let merc = self.module.sections[row.views.merc?.text].bytes();
        let capmerc = Capmerc::parse(merc).ok()?;
        let mut items = capmerc.items();
        items
            .any(|item| match item.form {
                Form::Run(Some(record)) => {
                    record.get(1) == Some(&MEMBAR) && item.count > PLAIN_BARRIER
                }
                _ => false,
            })
            .then_some("it calls nothing, and has a work-around at a memory barrier")
    }
}
