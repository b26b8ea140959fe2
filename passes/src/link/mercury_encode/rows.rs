//! Relocation rows of the SASS view, beside those of the Mercury view.

use cuweld_diagnostics::codes::mercury;
use cuweld_elf::known_symbols;
use cuweld_elf::mercury::offsets::Offsets;
use cuweld_elf::mercury::relocs::LINE_TABLE;
use cuweld_elf::mercury::relocs::counterparts;
use cuweld_elf::mercury::relocs::is_instruction_address;
use cuweld_elf::target::relocs::NO_OPERATION;
use cuweld_elf::target::relocs::YIELD_OPCODE;
use cuweld_elf::target::relocs::YIELD_PREDICATE;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::Reloc;
use cuweld_ir::RelocAction;
use cuweld_ir::SectionId;
use cuweld_ir::plan::PlanContent;
use cuweld_ir::plan::PlanReloc;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::Encode;
use super::Refusal;
use super::frames::Kept;
use super::symbols::is_parameter_bank;
use crate::analyses::yields;
use crate::link::classify::mercury::is_joined;
use crate::link::layout_output::grouped::Grouped;
use crate::link::layout_output::resolved::DynamicNames;
use crate::link::plan_relocations::lines::LINE_TABLES;
use crate::link::plan_relocations::lines::places_stay;

/// Debug sections that the SASS view has in part.
const REBUILT: [&[u8]; 3] = [b".debug_frame", b".debug_line", b".nv_debug_line_sass"];

/// Rows of debug sections, and rows of line tables, by the relocation section that gets them.
type Rebuilt<'m> = (Vec<(usize, Kept<'m>)>, Vec<(usize, Vec<PlanReloc>)>);

/// Returns `true` if a section of the SASS view holds constants of a function.
fn is_of_function(name: &[u8]) -> bool {
    let optimizer = cuweld_elf::mercury::BANKS[0];
    name.strip_prefix(optimizer.sass)
        .is_some_and(|rest| rest.starts_with(b"."))
}

impl<'m> Encode<'m, '_> {
    /// Gives the relocation sections of the SASS view their rows, and those of the Mercury view the
    /// rows that were laid out. The rows of both stand for each other in order.
    pub(super) fn rows(&mut self) {
        let module = self.module;
        let (rebuilt, mut lines) = match self.rebuilt() {
            Ok(found) => found,
            Err(refusal) => return self.refusals.push(refusal),
        };
        // Not of what was rebuilt, whose contents are no pieces any more.
        let OfObjects { kept, applied } = self.rows_of_objects(module);
        let dynamic_names = DynamicNames::of(module);
        let reserved = self.reserved_symbols();
        let mercury = std::mem::take(&mut self.plan.relocs);
        let mut rows: Vec<PlanReloc> = Vec::with_capacity(mercury.len() * 2);
        // The rows of one section.
        let mut kept_rows: Kept<'_> = Vec::new();
        // Executables have other instructions in their place.
        let marks_yields = module.options.relocatable && !yields::stay(module);
        for index in 0..self.view {
            let (own, of_objects) = match rebuilt.iter().find(|(holder, _)| *holder == index) {
                Some((_, rows)) => (&rows[..], &[][..]),
                None => (&[][..], kept.of(index)),
            };
            let section = &self.plan.sections[index];
            let PlanContent::Relocs(range) = section.content.clone() else {
                continue;
            };
            if section.ty == sht::CUDA_RESOLVED_RELA {
                let twins = mercury.get(range.start as usize..range.end as usize);
                let start = rows.len() as u32;
                let twins = twins.unwrap_or(&[]);
                let first = section.info;
                let own = applied.of(index);
                self.resolved_rows((first, own), twins, dynamic_names, &mut rows);
                let section = &mut self.plan.sections[index];
                section.content = PlanContent::Relocs(start..rows.len() as u32);
                continue;
            }
            kept_rows.clear();
            kept_rows.extend_from_slice(own);
            for (section, base) in of_objects {
                // Rows of a section stand in the reverse of the input's order.
                for row in module.relocs[module.sections[*section].relocs].iter().rev() {
                    if matches!(row.plan, RelocAction::Keep { .. }) {
                        kept_rows.push((row, *base));
                    }
                }
            }
            // Constants of functions have offsets in SASS where Mercury has rows.
            let patched = self.plan.sections.get(section.info as usize);
            let name = patched.map_or(&b""[..], |patched| patched.name);
            if is_of_function(name) && kept_rows.is_empty() {
                let section = &mut self.plan.sections[index];
                section.size = 0;
                section.content = PlanContent::Relocs(rows.len() as u32..rows.len() as u32);
                continue;
            }
            if is_parameter_bank(name) {
                let base = module.header_base();
                let start = rows.len() as u32;
                let twins = mercury.get(range.start as usize..range.end as usize);
                rows.extend(twins.unwrap_or(&[]).iter().map(|row| {
                    PlanReloc {
                        offset: row.offset.saturating_add(base),
                        ty: counterparts(row.ty, false)
                            .first()
                            .copied()
                            .unwrap_or(row.ty),
                        ..*row
                    }
                }));
                let section = &mut self.plan.sections[index];
                section.content = PlanContent::Relocs(start..rows.len() as u32);
                continue;
            }
            if LINE_TABLES.contains(&name) {
                let start = rows.len() as u32;
                if let Some((_, own)) = lines.iter_mut().find(|(holder, _)| *holder == index) {
                    rows.append(own);
                }
                let own = start..rows.len() as u32;
                if own.len() != range.len() {
                    let what = mercury::LINE_VIEWS;
                    self.refusals.push(Refusal::new(what, None));
                }
                let section = &mut self.plan.sections[index];
                section.size = own.len() as u64 * section.entsize;
                section.content = PlanContent::Relocs(own);
                continue;
            }
            let patched = section.info as usize;
            let title = section.name;
            let is_alone = |row: &PlanReloc| row.ty == LINE_TABLE && !module.options.relocatable;
            let twins = mercury.get(range.start as usize..range.end as usize);
            let twins = twins.unwrap_or(&[]).iter();
            let is_reserved = |row: &PlanReloc| reserved.binary_search(&row.symbol).is_ok();
            let twins = twins.filter(|row| !is_reserved(row) && !is_alone(row));
            let start = rows.len() as u32;
            match self.paired(patched, &kept_rows, twins, &mut rows) {
                Some(false) => {}
                Some(true) => {
                    let what = mercury::DISCARDED_DEBUG;
                    self.refusals.push(Refusal::new(what, None));
                }
                None => {
                    rows.truncate(start as usize);
                    let name = String::from_utf8_lossy(title);
                    let what = format!("relocations of {name} in two views that differ");
                    self.refusals
                        .push(Refusal::with(mercury::RELOCATION_VIEWS, what, None));
                    continue;
                }
            }
            if marks_yields && self.is_code(patched) {
                self.add_yields(patched, &mut rows);
            }
            let section = &mut self.plan.sections[index];
            section.size = (rows.len() as u64 - u64::from(start)) * section.entsize;
            section.content = PlanContent::Relocs(start..rows.len() as u32);
        }
        let moved = rows.len() as u32;
        rows.extend(mercury);
        for section in &mut self.plan.sections[self.view..] {
            if let PlanContent::Relocs(range) = &mut section.content {
                *range = range.start + moved..range.end + moved;
            }
        }
        self.plan.relocs = rows;
    }

    /// Returns `true` if a section of the output holds the code of a function.
    fn is_code(&self, section: usize) -> bool {
        self.functions.get(section).is_some_and(Option::is_some)
    }

    /// Adds the rows of the SASS view that a section is patched by, each with what the Mercury row
    /// in its place says. Returns `true` if one is an address in a copy with other code than that
    /// which is linked, whose instructions are not known; `None` if the views differ.
    fn paired<'t>(
        &self,
        patched: usize,
        kept: &[(&Reloc, u64)],
        mut twins: impl Iterator<Item = &'t PlanReloc>,
        rows: &mut Vec<PlanReloc>,
    ) -> Option<bool> {
        let module = self.module;
        let in_code = self.is_code(patched);
        let holder = self.plan.sections.get(patched);
        let keeps_places = holder.is_some_and(|holder| {
            holder.ty == sht::PROGBITS
                && is_joined(holder.name, holder.flags)
                && places_stay(holder.name)
        });
        // The address is looked up in the copy that is linked, by its place in Mercury code
        // [addresses-in-replaced-copies].
        let linked_instead = |row: &Reloc| {
            let symbol = row.target.symbol()?;
            let other = self.other_code(module.symbols[symbol].function?);
            // What `-r` left as it is in the Mercury view is made now.
            other.or_else(|| self.early.in_object(module, Some(symbol)))
        };
        let mut offsets: HashMap<FunctionId, Option<Offsets>, FixedState> = HashMap::default();
        let mut of_other_copy = false;
        for (row, base) in kept {
            let twin = twins.next()?;
            let RelocAction::Keep { ty, mut addend, .. } = row.plan else {
                return None;
            };
            let is_address = is_instruction_address(twin.ty);
            let is_alike = twin.addend == addend || is_address || twin.ty == LINE_TABLE;
            if is_address && !in_code && self.early.in_output(module, row.target.symbol()) {
                addend = 0;
            } else if twin.addend != 0
                && is_address
                && !in_code
                && !keeps_places
                && let Some(linked) = linked_instead(row)
            {
                let make = || module.mercury_offsets(linked);
                let offsets = offsets.entry(linked).or_insert_with(make).as_ref();
                match offsets {
                    Some(offsets) => {
                        addend = offsets.starts().address(twin.addend as u64) as i64;
                    }
                    None => of_other_copy = true,
                }
            }
            rows.push(PlanReloc {
                offset: row.offset.wrapping_add(*base),
                ty,
                symbol: twin.symbol,
                addend,
            });
            if !is_alike || !counterparts(twin.ty, in_code).contains(&row.ty) {
                return None;
            }
        }
        twins.next().is_none().then_some(of_other_copy)
    }

    /// Makes the rows of debug sections that are made anew, and those of line tables, each with its
    /// relocation section.
    fn rebuilt(&mut self) -> Result<Rebuilt<'m>, Refusal> {
        let (mut rebuilt, mut lines) = (Vec::new(), Vec::new());
        for name in REBUILT {
            let sections = &self.plan.sections[..self.view];
            let Some(index) = sections.iter().position(|section| section.name == name) else {
                continue;
            };
            let holder = sections
                .iter()
                .position(|section| section.ty == sht::RELA && section.info as usize == index);
            let (rows, of_lines) = match name == b".debug_frame" {
                true => (self.frames(index)?, Vec::new()),
                false => (Vec::new(), self.lines(index)?),
            };
            if let Some(holder) = holder {
                rebuilt.push((holder, rows));
                lines.push((holder, of_lines));
            }
        }
        Ok((rebuilt, lines))
    }

    /// Adds the rows of the instructions that yield in a section of code.
    fn add_yields(&self, code: usize, rows: &mut Vec<PlanReloc>) {
        let section = self.plan.sections.get(code);
        let Some(PlanContent::Pieces(range)) = section.map(|section| &section.content) else {
            return;
        };
        let pieces = self
            .plan
            .pieces
            .get(range.start as usize..range.end as usize);
        for piece in pieces.unwrap_or(&[]) {
            for place in yields::places(self.module.sections[piece.section].bytes()) {
                let row = |ty, addend| PlanReloc {
                    offset: piece.offset.saturating_add(place),
                    ty,
                    symbol: 0,
                    addend,
                };
                rows.push(row(YIELD_OPCODE, NO_OPERATION.into()));
                rows.push(row(YIELD_PREDICATE, 0));
            }
        }
    }

    /// Returns the symbols whose relocations are in the Mercury view only.
    fn reserved_symbols(&self) -> Vec<u32> {
        let is_reserved = |name: &[u8]| {
            known_symbols::is_reserved_shared_symbol(name)
                || !self.module.options.relocatable
                    && known_symbols::is_tensor_memory_variable(name)
        };
        let symbols = (0..).zip(&self.plan.symbols);
        let reserved = symbols.filter(|(_, row)| {
            let name = self.plan.symbol_names.get(row.name_offset as usize..);
            name.is_some_and(is_reserved)
        });
        reserved.map(|(index, _)| index).collect()
    }

    /// Returns the sections of the objects with rows of the SASS view, by the section of the view
    /// that holds their rows, with the offset of the contribution that they apply to; in the order
    /// of the output.
    fn rows_of_objects(&self, module: &Module<'_>) -> OfObjects {
        // The section of the view and the piece of it.
        let mut place = vec![NOWHERE; module.sections.len()];
        for (index, section) in (0..).zip(&self.plan.sections[..self.view]) {
            if let PlanContent::Pieces(range) = &section.content {
                for piece in range.clone() {
                    if let Some(row) = self.plan.pieces.get(piece as usize) {
                        place[row.section.index()] = (index, piece);
                    }
                }
            }
        }
        let mut of_target = vec![None; self.view];
        for (index, section) in self.plan.sections[..self.view].iter().enumerate() {
            if section.ty == sht::RELA
                && let Some(slot) = of_target.get_mut(section.info as usize)
            {
                *slot = Some(index);
            }
        }
        let resolved = self.resolved_sections();
        let (mut kept, mut applied) = (Grouped::default(), Grouped::default());
        for &(id, patched) in self.inputs.sass_rows.iter().rev() {
            let (target, piece) = place[patched.index()];
            let holder = of_target.get(target as usize).copied().flatten();
            if let (Some(holder), Some(piece)) = (holder, self.plan.pieces.get(piece as usize)) {
                kept.push(holder, (id, piece.offset));
            }
            let patched = self.plan.sections.get(target as usize);
            if let Some(&holder) = patched.and_then(|patched| resolved.get(patched.name)) {
                applied.push(holder, (id, target));
            }
        }
        kept.group(self.view);
        applied.group(self.view);
        OfObjects { kept, applied }
    }
}

/// Sections of the objects with rows of the SASS view, by the section of the view that holds their
/// rows.
struct OfObjects {
    /// Rows that are kept, with the offset of the contribution that they apply to.
    kept: Grouped<(SectionId, u64)>,
    /// Rows that are applied and shown, with the section of the view that they apply to.
    applied: Grouped<(SectionId, u32)>,
}

/// Of a section that is not in the view.
const NOWHERE: (u32, u32) = (u32::MAX, u32::MAX);
