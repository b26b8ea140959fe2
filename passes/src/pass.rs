//! What a pass is.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::Diagnostics;
use cuweld_diagnostics::codes::unsupported;
use cuweld_ir::Arena;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use thiserror::Error;

use crate::INSTRUMENTED;
use crate::analyses::Analyses;
use crate::analyses::Preserved;
use crate::facts::FactInfo;
use crate::facts::Facts;
use crate::options::OptionInfo;
use crate::remark::RemarkInfo;
use crate::remark::Remarks;
use crate::threads::Threads;

/// A step of a link that reads and changes a module.
///
/// A pass has no state of its own beside its options, so that running it twice on equal modules
/// does the same.
pub trait Pass {
    /// Returns the declaration of the pass.
    fn info(&self) -> PassInfo;

    /// Runs the pass. Findings about the input go to `cx.diagnostics`; a pass that emitted an error
    /// after which the link cannot go on returns [`PassError::Diagnosed`].
    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError>;

    /// Says what the pass has decided, and why, as the module shows it after
    /// [`run`](Pass::run) has succeeded. It is called only if somebody listens, and takes time
    /// linear in the module.
    fn remarks(&self, module: &Module<'_>, remarks: &mut Remarks) {
        let _ = (module, remarks);
    }
}

/// The declaration of a pass: its names, its place in a pipeline, and what it leaves valid.
///
/// Pipelines, `cuweld passes` and `docs/framework/passes.md` read nothing else. A pass names what
/// it needs and takes the rest from [`PassInfo::DEFAULT`].
#[derive(Clone, Copy, Debug)]
pub struct PassInfo {
    /// Its name in pipeline files, such as `callgraph-dce`.
    pub name: &'static str,
    /// One line that says what it does.
    pub summary: &'static str,
    /// Its documentation: Markdown, or the text of its source file (`include_str!`), of which the
    /// leading `//!` lines count.
    pub doc: &'static str,
    /// What a program adds to the documentation of a pass that it extends, in the same form.
    pub further_doc: &'static str,
    /// The options that it takes.
    pub options: &'static [OptionInfo],
    /// The phase that a module must have reached.
    pub requires: Phase,
    /// The phase that a module has reached after the pass, if the pass is a milestone.
    pub establishes: Option<Phase>,
    /// The phase at which the pass comes too late, if there is one.
    pub before: Option<Phase>,
    /// The facts of a link ([`Facts::ALL`]) with which the pass refuses to run.
    pub refuses: &'static [&'static str],
    /// The links that may be wrong without the pass although it establishes no phase.
    pub required: Required,
    /// Whether a pipeline may have the pass once only. One that establishes a phase never has it
    /// twice.
    pub once: bool,
    /// Whether the pass only reports on the module. Such passes run, if their phase was reached,
    /// even after a pass has stopped the link because of errors that are not fatal: nvlink goes on.
    pub reports: bool,
    /// Whether the pass only writes the planned file into memory: a link that ends with the pass
    /// may leave it out and write the plan to disk instead.
    pub writes_plan: bool,
    /// The analyses that stay valid when the pass reports a change.
    pub preserves: Preserved,
    /// The kinds of remarks that the pass makes.
    pub remarks: &'static [RemarkInfo],
}

/// The links that write a file for which a pass has to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Required {
    /// None.
    No,
    /// All.
    Always,
    /// Those for which a fact ([`Facts::ALL`]) holds.
    If(&'static str),
    /// Those for which a fact does not hold.
    Unless(&'static str),
}

impl Required {
    /// Returns `true` if a link with these facts needs the pass.
    pub(crate) fn holds(self, facts: Facts) -> bool {
        match self {
            Required::No => false,
            Required::Always => true,
            Required::If(fact) => facts.holds(fact) == Some(true),
            Required::Unless(fact) => facts.holds(fact) == Some(false),
        }
    }
}

impl PassInfo {
    /// A pass that runs on any module, for any output, and preserves nothing.
    pub const DEFAULT: Self = PassInfo {
        name: "",
        summary: "",
        doc: "",
        further_doc: "",
        options: &[],
        requires: Phase::Lowered,
        establishes: None,
        before: None,
        refuses: &[],
        required: Required::No,
        once: false,
        reports: false,
        writes_plan: false,
        preserves: Preserved::Only(&[]),
        remarks: &[],
    };

    /// Returns `true` if the link is right without the pass, so that a bisection may leave it out.
    pub fn is_optional(&self) -> bool {
        self.establishes.is_none() && self.required == Required::No
    }

    /// Returns the documentation as Markdown.
    pub fn documentation(&self) -> String {
        let texts = [self.doc, self.further_doc].map(|text| match text.starts_with("//!") {
            true => source_doc(text),
            false => text.trim().to_owned(),
        });
        texts.join("\n\n").trim_end().to_owned()
    }

    /// Returns the fact of a link with which the pass refuses to run.
    pub(crate) fn refused_fact(&self, facts: Facts) -> Option<&'static FactInfo> {
        let refused = |info: &&FactInfo| self.refuses.contains(&info.name);
        let mut refused = Facts::ALL.iter().filter(refused);
        refused.find(|info| facts.holds(info.name) == Some(true))
    }

    /// Says why the pass cannot run on this module, if its declaration rules that out: the pipeline
    /// may have been resolved for another link.
    pub(crate) fn refusal(&self, module: &Module<'_>) -> Option<Diagnostic> {
        let facts = Facts::new(module.target, &module.options);
        let fact = self.refused_fact(facts)?;
        Some(self.refused(fact.doc))
    }

    /// Makes the diagnostic of a pass that cannot do something soundly.
    pub(crate) fn refused(&self, what: &str) -> Diagnostic {
        Diagnostic::fatal(unsupported::TRANSFORM, format!("{}: {what}", self.name))
    }
}

/// Returns the documentation at the head of a source file.
pub fn source_doc(source: &str) -> String {
    let lines: Vec<&str> = source
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    lines.join("\n").trim().to_owned()
}

/// Whether a pass changed the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// The module is as it was.
    No,
    /// Something changed.
    Yes,
}

impl From<bool> for Changed {
    fn from(changed: bool) -> Self {
        if changed { Changed::Yes } else { Changed::No }
    }
}

/// Why a pass stopped the link.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PassError {
    /// The diagnostics say what is wrong with the input.
    #[error("the link was stopped by an error")]
    Diagnosed,
    /// A bug in cuweld, or a module that no pass could have made.
    #[error("internal error: {0}")]
    Internal(String),
    /// The pass panicked; the text of the panic. The module may be broken.
    #[error("it panicked: {0}")]
    Panicked(String),
    /// What the pass runs outside of this process, or calls, did not come to its end. The module is as
    /// it was.
    #[error("{0}")]
    Crashed(Box<Diagnostic>),
}

/// What a pass is given beside the module.
pub struct PassCx<'cx, 'data> {
    /// Owns bytes that the linker creates.
    pub arena: &'data Arena,
    /// Facts derived from the module, computed once.
    pub analyses: &'cx mut Analyses,
    /// Where findings go. Those of the inputs and of the passes before are the module's.
    pub diagnostics: &'cx mut Diagnostics,
    /// Where counts go.
    pub statistics: &'cx mut Statistics,
    /// Where the pass says what it decides, of decisions that the module does not keep; others are
    /// for [`Pass::remarks`].
    pub remarks: &'cx mut Remarks,
    /// Threads for work that is worth them.
    pub threads: &'cx Threads,
}

/// Counters of one pass instance, in order of first use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    counters: Vec<(&'static str, u64)>,
}

impl Statistics {
    /// Adds to a counter.
    pub fn add(&mut self, name: &'static str, count: u64) {
        if !INSTRUMENTED {
            return;
        }
        match self.counters.iter_mut().find(|(known, _)| *known == name) {
            Some((_, value)) => *value += count,
            None => self.counters.push((name, count)),
        }
    }

    /// Returns the counters.
    pub fn counters(&self) -> &[(&'static str, u64)] {
        &self.counters
    }
}
