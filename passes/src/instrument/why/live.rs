//! Why a function or variable stays, or goes.

use cuweld_elf::symbol::Binding;
use cuweld_ir::CallKind;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::ObjectId;
use cuweld_ir::SymbolId;

use crate::analyses::Analyses;
use crate::analyses::CallGraph;
use crate::analyses::HostKernels;
use crate::analyses::KnownBy;
use crate::analyses::counting_calls;
use crate::remark::is_name;
use crate::remark::nearest_name;

/// Says of each symbol of this name what it stands for and why it is live or not. Linear in the
/// link.
pub(super) fn explain(module: &Module<'_>, name: &str) -> String {
    let found = named(module, name);
    if found.is_empty() {
        return unknown(module, name);
    }
    let analyses = Analyses::default();
    let mut text = String::new();
    for id in found {
        let live = match module.link_symbols[id].live.is_live() {
            true => "is live",
            false => "is not live",
        };
        text.push_str(&format!("{} {live}\n", shown(module, id, name)));
        for line in definitions(module, id)
            .into_iter()
            .chain(reasons(module, &analyses, id))
        {
            text.push_str(&format!("  {line}\n"));
        }
    }
    text
}

/// Returns the symbols of a name: mangled, or as in the source with or without parameters.
pub(super) fn named(module: &Module<'_>, name: &str) -> Vec<LinkSymbolId> {
    let find = |is_named: &dyn Fn(&[u8]) -> bool| -> Vec<LinkSymbolId> {
        let ids = module.link_symbols.ids();
        ids.filter(|id| is_named(module.link_name(*id))).collect()
    };
    match find(&|known| known == name.as_bytes()) {
        found if found.is_empty() => find(&|known| is_name(name, known)),
        found => found,
    }
}

/// Returns the name of a symbol in quotes, with the name that it was asked for by if that is another.
pub(super) fn shown(module: &Module<'_>, id: LinkSymbolId, asked: &str) -> String {
    let name = String::from_utf8_lossy(module.link_name(id));
    match name == asked {
        true => format!("'{name}'"),
        false => format!("'{asked}' ('{name}')"),
    }
}

/// Says that a name is none of the link, and which may be meant.
pub(super) fn unknown(module: &Module<'_>, name: &str) -> String {
    let known = module.link_symbols.ids();
    let meant = nearest_name(name, &[], known.map(|id| module.link_name(id)));
    let meant = meant.map(|near| format!("; did you mean '{near}'?"));
    format!(
        "'{name}': no symbol of the link{}\n",
        meant.unwrap_or_default()
    )
}

/// Returns a line that says where a symbol is defined, and lines on what became of its other
/// definitions, from the merge log.
fn definitions(module: &Module<'_>, id: LinkSymbolId) -> Vec<String> {
    let file = |symbol: SymbolId| object(module, module.symbols[symbol].object);
    let mut lines = vec![match module.link_symbols[id].definition {
        Some(symbol) => format!("defined in '{}'", file(symbol)),
        None => "undefined".to_owned(),
    }];
    for event in &module.merge_log {
        if module.symbols[event.newcomer].link != Some(id) {
            continue;
        }
        let (discarded, prevailing) = (event.discarded(), event.prevailing());
        let copy = match module.symbols[discarded].bind {
            Binding::WEAK => "weak copy",
            _ => "copy",
        };
        lines.push(format!(
            "the {copy} in '{}' is not taken, but that in '{}': {}",
            file(discarded),
            file(prevailing),
            event.outcome.reason()
        ));
    }
    lines
}

pub(super) fn object(module: &Module<'_>, id: ObjectId) -> String {
    module.objects[id].display()
}

/// Returns the rule that keeps it, or that none does.
fn reasons(module: &Module<'_>, analyses: &Analyses, id: LinkSymbolId) -> Vec<String> {
    let symbol = &module.symbols[module.link_symbols[id].first];
    let live = module.link_symbols[id].live.is_live();
    if !symbol.is_function() {
        let why = match live {
            true => "all variables and constants stay",
            false => "nothing that stays names it",
        };
        return vec![why.to_owned()];
    }
    let host = analyses.get::<HostKernels>(module);
    if live && module.keeps_dead_code() {
        return vec!["-g, -r or -preserve-relocs: all functions stay".to_owned()];
    }
    if let Some(chain) = chain(module, analyses.get(module), host, id) {
        return chain;
    }
    if live {
        let takes = counting_calls(module).into_iter().find(|call| {
            let symbol = call.from.symbol().map(|symbol| &module.symbols[symbol]);
            call.kind == CallKind::AddressTaken && symbol.is_some_and(|row| row.link == Some(id))
        });
        let place = takes.and_then(|call| call.from.symbol());
        return vec![match place {
            Some(symbol) => {
                let place = object(module, module.symbols[symbol].object);
                format!("its address is taken in '{place}'")
            }
            None => "something that stays calls it".to_owned(),
        }];
    }
    let defined = module.link_symbols[id].definition;
    let is_kernel = defined.is_some_and(|symbol| module.symbols[symbol].is_entry());
    vec![match is_kernel {
        true => format!("a kernel that {}", left_out(host)),
        false => "no kernel that stays reaches it, and its address is not taken".to_owned(),
    }]
}

fn kept_by(host: &HostKernels) -> &'static str {
    match host.known_by {
        KnownBy::Nothing => "all kernels stay",
        KnownBy::Options => "-kernels-used names it",
        KnownBy::Host => "host code refers to it",
    }
}

fn left_out(host: &HostKernels) -> &'static str {
    match host.known_by {
        KnownBy::Nothing => "has no definition",
        KnownBy::Options => "-kernels-used does not name",
        KnownBy::Host => "no host code refers to",
    }
}

/// Returns the shortest chain of calls from a kernel that stays, the kernel first; `None` if there
/// is none.
fn chain(
    module: &Module<'_>,
    graph: &CallGraph,
    host: &HostKernels,
    wanted: LinkSymbolId,
) -> Option<Vec<String>> {
    let ids = module.link_symbols.ids();
    let mut kernels: Vec<LinkSymbolId> = ids.filter(|id| host.contains(*id)).collect();
    let named = kernels.len();
    if host.only.is_none() {
        kernels.extend(graph.kernels_by_address(module));
    }
    let by_address = kernels.split_off(named);
    let path = graph.path(kernels.iter().chain(&by_address).copied(), wanted)?;
    let mut lines = Vec::new();
    let mut by_pointer = false;
    for node in path {
        let Some(id) = graph.link_symbol(node) else {
            by_pointer = true;
            continue;
        };
        let name = String::from_utf8_lossy(module.link_name(id));
        let place = match module.link_symbols[id].definition {
            Some(symbol) => format!("in '{}'", object(module, module.symbols[symbol].object)),
            None => "undefined".to_owned(),
        };
        lines.push(match (lines.is_empty(), std::mem::take(&mut by_pointer)) {
            (true, _) if !kernels.contains(&id) => {
                format!(
                    "kernel '{name}' {place}: its address is taken, so device code may launch it"
                )
            }
            (true, _) => format!("kernel '{name}' {place}: {}", kept_by(host)),
            (_, false) => format!("calls '{name}' {place}"),
            (_, true) => format!("calls by pointer, for which '{name}' {place} has the prototype"),
        });
    }
    Some(lines)
}
