//! Passes from outside: of a program that embeds cuweld, of plugins, of other programs.
//!
//! The last two work on the text form. What they give back is parsed and verified before the link
//! goes on, whatever `--verify-each` says: nothing of theirs is trusted.

mod exchange;
pub(crate) mod exec;
mod order_file;
mod plugin;
mod said;

use std::fmt;
use std::sync::Arc;

use cuweld_diagnostics::Diagnostic;
use cuweld_passes::instrument::Instrument;
use cuweld_passes::registry::Origin;
use cuweld_passes::registry::Registry;

/// Adds passes and instruments to the registry.
pub type Register = fn(&mut Registry);

/// Adds passes that an embedder knows only at run time.
#[derive(Clone)]
pub struct AddPasses(Arc<dyn Fn(&mut Registry) + Send + Sync>);

impl AddPasses {
    /// Takes the function that adds them, which is called for each pipeline that is resolved.
    pub fn new(add: impl Fn(&mut Registry) + Send + Sync + 'static) -> Self {
        AddPasses(Arc::new(add))
    }
}

impl fmt::Debug for AddPasses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AddPasses")
    }
}

/// Where passes come from beside cuweld's own.
#[derive(Clone, Debug, Default)]
pub struct Extensions {
    /// Of the program that embeds cuweld, in order.
    pub register: Vec<Register>,
    /// Of an embedder that makes passes at run time, after those.
    pub added: Vec<AddPasses>,
    /// Paths of plugins to load.
    pub plugins: Vec<String>,
}

impl Extensions {
    /// Builds a registry of all passes: cuweld's own, `exec`, then these; a later pass takes the
    /// place of one of its name.
    pub fn registry(&self) -> Result<Registry, Diagnostic> {
        let mut registry = self.registry_of_embedder();
        for path in &self.plugins {
            registry.set_origin(Origin::Plugin(path.clone()));
            plugin::register(&mut registry, path)?;
        }
        Ok(registry)
    }

    /// Makes the instruments of the program that embeds cuweld for one run.
    pub(crate) fn instruments(&self) -> Vec<Box<dyn Instrument>> {
        match self.register.is_empty() {
            true => Vec::new(),
            false => self.registry_of_embedder().instruments(),
        }
    }

    fn registry_of_embedder(&self) -> Registry {
        let mut registry = registry();
        registry.set_origin(Origin::Embedder);
        for register in &self.register {
            register(&mut registry);
        }
        for AddPasses(add) in &self.added {
            add(&mut registry);
        }
        registry
    }
}

/// Returns the passes of cuweld, with what of them reads files and runs other programs.
pub fn registry() -> Registry {
    let mut registry = Registry::standard();
    order_file::register(&mut registry);
    exec::register(&mut registry);
    registry
}

#[cfg(test)]
mod tests {
    use cuweld_passes::manager::passes_doc::generate_passes_doc;

    /// Checks that the committed page is current; with `BLESS=1`, writes the file.
    #[test]
    fn the_committed_passes_doc_is_current() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/framework/passes.md");
        let text = generate_passes_doc(&super::registry());
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(path, &text).unwrap();
        }
        let committed = std::fs::read_to_string(path).unwrap_or_default();
        assert_eq!(
            committed, text,
            "run it again with BLESS=1 to write {path} anew"
        );
    }
}
