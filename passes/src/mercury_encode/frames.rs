//! `.debug_frame` of the SASS view (measured, `docs/MERCURY.md`).
//!
//! The Mercury view keeps the frames of all objects, also those of functions that are not linked. In the
//! SASS view only the frames of linked functions stand, each behind its CIE.

use cuweld_ir::Reloc;
use cuweld_ir::RelocPlan;
use cuweld_ir::SectionId;
use cuweld_ir::SymbolRef;
use cuweld_ir::mercury::frames::CIE_POINTER;
use cuweld_ir::mercury::frames::FUNCTION;
use cuweld_ir::mercury::frames::RANGE;
use cuweld_ir::mercury::frames::entries;
use cuweld_ir::plan::PlanContent;
use foldhash::fast::FixedState;
use hashbrown::HashSet;

use super::Encode;
use super::Refusal;

/// Rows of the SASS view with what is added to their offset.
pub(super) type Kept<'a> = Vec<(&'a Reloc, u64)>;

/// The place of its CIE that the entry at some place names.
fn named_cie(bytes: &[u8], entry: u64) -> Option<u64> {
    let at = usize::try_from(entry.checked_add(CIE_POINTER)?).ok()?;
    let field = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(field.try_into().ok()?))
}

impl<'m, 'data> Encode<'m, 'data> {
    /// Makes the contents of `.debug_frame`; returns the rows that are kept, the last of the input first.
    pub(super) fn frames(&mut self, index: usize) -> Result<Kept<'m>, Refusal> {
        let module = self.module;
        let mut bytes = Vec::new();
        let mut kept: Kept<'_> = Vec::new();
        for (id, rows) in self.debug_sections(b".debug_frame") {
            self.frames_of(id, rows, &mut bytes, &mut kept)?;
        }
        // A copy that was replaced keeps its frame, which nvlink makes anew.
        let mut seen: HashSet<SymbolRef, FixedState> = HashSet::default();
        for (row, _) in &kept {
            let link = row.target.symbol().and_then(|id| module.symbols[id].link);
            let of_first = link.map_or(row.target, |link| {
                SymbolRef::Symbol(module.link_symbols[link].first)
            });
            if !seen.insert(of_first) {
                return Err(Refusal::new(
                    "frames of a copy that is replaced",
                    row.section,
                ));
            }
        }
        let section = &mut self.plan.sections[index];
        section.size = bytes.len() as u64;
        section.content = PlanContent::Bytes(self.arena.bytes(&bytes));
        kept.reverse();
        Ok(kept)
    }

    /// Appends the frames of one object.
    fn frames_of(
        &self,
        id: SectionId,
        rows: &'m [Reloc],
        out: &mut Vec<u8>,
        kept: &mut Kept<'m>,
    ) -> Result<(), Refusal> {
        let refused = |what: &str| Err(Refusal::new(what, id));
        let section = &self.module.sections[id];
        let bytes = section.bytes();
        let starts = entries(bytes);
        if starts.is_empty() && !bytes.is_empty() {
            return refused("frames of another form");
        }
        // What the rows say of each entry: whether its function is linked, where its CIE is.
        let mut linked = vec![None; starts.len()];
        let mut cie = vec![None; starts.len()];
        for row in rows {
            let Some(entry) = starts
                .partition_point(|start| *start <= row.offset)
                .checked_sub(1)
            else {
                return refused("a relocation outside of frames");
            };
            match (row.offset - starts[entry], row.plan) {
                (CIE_POINTER, RelocPlan::Apply { value, .. }) => {
                    let place = value.wrapping_sub(section.place.unwrap_or(0));
                    cie[entry] = starts.binary_search(&place).ok();
                }
                (FUNCTION, plan) => linked[entry] = Some(matches!(plan, RelocPlan::Keep { .. })),
                (RANGE, _) => {}
                _ => return refused("a relocation of frames that is not known"),
            }
        }
        // What was linked before has no row for its CIE any more.
        for (entry, start) in starts.iter().enumerate() {
            if let (Some(_), None) = (linked[entry], cie[entry]) {
                cie[entry] =
                    named_cie(bytes, *start).and_then(|place| starts.binary_search(&place).ok());
            }
        }
        let mut stays: Vec<bool> = linked.iter().map(|linked| *linked == Some(true)).collect();
        for entry in 0..starts.len() {
            match (linked[entry], cie[entry]) {
                (Some(true), Some(cie)) => stays[cie] = true,
                (Some(false), Some(_)) | (None, None) => {}
                _ => return refused("a frame without function or CIE"),
            }
        }
        let mut place = vec![0; starts.len()];
        for (entry, start) in starts.iter().enumerate() {
            if !stays[entry] {
                continue;
            }
            let end = starts
                .get(entry + 1)
                .map_or(bytes.len(), |end| *end as usize);
            place[entry] = out.len() as u64;
            let at = out.len() + CIE_POINTER as usize;
            out.extend_from_slice(bytes.get(*start as usize..end).unwrap_or(&[]));
            if let Some(cie) = cie[entry] {
                let Some(field) = out.get_mut(at..at + 8) else {
                    return refused("frames of another form");
                };
                field.copy_from_slice(&place[cie].to_le_bytes());
            }
        }
        for row in rows {
            let entry = starts.partition_point(|start| *start <= row.offset) - 1;
            if matches!(row.plan, RelocPlan::Keep { .. }) {
                kept.push((row, place[entry].wrapping_sub(starts[entry])));
            }
        }
        Ok(())
    }
}
