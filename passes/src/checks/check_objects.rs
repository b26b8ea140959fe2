//! `check-objects`: whether each object may be linked: made for the link's architecture, by a
//! toolkit that this linker knows.
//!
//! What an object's header, notes and `.nv.compat` say is compared with the target and with the
//! objects before it: after an EWP object, all have to be of the current toolkit
//! [whole-program-lock]; after one with Mercury, SASS is judged as Mercury is. Executables are
//! passed over: they take no part.
//!
//! nvlink judges an object as it reads it. What is said of one therefore comes before what is said
//! of later inputs, and the first that may not be linked ends the link.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::Diagnostics;
use cuweld_diagnostics::NvlinkPhase;
use cuweld_diagnostics::codes::deviation;
use cuweld_diagnostics::codes::input;
use cuweld_diagnostics::codes::unsupported;
use cuweld_elf::Target;
use cuweld_elf::finalize::can_finalize;
use cuweld_elf::raw::ET_EWP;
use cuweld_elf::raw::ET_EXEC;
use cuweld_elf::toolkit::Toolkit;
use cuweld_elf::validate::ArchitectureError;
use cuweld_elf::validate::ObjectFacts;
use cuweld_elf::validate::validate_architecture;
use cuweld_ir::Module;
use cuweld_ir::Note;
use cuweld_ir::Object;
use cuweld_ir::ObjectId;
use cuweld_ir::ObjectState;
use cuweld_ir::Phase;
use cuweld_ir::Section;
use cuweld_ir::origin::origin;
use cuweld_ir::table::EntityId;

use crate::analyses::Preserved;
use crate::analyses::finalizer_profile;
use crate::analyses::is_specific;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::PassInfo;
use crate::pass::Required;
use crate::threads::Work;

/// The `check-objects` pass.
#[derive(Debug, Default)]
pub struct CheckObjects;

impl Pass for CheckObjects {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "check-objects",
            summary: "Refuse objects of another architecture, or of a toolkit that is not linked",
            doc: include_str!("check_objects.rs"),
            requires: Phase::Lowered,
            before: Some(Phase::Classified),
            required: Required::Always,
            preserves: Preserved::All,
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        if let Some(finding) = older_toolkit(module) {
            cx.diagnostics.emit(finding);
        }
        let mut before = Before::default();
        let mut newer = Newer::default();
        let objects = module.objects.values().as_slice();
        let work = Work::Objects(objects.len());
        let facts = cx
            .threads
            .map(work, objects, |object| facts_of(module, object));
        for ((id, object), facts) in module.objects.iter().zip(facts) {
            if object.state == ObjectState::Linker || object.e_type == ET_EXEC {
                continue;
            }
            cx.statistics.add("objects", 1);
            let mut findings = Vec::new();
            let facts = newer.bring_down(module, id, facts);
            let checked = check(module, (object, facts), &mut before, &mut findings);
            for finding in findings {
                emit(cx.diagnostics, finding, id.index_u32());
            }
            if let Err(fatal) = checked {
                emit(cx.diagnostics, fatal, id.index_u32());
                return Err(PassError::Diagnosed);
            }
        }
        if let Some(finding) = newer.finding(module) {
            cx.diagnostics.emit(finding);
        }
        if before.sass && module.toolkit.release > Toolkit::DEFAULT.release {
            let finding = newer_finalizer(module);
            cx.diagnostics.emit(finding);
        }
        // An input that could not be read ends the link, too, and so does a warning that is an
        // error.
        let ends = |finding: &Diagnostic| module.ends_with(finding);
        match module.has_ended() || cx.diagnostics.list().iter().any(ends) {
            true => Err(PassError::Diagnosed),
            false => Ok(Changed::No),
        }
    }
}

/// Returns `true` if an object is of a newer toolkit than a link may have, given the object's own
/// rows and the number of the newest toolkit ([`newest_accepted`]): no later input is looked at then.
pub fn is_too_new(
    object: &Object<'_>,
    (sections, notes): (&[Section<'_>], &[Note<'_>]),
    newest: u32,
) -> bool {
    object.e_type != ET_EXEC && origin(object, sections, notes).toolkit > newest
}

/// Returns the number of the newest toolkit whose objects are linked: the link's own, or the last of
/// its major version if newer ones are accepted.
pub fn newest_accepted(toolkit: &Toolkit, accept_newer: bool) -> u32 {
    let major = toolkit.number / 10 * 10;
    match accept_newer {
        true => major + 9,
        false => toolkit.number,
    }
}

/// Objects of toolkits that are newer than all that are known.
#[derive(Default)]
struct Newer {
    /// The first one, and its toolkit.
    first: Option<(ObjectId, u32)>,
    count: usize,
}

impl Newer {
    /// Has an object that is accepted although it is newer pass for one of the link's toolkit.
    fn bring_down(&mut self, module: &Module<'_>, id: ObjectId, facts: ObjectFacts) -> ObjectFacts {
        let toolkit = module.toolkit;
        let newest = newest_accepted(toolkit, module.options.accept_newer);
        if facts.toolkit <= toolkit.number || facts.toolkit > newest {
            return facts;
        }
        self.first.get_or_insert((id, facts.toolkit));
        self.count += 1;
        ObjectFacts {
            toolkit: toolkit.number,
            ..facts
        }
    }

    /// Says which objects those are.
    fn finding(&self, module: &Module<'_>) -> Option<Diagnostic> {
        let (first, number) = self.first?;
        let name = module.objects[first].display();
        let more = match self.count {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        let note = Diagnostic::remark(
            deviation::NEWER_TOOLKIT,
            format!(
                "'{name}'{more}: of toolkit {}.{}, linked as {} would link objects of its own",
                number / 10,
                number % 10,
                module.toolkit.linker()
            ),
        );
        Some(note.deviates("D27"))
    }
}

/// Emits a finding about an object, after those about its file from while it was read.
fn emit(diagnostics: &mut Diagnostics, finding: Diagnostic, object: u32) {
    let finding = finding.of_phase(NvlinkPhase::Inputs);
    diagnostics.emit(finding.at(object, u32::MAX));
}

/// Which objects came before the one that is judged.
#[derive(Default)]
struct Before {
    ewp: bool,
    mercury: bool,
    sass: bool,
}

/// Judges an object. What nvlink only warns of comes into `findings`; the error ends the link.
fn check(
    module: &Module<'_>,
    (object, facts): (&Object<'_>, ObjectFacts),
    before: &mut Before,
    findings: &mut Vec<Diagnostic>,
) -> Result<(), Diagnostic> {
    let facts = ObjectFacts {
        after_mercury: before.mercury,
        after_ewp: before.ewp,
        ..facts
    };
    let is_mercury = module.target.is_mercury();
    if facts.lacks_64bit_flag() {
        let name = object.display();
        findings.push(Diagnostic::warning(
            input::ADDRESS_FLAG,
            format!("expected 64bit object '{name}' to have EF_CUDA_64BIT_ADDRESS set"),
        ));
    }
    if is_mercury && module.options.reports.trace_compatibility {
        findings.push(compatibility(module, object, &facts));
    }
    let is_sass = is_mercury && facts.is_sass_alone();
    let validated = validate_architecture(&facts, (module.toolkit, module.target));
    let is_limited = match validated {
        Ok(()) => !before.sass,
        Err(error) => matches!(
            error,
            ArchitectureError::Sm { .. } | ArchitectureError::Specific
        ),
    };
    if is_sass && is_limited {
        findings.push(limited(object, module.target));
    }
    validated.map_err(|error| misfit(object, error, &facts, module.target))?;
    before.sass |= is_sass;
    before.mercury |= !facts.is_sass_alone();
    before.ewp |= facts.e_type == ET_EWP;
    Ok(())
}

/// Gathers the facts about an object from its rows, as if it were the first one.
fn facts_of(module: &Module<'_>, object: &Object<'_>) -> ObjectFacts {
    ObjectFacts {
        abi: object.abi(),
        e_type: object.e_type,
        flags: object.e_flags,
        toolkit: module.origin(object).toolkit,
        specific: is_specific(module, object),
        profile: match module.target.is_mercury() {
            true => finalizer_profile(module, object),
            false => None,
        },
        after_mercury: false,
        after_ewp: false,
    }
}

/// Builds the report of the decision about an object's architecture.
fn compatibility(module: &Module<'_>, object: &Object<'_>, facts: &ObjectFacts) -> Diagnostic {
    let (source, target) = ((facts.flags >> 8 & 0xffff) as u16, module.target.sm);
    let decided = can_finalize(module.toolkit, facts.profile.as_ref(), source, target);
    let (code, why) = match decided {
        Ok(()) => (0, String::new()),
        Err(error) => (error.code(), format!(": {error}")),
    };
    let name = object.display();
    Diagnostic::report(format!(
        "can_finalize: '{name}': sm_{source} for sm_{target}: {code}{why}"
    ))
}

/// Says that objects of SASS alone are linked by the rules of an older toolkit than the link's own.
fn newer_finalizer(module: &Module<'_>) -> Diagnostic {
    let linker = module.toolkit.linker();
    if module.options.strict {
        let code = unsupported::NEWER_FINALIZER;
        return Diagnostic::fatal(code, code.title()).note(format!(
            "{linker} links SASS alone for {} by rules that are not known",
            module.target
        ));
    }
    Diagnostic::remark(
        deviation::NEWER_FINALIZER,
        format!(
            "SASS alone for {} is linked as CUDA {} links it, and not {linker}",
            module.target,
            Toolkit::DEFAULT.release
        ),
    )
    .deviates("D20")
}

/// Says that nothing shows how the link's toolkit, one before CUDA 13.0, links this.
fn older_toolkit(module: &Module<'_>) -> Option<Diagnostic> {
    let toolkit = module.toolkit;
    if toolkit.release >= Toolkit::DEFAULT.release {
        return None;
    }
    let options = &module.options;
    let host = &options.host;
    let has_host_information = [
        &host.kernels_external,
        &host.kernels_internal,
        &host.variables_external,
        &host.variables_internal,
    ]
    .iter()
    .any(|names| names.is_some());
    let mut objects = module.objects.values();
    let has_runtime_library = objects.any(|object| object.system_library);
    let not_compared = [
        (options.relocatable, "-r"),
        (options.suppress_debug_info, "-suppress-debug-info"),
        (options.preserve_relocs, "-preserve-relocs"),
        (options.force_rela, "--force-rela"),
        (options.allow_undefined_globals, "-allow-undefined-globals"),
        (
            options.memory.reserve_null_pointer,
            "--reserve-null-pointer",
        ),
        (
            options.memory.disable_shared_reservation,
            "-disable-smem-reservation",
        ),
        (has_host_information, "host information"),
        (options.whole_program, "link-time optimisation"),
        // Which of its members are linked.
        (has_runtime_library, "the device runtime library"),
    ];
    let not_compared = not_compared.iter().filter(|(given, _)| *given);
    let not_compared: Vec<_> = not_compared.map(|(_, what)| *what).collect();
    let linker = toolkit.linker();
    let code = unsupported::OLDER_TOOLKIT;
    if module.target.is_mercury() {
        return Some(Diagnostic::fatal(code, code.title()).note(format!(
            "{linker} links for {} by rules that are not known",
            module.target
        )));
    }
    if not_compared.is_empty() {
        return None;
    }
    let what = not_compared.join(", ");
    if options.strict {
        return Some(
            Diagnostic::fatal(code, code.title())
                .note(format!("nothing shows how {linker} links with {what}")),
        );
    }
    let note = Diagnostic::remark(
        deviation::OLDER_TOOLKIT,
        format!(
            "with {what} the link is that of CUDA {}: nothing shows how {linker} links so",
            Toolkit::DEFAULT.release
        ),
    );
    Some(note.deviates("D28"))
}

/// Makes nvlink's warning about the first object without Mercury.
fn limited(object: &Object<'_>, target: Target) -> Diagnostic {
    Diagnostic::warning(
        input::SASS_ALONE,
        format!(
            "Output is limited to run on SM Arch '{}' only due to limitations in input file {}",
            target.sm,
            object.display()
        ),
    )
}

/// Makes the error about an object that does not fit the target.
fn misfit(
    object: &Object<'_>,
    error: ArchitectureError,
    facts: &ObjectFacts,
    target: Target,
) -> Diagnostic {
    let name = object.display();
    let code = match error {
        ArchitectureError::Abi { .. } => input::ABI,
        ArchitectureError::Sm { .. } | ArchitectureError::Specific => input::ARCHITECTURE,
        ArchitectureError::TooOld => input::OLD_TOOLKIT,
        ArchitectureError::TooNew { .. } => input::NEW_TOOLKIT,
        ArchitectureError::EwpToolkit => input::EWP_TOOLKIT,
        ArchitectureError::MercuryFlags { .. } => input::MERCURY_FLAGS,
    };
    let diagnostic = Diagnostic::fatal(code, error.message(&name));
    match error {
        ArchitectureError::Sm { found, .. } => diagnostic
            .note(format!("'{name}' was compiled for sm_{found}"))
            .help(format!(
                "compile it for {target}, or link with -arch=sm_{found}"
            )),
        ArchitectureError::Abi { osabi, version } => diagnostic.note(format!(
            "OSABI {osabi:#x}, ABI version {version}, e_flags {:#x}",
            facts.flags
        )),
        ArchitectureError::TooNew { found, .. } => diagnostic.note(format!(
            "it was made by toolkit {}.{}",
            found / 10,
            found % 10
        )),
        ArchitectureError::MercuryFlags { flags } => diagnostic.note(format!(
            "'{name}' says in e_flags {flags:#x} that it holds Mercury"
        )),
        ArchitectureError::Specific => diagnostic
            .note(format!(
                "'{name}' was compiled for one architecture alone, with an 'a'"
            ))
            .help(format!("compile it for {target}")),
        ArchitectureError::TooOld | ArchitectureError::EwpToolkit => diagnostic,
    }
}
