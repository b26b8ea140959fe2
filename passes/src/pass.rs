//! What a pass is.

use cuweld_diagnostics::Diagnostics;
use cuweld_ir::Arena;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use thiserror::Error;

use crate::analyses::Analyses;
use crate::analyses::Preserved;
use crate::instrument::INSTRUMENTED;
use crate::threads::Threads;

/// A step of a link that reads and changes a module.
///
/// A pass has no state of its own beside its options, so that running it twice on equal modules does
/// the same.
pub trait Pass {
    /// Its name in pipeline files, such as `callgraph-dce`.
    fn name(&self) -> &'static str;

    /// One line that says what it does.
    fn summary(&self) -> &'static str;

    /// The phase that a module must have reached.
    fn requires(&self) -> Phase;

    /// The phase that a module has reached after the pass, if the pass is a wall.
    fn establishes(&self) -> Option<Phase> {
        None
    }

    /// Whether the pass only reports on the module. Such passes run, if their phase was reached, even
    /// after a pass has stopped the link because of errors that are not fatal: nvlink goes on.
    fn reports(&self) -> bool {
        false
    }

    /// Whether the link is right without the pass, so that a bisection may leave it out; by default if
    /// it establishes no phase.
    fn is_optional(&self) -> bool {
        self.establishes().is_none()
    }

    /// The analyses that stay valid when the pass reports a change.
    fn preserves(&self) -> Preserved {
        Preserved::empty()
    }

    /// Runs the pass. Findings about the input go to `cx.diagnostics`; a pass that emitted an error
    /// after which the link cannot go on returns [`PassError::Diagnosed`].
    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError>;
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
}

/// What a pass is given beside the module.
pub struct PassCx<'cx, 'data> {
    /// Owns bytes that the linker creates.
    pub arena: &'data Arena,
    /// Facts derived from the module, computed once.
    pub analyses: &'cx mut Analyses,
    /// Where findings go.
    pub diagnostics: &'cx mut Diagnostics,
    /// Where counts go.
    pub statistics: &'cx mut Statistics,
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

    /// The counters.
    pub fn counters(&self) -> &[(&'static str, u64)] {
        &self.counters
    }
}
