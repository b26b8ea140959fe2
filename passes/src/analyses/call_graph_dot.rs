//! The call graph for Graphviz.

use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::Phase;

use super::Analyses;
use super::Analysis;
use super::CallGraph;

/// A function or a prototype.
#[derive(Debug)]
struct Node {
    label: String,
    style: &'static str,
}

/// Returns the call graph of a resolved module in the DOT language: kernels are doubled, functions
/// that are not linked grey, prototypes of indirect calls diamonds. Before `resolved` it is empty.
///
/// With names, only functions are shown whose name contains one of them, and what they are
/// connected to.
pub fn call_graph_dot(module: &Module<'_>, names: &[String]) -> String {
    let calls = CallGraph::compute(module, &Analyses::default());
    let nodes = || (0..calls.node_count()).map(|node| node as u32);
    let name = |node: u32| {
        let link = calls.link_symbol(node)?;
        Some(String::from_utf8_lossy(module.link_name(link)).into_owned())
    };
    let named: Vec<bool> = nodes()
        .map(|node| {
            names.is_empty()
                || name(node).is_some_and(|name| names.iter().any(|part| name.contains(part)))
        })
        .collect();
    let is_named = |node: u32| named.get(node as usize).copied().unwrap_or(false);
    let mut shown = named.clone();
    for from in nodes() {
        for to in calls.successors(from) {
            for (one, other) in [(from, to), (to, from)] {
                if let Some(shown) = shown.get_mut(other as usize).filter(|_| is_named(one)) {
                    *shown = true;
                }
            }
        }
    }
    let mut dot = "digraph {\n".to_owned();
    let mut places: Vec<Option<usize>> = Vec::with_capacity(shown.len());
    let mut count = 0;
    for (node, shown) in nodes().zip(&shown) {
        let look = node_of(module, calls.link_symbol(node)).filter(|_| *shown);
        places.push(look.map(|look| {
            dot += &format!("    {count} [ label={:?} {}]\n", look.label, look.style);
            count += 1;
            count - 1
        }));
    }
    let place = |node: u32| places.get(node as usize).copied().flatten();
    for from in nodes() {
        for to in calls.successors(from) {
            if let (Some(start), Some(end)) = (place(from), place(to))
                && (is_named(from) || is_named(to))
            {
                dot += &format!("    {start} -> {end} [ ]\n");
            }
        }
    }
    dot + "}\n"
}

/// Returns the looks of a node; `None` for resolved symbols that are not functions.
fn node_of(module: &Module<'_>, link: Option<LinkSymbolId>) -> Option<Node> {
    let Some(link) = link else {
        return Some(Node {
            label: "prototype".to_owned(),
            style: "shape=diamond",
        });
    };
    let row = &module.link_symbols[link];
    let symbol = &module.symbols[row.first];
    if !symbol.is_function() {
        return None;
    }
    let mut label = String::from_utf8_lossy(module.link_name(link)).into_owned();
    let function = module.link_function(link);
    if let Some(function) = function {
        label.push_str(&format!(" [{}]", module.functions[function].registers));
    }
    let style = match function {
        None => "shape=box style=dashed",
        Some(_) if module.phase >= Phase::Live && !row.live.is_live() => {
            "shape=box color=grey fontcolor=grey"
        }
        Some(_) if symbol.is_entry() => "shape=box peripheries=2",
        Some(_) => "shape=box",
    };
    Some(Node { label, style })
}

#[cfg(test)]
mod tests {
    use cuweld_ir::Arena;
    use cuweld_ir::text;

    use super::*;

    fn dot(names: &[&str]) -> String {
        let text = include_str!("../../../tests/passes/callgraph-dce/unreached.lir");
        let arena = Arena::new();
        let module = text::parse(text, &arena, &|_| None).unwrap();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        call_graph_dot(&module, &names)
    }

    #[test]
    fn functions_are_nodes_and_calls_are_edges() {
        let all = dot(&[]);
        assert!(all.starts_with("digraph {"), "{all}");
        assert!(
            all.contains("label=\"k [0]\" shape=box peripheries=2"),
            "{all}"
        );
        assert!(all.contains("0 -> 1"), "{all}");
        let none = dot(&["no such name"]);
        assert!(!none.contains("label"), "{none}");
        // A function with its neighbours.
        let one = dot(&["dead"]);
        assert_eq!(one.matches("label").count(), 2, "{one}");
    }
}
