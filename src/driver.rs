//! The way of the data: discover inputs, lower, run the pipeline, give back the image.
//!
//! Architecture Invariant: one direction, no way back, and no linking rule here.

use std::io;

use cuweld_ir::Arena;
use cuweld_ir::LinkOptions;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::Target;
use cuweld_ir::elf;
use cuweld_ir::elf::note_records::cuda_info_fields;
use cuweld_ir::elf::raw::ET_EXEC;
use cuweld_ir::elf::raw::FileHeader;
use cuweld_ir::elf::raw::OSABI_CUDA;
use cuweld_ir::elf::read::ObjectPart;
use cuweld_ir::elf::validate::ArchitectureError;
use cuweld_ir::elf::validate::ObjectFacts;
use cuweld_ir::elf::validate::StructureError;
use cuweld_ir::elf::validate::validate_architecture;
use cuweld_ir::table::EntityId;
use cuweld_ir::target::compat;
use cuweld_ir::target::section_types::sht;
use cuweld_passes::Diagnostic;
use cuweld_passes::Severity;
use cuweld_passes::pipeline::Facts;
use zerocopy::FromBytes;

use crate::compile::CompileOptions;
use crate::compile::CompileTime;
use crate::compile::compile_ptx;
use crate::compile::lto;
use crate::compile::lto::LtoLink;
use crate::diagnostics::Reporter;
use crate::input;
use crate::input::DeviceInput;
use crate::input::DiagnosticKind;
use crate::input::DiscoverOptions;
use crate::input::Discovered;
use crate::input::HostInfo;
use crate::input::Image;
use crate::input::InputArena;
use crate::input::MessageLine;
use crate::input::discover;
use crate::input::host_info::ReferenceKind;
use crate::registration::registration;
use crate::registration::registration_of_program;
pub use crate::run::Controls;
use crate::run::run_pipeline;

/// A link to do.
pub struct Request<'a> {
    /// Where the inputs are.
    pub discover: DiscoverOptions<'a>,
    /// How intermediate code is compiled.
    pub compile: CompileOptions,
    /// Options that change bytes.
    pub options: LinkOptions,
    /// Do not prune kernels by host information.
    pub ignore_host_info: bool,
    /// How the pipeline runs and what is shown of it.
    pub controls: &'a Controls,
}

/// What came of a link.
pub struct LinkOutcome {
    /// The output file; `None` if the link failed or was stopped before it.
    pub output: Option<Vec<u8>>,
    /// What the file of `--register-link-binaries` holds; `None` after a fatal error.
    pub registration: Option<String>,
    /// Runs of the compiler, in the order of the inputs; none if the link failed fatally.
    pub compile_times: Vec<CompileTime>,
}

/// Inputs, discovered and lowered.
pub struct ReadInputs<'data> {
    /// All that is to be linked.
    pub module: Module<'data>,
    /// What was found, also what takes no part.
    pub inputs: Vec<DeviceInput<'data>>,
    /// Runs of the compiler.
    pub compile_times: Vec<CompileTime>,
}

/// Discovers inputs, lowers them, runs the pipeline. Everything there is to say goes to the
/// reporter, whose exit code tells whether the link succeeded.
pub fn link(
    request: &Request<'_>,
    input_arena: &InputArena,
    arena: &Arena,
    reporter: &mut Reporter<'_>,
) -> io::Result<LinkOutcome> {
    let nothing = Ok(LinkOutcome {
        output: None,
        registration: None,
        compile_times: Vec::new(),
    });
    let facts = Facts::new(request.discover.target, &request.options);
    // A pipeline that cannot run is refused before any input is read.
    let manager = match request.controls.manager(facts, Phase::Lowered) {
        Ok(manager) => manager,
        Err(diagnostic) => {
            reporter.report(&diagnostic)?;
            return nothing;
        }
    };
    let Some(discovered) = find_inputs(request, input_arena, reporter)? else {
        return nothing;
    };
    if request.discover.lto {
        match lto::kind_of_link(&discovered.inputs, reporter)? {
            None => return nothing,
            Some(LtoLink::None) => {}
            Some(LtoLink::Whole) => return link_program(request, &discovered, reporter),
        }
    }
    let read = lower_inputs(request, discovered, input_arena, arena, reporter)?;
    let Some(ReadInputs {
        mut module,
        inputs,
        compile_times,
    }) = read
    else {
        return nothing;
    };
    run_pipeline(request.controls, &manager, &mut module, arena, reporter)?;
    if reporter.is_fatal() {
        return nothing;
    }
    let folder = std::env::current_dir().unwrap_or_default();
    Ok(LinkOutcome {
        registration: Some(registration(&inputs, &module, &folder.to_string_lossy())),
        compile_times,
        output: module.image.take().filter(|_| !reporter.failed()),
    })
}

/// Discovers inputs and lowers them; `None` if they cannot be linked, which has been reported. The
/// inputs come with the module, those that take no part included.
pub fn read_inputs<'data>(
    request: &Request<'_>,
    input_arena: &'data InputArena,
    arena: &'data Arena,
    reporter: &mut Reporter<'_>,
) -> io::Result<Option<ReadInputs<'data>>> {
    match find_inputs(request, input_arena, reporter)? {
        Some(discovered) => lower_inputs(request, discovered, input_arena, arena, reporter),
        None => Ok(None),
    }
}

/// Discovers inputs and reports what there is to say of them.
fn find_inputs<'data>(
    request: &Request<'_>,
    input_arena: &'data InputArena,
    reporter: &mut Reporter<'_>,
) -> io::Result<Option<Discovered<'data>>> {
    let discovered = match discover(&request.discover, input_arena) {
        Ok(discovered) => discovered,
        Err(failure) => {
            for diagnostic in &failure.diagnostics {
                report_input(reporter, diagnostic)?;
            }
            report_lines(reporter, &failure.error.lines(), failure.error.help())?;
            return Ok(None);
        }
    };
    for diagnostic in &discovered.diagnostics {
        let about_arch = matches!(diagnostic.kind, DiagnosticKind::SmArchNotFound { .. });
        if !(about_arch && reporter.silence_arch_warnings) {
            report_input(reporter, diagnostic)?;
        }
    }
    Ok(Some(discovered))
}

/// Compiles and lowers what was discovered.
fn lower_inputs<'data>(
    request: &Request<'_>,
    discovered: Discovered<'data>,
    input_arena: &'data InputArena,
    arena: &'data Arena,
    reporter: &mut Reporter<'_>,
) -> io::Result<Option<ReadInputs<'data>>> {
    let target = request.discover.target;
    let mut inputs = discovered.inputs;
    let Some(compile_times) =
        compile_ptx(&mut inputs, target, &request.compile, input_arena, reporter)?
    else {
        return Ok(None);
    };
    let mut options = request.options.clone();
    apply_host_info(
        &mut options,
        &discovered.host_info,
        request.ignore_host_info,
    );
    options.strict = request.controls.strict;
    let lowered = images(&inputs, arena)
        .map_err(|error| vec![error])
        .and_then(|images| lower(&images, target, options));
    match lowered {
        Ok(module) => Ok(Some(ReadInputs {
            module,
            inputs,
            compile_times,
        })
        .filter(|_| !reporter.failed())),
        Err(diagnostics) => {
            for diagnostic in &diagnostics {
                reporter.report(diagnostic)?;
            }
            Ok(None)
        }
    }
}

/// Links a program out of LTO-IR alone.
fn link_program(
    request: &Request<'_>,
    discovered: &Discovered<'_>,
    reporter: &mut Reporter<'_>,
) -> io::Result<LinkOutcome> {
    let host_info = &discovered.host_info;
    let prunes = !request.ignore_host_info && host_info.prunes_kernels();
    let output = lto::link_program(
        &discovered.inputs,
        Some(host_info).filter(|_| prunes),
        request.discover.target,
        &request.compile,
        request.controls.strict,
        reporter,
    )?;
    let folder = std::env::current_dir().unwrap_or_default();
    Ok(LinkOutcome {
        registration: output
            .as_ref()
            .filter(|_| !request.compile.lto.emit_ptx)
            .map(|_| registration_of_program(&discovered.inputs, &folder.to_string_lossy())),
        output,
        compile_times: Vec::new(),
    })
}

/// Reports what discovery has to say of an input.
fn report_input(reporter: &mut Reporter<'_>, found: &input::InputDiagnostic) -> io::Result<()> {
    match &found.kind {
        DiagnosticKind::Deviation { id, text } => {
            let mut diagnostic = Diagnostic::new(Severity::Note, text.clone());
            diagnostic.deviation = Some(id);
            reporter.report(&diagnostic)
        }
        // nvlink writes an error line, and exits as if there were none.
        DiagnosticKind::Uncompress { .. } => {
            let line = Diagnostic::error("Uncompress failed");
            reporter.remark(&Diagnostic {
                helps: found.help().into_iter().collect(),
                ..line
            })
        }
        _ => report_lines(reporter, &found.lines(), found.help()),
    }
}

fn report_lines(
    reporter: &mut Reporter<'_>,
    lines: &[MessageLine],
    help: Option<String>,
) -> io::Result<()> {
    for (index, line) in lines.iter().enumerate() {
        let severity = match line.severity {
            input::Severity::Note => continue,
            input::Severity::Info => Severity::Info,
            input::Severity::Warning => Severity::Warning,
            input::Severity::Error => Severity::Error,
            input::Severity::Fatal => Severity::Fatal,
        };
        let mut diagnostic = Diagnostic::new(severity, line.text.clone());
        if index + 1 == lines.len() {
            diagnostic.helps.extend(help.clone());
        }
        reporter.report(&diagnostic)?;
    }
    Ok(())
}

/// A device image with its name, ready to be lowered.
#[derive(Clone, Copy, Debug)]
pub struct NamedImage<'data> {
    /// The input as given.
    pub name: &'data str,
    /// The archive member, or empty.
    pub member: &'data str,
    /// The device ELF.
    pub image: &'data [u8],
    /// It belongs to the device runtime library.
    pub system_library: bool,
}

impl NamedImage<'_> {
    fn display(&self) -> String {
        if self.member.is_empty() {
            self.name.to_owned()
        } else {
            format!("{}:{}", self.name, self.member)
        }
    }
}

/// Picks the images to lower out of what was discovered and compiled. LTO-IR needs NVIDIA's compiler,
/// which is not called yet: a typed refusal.
pub fn images<'data>(
    inputs: &[DeviceInput<'data>],
    arena: &'data Arena,
) -> Result<Vec<NamedImage<'data>>, Diagnostic> {
    let mut images = Vec::new();
    for input in inputs.iter().filter(|input| input.skip.is_none()) {
        let what = match &input.image {
            None => continue,
            Some(Image::Cubin(image)) => {
                images.push(NamedImage {
                    name: arena.string(&input.path),
                    member: arena.string(input.member.as_deref().unwrap_or("")),
                    image,
                    system_library: input.system_library,
                });
                continue;
            }
            Some(Image::Ptx(_)) => "PTX, which has to be compiled",
            Some(Image::Nvvm(_)) => "LTO-IR, which has to be compiled",
        };
        return Err(
            Diagnostic::fatal(format!("cuweld: unsupported: '{input}' holds {what}"))
                .help("compile it to a relocatable cubin first (ptxas -c)"),
        );
    }
    Ok(images)
}

/// Takes the host's kernel references into the link options, if they apply to this link.
pub fn apply_host_info(options: &mut LinkOptions, host_info: &HostInfo<'_>, ignore: bool) {
    if ignore || options.relocatable || !host_info.prunes_kernels() {
        return;
    }
    let patterns = |kind| -> Vec<String> {
        let patterns = host_info.patterns(kind).iter();
        patterns
            .map(|pattern| String::from_utf8_lossy(pattern).into_owned())
            .collect()
    };
    options.host_kernels_external = Some(patterns(ReferenceKind::ExternalKernel));
    options.host_kernels_internal = Some(patterns(ReferenceKind::InternalKernel));
}

/// Lowers images into a new module, in link order. The first image that does not fit ends the link, and
/// the last of what is said of it is fatal.
///
/// With `strict`, damaged objects are left out without a message where nvlink does so (deviation D01).
pub fn lower<'data>(
    images: &[NamedImage<'data>],
    target: Target,
    options: LinkOptions,
) -> Result<Module<'data>, Vec<Diagnostic>> {
    let strict = options.strict;
    let mut module = Module::new(target, options);
    for image in images {
        let part =
            match elf::read_object(image.image, image.name.as_bytes(), image.member.as_bytes()) {
                Ok(part) => part,
                Err(error) => match damaged(image, &error, target, strict) {
                    Some(diagnostic) => return Err(vec![diagnostic]),
                    None => continue,
                },
            };
        let Ok((file, _)) = FileHeader::ref_from_prefix(image.image) else {
            continue;
        };
        if file.e_type.get() != ET_EXEC {
            validate_architecture(file, facts(&part), target)
                .map_err(|error| misfit(image, error, file, target))?;
        }
        let id = module.append(part).map_err(|error| {
            vec![Diagnostic::fatal(format!(
                "cuweld: '{}': {error}",
                image.display()
            ))]
        })?;
        module.objects[id].system_library = image.system_library;
    }
    Ok(module)
}

/// Of `e_flags`: the object holds Mercury.
const MERCURY_FLAG: u32 = 2;

/// What an object says of its toolkit and variant.
fn facts(part: &ObjectPart<'_>) -> ObjectFacts {
    let section = |id: cuweld_ir::SectionId| part.sections.get(id.index());
    let cuda_info = part
        .notes
        .iter()
        .find(|note| {
            note.section.is_some_and(|id| {
                let found = part
                    .object
                    .as_ref()
                    .is_none_or(|object| object.finds_cuda_info(id.index()));
                let named = section(id).is_some_and(|row| row.name == b".note.nv.cuinfo");
                found && named
            })
        })
        .and_then(|note| cuda_info_fields(note.desc))
        .map(|(version, _, toolkit)| (version, toolkit));
    let specific = part.attributes.iter().any(|record| {
        record.code == compat::CUDA_ACCELERATOR_TARGET
            && record.value == 1
            && record
                .section
                .and_then(section)
                .is_some_and(|row| row.ty == sht::CUDA_COMPAT)
    });
    ObjectFacts {
        cuda_info,
        specific,
    }
}

fn damaged(
    image: &NamedImage<'_>,
    error: &elf::ReadError,
    target: Target,
    strict: bool,
) -> Option<Diagnostic> {
    let file = image.display();
    if matches!(error, elf::ReadError::Structure(StructureError::Not64Bit)) {
        return Some(Diagnostic::fatal(format!(
            "Input file '{file}' size does not match target '-m64'"
        )));
    }
    if strict && !target.is_mercury() {
        return None;
    }
    let mut diagnostic = Diagnostic::fatal(format!("cuweld: '{file}' is damaged: {error}"))
        .note("nvlink 13.0.88 ignores this input without a message, and its code is lost");
    diagnostic.deviation = Some("D01");
    Some(diagnostic)
}

fn misfit(
    image: &NamedImage<'_>,
    error: ArchitectureError,
    file: &FileHeader,
    target: Target,
) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let is_sass = file.flags.get() & MERCURY_FLAG == 0;
    if target.is_mercury() && is_sass && matches!(error, ArchitectureError::Sm { .. }) {
        findings.push(Diagnostic::warning(format!(
            "Output is limited to run on SM Arch '{}' only due to limitations in input file {}",
            target.sm,
            image.display()
        )));
    }
    let message = error.to_string().replace("{file}", &image.display());
    let diagnostic = Diagnostic::fatal(message);
    if let ArchitectureError::Abi { osabi, .. } = error
        && osabi != OSABI_CUDA
        && !target.is_mercury()
    {
        findings.push(Diagnostic::warning(format!(
            "expected 64bit object '{}' to have EF_CUDA_64BIT_ADDRESS set",
            image.display()
        )));
    }
    findings.push(match error {
        ArchitectureError::Sm { found, .. } => diagnostic
            .note(format!("'{}' was compiled for sm_{found}", image.display()))
            .help(format!(
                "compile it for {target}, or link with -arch=sm_{found}"
            )),
        ArchitectureError::Abi { osabi, version } => diagnostic.note(format!(
            "OSABI {osabi:#x}, ABI version {version}, e_flags {:#x}",
            file.flags.get()
        )),
        ArchitectureError::TooNew { found } => diagnostic.note(format!(
            "it was made by toolkit {}.{}",
            found / 10,
            found % 10
        )),
        _ => diagnostic,
    });
    findings
}
