//! `my-pass`: warns of kernels that need more registers than a limit.

use cuweld_ir::{Module, Phase};
use cuweld_passes::options::{OptionInfo, OptionType};
use cuweld_passes::registry::Registry;
use cuweld_passes::{Changed, Code, CodeRow, Diagnostic, Kind, Pass, PassCx, PassError, PassInfo};
use serde::Deserialize;

/// The options, as pipelines and `passes my-pass` know them.
const OPTIONS: &[OptionInfo] = &[OptionInfo {
    name: "limit",
    ty: OptionType::Integer,
    default: "32",
    doc: "The most registers that a kernel may need.",
}];

/// The name of the pass's finding.
const MANY_REGISTERS: Code = Code::new(&CodeRow {
    name: "extension/many-registers",
    kind: Kind::Extension,
    title: "a kernel that needs more registers than it may",
    when: "A kernel needs more registers than the option `limit` says.",
    advice: None,
});

/// The pass; serde fills it with the options.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct MyPass {
    limit: u32,
}

impl Default for MyPass {
    fn default() -> Self {
        MyPass { limit: 32 }
    }
}

/// Adds the pass to those that pipelines can name.
pub fn register(registry: &mut Registry) {
    registry.register_with_options::<MyPass>();
}

impl Pass for MyPass {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "my-pass",
            summary: "Warn of kernels that need more registers than a limit",
            doc: include_str!("my_pass.rs"),
            options: OPTIONS,
            requires: Phase::Classified,
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        for function in module.functions.values() {
            let symbol = &module.symbols[function.symbol];
            if !symbol.is_entry() {
                continue;
            }
            cx.statistics.add("kernels", 1);
            if function.registers > self.limit {
                let message = format!(
                    "'{}' needs {} registers, more than {}",
                    String::from_utf8_lossy(symbol.name),
                    function.registers,
                    self.limit
                );
                let warning = Diagnostic::warning(MANY_REGISTERS, message);
                cx.diagnostics.emit(warning);
            }
        }
        Ok(Changed::No)
    }
}
