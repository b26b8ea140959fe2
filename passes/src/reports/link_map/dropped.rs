//! Sections of linked objects of which the output holds nothing.

use cuweld_ir::LinkSymbol;
use cuweld_ir::Module;
use cuweld_ir::Section;
use cuweld_ir::SectionKind;
use cuweld_ir::function::Fate;
use cuweld_ir::link_symbol::Liveness;

use super::DropReason;
use super::DroppedSection;
use super::map_input::input;

/// Returns the dropped sections of the objects that take part in the link, in their order. Sections
/// without contents of their own are left out.
pub(super) fn dropped(module: &Module<'_>, text: impl Fn(&[u8]) -> String) -> Vec<DroppedSection> {
    let sections = module.sections.values().filter(|row| row.size() != 0);
    let sections = sections.filter(|row| {
        let object = module.objects.get(row.object);
        object.is_some_and(|object| object.state.is_included())
    });
    sections
        .filter_map(|row| {
            Some(DroppedSection {
                reason: reason(module, row)?,
                input: input(module, row.object, row.name, 0, &text),
                size: row.size(),
            })
        })
        .collect()
}

/// Returns the dropped sections that nothing which stays uses, in the order of the objects: those that
/// other linkers call garbage. Copies that are not linked are none.
pub(super) fn unused(module: &Module<'_>, text: impl Fn(&[u8]) -> String) -> Vec<DroppedSection> {
    let mut dropped = dropped(module, text);
    dropped.retain(|section| {
        matches!(
            section.reason,
            DropReason::Unreachable | DropReason::Unreferenced
        )
    });
    dropped
}

/// Returns why the output holds nothing of a section of an included object, if it does not.
pub(super) fn reason(module: &Module<'_>, section: &Section<'_>) -> Option<DropReason> {
    if section.kind == SectionKind::Stripped {
        return Some(DropReason::LeftOut);
    }
    let function = module.functions.get(section.owner?)?;
    match function.fate {
        Fate::Discarded => Some(DropReason::Discarded),
        Fate::Replaced => Some(DropReason::Replaced),
        Fate::Folded => Some(DropReason::Folded),
        Fate::Candidate => None,
        Fate::Prevailing => {
            let link = module.symbols.get(function.symbol)?.link?;
            dead(module.link_symbols.get(link)?)
        }
    }
}

/// Returns why a resolved symbol is not kept, if it is not.
fn dead(link: &LinkSymbol) -> Option<DropReason> {
    match link.live {
        Liveness::Unreachable => Some(DropReason::Unreachable),
        Liveness::Unreferenced => Some(DropReason::Unreferenced),
        Liveness::Unknown | Liveness::Live | Liveness::ByAddress => None,
    }
}
