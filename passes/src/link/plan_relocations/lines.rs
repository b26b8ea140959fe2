//! Line tables of the SASS view [lines-of-linked-functions].
//!
//! The Mercury view keeps the lines of all functions. In the SASS view only those of linked
//! functions stand, so that what refers to a line table finds it at another place.

use cuweld_elf::mercury::lines::Kept;
use cuweld_elf::mercury::lines::Staying;
use cuweld_elf::mercury::lines::keep;
use cuweld_elf::mercury::lines::remake;
use cuweld_elf::mercury::lines::units;
use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::Reloc;
use cuweld_ir::RelocId;
use cuweld_ir::RelocPlan;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolRef;
use cuweld_ir::section::view_name;
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
    let mut twin = None;
    let mut addresses = Vec::with_capacity(rows.len());
    for row in &rows {
        let mut staying = None;
        if matches!(row.plan, RelocPlan::Keep { .. }) {
            let mut made = None;
            if let Some(linked) = other_code(module, row) {
                let twin = twin.get_or_insert_with(|| Twin::of(module, section));
                made = Some(twin.as_mut()?.next(module, row.target, linked)?);
            }
            let rank = rank(row);
            staying = Some(Staying { rank, made });
        }
        addresses.push((row.offset, staying));
    }
    let kept = keep(module.sections[section].bytes(), &addresses)?;
    Some((kept, rows))
}

/// Returns the function that is linked in the place of the copy whose address a row is; `None` if
/// that copy is linked.
fn other_code(module: &Module<'_>, row: &Reloc) -> Option<FunctionId> {
    let symbol = &module.symbols[row.target.symbol()?];
    let linked = module.link_function(symbol.link?)?;
    (symbol.function != Some(linked)).then_some(linked)
}

/// A line table of the Mercury view.
struct Twin<'m> {
    bytes: &'m [u8],
    /// Where its units begin.
    units: Vec<u64>,
    /// The addresses of each function that were not asked for yet, the last first.
    addresses: HashMap<SymbolRef, Vec<u64>, FixedState>,
}

impl<'m> Twin<'m> {
    /// Returns that beside a line table of the SASS view.
    fn of(module: &'m Module<'_>, sass: SectionId) -> Option<Self> {
        let sass = &module.sections[sass];
        let sections = || module.objects[sass.object].sections.iter();
        let is_twin = |id: &SectionId| {
            let section = &module.sections[*id];
            section.kind == SectionKind::MercuryDebug && view_name(section) == sass.name
        };
        let twin = sections().find(is_twin)?;
        let relocates_it = |id: &SectionId| {
            let section = &module.sections[*id];
            section.kind == SectionKind::Relocs
                && matches!(section.info, SectionInfo::Section(patched) if patched == twin)
        };
        let rows = &module.relocs[module.sections[sections().find(relocates_it)?].relocs];
        let mut rows: Vec<&Reloc> = rows.iter().collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.offset));
        let mut addresses: HashMap<SymbolRef, Vec<u64>, FixedState> = HashMap::default();
        for row in rows {
            addresses.entry(row.target).or_default().push(row.offset);
        }
        let bytes = module.sections[twin].bytes();
        Some(Twin {
            bytes,
            units: units(bytes)?,
            addresses,
        })
    }

    /// Returns the next lines of a function as they are in the code of another copy
    /// [lines-of-replaced-copies].
    fn next(
        &mut self,
        module: &Module<'_>,
        target: SymbolRef,
        linked: FunctionId,
    ) -> Option<Vec<u8>> {
        let address = self.addresses.get_mut(&target)?.pop()?;
        let unit = self.units.partition_point(|start| *start <= address);
        let start = *self.units.get(unit.checked_sub(1)?)?;
        let end = self.units.get(unit).map(|end| *end as usize);
        let unit = self
            .bytes
            .get(start as usize..end.unwrap_or(self.bytes.len()))?;
        let offsets = module.mercury_offsets(linked)?;
        let text = module.functions[linked].views.sass.text;
        remake(
            unit,
            address - start,
            &offsets,
            module.sections[text].size(),
        )
    }
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
