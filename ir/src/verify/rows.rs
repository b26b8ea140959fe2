//! The rows of objects as they are read.

use super::Checker;
use super::Rule;
use crate::attribute::format;
use crate::ids::*;
use crate::section::SectionContent;
use crate::section::SectionInfo;
use crate::symbol::SymbolPlace;
use crate::symbol::SymbolRef;
use crate::table::EntityId;
use cuweld_elf::symbol::SymbolType;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::has_records;
use cuweld_elf::target::section_types::is_decoded;
use cuweld_elf::target::section_types::is_no_bits;
use cuweld_elf::target::section_types::is_relocs;
use cuweld_elf::target::section_types::may_have_owner;
use cuweld_elf::target::section_types::sht;

pub(super) fn check(checker: &mut Checker<'_, '_>) {
    objects(checker);
    sections(checker);
    symbols(checker);
    functions(checker);
    relocs(checker);
    attributes(checker);
    calls(checker);
    notes(checker);
}

/// Returns `true` if a reference stays within an object.
fn stays(checker: &Checker<'_, '_>, object: ObjectId, target: SymbolRef) -> bool {
    match target {
        SymbolRef::None => true,
        SymbolRef::Symbol(id) => checker.module.symbols[id].object == object,
        SymbolRef::Section(id) => checker.module.sections[id].object == object,
    }
}

/// Checks that rows name the object that owns them. The ranges are known to partition the tables.
fn objects(checker: &mut Checker<'_, '_>) {
    let module = checker.module;
    let other = |id: ObjectId, named: ObjectId| format!("object {id} owns it, it names {named}");
    for (id, object) in module.objects.iter() {
        for row in object.sections.iter() {
            let named = module.sections[row].object;
            if named != id {
                let place = checker.section(row);
                checker.report(Rule::RowObject, place, other(id, named));
            }
        }
        for row in object.symbols.iter() {
            let named = module.symbols[row].object;
            if named != id {
                let place = checker.symbol(row);
                checker.report(Rule::RowObject, place, other(id, named));
            }
        }
        for row in object.functions.iter() {
            let named = module.functions[row].object;
            if named != id {
                let place = checker.function(row);
                checker.report(Rule::RowObject, place, other(id, named));
            }
        }
        for row in object.calls.iter() {
            let call = &module.calls[row];
            if !stays(checker, id, call.from) || !stays(checker, id, call.to) {
                checker.report(Rule::SameObject, row, "it names a symbol of another object");
            }
        }
        for row in object.prototypes.iter() {
            if !stays(checker, id, module.prototypes[row].function) {
                checker.report(Rule::SameObject, row, "it names a symbol of another object");
            }
        }
    }
}

fn sections(checker: &mut Checker<'_, '_>) {
    let module = checker.module;
    for (id, section) in module.sections.iter() {
        let same = |other: SectionId| module.sections[other].object == section.object;
        let info_stays = match section.info {
            SectionInfo::Section(other) => same(other),
            SectionInfo::Symbol { symbol, .. } => module.symbols[symbol].object == section.object,
            SectionInfo::None | SectionInfo::Raw(_) => true,
        };
        let owner = section.owner.map(|owner| module.functions[owner].object);
        if !section.link.is_none_or(same)
            || !info_stays
            || owner.is_some_and(|object| object != section.object)
        {
            let place = checker.section(id);
            checker.report(Rule::SameObject, place, "it names a row of another object");
        }
        let any_align = section.ty == sht::CUDA_SHARED;
        if section.align > 1 && !any_align && !section.align.is_power_of_two() {
            let what = format!("its alignment is {:#x}", section.align);
            let place = checker.section(id);
            checker.report(Rule::SectionAlign, place, what);
        }
        let expected = content_form(section.ty, section.flags);
        let found = match section.content {
            SectionContent::Decoded => Form::Decoded,
            SectionContent::NoBits(_) => Form::NoBits,
            SectionContent::Bytes(_) => Form::Bytes,
        };
        if found != expected {
            let what = format!("its contents are {found:?}, its type asks for {expected:?}");
            let place = checker.section(id);
            checker.report(Rule::SectionContent, place, what);
        }
        let is_relocs = is_relocs(section.ty);
        let linked = is_relocs
            || may_have_owner(section.ty)
            || section.flags.contains(SectionFlags::INFO_LINK);
        let fits = match section.info {
            SectionInfo::None => !is_relocs,
            SectionInfo::Section(_) => linked,
            SectionInfo::Symbol { .. } => {
                !linked && section.flags.contains(SectionFlags::EXECINSTR)
            }
            SectionInfo::Raw(_) => !linked,
        };
        if !fits {
            let what = "its type and flags ask for another form of sh_info";
            let place = checker.section(id);
            checker.report(Rule::SectionInfo, place, what);
        }
    }
}

/// How the contents of a section are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Decoded,
    NoBits,
    Bytes,
}

fn content_form(ty: u32, flags: SectionFlags) -> Form {
    match ty {
        _ if is_decoded(ty) => Form::Decoded,
        _ if is_no_bits(ty, flags) => Form::NoBits,
        _ => Form::Bytes,
    }
}

fn symbols(checker: &mut Checker<'_, '_>) {
    let module = checker.module;
    for (id, symbol) in module.symbols.iter() {
        if symbol.bind.0 > 15 || symbol.ty.0 > 15 || symbol.ty == SymbolType::SECTION {
            let what = format!("its binding is {}, its type {}", symbol.bind.0, symbol.ty.0);
            let place = checker.symbol(id);
            checker.report(Rule::SymbolInfo, place, what);
        }
        let section = match symbol.place {
            SymbolPlace::Section(section) => Some(section),
            _ => None,
        };
        if section.is_some_and(|section| module.sections[section].object != symbol.object) {
            let place = checker.symbol(id);
            checker.report(Rule::SameObject, place, "it lies in another object");
        }
        let what = match symbol.function {
            Some(function) if module.functions[function].symbol != id => {
                format!("its function {function} names another symbol")
            }
            None if symbol.is_function() && section.is_some() => "it has no function".to_owned(),
            _ => continue,
        };
        let place = checker.symbol(id);
        checker.report(Rule::FunctionSymbol, place, what);
    }
}

fn functions(checker: &mut Checker<'_, '_>) {
    let module = checker.module;
    for (id, function) in module.functions.iter() {
        let symbol = &module.symbols[function.symbol];
        let text = function.views.sass.text;
        if symbol.function != Some(id)
            || !symbol.is_function()
            || symbol.place != SymbolPlace::Section(text)
        {
            let what = format!("its symbol does not define it in {}", checker.section(text));
            let place = checker.function(id);
            checker.report(Rule::FunctionSymbol, place, what);
        }
        let views = [Some(function.views.sass), function.views.merc];
        let sections = views.into_iter().flatten();
        let stays = sections
            .flat_map(|view| [Some(view.text), view.info])
            .flatten()
            .all(|section| module.sections[section].object == function.object);
        if !stays || symbol.object != function.object {
            let place = checker.function(id);
            checker.report(Rule::SameObject, place, "it names a row of another object");
        }
    }
}

fn relocs(checker: &mut Checker<'_, '_>) {
    let module = checker.module;
    let mut rows = vec![0; module.sections.len()];
    for (id, reloc) in module.relocs.iter() {
        let section = &module.sections[reloc.section];
        rows[reloc.section.index()] += 1;
        if section.relocs.ordinal(id).is_none()
            || module.objects[section.object].relocs.ordinal(id).is_none()
        {
            let what = format!(
                "it is not in the range of {}",
                checker.section(reloc.section)
            );
            checker.report(Rule::SectionRelocs, id, what);
        }
        if !stays(checker, section.object, reloc.target) {
            checker.report(Rule::SameObject, id, "its target belongs to another object");
        }
        if section.ty == sht::REL && reloc.addend != 0 {
            let what = format!("its addend is {:#x}", reloc.addend);
            checker.report(Rule::RelAddend, id, what);
        }
    }
    // Each row is in the range of its section: a range that is no longer than its rows has no
    // other.
    for ((id, section), rows) in module.sections.iter().zip(rows) {
        let expected = if is_relocs(section.ty) { rows } else { 0 };
        if section.relocs.len() != rows || rows != expected {
            let what = format!("its range is {:?}, {rows} rows name it", section.relocs);
            let place = checker.section(id);
            checker.report(Rule::SectionRelocs, place, what);
        }
    }
}

fn attributes(checker: &mut Checker<'_, '_>) {
    let module = checker.module;
    let mut rows = vec![0; module.sections.len()];
    let mut next = 0;
    for (id, attribute) in module.attributes.iter() {
        if attribute.refs.start != next {
            let what = format!(
                "its references begin at {}, not {next}",
                attribute.refs.start
            );
            checker.report(Rule::AttributeRefs, id, what);
        }
        next = attribute.refs.end;
        let payload = attribute.refs.len().saturating_mul(4) + attribute.rest.len();
        let fits = if attribute.format == format::SVAL {
            attribute.value == 0 && payload <= u16::MAX.into()
        } else {
            payload == 0
        };
        if !fits {
            let what = format!("value {}, payload of {payload} bytes", attribute.value);
            checker.report(Rule::AttributeForm, id, what);
        }
        let Some(section) = attribute.section else {
            continue;
        };
        rows[section.index()] += 1;
        let row = &module.sections[section];
        if row.attributes.ordinal(id).is_none()
            || module.objects[row.object].attributes.ordinal(id).is_none()
        {
            let what = format!("it is not in the range of {}", checker.section(section));
            checker.report(Rule::SectionAttributes, id, what);
        }
    }
    if next as usize != module.attribute_refs.len() {
        let what = "no record has it";
        checker.report(Rule::AttributeRefs, format!("reference {next}"), what);
    }
    for ((id, section), rows) in module.sections.iter().zip(rows) {
        let expected = if has_records(section.ty) { rows } else { 0 };
        if section.attributes.len() != rows || rows != expected {
            let what = format!("its range is {:?}, {rows} rows name it", section.attributes);
            let place = checker.section(id);
            checker.report(Rule::SectionAttributes, place, what);
        }
    }
    // Linear only where records have references of their own.
    if checker.has(Rule::AttributeRefs) {
        return;
    }
    for (id, attribute) in module.attributes.iter() {
        let Some(section) = attribute.section else {
            continue;
        };
        let object = module.sections[section].object;
        let refs = module.refs(attribute);
        if !refs.iter().all(|target| stays(checker, object, *target)) {
            checker.report(Rule::SameObject, id, "it refers to another object");
        }
    }
}

fn calls(checker: &mut Checker<'_, '_>) {
    for (id, call) in checker.module.calls.iter() {
        let fits = if call.kind.has_prototype() {
            call.to == SymbolRef::None
        } else {
            call.prototype.is_empty()
        };
        if !fits {
            checker.report(Rule::CallForm, id, "it has both a callee and a prototype");
        }
    }
}

fn notes(checker: &mut Checker<'_, '_>) {
    let module = checker.module;
    let mut owner = vec![None; module.notes.len()];
    for (id, object) in module.objects.iter() {
        for note in object.notes.iter() {
            owner[note.index()] = Some(id);
        }
    }
    for ((id, note), owner) in module.notes.iter().zip(owner) {
        let section = note.section.map(|section| &module.sections[section]);
        let is_notes = section.is_none_or(|section| section.ty == sht::NOTE);
        let of_linker = owner
            .is_some_and(|owner| module.objects[owner].state == crate::object::ObjectState::Linker);
        let object = section.map(|section| section.object);
        if !is_notes || object != owner.filter(|_| !of_linker) {
            let what = "it stands in another object than its section";
            checker.report(Rule::NoteSection, id, what);
        }
    }
}
