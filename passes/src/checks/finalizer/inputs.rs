//! `finalize-inputs`: asks of every object with Mercury what NVIDIA's finalizer asks before a link.
//!
//! An object must not be finalized yet, its target has to take its code, and the version of its
//! Mercury has to be known. Code for another SM is taken as it is from sm_120 to sm_121, or where
//! its SASS runs on the target and a copy was asked for (`--opportunistic-finalization-lvl`);
//! elsewhere NVIDIA's finalizer would compile it, and the link is refused. With `--edbg 1` each
//! call is shown.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::Diagnostics;
use cuweld_diagnostics::codes::deviation;
use cuweld_diagnostics::codes::report;
use cuweld_elf::finalize::Action;
use cuweld_elf::raw::ET_EXEC;
use cuweld_ir::Module;
use cuweld_ir::Object;
use cuweld_ir::ObjectState;
use cuweld_ir::Phase;
use cuweld_ir::table::EntityId;

use super::EntryPoint;
use super::Finalizer;
use super::FinalizerConfig;
use super::FinalizerError;
use super::is_linked;
use super::off_target_message;
use super::read::Input;
use crate::analyses::Preserved;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::PassInfo;
use crate::pass::Required;
use crate::threads::Work;

/// The `finalize-inputs` pass.
#[derive(Debug, Default)]
pub struct FinalizeInputs;

impl Pass for FinalizeInputs {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "finalize-inputs",
            summary: "Ask of objects with Mercury what NVIDIA's finalizer asks before a link",
            doc: include_str!("inputs.rs"),
            requires: Phase::Lowered,
            before: Some(Phase::Classified),
            required: Required::If("mercury"),
            preserves: Preserved::All,
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        if !module.target.is_mercury() {
            return Ok(Changed::No);
        }
        let has_code = |object: &Object<'_>| {
            object.state != ObjectState::Linker
                && object.e_type != ET_EXEC
                && !object.image.is_empty()
        };
        let objects = module.objects.iter().filter(|(_, object)| has_code(object));
        let objects: Vec<_> = objects.collect();
        let work = Work::Sections(module.sections.len());
        let answers = cx.threads.map(work, &objects, |(_, object)| {
            let mut trace = Vec::new();
            let asked = ask(module, object, &mut trace);
            (trace, asked)
        });
        let mut copied = Vec::new();
        for ((id, object), (trace, asked)) in objects.into_iter().zip(answers) {
            cx.statistics.add("files", 1);
            let name = || object.display();
            if let Ok(true) = asked {
                copied.push(object);
            }
            let asked = asked.map(drop);
            emit(cx.diagnostics, trace, asked, name, id.index_u32())?;
        }
        if let Some(info) = told(module, &copied) {
            cx.diagnostics.emit(info);
        }
        Ok(Changed::No)
    }
}

/// Returns the one message of a link about objects whose code is copied for another SM.
fn told(module: &Module<'_>, copied: &[&Object<'_>]) -> Option<Diagnostic> {
    let target = module.target.sm;
    let (first, others) = copied.split_first()?;
    let info = |what: &str, sm: u16| {
        let text = format!(
            "{what} keeps its code of sm_{sm}, which NVIDIA's finalizer would compile for sm_{target}: it runs there as it is"
        );
        Diagnostic::info(deviation::KEPT_CODE, text).deviates("D15")
    };
    let each = |object: &Object<'_>| info(&format!("'{}'", object.display()), object.sm());
    if others.is_empty() {
        return Some(each(first));
    }
    let mut info = info(&format!("each of {} files", copied.len()), first.sm());
    info.parts = copied.iter().map(|object| each(object)).collect();
    Some(info)
}

/// Returns `true` if the code of an object is copied for another SM.
fn ask(
    module: &Module<'_>,
    object: &Object<'_>,
    trace: &mut Vec<String>,
) -> Result<bool, FinalizerError> {
    let target = module.target;
    if object.legacy.is_some() || object.e_flags & 3 == 0 {
        // A link with such an object is one of SASS.
        return if module.options.mercury.cap_merc {
            Err(FinalizerError::SassInput {
                target,
                input: object.display(),
            })
        } else if object.sm() != target.sm {
            let (from, to) = (object.sm(), target.sm);
            Err(FinalizerError::NeedsCompiler { from, to })
        } else {
            Ok(false)
        };
    }
    let entry = EntryPoint::of_object(object.origin);
    let config = FinalizerConfig::of_link((module.toolkit, target), entry, &module.options);
    // Only lines that trace it have its name.
    let config = match module.options.reports.trace_finalizer {
        true => config.named(object.display()),
        false => config,
    };
    let (input, action) = match Finalizer::decide(Input::of_object(object.image), &config, trace) {
        // There is nothing to make anew.
        Err(FinalizerError::NeedsCompiler { .. }) if !module.has_code(object) => return Ok(false),
        decided => decided?,
    };
    // The link says it of all of them at once.
    let said = off_target_message(input.sm, target.sm);
    trace.retain(|line| *line != said);
    config.trace_linked(|| is_linked(object.image), trace);
    config.trace_end(trace);
    Ok(action == Action::Copy)
}

/// Emits what a call of the finalizer had to say.
pub(super) fn emit(
    diagnostics: &mut Diagnostics,
    trace: Vec<String>,
    asked: Result<(), FinalizerError>,
    name: impl Fn() -> String,
    position: u32,
) -> Result<(), PassError> {
    for line in trace {
        let diagnostic = if line.starts_with("[Finalizer]") {
            Diagnostic::info(report::FINALIZER, line)
        } else {
            Diagnostic::report(line)
        };
        diagnostics.emit(diagnostic.at(position, 0));
    }
    let Err(error) = asked else {
        return Ok(());
    };
    let mut fatal =
        Diagnostic::fatal(error.diagnostic_code(), error.nvlinks_message(&name())).at(position, 0);
    if let FinalizerError::NeedsCompiler { from, to } = error {
        fatal = fatal.note(format!(
            "'{}' does not say that its code for sm_{from} runs on sm_{to} as it is",
            name()
        ));
        fatal = fatal.help(format!("compile it for sm_{to} too, or leave PTX in it"));
    } else {
        fatal.notes = error.notes();
    }
    diagnostics.emit(fatal);
    Err(PassError::Diagnosed)
}
