//! Says which definition of a name prevails, and why: from the merge log.

use cuweld_ir::MergeEvent;
use cuweld_ir::MergeOutcome;
use cuweld_ir::Module;
use cuweld_ir::SymbolId;

use crate::remark::Remark;
use crate::remark::RemarkInfo;
use crate::remark::Remarks;

const PREVAILS: RemarkInfo = RemarkInfo {
    name: "prevails",
    doc: "Of two definitions of one name one is linked",
};
const SHARES: RemarkInfo = RemarkInfo {
    name: "shares-memory",
    doc: "Tentative definitions of one name become one variable",
};

pub(super) const KINDS: &[RemarkInfo] = &[PREVAILS, SHARES];

/// Makes a remark about each time that two definitions of a name met, in the order of the merge
/// log. Linear in the log.
pub(super) fn make(module: &Module<'_>, remarks: &mut Remarks) {
    for event in &module.merge_log {
        remarks.emit(|| about(module, event));
    }
}

fn about(module: &Module<'_>, event: &MergeEvent) -> Remark {
    let (prevailing, discarded) = (event.prevailing(), event.discarded());
    let object = module.symbols[discarded].object;
    let size = |symbol: SymbolId| module.symbols[symbol].size;
    let registers = |symbol: SymbolId| {
        let function = module.symbols[symbol].function;
        function.map_or(0, |function| module.functions[function].registers)
    };
    let remark = match event.outcome {
        MergeOutcome::Grows => Remark::about(&SHARES, prevailing)
            .words(" grows to ")
            .argument("size", size(discarded))
            .words(" bytes, the size of the tentative definition in ")
            .argument("object", object),
        MergeOutcome::Joins => Remark::about(&SHARES, prevailing)
            .words(" shares its memory with the tentative definition in ")
            .argument("object", object),
        _ => Remark::about(&PREVAILS, prevailing)
            .words(" prevails over the copy in ")
            .argument("object", object),
    };
    let remark = match event.outcome {
        MergeOutcome::Grows | MergeOutcome::Joins => remark,
        MergeOutcome::ReplacesWeak | MergeOutcome::YieldsToStrong => {
            remark.words(": that one is weak")
        }
        MergeOutcome::ReplacesMoreRegisters | MergeOutcome::YieldsToFewerRegisters => remark
            .words(": that one needs ")
            .argument("discarded-registers", registers(discarded))
            .words(" registers, this one ")
            .argument("registers", registers(prevailing)),
        MergeOutcome::ReplacesOlder => {
            remark.words(": that one was compiled for a lower virtual architecture")
        }
        MergeOutcome::ReplacesTentative | MergeOutcome::YieldsToInitialised => {
            remark.words(": that one is tentative, this one initialised")
        }
        MergeOutcome::YieldsToFirst => {
            remark.words(": both are weak and alike, and this one comes first")
        }
        MergeOutcome::YieldsToTentative => {
            remark.words(": this one is tentative, comes first, and gets the memory of that one")
        }
    };
    remark
        .silent("discarded", discarded)
        .silent("outcome", event.outcome.name())
}
