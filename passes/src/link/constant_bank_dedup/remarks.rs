//! Says which compiler constants are stored once, or why none are.

use cuweld_ir::Module;
use cuweld_ir::PoolPart;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolPlace;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::BANK;
use super::Banks;
use crate::analyses::Analyses;
use crate::analyses::LiveFunctions;
use crate::link::place_memory::CONSTANT_BANK_LIMIT;
use crate::remark::Remark;
use crate::remark::RemarkInfo;
use crate::remark::Remarks;
use crate::remark::Value;

const POOL: RemarkInfo = RemarkInfo {
    name: "pool",
    doc: "All kernels with compiler constants share one pool of them",
};
const MERGED: RemarkInfo = RemarkInfo {
    name: "merged",
    doc: "A compiler constant has the place of an equal one",
};
const FITS: RemarkInfo = RemarkInfo {
    name: "fits",
    doc: "The bank of a kernel is the largest and fits, so that nothing is merged",
};

pub(super) const KINDS: &[RemarkInfo] = &[POOL, MERGED, FITS];

/// Makes remarks about the pool, or about the largest bank. Linear in the constants.
pub(super) fn make(module: &Module<'_>, remarks: &mut Remarks) {
    let analyses = Analyses::default();
    let banks = Banks::new(module, analyses.get::<LiveFunctions>(module));
    // Of banks of one size the first.
    let sizes = banks.kernels.iter().zip(&banks.sizes).rev();
    let Some((kernel, size)) = sizes.max_by_key(|(_, size)| **size) else {
        return;
    };
    let pool = module.pool(BANK);
    if pool.is_empty() {
        remarks.emit(|| {
            Remark::about(&FITS, *kernel)
                .words(" has the largest bank of compiler constants: ")
                .argument("size", *size)
                .words(" bytes of ")
                .argument("limit", CONSTANT_BANK_LIMIT)
                .words(", so that equal constants stay apart")
        });
        return;
    }
    remarks.emit(|| {
        Remark::of_link(&POOL)
            .argument("kernels", banks.kernels.len())
            .words(" kernels share a pool of ")
            .argument("size", module.pool_size(BANK))
            .words(" bytes of compiler constants; the largest of their banks, of ")
            .argument("kernel", *kernel)
            .words(", had ")
            .argument("before", *size)
    });
    let at: HashMap<u64, &PoolPart, FixedState> =
        pool.iter().map(|part| (part.offset, part)).collect();
    for (id, symbol) in module.symbols.iter() {
        let SymbolPlace::Section(section) = symbol.place else {
            continue;
        };
        if module.sections[section].kind != SectionKind::FunctionConstants(BANK) {
            continue;
        }
        let value = symbol.link.and_then(|link| module.link_symbols[link].value);
        let part = value.and_then(|value| at.get(&value));
        let own = |part: &&&PoolPart| (part.section, part.start) == (section, symbol.value);
        if let (Some(value), Some(part)) = (value, part.filter(|part| !own(part))) {
            remarks.emit(|| {
                let remark = Remark::about(&MERGED, id)
                    .words(" has the place of an equal constant, ")
                    .argument("address", Value::Address(value))
                    .words(" of the pool, which came first in ")
                    .argument("first", part.section);
                remark.silent("size", symbol.size)
            });
        }
    }
}
