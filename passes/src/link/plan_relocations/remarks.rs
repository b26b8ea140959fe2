//! Says why relocations stay, or leave without being applied.

use cuweld_elf::target::relocs::RelocClass;
use cuweld_elf::target::relocs::reloc_type;
use cuweld_ir::Module;
use cuweld_ir::Reloc;
use cuweld_ir::RelocAction;
use cuweld_ir::RelocId;
use cuweld_ir::SymbolRef;

use super::facts::Facts;
use super::facts::lost_shared;
use super::rows::Planner;
use super::target_kind::TargetKind;
use crate::analyses::Analyses;
use crate::analyses::Meanings;
use crate::remark::Remark;
use crate::remark::RemarkInfo;
use crate::remark::Remarks;

const KEPT: RemarkInfo = RemarkInfo {
    name: "kept",
    doc: "A relocation stays for the driver, or for the link that makes an executable",
};
const CLEARED: RemarkInfo = RemarkInfo {
    name: "cleared",
    doc: "A relocation leaves and its field is cleared",
};
const DROPPED: RemarkInfo = RemarkInfo {
    name: "dropped",
    doc: "A relocation leaves and its field stays as it is, because of what it refers to",
};

pub(super) const KINDS: &[RemarkInfo] = &[KEPT, CLEARED, DROPPED];

/// Makes a remark about each relocation that is linked and not applied, in the order of rows, but not
/// where its type says all. Each is decided on once more, for what it refers to. Linear in the rows.
pub(super) fn make(module: &Module<'_>, remarks: &mut Remarks) {
    let analyses = Analyses::default();
    let facts = Facts::new(
        module,
        analyses.get::<Meanings>(module),
        lost_shared(module),
    );
    let mut planner = Planner::new(&facts);
    for (id, reloc) in module.relocs.iter() {
        let kind = match reloc.plan {
            RelocAction::Keep { .. } => &KEPT,
            RelocAction::Clear => &CLEARED,
            RelocAction::Drop => &DROPPED,
            RelocAction::Unplanned | RelocAction::Apply { .. } | RelocAction::Gone => continue,
        };
        let target = match planner.decide(&mut { *reloc }) {
            Ok(()) => planner.target(),
            Err(_) => None,
        };
        let goes = matches!(
            target,
            Some(TargetKind::DeadFunction | TargetKind::DiscardedCopy | TargetKind::UnifiedTable)
        );
        if goes || kind.name != DROPPED.name {
            remarks.emit(|| about(module, kind, (id, reloc), target));
        }
    }
}

fn about(
    module: &Module<'_>,
    kind: &RemarkInfo,
    (id, reloc): (RelocId, &Reloc),
    target: Option<TargetKind>,
) -> Remark {
    let is_kept = kind.name == KEPT.name;
    let remark = Remark::about(kind, id).words(match is_kept {
        true => " stays: ",
        false if kind.name == CLEARED.name => " is cleared: ",
        false => " leaves: ",
    });
    let remark = match reloc.target {
        SymbolRef::Symbol(symbol) => remark.argument("target", symbol),
        SymbolRef::Section(section) => remark.argument("target", section),
        SymbolRef::None => remark.words("its target"),
    };
    let is_of_driver = || {
        let class = reloc_type(reloc.ty).map(|row| row.class);
        matches!(class, Some(RelocClass::Driver))
    };
    let relocatable = module.options.relocatable;
    let (reason, why) = match target {
        Some(TargetKind::Function) if is_kept => (
            "function",
            " is a function, whose address the driver decides",
        ),
        Some(TargetKind::Global) if is_kept => (
            "global-memory",
            " is in global memory, whose address the driver decides",
        ),
        Some(TargetKind::ReservedShared) if is_kept => (
            "reserved-shared",
            " is in reserved shared memory, which the driver knows",
        ),
        Some(TargetKind::Header { .. }) if is_kept => (
            "texture",
            " is a texture, sampler or surface, for which the driver fills the field",
        ),
        Some(TargetKind::Undefined) if is_kept => ("undefined", " is left open for a later link"),
        Some(TargetKind::DeadFunction) => ("dead-function", " is a function that goes"),
        Some(TargetKind::DiscardedCopy) => ("discarded-copy", " is of a copy that is not linked"),
        Some(TargetKind::UnifiedTable) => (
            "unified-table",
            " is in a table that the link does not have",
        ),
        _ if is_kept && is_of_driver() => (
            "type",
            " is known, but only the driver can apply a relocation of this type",
        ),
        _ if is_kept && relocatable => ("later-link", " is for the link that makes an executable"),
        _ if is_kept => (
            "view",
            " is what only the other view of the code has in its bytes",
        ),
        _ => (
            "type",
            " is not in the output, and the type asks for a field of zeros then",
        ),
    };
    remark.words(why).silent("reason", reason)
}
