//! Which dumps of the module are made, and in which form.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::usage;
use cuweld_ir::Module;
use cuweld_ir::text;
use cuweld_ir::text::DumpBytes;
use cuweld_passes::analyses::call_graph_dot;
use cuweld_passes::instrument::Dump;
use cuweld_passes::instrument::DumpSink;
use cuweld_passes::pipeline::Resolved;
use cuweld_passes::registry::Registry;
use cuweld_passes::suggest::nearest;

use crate::watch::unified_diff;

/// Which dumps of the module are made, and in which form; by default none.
#[derive(Clone, Debug, Default)]
pub struct Dumping {
    /// Dump before these passes, or `all`.
    pub before: Vec<String>,
    /// Dump after these passes, or `all`.
    pub after: Vec<String>,
    /// Dump after passes that changed the module.
    pub changed: Option<DumpChanged>,
    /// Dump only rows with these names; all if there are none.
    pub filter: Vec<String>,
    /// What dumps are.
    pub format: DumpFormat,
    /// Folder for dumps; standard error if there is none.
    pub dir: Option<String>,
    /// How contents stand in dumps.
    pub bytes: DumpBytes,
}

/// What is dumped of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DumpChanged {
    /// The whole module.
    Module,
    /// A unified diff against the dump before.
    Diff,
}

/// What dumps are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DumpFormat {
    /// The text form.
    #[default]
    Lir,
    /// The rows of the text form as JSON.
    Json,
    /// The call graph, for Graphviz.
    Dot,
}

impl DumpFormat {
    fn extension(self) -> &'static str {
        match self {
            DumpFormat::Lir => "lir",
            DumpFormat::Json => "json",
            DumpFormat::Dot => "dot",
        }
    }
}

impl Dumping {
    /// Returns `true` if there are dumps.
    pub(super) fn is_any(&self) -> bool {
        !self.before.is_empty() || !self.after.is_empty() || self.changed.is_some()
    }

    /// Checks that each name is that of a pass, or the number of a step. A pass need not be of the
    /// pipeline: options that hold for several links name those of all.
    pub(super) fn check(&self, registry: &Registry, pipeline: &Resolved) -> Result<(), Diagnostic> {
        let steps = pipeline.steps().len();
        for name in self.before.iter().chain(&self.after) {
            let is_step = name.parse().is_ok_and(|step| (1..=steps).contains(&step));
            if name == "all" || is_step || registry.get(name).is_some() {
                continue;
            }
            let known = registry.iter().map(|info| info.name).chain(["all"]);
            let what = match (name.parse::<usize>(), nearest(name, known)) {
                (Ok(_), _) => {
                    let pipeline = pipeline.name();
                    format!("pipeline '{pipeline}' has no step {name}; it has {steps}")
                }
                (_, Some(near)) => format!("there is no pass '{name}'; did you mean '{near}'?"),
                (_, None) => format!("there is no pass '{name}'"),
            };
            let message = format!("cuweld: dumps: {what}");
            return Err(Diagnostic::fatal(usage::PIPELINE, message));
        }
        Ok(())
    }

    /// Makes the instrument that writes the dumps into `sink`, if there are any.
    pub(crate) fn instrument<'a>(&'a self, sink: &'a mut dyn DumpSink) -> Option<Dump<'a>> {
        if !self.is_any() {
            return None;
        }
        let mut dump = Dump::new(|module: &Module<'_>| self.print(module), sink);
        dump.extension = self.format.extension();
        dump.changed = self.changed.is_some();
        if self.changed == Some(DumpChanged::Diff) {
            dump.diff = Some(unified_diff);
        }
        for name in &self.before {
            dump.before.add(name);
        }
        for name in &self.after {
            dump.after.add(name);
        }
        Some(dump)
    }

    fn print(&self, module: &Module<'_>) -> String {
        let text = || match self.filter.as_slice() {
            [] => text::print(module, self.bytes),
            names => {
                let names = names.to_vec();
                text::print_filtered(module, &text::Filter { names })
            }
        };
        match self.format {
            DumpFormat::Lir => text(),
            DumpFormat::Json => text::rows_as_json(&text()),
            DumpFormat::Dot => call_graph_dot(module, &self.filter),
        }
    }
}
