//! Pools of constants in place of the banks of kernels (`constant-bank-dedup`).

use cuweld_ir::FunctionId;
use cuweld_ir::Module;

/// Returns `true` if a function has a bank's pool in place of its pieces: every kernel has.
pub(super) fn has_pool(module: &Module<'_>, function: FunctionId, bank: u8) -> bool {
    let kernel = module.symbols[module.functions[function].symbol].is_entry();
    kernel && !module.pool(bank).is_empty()
}

/// Returns the bytes of a pool.
pub(super) fn pool_bytes(module: &Module<'_>, bank: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in module.pool(bank) {
        let range = usize::try_from(part.start)
            .ok()
            .zip(usize::try_from(part.size).ok());
        let value = range.and_then(|(start, size)| {
            let bytes = module.patched_bytes(part.section);
            Some(bytes.get(start..start.checked_add(size)?)?.to_vec())
        });
        // Offsets ascend and are those of the parts before plus padding: the verifier checks it.
        while (bytes.len() as u64) < part.offset {
            bytes.push(0);
        }
        bytes.extend(value.unwrap_or_default());
    }
    bytes
}
