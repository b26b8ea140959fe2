//! Constant variables beyond 64 KiB [variables-laid-out-again].
//!
//! Where the objects' constants together are too large, nvlink lays them out again in executables,
//! one by one: variables that lose and bytes without a name are left out. They come by alignment,
//! largest first, then by size, smallest first, with nvlink's list sort, from the order of the
//! output's symbols. The alignment of a variable among the global ones is its size, at most 8; those
//! among the local ones, where weak ones are before CUDA 13.4 [weak-before-global], have none and come
//! last. But each lies at a multiple of its size, at most 8.

use super::list_sort::list_sort;
use cuweld_elf::behaviours::symbols;
use cuweld_elf::known_symbols;
use cuweld_elf::symbol::Binding;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::PoolPart;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolPlace;
use cuweld_ir::SymbolRef;

/// The bank that is laid out again.
pub const BANK: u8 = 3;

/// Its section in the output.
pub const SECTION: &[u8] = b".nv.constant3";

/// The largest alignment in bytes of a variable.
const LARGEST: u64 = 8;

/// A constant variable that is linked.
#[derive(Clone, Copy)]
struct Variable {
    link: LinkSymbolId,
    section: SectionId,
    start: u64,
    size: u64,
    /// 0 for none.
    align: u64,
}

/// The second layout.
pub(crate) struct Again {
    pub(super) parts: Vec<PoolPart>,
    pub(super) values: Vec<(LinkSymbolId, u64)>,
    /// Size in bytes.
    pub(crate) size: u64,
}

impl Again {
    /// Lays the constants of a module out. n log n in the variables.
    pub(crate) fn new(module: &Module<'_>) -> Self {
        let mut again = Again {
            parts: Vec::new(),
            values: Vec::new(),
            size: 0,
        };
        for variable in sorted(&variables(module)) {
            let offset = next(again.size, variable.size);
            again.size = offset.saturating_add(variable.size);
            again.values.push((variable.link, offset));
            again.parts.push(PoolPart {
                bank: BANK,
                section: variable.section,
                start: variable.start,
                size: variable.size,
                offset,
            });
        }
        again
    }
}

/// Returns the variables in the order in which they are laid out.
fn sorted(variables: &[Variable]) -> Vec<Variable> {
    list_sort(variables, &mut |a, b| {
        a.align > b.align || a.align == b.align && a.size <= b.size
    })
}

/// Returns the offset of a variable of `size` bytes after `end`.
fn next(end: u64, size: u64) -> u64 {
    let unit = size.clamp(1, LARGEST);
    end.div_ceil(unit).saturating_mul(unit)
}

/// Returns the constant variables that are linked, in the order of the output's symbols.
fn variables(module: &Module<'_>) -> Vec<Variable> {
    let weak_is_local = module.toolkit.has(&symbols::WEAK_BEFORE_GLOBAL);
    let (mut local, mut global) = (Vec::new(), Vec::new());
    for (id, link) in module.link_symbols.iter() {
        let Some(definition) = link.definition else {
            continue;
        };
        let symbol = &module.symbols[definition];
        let SymbolPlace::Section(section) = symbol.place else {
            continue;
        };
        if module.sections[section].kind != SectionKind::ConstantBank(BANK) || !link.live.is_live()
        {
            continue;
        }
        let first = &module.symbols[link.first];
        let is_named_globally = first.is_undefined()
            || first.bind == Binding::GLOBAL
            || first.bind == Binding::WEAK && !weak_is_local;
        let is_global = !link.internal && is_named_globally;
        let list = if is_global { &mut global } else { &mut local };
        list.push(Variable {
            link: id,
            section,
            start: symbol.value,
            size: symbol.size,
            align: match is_global {
                true => symbol.size.clamp(1, LARGEST),
                false => 0,
            },
        });
    }
    local.append(&mut global);
    local
}

/// Returns the alignment in bytes of constants that are laid out again.
pub fn section_align(module: &Module<'_>) -> u64 {
    let aligns = variables(module).into_iter().map(|variable| variable.align);
    aligns.fold(1, u64::max)
}

/// Returns a property of the link for which it is not known how its constants are laid out again,
/// if it has one.
pub(super) fn unknown(module: &Module<'_>) -> Option<&'static str> {
    let is_bank =
        |section: SectionId| module.sections[section].kind == SectionKind::ConstantBank(BANK);
    if module.is_capmerc() {
        return Some("for sm_100 and up");
    }
    let has_rows = module.sections.values().any(|section| {
        let fixups = matches!(section.info, SectionInfo::Section(patched) if is_bank(patched));
        section.kind == SectionKind::Relocs && !section.relocs.is_empty() && fixups
    });
    if has_rows {
        return Some("that hold addresses");
    }
    let names_section =
        |target: SymbolRef| matches!(target, SymbolRef::Section(section) if is_bank(section));
    if module.relocs.values().any(|row| names_section(row.target)) {
        return Some("that are referred to by their section");
    }
    let mut names = module.symbols.values();
    if names.any(|symbol| symbol.name == known_symbols::CONSTANTS_SIZE) {
        return Some("with a reference to their size");
    }
    let goes_over = |variable: Variable| {
        variable.start.saturating_add(variable.size) > module.sections[variable.section].size()
    };
    variables(module)
        .into_iter()
        .any(goes_over)
        .then_some("that go over the end of their section")
}

#[cfg(test)]
mod tests {
    use cuweld_ir::LinkSymbolId;
    use cuweld_ir::SectionId;
    use cuweld_ir::table::EntityId;

    use super::LARGEST;
    use super::Variable;
    use super::next;
    use super::sorted;

    /// Returns the end of strong variables and others of these sizes.
    fn end(strong: &[u64], others: &[u64]) -> u64 {
        let variable = |size: u64, align| Variable {
            link: LinkSymbolId::new(0),
            section: SectionId::new(0),
            start: 0,
            size,
            align,
        };
        let others = others.iter().map(|size| variable(*size, 1));
        let strong = strong
            .iter()
            .map(|size| variable(*size, (*size).min(LARGEST)));
        let variables: Vec<Variable> = others.chain(strong).collect();
        let sizes = sorted(&variables).into_iter().map(|variable| variable.size);
        sizes.fold(0, |end, size| next(end, size) + size)
    }

    /// Checks sizes against those that nvlink named.
    #[test]
    fn small_variables_begin_at_multiples_of_their_sizes() {
        assert_eq!(end(&[0xfff0, 0x1000], &[]), 0x10ff0);
        assert_eq!(end(&[0xfff0, 3, 0x1000], &[]), 0x10ff5);
        assert_eq!(end(&[0xfff0, 12, 0x1000], &[]), 0x11000);
        assert_eq!(end(&[0xfff0, 8, 1, 3, 8, 6, 1, 0x1000], &[]), 0x1100f);
        assert_eq!(end(&[0xfff0, 0x1000], &[16, 1, 16]), 0x11018);
    }
}
