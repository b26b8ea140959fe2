//! Line tables of the SASS view [lines-of-linked-functions].
//!
//! The Mercury view keeps the lines of all functions. In the SASS view only those of linked
//! functions stand, so that what refers to a line table finds it at another place.

use cuweld_elf::mercury::lines::Kept;
use cuweld_elf::mercury::lines::keep;
use cuweld_ir::Module;
use cuweld_ir::Reloc;
use cuweld_ir::RelocId;
use cuweld_ir::RelocPlan;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolRef;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hashbrown::HashSet;

/// The names of line tables.
pub(crate) const LINE_TABLES: [&[u8]; 2] = [b".debug_line", b".nv_debug_line_sass"];

/// Returns `true` if a section of the SASS view is a line table.
pub(crate) fn is_line_table(module: &Module<'_>, section: SectionId) -> bool {
    let section = &module.sections[section];
    section.kind == SectionKind::Debug && LINE_TABLES.contains(&section.name)
}

/// Returns the lines of one object that stay, those of each unit by the ranks of their functions,
/// and its rows in ascending order; `None` if the table is of another form.
pub(crate) fn of_section<'m>(
    module: &Module<'_>,
    section: SectionId,
    rows: &'m [Reloc],
    rank: impl Fn(&Reloc) -> u32,
) -> Option<(Kept, Vec<&'m Reloc>)> {
    let mut rows: Vec<&Reloc> = rows.iter().collect();
    rows.sort_by_key(|row| row.offset);
    let is_kept = |row: &Reloc| matches!(row.plan, RelocPlan::Keep { .. });
    let addresses: Vec<(u64, Option<u32>)> = rows
        .iter()
        .map(|row| (row.offset, is_kept(row).then(|| rank(row))))
        .collect();
    let kept = keep(module.sections[section].bytes(), &addresses)?;
    Some((kept, rows))
}

/// Gives rows of the SASS view that refer to line tables the places that these have in it; the
/// section with a table of another form if there is one.
pub(super) fn place(module: &mut Module<'_>) -> Result<(), SectionId> {
    let objects = module.included_objects();
    let sections = objects.flat_map(|(_, object)| object.sections.iter());
    let tables = sections.filter(|id| is_line_table(module, *id));
    let tables: Vec<SectionId> = tables.collect();
    if tables.is_empty() {
        return Ok(());
    }
    let mut rows_of: HashMap<SectionId, SectionId, FixedState> = HashMap::default();
    for (id, section) in module.sections.iter() {
        if let (SectionKind::SassRelocs, SectionInfo::Section(patched)) =
            (section.kind, section.info)
        {
            rows_of.insert(patched, id);
        }
    }
    let mut shifts: HashMap<SectionId, u64, FixedState> = HashMap::default();
    let mut cut: HashSet<SectionId, FixedState> = HashSet::default();
    let mut ends: HashMap<&[u8], u64, FixedState> = HashMap::default();
    for id in tables {
        let rows = rows_of.get(&id).map(|rows| module.sections[*rows].relocs);
        let rows = rows.map_or(&[][..], |rows| &module.relocs[rows]);
        let (kept, _) = of_section(module, id, rows, |_| 0).ok_or(id)?;
        let section = &module.sections[id];
        let end = ends.entry(section.name).or_insert(0);
        shifts.insert(id, end.wrapping_sub(section.place.unwrap_or(0)));
        *end += kept.bytes.len() as u64;
        if kept.bytes.len() as u64 != section.size() {
            cut.insert(id);
        }
    }
    let ids: Vec<RelocId> = rows_of
        .values()
        .flat_map(|rows| module.sections[*rows].relocs.iter())
        .collect();
    for id in ids {
        let reloc = &mut module.relocs[id];
        let SymbolRef::Section(target) = reloc.target else {
            continue;
        };
        // A unit after the first, of an object of a link with `-r`: its own place changes too.
        if reloc.addend != 0 && cut.contains(&target) {
            return Err(target);
        }
        let shift = shifts.get(&target).copied().unwrap_or(0);
        match &mut reloc.plan {
            RelocPlan::Apply { value, .. } => *value = value.wrapping_add(shift),
            RelocPlan::Keep { addend, .. } => *addend = addend.wrapping_add(shift as i64),
            _ => {}
        }
    }
    Ok(())
}
