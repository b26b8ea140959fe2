//! `propagate-resources`: what kernels need because of the functions they reach.
//!
//! Registers, barriers, call-return stack, stack, externs and the other attributes that travel up
//! the call graph. Executables only.
//!
//! Everything is answered on the strongly connected components of the call graph, callees first:
//! each component holds the summary of all that it reaches. Time is linear in nodes, edges and
//! attribute records, except for NUM_MBARRIERS, whose values are summed over distinct functions and
//! so need sets: components times functions that carry it, in bits.

mod kernel_list;
mod own;
mod remarks;
mod summaries;
mod summary;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::link;
use cuweld_diagnostics::codes::unsupported;
use cuweld_elf::behaviours::attributes;
use cuweld_elf::behaviours::symbols;
use cuweld_elf::known_symbols;
use cuweld_elf::symbol::Binding;
use cuweld_elf::target::attributes as code;
use cuweld_ir::Attribute;
use cuweld_ir::AttributeId;
use cuweld_ir::CallKind;
use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::SymbolRef;
use cuweld_ir::attribute::format;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hashbrown::HashSet;

use crate::analyses::CallGraph;
use crate::analyses::LiveFunctions;
use crate::analyses::Meanings;
use crate::analyses::Preserved;
use crate::analyses::Prototypes;
use crate::analyses::all_functions_in_creation_order;
use crate::link::merge_metadata::value_record;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::PassInfo;
use crate::remark::Remarks;

use kernel_list::KernelList;
use summaries::Summaries;
use summary::FIRST_SIGHT_CODES;
use summary::NEVER;
use summary::NO_SPARSE_MMA_MASK;
use summary::Summary;
use summary::add_mbarriers;

/// The `propagate-resources` pass.
#[derive(Debug, Default)]
pub struct PropagateResources;

impl Pass for PropagateResources {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "propagate-resources",
            summary: "Give kernels the registers, barriers, stack and externs of what they reach",
            doc: include_str!("propagate_resources.rs"),
            requires: Phase::Merged,
            establishes: Some(Phase::Propagated),
            preserves: Preserved::All,
            remarks: remarks::KINDS,
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        if module.options.relocatable {
            return Ok(Changed::No);
        }
        let graph = cx.analyses.get::<CallGraph>(module);
        let live = cx.analyses.get::<LiveFunctions>(module);
        let meanings = cx.analyses.get::<Meanings>(module);
        let kernels: Vec<_> = live.reaching_kernels().collect();
        let (functions, kernels) = (&live.functions, &kernels);
        let listed = listed(module, kernels);
        let leaves_out = live.kernels.len() != kernels.len();
        let summaries = Summaries::new(module, meanings, graph, live.only_kernel, &listed);
        for link in roots(module, live, kernels) {
            let summary = summaries.of(graph, link);
            if summary.stack.is_none() && !module.options.reports.suppress_stack_size_warning {
                let name = String::from_utf8_lossy(module.link_name(link)).into_owned();
                let mut warning = Diagnostic::warning(
                    link::STACK_UNKNOWN,
                    format!(
                        "Stack size for entry function '{name}' cannot be statically determined"
                    ),
                );
                let calls = summaries.recursive_calls(graph, link);
                match summaries.cycle(module, graph, link) {
                    Some(cycle) => {
                        warning = warning.note(format!("it reaches the recursion {cycle}"));
                    }
                    // Its compiler has said so [whole-kernel-unknown-stack].
                    None if calls == 0 => continue,
                    None => {}
                }
                // nvlink says it once for each call of the kernel that leads to recursion.
                for _ in 1..calls {
                    cx.diagnostics.emit(warning.clone());
                }
                cx.diagnostics.emit(warning);
            }
        }
        let without_registers = without_registers(module, graph, live, &summaries);
        if let Some(finding) = without_registers.or_else(|| alias_alone(module, live)) {
            cx.diagnostics.emit(finding);
            return Err(PassError::Diagnosed);
        }
        if module.options.reports.extra_warnings && !module.keeps_dead_code() {
            let roots = match leaves_out {
                true => kernels.iter().map(|(link, _)| *link).collect(),
                false => roots(module, live, kernels),
            };
            for warning in addresses_without_calls(module, graph, functions, &roots) {
                cx.diagnostics.emit(warning);
            }
        }
        for &Listed {
            list,
            link,
            is_kernel,
            ..
        } in &listed
        {
            if is_kernel {
                let summary = summaries.of(graph, link);
                KernelList::new(module, list, cx.arena).add(&summaries, summary);
            } else {
                if leaves_out {
                    remove_records_of_kernels(module, list);
                }
                if summaries.link.any_sparse_mma {
                    without_mask(module, list);
                }
            }
        }
        if summaries.link.any_sparse_mma {
            aliases_without_masks(module, live);
        }
        // After the masks of aliases.
        for listed in &listed {
            let reached = match listed.is_kernel {
                true => summaries.of(graph, listed.link).flag_barriers,
                false => 0,
            };
            record_barriers(module, listed.list, listed.function, reached);
        }
        registers(module, kernels, &summaries, graph, cx.arena);
        stack(module, kernels, &summaries, graph, cx.arena);
        cx.statistics.add("kernels", kernels.len() as u64);
        Ok(Changed::Yes)
    }

    fn remarks(&self, module: &Module<'_>, remarks: &mut Remarks) {
        remarks::make(module, remarks);
    }
}

/// Returns what counts as a kernel for messages: kernels that get what they reach, and beside more
/// than one of them stubs of unified functions, live or not. A link with such stubs ends where
/// memory is placed.
fn roots(
    module: &Module<'_>,
    live: &LiveFunctions,
    kernels: &[(LinkSymbolId, FunctionId)],
) -> Vec<LinkSymbolId> {
    if live.only_kernel.is_some() {
        return kernels.iter().map(|(link, _)| *link).collect();
    }
    let mut is_root = vec![false; module.link_symbols.len()];
    for (kernel, _) in kernels {
        is_root[kernel.index()] = true;
    }
    let mut roots = all_functions_in_creation_order(module);
    roots.retain(|link| {
        is_root[link.index()] || known_symbols::is_unified_stub(module.link_name(*link))
    });
    roots
}

/// A function with a list of records in the output.
struct Listed {
    /// The list's place.
    list: usize,
    function: FunctionId,
    link: LinkSymbolId,
    is_kernel: bool,
}

/// Returns the functions with lists, in the order of these.
fn listed(module: &Module<'_>, kernels: &[(LinkSymbolId, FunctionId)]) -> Vec<Listed> {
    let mut is_kernel = vec![false; module.link_symbols.len()];
    for (link, _) in kernels {
        is_kernel[link.index()] = true;
    }
    let lists = module.merged_info.iter().enumerate();
    let listed = lists.filter_map(|(list, info)| {
        let function = info.function?;
        let link = module.symbols[module.functions[function].symbol].link?;
        Some(Listed {
            list,
            function,
            link,
            is_kernel: is_kernel[link.index()],
        })
    });
    listed.collect()
}

/// Removes what only kernels have of a kernel that gets nothing of what it reaches: fragments at the
/// entry, and the emptied list of externs. Device functions have neither.
fn remove_records_of_kernels(module: &mut Module<'_>, list: usize) {
    let attributes = &module.attributes;
    let stays = |id: &AttributeId| match attributes[*id].code {
        code::AT_ENTRY_FRAGMENTS => false,
        code::EXTERNS => !attributes[*id].refs.is_empty(),
        _ => true,
    };
    module.merged_info[list].records.retain(stays);
}

/// Gives functions that have aliases the mask of a function without one, for each alias: aliases
/// have no lists of their own [function-aliases].
fn aliases_without_masks(module: &mut Module<'_>, live: &LiveFunctions) {
    let aliased = live
        .defined()
        .filter_map(|(_, alias)| module.aliased(alias));
    let mut aliases: HashMap<FunctionId, u32, FixedState> = HashMap::default();
    for function in aliased {
        *aliases.entry(function).or_default() += 1;
    }
    if aliases.is_empty() {
        return;
    }
    for list in 0..module.merged_info.len() {
        let function = module.merged_info[list].function;
        let count = function.and_then(|function| aliases.get(&function));
        for _ in 0..count.copied().unwrap_or(0) {
            let record = value_record(format::HVAL, code::SPARSE_MMA_MASK, NO_SPARSE_MMA_MASK);
            let id = module.push_attribute(record, &[]);
            module.merged_info[list].records.push(id);
        }
    }
}

/// Reports an alias that stays without its function: no row of the call graph says that it needs
/// it.
fn alias_alone(module: &Module<'_>, live: &LiveFunctions) -> Option<Diagnostic> {
    let is_alone = |alias: FunctionId| {
        let function = module.aliased(alias);
        function.is_some_and(|function| !module.is_function_live(function))
    };
    let (alias, _) = live.defined().find(|(_, function)| is_alone(*function))?;
    let name = String::from_utf8_lossy(module.link_name(alias));
    Some(
        Diagnostic::refusal(unsupported::CALL_GRAPH_GAP).note(format!(
            "'{name}' is an alias of a function that is left out"
        )),
    )
}

/// Gives the mask of a function without one to a device function of a compiler that writes no
/// masks, in a link where another compiler does.
fn without_mask(module: &mut Module<'_>, list: usize) {
    let mut records = module.merged_info[list].records.iter();
    if !records.any(|id| module.attributes[*id].code == code::SPARSE_MMA_MASK) {
        let record = value_record(format::HVAL, code::SPARSE_MMA_MASK, NO_SPARSE_MMA_MASK);
        let id = module.push_attribute(record, &[]);
        module.merged_info[list].records.push(id);
    }
}

/// Turns barrier counts in section flags into records [barriers-in-flags]: a function without a
/// record gets one at the end, of its own count or a larger one of what it reaches, and its flags
/// are cleared. If there is a record, of the function itself or of one that it reaches, the
/// function's own flags do not count in it, and stay.
fn record_barriers(module: &mut Module<'_>, list: usize, function: FunctionId, reached: u8) {
    if let Some(own) = barriers_in_flags(module, function) {
        module.functions[function].flag_barriers = reached.max(own);
        return;
    }
    let records = &module.merged_info[list].records;
    let place = records
        .iter()
        .position(|id| module.attributes[*id].code == code::NUM_BARRIERS);
    let Some(place) = place else {
        let own = std::mem::take(&mut module.functions[function].flag_barriers);
        let count = own.max(reached);
        if count != 0 {
            let record = value_record(format::BVAL, code::NUM_BARRIERS, count.into());
            let id = module.push_attribute(record, &[]);
            module.merged_info[list].records.push(id);
        }
        return;
    };
    let value = module.attributes[records[place]].value & 0xff;
    if u16::from(reached) > value {
        let record = value_record(format::BVAL, code::NUM_BARRIERS, reached.into());
        module.merged_info[list].records[place] = module.push_attribute(record, &[]);
    }
}

/// Returns the barriers that the flags of a function's code count, if nothing else counts them
/// [barriers-stay-in-flags].
fn barriers_in_flags(module: &Module<'_>, function: FunctionId) -> Option<u8> {
    let is_there = module.toolkit.has(&attributes::BARRIERS_STAY_IN_FLAGS);
    is_there.then(|| module.functions[function].flag_barriers)
}

/// Returns what `-extrawarn` reports: device functions whose address is taken while nothing that a
/// kernel reaches calls them, or makes an indirect call of their prototype; not where nothing
/// dies. Kernels are launched, not called, but for those that options or host information leave
/// out; `roots` are those that are launched, with stubs of unified functions where none is left
/// out.
fn addresses_without_calls(
    module: &Module<'_>,
    graph: &CallGraph,
    functions: &[LinkSymbolId],
    roots: &[LinkSymbolId],
) -> Vec<Diagnostic> {
    let reached = graph.reach(roots.iter().copied());
    let link_of = |target: SymbolRef| module.symbols[target.symbol()?].link;
    let mut called: HashSet<&[u8], FixedState> = HashSet::default();
    let mut direct = vec![false; module.link_symbols.len()];
    let mut taken: Vec<Option<&[u8]>> = vec![None; module.link_symbols.len()];
    let prototypes = Prototypes::new(module);
    for call in graph.calls(module) {
        let Some(from) = link_of(call.from) else {
            continue;
        };
        let counts = reached.get(from.index()).is_some_and(|reached| *reached);
        match call.kind {
            CallKind::Indirect if counts => {
                called.insert(call.prototype);
            }
            CallKind::Direct if counts => {
                if let Some(to) = link_of(call.to) {
                    direct[to.index()] = true;
                }
            }
            CallKind::AddressTaken => {
                taken[from.index()] = prototypes.get(from).or(Some(call.prototype));
            }
            _ => {}
        }
    }
    // Kernels that have what they reach may be launched, and so may those that no object defines.
    for root in roots {
        direct[root.index()] = true;
    }
    for link in functions {
        direct[link.index()] |= module.is_undefined_kernel(*link);
    }
    let uncalled = functions
        .iter()
        .filter(|link| !direct[link.index()])
        .filter(|link| taken[link.index()].is_some_and(|prototype| !called.contains(prototype)));
    uncalled
        .map(|link| {
            let name = String::from_utf8_lossy(module.link_name(*link));
            Diagnostic::warning(
                link::NO_CALLS,
                format!("Function '{name}' has address taken but no calls to it found"),
            )
        })
        .collect()
}

/// Targets below link functions without REGCOUNT (seeds 8182 and 16095 of the conformance engine).
const FIRST_SM_THAT_MISSES_REGISTERS: u16 = 90;

/// Reports a function without a REGCOUNT record. From sm_90 on nvlink refuses it if what it calls
/// has none either; otherwise it links, in a way that is not known.
fn without_registers(
    module: &Module<'_>,
    graph: &CallGraph,
    live: &LiveFunctions,
    summaries: &Summaries,
) -> Option<Diagnostic> {
    let is_bare = |(_, function): &(LinkSymbolId, FunctionId)| {
        module.functions[*function].registers == 0 && !module.is_alias(*function)
    };
    let (bare, _) = live.defined().find(is_bare)?;
    let name = String::from_utf8_lossy(module.link_name(bare));
    // nvlink finds it after undefined names and the call graph, if it needs the number at all.
    let undefined = module.link_symbols.values().any(|link| {
        link.live.is_live()
            && link.definition.is_none()
            && module.symbols[link.first].bind == Binding::GLOBAL
    });
    let is_missed = module.target.sm >= FIRST_SM_THAT_MISSES_REGISTERS
        && summaries.of(graph, bare).registers == 0
        && !undefined
        && !module.options.reports.call_graph;
    let finding = if is_missed {
        Diagnostic::fatal(link::NO_REGISTER_COUNT, "Internal error: no regcount?")
    } else {
        Diagnostic::refusal(unsupported::REGISTER_COUNT)
    };
    Some(finding.note(format!("no REGCOUNT record says what '{name}' needs")))
}

/// Rewrites the kernels' REGCOUNT records of the module-wide list.
fn registers<'data>(
    module: &mut Module<'data>,
    kernels: &[(LinkSymbolId, FunctionId)],
    summaries: &Summaries,
    graph: &crate::analyses::CallGraph,
    arena: &'data cuweld_ir::Arena,
) {
    let mut is_kernel = vec![false; module.link_symbols.len()];
    for (link, _) in kernels {
        is_kernel[link.index()] = true;
    }
    let Some(list) = module.merged_info.first() else {
        return;
    };
    for place in 0..list.records.len() {
        let row = &module.attributes[module.merged_info[0].records[place]];
        if row.code != code::REGCOUNT {
            continue;
        }
        let Some(&target @ SymbolRef::Symbol(symbol)) = module.refs(row).first() else {
            continue;
        };
        let Some(link) = module.symbols[symbol]
            .link
            .filter(|link| is_kernel[link.index()])
        else {
            continue;
        };
        let most = summaries.of(graph, link).registers;
        if row.word(0) != Some(most) {
            let record = Attribute {
                section: None,
                rest: arena.bytes(&most.to_le_bytes()),
                ..row.clone()
            };
            let id = module.push_attribute(record, &[target]);
            module.merged_info[0].records[place] = id;
        }
    }
}

/// Appends the kernels' MIN_STACK_SIZE records to the module-wide list, in the order of the
/// output's symbol table.
fn stack<'data>(
    module: &mut Module<'data>,
    kernels: &[(LinkSymbolId, FunctionId)],
    summaries: &Summaries,
    graph: &crate::analyses::CallGraph,
    arena: &'data cuweld_ir::Arena,
) {
    // [weak-before-global]
    let weak_first = module.toolkit.has(&symbols::WEAK_BEFORE_GLOBAL);
    let in_local_list = |link: LinkSymbolId| {
        let bind = module.symbols[module.link_symbols[link].first].bind;
        match weak_first {
            true => bind != Binding::GLOBAL,
            false => bind == Binding::LOCAL,
        }
    };
    let (local, global): (Vec<_>, Vec<_>) = kernels
        .iter()
        .map(|(link, _)| *link)
        .partition(|link| in_local_list(*link));
    for link in local.into_iter().chain(global) {
        let summary = summaries.of(graph, link);
        let target = SymbolRef::Symbol(module.link_symbols[link].first);
        let append = |module: &mut Module<'data>, code, value: u32| {
            let record = Attribute {
                section: None,
                format: format::SVAL,
                code,
                value: 0,
                refs: 0..0,
                rest: arena.bytes(&value.to_le_bytes()),
            };
            let id = module.push_attribute(record, &[target]);
            if let Some(list) = module.merged_info.first_mut() {
                list.records.push(id);
            }
        };
        append(
            module,
            code::MIN_STACK_SIZE,
            summary.stack.unwrap_or(u32::MAX),
        );
        if let Some(size) = summary.region_stack {
            append(module, code::SAM_REGION_STACK_SIZE, size);
        }
    }
}
