//! Code that nvlink would change: kernels that it would schedule anew, and code that it would
//! compile for the debugger or of its own accord [scheduled-anew].

use std::cell::LazyCell;

use cuweld_elf::behaviours::mercury::MATHS_RECORD_ADDED;
use cuweld_elf::mercury::capmerc::Capmerc;
use cuweld_elf::mercury::capmerc::Form;
use cuweld_elf::mercury::capmerc::INSTRUCTION;
use cuweld_elf::mercury::capmerc::Item;
use cuweld_elf::mercury::edit::Needless;
use cuweld_elf::mercury::register_ranges::REGISTER_RANGES;
use cuweld_elf::note_records::NOTE_TOOL_INFO;
use cuweld_elf::note_records::tool_info_strings;
use cuweld_elf::sass::Instruction;
use cuweld_elf::sass::operands::File;
use cuweld_elf::sass::operands::Generation;
use cuweld_elf::sass::operands::Operands;
use cuweld_elf::target::attributes;
use cuweld_elf::target::section_types::sht;
use cuweld_elf::toolkit::Toolkit;
use cuweld_ir::Function;
use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::Note;
use cuweld_ir::Object;
use cuweld_ir::Remade;
use cuweld_ir::table::EntityId;

use super::Analyses;
use super::Analysis;

/// What nvlink does to code in a link for the debugger.
const DEBUG: &str = "compile for the debugger";

/// What nvlink would do to the code of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeChange {
    /// Schedule it anew: it is a kernel that calls nothing, and its first load has a scoreboard that
    /// nothing waits for.
    FirstLoad,
    /// Schedule it anew: it is a kernel that calls nothing, and has what memory barriers need beside
    /// other code alone.
    WorkAround,
    /// Schedule it anew: it is a kernel that calls nothing, and has the memory barrier that code for
    /// the debugger has where it ends.
    GuardedEnd,
    /// Compile it for the debugger: barriers stand in front of its ends.
    Debugger,
    /// Compile it with the same barriers, so that errors are visible where it ends.
    ErrorBarriers,
    /// Another change.
    Other {
        /// What nvlink would do.
        what: &'static str,
        /// Why.
        why: &'static str,
    },
}

impl CodeChange {
    /// Returns `true` if barriers are put where the code ends.
    pub fn guards_ends(self) -> bool {
        matches!(self, CodeChange::Debugger | CodeChange::ErrorBarriers)
    }

    /// Says what nvlink would do: a verb.
    pub fn what(self) -> &'static str {
        match self {
            CodeChange::FirstLoad | CodeChange::WorkAround | CodeChange::GuardedEnd => {
                "schedule anew"
            }
            CodeChange::Debugger => DEBUG,
            CodeChange::ErrorBarriers => "compile with error barriers",
            CodeChange::Other { what, .. } => what,
        }
    }

    /// Says why.
    pub fn why(self) -> &'static str {
        match self {
            CodeChange::FirstLoad => "it calls nothing, and its first load has a scoreboard",
            CodeChange::WorkAround => "it calls nothing, and has a work-around at a memory barrier",
            CodeChange::GuardedEnd => "it calls nothing, and has a memory barrier where it ends",
            CodeChange::Debugger => "it has no memory barrier where it ends",
            CodeChange::ErrorBarriers => {
                "it has no error barrier where it ends, and another object asks for them"
            }
            CodeChange::Other { why, .. } => why,
        }
    }
}

/// What decides how nvlink makes the code of a link with Mercury whose attribute lists are merged.
#[derive(PartialEq, Eq)]
pub struct CodeChanges {
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

impl Analysis for CodeChanges {
    fn compute(module: &Module<'_>, _: &Analyses) -> Self {
        let is_for_debugger = module.is_for_debugger();
        CodeChanges {
            is_for_debugger,
            has_debugger_code: is_for_debugger || has_debugger_objects(module),
            shows_errors: shows_errors(module),
            older: older_objects(module),
        }
    }

    fn equals(&self, other: &Self) -> Option<bool> {
        Some(self == other)
    }
}

impl CodeChanges {
    /// Returns `true` if nvlink compiles all code of the file for the debugger.
    pub fn has_debugger_code(&self) -> bool {
        self.has_debugger_code
    }

    /// Returns `true` if nvlink puts barriers where any code of the file ends.
    pub fn guards_ends(&self) -> bool {
        self.has_debugger_code || self.shows_errors
    }

    /// Returns `true` if nvlink takes out of a function what memory barriers need beside other code
    /// alone: it is a kernel of an executable that calls nothing, and not for the debugger.
    pub fn thins_fences(&self, module: &Module<'_>, function: FunctionId) -> bool {
        !self.is_for_debugger && calls_nothing(module, function)
    }

    /// Returns the change that nvlink would make to a function's code.
    pub fn of(&self, module: &Module<'_>, function: FunctionId) -> Option<CodeChange> {
        let other = |what, why| Some(CodeChange::Other { what, why });
        let has_end =
            |guarded: bool| ends(module, function).any(|is_guarded| is_guarded == guarded);
        // Ends that were made anew are as nvlink makes them.
        let is_remade = module.functions[function].remade != Remade::No;
        // What it is made of has another form: no rule of the debugger is known for it.
        let is_of_first_version = module.toolkit.release <= Toolkit::DEFAULT.release
            && self.is_of_older_compiler(module, function);
        if is_of_first_version {
            other("compile anew", "a compiler before 13.0 made it")
        } else if !is_remade && self.has_debugger_code && has_end(false) {
            Some(CodeChange::Debugger)
        } else if !is_remade && !self.has_debugger_code && self.shows_errors && has_end(false) {
            Some(CodeChange::ErrorBarriers)
        } else if !self.has_debugger_code && !self.shows_errors && has_end(true) {
            other(
                "compile without the debugger's barriers",
                "it has a memory barrier where it ends",
            )
        } else if self.has_debugger_code && is_unified_stub(module, function) {
            other(DEBUG, "it is a unified stub")
        } else if is_unified_stub(module, function)
            && module.options.relocatable
            && module.toolkit.release > Toolkit::DEFAULT.release
        {
            other("schedule anew", "it is a unified stub")
        } else if is_unified_stub(module, function) && is_unoptimised(module, function) {
            other(
                "schedule anew",
                "it is a unified stub that was compiled without optimisation",
            )
        } else if is_of_later_compiler(module, function) {
            other("compile anew", "a compiler after 13.0.88 made it")
        } else if self.is_of_older_compiler(module, function) {
            other("compile anew", "the compiler of an older toolkit made it")
        } else if self.is_for_debugger {
            None
        } else {
            is_scheduled_anew(module, function)
        }
    }

    /// Returns `true` if the compiler of an older toolkit than the link's made a function.
    fn is_of_older_compiler(&self, module: &Module<'_>, function: FunctionId) -> bool {
        let text = module.functions[function].views.sass.text;
        let object = module.sections[text].object;
        self.older.get(object.index()) == Some(&true)
    }
}

/// Returns `true` if an object that takes part has code for the debugger.
fn has_debugger_objects(module: &Module<'_>) -> bool {
    let objects = module.objects.values();
    let included = objects.filter(|object| object.state.is_included());
    let mut sections = included.flat_map(|object| &module.sections[object.sections]);
    sections.any(|section| section.name == REGISTER_RANGES && section.size() != 0)
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
        return objects_before_mercury(module);
    }
    // The patch releases of CUDA 13.2 make other code, too.
    let has_patches = module.toolkit.release == MATHS_RECORD_ADDED.since;
    let is_older = |object: &Object<'_>| {
        module.origin(object).toolkit < module.toolkit.number
            || has_patches && is_of_other_version(module.toolkit, &module.notes[object.notes])
    };
    module.objects.values().map(is_older).collect()
}

/// Returns the objects of compilers before 13.0, by index; empty if there are none.
fn objects_before_mercury(module: &Module<'_>) -> Vec<bool> {
    let objects = module.objects.values();
    let older: Vec<bool> = objects
        .map(|object| {
            let functions = &module.functions[object.functions];
            functions
                .iter()
                .any(|function| names_no_mercury_version(module, function))
        })
        .collect();
    match older.contains(&true) {
        true => older,
        false => Vec::new(),
    }
}

/// Returns `true` if a function has Mercury and names no version of it, as compilers before 13.0
/// make functions [mercury-version-added].
pub(crate) fn names_no_mercury_version(module: &Module<'_>, function: &Function) -> bool {
    let list = function.views.merc.and_then(|view| view.info);
    list.is_some_and(|list| {
        let records = &module.attributes[module.sections[list].attributes];
        !(records.iter()).any(|record| record.code == attributes::MERCURY_ISA_VERSION)
    })
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
    let mut before = [Instruction(0); 3];
    Instruction::all(code).filter_map(move |word| {
        let [fence, _, errors] = before;
        before = [before[1], before[2], word];
        let is_guarded = fence.is_end_barrier() && errors.is_error_barrier();
        word.is_exit().then_some(is_guarded)
    })
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

/// Returns `true` if a function is a kernel of an executable that calls nothing.
fn calls_nothing(module: &Module<'_>, function: FunctionId) -> bool {
    let row = &module.functions[function];
    let code = module.sections[row.views.sass.text].bytes();
    !module.options.relocatable
        && module.symbols[row.symbol].is_entry()
        && !Instruction::all(code).any(Instruction::is_call)
}

/// Returns the change of a kernel of an executable that nvlink schedules anew.
fn is_scheduled_anew(module: &Module<'_>, function: FunctionId) -> Option<CodeChange> {
    if !calls_nothing(module, function) {
        return None;
    }
    let row = &module.functions[function];
    let code = module.sections[row.views.sass.text].bytes();
    let merc = module.sections[row.views.merc?.text].bytes();
    let capmerc = Capmerc::parse(merc).ok()?;
    let has_run = |is_such: &dyn Fn(&[u8]) -> bool| {
        capmerc.marked().any(|item| {
            matches!(item.form, Form::Run(Some(_))) && is_such(instructions(code, &item))
        })
    };
    let kinds = [
        (is_workaround as fn(&[u8]) -> bool, CodeChange::WorkAround),
        (is_guarded_end, CodeChange::GuardedEnd),
    ];
    let needless = LazyCell::new(|| Needless::of(code, &capmerc));
    for (is_kind, change) in kinds {
        if has_run(&|run| is_kind(run) && needless.is_in(run)) {
            return Some(change);
        }
    }
    frees_first_load(code).then_some(CodeChange::FirstLoad)
}

/// Returns `true` if nothing in the code of a kernel waits for its first load, of the stack pointer,
/// although that has a scoreboard.
pub(crate) fn frees_first_load(code: &[u8]) -> bool {
    let mut words = Instruction::all(code);
    let first = words.find(|word| word.loads_stack_pointer());
    // Without optimisation each instruction has both barriers and waits for those of the one
    // before.
    first.is_some_and(|word| word.write_barrier() != 7 && word.read_barrier() == 7)
        && !Instruction::all(code).any(Instruction::moves_stack_pointer)
        && !needs_stack_pointer(code)
}

/// Returns `true` if an instruction is known to read the stack pointer, such as a store to an address
/// in R0 and R1 whose upper half was never written.
fn needs_stack_pointer(code: &[u8]) -> bool {
    let operands = Instruction::all(code).filter_map(|word| Operands::of(Generation::Sm100, word));
    let mut used = operands.map(|operands| operands.used);
    used.any(|used| used.has(File::General, 1))
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
