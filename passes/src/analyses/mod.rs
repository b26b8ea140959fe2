//! Facts derived from a module, computed on demand and kept until a pass invalidates them.

mod aliases_before_functions;
mod call_graph;
mod call_graph_dot;
pub(crate) mod code_changes;
mod components;
mod counting_calls;
mod creation_order;
mod deepest_stack;
mod early_aliases;
mod finalizer_profile;
mod host_kernels;
pub(crate) mod host_names;
mod instructions;
mod kinds;
mod meanings;
pub mod name_patterns;
mod prototypes;
mod reachers;
mod shared_parameters;
pub(crate) mod value_tables;
mod words_of_functions;
pub(crate) mod yields;

pub use aliases_before_functions::aliases_before_functions;
pub use call_graph::CallGraph;
pub use call_graph_dot::call_graph_dot;
pub use components::Components;
pub use counting_calls::counting_call_ids;
pub use counting_calls::counting_calls;
pub use creation_order::LiveFunctions;
pub use creation_order::all_functions_in_creation_order;
pub use creation_order::creates_locals_first;
pub(crate) use deepest_stack::DeepestStack;
pub use early_aliases::EarlyAliases;
pub(crate) use finalizer_profile::finalizer_profile;
pub(crate) use finalizer_profile::is_specific;
pub use host_kernels::HostKernels;
pub use host_kernels::KnownBy;
pub use instructions::Instructions;
pub use instructions::RelocatedOperand;
pub use instructions::Slot;
pub use instructions::SlotReloc;
pub use kinds::Kinds;
pub use meanings::Meanings;
pub use prototypes::Prototypes;
pub use reachers::reachers;
pub(crate) use shared_parameters::SharedParameters;
pub(crate) use words_of_functions::words_of_functions;

use std::any::Any;
use std::any::TypeId;
use std::cell::OnceCell;
use std::fmt;

use cuweld_ir::Module;

/// A fact about a module that several passes ask for. It is known by its type, so that a pass of
/// another crate brings its own.
///
/// It owns what it holds, ids and numbers, and borrows nothing from the module.
pub trait Analysis: Sized + 'static {
    /// Computes the analysis. It may ask `analyses` for others, which must not ask for this one.
    fn compute(module: &Module<'_>, analyses: &Analyses) -> Self;

    /// Returns whether it says the same as another one; `None`, which it is by default, if analyses of
    /// this type cannot be compared. With `--verify-each` what passes say to preserve is compared with
    /// what is computed anew: `Some(self == other)` is all that it takes.
    fn equals(&self, other: &Self) -> Option<bool> {
        let _ = other;
        None
    }
}

/// An analysis of any type.
trait Stored {
    fn as_any(&self) -> &dyn Any;
    fn name(&self) -> &'static str;
    /// Compares it with what is computed anew.
    fn holds(&self, module: &Module<'_>, anew: &Analyses) -> Option<bool>;
}

impl<A: Analysis> Stored for A {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &'static str {
        let path = std::any::type_name::<A>();
        path.rsplit("::").next().unwrap_or(path)
    }

    fn holds(&self, module: &Module<'_>, anew: &Analyses) -> Option<bool> {
        self.equals(anew.get::<A>(module))
    }
}

/// The analyses that stay valid although a pass has changed the module.
#[derive(Clone, Copy, Debug)]
pub enum Preserved {
    /// All: the pass changes nothing that an analysis reads.
    All,
    /// These types alone, such as `&[TypeId::of::<CallGraph>]`.
    Only(&'static [fn() -> TypeId]),
}

impl Preserved {
    fn contains(self, analysis: TypeId) -> bool {
        match self {
            Preserved::All => true,
            Preserved::Only(known) => known.iter().any(|id| id() == analysis),
        }
    }
}

/// The cache of analyses.
///
/// It is a list to which a shared reference can append, so that a pass can hold several analyses at
/// once; there are a dozen at most.
#[derive(Debug, Default)]
pub struct Analyses {
    first: OnceCell<Box<Cached>>,
}

struct Cached {
    analysis: Box<dyn Stored>,
    next: OnceCell<Box<Cached>>,
}

impl fmt::Debug for Cached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let next = self.next.get();
        f.debug_list()
            .entry(&self.analysis.name())
            .entries(next)
            .finish()
    }
}

impl Analyses {
    /// Returns an analysis of this module, which is computed if no pass has asked for it since it
    /// was invalidated.
    pub fn get<A: Analysis>(&self, module: &Module<'_>) -> &A {
        if let Some(known) = self
            .iter()
            .find_map(|cached| cached.as_any().downcast_ref())
        {
            return known;
        }
        let computed = A::compute(module, self);
        let added = self.append(Box::new(computed));
        added
            .as_any()
            .downcast_ref()
            .expect("it was made as this type")
    }

    /// Stores an analysis that a pass has made on its way.
    pub fn set<A: Analysis>(&mut self, analysis: A) {
        self.retain(|id| id != TypeId::of::<A>());
        self.append(Box::new(analysis));
    }

    /// Drops what a pass did not preserve.
    pub fn invalidate(&mut self, preserved: Preserved) {
        if !matches!(preserved, Preserved::All) {
            self.retain(|id| preserved.contains(id));
        }
    }

    /// Returns the names of the analyses that are kept, each with whether it says the same as one
    /// that is computed anew of this module; `None` if they cannot be compared.
    pub fn compare<'a>(
        &'a self,
        module: &'a Module<'_>,
    ) -> impl Iterator<Item = (&'static str, Option<bool>)> {
        let anew = Analyses::default();
        self.iter()
            .map(move |cached| (cached.name(), cached.holds(module, &anew)))
    }

    fn iter(&self) -> impl Iterator<Item = &dyn Stored> {
        let first = self.first.get();
        std::iter::successors(first, |cached| cached.next.get()).map(|cached| &*cached.analysis)
    }

    fn append(&self, analysis: Box<dyn Stored>) -> &dyn Stored {
        let mut end = &self.first;
        while let Some(cached) = end.get() {
            end = &cached.next;
        }
        let next = OnceCell::new();
        &*end
            .get_or_init(|| Box::new(Cached { analysis, next }))
            .analysis
    }

    fn retain(&mut self, keep: impl Fn(TypeId) -> bool) {
        let mut rest = self.first.take();
        while let Some(mut cached) = rest {
            rest = cached.next.take();
            if keep(cached.analysis.as_any().type_id()) {
                self.append(cached.analysis);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use cuweld_elf::Target;
    use cuweld_ir::LinkOptions;

    use super::*;

    thread_local! {
        static COMPUTED: Cell<u32> = const { Cell::new(0) };
    }

    /// How often something was computed on this thread.
    struct First(u32);

    impl Analysis for First {
        fn compute(_: &Module<'_>, _: &Analyses) -> Self {
            First(COMPUTED.replace(COMPUTED.get() + 1))
        }
    }

    struct Second(u32);

    impl Analysis for Second {
        fn compute(module: &Module<'_>, analyses: &Analyses) -> Self {
            Second(analyses.get::<First>(module).0 + 10)
        }
    }

    #[test]
    fn an_analysis_is_computed_once_until_it_is_invalidated() {
        let module = Module::new(Target::parse("sm_90").unwrap(), LinkOptions::default());
        let mut analyses = Analyses::default();
        let second = analyses.get::<Second>(&module);
        let first = analyses.get::<First>(&module);
        assert_eq!((first.0, second.0), (0, 10));
        assert_eq!(analyses.get::<First>(&module).0, 0);

        analyses.invalidate(Preserved::All);
        assert_eq!(analyses.get::<First>(&module).0, 0);
        analyses.invalidate(Preserved::Only(&[TypeId::of::<Second>]));
        assert_eq!(analyses.get::<Second>(&module).0, 10);
        assert_eq!(analyses.get::<First>(&module).0, 1);
        analyses.set(First(7));
        assert_eq!(analyses.get::<First>(&module).0, 7);
        analyses.invalidate(Preserved::Only(&[]));
        assert_eq!(analyses.get::<Second>(&module).0, 12);
    }
}
