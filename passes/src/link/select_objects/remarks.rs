//! Says why objects take part, or do not.

use cuweld_ir::Module;
use cuweld_ir::ObjectId;
use cuweld_ir::ObjectOrigin;
use cuweld_ir::ObjectState;
use cuweld_ir::SymbolId;

use super::Awaited;
use crate::remark::Remark;
use crate::remark::RemarkInfo;
use crate::remark::Remarks;

const TAKES_PART: RemarkInfo = RemarkInfo {
    name: "takes-part",
    doc: "An object, or a member of a library, takes part in the link",
};
const LEFT_OUT: RemarkInfo = RemarkInfo {
    name: "takes-no-part",
    doc: "An object, or a member of a library, takes no part",
};
const HOST_UNKNOWN: RemarkInfo = RemarkInfo {
    name: "host-unknown",
    doc: "What host code refers to does not count, as the device runtime takes part without a word on it",
};

pub(super) const KINDS: &[RemarkInfo] = &[TAKES_PART, LEFT_OUT, HOST_UNKNOWN];

/// Makes a remark about each object. Linear in the symbols, and for each member of the device
/// runtime that takes part in the symbols before it.
pub(super) fn make(module: &Module<'_>, remarks: &mut Remarks) {
    let mut awaited = Awaited::default();
    for (id, object) in module.objects.iter() {
        if object.state != ObjectState::Linker {
            remarks.emit(|| about(module, id, &awaited));
        }
        if object.state.is_included() {
            awaited.add(module, object);
        }
    }
    let mut objects = module.objects.iter();
    let is_silent = objects.find(|(_, object)| {
        object.state.is_included() && object.system_library && object.is_silent
    });
    if let Some((id, _)) = is_silent {
        remarks.emit(|| {
            Remark::about(&HOST_UNKNOWN, id)
                .words(" says nothing of the kernels that host code refers to: information of host objects does not count, and all kernels may be launched")
        });
    }
}

/// Says why an object takes part, or does not; `awaited` is what objects before it wait for.
pub(crate) fn about(module: &Module<'_>, id: ObjectId, awaited: &Awaited<'_>) -> Remark {
    let object = &module.objects[id];
    let kind = match object.state {
        ObjectState::Included => &TAKES_PART,
        _ => &LEFT_OUT,
    };
    let remark = Remark::about(kind, id)
        .silent("sm", u32::from(object.sm()))
        .silent(
            "origin",
            match object.origin {
                ObjectOrigin::Cubin => "cubin",
                ObjectOrigin::Fatbin => "fatbin",
                ObjectOrigin::Compiled => "compiled",
            },
        );
    match object.state {
        ObjectState::SkippedExecutable => remark
            .words(" takes no part: it is a finished executable")
            .silent("reason", "executable"),
        ObjectState::SkippedUnneeded => remark
            .words(" takes no part: when it is its turn, no function is undefined that the driver does not provide")
            .silent("reason", "not-needed"),
        ObjectState::Candidate | ObjectState::Linker => remark.words(" is not decided"),
        ObjectState::Included if !object.system_library => remark
            .words(" takes part: objects and members of libraries do, all but those of the device runtime")
            .silent("reason", "always"),
        ObjectState::Included if module.options.keep_system_libraries => remark
            .words(" takes part: -keep-system-libraries")
            .silent("reason", "option"),
        ObjectState::Included => match first_awaited(module, id, awaited) {
            Some((symbol, user)) => remark
                .words(" takes part: when it is its turn, ")
                .argument("undefined", symbol)
                .words(" is undefined, which ")
                .argument("user", user)
                .words(" needs")
                .silent("reason", "needed"),
            None => remark.words(" takes part"),
        },
    }
}

/// Returns the first symbol that an object before this one waits for, and the object.
fn first_awaited(
    module: &Module<'_>,
    id: ObjectId,
    awaited: &Awaited<'_>,
) -> Option<(SymbolId, ObjectId)> {
    let mut before = module
        .included_objects()
        .take_while(|(other, _)| *other < id);
    before.find_map(|(other, object)| {
        let mut symbols = object.symbols.iter();
        let symbol = symbols.find(|symbol| awaited.waits_for(&module.symbols[*symbol]))?;
        Some((symbol, other))
    })
}
