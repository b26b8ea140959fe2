//! Tables of switches of copies that another copy replaced, in links of Mercury
//! [tables-of-replaced-copies].
//!
//! The constants of such a copy stay, with rows that name the function. nvlink makes the offsets
//! anew from the code that is linked: an addend to which a branch by a table leads there gives the
//! offset of that target, any other 0.
//!
//! Where a later copy replaced one with a table, nvlink writes these offsets over those of the
//! linked copy's own table, which stands in the same place: its code jumps to its own beginning.
//! Without `strict` the table of the linked copy stays alone (deviation D23).

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::deviation;
use cuweld_elf::branch_targets::BranchByTable;
use cuweld_elf::branch_targets::branches_by_table;
use cuweld_elf::mercury::relocs::LINE_TABLE;
use cuweld_elf::target::attributes;
use cuweld_ir::Fixup;
use cuweld_ir::FunctionId;
use cuweld_ir::IdRange;
use cuweld_ir::Module;
use cuweld_ir::RelocId;
use cuweld_ir::SectionId;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::link::layout_output::constant_rows;

/// Offsets in SASS by addend.
type Places = HashMap<i64, u32, FixedState>;

/// Bytes of an entry of a table.
const ENTRY: u8 = 4;

/// Adds the fixups; returns the functions whose table nvlink overwrites. `Err` names constants in
/// which the fixups are not known.
pub(super) fn add(
    module: &Module<'_>,
    fixups: &mut Vec<Fixup>,
) -> Result<Vec<FunctionId>, SectionId> {
    let mut overwritten = Vec::new();
    let rows = constant_rows::find(module);
    if rows.is_empty() {
        return Ok(overwritten);
    }
    let mut constants: Vec<Option<SectionId>> = vec![None; module.functions.len()];
    for (id, section) in module.sections.iter() {
        if let Some(owner) = section.owner.filter(|_| rows.contains_key(&id)) {
            constants[owner.index()] = Some(id);
        }
    }
    let rows_of = |constants: SectionId| {
        let rows = rows
            .get(&constants)
            .map(|rows| module.sections[*rows].relocs);
        rows.into_iter().flat_map(|range| range.iter())
    };
    let mut known: HashMap<FunctionId, Option<Places>, FixedState> = HashMap::default();
    for (owner, id) in module.functions.ids().zip(&constants) {
        let Some(id) = *id else {
            continue;
        };
        if has_two_tables(module, rows_of(id)) {
            return Err(id);
        }
        if !module.functions[owner].fate.is_non_prevailing() {
            continue;
        }
        let link = module.symbols[module.functions[owner].symbol].link;
        let Some(linked) = link.and_then(|link| module.link_function(link)) else {
            continue;
        };
        if module.functions[linked].object > module.functions[owner].object
            && rows_of(id).next().is_some()
        {
            if module.options.strict {
                return Err(id);
            }
            overwritten.push(linked);
            continue;
        }
        let places = known
            .entry(linked)
            .or_insert_with(|| places(module, linked));
        let Some(places) = places else {
            return Err(id);
        };
        for cause in rows_of(id) {
            let row = &module.relocs[cause];
            let target = row.target.symbol();
            let is_own = target.is_some_and(|target| module.symbols[target].link == link);
            if row.ty != LINE_TABLE || !is_own {
                return Err(id);
            }
            fixups.push(Fixup {
                section: id,
                offset: row.offset,
                bit: 0,
                width: 8 * ENTRY,
                value: places.get(&row.addend).copied().unwrap_or(0).into(),
                add: false,
                cause: Some(cause),
            });
        }
    }
    Ok(overwritten)
}

/// Says that functions keep the tables that nvlink overwrites; `None` if there are none.
pub(super) fn kept(module: &Module<'_>, functions: &[FunctionId]) -> Option<Diagnostic> {
    let name = String::from_utf8_lossy(module.function_name(*functions.first()?));
    let message = match functions.len() {
        1 => format!("function '{name}' keeps its table of a switch"),
        count => format!("{count} functions keep their tables of switches, the first is '{name}'"),
    };
    Some(Diagnostic::remark(deviation::OWN_TABLE, message).deviates("D23"))
}

/// Returns `true` if two rows fill in the same entry: nvlink's `-r` leaves those of a replaced copy
/// so, and has written over the entries.
fn has_two_tables(module: &Module<'_>, rows: impl Iterator<Item = RelocId>) -> bool {
    let mut offsets: Vec<u64> = rows.map(|row| module.relocs[row].offset).collect();
    offsets.sort_unstable();
    offsets.windows(2).any(|pair| pair[0] == pair[1])
}

/// Returns the offsets in the SASS of a function to which its branches by tables lead, by that in
/// its Mercury code; `None` if its two lists of them have not as many. Its compiler lists them, also
/// where no table is among the constants.
fn places(module: &Module<'_>, function: FunctionId) -> Option<Places> {
    let views = &module.functions[function].views;
    let merc = targets(module, views.merc.and_then(|merc| merc.info));
    let sass = targets(module, views.sass.info);
    let pairs = merc
        .iter()
        .map(|target| i64::from(*target))
        .zip(sass.iter());
    let places = pairs.map(|(target, place)| (target, *place)).collect();
    (merc.len() == sass.len()).then_some(places)
}

/// Returns the targets of branches by tables in a list of records.
fn targets(module: &Module<'_>, list: Option<SectionId>) -> Vec<u32> {
    let records = list.map_or(IdRange::default(), |list| module.sections[list].attributes);
    let records = records.iter().map(|id| &module.attributes[id]);
    let records = records.filter(|record| record.code == attributes::INDIRECT_BRANCH_TARGETS);
    let branches = records.flat_map(|record| branches_by_table(record.rest).flatten());
    branches.flat_map(BranchByTable::targets).collect()
}
