//! Relocations that are refused, and how that is said.

use cuweld_elf::target::relocs::reloc_type;
use cuweld_ir::Module;
use cuweld_ir::RelocId;
use cuweld_ir::SymbolRef;

use crate::diagnostic::Diagnostic;
use crate::link::classify::IndexU32;
use crate::link::classify::located;

/// nvlink's words for a relocation that stays and lies behind its section.
pub(super) const PAST_END: &str = "relocation is past end of offset";
/// nvlink's words for a relocation that stays and refers to what does not.
pub(super) const DELETED_SYMBOL: &str = "reference to deleted symbol";
/// Why a relocation cannot be planned: nvlink's text of an internal error, or a limit of ours.
pub(super) enum Refusal {
    Internal(&'static str),
    Unsupported(&'static str),
}

pub(super) fn refused(module: &Module<'_>, id: RelocId, refusal: Refusal) -> Diagnostic {
    let reloc = &module.relocs[id];
    let refusal = match refusal {
        // nvlink finds these when it writes, behind the call graph.
        Refusal::Internal(PAST_END | DELETED_SYMBOL) if module.options.dump_callgraph => {
            Refusal::Unsupported("a damaged relocation with -dump-callgraph")
        }
        refusal => refusal,
    };
    let (message, why) = match refusal {
        Refusal::Internal(text) => (format!("Internal error: {text}"), None),
        Refusal::Unsupported(text) => (format!("cuweld: unsupported: {text}"), Some(text)),
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
    let mut diagnostic = Diagnostic::fatal(message)
        .note(format!(
            "{name} at offset {:#x} against {target}",
            reloc.offset
        ))
        .note(located(module, reloc.section))
        .at(
            module.sections[reloc.section].object.index_u32(),
            id.index_u32(),
        );
    if why.is_some() {
        diagnostic = diagnostic.help("please report this input");
    }
    diagnostic
}
