//! The passes that pipelines can name.
//!
//! A pass is declared once: the registry takes its name, summary and phases from the pass itself, and
//! its documentation from the head of the source file that holds it. Pipelines, `cuweld passes` and
//! `docs/framework/passes.md` all read from here.

use std::borrow::Cow;

use cuweld_ir::Phase;
use serde::de::DeserializeOwned;

use crate::checks::check_limits::CheckLimits;
use crate::checks::check_link::CheckLink;
use crate::checks::check_undefined::CheckUndefined;
use crate::checks::finalizer::FinalizeInputs;
use crate::checks::finalizer::FinalizeOutput;
use crate::checks::self_check::SelfCheck;
use crate::link::callgraph_dce::CallgraphDce;
use crate::link::classify::Classify;
use crate::link::constant_bank_dedup;
use crate::link::constant_bank_dedup::ConstantBankDedup;
use crate::link::emit::Emit;
use crate::link::layout_output::LayoutOutput;
use crate::link::mercury_encode::MercuryEncode;
use crate::link::merge_metadata::MergeMetadata;
use crate::link::place_memory::PlaceMemory;
use crate::link::plan_relocations::PlanRelocations;
use crate::link::propagate_resources::PropagateResources;
use crate::link::relocate::Relocate;
use crate::link::select_objects::SelectObjects;
use crate::link::symbol_resolve::SymbolResolve;
use crate::options::OptionError;
use crate::options::OptionInfo;
use crate::options::PassOptions;
use crate::pass::Pass;
use crate::reports::report_call_graph::ReportCallGraph;
use crate::reports::report_resources;
use crate::reports::report_resources::ReportResources;
use crate::suggest;
use crate::transforms::fold_identical_functions::FoldIdenticalFunctions;
use crate::transforms::internalize;
use crate::transforms::internalize::Internalize;
use crate::transforms::order_functions;
use crate::transforms::order_functions::OrderFunctions;
use crate::transforms::rename_symbols;
use crate::transforms::rename_symbols::RenameSymbols;
use crate::transforms::strip_debug::StripDebug;
use crate::transforms::strip_unused_variables;
use crate::transforms::strip_unused_variables::StripUnusedVariables;

/// What is known of a pass.
pub struct PassInfo {
    /// Its name in pipelines.
    pub name: &'static str,
    /// One line that says what it does.
    pub summary: &'static str,
    /// The phase that a module must have reached.
    pub requires: Phase,
    /// The phase that a module has reached afterwards, if the pass is a wall.
    pub establishes: Option<Phase>,
    /// The options that it takes.
    pub options: &'static [OptionInfo],
    source: Cow<'static, str>,
    make: Make,
}

/// How a pass is made from its options.
type Make = Box<dyn Fn(&PassOptions) -> Result<Box<dyn Pass>, OptionError>>;

impl PassInfo {
    /// A pass without options. `source` is its documentation: Markdown, or the text of its source
    /// file (`include_str!`), of which the leading `//!` lines count.
    pub fn plain(make: fn() -> Box<dyn Pass>, source: &'static str) -> Self {
        Self::declare(&*make(), &[], Box::new(move |_| Ok(make())), source)
    }

    /// A pass with options: what is known of them, and how the pass is made from the type that serde
    /// fills.
    pub fn with_options<T: DeserializeOwned + Default + 'static>(
        options: &'static [OptionInfo],
        make: fn(T) -> Box<dyn Pass>,
        source: &'static str,
    ) -> Self {
        let make_from = move |given: &PassOptions| {
            // Without options the documented defaults hold, whatever serde would make of nothing.
            Ok(make(if given.is_empty() {
                T::default()
            } else {
                given.read()?
            }))
        };
        Self::declare(&*make(T::default()), options, Box::new(make_from), source)
    }

    /// A pass that is known only at run time, such as one of a plugin: an instance of it with default
    /// options, what is known of its options, how it is made, and its documentation as Markdown.
    ///
    /// The pass that `make` returns may require and establish other phases than the instance.
    pub fn loaded(
        instance: &dyn Pass,
        options: &'static [OptionInfo],
        make: impl Fn(&PassOptions) -> Result<Box<dyn Pass>, OptionError> + 'static,
        doc: String,
    ) -> Self {
        Self::declare(instance, options, Box::new(make), doc)
    }

    fn declare(
        pass: &dyn Pass,
        options: &'static [OptionInfo],
        make: Make,
        source: impl Into<Cow<'static, str>>,
    ) -> Self {
        PassInfo {
            name: pass.name(),
            summary: pass.summary(),
            requires: pass.requires(),
            establishes: pass.establishes(),
            options,
            source: source.into(),
            make,
        }
    }

    /// Makes the pass.
    pub fn make(&self, options: &PassOptions) -> Result<Box<dyn Pass>, OptionError> {
        options.check(self.options)?;
        (self.make)(options)
    }

    /// Its documentation, as Markdown.
    pub fn doc(&self) -> String {
        if self.source.starts_with("//!") {
            source_doc(&self.source)
        } else {
            self.source.trim().to_owned()
        }
    }
}

/// The documentation at the head of a source file.
pub fn source_doc(source: &str) -> String {
    let lines: Vec<&str> = source
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    lines.join("\n").trim().to_owned()
}

/// The passes that pipelines can name, in order of registration.
#[derive(Default)]
pub struct Registry {
    passes: Vec<PassInfo>,
}

impl Registry {
    /// No passes.
    pub fn new() -> Self {
        Self::default()
    }

    /// The passes of cuweld.
    pub fn standard() -> Self {
        let mut registry = Self::new();
        register_standard(&mut registry);
        registry
    }

    /// Adds a pass. It takes the place of one with the same name, so that who embeds cuweld can put
    /// a pass of theirs into every pipeline.
    pub fn register(&mut self, info: PassInfo) -> &mut Self {
        match self.passes.iter_mut().find(|known| known.name == info.name) {
            Some(known) => *known = info,
            None => self.passes.push(info),
        }
        self
    }

    /// The pass of this name.
    pub fn get(&self, name: &str) -> Option<&PassInfo> {
        self.passes.iter().find(|info| info.name == name)
    }

    /// All passes.
    pub fn iter(&self) -> impl Iterator<Item = &PassInfo> {
        self.passes.iter()
    }

    /// What a mistyped name was meant to be.
    pub fn suggest(&self, name: &str) -> Option<&'static str> {
        suggest::nearest(name, self.passes.iter().map(|info| info.name))
    }
}

/// The passes of cuweld, in the order of the standard pipeline.
fn register_standard(registry: &mut Registry) {
    registry.register(PassInfo::plain(
        || Box::new(FinalizeInputs),
        include_str!("checks/finalizer/inputs.rs"),
    ));
    registry.register(PassInfo::plain(
        || Box::new(Classify),
        include_str!("link/classify.rs"),
    ));
    registry.register(PassInfo::plain(
        || Box::new(SelectObjects),
        include_str!("link/select_objects.rs"),
    ));
    registry.register(PassInfo::plain(
        || Box::new(SymbolResolve),
        include_str!("link/symbol_resolve.rs"),
    ));
    registry.register(PassInfo::plain(
        || Box::new(CallgraphDce),
        include_str!("link/callgraph_dce.rs"),
    ));
    registry.register(PassInfo::plain(
        || Box::new(MergeMetadata),
        include_str!("link/merge_metadata.rs"),
    ));
    registry.register(PassInfo::plain(
        || Box::new(PropagateResources),
        include_str!("link/propagate_resources.rs"),
    ));
    registry.register(PassInfo::plain(
        || Box::new(PlaceMemory),
        include_str!("link/place_memory.rs"),
    ));
    registry.register(PassInfo::with_options(
        constant_bank_dedup::OPTIONS,
        |options| Box::new(ConstantBankDedup { options }),
        include_str!("link/constant_bank_dedup.rs"),
    ));
    registry.register(PassInfo::plain(
        || Box::new(CheckUndefined),
        include_str!("checks/check_undefined.rs"),
    ));
    registry.register(PassInfo::plain(
        || Box::new(ReportCallGraph),
        include_str!("reports/report_call_graph.rs"),
    ));
    registry.register(PassInfo::plain(
        || Box::new(CheckLimits),
        include_str!("checks/check_limits.rs"),
    ));
    registry.register(PassInfo::plain(
        || Box::new(PlanRelocations),
        include_str!("link/plan_relocations.rs"),
    ));
    registry.register(PassInfo::plain(
        || Box::new(LayoutOutput),
        include_str!("link/layout_output.rs"),
    ));
    registry.register(PassInfo::plain(
        || Box::new(MercuryEncode),
        include_str!("link/mercury_encode.rs"),
    ));
    registry.register(PassInfo::plain(
        || Box::new(Relocate),
        include_str!("link/relocate.rs"),
    ));
    registry.register(PassInfo::plain(
        || Box::new(CheckLink),
        include_str!("checks/check_link.rs"),
    ));
    registry.register(PassInfo::with_options(
        report_resources::OPTIONS,
        |options: ReportResources| Box::new(options),
        include_str!("reports/report_resources.rs"),
    ));
    registry.register(PassInfo::plain(
        || Box::new(Emit),
        include_str!("link/emit.rs"),
    ));
    registry.register(PassInfo::plain(
        || Box::new(FinalizeOutput),
        include_str!("checks/finalizer/output.rs"),
    ));
    registry.register(PassInfo::plain(
        || Box::new(SelfCheck),
        include_str!("checks/self_check.rs"),
    ));
    register_opt_in(registry);
}

/// The passes that no pipeline of nvlink's links has.
fn register_opt_in(registry: &mut Registry) {
    registry.register(PassInfo::plain(
        || Box::new(StripDebug),
        include_str!("transforms/strip_debug.rs"),
    ));
    registry.register(PassInfo::with_options(
        rename_symbols::OPTIONS,
        |options: RenameSymbols| Box::new(options),
        include_str!("transforms/rename_symbols.rs"),
    ));
    registry.register(PassInfo::with_options(
        internalize::OPTIONS,
        |options: Internalize| Box::new(options),
        include_str!("transforms/internalize.rs"),
    ));
    registry.register(PassInfo::with_options(
        order_functions::OPTIONS,
        |options: OrderFunctions| Box::new(options),
        include_str!("transforms/order_functions.rs"),
    ));
    registry.register(PassInfo::plain(
        || Box::new(FoldIdenticalFunctions),
        include_str!("transforms/fold_identical_functions.rs"),
    ));
    registry.register(PassInfo::with_options(
        strip_unused_variables::OPTIONS,
        |options: StripUnusedVariables| Box::new(options),
        include_str!("transforms/strip_unused_variables.rs"),
    ));
}

#[cfg(test)]
mod tests {
    use cuweld_ir::Phase;
    use serde::Deserialize;

    use super::*;
    use crate::manager::fake::Fake;
    use crate::options::OptionType;

    #[derive(Default, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Roots {
        roots: String,
    }

    const ROOTS: &[OptionInfo] = &[OptionInfo {
        name: "roots",
        ty: OptionType::String,
        default: "",
        doc: "Where to begin.",
    }];

    #[test]
    fn a_pass_is_declared_once() {
        let mut registry = Registry::new();
        registry
            .register(PassInfo::plain(
                || Fake::boxed("classify"),
                "//! Kinds.\n//!\n//! - All.\n\nuse x;\n//! no",
            ))
            .register(PassInfo::with_options(
                ROOTS,
                |_: Roots| Fake::boxed("callgraph-dce"),
                " Plain.\n",
            ));
        let classify = registry.get("classify").unwrap();
        assert_eq!(classify.requires, Phase::Lowered);
        assert_eq!(classify.establishes, Some(Phase::Classified));
        assert_eq!(classify.doc(), "Kinds.\n\n- All.");
        assert_eq!(registry.get("callgraph-dce").unwrap().doc(), "Plain.");
        assert_eq!(
            registry.iter().map(|info| info.name).collect::<Vec<_>>(),
            ["classify", "callgraph-dce"]
        );
        assert!(registry.get("emit").is_none());
        assert_eq!(registry.suggest("callgraf-dce"), Some("callgraph-dce"));
    }

    #[test]
    fn options_reach_the_pass() {
        let info = PassInfo::with_options(
            ROOTS,
            |options: Roots| {
                Fake::boxed(if options.roots == "all" {
                    "emit"
                } else {
                    "classify"
                })
            },
            "",
        );
        let given = PassOptions::new("roots = 'all'".parse().unwrap());
        assert_eq!(info.make(&given).unwrap().name(), "emit");
        assert_eq!(
            info.make(&PassOptions::default()).unwrap().name(),
            "classify"
        );
        let unknown = PassOptions::new("root = 'all'".parse().unwrap());
        let error = info.make(&unknown).err().unwrap();
        assert_eq!(error.to_string(), "there is no option 'root'");
    }

    #[test]
    fn a_later_pass_of_the_same_name_replaces() {
        let mut registry = Registry::new();
        registry.register(PassInfo::plain(|| Fake::boxed("emit"), "first"));
        registry.register(PassInfo::plain(|| Fake::boxed("emit"), "second"));
        assert_eq!(registry.iter().count(), 1);
        assert_eq!(registry.get("emit").unwrap().doc(), "second");
    }
}
