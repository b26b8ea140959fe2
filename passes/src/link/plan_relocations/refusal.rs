//! Relocations that are refused, and how that is said.

use cuweld_diagnostics::Code;
use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::input;
use cuweld_diagnostics::codes::relocation;
use cuweld_elf::target::relocs::reloc_type;
use cuweld_ir::Module;
use cuweld_ir::RelocId;
use cuweld_ir::SymbolRef;
use cuweld_ir::table::EntityId;

use crate::located::located;

/// Why a relocation cannot be planned: an internal error of nvlink, whose words are the title, or a
/// limit of ours.
pub(super) enum Refusal {
    Internal(Code),
    Unsupported(Code),
}

pub(super) fn refused(module: &Module<'_>, id: RelocId, refusal: Refusal) -> Diagnostic {
    let reloc = &module.relocs[id];
    let refusal = match refusal {
        // nvlink finds these when it writes, after the call graph.
        Refusal::Internal(input::PAST_END | input::DELETED_SYMBOL)
            if module.options.reports.call_graph =>
        {
            Refusal::Unsupported(relocation::DAMAGED_DUMP)
        }
        refusal => refusal,
    };
    let (finding, is_ours) = match refusal {
        Refusal::Internal(code) => {
            let message = format!("Internal error: {}", code.title());
            (Diagnostic::fatal(code, message), false)
        }
        Refusal::Unsupported(code) => (Diagnostic::refusal(code), true),
    };
    let name = reloc_type(reloc.ty).map_or_else(
        || format!("type {:#x}", reloc.ty),
        |row| format!("R_CUDA_{}", row.name),
    );
    let target = match reloc.target {
        SymbolRef::None => "no symbol".to_owned(),
        SymbolRef::Symbol(symbol) => {
            format!(
                "symbol '{}'",
                String::from_utf8_lossy(module.symbols[symbol].name)
            )
        }
        SymbolRef::Section(section) => {
            format!(
                "section '{}'",
                String::from_utf8_lossy(module.sections[section].name)
            )
        }
    };
    let mut diagnostic = finding
        .note(format!(
            "{name} at offset {:#x} against {target}",
            reloc.offset
        ))
        .note(located(module, reloc.section))
        .at(
            module.sections[reloc.section].object.index_u32(),
            id.index_u32(),
        );
    if is_ours {
        diagnostic = diagnostic.help("please report this input");
    }
    diagnostic
}
