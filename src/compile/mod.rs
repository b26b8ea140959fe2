//! Intermediate code of inputs becomes device objects here, with NVIDIA's own compilers.
//!
//! nvlink has the PTX compiler inside; cuweld runs the program `ptxas` of the same toolkit with the
//! options that nvlink uses, which gives the same object.
//!
//! Architecture Invariant: no environment variable is read here; [`ToolPaths`] carries what the
//! command line found there.

pub mod find;
pub mod jitlink_library;
pub mod lto;
mod lto_records;
pub mod nvjitlink;
pub mod nvvm_options;
pub mod ptxas;
pub mod record;
mod search;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::Severity;
use cuweld_diagnostics::codes::report;
use cuweld_diagnostics::codes::system;
use cuweld_elf::toolkit::Toolkit;
use cuweld_ir::ObjectOrigin;

pub use find::ToolPaths;
pub use lto::LtoOptions;
pub use nvvm_options::NvvmOptions;
pub use ptxas::PtxasOptions;
pub use search::search_dirs;

use crate::input::DeviceInput;
use crate::input::Image;
use crate::input::InputArena;
use crate::input::PtxImage;
use crate::input::SkipReason;
use crate::input::Target;
use cuweld_passes::threads::Threads;
use cuweld_passes::threads::Work;
use ptxas::CompileError;
use ptxas::Compiled;
use ptxas::Ptxas;

/// How intermediate code is compiled.
#[derive(Clone, Debug, Default)]
pub struct CompileOptions {
    /// Whether the toolkit of the link is the newest that made an input, so that newer code than
    /// that of the objects makes a newer link.
    pub any_toolkit: bool,
    /// Where the compilers are looked for.
    pub tools: ToolPaths,
    /// Options for ptxas that come from the link's command line.
    pub ptxas: PtxasOptions,
    /// How a program is optimised at link time.
    pub lto: LtoOptions,
}

/// How long a compiler ran, and on what, in the words of nvlink's table.
#[derive(Clone, Debug, PartialEq)]
pub struct CompileTime {
    /// What is compiled: a PTX file is named, PTX out of a fatbin has no source.
    pub source: String,
    /// The compiler.
    pub phase: &'static str,
    /// The input, as messages name it.
    pub input: String,
    /// What comes of it.
    pub output: &'static str,
    /// Wall-clock time.
    pub milliseconds: f64,
}

/// What became of PTX inputs.
#[derive(Debug, Default)]
pub struct PtxOutcomes {
    /// What there is to say, each with the place of its input: what the compiler wrote, then our
    /// own findings, of which a fatal one says that there is no object.
    pub findings: Vec<(usize, Diagnostic)>,
    /// Runs of the compiler.
    pub times: Vec<CompileTime>,
}

/// What ptxas says of PTX that is newer than itself, with both versions behind it.
const NEWER_PTX: &str = "Unsupported .version";

/// Puts cubins into the place of all PTX, up to the first that does not compile.
pub fn compile_ptx<'data>(
    inputs: &mut [DeviceInput<'data>],
    (toolkit, target): (&Toolkit, Target),
    options: &CompileOptions,
    threads: &Threads,
    arena: &'data InputArena,
) -> PtxOutcomes {
    let mut found = PtxOutcomes::default();
    let jobs: Vec<(usize, PtxImage<'data>)> = inputs
        .iter()
        .enumerate()
        .filter(|(_, input)| matches!(input.skip, None | Some(SkipReason::RawPtx)))
        .filter_map(|(index, input)| match input.image {
            Some(Image::Ptx(ptx)) => Some((index, ptx)),
            _ => None,
        })
        .collect();
    let Some((first, _)) = jobs.first().copied() else {
        return found;
    };
    let ptxas = match options.tools.ptxas() {
        Ok(path) => Ptxas::new(path, target, &options.ptxas),
        Err(missing) => {
            let name = inputs.get(first).map(ToString::to_string);
            let fatal = missing.diagnostic(&name.unwrap_or_default());
            found.findings.push((first, fatal));
            return found;
        }
    };
    let _span = tracing::info_span!("compile-ptx", files = jobs.len()).entered();
    let work = Work::Programs(jobs.len());
    let results: Vec<Result<Compiled, CompileError>> =
        threads.map(work, &jobs, |(_, ptx)| ptxas.compile(*ptx));
    let mut told_of_release = false;
    for ((index, ptx), result) in jobs.into_iter().zip(results) {
        let Some(input) = inputs.get_mut(index) else {
            continue;
        };
        let mut say = |finding| found.findings.push((index, finding));
        let compiled = match result {
            Ok(compiled) => compiled,
            Err(error) => {
                if let CompileError::Refused { messages } = &error {
                    say(said(messages));
                }
                say(match &error {
                    CompileError::Refused { messages } => {
                        let fatal =
                            Diagnostic::fatal(system::COMPILER_FAILED, "elfLink fatbinary error")
                                .note(format!("ptxas does not compile the PTX of '{input}'"));
                        match messages.contains(NEWER_PTX) {
                            true => fatal.help(format!(
                                "it is of a newer toolkit than '{}': name that toolkit's ptxas with \
                                 --cuweld-ptxas or CUWELD_PTXAS",
                                ptxas.path().display()
                            )),
                            false => fatal,
                        }
                    }
                    error => Diagnostic::fatal(
                        system::COMPILER_FAILED,
                        format!("cuweld: cannot compile the PTX of '{input}': {error}"),
                    )
                    .note(format!("the compiler is '{}'", ptxas.path().display())),
                });
                return found;
            }
        };
        say(said(&compiled.messages));
        let release = compiled.release.as_deref().filter(|_| !told_of_release);
        if let Some(remark) =
            release.and_then(|release| other_release(toolkit, options, ptxas.path(), release))
        {
            told_of_release = true;
            say(remark);
        }
        let name = input.to_string();
        let (source, output) = match ptx.arch {
            None => (name.clone(), ""),
            Some(_) => ("ptx".to_owned(), "cubin"),
        };
        found.times.push(CompileTime {
            source,
            phase: "ptxas",
            input: name,
            output,
            milliseconds: compiled.milliseconds,
        });
        input.image = Some(Image::Cubin(arena.keep_buffer(compiled.cubin)));
        input.origin = ObjectOrigin::Compiled;
    }
    found
}

/// Builds the report of what the compiler says.
fn said(messages: &str) -> Diagnostic {
    Diagnostic::new(Severity::Report, report::PTXAS, messages)
}

/// Returns the remark that another release of ptxas, which makes other code than nvlink's own
/// compiler, was used, if it is another one.
pub fn other_release(
    toolkit: &Toolkit,
    options: &CompileOptions,
    path: &std::path::Path,
    release: &str,
) -> Option<Diagnostic> {
    let mut known = Toolkit::ALL.iter();
    let known = known.find(|known| known.stamp.version == release);
    let is_newer =
        options.any_toolkit && known.is_some_and(|known| known.release >= toolkit.release);
    if release == toolkit.stamp.version || is_newer {
        return None;
    }
    Some(Diagnostic::remark(
        system::OTHER_COMPILER,
        format!(
            "PTX was compiled by '{}' ({release}); {} would use its own compiler, so the code may differ",
            path.display(),
            toolkit.linker()
        ),
    ))
}
