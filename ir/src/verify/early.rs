//! Fields of later phases: neutral until the pass that sets them has run.

use super::Checker;
use super::Rule;
use crate::function::Fate;
use crate::link_symbol::Liveness;
use crate::module::Phase;
use crate::object::ObjectState;
use crate::reloc::Fixup;
use crate::reloc::RelocAction;
use crate::section::SectionKind;

pub(super) fn check(checker: &mut Checker<'_, '_>) {
    let module = checker.module;
    let phase = module.phase;
    if phase < Phase::Classified {
        for (id, section) in module.sections.iter() {
            if section.kind != SectionKind::Unclassified || section.owner.is_some() {
                let place = checker.section(id);
                checker.report(Rule::EarlyClassified, place, "it has a kind or an owner");
            }
        }
        for (id, function) in module.functions.iter() {
            let views = [Some(function.views.sass), function.views.merc];
            if function.registers != 0
                || views.into_iter().flatten().any(|view| view.info.is_some())
            {
                let place = checker.function(id);
                checker.report(
                    Rule::EarlyClassified,
                    place,
                    "it has registers or attributes",
                );
            }
        }
    }
    if phase < Phase::Selected {
        for (id, object) in module.objects.iter() {
            if !matches!(object.state, ObjectState::Candidate | ObjectState::Linker) {
                let what = format!("it is {:?}", object.state);
                checker.report(Rule::EarlySelected, id, what);
            }
        }
    }
    if phase < Phase::Resolved {
        if !module.link_symbols.is_empty() {
            checker.report(Rule::EarlyResolved, "$0", "there are link symbols");
        }
        if !module.merge_log.is_empty() {
            checker.report(Rule::EarlyResolved, "merge event 0", "there is a merge log");
        }
        for (id, function) in module.functions.iter() {
            if function.fate != Fate::Candidate {
                let place = checker.function(id);
                checker.report(Rule::EarlyResolved, place, "the copy was chosen or lost");
            }
        }
    }
    if phase < Phase::Live {
        for (id, link) in module.link_symbols.iter() {
            if link.live != Liveness::Unknown {
                let place = checker.link(id);
                checker.report(Rule::EarlyLive, place, format!("it is {:?}", link.live));
            }
        }
        let lists = module.merged_info.len() + module.merged_compat.len();
        if lists + module.merged_notes.len() != 0 {
            checker.report(Rule::EarlyLive, "merged lists", "there are output lists");
        }
    }
    if phase < Phase::Placed {
        not_placed(checker);
    }
    if phase < Phase::Planned {
        for (id, reloc) in module.relocs.iter() {
            // A pass may have taken the row out.
            if !matches!(reloc.plan, RelocAction::Unplanned | RelocAction::Gone) {
                checker.report(Rule::EarlyPlanned, id, "it is planned");
            }
        }
    }
    if phase < Phase::LaidOut {
        if module.plan.is_some() {
            checker.report(Rule::EarlyLaidOut, "plan", "there is one");
        }
        let has_cause = |fixup: &Fixup| fixup.cause.is_some();
        if let Some(index) = module.fixups.iter().position(has_cause) {
            let place = format!("fixup {index}");
            checker.report(Rule::EarlyLaidOut, place, "it is one of a relocation");
        }
    }
    if phase < Phase::Emitted && module.image.is_some() {
        checker.report(Rule::EarlyEmitted, "image", "there is one");
    }
}

fn not_placed(checker: &mut Checker<'_, '_>) {
    let module = checker.module;
    for (id, section) in module.sections.iter() {
        if section.place.is_some() {
            let place = checker.section(id);
            checker.report(Rule::EarlyPlaced, place, "it has a place");
        }
    }
    for (id, link) in module.link_symbols.iter() {
        if link.value.is_some() {
            let place = checker.link(id);
            checker.report(Rule::EarlyPlaced, place, "it has a value");
        }
    }
    for (id, function) in module.functions.iter() {
        if function.shared.is_some()
            || function.dynamic_shared.is_some()
            || function.unnamed_shared.is_some()
        {
            let place = checker.function(id);
            checker.report(Rule::EarlyPlaced, place, "its shared memory is laid out");
        }
    }
    for (id, function) in module.functions.iter() {
        if function.header_kinds != 0 {
            let place = checker.function(id);
            checker.report(Rule::EarlyPlaced, place, "it has header slots");
        }
    }
    if !module.header_slots.is_empty() {
        checker.report(
            Rule::EarlyPlaced,
            "header slot 0",
            "there are slots of headers",
        );
    }
    if !module.pool_parts.is_empty() {
        checker.report(Rule::EarlyPlaced, "pool part 0", "there are pools of banks");
    }
    if !module.bank_pieces.is_empty() {
        checker.report(
            Rule::EarlyPlaced,
            "bank piece 0",
            "there are pieces of banks",
        );
    }
}
