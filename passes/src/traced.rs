//! Carries a trace to the threads that share the work of a link.
//!
//! Spans belong to the thread that opens them, and so does a subscriber that is set for one link
//! alone. Whoever hands work to another thread takes both along.

use tracing::Dispatch;
use tracing::Span;
use tracing::dispatcher;
use tracing::dispatcher::DefaultGuard;
use tracing::span::EnteredSpan;

use crate::INSTRUMENTED;

/// The subscriber and the span of the thread that hands work on; nothing if nobody traces.
#[derive(Clone, Debug)]
pub struct Traced(Option<(Dispatch, Span)>);

/// A task on its way, which is a span until this value is dropped.
#[derive(Debug)]
pub struct Task {
    // In this order: the span ends while its subscriber is there.
    _span: EnteredSpan,
    _subscriber: DefaultGuard,
}

impl Traced {
    /// Returns what the tasks of this thread are seen by.
    pub fn here() -> Self {
        if !INSTRUMENTED || !dispatcher::has_been_set() {
            return Traced(None);
        }
        let dispatch = dispatcher::get_default(Dispatch::clone);
        Traced(Some((dispatch, Span::current())))
    }

    /// Begins a task on this thread, below the span of the thread that hands it on.
    pub fn begin(&self) -> Option<Task> {
        let (dispatch, parent) = self.0.as_ref()?;
        let subscriber = dispatcher::set_default(dispatch);
        let span = tracing::debug_span!(parent: parent, "task").entered();
        Some(Task {
            _span: span,
            _subscriber: subscriber,
        })
    }

    /// Does something as a task on this thread.
    pub fn run<R>(&self, task: impl FnOnce() -> R) -> R {
        let _task = self.begin();
        task()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::Mutex;
    use std::thread::ThreadId;

    use tracing::Subscriber;
    use tracing::span::Id;
    use tracing_subscriber::Layer;
    use tracing_subscriber::layer::Context;
    use tracing_subscriber::layer::SubscriberExt as _;
    use tracing_subscriber::registry::LookupSpan;

    use crate::threads::Threads;
    use crate::threads::Work;

    /// Notes the spans that are entered: their names, those of their parents, and the threads.
    #[derive(Clone, Default)]
    struct Noted(Arc<Mutex<Vec<Entered>>>);

    /// The name of a span, that of its parent, and the thread.
    type Entered = (&'static str, Option<&'static str>, ThreadId);

    impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Noted {
        fn on_enter(&self, id: &Id, context: Context<'_, S>) {
            let span = context.span(id).unwrap();
            let parent = span.parent().map(|parent| parent.name());
            let here = std::thread::current().id();
            self.0.lock().unwrap().push((span.name(), parent, here));
        }
    }

    #[test]
    fn tasks_of_other_threads_are_spans_below_the_callers() {
        // The caller's thread is none of these.
        let threads = Threads::beside_caller(2);
        let here = std::thread::current().id();
        let work = Work::Programs(64);
        let mut items = vec![0_u8; 64];
        let noted = |run: &mut dyn FnMut()| {
            let noted = Noted::default();
            let subscriber = tracing_subscriber::registry().with(noted.clone());
            tracing::subscriber::with_default(subscriber, || {
                let _span = tracing::info_span!("pass").entered();
                run();
            });
            let mut spans = noted.0.lock().unwrap().clone();
            assert_eq!(spans.remove(0), ("pass", None, here));
            let is_task = |(name, parent, thread): &Entered| {
                (*name, *parent) == ("task", Some("pass")) && *thread != here
            };
            assert!(spans.iter().all(is_task), "{spans:?}");
            spans.len()
        };
        assert!(noted(&mut || drop(threads.map(work, &items, |_| ()))) >= 1);
        let chunks = |items: &[u8]| items.len();
        assert_eq!(
            noted(&mut || drop(threads.map_chunks(work, &items, chunks))),
            8
        );
        let mut copy = items.clone();
        let changed = &mut || drop(threads.map_chunks_mut(work, &mut copy, |_, part| part.len()));
        assert_eq!(noted(changed), 8);
        assert!(noted(&mut || threads.for_each(work, &mut items, |item| *item += 1)) >= 1);
        assert_eq!(
            noted(&mut || assert_eq!(threads.join(work, || 1, || 2), (1, 2))),
            2
        );
        let second = || threads.second(work).unwrap();
        assert_eq!(noted(&mut || second().beside(|| (), || ())), 1);
    }
}
