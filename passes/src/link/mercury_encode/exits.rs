//! Which kernels let dependent grids begin early (`PREEXIT`), by themselves or in what they call
//! [exits-of-kernels].

use cuweld_elf::behaviours;
use cuweld_elf::sass::Instruction;
use cuweld_elf::target::attributes;
use cuweld_ir::CallKind;
use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::SymbolRef;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hashbrown::HashSet;

/// Returns `true` if the code of a function lets dependent grids begin, as its record says; without
/// one its instructions do.
pub(super) fn has_exits(module: &Module<'_>, function: FunctionId) -> bool {
    let views = module.functions[function].views;
    let records = views.sass.info.map(|info| module.sections[info].attributes);
    let mut records = records.into_iter().flat_map(|ids| &module.attributes[ids]);
    match records.find(|record| record.code == attributes::PREEXIT_USED) {
        Some(record) => record.value != 0,
        None => Instruction::all(module.sections[views.sass.text].bytes())
            .any(Instruction::is_early_exit),
    }
}

/// Returns the kernels of an executable that call a function with early exits by its name or take
/// its address, or one that does. Time is linear in calls and code.
pub(super) fn kernels_that_call_exits(module: &Module<'_>) -> HashSet<FunctionId, FixedState> {
    let rule = &behaviours::mercury::EXITS_OF_KERNELS;
    let mut reached = HashSet::default();
    if module.options.relocatable || !module.toolkit.has(rule) {
        return reached;
    }
    let functions = module.functions.ids();
    let mut exiting: Vec<FunctionId> = functions
        .filter(|id| module.is_function_live(*id) && has_exits(module, *id))
        .collect();
    if exiting.is_empty() {
        return reached;
    }
    let linked = |reference: SymbolRef| {
        let symbol = &module.symbols[reference.symbol()?];
        Some((module.link_function(symbol.link?)?, symbol.function))
    };
    let mut callers: HashMap<FunctionId, Vec<FunctionId>, FixedState> = HashMap::default();
    for call in module.calls.values() {
        if matches!(call.kind, CallKind::Direct | CallKind::TakesAddress)
            && let (Some((from, own)), Some((to, _))) = (linked(call.from), linked(call.to))
            && own == Some(from)
        {
            callers.entry(to).or_default().push(from);
        }
    }
    while let Some(function) = exiting.pop() {
        for caller in callers.remove(&function).into_iter().flatten() {
            if reached.insert(caller) {
                exiting.push(caller);
            }
        }
    }
    let is_kernel = |id: &FunctionId| module.symbols[module.functions[*id].symbol].is_entry();
    reached.retain(is_kernel);
    reached
}
