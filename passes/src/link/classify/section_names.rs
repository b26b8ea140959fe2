//! What the names of sections say that the linker makes itself.

use cuweld_elf::target::section_types::sht;
use cuweld_ir::FunctionId;
use cuweld_ir::Section;
use cuweld_ir::SectionKind;

use super::rows::Rows;

/// Returns `true` if a section is a constant bank by its type and another or none by its name, or
/// the reverse. No compiler writes that.
pub(super) fn has_foreign_bank(section: &Section<'_>) -> bool {
    let (bank, of_function) = match section.kind {
        SectionKind::ConstantBank(bank) => (Some(bank), false),
        SectionKind::FunctionConstants(bank) => (Some(bank), true),
        SectionKind::Other => (None, false),
        _ => return false,
    };
    let rest = section.name.strip_prefix(b".nv.constant");
    let Some(bank) = bank else {
        return rest.is_some();
    };
    let digits = rest.map_or(0, |rest| {
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    });
    let named = rest
        .and_then(|rest| std::str::from_utf8(rest.get(..digits)?).ok())
        .and_then(|digits| digits.parse::<u8>().ok());
    let end = rest.and_then(|rest| rest.get(digits));
    let right_end = if of_function {
        end == Some(&b'.')
    } else {
        end.is_none()
    };
    named != Some(bank) || !right_end
}

/// Returns `true` if the linker makes sections of this name itself, so that another kind of section
/// of that name would be taken for one of them.
pub(super) fn is_made_by_linker(name: &[u8]) -> bool {
    let whole: [&[u8]; 9] = [
        b".nv.info",
        b".nv.compat",
        b".nv.callgraph",
        b".nv.prototype",
        b".nv.rel.action",
        b".note.nv.tkinfo",
        b".note.nv.cuinfo",
        b".nv.global",
        b".nv_debug.shared",
    ];
    let beginnings: [&[u8]; 4] = [b".nv.info.", b".nv.shared.", b".nv.constant", b".text."];
    whole.contains(&name) || beginnings.iter().any(|start| name.starts_with(start))
}

/// Returns `true` if a section of constants has the name that the linker would give it.
pub(super) fn is_bank_of_owner(rows: &Rows<'_, '_>, section: &Section<'_>, bank: u8) -> bool {
    let digits = [b'0' + bank / 10, b'0' + bank % 10];
    let digits = if bank < 10 { &digits[1..] } else { &digits[..] };
    let rest = section.name.strip_prefix(b".nv.constant");
    let rest = rest.and_then(|rest| rest.strip_prefix(digits)?.strip_prefix(b"."));
    section
        .owner
        .is_some_and(|owner| rest == Some(rows.function_name(owner)))
}

/// Returns `true` if a section of code or of records of a function has the name of the function that
/// owns it, or is not one that is named by its function.
pub(super) fn is_named_by_owner(rows: &Rows<'_, '_>, section: &Section<'_>) -> bool {
    let name = section.name;
    let of_function = name
        .strip_prefix(b".text.")
        .or_else(|| name.strip_prefix(b".nv.info."))
        .or_else(|| name.strip_prefix(b".nv.merc.nv.info."));
    let is_entry_of_table = |owner: FunctionId| {
        let text = rows.functions[owner].views.sass.text;
        rows.sections[text].ty == sht::CUDA_UNIFIED_FUNCTION
    };
    match (of_function, section.owner) {
        (Some(name), Some(owner)) => name == rows.function_name(owner) || is_entry_of_table(owner),
        _ => true,
    }
}
