//! A plugin with the pass `prefix-kernels{args=["v2_"]}`: every kernel of the link gets a prefix, so that
//! two versions of a program can be told apart in a profile.
//!
//! The plugin has its own copy of the IR; cuweld and it share nothing but text.

use cuweld_ir::Arena;
use cuweld_ir::text;
use cuweld_ir::text::DumpBytes;

cuweld_plugin::export! {
    {
        name: c"prefix-kernels",
        summary: c"Put a prefix before the name of every kernel",
        requires: c"classified",
        run: prefix_kernels
    }
}

fn prefix_kernels(input: &str, args: &[&str]) -> Result<Option<String>, String> {
    let [prefix] = args else {
        return Err("it takes one argument, the prefix".to_owned());
    };
    let arena = Arena::new();
    // The text holds the inputs (`bytes=full`), so it parses alone.
    let parsed = text::parse(input, &arena, &|_| None);
    let mut module = parsed.map_err(|error| error.to_string())?;
    // Sections that belong to one function end with its name: `.text.K`, `.nv.info.K`, `.rela.text.K`.
    let renamed: Vec<_> = module
        .sections
        .iter()
        .filter_map(|(id, section)| {
            let symbol = &module.symbols[module.functions[section.owner?].symbol];
            let stem = section.name.strip_suffix(symbol.name)?;
            let name = [stem, prefix.as_bytes(), symbol.name].concat();
            symbol.is_entry().then(|| (id, arena.bytes(&name)))
        })
        .collect();
    for (id, name) in renamed {
        module.sections[id].name = name;
    }
    let mut kernels = 0;
    for symbol in module
        .symbols
        .values_mut()
        .filter(|symbol| symbol.is_entry())
    {
        symbol.name = arena.bytes(&[prefix.as_bytes(), symbol.name].concat());
        kernels += 1;
    }
    match kernels {
        0 => Ok(None),
        _ => Ok(Some(text::print(&module, DumpBytes::Full))),
    }
}
