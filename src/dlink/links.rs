//! The links of one device-link step: one for each target, of the same inputs.

use std::collections::BTreeMap;
use std::io;
use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::internal;
use cuweld_diagnostics::codes::system;
use cuweld_elf::Target;
use cuweld_ir::Arena;
use cuweld_passes::traced::Traced;

use crate::diagnostics::Reporter;
use crate::diagnostics::Style;
use crate::driver::Request;
use crate::driver::link;
use crate::input::InputArena;
use crate::input::SharedFiles;
use crate::jobs;
use crate::output::OutputError;
use crate::registration::Registration;

/// Links that run at a time: more would take more memory, and a link has threads of its own.
const AT_ONCE: usize = 2;

/// What came of the link for a target.
pub struct TargetLink {
    /// The target.
    pub target: Target,
    /// The cubin; `None` if the link failed.
    pub image: Option<Vec<u8>>,
    /// The modules that were linked.
    pub registration: Option<Registration>,
    /// What there is to say of it, as it is to be written.
    pub messages: Vec<u8>,
    /// The exit code of such a link.
    pub exit_code: u8,
}

/// A link to do.
pub struct LinkJob<'a> {
    /// What it is asked to do.
    pub request: Request<'a>,
    /// The form of its messages.
    pub style: Style,
    /// Sets up how findings are reported.
    pub set_up: Box<dyn Fn(&mut Reporter<'_>) + Sync + 'a>,
}

/// Runs links of files that they share, some at a time, with as many threads as were asked for in
/// all, and hands each on in its order as soon as those before it are done. After one that failed
/// no further one begins or is handed on unless the caller `goes_on`.
pub fn link_all(
    jobs: &[LinkJob<'_>],
    files: &Arc<SharedFiles>,
    (asked, goes_on): (Option<usize>, bool),
    take: &mut (dyn FnMut(TargetLink) + Send),
) {
    let (threads, _permit) = jobs::allowed_threads(asked);
    let at_once = threads.min(AT_ONCE).min(jobs.len()).max(1);
    let each = (threads / at_once).max(1);
    let next = AtomicUsize::new(0);
    let order = Mutex::new(Order {
        next: 0,
        waiting: BTreeMap::new(),
        ended: false,
        goes_on,
        take,
    });
    let order_of = || order.lock().unwrap_or_else(PoisonError::into_inner);
    let traced = Traced::here();
    let work = || {
        let _task = traced.begin();
        while !order_of().ended
            && let index = next.fetch_add(1, Ordering::Relaxed)
            && let Some(job) = jobs.get(index)
        {
            let link = catch_unwind(AssertUnwindSafe(|| link_one(job, files, each)));
            let link = link.unwrap_or_else(|_| panicked(job));
            order_of().hand_on(index, link);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..at_once {
            scope.spawn(work);
        }
        work();
    });
}

/// Hands links on in their order.
struct Order<'t> {
    /// The one that is handed on next.
    next: usize,
    /// Those that are done before it.
    waiting: BTreeMap<usize, TargetLink>,
    /// Whether no further one is wanted.
    ended: bool,
    goes_on: bool,
    take: &'t mut (dyn FnMut(TargetLink) + Send),
}

impl Order<'_> {
    fn hand_on(&mut self, index: usize, link: TargetLink) {
        self.waiting.insert(index, link);
        while let Some(link) = self.waiting.remove(&self.next)
            && !self.ended
        {
            self.next += 1;
            self.ended = !self.goes_on && link.image.is_none();
            (self.take)(link);
        }
    }
}

/// Returns what came of a link that ended in a panic.
fn panicked(job: &LinkJob<'_>) -> TargetLink {
    let mut messages = Vec::new();
    let mut reporter = Reporter::new(&mut messages, job.style);
    (job.set_up)(&mut reporter);
    let message = "cuweld: internal error: the link panicked";
    // A buffer takes all that is written.
    let _ = reporter.report(&Diagnostic::fatal(internal::FAULT, message));
    TargetLink {
        target: job.request.discover.target,
        image: None,
        registration: None,
        exit_code: reporter.exit_code(),
        messages,
    }
}

fn link_one(job: &LinkJob<'_>, files: &Arc<SharedFiles>, threads: usize) -> TargetLink {
    let name = job.request.discover.target.to_string();
    let _span = tracing::info_span!("link", name).entered();
    let mut messages = Vec::new();
    let mut reporter = Reporter::new(&mut messages, job.style);
    (job.set_up)(&mut reporter);
    let request = Request {
        threads: jobs::threads(Some(threads)),
        ..job.request.clone()
    };
    // A buffer takes all that is written.
    let made = linked(&request, files, &mut reporter).unwrap_or((None, None));
    let exit_code = reporter.exit_code();
    let (image, registration) = made;
    TargetLink {
        target: request.discover.target,
        image,
        registration,
        messages,
        exit_code,
    }
}

type Made = (Option<Vec<u8>>, Option<Registration>);

fn linked(
    request: &Request<'_>,
    files: &Arc<SharedFiles>,
    reporter: &mut Reporter<'_>,
) -> io::Result<Made> {
    let (input_arena, arena) = (InputArena::sharing(files), Arena::new());
    let outcome = link(request, &input_arena, &arena, reporter)?;
    let Some(file) = outcome.output.filter(|_| !reporter.failed()) else {
        if !reporter.failed() {
            let message = "cuweld: the passes ended before the file was made";
            reporter.report(&Diagnostic::fatal(internal::FAULT, message))?;
        }
        return Ok((None, None));
    };
    let image = OutputError::if_changed(&input_arena).and_then(|()| Ok(file.image()?.into_owned()));
    match image {
        Ok(image) => Ok((Some(image), outcome.registration)),
        Err(error) => {
            reporter.internal_error |= error.is_internal();
            let message = format!("no output is written: {error}");
            reporter.report(&Diagnostic::fatal(system::CANNOT_WRITE, message))?;
            Ok((None, None))
        }
    }
}
