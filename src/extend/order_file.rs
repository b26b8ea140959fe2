//! With `file`, the names after those of `functions` come from a file: one a line; empty lines and
//! what follows `#` mean nothing. It is read with the pipeline, before any input.

use std::path::Path;

use cuweld_passes::Pass;
use cuweld_passes::PassInfo;
use cuweld_passes::options::OptionError;
use cuweld_passes::options::OptionInfo;
use cuweld_passes::options::OptionType;
use cuweld_passes::options::PassOptions;
use cuweld_passes::registry::Registry;
use cuweld_passes::transforms::order_functions;
use cuweld_passes::transforms::order_functions::OrderFunctions;
use serde::Deserialize;

use crate::replay_root::replayed;

const OPTIONS: &[OptionInfo] = &[
    order_functions::OPTIONS[0],
    OptionInfo {
        name: "file",
        ty: OptionType::File,
        default: "",
        doc: "A file with more names.",
    },
];

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Options {
    functions: Vec<String>,
    file: String,
}

/// Gives `order-functions`, which does no IO, its option `file`.
pub(super) fn register(registry: &mut Registry) {
    let info = PassInfo {
        further_doc: include_str!("order_file.rs"),
        options: OPTIONS,
        ..OrderFunctions::default().info()
    };
    registry.register_made(info, |options| Ok(Box::new(order(options)?)));
}

fn order(options: &PassOptions) -> Result<OrderFunctions, OptionError> {
    let Options {
        mut functions,
        file,
    } = options.read()?;
    if !file.is_empty() {
        let path = replayed(Path::new(&file));
        let text = std::fs::read_to_string(path).map_err(|error| {
            OptionError::Invalid(format!("option 'file': cannot read '{file}': {error}"))
        })?;
        let names = text
            .lines()
            .map(|line| line.split('#').next().unwrap_or_default().trim());
        functions.extend(names.filter(|name| !name.is_empty()).map(str::to_owned));
    }
    Ok(OrderFunctions { functions })
}
