//! A link of bytes in memory, for programs that link: bytes in, bytes out.
//!
//! Architecture Invariant: no file is opened, no environment variable read and nothing printed, but
//! for what [`Linker::compile`] names. Threads end with the link.

mod kind;
mod look;
mod settings;
mod steps;

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::Severity;
use cuweld_elf::Target;
use cuweld_elf::toolkit::Toolkit;
use cuweld_ir::Arena;
use cuweld_ir::LinkOptions;
use cuweld_passes::remark::Shown;
use cuweld_passes::reports::link_map::LinkMap;
use cuweld_passes::threads::Threads;
use thiserror::Error;

pub use self::kind::Kind;
pub use self::look::Look;
pub use self::steps::ModuleMemory;
pub use self::steps::Ran;
use crate::compile::CompileOptions;
use crate::compile::ptxas::Compiled;
use crate::controls::Controls;
use crate::controls::Progress;
use crate::diagnostics::Reporter;
use crate::diagnostics::Style;
use crate::driver::Request;
use crate::driver::link;
use crate::extend::AddPasses;
use crate::input::DiscoverOptions;
use crate::input::InputArena;
use crate::input::arena::ToldInput;
use crate::input::identify::FileKind;
use crate::jobs;
use crate::limits::Limits;

/// A link to do: options first, then inputs, in the order in which they are linked.
#[derive(Clone, Debug)]
pub struct Linker {
    target: Target,
    toolkit: Option<&'static Toolkit>,
    options: LinkOptions,
    compile: CompileOptions,
    lto: bool,
    controls: Controls,
    limits: Limits,
    jobs: usize,
    input_limit: u64,
    inputs: Vec<(ToldInput, Vec<u8>)>,
    input_bytes: u64,
    progress: Option<Progress>,
}

/// What came of a link.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Linked {
    /// The device ELF file; PTX if [`LtoOptions::emit_ptx`](crate::LtoOptions::emit_ptx) is set.
    pub cubin: Vec<u8>,
    /// What there is to say of the link: warnings, deviations, reports that were asked for.
    pub diagnostics: Vec<Diagnostic>,
    /// How much was linked.
    pub statistics: Statistics,
    /// What lies where in [`Self::cubin`], if [`Linker::map`] asked for it; `None` of a program that
    /// link-time optimisation made, whose layout is not known here.
    pub map: Option<LinkMap>,
    /// What passes decided and why, if [`Linker::set`] asked for `remarks`.
    pub remarks: Vec<Shown>,
}

/// How much was linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Inputs that were added.
    pub inputs: usize,
    /// Their bytes.
    pub input_bytes: u64,
    /// Bytes of the output.
    pub output_bytes: u64,
}

/// Why an input was not added. The link goes on without it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AddError {
    /// The bytes are of another kind than was said.
    #[error("'{name}' is not {kind}")]
    Kind {
        /// The input's name.
        name: String,
        /// What it was said to be.
        kind: Kind,
    },
    /// All inputs have more bytes than [`Linker::input_limit`] allows.
    #[error("the inputs up to '{name}' have more than {limit} bytes")]
    Limit {
        /// The input's name.
        name: String,
        /// Bytes that are allowed.
        limit: u64,
    },
}

/// Why there is no output.
#[derive(Clone, Debug, Error)]
pub enum LinkError {
    /// The link failed; the first finding that is an error says why.
    #[error("{}", first_error(.diagnostics))]
    Failed {
        /// What there is to say of the link.
        diagnostics: Vec<Diagnostic>,
    },
    /// [`Linker::progress`] ended it.
    #[error("the link was cancelled")]
    Cancelled,
}

/// Returns what the output of a link without nvlink's command line says of its options.
pub(crate) fn recorded_options(target: Target, relocatable: bool) -> Vec<u8> {
    let relocatable = if relocatable { "-r  " } else { "" };
    format!("-arch {target} {relocatable}").into_bytes()
}

/// Returns the text of the first error of some findings.
fn first_error(diagnostics: &[Diagnostic]) -> String {
    let error = diagnostics
        .iter()
        .find(|finding| finding.severity >= Severity::Error);
    error.map_or("the link failed".to_owned(), ToString::to_string)
}

impl Linker {
    /// Begins a link for a target, without options, on the caller's thread alone.
    pub fn new(target: Target) -> Self {
        Linker {
            target,
            toolkit: None,
            options: LinkOptions::default(),
            compile: CompileOptions::default(),
            lto: false,
            controls: Controls::default(),
            limits: Limits::default(),
            jobs: 1,
            input_limit: u64::MAX,
            inputs: Vec::new(),
            input_bytes: 0,
            progress: None,
        }
    }

    /// Stands in for the linker of a toolkit; else of the newest that made an input.
    pub fn toolkit(mut self, toolkit: &'static Toolkit) -> Self {
        self.toolkit = Some(toolkit);
        self
    }

    /// Sets the options that change bytes.
    pub fn options(mut self, options: LinkOptions) -> Self {
        self.options = options;
        self
    }

    /// Says which compilers there are for PTX, and which library for LTO-IR. Without this, neither
    /// is compiled.
    pub fn compile(mut self, compile: CompileOptions) -> Self {
        self.compile = compile;
        self
    }

    /// Optimises LTO-IR at link time, with the library that [`Self::compile`] names.
    pub fn lto(mut self, lto: bool) -> Self {
        self.lto = lto;
        self
    }

    /// Runs a pipeline in its one-line form, such as `@executable,strip-debug`, in place of the
    /// standard one.
    pub fn pipeline(mut self, passes: &str) -> Self {
        self.controls.selection.passes = Some(passes.to_owned());
        self
    }

    /// Does as nvlink even where it loses code (`strict`), and refuses kernels that only NVIDIA's
    /// finalizer links as nvlink does (`strict_finalize`).
    pub fn strict(mut self, strict: bool, strict_finalize: bool) -> Self {
        self.controls.strict = strict;
        self.controls.strict_finalize = strict_finalize;
        self
    }

    /// Adds passes that pipelines can name, beside cuweld's own; one takes the place of another of its
    /// name.
    pub fn add_passes(mut self, passes: AddPasses) -> Self {
        self.controls.extensions.added.push(passes);
        self
    }

    /// Divides the work among so many threads at most, which end with the link. One is the caller's;
    /// several work while the caller's waits.
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.jobs = jobs;
        self
    }

    /// Sets the limits of what packed inputs unpack to and of the output.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how many bytes all inputs may have.
    pub fn input_limit(mut self, bytes: u64) -> Self {
        self.input_limit = bytes;
        self
    }

    /// Says whether [`Linked::map`] is made.
    pub fn map(mut self, is_made: bool) -> Self {
        self.controls.map = is_made;
        self
    }

    /// Calls a function before each pass, with its name, its number from 1 and their number. It
    /// cancels the link by `Break`.
    pub fn progress(
        mut self,
        progress: impl Fn(&str, usize, usize) -> ControlFlow<()> + Send + Sync + 'static,
    ) -> Self {
        self.progress = Some(Progress::new(progress));
        self
    }

    /// Adds an input with the name that messages use; several may have the same.
    ///
    /// # Errors
    ///
    /// Bytes of another kind, and more of them than the limit.
    pub fn add(
        mut self,
        bytes: impl Into<Vec<u8>>,
        kind: Kind,
        name: impl Into<String>,
    ) -> Result<Self, AddError> {
        self.push(bytes.into(), kind, name.into())?;
        Ok(self)
    }

    /// Does the same as [`Self::add`], for a caller that keeps the linker if it fails.
    ///
    /// # Errors
    ///
    /// Those of [`Self::add`].
    pub fn push(&mut self, bytes: Vec<u8>, kind: Kind, name: String) -> Result<(), AddError> {
        match kind.of(&bytes) {
            Some(kind) => self.take(
                bytes,
                ToldInput {
                    name,
                    kind,
                    is_compiled: false,
                },
            ),
            None => Err(AddError::Kind { name, kind }),
        }
    }

    /// Adds what [`Self::compile_ptx`] made.
    ///
    /// # Errors
    ///
    /// Those of [`Self::add`].
    pub fn push_compiled(&mut self, compiled: Compiled, name: String) -> Result<(), AddError> {
        let kind = FileKind::Cubin;
        self.take(
            compiled.cubin,
            ToldInput {
                name,
                kind,
                is_compiled: true,
            },
        )
    }

    /// Returns the name and the bytes of each input that was added.
    pub fn inputs(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let inputs = self.inputs.iter();
        inputs.map(|(told, bytes)| (told.name.as_str(), bytes.as_slice()))
    }

    fn take(&mut self, bytes: Vec<u8>, told: ToldInput) -> Result<(), AddError> {
        let all = self.input_bytes.saturating_add(bytes.len() as u64);
        if all > self.input_limit {
            return Err(AddError::Limit {
                name: told.name,
                limit: self.input_limit,
            });
        }
        self.input_bytes = all;
        self.inputs.push((told, bytes));
        Ok(())
    }

    /// Links.
    ///
    /// # Errors
    ///
    /// What is said of inputs that cannot be linked.
    pub fn link(mut self) -> Result<Linked, LinkError> {
        let record = &mut self.options.record;
        if record.options.is_empty() {
            record.options = recorded_options(self.target, self.options.relocatable);
        }
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let progress = self.progress.take();
        self.controls.watching.progress =
            progress.map(|progress| told_of_cancelling(progress, &is_cancelled));
        let count = self.inputs.len();
        let names = numbers(count);
        let inputs = InputArena::of_inputs(std::mem::take(&mut self.inputs));
        let discover = self.discover(&names);
        let request = self.request(discover);
        let (mut text, mut diagnostics, mut remarks) = (Vec::new(), Vec::new(), Vec::new());
        let arena = Arena::new();
        let made = {
            let mut reporter = Reporter::new(&mut text, Style::Native);
            reporter.keep(&mut diagnostics);
            reporter.keep_remarks(&mut remarks);
            let outcome = link(&request, &inputs, &arena, &mut reporter);
            // A buffer takes all that is written.
            outcome.ok().and_then(|outcome| {
                let image = outcome.output?.image().ok()?.into_owned();
                Some((image, outcome.map))
            })
        };
        let Some((cubin, map)) = made else {
            return Err(match is_cancelled.load(Ordering::Relaxed) {
                true => LinkError::Cancelled,
                false => LinkError::Failed { diagnostics },
            });
        };
        let statistics = Statistics {
            inputs: count,
            input_bytes: self.input_bytes,
            output_bytes: cubin.len() as u64,
        };
        Ok(Linked {
            cubin,
            diagnostics,
            statistics,
            map,
            remarks,
        })
    }

    fn request<'a>(&'a self, discover: DiscoverOptions<'a>) -> Request<'a> {
        Request {
            toolkit: self.toolkit,
            compile: self.compile_options(),
            options: self.options.clone(),
            // Nobody says what the host refers to.
            ignore_host_info: true,
            threads: self.threads(),
            ..Request::new(discover, &self.controls)
        }
    }

    fn threads(&self) -> Threads {
        // The caller's thread may belong to a thread pool, or come to.
        Threads::beside_caller(self.jobs.min(jobs::MOST_ASKED))
    }

    fn compile_options(&self) -> CompileOptions {
        let mut compile = self.compile.clone();
        compile.any_toolkit = self.toolkit.is_none();
        compile.ptxas.debug |= self.options.debug;
        compile
    }

    fn discover<'a>(&self, names: &'a [String]) -> DiscoverOptions<'a> {
        DiscoverOptions {
            toolkit: self.toolkit.unwrap_or_default(),
            lto: self.lto,
            strict: self.controls.strict,
            limits: self.limits,
            ..DiscoverOptions::new(self.target, names)
        }
    }
}

/// Wraps the function that is told of progress, so that `is_cancelled` says whether it ended the link.
fn told_of_cancelling(progress: Progress, is_cancelled: &Arc<AtomicBool>) -> Progress {
    let is_cancelled = Arc::clone(is_cancelled);
    Progress::new(move |pass, number, of| {
        let flow = progress.tell(pass, number, of);
        is_cancelled.fetch_or(flow.is_break(), Ordering::Relaxed);
        flow
    })
}

/// Returns the names by which this number of inputs is looked for.
fn numbers(count: usize) -> Vec<String> {
    (0..count).map(|number| number.to_string()).collect()
}

impl fmt::Display for Linked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Statistics {
            inputs,
            input_bytes,
            output_bytes,
        } = self.statistics;
        write!(
            f,
            "{inputs} inputs of {input_bytes} bytes are linked to {output_bytes} bytes"
        )
    }
}
