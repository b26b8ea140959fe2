//! `.nv_debug_info_reg_sass` and `.nv_debug_info_reg_type`: in which registers variables of code
//! for the debugger are, and of which types these are.

use cuweld_diagnostics::codes::mercury;
use cuweld_elf::mercury::register_ranges;
use cuweld_ir::FunctionId;
use cuweld_ir::plan::PlanContent;
use cuweld_ir::plan::PlanSection;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::Encode;
use super::Refusal;

/// The ranges of code in which registers hold variables.
pub(super) const REGISTER_RANGES: &[u8] = b".nv_debug_info_reg_sass";

/// The types of registers.
pub(super) const REGISTER_TYPES: &[u8] = b".nv_debug_info_reg_type";

impl Encode<'_, '_> {
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
        // Whether the first function of each name is linked.
        let mut named: HashMap<&[u8], bool, FixedState> = HashMap::default();
        for (id, _) in self.inputs.debug_sections(module, REGISTER_RANGES) {
            let object = &module.objects[module.sections[id].object];
            let functions: HashMap<&[u8], FunctionId, FixedState> = object
                .functions
                .iter()
                .map(|function| (module.function_name(function), function))
                .collect();
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
            for row in &ranges {
                let function = functions.get(row.function).copied();
                let is_linked = function.is_some_and(|function| module.is_function_live(function));
                let is_losing = function.is_some_and(|function| self.is_losing(function));
                // nvlink finds a function by its name, once: later ones are empty, copies and local
                // functions.
                let known = named.get(row.function).copied();
                let what = match known {
                    Some(true) => None,
                    None if is_losing => Some("ranges of registers of a copy that is not linked"),
                    Some(false) if is_linked || is_losing => {
                        Some("ranges of registers of two functions of one name")
                    }
                    _ => None,
                };
                if let Some(what) = what.filter(|_| !row.places.is_empty()) {
                    self.refusals
                        .push(Refusal::with(mercury::REGISTER_RANGES, what, id));
                    return;
                }
                if known.is_none() {
                    named.insert(row.function, is_linked);
                    if is_linked {
                        continue;
                    }
                }
                for place in &row.places {
                    if let Some(range) = out.get_mut(start + place..start + place + 8) {
                        range.fill(0);
                    }
                }
            }
        }
        let section = &mut self.plan.sections[index];
        section.size = out.len() as u64;
        section.content = PlanContent::Bytes(self.arena.bytes(&out));
    }

    /// Returns `true` if another copy of a function is linked, with other code.
    pub(super) fn has_other_code(&self, function: FunctionId) -> bool {
        let module = self.module;
        let link = module.symbols[module.functions[function].symbol].link;
        let linked = link.and_then(|link| module.link_function(link));
        // After the index of the section with the SASS.
        let code = |function: FunctionId| {
            let section = module.functions[function].views.merc?.text;
            module.sections[section].bytes().get(4..)
        };
        self.is_losing(function) && linked.is_none_or(|linked| code(linked) != code(function))
    }

    /// Returns `true` if another copy of a function is linked.
    fn is_losing(&self, function: FunctionId) -> bool {
        let row = &self.module.functions[function];
        let link = self.module.symbols[row.symbol].link;
        row.fate.is_non_prevailing()
            && link.is_some_and(|link| self.module.link_symbols[link].live.is_live())
    }

    /// Lets sections of the Mercury view share the bytes of the SASS view where both are equal, as
    /// they are for code without variables in registers.
    pub(super) fn shared_register_sections(&mut self) {
        for index in 0..self.view {
            let section = &self.plan.sections[index];
            if ![REGISTER_RANGES, REGISTER_TYPES].contains(&section.name) {
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
