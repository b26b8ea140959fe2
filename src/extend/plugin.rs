//! Passes of plugins, which speak the C ABI of `cuweld-plugin`.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::extension;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::text::DumpBytes;
use cuweld_passes::Changed;
use cuweld_passes::Pass;
use cuweld_passes::PassCx;
use cuweld_passes::PassError;
use cuweld_passes::PassInfo;
use cuweld_passes::options::OptionInfo;
use cuweld_passes::options::OptionType;
use cuweld_passes::registry::Registry;
use cuweld_plugin::Plugin;
use cuweld_plugin::PluginPass;
use serde::Deserialize;

use super::exchange::SAID;
use super::exchange::exchange;
use crate::replay_root::may_run;

const OPTIONS: &[OptionInfo] = &[
    OptionInfo {
        name: "args",
        ty: OptionType::Strings,
        default: "[]",
        doc: "What the pass is given beside the module.",
    },
    OptionInfo {
        name: "bytes",
        ty: OptionType::Choice(&["ref", "full"]),
        default: "full",
        doc: "How contents stand in the text: with the inputs, or as slices of inputs that are only named.",
    },
];

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Options {
    args: Vec<String>,
    bytes: Option<String>,
}

#[derive(Clone)]
struct FromPlugin {
    pass: PluginPass,
    info: PassInfo,
    args: Vec<String>,
    form: DumpBytes,
}

/// Loads a plugin and adds its passes.
pub(super) fn register(registry: &mut Registry, path: &str) -> Result<(), Diagnostic> {
    let refused = |what| Diagnostic::fatal(extension::PLUGIN, format!("cuweld: {what}"));
    may_run().map_err(|error| refused(format!("cannot load plugin '{path}': {error}")))?;
    let plugin = Plugin::load(path).map_err(|error| refused(error.to_string()))?;
    for pass in plugin.passes {
        let prototype = FromPlugin::new(pass, path).map_err(|error| {
            Diagnostic::fatal(
                extension::PLUGIN,
                format!("cuweld: plugin '{path}': {error}"),
            )
        })?;
        let info = prototype.info;
        let make = move |given: &cuweld_passes::options::PassOptions| {
            let options: Options = given.read()?;
            let pass: Box<dyn Pass> = Box::new(FromPlugin {
                args: options.args,
                form: form(options.bytes.as_deref()),
                ..prototype.clone()
            });
            Ok(pass)
        };
        registry.register_made(info, make);
    }
    Ok(())
}

fn form(name: Option<&str>) -> DumpBytes {
    name.and_then(DumpBytes::from_name)
        .unwrap_or(DumpBytes::Full)
}

impl FromPlugin {
    fn new(pass: PluginPass, path: &str) -> Result<Self, String> {
        let phase = |name: &str| {
            Phase::from_name(name)
                .ok_or_else(|| format!("pass '{}' names an unknown phase '{name}'", pass.name))
        };
        let requires = phase(&pass.requires)?;
        let establishes = pass.establishes.as_deref().map(phase).transpose()?;
        // Plugins stay loaded as long as the process runs, and so do the names of their passes.
        let info = PassInfo {
            name: pass.name.clone().leak(),
            summary: pass.summary.clone().leak(),
            doc: format!("A pass of plugin `{path}`.").leak(),
            options: OPTIONS,
            remarks: &[SAID],
            requires,
            establishes,
            ..PassInfo::DEFAULT
        };
        Ok(FromPlugin {
            pass,
            info,
            args: Vec::new(),
            form: form(None),
        })
    }
}

impl Pass for FromPlugin {
    fn info(&self) -> PassInfo {
        self.info
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        let who = format!("pass '{}'", self.info.name);
        exchange(module, cx, &who, self.form, self.info.establishes, |text| {
            self.pass.run(text, &self.args).map_err(|message| {
                let mut lines = message.lines();
                let first = lines.next().unwrap_or("it failed");
                let mut diagnostic =
                    Diagnostic::fatal(extension::FINDING, format!("cuweld: {who}: {first}"));
                diagnostic.notes = lines.map(str::to_owned).collect();
                diagnostic
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use cuweld_elf::Target;
    use cuweld_ir::LinkOptions;
    use cuweld_ir::Module;
    use cuweld_ir::text::DumpBytes;

    #[test]
    fn the_grammar_that_plugins_are_told_is_the_one_that_is_printed() {
        let module = Module::new(Target::parse("sm_90").unwrap(), LinkOptions::default());
        let text = cuweld_ir::text::print(&module, DumpBytes::Ref);
        let first = format!("lir {}\n", cuweld_plugin::abi::GRAMMAR);
        assert!(text.starts_with(&first));
        let header = include_str!("../../plugin/include/cuweld-plugin.h");
        assert!(header.contains(&format!(
            "CUWELD_LIR_GRAMMAR {}u",
            cuweld_plugin::abi::GRAMMAR
        )));
        assert!(header.contains(&format!("CUWELD_PLUGIN_ABI {}u", cuweld_plugin::abi::ABI)));
    }
}
