//! Code that nvlink would change: kernels that it would schedule anew, and code that it would
//! compile for the debugger [scheduled-anew].

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::Severity;
use cuweld_diagnostics::codes::deviation;
use cuweld_diagnostics::codes::mercury;
use cuweld_elf::behaviours::mercury::MATHS_RECORD_ADDED;
use cuweld_elf::mercury::capmerc::Capmerc;
use cuweld_elf::mercury::capmerc::Form;
use cuweld_elf::mercury::capmerc::INSTRUCTION;
use cuweld_elf::mercury::capmerc::Item;
use cuweld_elf::mercury::sass::Instruction;
use cuweld_elf::note_records::NOTE_TOOL_INFO;
use cuweld_elf::note_records::tool_info_strings;
use cuweld_elf::target::attributes;
use cuweld_elf::target::section_types::sht;
use cuweld_elf::toolkit::Toolkit;
use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::Note;
use cuweld_ir::Object;
use cuweld_ir::table::EntityId;

use super::Encode;
use super::Refusal;
use crate::pass::PassCx;
use crate::threads::Work;

impl Encode<'_, '_> {
    /// Reports functions whose code nvlink would change: it stays as it was compiled. Says whether
    /// the link goes on, which it does not with `strict_finalize`.
    pub(super) fn detect(&self, cx: &mut PassCx<'_, '_>) -> bool {
        // Of a link that has failed there is no code.
        let is_warning = |finding: &Diagnostic| finding.severity == Severity::Warning;
        let is_refused = self.module.options.reports.warnings_are_errors
            && cx.diagnostics.list().iter().any(is_warning);
        if is_refused || cx.diagnostics.has_errors() {
            return true;
        }
        let module = self.module;
        let link = Link {
            module,
            is_for_debugger: module.is_for_debugger(),
            has_debugger_code: module.is_for_debugger() || self.inputs.for_debugger,
            shows_errors: shows_errors(module),
            older: older_objects(module),
        };
        let functions: Vec<FunctionId> = self.functions.iter().flatten().copied().collect();
        let found =
            cx.threads
                .map_chunks(Work::Objects(functions.len()), &functions, |functions| {
                    let found = functions.iter().filter_map(|function| {
                        let (what, why) = link.change(*function)?;
                        Some(Kept {
                            function: *function,
                            what,
                            why,
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
                    kept.why
                );
                cx.diagnostics
                    .emit(Refusal::with(mercury::NEEDS_FINALIZER, what, text).diagnostic(module));
            }
            return found.is_empty();
        }
        if let Some(info) = told(module, &found) {
            cx.diagnostics.emit(info);
        }
        true
    }
}

/// A function whose code nvlink would change.
#[derive(Clone, Copy, Debug)]
struct Kept {
    function: FunctionId,
    /// What nvlink would do to it.
    what: &'static str,
    /// Why.
    why: &'static str,
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

/// Returns the one message of a link about functions that keep their code; it has a part for each
/// if there are several.
fn told(module: &Module<'_>, found: &[Kept]) -> Option<Diagnostic> {
    let info = |text: String| Diagnostic::info(deviation::KEPT_CODE, text).deviates("D12");
    let each = |kept: &Kept| {
        let (name, what, why) = (kept.name(module), kept.what, kept.why);
        info(format!(
            "{name} keeps its code, which NVIDIA's finalizer would {what}: {why}"
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
    let what = match others.iter().all(|kept| kept.what == first.what) {
        true => first.what,
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

/// What decides how nvlink makes code.
struct Link<'m, 'data> {
    module: &'m Module<'data>,
    /// Whether the link is for the debugger: nvlink then takes no barrier out and schedules nothing
    /// anew.
    is_for_debugger: bool,
    /// Whether the file has code for the debugger, by that or by an object: nvlink then compiles
    /// all of it so, with `-r` too.
    has_debugger_code: bool,
    /// Whether an object asks that errors are visible where code ends: nvlink then compiles all of
    /// it so.
    shows_errors: bool,
    /// The objects of older compilers, by index; empty if there are none.
    older: Vec<bool>,
}

impl Link<'_, '_> {
    /// Returns the change that nvlink would make to a function's code, and the reason.
    fn change(&self, function: FunctionId) -> Option<(&'static str, &'static str)> {
        const DEBUG: &str = "compile for the debugger";
        let module = self.module;
        let has_end =
            |guarded: bool| ends(module, function).any(|is_guarded| is_guarded == guarded);
        if self.has_debugger_code && has_end(false) {
            Some((DEBUG, "it has no memory barrier where it ends"))
        } else if !self.has_debugger_code && self.shows_errors && has_end(false) {
            Some((
                "compile with error barriers",
                "it has no error barrier where it ends, and another object asks for them",
            ))
        } else if !self.has_debugger_code && !self.shows_errors && has_end(true) {
            Some((
                "compile without the debugger's barriers",
                "it has a memory barrier where it ends",
            ))
        } else if self.has_debugger_code && is_unified_stub(module, function) {
            Some((DEBUG, "it is a unified stub"))
        } else if is_unified_stub(module, function)
            && module.options.relocatable
            && module.toolkit.release > Toolkit::DEFAULT.release
        {
            Some(("schedule anew", "it is a unified stub"))
        } else if is_unified_stub(module, function) && is_unoptimised(module, function) {
            Some((
                "schedule anew",
                "it is a unified stub that was compiled without optimisation",
            ))
        } else if is_of_later_compiler(module, function) {
            Some(("compile anew", "a compiler after 13.0.88 made it"))
        } else if self.is_of_older_compiler(function) {
            Some(("compile anew", "the compiler of an older toolkit made it"))
        } else if self.is_for_debugger {
            None
        } else {
            is_scheduled_anew(module, function).map(|why| ("schedule anew", why))
        }
    }

    /// Returns `true` if the compiler of an older toolkit than the link's made a function.
    fn is_of_older_compiler(&self, function: FunctionId) -> bool {
        let text = self.module.functions[function].views.sass.text;
        let object = self.module.sections[text].object;
        self.older.get(object.index()) == Some(&true)
    }
}

/// Returns `true` if a record of the file asks for error barriers where code ends
/// (`ptxas -make-errors-visible-at-exit`).
fn shows_errors(module: &Module<'_>) -> bool {
    let lists = module.merged_info.iter();
    lists
        .filter(|list| list.function.is_none())
        .flat_map(|list| &list.records)
        .any(|id| module.attributes[*id].code == attributes::GEN_ERRBAR_AT_EXIT)
}

/// Returns the objects of older toolkits than the link's, by index, where that matters: each release
/// after CUDA 13.0 makes other code of the same Mercury than the one before.
fn older_objects(module: &Module<'_>) -> Vec<bool> {
    if module.toolkit.release <= Toolkit::DEFAULT.release {
        return Vec::new();
    }
    // The patch releases of CUDA 13.2 make other code, too.
    let has_patches = module.toolkit.release == MATHS_RECORD_ADDED.since;
    let is_older = |object: &Object<'_>| {
        module.origin(object).toolkit < module.toolkit.number
            || has_patches && is_of_other_version(module.toolkit, &module.notes[object.notes])
    };
    module.objects.values().map(is_older).collect()
}

/// Returns `true` if the tool that wrote an object with these notes is of another version than a
/// toolkit.
fn is_of_other_version(toolkit: &Toolkit, notes: &[Note<'_>]) -> bool {
    let tools = notes.iter().filter(|note| note.ty == NOTE_TOOL_INFO);
    let mut strings = tools.filter_map(|note| tool_info_strings(note.desc));
    strings.any(|strings| !strings.contains(&toolkit.stamp.version.as_bytes()))
}

/// Returns for each place where a function ends the thread `true` if the debugger's barriers stand
/// before it.
fn ends<'m>(module: &'m Module<'_>, function: FunctionId) -> impl Iterator<Item = bool> + use<'m> {
    let row = &module.functions[function];
    let code = module.sections[row.views.sass.text].bytes();
    let before =
        std::iter::once(false).chain(Instruction::all(code).map(Instruction::is_error_barrier));
    Instruction::all(code)
        .zip(before)
        .filter(|(word, _)| word.is_exit())
        .map(|(_, is_guarded)| is_guarded)
}

/// Returns `true` if a function is the stub of another in the unified table, of which nvlink
/// changes control bits in a link for the debugger.
fn is_unified_stub(module: &Module<'_>, function: FunctionId) -> bool {
    let text = module.functions[function].views.sass.text;
    module.sections[text].ty == sht::CUDA_UNIFIED_FUNCTION
}

/// Returns `true` if a function was compiled without optimisation, by its first instruction.
fn is_unoptimised(module: &Module<'_>, function: FunctionId) -> bool {
    let text = module.functions[function].views.sass.text;
    let first = Instruction::all(module.sections[text].bytes()).next();
    first.is_some_and(Instruction::stalls_longest)
}

/// Returns `true` if a function has a record that nvlink 13.0.88 does not know: it makes other SASS
/// of the Mercury code, with `-r` too. Later linkers know it.
fn is_of_later_compiler(module: &Module<'_>, function: FunctionId) -> bool {
    if module.toolkit.release > Toolkit::DEFAULT.release {
        return false;
    }
    let list = module.functions[function].views.sass.info;
    let mut records = list
        .into_iter()
        .flat_map(|list| &module.attributes[module.sections[list].attributes]);
    records.any(|record| record.code == attributes::NVSAL_SW_WAR)
}

/// Returns the reason why nvlink schedules a kernel of an executable anew, if it does.
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
    if has_run(is_guarded_end) {
        return Some("it calls nothing, and has a memory barrier where it ends");
    }
    // Without optimisation each instruction has both barriers and waits for those of the one
    // before.
    let is_freed = stack.is_some_and(|word| word.write_barrier() != 7 && word.read_barrier() == 7);
    (is_freed && !has_frame).then_some("it calls nothing, and its first load has a scoreboard")
}

/// Returns the SASS that an item stands for.
fn instructions<'data>(code: &'data [u8], item: &Item<'_>) -> &'data [u8] {
    let start = item.instruction.saturating_mul(INSTRUCTION) as usize;
    let end = start.saturating_add(item.count.saturating_mul(INSTRUCTION) as usize);
    code.get(start..end).unwrap_or(&[])
}

/// Returns `true` if SASS waits for shared memory in front of a memory barrier, which ptxas writes
/// into relocatable code for barriers and for stores that release.
fn is_workaround(run: &[u8]) -> bool {
    Instruction::all(run).any(Instruction::waits_for_shared)
        && Instruction::all(run).any(Instruction::is_memory_barrier)
}

/// Returns `true` if SASS ends the thread after a memory barrier, as code for the debugger does.
fn is_guarded_end(run: &[u8]) -> bool {
    Instruction::all(run).any(Instruction::is_memory_barrier)
        && Instruction::all(run).any(Instruction::is_exit)
}
