//! The passes that pipelines can name, made without reading what a stranger's pipeline names.

use std::path::Path;

use cuweld_diagnostics::Diagnostic;
use cuweld_passes::Pass;
use cuweld_passes::options::OptionError;
use cuweld_passes::options::OptionType;
use cuweld_passes::options::PassOptions;
use cuweld_passes::registry::Registry;

use crate::extend::Extensions;
use crate::language_server::files::read_text;

/// Returns the passes of the program. A pass with an option that is a file, which it reads when it is
/// made, gets that option only if it is a file of moderate size or there is nothing of its name.
pub fn registry(extensions: &Extensions) -> Result<Registry, Diagnostic> {
    let mut registry = extensions.registry()?;
    let of_files = |ty: OptionType| ty == OptionType::File;
    let infos = registry.iter().copied();
    let readers: Vec<_> = infos
        .filter(|info| info.options.iter().any(|option| of_files(option.ty)))
        .collect();
    for info in readers {
        let built_in = Extensions {
            register: extensions.register.clone(),
            plugins: Vec::new(),
            ..Extensions::default()
        };
        let Some(reader) = built_in.registry()?.take(info.name) else {
            continue;
        };
        let make = move |options: &PassOptions| -> Result<Box<dyn Pass>, OptionError> {
            let files = info.options.iter().filter(|option| of_files(option.ty));
            let mut table = options.table().clone();
            for option in files {
                let path = table.get(option.name).and_then(toml::Value::as_str);
                if path
                    .map(Path::new)
                    .is_some_and(|path| path.exists() && read_text(path).is_none())
                {
                    table.remove(option.name);
                }
            }
            reader.make(&PassOptions::new(table))
        };
        registry.register_made(info, make);
    }
    Ok(registry)
}
