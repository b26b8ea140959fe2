//! The way of the data: discover inputs, lower, run the pipeline, give back the image.
//!
//! Architecture Invariant: one direction, no way back, and no linking rule here.

mod findings;
mod lowering;
mod optimise;
mod reading;
mod remarks;
mod request;

use std::borrow::Cow;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::Diagnostics;
use cuweld_diagnostics::codes::usage;
use cuweld_elf::toolkit::Toolkit;
use cuweld_ir::Arena;
use cuweld_ir::LinkOptions;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::elf;
use cuweld_ir::text;
use cuweld_passes::checks::check_objects::CheckObjects;
use cuweld_passes::checks::check_objects::newest_accepted;
use cuweld_passes::pass::Pass;
use cuweld_passes::pipeline::Facts;
use cuweld_passes::reports::link_map::DroppedSection;
use cuweld_passes::reports::link_map::LinkMap;
use cuweld_passes::reports::link_map::unused_sections;

use crate::compile::CompileTime;
use crate::compile::compile_ptx;
use crate::compile::lto;
use crate::diagnostics::Reporter;
use crate::file_name;
use crate::input::DeviceInput;
use crate::input::DiscoverOptions;
use crate::input::Discovered;
use crate::input::HostInfo;
use crate::input::Image;
use crate::input::InputArena;
use crate::input::InputError;
use crate::input::SkipReason;
use crate::input::discover_with;
use crate::input::host_info::ReferenceKind;
use crate::output::OutputError;
use crate::output::Replaced;
use crate::output::write_atomically;
use crate::output::write_atomically_with;
use crate::output::write_blocks;
use crate::registration::Registration;
use crate::registration::registration;
use crate::registration::registration_of_program;
use crate::report::LinkData;
use crate::report::PassRecorder;
use crate::run::Start;
use crate::run::run_until;
use crate::run::step_before_emit;
use cuweld_passes::threads::Threads;

use findings::by_turns;
use findings::of_discovery;
use lowering::image;
use lowering::unreadable;
use optimise::Optimisation;
use optimise::optimise;
use reading::Reading;
use reading::newest_toolkit;
pub use request::Hooks;
pub use request::Request;

/// What came of a link.
#[non_exhaustive]
pub struct LinkOutcome<'data> {
    /// The output file; `None` if the link failed or was stopped before it.
    pub output: Option<LinkedFile<'data>>,
    /// What the file of `--register-link-binaries` holds, if asked for; `None` after a fatal error.
    pub registration: Option<Registration>,
    /// Whether nvlink leaves such a file as it is if there is one: where it left the device runtime
    /// out (deviation D30).
    pub leaves_registration: bool,
    /// Runs of the compiler, in the order of the inputs; none if the link failed fatally.
    pub compile_times: Vec<CompileTime>,
    /// What lies where in the output, if asked for; `None` without an output, and of a program that
    /// link-time optimisation made, whose layout is not known here.
    pub map: Option<LinkMap>,
    /// The sections that were left out because nothing uses them, if asked for; `None` under the same
    /// conditions as [`Self::map`], and if the link was stopped before this was decided.
    pub unused: Option<Vec<DroppedSection>>,
    /// What a report shows beside [`Self::output`], if asked for; `None` under the same conditions as
    /// [`Self::map`].
    pub report: Option<LinkData>,
}

/// The output file of a link.
pub enum LinkedFile<'data> {
    /// Its bytes.
    Image(Vec<u8>),
    /// The module whose plan it is: it is written from the inputs, without being in memory.
    Planned(Box<Module<'data>>),
}

impl LinkedFile<'_> {
    /// Returns the bytes of the output.
    pub fn image(&self) -> Result<Cow<'_, [u8]>, OutputError> {
        match self {
            LinkedFile::Image(bytes) => Ok(Cow::Borrowed(bytes)),
            LinkedFile::Planned(module) => {
                let plan = module.plan.as_ref().ok_or(OutputError::NoPlan)?;
                let image = elf::write(module, plan).map_err(OutputError::Plan)?;
                Ok(Cow::Owned(image))
            }
        }
    }

    /// Returns the size of the output in bytes.
    pub fn size(&self) -> u64 {
        match self {
            LinkedFile::Image(bytes) => bytes.len() as u64,
            LinkedFile::Planned(module) => module.plan.as_ref().map_or(0, |plan| plan.file_size),
        }
    }

    /// Writes the file: blocks of a large one with a second thread, if there may be one.
    ///
    /// # Errors
    ///
    /// Those of the system, and inputs that were changed since they were read: then there is no
    /// output.
    pub fn write(
        &self,
        path: &Path,
        inputs: &InputArena,
        threads: &Threads,
    ) -> Result<Replaced, OutputError> {
        let _span = tracing::info_span!("write", bytes = self.size()).entered();
        match self {
            LinkedFile::Image(bytes) => {
                OutputError::if_changed(inputs)?;
                Ok(write_atomically(path, bytes)?)
            }
            LinkedFile::Planned(module) => {
                let Some(plan) = &module.plan else {
                    return Err(OutputError::NoPlan);
                };
                write_atomically_with(path, plan.file_size, |file| {
                    write_blocks(file, plan.sections.len(), threads, |take| {
                        elf::write_in_order(module, plan, take)
                    })?;
                    OutputError::if_changed(inputs)
                })
            }
        }
    }
}

/// Inputs, discovered and lowered.
pub struct ReadInputs<'data> {
    /// All that is to be linked.
    pub module: Module<'data>,
    /// What was found, also what takes no part.
    pub inputs: Vec<DeviceInput<'data>>,
    /// Runs of the compiler.
    pub compile_times: Vec<CompileTime>,
    /// What there is to say of the inputs, in nvlink's order: passes add to it, and
    /// [`run_pipeline`](crate::run::run_pipeline) reports it.
    pub findings: Diagnostics,
}

/// Discovers inputs, lowers them, runs the pipeline. Everything there is to say goes to the
/// reporter, whose exit code tells whether the link succeeded.
pub fn link<'data>(
    request: &Request<'_>,
    input_arena: &'data InputArena,
    arena: &'data Arena,
    reporter: &mut Reporter<'_>,
) -> io::Result<LinkOutcome<'data>> {
    let nothing = Ok(LinkOutcome {
        output: None,
        registration: None,
        leaves_registration: false,
        compile_times: Vec::new(),
        map: None,
        unused: None,
        report: None,
    });
    let facts = Facts::new(request.discover.target, &request.options);
    // A pipeline that cannot run is refused before any input is read.
    let manager = match request.controls.manager(facts, Phase::Lowered) {
        Ok(manager) => manager.with_threads(request.threads.clone()),
        Err(diagnostic) => {
            reporter.report(&diagnostic)?;
            return nothing;
        }
    };
    let run = request.controls.selection.run_options(None);
    if let Err(error) = manager.check(&run, Phase::Lowered) {
        let message = format!("cuweld: {error}");
        reporter.report(&Diagnostic::fatal(usage::PIPELINE, message))?;
        return nothing;
    }
    let mut steps = manager.pipeline().steps().iter();
    let is_checked = steps.any(|step| step.pass.info().name == CheckObjects.info().name);
    let mut found = {
        let _span = tracing::info_span!("discover").entered();
        find_inputs(request, is_checked, input_arena, arena)
    };
    tracing::info!(inputs = found.discovered.inputs.len(), "inputs are found");
    if request.discover.registers {
        leave_out_runtime(&mut found.discovered.inputs);
    }
    let mut inputs = found.discovered.inputs.iter();
    let has_runtime = inputs.any(|input| input.system_library);
    let mut times = Vec::new();
    if request.discover.lto {
        let _span = tracing::info_span!("optimise").entered();
        let job = (request, &mut times);
        match optimise(
            job,
            &mut found.discovered,
            found.failure.as_ref(),
            input_arena,
            reporter,
        )? {
            Optimisation::Failed => return nothing,
            Optimisation::Output(output) => {
                return Ok(LinkOutcome {
                    leaves_registration: has_runtime && !request.options.keep_system_libraries,
                    ..program(request, &found.discovered, output, times)
                });
            }
            Optimisation::Linked => {}
        }
    }
    let remarks = remarks::of_discovery(
        &found.discovered,
        request.controls.watching.remarks.as_ref(),
    );
    let ReadInputs {
        mut module,
        inputs,
        compile_times,
        findings,
    } = {
        let _span = tracing::info_span!("lower").entered();
        lower_inputs(request, found, input_arena, arena, reporter)
    };
    times.extend(compile_times);
    let (controls, last) = (
        request.controls,
        step_before_emit(request.controls, &manager).filter(|_| request.as_text.is_none()),
    );
    let start = Start {
        findings,
        remarks,
        last,
    };
    let mut recorder = controls
        .report
        .then(|| PassRecorder::new(controls.watching.time_passes));
    let is_linked = run_until(
        controls,
        &manager,
        &mut module,
        arena,
        start,
        recorder.as_mut(),
        reporter,
    )?;
    if !is_linked || reporter.is_fatal() {
        return nothing;
    }
    let mut registration = request.discover.registers.then(|| {
        let folder = std::env::current_dir().unwrap_or_default();
        registration(&inputs, &module, &folder.to_string_lossy())
    });
    for remark in registration.iter_mut().flat_map(Registration::remarks) {
        reporter.report(&remark)?;
    }
    let keeps_runtime = module
        .included_objects()
        .any(|(_, object)| object.system_library);
    let map_of = |is_wanted: bool| match is_wanted && !reporter.failed() {
        true => {
            let _span = tracing::info_span!("map").entered();
            LinkMap::new(&module, file_name::text)
        }
        false => None,
    };
    let mut map = map_of(controls.map);
    let report = recorder.map(|recorder| LinkData::new(recorder, &manager, map_of(true)));
    let unused = match request.controls.print_gc_sections {
        true => unused_sections(&module, file_name::text),
        false => None,
    };
    let text = request.as_text.map(|form| {
        let _span = tracing::info_span!("print-text").entered();
        text::print(&module, form)
    });
    let output = match text.map(String::into_bytes).or_else(|| module.image.take()) {
        Some(image) => Some(LinkedFile::Image(image)),
        None if last.is_some() => Some(LinkedFile::Planned(Box::new(module))),
        None => None,
    };
    if let Some(file) = &output {
        let images = inputs.iter().filter_map(|input| input.image);
        let linked = images.map(|image| match image {
            Image::Cubin(bytes) => bytes.len() as u64,
            // Compiled ones are cubins.
            Image::Ptx(_) | Image::Nvvm(_) => 0,
        });
        if let Err(error) = request.discover.limits.output(file.size(), linked.sum()) {
            reporter.report(&error.diagnostic())?;
        }
    }
    Ok(LinkOutcome {
        registration,
        leaves_registration: has_runtime && !keeps_runtime,
        compile_times: times,
        report: report.filter(|_| output.is_some() && !reporter.failed()),
        map: map.take_if(|_| output.is_some() && !reporter.failed()),
        unused: unused.filter(|_| !reporter.failed()),
        output: output.filter(|_| !reporter.failed()),
    })
}

/// Leaves the device runtime out, which is kept with `-keep-system-libraries`, where there is nothing
/// else but files without code for the target, none of them a host object, and a register file
/// [host-lists-count].
fn leave_out_runtime(inputs: &mut Vec<DeviceInput<'_>>) {
    let lacks_code = |input: &DeviceInput<'_>| input.skip == Some(SkipReason::NoCode);
    let is_all = inputs
        .iter()
        .all(|input| input.system_library || lacks_code(input));
    if is_all && inputs.iter().any(lacks_code) {
        inputs.retain(|input| !input.system_library);
    }
}

/// Discovers inputs and lowers them. The inputs come with the module, those that take no part
/// included.
pub fn read_inputs<'data>(
    request: &Request<'_>,
    input_arena: &'data InputArena,
    arena: &'data Arena,
    reporter: &Reporter<'_>,
) -> ReadInputs<'data> {
    let found = find_inputs(request, false, input_arena, arena);
    lower_inputs(request, found, input_arena, arena, reporter)
}

/// What is to be lowered.
struct Found<'r, 'data> {
    /// The toolkit whose linker the link stands in for, as far as it is known without the objects
    /// that are compiled.
    toolkit: &'static Toolkit,
    discovered: Discovered<'data>,
    /// What ended the discovery, if something did.
    failure: Option<InputError>,
    /// The rows of the first inputs, as far as they were read.
    reading: Reading<'r, 'data>,
}

/// Discovers inputs, and reads what is found meanwhile. If objects `are_checked` later, none is
/// looked for after one that ends the link.
fn find_inputs<'r, 'data>(
    request: &'r Request<'_>,
    are_checked: bool,
    input_arena: &'data InputArena,
    arena: &'data Arena,
) -> Found<'r, 'data> {
    let find = |discover| find_inputs_of(request, discover, are_checked, input_arena, arena);
    let found = find(request.discover);
    let toolkit = match request.toolkit {
        Some(toolkit) => toolkit,
        None => Toolkit::for_objects(found.reading.newest_toolkit(), request.discover.target),
    };
    // Which members of fatbins are linked depends on the toolkit.
    match toolkit.selects_as(found.toolkit) {
        true => Found { toolkit, ..found },
        false => find(DiscoverOptions {
            toolkit,
            ..request.discover
        }),
    }
}

/// Returns `true` if objects of toolkits that are not known yet are linked.
fn accepts_newer(request: &Request<'_>) -> bool {
    request.toolkit.is_none() && !request.controls.strict
}

/// Discovers inputs as these options say, and reads what is found meanwhile.
fn find_inputs_of<'r, 'data>(
    request: &'r Request<'_>,
    discover: DiscoverOptions<'_>,
    are_checked: bool,
    input_arena: &'data InputArena,
    arena: &'data Arena,
) -> Found<'r, 'data> {
    let (discover, threads) = (&discover, &request.threads);
    let newest = newest_accepted(
        request.toolkit.unwrap_or(Toolkit::newest()),
        accepts_newer(request),
    );
    let mut reading = Reading::new(newest, threads, request.hooks);
    // With -lto it is the whole program that tells what is linked.
    let mut goes_on = !discover.lto;
    let mut bytes = 0u64;
    let mut numbered = false;
    let mut told = |inputs: &[DeviceInput<'data>], files: usize, all: usize| {
        // What is compiled comes later.
        goes_on &= inputs
            .iter()
            .all(|input| matches!(input.image, None | Some(Image::Cubin(_))));
        if !goes_on {
            return ControlFlow::Continue(());
        }
        let images = inputs
            .iter()
            .map(|input| image(input, arena).ok().flatten());
        let images: Vec<_> = images.collect();
        let sizes = images
            .iter()
            .flatten()
            .map(|image| image.image.len() as u64);
        bytes = bytes.saturating_add(sizes.sum());
        let expected = u128::from(bytes) * all as u128 / files.max(1) as u128;
        let expected = u64::try_from(expected).unwrap_or(u64::MAX);
        let before = reading.objects();
        reading.read(&images, expected);
        // What has the number of its module may be linked already by one of the files after it.
        numbered |= inputs.iter().any(|input| !input.module_ids.ids.is_empty());
        match are_checked && !numbered && reading.ends_link(before) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let (discovered, failure) = match discover_with(discover, Some(threads), input_arena, &mut told)
    {
        Ok(discovered) => (discovered, None),
        Err(failure) => (failure.found, Some(failure.error)),
    };
    Found {
        toolkit: discover.toolkit,
        discovered,
        failure,
        reading,
    }
}

/// Compiles and lowers what was discovered.
fn lower_inputs<'data>(
    request: &Request<'_>,
    found: Found<'_, 'data>,
    input_arena: &'data InputArena,
    arena: &'data Arena,
    reporter: &Reporter<'_>,
) -> ReadInputs<'data> {
    let Found {
        toolkit,
        discovered,
        failure,
        reading,
    } = found;
    let target = request.discover.target;
    let mut inputs = discovered.inputs;
    let (compile, threads) = (&request.compile, &request.threads);
    let compiled = compile_ptx(
        &mut inputs,
        (toolkit, target),
        compile,
        threads,
        input_arena,
    );
    let mut options = request.options.clone();
    apply_host_info(
        &mut options,
        &discovered.host_info,
        request.ignore_host_info,
    );
    options.strict = request.controls.strict;
    options.mercury.strict = request.controls.strict_finalize;
    options.mercury.finalize = request.controls.finalize;
    // All inputs are read before any is merged.
    let early = reporter.early_errors();
    options.reports.warnings_are_errors =
        early.skipped_library && (!early.until_ptx || compiled.findings.is_empty());
    let mut refused = Vec::new();
    let mut images = Vec::with_capacity(inputs.len());
    for (index, input) in inputs.iter().enumerate() {
        // After a failure PTX was not compiled.
        let is_left = matches!(input.image, Some(Image::Ptx(_)));
        images.push(image(input, arena).unwrap_or_else(|diagnostic| {
            refused.extend((!is_left).then_some((index, diagnostic)));
            None
        }));
    }
    let (part, read) = reading.all_of(&images);
    let toolkit = match request.toolkit {
        Some(toolkit) => toolkit,
        None => Toolkit::for_objects(newest_toolkit(&part), target),
    };
    options.accept_newer = accepts_newer(request) && newest_toolkit(&part) > toolkit.number;
    for (index, (image, read)) in images.iter().zip(&read).enumerate() {
        if let (Some(image), Some(Err(error))) = (image, read) {
            let said = unreadable(image, error, (toolkit, target), options.strict);
            refused.extend(said.map(|diagnostic| (index, diagnostic)));
        }
    }
    let has_object = read.iter().map(|read| matches!(read, Some(Ok(()))));
    let failed = failure.iter().flat_map(InputError::findings);
    let findings = of_discovery(&discovered.diagnostics, reporter)
        .into_iter()
        .chain(compiled.findings)
        .chain(refused)
        .chain(failed.map(|finding| (inputs.len(), finding)));
    let findings = by_turns(has_object, findings);
    let mut module = Module::new(target, options);
    module.toolkit = toolkit;
    module.set_rows(part);
    ReadInputs {
        module,
        inputs,
        compile_times: compiled.times,
        findings,
    }
}

/// Returns the outcome of a link whose output was made by link-time optimisation.
fn program(
    request: &Request<'_>,
    discovered: &Discovered<'_>,
    output: Vec<u8>,
    compile_times: Vec<CompileTime>,
) -> LinkOutcome<'static> {
    let folder = std::env::current_dir().unwrap_or_default();
    let keeps = request.options.keep_system_libraries && lto::runtime_follows(&discovered.inputs);
    let registration =
        || registration_of_program(&discovered.inputs, &folder.to_string_lossy(), keeps);
    LinkOutcome {
        registration: (!request.compile.lto.emit_ptx).then(registration),
        output: Some(LinkedFile::Image(output)),
        leaves_registration: false,
        compile_times,
        map: None,
        unused: None,
        report: None,
    }
}

/// Takes the host's references into the link options, if they apply to this link.
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
    options.whole_program = host_info.whole_program;
    options.host.kernels_external = Some(patterns(ReferenceKind::ExternalKernel));
    options.host.kernels_internal = Some(patterns(ReferenceKind::InternalKernel));
    let variables = |device, constant| Some([patterns(device), patterns(constant)].concat());
    options.host.variables_external = variables(
        ReferenceKind::ExternalVariable,
        ReferenceKind::ExternalConstant,
    );
    options.host.variables_internal = variables(
        ReferenceKind::InternalVariable,
        ReferenceKind::InternalConstant,
    );
}
