//! Tells which functions keep code that nvlink would change [scheduled-anew], and which were made
//! anew.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::Severity;
use cuweld_diagnostics::codes::deviation;
use cuweld_diagnostics::codes::mercury;
use cuweld_ir::Finalize;
use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::Remade;

use super::Encode;
use super::Refusal;
use crate::analyses::code_changes::CodeChange;
use crate::analyses::code_changes::CodeChanges;
use crate::pass::PassCx;
use crate::remark::Remark;
use crate::remark::RemarkInfo;
use crate::threads::Work;

/// A function keeps code that nvlink would change.
pub(super) const KEPT_CODE: RemarkInfo = RemarkInfo {
    name: "kept-code",
    doc: "A function keeps the code of its object, which NVIDIA's finalizer would change",
};

impl Encode<'_, '_> {
    /// Reports functions whose code nvlink would change: it stays as it was compiled. Says whether
    /// the link goes on, which it does not with `strict_finalize`.
    pub(super) fn detect(&self, cx: &mut PassCx<'_, '_>) -> bool {
        // Of a link that has failed there is no code.
        let is_warning = |finding: &Diagnostic| finding.severity == Severity::Warning;
        let is_refused = self.module.options.reports.warnings_are_errors
            && (self.module.findings.list().iter())
                .chain(cx.diagnostics.list())
                .any(is_warning);
        if is_refused || self.module.findings.has_errors() || cx.diagnostics.has_errors() {
            return true;
        }
        let module = self.module;
        let changes = cx.analyses.get::<CodeChanges>(module);
        let functions: Vec<FunctionId> = self.functions.iter().flatten().copied().collect();
        let found =
            cx.threads
                .map_chunks(Work::Objects(functions.len()), &functions, |functions| {
                    let found = functions.iter().filter_map(|function| {
                        let change = changes.of(module, *function)?;
                        Some(Kept {
                            function: *function,
                            change,
                        })
                    });
                    found.collect::<Vec<_>>()
                });
        let found: Vec<Kept> = found.into_iter().flatten().collect();
        if module.options.mercury.strict {
            for kept in &found {
                let text = module.functions[kept.function].views.sass.text;
                let what = format!(
                    "{} needs NVIDIA's finalizer: {}",
                    kept.name(module),
                    kept.change.why()
                );
                cx.diagnostics
                    .emit(Refusal::with(mercury::NEEDS_FINALIZER, what, text).diagnostic(module));
            }
            return found.is_empty();
        }
        for kept in &found {
            cx.remarks.emit(|| {
                Remark::about(&KEPT_CODE, kept.function)
                    .words(" keeps its code, which NVIDIA's finalizer would ")
                    .argument("change", kept.change.what())
                    .words(": ")
                    .argument("reason", kept.change.why())
            });
        }
        let guarded = match changes.has_debugger_code() {
            true => "compiled for the debugger",
            false => "compiled with error barriers",
        };
        let made = [
            (
                Remade::Scheduled,
                ["kernel", "scheduled anew"],
                match module.options.mercury.finalize {
                    Finalize::Trust => "that may not give the schedule of the object",
                    _ => "that give the schedule of the object, too",
                },
            ),
            (
                Remade::ForDebugger,
                ["function", guarded],
                "of barriers where code ends",
            ),
        ];
        let made = made.map(|(how, words, rules)| told_made(module, how, words, rules));
        for info in made.into_iter().flatten().chain(told(module, &found)) {
            cx.diagnostics.emit(info);
        }
        true
    }
}

/// A function whose code nvlink would change.
#[derive(Clone, Copy, Debug)]
struct Kept {
    function: FunctionId,
    change: CodeChange,
}

impl Kept {
    fn is_kernel(&self, module: &Module<'_>) -> bool {
        module.symbols[module.functions[self.function].symbol].is_entry()
    }

    fn name(&self, module: &Module<'_>) -> String {
        let name = module.symbols[module.functions[self.function].symbol].name;
        let kind = match self.is_kernel(module) {
            true => "kernel",
            false => "function",
        };
        format!("{kind} '{}'", String::from_utf8_lossy(name))
    }
}

/// Returns the one message of a link about functions that were made anew in some way (deviation D31).
fn told_made(
    module: &Module<'_>,
    how: Remade,
    [kind, what]: [&str; 2],
    rules: &str,
) -> Option<Diagnostic> {
    let functions = module.functions.iter();
    let mut made = functions.filter(|(_, row)| row.remade == how);
    let (first, _) = made.next()?;
    let first = String::from_utf8_lossy(module.function_name(first));
    let text = match made.count() {
        0 => format!("{kind} '{first}' is {what}"),
        others => format!("{} {kind}s are {what}, the first is '{first}'", others + 1),
    };
    let text = format!("{text}, by measured rules {rules}");
    Some(Diagnostic::info(deviation::SCHEDULED, text).deviates("D31"))
}

/// Returns the one message of a link about functions that keep their code; it has a part for each
/// if there are several.
fn told(module: &Module<'_>, found: &[Kept]) -> Option<Diagnostic> {
    let info = |text: String| Diagnostic::info(deviation::KEPT_CODE, text).deviates("D12");
    let each = |kept: &Kept| {
        let (name, change) = (kept.name(module), kept.change);
        info(format!(
            "{name} keeps its code, which NVIDIA's finalizer would {}: {}",
            change.what(),
            change.why()
        ))
    };
    let (first, others) = found.split_first()?;
    if others.is_empty() {
        return Some(each(first));
    }
    let kernels = found.iter().filter(|kept| kept.is_kernel(module)).count();
    let counted = |count: usize, word: &str| match count {
        0 => None,
        1 => Some(format!("1 {word}")),
        _ => Some(format!("{count} {word}s")),
    };
    let counts = [
        counted(kernels, "kernel"),
        counted(found.len() - kernels, "function"),
    ];
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    let first = first.change.what();
    let what = match others.iter().all(|kept| kept.change.what() == first) {
        true => first,
        false => "change",
    };
    let text = format!(
        "each of {} keeps its code, which NVIDIA's finalizer would {what}",
        counts.join(" and ")
    );
    let mut info = info(text)
        .help("`--cuweld-explain=all` (`cuweld link --explain all`) names each and says why");
    info.parts = found.iter().map(each).collect();
    Some(info)
}
