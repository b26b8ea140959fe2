//! Says which functions kernels need their registers and their stack for.

use cuweld_elf::target::attributes as code;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::table::EntityId;

use crate::analyses::Analyses;
use crate::analyses::CallGraph;
use crate::analyses::DeepestStack;
use crate::analyses::LiveFunctions;
use crate::analyses::words_of_functions;
use crate::remark::Remark;
use crate::remark::RemarkInfo;
use crate::remark::Remarks;

const REGISTERS: RemarkInfo = RemarkInfo {
    name: "registers",
    doc: "A kernel needs more registers than its own code, because of a function that it reaches",
};
const STACK: RemarkInfo = RemarkInfo {
    name: "stack",
    doc: "A kernel needs more stack than its own code, because of functions that it reaches",
};

pub(super) const KINDS: &[RemarkInfo] = &[REGISTERS, STACK];

/// Makes remarks about kernels that need more than their own code does, in the order in which
/// nvlink creates kernels. Linear in the call graph.
pub(super) fn make(module: &Module<'_>, remarks: &mut Remarks) {
    if module.options.relocatable {
        return;
    }
    let analyses = Analyses::default();
    let graph = analyses.get::<CallGraph>(module);
    let live = analyses.get::<LiveFunctions>(module);
    let deepest = analyses.get::<DeepestStack>(module);
    let greediest = greediest(module, graph);
    let counts = words_of_functions(module, code::REGCOUNT);
    let sizes = words_of_functions(module, code::MIN_STACK_SIZE);
    for (kernel, function) in live.reaching_kernels() {
        let own = module.functions[function].registers;
        if let Some(&needed) = counts.get(&kernel).filter(|needed| **needed > own) {
            let remark = Remark::about(&REGISTERS, kernel)
                .words(" needs ")
                .argument("registers", needed)
                .words(" registers, ")
                .argument("own", own)
                .words(" of its own code: ");
            let component = graph.components().of_node[kernel.index()] as usize;
            remarks.emit(|| of_callee(remark, graph, kernel, greediest[component]));
        }
        let own = deepest.frame(graph, kernel.index_u32());
        if let Some(&needed) = sizes.get(&kernel).filter(|needed| **needed != own) {
            remarks.emit(|| of_stack(graph, deepest, kernel, own, needed));
        }
    }
}

/// The function with the most registers that a component reaches.
#[derive(Clone, Copy, Default)]
struct Greediest {
    registers: u32,
    /// The function's node; of several with as many, one of the component itself, or the first that
    /// is found.
    node: Option<u32>,
    /// The node through which the component reaches it; `None` for a function of the component.
    through: Option<u32>,
}

/// Returns for each component of the call graph, callees first, the function with the most
/// registers that it reaches.
fn greediest(module: &Module<'_>, graph: &CallGraph) -> Vec<Greediest> {
    let components = graph.components();
    let mut found: Vec<Greediest> = Vec::with_capacity(components.len());
    let registers = |node: u32| {
        let link = graph.link_symbol(node)?;
        let function = module.link_function(link)?;
        module
            .is_function_live(function)
            .then(|| module.functions[function].registers)
    };
    for members in components.iter() {
        let mut most = Greediest::default();
        let mut take = |registers: u32, node: Option<u32>, through: Option<u32>| {
            if node.is_some() && (most.node.is_none() || registers > most.registers) {
                most = Greediest {
                    registers,
                    node,
                    through,
                };
            }
        };
        for &member in members {
            if let Some(registers) = registers(member) {
                take(registers, Some(member), None);
            }
        }
        for &member in members {
            for next in graph.successors(member) {
                let component = components.of_node[next as usize] as usize;
                if let Some(reached) = found.get(component) {
                    take(reached.registers, reached.node, Some(next));
                }
            }
        }
        found.push(most);
    }
    found
}

/// Adds to a remark which function it is that a kernel has its registers for.
fn of_callee(remark: Remark, graph: &CallGraph, kernel: LinkSymbolId, most: Greediest) -> Remark {
    let callee = most.node.and_then(|node| graph.link_symbol(node));
    let Some(callee) = callee.filter(|callee| *callee != kernel) else {
        return remark.words("a rule of the target asks for them");
    };
    let remark = remark.argument("callee", callee).words(" needs them");
    let Some(through) = most.through else {
        return remark.words(", which takes part in the recursion");
    };
    match graph.link_symbol(through) {
        Some(through) if through == callee => remark,
        Some(through) => remark
            .words(", which it reaches through ")
            .argument("through", through),
        None => remark.words(", which it reaches by an indirect call"),
    }
}

fn of_stack(
    graph: &CallGraph,
    deepest: &DeepestStack,
    kernel: LinkSymbolId,
    own: u32,
    needed: u32,
) -> Remark {
    let remark = Remark::about(&STACK, kernel).words(" needs ");
    let first = DeepestStack::component(graph, kernel);
    let Some(_) = deepest.of(first).bytes else {
        return match deepest.recurses(graph, first) {
            true => remark.words("stack of unknown size: it reaches a recursion"),
            false => remark.words("stack of unknown size: its compiler says so"),
        }
        .silent("own", own);
    };
    let remark = remark
        .argument("stack", needed)
        .words(" bytes of stack, ")
        .argument("own", own)
        .words(" of its own code");
    let nodes = deepest
        .path(first)
        .skip(1)
        .flat_map(|component| graph.components().nodes(component));
    let mut functions = nodes.filter_map(|node| Some((graph.link_symbol(*node)?, *node)));
    // The rest of the path is told by the remarks of `--why-stack`.
    match functions.next() {
        Some((callee, node)) => remark
            .words(": the deepest path of calls goes on with ")
            .argument("callee", callee)
            .words(", ")
            .argument("callee-own", deepest.frame(graph, node))
            .words(" of them"),
        None => remark,
    }
}
