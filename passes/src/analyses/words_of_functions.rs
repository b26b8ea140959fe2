//! Numbers that the merged attribute lists hold for functions.

use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// Returns what the records of a code in the output's `.nv.info` say of functions, a word each: of
/// MIN_STACK_SIZE the bytes of stack that kernels need, as `propagate-resources` wrote them.
pub(crate) fn words_of_functions(
    module: &Module<'_>,
    code: u8,
) -> HashMap<LinkSymbolId, u32, FixedState> {
    let records = module.merged_info.first().into_iter();
    let records = records.flat_map(|list| &list.records);
    let records = records.map(|id| &module.attributes[*id]);
    let records = records.filter(|record| record.code == code);
    let needed = records.filter_map(|record| {
        let symbol = module.refs(record).first()?.symbol()?;
        Some((module.symbols[symbol].link?, record.word(0)?))
    });
    needed.collect()
}
