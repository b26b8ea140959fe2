//! What becomes of a link whose `__constant__` variables do not fit into their bank as the objects have them.
//!
//! nvlink lays out the variables of an executable anew: global ones of 8 bytes and more, smaller ones from the
//! largest on, then local and weak ones from the smallest on. One of at most 8 bytes begins at a
//! multiple of its size, whatever its alignment, others take multiples of 8 bytes. Padding, bytes without a
//! symbol and copies that lost are left out. If that does not fit either, the message names its size. If it
//! fits, nvlink links with it, variables no longer aligned; we refuse. While kernels are left out,
//! variables that no code refers to are left out as well, which was not measured further: refused.

use std::cmp::Reverse;

use cuweld_ir::Module;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolPlace;
use cuweld_ir::symbol::stb;

use super::CONSTANT_BANK_LIMIT;
use super::CONSTANT_VARIABLES;
use crate::diagnostic::Diagnostic;
use crate::layout_output::constant_merge;

/// What there is to say of a bank of the module that is too large.
pub(super) fn finding(module: &Module<'_>, bank: u8, size: u64) -> Diagnostic {
    if bank != CONSTANT_VARIABLES || module.options.relocatable {
        return too_much(size);
    }
    if constant_merge::is_active(module) {
        return refused("where kernels are left out", size);
    }
    match size_by_variables(module) {
        anew if anew > CONSTANT_BANK_LIMIT => too_much(anew).note(format!(
            "with what the objects put between them the variables take {size:#x} bytes"
        )),
        _ => refused("that fits only without alignment and unused copies", size),
    }
}

fn too_much(size: u64) -> Diagnostic {
    Diagnostic::error(format!(
        "File uses too much global constant data ({size:#x} bytes, {CONSTANT_BANK_LIMIT:#x} max)"
    ))
}

fn refused(what: &str, size: u64) -> Diagnostic {
    Diagnostic::unsupported(format!("global constant data {what}")).note(format!(
        "it takes {size:#x} bytes of {CONSTANT_BANK_LIMIT:#x}"
    ))
}

/// The size in bytes of the bank by variables.
fn size_by_variables(module: &Module<'_>) -> u64 {
    let is_in_bank = |place| {
        matches!(place, SymbolPlace::Section(section)
            if module.sections[section].kind == SectionKind::ConstantBank(CONSTANT_VARIABLES))
    };
    let definitions = module.link_symbols.values();
    let symbols = definitions.filter_map(|link| Some(&module.symbols[link.definition?]));
    let variables = symbols.filter(|symbol| is_in_bank(symbol.place) && symbol.size > 0);
    let (mut globals, mut others) = (Vec::new(), Vec::new());
    for symbol in variables {
        let sizes = match symbol.bind {
            stb::GLOBAL => &mut globals,
            _ => &mut others,
        };
        sizes.push(symbol.size);
    }
    end_of_variables(globals, others)
}

/// The end of global variables of 8 bytes and more, smaller ones from the largest on, and behind them local
/// and weak ones from the smallest on.
fn end_of_variables(mut globals: Vec<u64>, mut locals: Vec<u64>) -> u64 {
    globals.sort_unstable_by_key(|size| Reverse(*size));
    locals.sort_unstable();
    globals.iter().chain(&locals).fold(0, |end: u64, size| {
        let unit = (*size).min(8);
        let begin = end.checked_next_multiple_of(unit).unwrap_or(u64::MAX);
        let taken = size.checked_next_multiple_of(unit).unwrap_or(u64::MAX);
        begin.saturating_add(taken)
    })
}

#[cfg(test)]
mod tests {
    use super::end_of_variables;

    /// Sizes that nvlink named.
    #[test]
    fn small_variables_begin_at_multiples_of_their_sizes() {
        let end =
            |globals: &[u64], locals: &[u64]| end_of_variables(globals.to_vec(), locals.to_vec());
        assert_eq!(end(&[0xfff0, 0x1000], &[]), 0x10ff0);
        assert_eq!(end(&[0xfff0, 3, 0x1000], &[]), 0x10ff5);
        assert_eq!(end(&[0xfff0, 12, 0x1000], &[]), 0x11000);
        assert_eq!(end(&[0xfff0, 8, 1, 3, 8, 6, 1, 0x1000], &[]), 0x1100f);
        assert_eq!(end(&[0xfff0, 0x1000], &[16, 1, 16]), 0x11018);
    }
}
