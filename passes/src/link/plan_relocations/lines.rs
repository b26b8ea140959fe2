//! Line tables of the SASS view [lines-of-linked-functions].
//!
//! The Mercury view keeps the lines of all functions. In the SASS view only those of linked
//! functions stand, so that what refers to a line table finds it at another place.

use std::rc::Rc;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::deviation;
use cuweld_elf::behaviours;
use cuweld_elf::mercury::lines::Kept;
use cuweld_elf::mercury::lines::Remade;
use cuweld_elf::mercury::lines::SET_ADDRESS;
use cuweld_elf::mercury::lines::Staying;
use cuweld_elf::mercury::lines::in_mercury;
use cuweld_elf::mercury::lines::keep;
use cuweld_elf::mercury::lines::remake;
use cuweld_elf::mercury::lines::units;
use cuweld_elf::mercury::offsets::Offsets;
use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::ObjectId;
use cuweld_ir::Reloc;
use cuweld_ir::RelocAction;
use cuweld_ir::RelocId;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolRef;
use cuweld_ir::section::view_name;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::analyses::EarlyAliases;

/// The names of line tables.
pub(crate) const LINE_TABLES: [&[u8]; 2] = [b".debug_line", b".nv_debug_line_sass"];

/// Returns `true` if a section of the SASS view is a line table.
pub(crate) fn is_line_table(module: &Module<'_>, section: SectionId) -> bool {
    let section = &module.sections[section];
    section.kind == SectionKind::Debug && LINE_TABLES.contains(&section.name)
}

/// Returns `true` if places in code that a section of this name has stay where the code is made anew,
/// or another copy is linked [labels-stay].
pub(crate) fn places_stay(name: &[u8]) -> bool {
    let moves = matches!(name, b".debug_info" | b".debug_loc" | b".debug_frame");
    !moves && !LINE_TABLES.contains(&name)
}

/// Returns the lines of one object that stay, those of each unit by the ranks of their functions,
/// and its rows in ascending order; `None` if the table is of another form.
pub(crate) fn of_section<'m>(
    module: &'m Module<'_>,
    early: &EarlyAliases,
    section: SectionId,
    rows: &'m [Reloc],
    linked: &mut LinkedLines<'m>,
    rank: impl Fn(&Reloc) -> u32,
) -> Option<(Kept, Vec<&'m Reloc>)> {
    let mut rows: Vec<&Reloc> = rows.iter().collect();
    rows.sort_by_key(|row| row.offset);
    let mut twin = None;
    let mut addresses = Vec::with_capacity(rows.len());
    for row in &rows {
        let mut staying = None;
        if matches!(row.plan, RelocAction::Keep { .. }) {
            let mut made = None;
            let symbol = row.target.symbol();
            let is_early = early.in_output(module, symbol);
            let unmade = early.in_object(module, symbol);
            let other = other_code(module, row);
            if is_early || unmade.is_some() || other.is_some() {
                let twin = match &mut twin {
                    Some(twin) => twin,
                    None => twin.insert(Table::new(module, twin_of(module, section)?)?),
                };
                let lines = twin.next(row.target)?;
                let size = |function: FunctionId| {
                    let text = module.functions[function].views.sass.text;
                    module.sections[text].size()
                };
                let name = module.sections[section].name;
                let remade = match (other, unmade) {
                    // [mercury-early-aliases]
                    _ if is_early => None,
                    (Some(function), _) => {
                        let offsets = linked.offsets(module, function, name)?;
                        Some((function, lines.remade(&offsets, size(function))?))
                    }
                    (None, function) => {
                        let function = function?;
                        let offsets = module.mercury_offsets(function)?;
                        Some((function, lines.remade(&offsets, size(function))?))
                    }
                };
                made = Some(match remade {
                    None => in_mercury(lines.unit, lines.address)?,
                    Some((_, remade)) if remade.is_certain => remade.codes,
                    Some(_) if module.options.strict => return None,
                    Some((function, remade)) => {
                        linked.uncertain.get_or_insert(function);
                        remade.codes
                    }
                });
            }
            let rank = rank(row);
            staying = Some(Staying { rank, made });
        }
        addresses.push((row.offset, staying));
    }
    // [empty-line-tables-end]
    let ends_empty = module
        .toolkit
        .has(&behaviours::mercury::EMPTY_LINE_TABLES_END);
    let kept = keep(module.sections[section].bytes(), &addresses, ends_empty)?;
    Some((kept, rows))
}

/// Returns the function that is linked in the place of the copy whose address a row is; `None` if
/// that copy is linked.
fn other_code(module: &Module<'_>, row: &Reloc) -> Option<FunctionId> {
    let symbol = &module.symbols[row.target.symbol()?];
    let linked = module.link_function(symbol.link?)?;
    (symbol.function != Some(linked)).then_some(linked)
}

/// Returns the line table of the Mercury view beside one of the SASS view.
fn twin_of(module: &Module<'_>, sass: SectionId) -> Option<SectionId> {
    let sass = &module.sections[sass];
    let is_twin = |id: &SectionId| {
        let section = &module.sections[*id];
        section.kind == SectionKind::MercuryDebug && view_name(section) == sass.name
    };
    module.objects[sass.object].sections.iter().find(is_twin)
}

/// A line table of one view.
#[derive(Debug)]
struct Table<'m> {
    bytes: &'m [u8],
    /// Where its units begin.
    units: Vec<u64>,
    /// The addresses of each function that were not asked for yet, the last first.
    addresses: HashMap<SymbolRef, Vec<u64>, FixedState>,
}

/// The lines of a function in a table.
#[derive(Clone, Copy, Debug)]
struct Lines<'m> {
    unit: &'m [u8],
    /// Where its address lies in the unit, in bytes.
    address: u64,
}

impl<'m> Table<'m> {
    fn new(module: &'m Module<'_>, table: SectionId) -> Option<Self> {
        let object = module.sections[table].object;
        let relocates_it = |id: &SectionId| {
            let section = &module.sections[*id];
            matches!(section.kind, SectionKind::Relocs | SectionKind::SassRelocs)
                && matches!(section.info, SectionInfo::Section(patched) if patched == table)
        };
        let rows = module.objects[object].sections.iter().find(relocates_it)?;
        let mut rows: Vec<&Reloc> = module.relocs[module.sections[rows].relocs].iter().collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.offset));
        let mut addresses: HashMap<SymbolRef, Vec<u64>, FixedState> = HashMap::default();
        for row in rows {
            addresses.entry(row.target).or_default().push(row.offset);
        }
        let bytes = module.sections[table].bytes();
        Some(Table {
            bytes,
            units: units(bytes)?,
            addresses,
        })
    }

    /// Returns the next lines of a function.
    fn next(&mut self, target: SymbolRef) -> Option<Lines<'m>> {
        let address = self.addresses.get_mut(&target)?.pop()?;
        let unit = self.units.partition_point(|start| *start <= address);
        let start = *self.units.get(unit.checked_sub(1)?)?;
        let end = self.units.get(unit).map(|end| *end as usize);
        let end = end.unwrap_or(self.bytes.len());
        let unit = self.bytes.get(start as usize..end)?;
        let address = address - start;
        Some(Lines { unit, address })
    }
}

impl Lines<'_> {
    /// Returns lines of the Mercury view as they are in the SASS view of code with these
    /// instructions and of `size` bytes [lines-of-replaced-copies].
    fn remade(self, offsets: &Offsets, size: u64) -> Option<Remade> {
        remake(self.unit, self.address, offsets, size)
    }

    /// Returns `true` if a sequence made anew is what the compiler wrote.
    fn are(self, made: &[u8]) -> bool {
        let start = self.address.checked_sub(SET_ADDRESS.len() as u64);
        let rest = start.and_then(|start| self.unit.get(start as usize..));
        rest.is_some_and(|rest| rest.starts_with(made))
    }
}

/// Where the instructions of functions lie in both views that are linked in the place of others.
#[derive(Debug, Default)]
pub(crate) struct LinkedLines<'m> {
    /// The line tables of objects, by the name of the table, in the SASS and in the Mercury view.
    tables: HashMap<(ObjectId, &'m [u8]), Option<[Table<'m>; 2]>, FixedState>,
    /// Of each function and the name of a table.
    offsets: HashMap<(FunctionId, &'m [u8]), Option<Rc<Offsets>>, FixedState>,
    /// The first function with lines that nvlink may repeat (deviation D26).
    uncertain: Option<FunctionId>,
}

impl<'m> LinkedLines<'m> {
    /// Returns where the instructions of a function lie in both views; `None` if it cannot be told,
    /// or if the function's own lines in a table of this name say something else.
    fn offsets(
        &mut self,
        module: &'m Module<'_>,
        function: FunctionId,
        table: &'m [u8],
    ) -> Option<Rc<Offsets>> {
        if let Some(known) = self.offsets.get(&(function, table)) {
            return known.clone();
        }
        let offsets = module.mercury_offsets(function);
        let proved = offsets.filter(|offsets| self.agree(module, function, table, offsets));
        let proved = proved.map(Rc::new);
        self.offsets.insert((function, table), proved.clone());
        proved
    }

    /// Returns `false` if the lines of a function in the SASS view do not follow from those in the
    /// Mercury view.
    fn agree(
        &mut self,
        module: &'m Module<'_>,
        function: FunctionId,
        table: &'m [u8],
        offsets: &Offsets,
    ) -> bool {
        let symbol = module.functions[function].symbol;
        let object = module.symbols[symbol].object;
        let tables = self.tables.entry((object, table)).or_insert_with(|| {
            let mut sections = module.objects[object].sections.iter();
            let sass = sections
                .find(|id| module.sections[*id].name == table && is_line_table(module, *id))?;
            let twin = twin_of(module, sass)?;
            Some([Table::new(module, sass)?, Table::new(module, twin)?])
        });
        let text = module.functions[function].views.sass.text;
        let size = module.sections[text].size();
        let target = SymbolRef::Symbol(symbol);
        let Some([sass, mercury]) = tables else {
            return true;
        };
        match (sass.next(target), mercury.next(target)) {
            (Some(sass), Some(mercury)) => mercury
                .remade(offsets, size)
                // Of inlined functions: they say nothing of the places.
                .is_none_or(|made| sass.are(&made.codes)),
            _ => true,
        }
    }
}

/// Gives rows of the SASS view that refer to line tables the places that these have in it; returns
/// the first function with lines that nvlink may repeat, or the section with a table of another
/// form if there is one.
pub(super) fn place(
    module: &mut Module<'_>,
    early: &EarlyAliases,
) -> Result<Option<FunctionId>, SectionId> {
    let objects = module.included_objects();
    let sections = objects.flat_map(|(_, object)| object.sections.iter());
    let tables = sections.filter(|id| is_line_table(module, *id));
    let tables: Vec<SectionId> = tables.collect();
    if tables.is_empty() {
        return Ok(None);
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
    // Where units begin in tables that change: in the object, in what stays.
    let mut moved: HashMap<SectionId, [Vec<u64>; 2], FixedState> = HashMap::default();
    let mut linked = LinkedLines::default();
    let mut ends: HashMap<&[u8], u64, FixedState> = HashMap::default();
    for id in tables {
        let rows = rows_of.get(&id).map(|rows| module.sections[*rows].relocs);
        let rows = rows.map_or(&[][..], |rows| &module.relocs[rows]);
        let (kept, _) = of_section(module, early, id, rows, &mut linked, |_| 0).ok_or(id)?;
        let section = &module.sections[id];
        let end = ends.entry(section.name).or_insert(0);
        shifts.insert(id, end.wrapping_sub(section.place.unwrap_or(0)));
        *end += kept.bytes.len() as u64;
        let starts = [units(section.bytes()), units(&kept.bytes)];
        let [before, after] = starts.map(|starts| starts.ok_or(id));
        let (before, after) = (before?, after?);
        if before != after {
            moved.insert(id, [before, after]);
        }
    }
    let uncertain = linked.uncertain;
    drop(linked);
    // [line-tables-elsewhere]
    let elsewhere: HashMap<SectionId, u64, FixedState> = shifts
        .keys()
        .filter_map(|table| {
            let twin = twin_of(module, *table)?;
            let place = |section: SectionId| module.sections[section].place.unwrap_or(0);
            Some((*table, place(twin).wrapping_sub(place(*table))))
        })
        .collect();
    let ids: Vec<(RelocId, bool)> = rows_of
        .iter()
        .flat_map(|(patched, rows)| {
            let is_info = module.sections[*patched].name == b".debug_info";
            let ids = module.sections[*rows].relocs.iter();
            ids.map(move |id| (id, is_info))
        })
        .collect();
    for (id, is_info) in ids {
        let reloc = &mut module.relocs[id];
        let SymbolRef::Section(target) = reloc.target else {
            continue;
        };
        let shifts = if is_info { &shifts } else { &elsewhere };
        let mut shift = shifts.get(&target).copied().unwrap_or(0);
        // A unit after the first, of an object of a link with `-r`: its own place changes too.
        if is_info
            && reloc.addend != 0
            && let Some([before, after]) = moved.get(&target)
        {
            let unit = before.binary_search(&(reloc.addend as u64));
            let place = unit.ok().and_then(|unit| after.get(unit)).ok_or(target)?;
            shift = shift.wrapping_add(place.wrapping_sub(reloc.addend as u64));
        }
        match &mut reloc.plan {
            RelocAction::Apply { value, .. } => *value = value.wrapping_add(shift),
            RelocAction::Keep { addend, .. } => *addend = addend.wrapping_add(shift as i64),
            _ => {}
        }
    }
    Ok(uncertain)
}

/// Says that lines of a copy that is not linked stand once, which nvlink may repeat (deviation
/// D26).
pub(super) fn lines_once(function: &[u8]) -> Diagnostic {
    let name = String::from_utf8_lossy(function);
    let message = format!(
        "lines of '{name}' in another object stand once where nvlink may repeat them for the linked code"
    );
    Diagnostic::remark(deviation::LINES_ONCE, message).deviates("D26")
}
