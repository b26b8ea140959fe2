//! A plugin with the pass `prefix-kernels{prefix="v2_"}`: every kernel of the link gets a prefix, so that
//! two versions of a program can be told apart in a profile.
//!
//! The plugin has its own copy of the IR; cuweld and it share nothing but text.

use cuweld_ir::Arena;
use cuweld_ir::text;
use cuweld_ir::text::DumpBytes;
use cuweld_plugin::Call;
use cuweld_plugin::Finding;

cuweld_plugin::export! {
    {
        name: c"prefix-kernels",
        summary: c"Put a prefix before the name of every kernel",
        requires: c"classified",
        options: [{ name: c"prefix", ty: String, default: c"''", doc: c"What names of kernels begin with." }],
        run: prefix_kernels
    }
}

fn prefix_kernels(call: &Call<'_>) -> Result<Option<String>, String> {
    let prefix = call.string("prefix");
    if prefix.is_empty() {
        return Err("it needs the option 'prefix'".to_owned());
    }
    let arena = Arena::new();
    // The text holds the inputs (`bytes=full`), so it parses alone.
    let parsed = text::parse(call.text(), &arena, &|_| None);
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
    for (id, function) in module.functions.iter() {
        let symbol = &mut module.symbols[function.symbol];
        if symbol.is_entry() {
            symbol.name = arena.bytes(&[prefix.as_bytes(), symbol.name].concat());
            call.report(&Finding::remark("has a prefix").about(id.to_string()));
            kernels += 1;
        }
    }
    call.count("kernels", kernels);
    if kernels == 0 {
        call.report(&Finding::warning(
            "no-kernels",
            "there is no kernel that could get a prefix",
        ));
        return Ok(None);
    }
    Ok(Some(text::print(&module, DumpBytes::Full)))
}
