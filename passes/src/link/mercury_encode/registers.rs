//! `.nv_debug_info_reg_sass` and `.nv_debug_info_reg_type`: in which registers variables of code
//! for the debugger are, and of which types these are.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::deviation;
use cuweld_diagnostics::codes::mercury;
use cuweld_elf::behaviours;
use cuweld_elf::mercury::offsets::Offsets;
use cuweld_elf::mercury::register_ranges;
use cuweld_elf::mercury::register_ranges::REGISTER_RANGES;
use cuweld_elf::mercury::register_ranges::Ranges;
use cuweld_elf::mercury::register_ranges::Row;
use cuweld_elf::symbol::Binding;
use cuweld_ir::FunctionId;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolRef;
use cuweld_ir::plan::PlanContent;
use cuweld_ir::plan::PlanSection;
use cuweld_ir::section::view_name;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hashbrown::HashSet;

use super::Encode;
use super::Refusal;
use crate::link::plan_relocations::lines::is_line_table;

/// The types of registers.
pub(super) const REGISTER_TYPES: &[u8] = b".nv_debug_info_reg_type";
pub(super) const DEBUG_INFO: &[u8] = b".debug_info";

/// The ranges of functions by name; `None` for several of one name.
type NamedRanges<'m> = HashMap<&'m [u8], Option<Vec<Row<'m>>>, FixedState>;

impl<'m> Encode<'m, '_> {
    /// Makes the contents of `.nv_debug_info_reg_sass`: functions that are not linked have no
    /// ranges.
    pub(super) fn register_ranges(&mut self) {
        let sections = &self.plan.sections[..self.view];
        let Some(index) = sections
            .iter()
            .position(|section| section.name == REGISTER_RANGES)
        else {
            return;
        };
        let module = self.module;
        let mut out = Vec::new();
        // The first linked function of each name in the table of symbols: a name whose first symbol
        // is global comes after all others [ranges-by-first-name].
        let mut linked: HashMap<&[u8], FunctionId, FixedState> = HashMap::default();
        for is_global in [false, true] {
            for (link, row) in module.link_symbols.iter() {
                let first = &module.symbols[row.first];
                if first.is_function()
                    && (first.bind == Binding::GLOBAL) == is_global
                    && let Some(function) = module.link_function(link)
                    && module.is_function_live(function)
                {
                    linked.entry(first.name).or_insert(function);
                }
            }
        }
        // The names that ranges were looked up for.
        let mut known: HashSet<&[u8], FixedState> = HashSet::default();
        for (id, _) in self.inputs.debug_sections(module, REGISTER_RANGES) {
            let object = &module.objects[module.sections[id].object];
            let mut functions: HashMap<&[u8], FunctionId, FixedState> = HashMap::default();
            for function in object.functions.iter() {
                functions
                    .entry(module.function_name(function))
                    .or_insert(function);
            }
            let bytes = module.sections[id].bytes();
            let Some(ranges) = register_ranges::parse(bytes) else {
                self.refusals.push(Refusal::with(
                    mercury::REGISTER_RANGES,
                    "ranges of registers of another form",
                    id,
                ));
                return;
            };
            let start = out.len();
            out.extend_from_slice(bytes);
            let mut mercury = None;
            for row in &ranges {
                let function = functions.get(row.function).copied();
                let is_linked = function.is_some_and(|function| module.is_function_live(function));
                // nvlink finds a function by its name, once: later ones are empty, copies and local
                // functions. The first one that is linked is found, whichever has the ranges
                // [ranges-by-first-name].
                let first = linked.get(row.function).copied();
                let other = first.filter(|first| Some(*first) != function);
                let is_first = known.insert(row.function);
                let symbol = function.map(|function| module.functions[function].symbol);
                let unmade = self.early.in_object(module, symbol);
                let places = match other.or(unmade) {
                    _ if row.rows.is_empty() => continue,
                    _ if !is_first => vec![[0; 2]; row.rows.len()],
                    // [mercury-early-aliases]
                    _ if self.early.in_output(module, symbol) => {
                        vec![[0; 2]; row.rows.len()]
                    }
                    // What an earlier link wrote out of its memory for a copy that it replaced.
                    None if is_linked => match function.and_then(|it| self.foreign_ranges(it, row))
                    {
                        None => continue,
                        Some(places) => {
                            if !self.says_emptied(function, id) {
                                return;
                            }
                            places
                        }
                    },
                    None => vec![[0; 2]; row.rows.len()],
                    Some(function) => {
                        let mercury = mercury.get_or_insert_with(|| self.mercury_ranges(id));
                        let places = self.ranges_in_linked_code(row, mercury, function);
                        let rule = &behaviours::mercury::RANGES_AROUND_RUNS;
                        let is_empty = places.contains(&None) || !module.toolkit.has(rule);
                        if is_empty && !self.says_emptied(Some(function), id) {
                            return;
                        }
                        places.into_iter().map(Option::unwrap_or_default).collect()
                    }
                };
                for (row, [begin, end]) in row.rows.iter().zip(places) {
                    let place = start + row.place;
                    if let Some(range) = out.get_mut(place..place + 8) {
                        range[..4].copy_from_slice(&begin.to_le_bytes());
                        range[4..].copy_from_slice(&end.to_le_bytes());
                    }
                }
            }
        }
        let section = &mut self.plan.sections[index];
        section.size = out.len() as u64;
        section.content = PlanContent::Bytes(self.arena.bytes(&out));
    }

    /// Notes that ranges of a function in a section are empty; says whether the link may go on, which
    /// it may not in strict mode.
    fn says_emptied(&mut self, function: Option<FunctionId>, section: SectionId) -> bool {
        self.emptied_ranges = self.emptied_ranges.or(function);
        if self.module.options.strict {
            let what = mercury::RANGES_AFTER_CODE;
            self.refusals.push(Refusal::new(what, section));
        }
        !self.module.options.strict
    }

    /// Returns the ranges of a function with none that ends after its code; `None` if all lie in it.
    fn foreign_ranges(&self, function: FunctionId, ranges: &Ranges<'_>) -> Option<Vec<[u32; 2]>> {
        let text = self.module.functions[function].views.sass.text;
        let size = self.module.sections[text].size();
        let is_own = |[begin, end]: [u32; 2]| u64::from(begin) <= size && u64::from(end) <= size;
        let own = |row: &Row<'_>| if is_own(row.range) { row.range } else { [0; 2] };
        let all_own = ranges.rows.iter().all(|row| is_own(row.range));
        (!all_own).then(|| ranges.rows.iter().map(own).collect())
    }

    /// Returns the ranges of a copy in the code that is linked in its place
    /// [ranges-of-replaced-copies] [ranges-around-runs]; `None` for one that is not known. `mercury` has those of its
    /// object in the Mercury view, by function.
    fn ranges_in_linked_code(
        &self,
        ranges: &Ranges<'_>,
        mercury: &NamedRanges<'_>,
        copy: FunctionId,
    ) -> Vec<Option<[u32; 2]>> {
        let module = self.module;
        let link = module.symbols[module.functions[copy].symbol].link;
        let linked = link.and_then(|link| module.link_function(link));
        let offsets = linked.and_then(|linked| module.mercury_offsets(linked));
        let rule = &behaviours::mercury::RANGES_AROUND_RUNS;
        let offsets = match module.toolkit.has(rule) {
            true => offsets,
            false => offsets.map(Offsets::without_runs),
        };
        let mercury = mercury.get(ranges.function).and_then(Option::as_ref);
        match mercury.zip(offsets) {
            Some((mercury, offsets)) => {
                register_ranges::in_other_code(&ranges.rows, mercury, &offsets)
            }
            None => vec![None; ranges.rows.len()],
        }
    }

    /// Returns the ranges of the Mercury view beside a section of the SASS view, without those of
    /// functions that have several.
    fn mercury_ranges(&self, sass: SectionId) -> NamedRanges<'m> {
        let module = self.module;
        let object = &module.objects[module.sections[sass].object];
        let mut sections = object.sections.iter().map(|id| &module.sections[id]);
        let twin = sections.find(|section| {
            section.kind == SectionKind::MercuryDebug && view_name(section) == REGISTER_RANGES
        });
        let all = twin.and_then(|twin| register_ranges::parse(twin.bytes()));
        let mut named = NamedRanges::default();
        for ranges in all.into_iter().flatten() {
            let rows = ranges.rows;
            let named = named.entry(ranges.function);
            named
                .and_modify(|known| *known = None)
                .or_insert(Some(rows));
        }
        named
    }

    /// Returns the copy of a function that is linked in its place, if that has other code.
    pub(super) fn other_code(&self, function: FunctionId) -> Option<FunctionId> {
        let module = self.module;
        let link = module.symbols[module.functions[function].symbol].link?;
        let linked = module.link_function(link)?;
        // A capsule does not say which instructions its plain items are, and these have one or two
        // units of Mercury.
        let code = |function: FunctionId| {
            let views = &module.functions[function].views;
            let sass = module.sections[views.sass.text].bytes();
            // After the index of the section with the SASS.
            let capsule = module.sections[views.merc?.text].bytes().get(4..)?;
            Some((capsule, sass))
        };
        (self.is_discarded(function) && code(linked) != code(function)).then_some(linked)
    }

    /// Returns `true` if another copy of a function is linked.
    fn is_discarded(&self, function: FunctionId) -> bool {
        let row = &self.module.functions[function];
        let link = self.module.symbols[row.symbol].link;
        row.fate.is_non_prevailing()
            && link.is_some_and(|link| self.module.link_symbols[link].live.is_live())
    }

    /// Lets sections of the Mercury view share the bytes of the SASS view where both are equal, as
    /// registers are for code without variables in them, and `.debug_info` that names no lines
    /// [mercury-debug-shared].
    pub(super) fn shared_debug_sections(&mut self) {
        for index in 0..self.view {
            let section = &self.plan.sections[index];
            let may_be_shared = match section.name {
                REGISTER_RANGES | REGISTER_TYPES => true,
                DEBUG_INFO => !self.names_lines(),
                _ => false,
            };
            if !may_be_shared {
                continue;
            }
            let Some(twin) = self.twin[index].map(|twin| twin as usize) else {
                continue;
            };
            let mercury = &self.plan.sections[twin];
            if section.size == mercury.size && self.contents(section) == self.contents(mercury) {
                self.plan.sections[twin].content = PlanContent::Alias(index as u32);
            }
        }
    }

    /// Returns `true` if any `.debug_info` refers to a line table, which is another one in each view.
    fn names_lines(&self) -> bool {
        let module = self.module;
        let mut relocs = module.relocs.values();
        relocs.any(|reloc| {
            matches!(reloc.target, SymbolRef::Section(lines) if is_line_table(module, lines))
                && matches!(module.sections[reloc.section].info, SectionInfo::Section(patched)
                    if module.sections[patched].name == DEBUG_INFO)
                && module.objects[module.sections[reloc.section].object]
                    .state
                    .is_included()
        })
    }

    /// Returns the bytes of a debug section; `None` if it has none of its own.
    fn contents(&self, section: &PlanSection<'_>) -> Option<Vec<u8>> {
        match &section.content {
            PlanContent::Bytes(bytes) => Some(bytes.to_vec()),
            PlanContent::Pieces(range) => {
                let mut out = Vec::new();
                let pieces = self
                    .plan
                    .pieces
                    .get(range.start as usize..range.end as usize)?;
                for piece in pieces {
                    let start = usize::try_from(piece.offset).ok()?;
                    let bytes = self.module.sections[piece.section].bytes();
                    if out.len() < start.checked_add(bytes.len())? {
                        out.resize(start + bytes.len(), 0);
                    }
                    out[start..start + bytes.len()].copy_from_slice(bytes);
                }
                Some(out)
            }
            _ => None,
        }
    }
}

/// Says that ranges of registers are empty of which nvlink writes what lies in its memory
/// (deviation D25).
pub(super) fn emptied_ranges(function: &[u8]) -> Diagnostic {
    let name = String::from_utf8_lossy(function);
    let message = format!(
        "ranges of registers of '{name}' in another object are empty: the linked code has none for them"
    );
    Diagnostic::remark(deviation::EMPTIED_RANGES, message).deviates("D25")
}
