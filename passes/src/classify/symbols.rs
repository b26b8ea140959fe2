//! Symbols that no compiler of the toolkit writes: nvlink takes each of their fields at its word, in ways
//! that were not measured, so they are refused.

use cuweld_ir::Module;
use cuweld_ir::SectionKind;
use cuweld_ir::Symbol;
use cuweld_ir::SymbolPlace;
use cuweld_ir::symbol::stb;
use cuweld_ir::symbol::sto;
use cuweld_ir::symbol::stt;
use cuweld_ir::target::toolkit;

/// The bits of `st_other` that name a memory space.
const SPACES: u8 = sto::GLOBAL | sto::SHARED | sto::CONSTANT;

/// What is odd about a symbol that is defined elsewhere.
fn undefined(symbol: &Symbol<'_>) -> Option<&'static str> {
    let of_toolkit = toolkit::is_reserved_shared_symbol(symbol.name)
        || toolkit::is_unified_table_symbol(symbol.name);
    let fits = if of_toolkit {
        symbol.ty == stt::OBJECT
    } else if stt::is_header(symbol.ty) {
        symbol.bind == stb::GLOBAL && symbol.other == 0
    } else {
        symbol.ty != stt::NOTYPE
    };
    (!fits).then_some("an undefined symbol of an unusual type")
}

/// What is odd about a symbol, once sections have their kinds.
pub(super) fn oddity(module: &Module<'_>, symbol: &Symbol<'_>) -> Option<&'static str> {
    if symbol.is_filler() {
        return None;
    }
    let kind = match symbol.place {
        SymbolPlace::Section(section) => module.sections[section].kind,
        SymbolPlace::Undefined => return undefined(symbol),
        SymbolPlace::Common => SectionKind::Global,
        SymbolPlace::Absolute | SymbolPlace::Reserved(_) => {
            return Some("a symbol without a section that has a value");
        }
    };
    let space = symbol.other & SPACES;
    let fits = match kind {
        SectionKind::Text => symbol.is_function(),
        SectionKind::Global | SectionKind::GlobalInit => space == sto::GLOBAL,
        SectionKind::KernelShared | SectionKind::ModuleShared => space == sto::SHARED,
        SectionKind::ConstantBank(_) | SectionKind::FunctionConstants(_) => space == sto::CONSTANT,
        SectionKind::Local | SectionKind::Unified | SectionKind::Other => true,
        _ => false,
    };
    if !fits {
        return Some("a symbol whose section is of another memory space");
    }
    if symbol.is_dynamic_shared() && kind != SectionKind::ModuleShared {
        return Some("a shared variable of a kernel without a size");
    }
    if !matches!(symbol.ty, stt::FUNC | stt::CUDA_OBJECT) {
        return Some("a defined symbol that is neither a function nor a variable");
    }
    None
}
