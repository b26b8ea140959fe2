//! What is shown of a run: the instruments that the command line asks for, and where their texts
//! go.

mod anchored_diff;
mod chrome_trace;
mod diff_text;
mod exec_on_change;
mod process;

pub use anchored_diff::anchored_diff;
pub use chrome_trace::ChromeTrace;
pub use diff_text::unified_diff;
pub use exec_on_change::ExecOnChange;
pub use process::cpu_time;
pub use process::peak_memory;
