//! Passes of plugins, which speak the C ABI of `cuweld-plugin`.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::extension;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::text;
use cuweld_ir::text::DumpBytes;
use cuweld_passes::Changed;
use cuweld_passes::Pass;
use cuweld_passes::PassCx;
use cuweld_passes::PassError;
use cuweld_passes::PassInfo;
use cuweld_passes::options::OptionError;
use cuweld_passes::options::OptionInfo;
use cuweld_passes::options::OptionType;
use cuweld_passes::options::PassOptions;
use cuweld_passes::registry::Registry;
use cuweld_plugin::Plugin;
use cuweld_plugin::PluginOption;
use cuweld_plugin::PluginPass;
use cuweld_plugin::Value;

use super::exchange::PassFailure;
use super::exchange::exchange;
use super::said::SAID;
use super::said::Said;
use crate::replay_root::may_run;

/// The option that passes of all plugins have.
const BYTES: OptionInfo = OptionInfo {
    name: "bytes",
    ty: OptionType::Choice(&["ref", "full"]),
    default: "full",
    doc: "How contents stand in the text: with the inputs, or as slices of inputs that are only named.",
};

#[derive(Clone)]
struct FromPlugin {
    pass: PluginPass,
    info: PassInfo,
    /// A value for each option of the plugin's table.
    values: Vec<Value>,
    form: DumpBytes,
}

/// Loads a plugin and adds its passes.
pub(super) fn register(registry: &mut Registry, path: &str) -> Result<(), Diagnostic> {
    let refused = |what| Diagnostic::fatal(extension::PLUGIN, format!("cuweld: {what}"));
    may_run().map_err(|error| refused(format!("cannot load plugin '{path}': {error}")))?;
    let plugin = Plugin::load(path).map_err(|error| refused(error.to_string()))?;
    for pass in plugin.passes {
        let prototype = FromPlugin::new(pass, path)
            .map_err(|error| refused(format!("plugin '{path}': {error}")))?;
        let info = prototype.info;
        let make = move |given: &PassOptions| -> Result<Box<dyn Pass>, OptionError> {
            Ok(Box::new(prototype.with(given)))
        };
        registry.register_made(info, make);
    }
    Ok(())
}

impl FromPlugin {
    fn new(pass: PluginPass, path: &str) -> Result<Self, String> {
        let phase = |name: &str| {
            Phase::from_name(name)
                .ok_or_else(|| format!("pass '{}' names an unknown phase '{name}'", pass.name))
        };
        let requires = phase(&pass.requires)?;
        let establishes = pass.establishes.as_deref().map(phase).transpose()?;
        let mut infos = Vec::new();
        let mut values = Vec::new();
        for option in &pass.options {
            let (info, value) = read_option(option).map_err(|what| {
                format!("pass '{}': option '{}': {what}", pass.name, option.name)
            })?;
            if infos
                .iter()
                .any(|known: &OptionInfo| known.name == info.name)
            {
                let what = "there are two of this name";
                return Err(format!(
                    "pass '{}': option '{}': {what}",
                    pass.name, option.name
                ));
            }
            infos.push(info);
            values.push(value);
        }
        infos.push(BYTES);
        // Plugins stay loaded as long as the process runs, and so do the names of their passes.
        let info = PassInfo {
            name: pass.name.clone().leak(),
            summary: pass.summary.clone().leak(),
            doc: format!("A pass of plugin `{path}`.").leak(),
            options: infos.leak(),
            remarks: &[SAID],
            requires,
            establishes,
            ..PassInfo::DEFAULT
        };
        Ok(FromPlugin {
            pass,
            info,
            values,
            form: DumpBytes::Full,
        })
    }

    /// Returns the pass with options, which agree with its declaration.
    fn with(&self, given: &PassOptions) -> Self {
        let mut pass = self.clone();
        for (option, value) in self.pass.options.iter().zip(&mut pass.values) {
            let given = given.table().get(&option.name);
            if let Some(given) = given.and_then(|given| value_of(option.ty, given)) {
                *value = given;
            }
        }
        let form = given.table().get(BYTES.name).and_then(toml::Value::as_str);
        if let Some(form) = form.and_then(DumpBytes::from_name) {
            pass.form = form;
        }
        pass
    }
}

/// Reads an option of a plugin's table, with its default.
fn read_option(option: &PluginOption) -> Result<(OptionInfo, Value), String> {
    let is_key = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'-' || letter == b'_';
    if option.name.is_empty() || !option.name.bytes().all(is_key) {
        return Err("that is no name".to_owned());
    }
    if option.name == BYTES.name {
        return Err("passes of all plugins have it".to_owned());
    }
    let ty = match option.ty {
        cuweld_plugin::OptionType::Bool => OptionType::Bool,
        cuweld_plugin::OptionType::Integer => OptionType::Integer,
        cuweld_plugin::OptionType::String => OptionType::String,
        cuweld_plugin::OptionType::Strings => OptionType::Strings,
    };
    let text = format!("{} = {}", option.name, option.default);
    let table: Option<toml::Table> = text.parse().ok();
    let default = table.as_ref().and_then(|table| table.get(&option.name));
    let default = default.and_then(|default| value_of(option.ty, default));
    let default =
        default.ok_or_else(|| format!("its default is not {ty}, but {}", option.default))?;
    // As above.
    let info = OptionInfo {
        name: option.name.clone().leak(),
        ty,
        default: option.default.clone().leak(),
        doc: option.doc.clone().leak(),
    };
    Ok((info, default))
}

/// Returns a value of a pipeline as one of an option of this type, if it is.
fn value_of(ty: cuweld_plugin::OptionType, given: &toml::Value) -> Option<Value> {
    match ty {
        cuweld_plugin::OptionType::Bool => given.as_bool().map(Value::Bool),
        cuweld_plugin::OptionType::Integer => given.as_integer().map(Value::Integer),
        cuweld_plugin::OptionType::String => given.as_str().map(|it| Value::String(it.to_owned())),
        cuweld_plugin::OptionType::Strings => {
            let texts = given.as_array()?.iter();
            let texts = texts.map(|it| it.as_str().map(str::to_owned));
            texts.collect::<Option<_>>().map(Value::Strings)
        }
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
        let mut said = Said::default();
        let text = text::print(module, self.form);
        let result = self.pass.run(&text, &self.values, &mut said);
        // What it says is about the module that it was given.
        said.tell(module, cx);
        let establishes = self.info.establishes;
        exchange(
            module,
            cx,
            &who,
            establishes,
            result.map_err(|failure| {
                let mut lines = failure.message.lines();
                let first = lines.next().unwrap_or("it failed");
                let mut diagnostic =
                    Diagnostic::fatal(extension::FINDING, format!("cuweld: {who}: {first}"));
                diagnostic.notes = lines.map(str::to_owned).collect();
                match failure.crashed {
                    true => PassFailure::Crashed(diagnostic),
                    false => PassFailure::Diagnosed(diagnostic),
                }
            }),
        )
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
