//! Where a piece came from.

use cuweld_ir::Module;
use cuweld_ir::ObjectId;

use super::MapInput;

/// Returns a place in a section of an object.
pub(super) fn input(
    module: &Module<'_>,
    object: ObjectId,
    section: &[u8],
    offset: u64,
    text: impl Fn(&[u8]) -> String,
) -> MapInput {
    let object = module.objects.get(object);
    let member = object.map_or(&[][..], |object| object.member);
    MapInput {
        name: object.map_or_else(String::new, |object| text(object.name)),
        member: (!member.is_empty()).then(|| text(member)),
        section: text(section),
        offset,
    }
}
