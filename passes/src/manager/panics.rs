//! Panics of passes, which become errors that name the pass.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

use cuweld_ir::Module;

use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;

/// Runs a pass. A panic ends the link as an error does: what it leaves of the module is only looked at
/// for messages, and no output is written.
pub fn run<'data>(
    pass: &dyn Pass,
    module: &mut Module<'data>,
    cx: &mut PassCx<'_, 'data>,
) -> Result<Changed, PassError> {
    let run = AssertUnwindSafe(|| pass.run(module, cx));
    catch_unwind(run).unwrap_or_else(|panic| Err(PassError::Panicked(text(&*panic))))
}

fn text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("it says nothing").to_owned()
}
