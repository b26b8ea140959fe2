//! `check-registers`: refuses kernels that need more registers than a limit, so that a build notices
//! before the profiler does.
//!
//! A kernel needs as many registers as the greediest function that it can reach; that function is named.

use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_passes::Changed;
use cuweld_passes::Code;
use cuweld_passes::CodeRow;
use cuweld_passes::Diagnostic;
use cuweld_passes::Kind;
use cuweld_passes::Pass;
use cuweld_passes::PassCx;
use cuweld_passes::PassError;
use cuweld_passes::PassInfo;
use cuweld_passes::Remark;
use cuweld_passes::RemarkInfo;
use cuweld_passes::analyses::Analyses;
use cuweld_passes::analyses::Analysis;
use cuweld_passes::analyses::CallGraph;
use cuweld_passes::analyses::LiveFunctions;
use cuweld_passes::options::OptionInfo;
use cuweld_passes::options::OptionType;
use cuweld_passes::registry::Registry;
use serde::Deserialize;

const OPTIONS: &[OptionInfo] = &[OptionInfo {
    name: "limit",
    ty: OptionType::Integer,
    default: "255",
    doc: "The most registers that a kernel may need.",
}];

/// The name of the pass's finding.
const TOO_MANY_REGISTERS: Code = Code::new(&CodeRow {
    name: "extension/too-many-registers",
    kind: Kind::Extension,
    title: "a kernel that needs more registers than it may",
    when: "A kernel or a function that it reaches needs more registers than the option `limit` says.",
    advice: None,
});

const WITHIN: RemarkInfo = RemarkInfo {
    name: "within",
    doc: "A kernel needs no more registers than the limit",
};

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct CheckRegisters {
    limit: u32,
}

impl Default for CheckRegisters {
    fn default() -> Self {
        CheckRegisters { limit: 255 }
    }
}

/// Adds the pass.
pub fn register(registry: &mut Registry) {
    registry.register_with_options::<CheckRegisters>();
}

impl Pass for CheckRegisters {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "check-registers",
            summary: "Refuse kernels that need more registers than a limit",
            doc: include_str!("check_registers.rs"),
            options: OPTIONS,
            requires: Phase::Live,
            remarks: &[WITHIN],
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        for &(kernel, greediest) in &cx.analyses.get::<Greediest>(module).kernels {
            let registers = module.functions[greediest].registers;
            cx.statistics.add("kernels", 1);
            if registers <= self.limit {
                // Shown with `--remarks`; not made without.
                cx.remarks.emit(|| {
                    Remark::about(&WITHIN, kernel)
                        .words(" needs ")
                        .argument("registers", registers)
                        .words(" registers of ")
                        .argument("limit", self.limit)
                        .words(", for ")
                        .argument("greediest", greediest)
                });
                continue;
            }
            let name =
                |function| String::from_utf8_lossy(module.function_name(function)).into_owned();
            let message = format!(
                "kernel '{}' needs {registers} registers, more than {}",
                name(kernel),
                self.limit
            );
            let mut diagnostic = Diagnostic::error(TOO_MANY_REGISTERS, message);
            if greediest != kernel {
                diagnostic =
                    diagnostic.note(format!("for '{}', which it reaches", name(greediest)));
            }
            cx.diagnostics.emit(diagnostic);
        }
        // An error fails the link, and yet it goes on, to find more.
        Ok(Changed::No)
    }
}

/// The live kernels, each with the function of all that it reaches that needs the most registers.
///
/// As an analysis it is computed once for all passes that ask for it, until one changes the module.
#[derive(PartialEq, Eq)]
struct Greediest {
    kernels: Vec<(FunctionId, FunctionId)>,
}

impl Analysis for Greediest {
    fn compute(module: &Module<'_>, analyses: &Analyses) -> Self {
        let graph = analyses.get::<CallGraph>(module);
        let live = analyses.get::<LiveFunctions>(module);
        let kernels = live.kernels.iter().map(|&(link, kernel)| {
            let reached = (0..)
                .zip(graph.reach([link]))
                .filter(|(_, reached)| *reached);
            let greediest = reached
                .filter_map(|(node, _)| module.link_function(graph.link_symbol(node)?))
                .max_by_key(|function| module.functions[*function].registers)
                .unwrap_or(kernel);
            (kernel, greediest)
        });
        Greediest {
            kernels: kernels.collect(),
        }
    }

    // What `--verify-each` compares.
    fn equals(&self, other: &Self) -> Option<bool> {
        Some(self == other)
    }
}
