//! Functions of the file against those that are linked.

use cuweld_elf::check::Findings;
use cuweld_elf::check::Rule;
use cuweld_elf::check::View;
use cuweld_elf::check::section_of;
use cuweld_elf::symbol::SymbolType;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::Module;

pub(super) fn check(module: &Module<'_>, view: &View<'_>, findings: &mut Findings) {
    let Some((table_index, table)) = view.first(sht::SYMTAB) else {
        return;
    };
    let mut linked: Vec<(&[u8], &[u8])> = module
        .functions
        .iter()
        .filter(|(id, _)| module.is_function_live(*id))
        .map(|(id, row)| {
            (
                module.function_name(id),
                module.sections[row.views.sass.text].name,
            )
        })
        .collect();
    linked.sort_unstable();
    let mut written: Vec<(&[u8], &[u8])> = Vec::new();
    let places = view.index_rows(table_index);
    for (index, symbol) in view.symbols(table).iter().enumerate() {
        if symbol.ty() == SymbolType::FUNC && symbol.shndx.get() != 0 {
            let section = view.section(section_of(symbol, index, places));
            let name = view.symbol_name(table, symbol).unwrap_or(b"");
            written.push((name, section.map_or(&b""[..], |section| section.name)));
        }
    }
    written.sort_unstable();
    if linked == written {
        return;
    }
    let missing = linked
        .iter()
        .find(|row| written.binary_search(row).is_err());
    let other = written
        .iter()
        .find(|row| linked.binary_search(row).is_err());
    let what = match (missing, other) {
        (Some((name, _)), _) => format!("function '{}' is missing", String::from_utf8_lossy(name)),
        (None, Some((name, _))) => {
            format!("function '{}' is not linked", String::from_utf8_lossy(name))
        }
        (None, None) => format!("{} functions, not {}", written.len(), linked.len()),
    };
    findings.report(Rule::FunctionsWritten, table.name, None, what);
}
