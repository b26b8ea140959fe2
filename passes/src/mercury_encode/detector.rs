//! Code that nvlink would change: kernels that it would schedule anew, and code that it would compile for the debugger
//! (`mercury.md` section 4).

use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::mercury::capmerc::Capmerc;
use cuweld_ir::mercury::capmerc::Form;
use cuweld_ir::mercury::capmerc::INSTRUCTION;
use cuweld_ir::mercury::capmerc::Item;
use cuweld_ir::mercury::sass::Instruction;
use cuweld_ir::target::attributes;
use cuweld_ir::target::section_types::sht;

use super::Encode;
use super::Refusal;
use super::contents::in_parts;
use crate::diagnostic::Diagnostic;
use crate::diagnostic::Severity;
use crate::pass::PassCx;

impl Encode<'_, '_> {
    /// Reports functions whose code nvlink would change: it stays as it was compiled. Says whether the link goes on, which it
    /// does not with `strict_finalize`.
    pub(super) fn detect(&self, cx: &mut PassCx<'_, '_>) -> bool {
        // Of a link that has failed there is no code.
        let is_warning = |finding: &Diagnostic| finding.severity == Severity::Warning;
        let is_refused =
            self.module.options.warnings_are_errors && cx.diagnostics.list().iter().any(is_warning);
        if is_refused || cx.diagnostics.has_errors() {
            return true;
        }
        // nvlink compiles all code for the debugger, with `-r` too, if some of it is, or `-g` says so (measured).
        let module = self.module;
        let for_debugger = module.options.debug || self.inputs.for_debugger;
        let functions: Vec<FunctionId> = self.functions.iter().flatten().copied().collect();
        let found = in_parts(cx.threads, &functions, |functions| {
            let found = functions.iter().filter_map(|function| {
                let (what, why) = change(module, *function, for_debugger)?;
                Some((*function, what, why))
            });
            found.collect::<Vec<_>>()
        });
        let mut goes_on = true;
        for (function, what, why) in found.into_iter().flatten() {
            let symbol = &module.symbols[module.functions[function].symbol];
            let kind = if symbol.is_entry() {
                "kernel"
            } else {
                "function"
            };
            let name = String::from_utf8_lossy(symbol.name);
            if self.module.options.strict_finalize {
                let text = module.functions[function].views.sass.text;
                let what = format!("{kind} '{name}' needs NVIDIA's finalizer: {why}");
                cx.diagnostics
                    .emit(Refusal::new(what, text).diagnostic(self.module));
                goes_on = false;
            } else {
                let what = format!(
                    "{kind} '{name}' keeps its code, which NVIDIA's finalizer would {what}: {why}"
                );
                let mut info = Diagnostic::new(Severity::Info, what);
                info.deviation = Some("D12");
                cx.diagnostics.emit(info);
            }
        }
        goes_on
    }
}

/// What nvlink would do to a function's code, and why.
fn change(
    module: &Module<'_>,
    function: FunctionId,
    for_debugger: bool,
) -> Option<(&'static str, &'static str)> {
    const DEBUG: &str = "compile for the debugger";
    if for_debugger && ends_without_barrier(module, function) {
        Some((DEBUG, "it has no memory barrier where it ends"))
    } else if for_debugger && is_unified_stub(module, function) {
        Some((DEBUG, "it is a unified stub"))
    } else if is_of_later_compiler(module, function) {
        Some(("compile anew", "a compiler after 13.0.88 made it"))
    } else {
        is_scheduled_anew(module, function).map(|why| ("schedule anew", why))
    }
}

/// Whether nvlink puts memory barriers in front of an end of the function in a link for the debugger.
fn ends_without_barrier(module: &Module<'_>, function: FunctionId) -> bool {
    let row = &module.functions[function];
    let code = module.sections[row.views.sass.text].bytes();
    let before =
        std::iter::once(false).chain(Instruction::all(code).map(Instruction::is_error_barrier));
    Instruction::all(code)
        .zip(before)
        .any(|(word, has_barrier)| word.is_exit() && !has_barrier)
}

/// Whether a function is the stub of another in the unified table, of which nvlink changes control bits in a link for the
/// debugger.
fn is_unified_stub(module: &Module<'_>, function: FunctionId) -> bool {
    let text = module.functions[function].views.sass.text;
    module.sections[text].ty == sht::CUDA_UNIFIED_FUNCTION
}

/// Whether a function has a record that nvlink 13.0.88 does not know: it makes other SASS of the Mercury code, with `-r` too.
fn is_of_later_compiler(module: &Module<'_>, function: FunctionId) -> bool {
    let list = module.functions[function].views.sass.info;
    let mut records = list
        .into_iter()
        .flat_map(|list| &module.attributes[module.sections[list].attributes]);
    records.any(|record| record.code == attributes::AFTER_13_0_88)
}

/// Why nvlink schedules a kernel of an executable anew, if it does.
fn is_scheduled_anew(module: &Module<'_>, function: FunctionId) -> Option<&'static str> {
    let row = &module.functions[function];
    if module.options.relocatable || !module.symbols[row.symbol].is_entry() {
        return None;
    }
    let code = module.sections[row.views.sass.text].bytes();
    let (mut has_frame, mut stack) = (false, None);
    for word in Instruction::all(code) {
        if word.is_call() {
            return None;
        }
        has_frame |= word.moves_stack_pointer();
        if stack.is_none() && word.loads_stack_pointer() {
            stack = Some(word);
        }
    }
    let merc = module.sections[row.views.merc?.text].bytes();
    let capmerc = Capmerc::parse(merc).ok()?;
    let has_run = |is_such: fn(&[u8]) -> bool| {
        capmerc.marked().any(|item| {
            matches!(item.form, Form::Run(Some(_))) && is_such(instructions(code, &item))
        })
    };
    if has_run(is_workaround) {
        return Some("it calls nothing, and has a work-around at a memory barrier");
    }
    // `-g` keeps the barriers (measured).
    if !module.options.debug && has_run(is_guarded_end) {
        return Some("it calls nothing, and has a memory barrier where it ends");
    }
    // Without optimisation each instruction has both barriers and waits for those of the one before.
    let is_freed = stack.is_some_and(|word| word.write_barrier() != 7 && word.read_barrier() == 7);
    (is_freed && !has_frame).then_some("it calls nothing, and its first load has a scoreboard")
}

/// The SASS that an item stands for.
fn instructions<'data>(code: &'data [u8], item: &Item<'_>) -> &'data [u8] {
    let start = item.instruction.saturating_mul(INSTRUCTION) as usize;
    let end = start.saturating_add(item.count.saturating_mul(INSTRUCTION) as usize);
    code.get(start..end).unwrap_or(&[])
}

/// Whether SASS waits for shared memory in front of a memory barrier, which ptxas writes into relocatable code for barriers and
/// for stores that release.
fn is_workaround(run: &[u8]) -> bool {
    Instruction::all(run).any(Instruction::waits_for_shared)
        && Instruction::all(run).any(Instruction::is_memory_barrier)
}

/// Whether SASS ends the thread behind a memory barrier, as code for the debugger does.
fn is_guarded_end(run: &[u8]) -> bool {
    Instruction::all(run).any(Instruction::is_memory_barrier)
        && Instruction::all(run).any(Instruction::is_exit)
}
