//! The passes that pipelines can name.
//!
//! A pass is declared once, by itself ([`Pass::info`]). Pipelines, `cuweld passes` and
//! `docs/framework/passes.md` all read from here.

use serde::de::DeserializeOwned;

use crate::checks::check_limits::CheckLimits;
use crate::checks::check_link::CheckLink;
use crate::checks::check_objects::CheckObjects;
use crate::checks::check_undefined::CheckUndefined;
use crate::checks::finalizer::FinalizeInputs;
use crate::checks::finalizer::FinalizeOutput;
use crate::checks::self_check::SelfCheck;
use crate::instrument::Instrument;
use crate::link::callgraph_dce::CallgraphDce;
use crate::link::classify::Classify;
use crate::link::constant_bank_dedup::ConstantBankDedup;
use crate::link::emit::Emit;
use crate::link::layout_output::LayoutOutput;
use crate::link::mercury_encode::MercuryEncode;
use crate::link::mercury_schedule::MercurySchedule;
use crate::link::merge_metadata::MergeMetadata;
use crate::link::place_memory::PlaceMemory;
use crate::link::plan_relocations::PlanRelocations;
use crate::link::propagate_resources::PropagateResources;
use crate::link::relocate::Relocate;
use crate::link::select_objects::SelectObjects;
use crate::link::symbol_resolve::SymbolResolve;
use crate::options::OptionError;
use crate::options::PassOptions;
use crate::pass::Pass;
use crate::pass::PassInfo;
use crate::reports::report_call_graph::ReportCallGraph;
use crate::reports::report_resources::ReportResources;
use crate::suggest;
use crate::transforms::fold_identical_functions::FoldIdenticalFunctions;
use crate::transforms::internalize::Internalize;
use crate::transforms::order_functions::OrderFunctions;
use crate::transforms::rename_symbols::RenameSymbols;
use crate::transforms::strip_debug::StripDebug;
use crate::transforms::strip_unused_variables::StripUnusedVariables;

/// Where a pass comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// It is one of cuweld's own.
    #[default]
    Cuweld,
    /// The program that embeds cuweld has it.
    Embedder,
    /// A plugin has it, which is at this path.
    Plugin(String),
}

/// A pass that pipelines can name.
pub struct Registered {
    /// Its declaration.
    pub info: PassInfo,
    /// Where it comes from.
    pub origin: Origin,
    make: Make,
}

/// How a pass is made from its options.
type Make = Box<dyn Fn(&PassOptions) -> Result<Box<dyn Pass>, OptionError>>;

impl Registered {
    /// Makes the pass.
    pub fn make(&self, options: &PassOptions) -> Result<Box<dyn Pass>, OptionError> {
        options.check(self.info.options)?;
        (self.make)(options)
    }
}

/// The passes that pipelines can name, in order of registration, and instruments of embedders.
#[derive(Default)]
pub struct Registry {
    passes: Vec<Registered>,
    origin: Origin,
    instruments: Vec<fn() -> Box<dyn Instrument>>,
}

impl Registry {
    /// Builds a registry without passes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the passes of cuweld.
    pub fn standard() -> Self {
        let mut registry = Self::new();
        register_standard(&mut registry);
        registry
    }

    /// Says where the passes come from that are added from now on.
    pub fn set_origin(&mut self, origin: Origin) {
        self.origin = origin;
    }

    /// Adds a pass without options. A pass takes the place of one with the same name, so that
    /// embedders can replace a standard pass.
    pub fn register<P: Pass + Default + 'static>(&mut self) -> &mut Self {
        let info = P::default().info();
        debug_assert!(info.options.is_empty(), "{} has options", info.name);
        self.register_made(info, |_| Ok(Box::new(P::default())))
    }

    /// Adds a pass whose type serde fills with its options.
    pub fn register_with_options<P>(&mut self) -> &mut Self
    where
        P: Pass + Default + DeserializeOwned + 'static,
    {
        let make = |given: &PassOptions| -> Result<Box<dyn Pass>, OptionError> {
            // Without options the documented defaults hold, whatever serde would make of nothing.
            Ok(Box::new(if given.is_empty() {
                P::default()
            } else {
                given.read()?
            }))
        };
        self.register_made(P::default().info(), make)
    }

    /// Adds a pass that is known only at run time, such as one of a plugin: its declaration, and
    /// how it is made from options that agree with it.
    ///
    /// The pass that `make` returns may require and establish other phases than `info` says.
    pub fn register_made(
        &mut self,
        info: PassInfo,
        make: impl Fn(&PassOptions) -> Result<Box<dyn Pass>, OptionError> + 'static,
    ) -> &mut Self {
        let (name, make) = (info.name, Box::new(make));
        let origin = self.origin.clone();
        let pass = Registered { info, origin, make };
        match self.passes.iter_mut().find(|known| known.info.name == name) {
            Some(known) => *known = pass,
            None => self.passes.push(pass),
        }
        self
    }

    /// Adds an instrument, of which `make` makes one for each run of a pipeline. It is called beside
    /// cuweld's own.
    pub fn register_instrument(&mut self, make: fn() -> Box<dyn Instrument>) -> &mut Self {
        self.instruments.push(make);
        self
    }

    /// Makes the instruments for one run, in order of registration.
    pub fn instruments(&self) -> Vec<Box<dyn Instrument>> {
        self.instruments.iter().map(|make| make()).collect()
    }

    /// Returns the pass of this name.
    pub fn get(&self, name: &str) -> Option<&Registered> {
        self.passes.iter().find(|pass| pass.info.name == name)
    }

    /// Takes the pass of this name out, to be wrapped in another one.
    pub fn take(&mut self, name: &str) -> Option<Registered> {
        let at = self.passes.iter().position(|pass| pass.info.name == name)?;
        Some(self.passes.remove(at))
    }

    /// Returns the declarations of all passes.
    pub fn iter(&self) -> impl Iterator<Item = &PassInfo> {
        self.passes.iter().map(|pass| &pass.info)
    }

    /// Returns the pass that a mistyped name was meant to be.
    pub fn suggest(&self, name: &str) -> Option<&'static str> {
        suggest::nearest(name, self.iter().map(|info| info.name))
    }
}

/// Registers the passes of cuweld, in the order of the standard pipeline.
fn register_standard(registry: &mut Registry) {
    registry
        .register::<CheckObjects>()
        .register::<FinalizeInputs>()
        .register::<Classify>()
        .register::<SelectObjects>()
        .register::<SymbolResolve>()
        .register::<CallgraphDce>()
        .register::<MergeMetadata>()
        .register::<PropagateResources>()
        .register::<PlaceMemory>()
        .register_with_options::<ConstantBankDedup>()
        .register::<CheckUndefined>()
        .register::<ReportCallGraph>()
        .register::<CheckLimits>()
        .register::<PlanRelocations>()
        .register::<LayoutOutput>()
        .register::<MercurySchedule>()
        .register::<MercuryEncode>()
        .register::<Relocate>()
        .register::<CheckLink>()
        .register_with_options::<ReportResources>()
        .register::<Emit>()
        .register::<FinalizeOutput>()
        .register::<SelfCheck>();
    register_opt_in(registry);
}

/// Registers the passes that no pipeline of nvlink's links has.
fn register_opt_in(registry: &mut Registry) {
    registry
        .register::<StripDebug>()
        .register_with_options::<RenameSymbols>()
        .register_with_options::<Internalize>()
        .register_with_options::<OrderFunctions>()
        .register::<FoldIdenticalFunctions>()
        .register_with_options::<StripUnusedVariables>();
}

#[cfg(test)]
mod tests {
    use cuweld_ir::Module;
    use cuweld_ir::Phase;
    use serde::Deserialize;

    use super::*;
    use crate::manager::fake::Fake;
    use crate::options::OptionInfo;
    use crate::options::OptionType;
    use crate::pass::Changed;
    use crate::pass::PassCx;
    use crate::pass::PassError;

    /// A pass that has the name of a fake one.
    #[derive(Default, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Reaching {
        roots: String,
    }

    impl Pass for Reaching {
        fn info(&self) -> PassInfo {
            PassInfo {
                summary: ["", "all"][usize::from(self.roots == "all")],
                doc: "//! Kinds.\n//!\n//! - All.\n\nuse x;\n//! no",
                options: &[OptionInfo {
                    name: "roots",
                    ty: OptionType::String,
                    default: "",
                    doc: "Where to begin.",
                }],
                ..Fake::boxed("callgraph-dce").info()
            }
        }

        fn run<'data>(
            &self,
            _: &mut Module<'data>,
            _: &mut PassCx<'_, 'data>,
        ) -> Result<Changed, PassError> {
            Ok(Changed::No)
        }
    }

    #[test]
    fn a_pass_is_declared_once() {
        let mut registry = Registry::new();
        Fake::register(&mut registry, "classify");
        registry.register_with_options::<Reaching>();
        let info = registry.get("callgraph-dce").unwrap().info;
        assert_eq!(info.requires, Phase::Resolved);
        assert_eq!(info.establishes, Some(Phase::Live));
        assert_eq!(info.documentation(), "Kinds.\n\n- All.");
        assert_eq!(
            registry.iter().map(|info| info.name).collect::<Vec<_>>(),
            ["classify", "callgraph-dce"]
        );
        assert!(registry.get("emit").is_none());
        assert_eq!(registry.suggest("callgraf-dce"), Some("callgraph-dce"));
    }

    #[test]
    fn options_reach_the_pass() {
        let mut registry = Registry::new();
        registry.register_with_options::<Reaching>();
        let pass = registry.get("callgraph-dce").unwrap();
        let summary = |given: &PassOptions| pass.make(given).unwrap().info().summary;
        let given = PassOptions::new("roots = 'all'".parse().unwrap());
        assert_eq!(summary(&given), "all");
        assert_eq!(summary(&PassOptions::default()), "");
        let unknown = PassOptions::new("root = 'all'".parse().unwrap());
        let error = pass.make(&unknown).err().unwrap();
        assert_eq!(error.to_string(), "there is no option 'root'");
    }

    #[test]
    fn a_later_pass_of_the_same_name_replaces() {
        let mut registry = Registry::new();
        Fake::register(&mut registry, "callgraph-dce");
        registry.register_with_options::<Reaching>();
        assert_eq!(registry.iter().count(), 1);
        let info = registry.get("callgraph-dce").unwrap().info;
        assert_eq!(info.options.len(), 1);
    }

    #[test]
    fn every_pass_says_what_it_is() {
        for info in Registry::standard().iter() {
            let texts = [info.name, info.summary, &info.documentation()];
            assert!(texts.iter().all(|text| !text.is_empty()), "{texts:?}");
        }
    }
}
