//! A plugin with the pass `my-plugin{limit=32}`: warns of kernels that need more registers than a limit.

use cuweld_ir::{Arena, text};
use cuweld_plugin::{Call, Finding};

cuweld_plugin::export! {
    {
        name: c"my-plugin",
        summary: c"Warn of kernels that need more registers than a limit",
        requires: c"classified",
        options: [
            { name: c"limit", ty: Integer, default: c"32", doc: c"The most registers that a kernel may need." },
        ],
        run: my_plugin
    }
}

/// Returns the module as text if it has changed.
fn my_plugin(call: &Call<'_>) -> Result<Option<String>, String> {
    let limit = call.integer("limit");
    let arena = Arena::new();
    // The text holds the inputs, so that it parses alone.
    let module = text::parse(call.text(), &arena, &|_| None).map_err(|error| error.to_string())?;
    for (id, function) in module.functions.iter() {
        if !module.symbols[function.symbol].is_entry() {
            continue;
        }
        call.count("kernels", 1);
        let registers = i64::from(function.registers);
        if registers > limit {
            let message = format!("needs {registers} registers, more than {limit}");
            let warning = Finding::warning("many-registers", message);
            // The message begins with the name of this row.
            call.report(&warning.about(id.to_string()));
        }
    }
    Ok(None)
}
