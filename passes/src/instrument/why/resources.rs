//! What a kernel's stack and registers are made up of.

use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::table::EntityId;

use super::live::named;
use super::live::object;
use super::live::shown;
use super::live::unknown;
use crate::analyses::Analyses;
use crate::analyses::CallGraph;
use crate::analyses::DeepestStack;

/// What is asked about a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resource {
    Stack,
    Registers,
}

/// Says which calls make up the stack of a function, or give it its registers. Linear in the link.
pub(super) fn explain(module: &Module<'_>, name: &str, resource: Resource) -> String {
    let mut found = named(module, name);
    if found.is_empty() {
        return unknown(module, name);
    }
    // A name of the source is that of the variables of a function, too.
    let is_function =
        |id: &LinkSymbolId| module.symbols[module.link_symbols[*id].first].is_function();
    if found.iter().any(is_function) {
        found.retain(is_function);
    }
    let found = found.into_iter();
    found
        .map(|id| explain_one(module, id, name, resource))
        .collect()
}

/// Says it of one function, which was asked for by `name`.
fn explain_one(module: &Module<'_>, id: LinkSymbolId, name: &str, resource: Resource) -> String {
    let defined = |id: LinkSymbolId| {
        let definition = module.link_symbols[id].definition;
        definition.and_then(|symbol| module.symbols[symbol].function)
    };
    if defined(id).is_none() || !module.link_symbols[id].live.is_live() {
        return format!("{}: no function that is linked\n", shown(module, id, name));
    }
    let analyses = Analyses::default();
    let graph = analyses.get::<CallGraph>(module);
    match resource {
        Resource::Stack => stack(module, graph, analyses.get(module), id),
        Resource::Registers => {
            let registers = |id| defined(id).map_or(0, |id| module.functions[id].registers);
            registers_of(module, graph, id, registers)
        }
    }
}

/// Returns a line about a function on a call path.
fn line(module: &Module<'_>, id: LinkSymbolId, amount: u32, unit: &str) -> String {
    let name = String::from_utf8_lossy(module.link_name(id));
    let place = module.link_symbols[id].definition;
    let place = place.map(|symbol| object(module, module.symbols[symbol].object));
    let place = place.unwrap_or_else(|| "the driver".to_owned());
    format!("  {amount:6} {unit} '{name}' in '{place}'\n")
}

fn stack(
    module: &Module<'_>,
    graph: &CallGraph,
    deepest: &DeepestStack,
    id: LinkSymbolId,
) -> String {
    let components = graph.components();
    let first = DeepestStack::component(graph, id);
    let name = String::from_utf8_lossy(module.link_name(id));
    let mut text = match deepest.of(first).bytes {
        Some(bytes) => format!("'{name}' needs {bytes} bytes of stack\n"),
        None if deepest.recurses(graph, first) => format!("'{name}' needs stack of unknown size\n"),
        None => format!("'{name}' needs stack of unknown size, as its compiler says\n"),
    };
    for component in deepest.path(first) {
        let is_cyclic = components.cyclic.get(component) == Some(&true);
        if is_cyclic {
            text.push_str("  these call one another, as often as they like:\n");
        }
        for node in components.nodes(component) {
            if let Some(link) = graph.link_symbol(*node) {
                text.push_str(&line(module, link, deepest.frame(graph, *node), "bytes,"));
            } else if !is_cyclic {
                text.push_str("         by address, any function of the type:\n");
            }
        }
        if is_cyclic {
            break;
        }
    }
    text
}

fn registers_of(
    module: &Module<'_>,
    graph: &CallGraph,
    id: LinkSymbolId,
    registers: impl Fn(LinkSymbolId) -> u32,
) -> String {
    let reached = graph.reach([id]);
    let reached = module
        .link_symbols
        .ids()
        .filter(|link| reached[link.index()]);
    // Of several with as many, the first.
    let most = reached
        .rev()
        .max_by_key(|link| registers(*link))
        .unwrap_or(id);
    let name = String::from_utf8_lossy(module.link_name(id));
    let mut text = format!("'{name}' needs {} registers\n", registers(most));
    let path = graph.path([id], most).into_iter().flatten();
    for link in path.filter_map(|node| graph.link_symbol(node)) {
        text.push_str(&line(module, link, registers(link), "registers,"));
    }
    text
}
