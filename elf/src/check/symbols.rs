//! Symbol tables, and the sections of the Mercury view beside those of the SASS view.

use std::borrow::Cow;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::Findings;
use super::Rule;
use super::View;
use super::ViewSection;
use super::file::has_mercury;
use super::file::sass_bank;
use super::view::section_of;
use crate::known_symbols;
use crate::mercury::PREFIX;
use crate::raw::ET_REL;
use crate::raw::RawSymbol;
use crate::raw::SHN_LORESERVE;
use crate::raw::SHN_XINDEX;
use crate::symbol::Binding;
use crate::symbol::SymbolType;
use crate::target::section_types::SectionFlags;
use crate::target::section_types::is_no_bits;
use crate::target::section_types::sht;

/// What precedes the name of a function's code in the names of its Mercury code.
const CAPMERC: &[u8] = b".nv.capmerc";

/// The block of shared memory that every kernel has, which only the Mercury view names.
const RESERVED: &[u8] = b".nv.merc.nv.shared.reserved.";

pub(super) fn check(view: &View<'_>, twins: &[Option<usize>], findings: &mut Findings) {
    for table in view.tables.iter().map(|index| &view.sections[*index]) {
        if matches!(table.ty(), sht::SYMTAB | sht::CUDA_MERCURY_SYMTAB) {
            symbols(view, table, findings);
        }
    }
    headers(view, twins, findings);
    order(view, twins, findings);
    pairs(view, twins, findings);
}

/// Returns the offset at which the last name of a symbol table's strings ends: after their last
/// NUL.
fn names_end(view: &View<'_>, table: &ViewSection<'_>) -> usize {
    let strings = view.section(table.header.link.get());
    let last = strings.and_then(|strings| strings.bytes.iter().rposition(|byte| *byte == 0));
    last.map_or(0, |last| last + 1)
}

fn symbols(view: &View<'_>, table: &ViewSection<'_>, findings: &mut Findings) {
    let names_end = names_end(view, table);
    for (index, symbol) in (0_u64..).zip(view.symbols(table)) {
        let at = index * 24;
        if symbol.name.get() as usize >= names_end {
            let what = format!("the name of symbol {index} is outside of its table");
            findings.report(Rule::Names, table.name, at, what);
        }
        let (ty, shndx) = (symbol.ty(), symbol.shndx.get());
        if shndx == 0 || shndx >= SHN_LORESERVE {
            continue;
        }
        let Some(section) = view.section(shndx.into()) else {
            let what = format!("symbol {index} is in section {shndx}, which there is not");
            findings.report(Rule::SymbolPlace, table.name, at + 6, what);
            continue;
        };
        if !matches!(
            ty,
            SymbolType::FUNC | SymbolType::OBJECT | SymbolType::CUDA_OBJECT
        ) {
            continue;
        }
        // Shared memory begins after the reserved block, and Mercury code is measured in Mercury.
        let is_measured = match ty {
            SymbolType::FUNC => section.is_code(),
            // Equal constants are written once, and their symbols are not moved.
            SymbolType::OBJECT | SymbolType::CUDA_OBJECT => {
                section.flags().contains(SectionFlags::WRITE)
                    && !is_no_bits(section.ty(), SectionFlags::empty())
            }
            _ => false,
        };
        let end = symbol.value.get().checked_add(symbol.size.get());
        if is_measured && end.is_none_or(|end| end > section.header.size.get()) {
            let what = format!("symbol {index} reaches past the end of its section");
            findings.report(Rule::SymbolPlace, table.name, at + 8, what);
        }
        if ty == SymbolType::FUNC && !section.is_code() && section.ty() != sht::CUDA_CAPMERC {
            let what = format!("function {index} is in a section without code");
            findings.report(Rule::SymbolPlace, table.name, at + 6, what);
        }
    }
}

/// Returns the section of the SASS view that each section of the Mercury view stands for.
pub(super) fn twins(view: &View<'_>) -> Vec<Option<usize>> {
    twins_in_order(view).unwrap_or_else(|| twins_by_name(view))
}

/// Kinds of sections of the SASS view that others stand for, by their names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Original {
    Code,
    Symbols,
    Other,
}

impl Original {
    /// Returns the kind of a section of this name; `None` if compilers write nothing that stands
    /// for such a section. The name alone decides, so sections of one name are of one kind.
    fn of_name(name: &[u8]) -> Option<Self> {
        let starts = |start: &[u8], kind| name.starts_with(start).then_some(kind);
        match name.get(1)? {
            b't' => starts(b".text.", Original::Code),
            b'r' => starts(b".rela.", Original::Other),
            b'd' => starts(b".debug_", Original::Other),
            b's' => (name == b".symtab").then_some(Original::Symbols),
            b'n' => {
                let others: [&[u8]; 6] = [
                    b".nv.info",
                    b".nv.global.init",
                    b".nv_debug_",
                    b".nv.constant2.",
                    b".nv.constant3",
                    b".nv.constant4",
                ];
                let is_other = others.iter().any(|start| name.starts_with(start));
                is_other.then_some(Original::Other)
            }
            _ => None,
        }
    }
}

/// Returns the [`twins`] of a file in the form that compilers write: the sections that stand for
/// originals of one kind stand for all of them, in their order. `None` for another file.
fn twins_in_order(view: &View<'_>) -> Option<Vec<Option<usize>>> {
    let originals = view.sections.iter().map(|section| {
        let may_be = !section.is_mercury();
        may_be.then(|| Original::of_name(section.name)).flatten()
    });
    let originals: Vec<Option<Original>> = originals.collect();
    let mut twins = vec![None; view.sections.len()];
    // Up to which section originals of each kind have been found.
    let mut reached = [0; 3];
    for (section, twin) in view.sections.iter().zip(&mut twins) {
        if !section.is_mercury() {
            continue;
        }
        let name = sass_name(section);
        let original = Original::of_name(&name)?;
        // Nothing else has a name that gives the same one.
        let is_code = original == Original::Code;
        let is_bank = name.starts_with(b".nv.constant") || name.starts_with(b".rela.nv.constant");
        if is_code != (section.ty() == sht::CUDA_CAPMERC)
            || is_bank != matches!(name, Cow::Owned(_))
        {
            return None;
        }
        let kind = original as usize;
        let mut rest = originals.get(reached[kind]..)?.iter();
        let found = reached[kind] + rest.position(|of_kind| *of_kind == Some(original))?;
        if view.sections[found].name != &*name {
            return None;
        }
        *twin = Some(found);
        reached[kind] = found + 1;
    }
    Some(twins)
}

/// Returns the [`twins`] of any file.
fn twins_by_name<'data>(view: &View<'data>) -> Vec<Option<usize>> {
    // Local functions may have one name: their sections stand for each other in order.
    let mut first: HashMap<&[u8], usize, FixedState> =
        HashMap::with_capacity_and_hasher(view.sections.len(), FixedState::default());
    let mut next = vec![None; view.sections.len()];
    for (index, section) in view.sections.iter().enumerate().rev() {
        if !section.is_mercury() {
            next[index] = first.insert(section.name, index);
        }
    }
    let mut last: HashMap<&[u8], Option<usize>, FixedState> = HashMap::default();
    let twin = |section: &ViewSection<'data>| {
        if !section.is_mercury() {
            return None;
        }
        let twin = match last.get(section.name) {
            Some(known) => known.and_then(|index| next[index]),
            None => first.get(&*sass_name(section)).copied(),
        };
        last.insert(section.name, twin);
        twin
    };
    view.sections.iter().map(twin).collect()
}

/// Returns the name of the section that a section of the Mercury view stands for.
fn sass_name<'data>(section: &ViewSection<'data>) -> Cow<'data, [u8]> {
    if section.ty() == sht::CUDA_CAPMERC {
        return Cow::Borrowed(section.name.strip_prefix(CAPMERC).unwrap_or(b""));
    }
    let name = section.name.strip_prefix(PREFIX).unwrap_or(b"");
    let (rela, target) = match name.strip_prefix(b".rela") {
        Some(target) => (&b".rela"[..], target),
        None => (&b""[..], name),
    };
    sass_bank(target).map_or(Cow::Borrowed(name), |bank| {
        Cow::Owned([rela, &bank].concat())
    })
}

const NONE: SectionFlags = SectionFlags::empty();

/// Returns the properties that the name of a section of the Mercury view requires: its type, its
/// flags beside that of Mercury, whether the link names the symbols, and what the info is of.
fn asked(section: &ViewSection<'_>) -> Option<(u32, SectionFlags, bool, Info)> {
    let name = section.name;
    if name == b".nv.merc.symtab" {
        return Some((sht::CUDA_MERCURY_SYMTAB, NONE, false, Info::Any));
    }
    if name.starts_with(CAPMERC) {
        return Some((sht::CUDA_CAPMERC, NONE, true, Info::Any));
    }
    let rest = name.strip_prefix(PREFIX)?;
    let bank = |name: &[u8]| rest.starts_with(name);
    Some(if rest == b".nv.info" {
        (sht::CUDA_MERCURY_INFO, NONE, true, Info::None)
    } else if rest == b".nv.callgraph" {
        (sht::CUDA_MERCURY_CALLGRAPH, NONE, true, Info::None)
    } else if rest == b".nv.prototype" {
        (sht::CUDA_MERCURY_PROTOTYPE, NONE, true, Info::None)
    } else if bank(b".nv.info.") {
        (
            sht::CUDA_MERCURY_INFO,
            SectionFlags::INFO_LINK,
            true,
            Info::Section,
        )
    } else if bank(b".rela") {
        (
            sht::CUDA_MERCURY_RELA,
            SectionFlags::INFO_LINK,
            true,
            Info::Section,
        )
    } else if rest == b".nv.constant.user" {
        (
            sht::CUDA_MERCURY_CONSTANT_USER,
            SectionFlags::ALLOC,
            false,
            Info::None,
        )
    } else if rest == b".nv.constant.pic" {
        (
            sht::CUDA_MERCURY_CONSTANT_PIC,
            SectionFlags::ALLOC,
            false,
            Info::None,
        )
    } else if bank(b".nv.constant.entry_image_header_indices.") {
        let flags = SectionFlags::ALLOC | SectionFlags::INFO_LINK;
        (
            sht::CUDA_MERCURY_HEADER_INDICES,
            flags,
            false,
            Info::Section,
        )
    } else if bank(b".nv.constant.optimizer.") {
        let flags = SectionFlags::ALLOC | SectionFlags::INFO_LINK;
        (
            sht::CUDA_MERCURY_CONSTANT_OPTIMIZER,
            flags,
            false,
            Info::Section,
        )
    } else if rest == b".nv.global.init" {
        let flags = SectionFlags::ALLOC | SectionFlags::WRITE;
        (sht::CUDA_GLOBAL_INIT, flags, false, Info::None)
    } else if bank(b".debug_") || bank(b".nv_debug_") {
        (sht::PROGBITS, NONE, false, Info::None)
    } else {
        return None;
    })
}

/// Alignment in bytes of Mercury code.
const CAPMERC_ALIGN: u64 = 16;

/// What `sh_info` is.
enum Info {
    None,
    Section,
    Any,
}

fn headers(view: &View<'_>, twins: &[Option<usize>], findings: &mut Findings) {
    // A link of SASS alone takes what it does not know along, with the types of its own.
    if !has_mercury(view) {
        return;
    }
    for (section, twin) in view.sections.iter().zip(twins) {
        // nvlink crashes on one without the flag.
        if !section.is_mercury() && !section.name.starts_with(PREFIX) {
            continue;
        }
        let mut wrong = |what: &str| findings.report(Rule::MercuryHeader, section.name, None, what);
        if let Some((ty, flags, linked, info)) = asked(section) {
            let header = section.header;
            if section.ty() != ty {
                wrong(&format!("its type is {:#x}, not {ty:#x}", section.ty()));
            }
            if section.flags() != flags | SectionFlags::MERCURY {
                wrong(&format!("its flags are {:#x}", section.flags()));
            }
            if ty == sht::CUDA_CAPMERC && header.align.get() != CAPMERC_ALIGN {
                wrong(&format!("its alignment is {}", header.align.get()));
            }
            let link = view.section(header.link.get()).map(ViewSection::ty);
            if linked && link != Some(sht::CUDA_MERCURY_SYMTAB) {
                wrong("its link does not name the symbols of the Mercury view");
            }
            let right = match info {
                Info::None => header.info.get() == 0,
                Info::Any => true,
                Info::Section => {
                    // It belongs to what stands for the section that the twin belongs to.
                    let own = twins.get(header.info.get() as usize).copied().flatten();
                    let of_twin = twin.map(|twin| view.sections[twin].header.info.get() as usize);
                    own == of_twin
                }
            };
            if !right {
                wrong(&format!(
                    "its info {} does not fit its twin's",
                    header.info.get()
                ));
            }
        }
        let is_alone = || {
            matches!(section.ty(), sht::CUDA_MERCURY_SYMTAB | sht::SYMTAB_SHNDX)
                || section.name == b".nv.merc.symtab_shndx"
                || section.name.starts_with(RESERVED)
        };
        if twin.is_none() && !is_alone() {
            let what = "the SASS view has no such section";
            findings.report(Rule::MercuryTwin, section.name, None, what);
        }
    }
}

/// Checks that code and clones stand in the order of their originals.
fn order(view: &View<'_>, twins: &[Option<usize>], findings: &mut Findings) {
    let (mut code, mut clone) = (0, 0);
    for (section, twin) in view.sections.iter().zip(twins) {
        let Some(twin) = twin.filter(|_| section.ty() != sht::CUDA_MERCURY_SYMTAB) else {
            continue;
        };
        let last = if section.ty() == sht::CUDA_CAPMERC {
            &mut code
        } else {
            &mut clone
        };
        if twin < *last {
            let what = "it stands for an earlier section than the one before it";
            findings.report(Rule::MercuryTwin, section.name, None, what);
        }
        *last = twin;
    }
}

fn pairs(view: &View<'_>, twins: &[Option<usize>], findings: &mut Findings) {
    let (Some((sass_table, sass)), Some((mercury_table, mercury))) = (
        view.first(sht::SYMTAB),
        view.first(sht::CUDA_MERCURY_SYMTAB),
    ) else {
        return;
    };
    let mut clone_of = vec![None; view.sections.len()];
    for (index, twin) in twins.iter().enumerate() {
        if let Some(slot) = twin.and_then(|twin| clone_of.get_mut(twin))
            && slot.is_none()
        {
            *slot = Some(index);
        }
    }
    let (left, right) = (view.symbols(sass), view.symbols(mercury));
    let (left_places, right_places) = (view.index_rows(sass_table), view.index_rows(mercury_table));
    let differs = |index: usize, what: String, findings: &mut Findings| {
        let at = index as u64 * 24;
        findings.report(Rule::MercurySymbols, mercury.name, at, what);
    };
    let one_table = sass.header.link == mercury.header.link;
    let is_object = view.headers.file.e_type.get() == ET_REL;
    for (index, (sass_row, row)) in left.iter().zip(right).enumerate() {
        // Most rows differ in their section alone.
        let is_same = one_table
            && sass_row.name == row.name
            && (sass_row.info, sass_row.other) == (row.info, row.other)
            && sass_row.value == row.value
            && sass_row.size == row.size;
        if !is_same {
            let is_section = row.ty() == SymbolType::SECTION;
            let same_name = is_section
                || one_table && sass_row.name == row.name
                || view.symbol_name(sass, sass_row) == view.symbol_name(mercury, row);
            if !same_name || sass_row.binding() != row.binding() {
                differs(
                    index,
                    format!("symbol {index} has another name or binding"),
                    findings,
                );
            }
            let is_header = sass_row.ty().is_header() || row.ty().is_header();
            if (is_header || is_object) && sass_row.info != row.info {
                differs(index, format!("symbol {index} has another type"), findings);
            }
            // Executables have shared memory, kinds of memory and addresses of their own in each
            // view.
            let same_size = row.ty() == SymbolType::FUNC || sass_row.size == row.size;
            let same_value = sass_row.value == row.value && sass_row.other == row.other;
            let may_differ = || {
                let name = view.symbol_name(mercury, row).unwrap_or(b"");
                let place = known_symbols::reserved_shared_place(name);
                same_size
                    && place.map_or(known_symbols::is_reserved_shared_symbol(name), |place| {
                        sass_row.value.get() == place
                    })
            };
            if is_object && !(same_size && same_value) && !may_differ() {
                let what = format!("symbol {index} has another value or size");
                differs(index, what, findings);
            }
        }
        let place = section_of(sass_row, index, left_places) as usize;
        let found = section_of(row, index, right_places) as usize;
        let wanted = clone_of.get(place).copied().flatten().unwrap_or(place);
        let is_placed = matches!(sass_row.shndx.get(), 0..=SHN_LORESERVE | SHN_XINDEX);
        if found != wanted && is_placed {
            let what = format!("symbol {index} is in section {found}, not {wanted}");
            differs(index, what, findings);
        }
    }
    let rest = left.get(right.len()..).unwrap_or(&[]);
    let parameters = |(index, row): (usize, &RawSymbol)| {
        let section = view.section(section_of(row, index, left_places));
        row.info == Binding::LOCAL.info(SymbolType::SECTION)
            && section.is_some_and(|section| section.name.starts_with(b".nv.constant0."))
    };
    if right.len() > left.len() || !(right.len()..).zip(rest).all(parameters) {
        let what = format!("{} symbols beside {}", right.len(), left.len());
        differs(right.len(), what, findings);
    }
}
