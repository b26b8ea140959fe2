//! What lies where in the shared memory of each kernel.
//!
//! A variable has one address in all kernels that use it. Takes the time of `place-memory`: linear
//! in relocations, and in the kernels that use each variable.

use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::table::EntityId;

use crate::analyses::Analyses;
use crate::analyses::CallGraph;
use crate::analyses::LiveFunctions;
use crate::link::place_memory::shared_uses::Uses;

/// The shared memory of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SharedBlock {
    /// The kernel.
    pub kernel: LinkSymbolId,
    /// Size in bytes of a block, reserved shared memory included.
    pub size: u64,
    /// Bytes that are reserved at the beginning.
    pub reserved: u64,
    /// The variables that the kernel and what it reaches use, by address.
    pub variables: Vec<SharedVariable>,
}

/// A shared variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SharedVariable {
    /// The variable.
    pub symbol: LinkSymbolId,
    /// Its address in bytes from the beginning of the block.
    pub address: u64,
    /// Its size in bytes.
    pub size: u64,
}

/// Returns the shared memory of the kernels that have some, in order of the kernels' definitions;
/// nothing before it is placed.
pub fn shared_blocks(module: &Module<'_>) -> Vec<SharedBlock> {
    if module.phase < Phase::Placed {
        return Vec::new();
    }
    let analyses = Analyses::default();
    let live = analyses.get::<LiveFunctions>(module);
    let uses = Uses::new(module, analyses.get::<CallGraph>(module), live);
    let reserved = module.reserved_shared_size();
    let mut variables = vec![Vec::new(); live.kernels.len()];
    for (symbol, link) in module.link_symbols.iter() {
        let Some(value) = link.value.filter(|_| link.size != 0) else {
            continue;
        };
        let address = value.saturating_add(reserved);
        for kernel in uses.of(symbol) {
            if let Some(variables) = variables.get_mut(*kernel as usize) {
                variables.push(SharedVariable {
                    symbol,
                    address,
                    size: link.size,
                });
            }
        }
    }
    let blocks = live.kernels.iter().zip(variables);
    let blocks = blocks.map(|(&(kernel, function), mut variables)| {
        variables.sort_by_key(|variable| (variable.address, variable.symbol.index()));
        SharedBlock {
            kernel,
            size: module.functions[function]
                .shared
                .map_or(0, |frame| frame.size),
            reserved,
            variables,
        }
    });
    blocks.filter(|block| block.size != 0).collect()
}
