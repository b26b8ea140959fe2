//! Link-time optimisation: all LTO-IR to one PTX, and that to a program, or to an object of the
//! link.
//!
//! A program of LTO-IR alone is what ptxas makes; nvlink's own layout takes no part then. If other
//! code belongs to the link, with `-r`, or if functions are missing that only the device runtime
//! may have, ptxas makes an object, and nvlink links that in the place of the last LTO-IR (see
//! "Link-time optimisation" in `docs/formats/device-elf.md`).

use crate::toolkit::installed::library_folders;
use std::io;
use std::path::PathBuf;
use std::time::Instant;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::link;
use cuweld_diagnostics::codes::system;
use cuweld_diagnostics::codes::unsupported;
use memchr::memmem;

use super::CompileOptions;
use super::CompileTime;
use super::lto_records::Agreed;
use super::lto_records::agree;
use super::lto_records::split_compile;
use super::nvjitlink::InputKind;
use super::nvjitlink::LtoInput;
use super::nvjitlink::NvJitLink;
use super::nvjitlink::NvJitLinkError;
use super::nvvm_options::NvvmOptions;
use super::ptxas::CompileError;
use super::ptxas::Compiled;
use super::ptxas::Ptxas;
use super::said;
use crate::diagnostics::Reporter;
use crate::input::DeviceInput;
use crate::input::HostInfo;
use crate::input::Image;
use crate::input::InputArena;
use crate::input::PtxImage;
use crate::input::Target;

/// What nvlink calls the object of all LTO-IR.
pub const OBJECT_NAME: &str = "lto.cubin";
/// What libnvJitLink writes before libNVVM's code and log.
const OPTIMISER_FAILS: &str = "ERROR in nvvmCompileProgram: ";
/// The option that nvlink gives to libNVVM itself.
const OWN_OPTION: &str = "-prec-sqrt";
/// What ptxas says of a function that a whole program does not have, where it calls it and where it
/// takes its address.
const UNRESOLVED: [&str; 2] = [
    "Unresolved extern function",
    "Cannot take address of function",
];

/// How a program is optimised.
#[derive(Clone, Debug, Default)]
pub struct LtoOptions {
    /// The library itself (`--cuweld-nvjitlink`, `CUWELD_NVJITLINK`).
    pub library: Option<PathBuf>,
    /// `-nvvmpath`: a folder of the toolkit; the library is looked for beside it.
    pub nvvm_path: Option<PathBuf>,
    /// `-emit-ptx`: the PTX is the output.
    pub emit_ptx: bool,
    /// `-force-partial-lto` or `-r`: the LTO-IR becomes an object, whatever else is linked.
    pub partial: bool,
    /// `-split-compile-extended`: the program is compiled in parts, which nvlink divides otherwise in
    /// each run.
    pub in_parts: bool,
    /// Options of the optimiser.
    pub nvvm: NvvmOptions,
}

/// Whether a link is one of link-time optimisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LtoLink {
    /// No input holds LTO-IR.
    None,
    /// All inputs do.
    Whole,
    /// It is linked with other code.
    Partial,
}

/// What LTO-IR was made to.
#[derive(Debug)]
pub enum Optimised {
    /// The output of the link.
    Output(Vec<u8>),
    /// An object that is linked with the others.
    Object(Vec<u8>),
}

/// Returns `true` if an input holds LTO-IR that is linked.
fn is_lto(input: &DeviceInput<'_>) -> bool {
    input.skip.is_none() && !input.system_library && matches!(input.image, Some(Image::Nvvm(_)))
}

/// Returns `true` if a host object holds LTO-IR that is linked: files that hold nothing but device
/// code do not count. An input without code for the target stands for one.
pub fn is_from_host(inputs: &[DeviceInput<'_>]) -> bool {
    inputs.iter().any(counts_as_host)
}

/// Returns `true` for an input that decides whether a program is one of host objects.
fn counts_as_host(input: &DeviceInput<'_>) -> bool {
    match is_lto(input) {
        true => !input.raw,
        false => input.lacks_code() && !input.system_library,
    }
}

/// Returns `true` if a part of the device runtime comes after all LTO-IR of host objects.
pub fn runtime_follows(inputs: &[DeviceInput<'_>]) -> bool {
    let behind = inputs.iter().rev();
    let mut behind = behind.take_while(|input| !counts_as_host(input));
    behind.any(|input| input.system_library)
}

/// Marks LTO-IR that no host object holds: it is linked, and not registered. Nor is the device
/// runtime where there is no other code.
pub fn leave_unregistered(inputs: &mut [DeviceInput<'_>]) {
    let is_alone = !is_from_host(inputs) && inputs.iter().all(|input| remark(input).is_none());
    for input in inputs {
        input.continues |= is_lto(input) && input.raw || is_alone && input.system_library;
    }
}

/// Builds the remark about an input of a link with `-lto` when it is read.
pub fn remark(input: &DeviceInput<'_>) -> Option<Diagnostic> {
    let is_other = input.skip.is_none() && !input.system_library && input.image.is_some();
    (is_other && !is_lto(input)).then(|| {
        Diagnostic::info(
            link::LTO_PARTIAL,
            format!("requested LTO but '{input}' not built for LTO so doing partial LTO"),
        )
    })
}

/// Looks at the inputs of a link with `-lto`, as nvlink does. `None` if the link ends here, which
/// has been reported.
pub fn kind_of_link(
    inputs: &[DeviceInput<'_>],
    options: &LtoOptions,
    reporter: &mut Reporter<'_>,
) -> io::Result<Option<LtoLink>> {
    if !inputs.iter().any(is_lto) {
        reporter.report(&Diagnostic::warning(
            link::LTO_NOTHING,
            "Ignoring -dlto option because no LTO objects found",
        ))?;
        if reporter.failed() && inputs.iter().any(|input| input.image.is_some()) {
            // After an error no object is merged with another.
            reporter.report(&Diagnostic::fatal(link::MERGE_FAILED, "merge_elf failed"))?;
            return Ok(None);
        }
        return Ok(Some(LtoLink::None));
    }
    if options.in_parts {
        let option = Diagnostic::fatal(unsupported::OPTION, "option '-split-compile-extended'");
        let note = "the parts of nvlink's program are other ones in each run";
        reporter.report(&option.note(note).help("leave the option out"))?;
        return Ok(None);
    }
    if options.partial || inputs.iter().any(|input| remark(input).is_some()) {
        return Ok(Some(LtoLink::Partial));
    }
    Ok(Some(LtoLink::Whole))
}

/// Optimises the LTO-IR of the inputs and compiles it. `None` if that fails, which has been
/// reported. `host_info` is `None` with `-ignore-host-info`.
pub fn compile(
    inputs: &[DeviceInput<'_>],
    kind: LtoLink,
    host_info: Option<&HostInfo<'_>>,
    target: Target,
    options: &CompileOptions,
    times: &mut Vec<CompileTime>,
    reporter: &mut Reporter<'_>,
) -> io::Result<Option<Optimised>> {
    let records = inputs.iter().filter_map(record);
    let mut findings = Vec::new();
    let agreed = agree(
        records,
        options.ptxas.max_registers.is_some(),
        &mut findings,
    );
    for finding in &findings {
        reporter.report(finding)?;
    }
    let agreed = match agreed {
        Ok(agreed) => agreed,
        Err(mismatch) => {
            reporter.report(&mismatch)?;
            return Ok(None);
        }
    };
    let units: Vec<LtoInput<'_>> = inputs
        .iter()
        .filter(|input| is_lto(input))
        .filter_map(unit)
        .collect();
    let mut nvvm = options.lto.nvvm.clone();
    nvvm.max_registers = nvvm.max_registers.or(agreed.max_registers);
    nvvm.split_compile = threads_of(&agreed, nvvm.split_compile);
    let mut ptxas_options = options.ptxas.clone();
    ptxas_options.max_registers = ptxas_options.max_registers.or(agreed.max_registers);
    ptxas_options.split_compile = threads_of(&agreed, ptxas_options.split_compile);
    // What is no program is linked as an object, if the device runtime is there for that.
    let may_be_object = is_from_host(inputs) && inputs.iter().any(has_runtime_code);
    if nvvm.sets(OWN_OPTION) {
        let text = format!(
            "libnvvm : error: {OWN_OPTION} defined more than onceNVVM_ERROR_INVALID_OPTION"
        );
        for diagnostic in not_compiled(text) {
            reporter.report(&diagnostic)?;
        }
        return Ok(None);
    }
    let words = match kind {
        LtoLink::Whole => nvvm.of_program(host_info, may_be_object),
        LtoLink::Partial | LtoLink::None => nvvm.of_part(),
    };
    let mut library_options = vec![
        // The suffix reaches ptxas alone.
        format!("-arch=sm_{}", target.sm),
        "-lto".to_owned(),
        "-ptx".to_owned(),
    ];
    // nvlink lets the optimiser take its defaults, unless there is an option for it.
    if nvvm.has_extra() {
        let recorded = agreed.floating_point.into_iter();
        let is_set = |option: &String| {
            option
                .split_once('=')
                .is_some_and(|(name, _)| nvvm.sets(name))
        };
        library_options.extend(recorded.filter(|option| !is_set(option)));
    }
    let is_whole = kind == LtoLink::Whole;
    let optimised = || {
        let library = NvJitLink::load(options.lto.library.as_deref(), &folders(options))?;
        let compiled = |words: &[String]| {
            let words = words.iter().map(|word| format!("-Xnvvm={word}"));
            let all: Vec<String> = library_options.iter().cloned().chain(words).collect();
            library.ptx(&all, &units)
        };
        let ptx = compiled(&words)?;
        let is_program = is_whole
            && (!may_be_object
                || match has_kernels(&ptx) {
                    true => true,
                    // There may have been kernels, all of which are left out.
                    false => has_kernels(&compiled(&nvvm.of_part())?),
                });
        Ok((ptx, is_program))
    };
    let start = Instant::now();
    let (ptx, mut is_program) = match optimised() {
        Ok(optimised) => optimised,
        Err(error) => {
            for diagnostic in failed(&error) {
                reporter.report(&diagnostic)?;
            }
            return Ok(None);
        }
    };
    times.push(CompileTime {
        source: "lto.nvvm".to_owned(),
        phase: "cicc",
        input: String::new(),
        output: "lto.ptx",
        milliseconds: start.elapsed().as_secs_f64() * 1e3,
    });
    if options.lto.emit_ptx {
        return Ok(Some(Optimised::Output(ptx)));
    }
    let ptxas = match options.tools.ptxas() {
        Ok(path) => Ptxas::new(path, target, &ptxas_options),
        Err(missing) => {
            reporter.report(&missing.diagnostic("the optimised program"))?;
            return Ok(None);
        }
    };
    let object = || {
        let image = PtxImage {
            text: &ptx,
            options: b"",
            arch: None,
        };
        ptxas.compile(image)
    };
    if is_program && !ptxas.takes_program(&ptx) {
        reporter.report(&Diagnostic::refusal(unsupported::LTO_DEBUG).help("link without -g"))?;
        return Ok(None);
    }
    if let Some(whole) = ptxas_options.of_whole_program()
        && is_program
        && may_be_object
    {
        let whole = Ptxas::new(ptxas.path().to_owned(), target, &whole);
        is_program = !lacks_functions(&whole.compile_program(&ptx));
    }
    let mut result = if is_program {
        ptxas.compile_program(&ptx)
    } else {
        object()
    };
    if may_be_object && lacks_functions(&result) {
        is_program = false;
        result = object();
    }
    let Some(compiled) = compiled(result, is_program, reporter)? else {
        return Ok(None);
    };
    times.push(CompileTime {
        source: "lto.ptx".to_owned(),
        phase: "ptxas",
        input: String::new(),
        output: OBJECT_NAME,
        milliseconds: compiled.milliseconds,
    });
    Ok(Some(if is_program {
        Optimised::Output(compiled.cubin)
    } else {
        Optimised::Object(compiled.cubin)
    }))
}

/// Puts the object of all LTO-IR after the last input that it came from or that has no code for the
/// target; these hold nothing any more. What no host object holds does not count for the place.
pub fn replace_inputs<'data>(
    inputs: &mut Vec<DeviceInput<'data>>,
    object: Option<Vec<u8>>,
    arena: &'data InputArena,
) {
    let is_part = |input: &DeviceInput<'_>| is_lto(input) || input.lacks_code();
    let counts = |input: &DeviceInput<'_>| is_part(input) && !(is_lto(input) && input.raw);
    let last = inputs.iter().rposition(counts);
    let last = last.or_else(|| inputs.iter().rposition(is_part));
    let behind = last.map_or(0, |last| last + 1);
    for input in inputs.iter_mut().filter(|input| is_part(input)) {
        input.image = None;
        input.system_library = false;
    }
    if let Some(object) = object {
        let object = Image::Cubin(arena.keep_buffer(object));
        inputs.insert(behind, DeviceInput::unregistered(OBJECT_NAME, object));
    }
}

fn unit<'a>(input: &DeviceInput<'a>) -> Option<LtoInput<'a>> {
    let Some(Image::Nvvm(nvvm)) = input.image else {
        return None;
    };
    Some(LtoInput {
        name: input.to_string(),
        kind: match nvvm.arch {
            Some(_) => InputKind::Fatbin,
            None => InputKind::LtoIr,
        },
        bytes: nvvm.container,
    })
}

/// Returns the threads that a compiler takes, if more than one: those of the records, else of the
/// link.
fn threads_of(agreed: &Agreed, of_link: Option<i32>) -> Option<i32> {
    agreed.split_compile.or(of_link).and_then(several)
}

/// Returns a number of threads unless it is one, which is no option for a compiler.
pub fn several(threads: i32) -> Option<i32> {
    Some(threads).filter(|threads| *threads != 1)
}

/// Returns the threads that LTO-IR was compiled with.
pub fn recorded_threads(input: &DeviceInput<'_>) -> Option<i32> {
    split_compile(record(input)?)
}

/// Returns the options that LTO-IR was compiled with.
fn record<'data>(input: &DeviceInput<'data>) -> Option<&'data [u8]> {
    match input.image {
        Some(Image::Nvvm(nvvm)) if is_lto(input) => Some(nvvm.options),
        _ => None,
    }
}

/// Returns `true` for a part of the device runtime with code for the target.
fn has_runtime_code(input: &DeviceInput<'_>) -> bool {
    input.system_library && input.image.is_some()
}

/// Returns `true` if ptxas refuses a program because it does not have all functions.
fn lacks_functions(result: &Result<Compiled, CompileError>) -> bool {
    matches!(result, Err(CompileError::Refused { messages })
        if UNRESOLVED.iter().any(|text| messages.contains(text)))
}

/// Returns `true` if PTX has at least a kernel.
fn has_kernels(ptx: &[u8]) -> bool {
    memmem::find(ptx, b".entry ").is_some()
}

/// Returns the compiler's output; its messages are passed on.
fn compiled(
    result: Result<Compiled, CompileError>,
    is_program: bool,
    reporter: &mut Reporter<'_>,
) -> io::Result<Option<Compiled>> {
    match result {
        Ok(compiled) => {
            if !compiled.messages.is_empty() {
                reporter.report(&said(&compiled.messages))?;
            }
            Ok(Some(compiled))
        }
        Err(error) => {
            let mut text = "elfLink fatbinary error";
            if let CompileError::Refused { messages } = &error {
                reporter.report(&said(messages))?;
                // Kernels that need too much are errors, all else is fatal.
                if is_program && !messages.contains("fatal") {
                    text = "elfLink JIT compile failed";
                }
            }
            let diagnostic = Diagnostic::fatal(system::COMPILER_FAILED, text);
            reporter.report(&diagnostic.note(format!("the optimised program: {error}")))?;
            Ok(None)
        }
    }
}

/// Returns what nvlink says where libNVVM refuses something.
fn not_compiled(log: String) -> [Diagnostic; 2] {
    let code = system::OPTIMISER_FAILED;
    [
        Diagnostic::info(code, log),
        Diagnostic::fatal(code, "elfLink JIT compile failed"),
    ]
}

fn failed(error: &NvJitLinkError) -> Vec<Diagnostic> {
    let one = match error {
        NvJitLinkError::Library { .. } | NvJitLinkError::Text(_) => {
            Diagnostic::fatal(system::NO_OPTIMISER, "elfLink linker library load error")
                .note(format!("cuweld: {error}"))
                .help("link-time optimisation needs libnvJitLink of the CUDA toolkit: name it with --cuweld-nvjitlink (--nvjitlink of `cuweld dlink`) or CUWELD_NVJITLINK")
        }
        NvJitLinkError::Static { .. } => Diagnostic::fatal(system::NO_OPTIMISER, "elfLink linker library load error")
            .note(format!("cuweld: {error}"))
            .help("link-time optimisation needs the program that `cargo build` makes for the GNU C library"),
        NvJitLinkError::Call { log, .. } => {
            let failure = log.strip_prefix(OPTIMISER_FAILS);
            if let Some((code, text)) = failure.and_then(|rest| rest.split_once('\n')) {
                return not_compiled(format!("{text}{code}")).into();
            }
            Diagnostic::fatal(system::OPTIMISER_FAILED, format!("cuweld: link-time optimisation: {error}"))
                .note(format!("libnvJitLink says: {}", log.trim()))
        }
    };
    vec![one]
}

/// Returns the folders in which the library is looked for: beside the one of `-nvvmpath`, and in
/// the toolkit.
pub(super) fn folders(options: &CompileOptions) -> Vec<PathBuf> {
    let beside = options.lto.nvvm_path.iter().map(|path| path.join(".."));
    beside
        .chain(options.tools.toolkit.clone())
        .chain(options.tools.cuda_home.clone())
        .flat_map(|root| library_folders(&root).collect::<Vec<_>>())
        .collect()
}
