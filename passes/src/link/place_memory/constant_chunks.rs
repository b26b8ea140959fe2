//! What of a function's section of constants its symbols cover [unnamed-constants-dropped].
//!
//! nvlink takes constants symbol by symbol into a list of chunks; bytes that no symbol covers are
//! left out at the end and are 0 in between. Relocatable links leave symbols of replaced copies
//! after, whose ranges belong to constants that are no longer there: such ranges can overlap the
//! others, which nvlink allows in some cases only.

use cuweld_diagnostics::Code;
use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::input;
use cuweld_diagnostics::codes::unsupported;
use cuweld_ir::Module;
use cuweld_ir::SectionId;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolPlace;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::located::located;

/// Ranges of constants of a section: start and end in bytes, sorted, without overlaps.
#[derive(Default)]
struct Chunks(Vec<(u64, u64)>);

/// Why a range does not fit to those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Misfit {
    SpansTooMuch,
    SizeMismatch,
}

impl Chunks {
    fn add(&mut self, start: u64, end: u64) -> Result<(), Misfit> {
        if start >= end {
            return Ok(());
        }
        let after = self.0.partition_point(|(_, known)| *known <= start);
        let Some(&(first, first_end)) = self.0.get(after) else {
            self.0.push((start, end));
            return Ok(());
        };
        if start < first {
            if end <= first {
                self.0.insert(after, (start, end));
            } else if end == first_end {
                self.0[after] = (start, end);
            } else {
                return Err(Misfit::SizeMismatch);
            }
        } else if end > first_end {
            // It may reach up to the next one, or replace it as well.
            match self.0.get(after + 1) {
                _ if start > first => return Err(Misfit::SpansTooMuch),
                Some((_, next_end)) if *next_end == end => {
                    self.0.remove(after + 1);
                }
                Some((next, _)) if *next < end => return Err(Misfit::SpansTooMuch),
                _ => {}
            }
            self.0[after] = (start, end);
        }
        Ok(())
    }
}

/// What symbols cover of a section of constants.
#[derive(Default)]
struct OfSection {
    /// The end of what is covered, in bytes.
    end: u64,
    chunks: Chunks,
}

/// The bytes of sections of constants that symbols cover.
pub(super) struct Covered {
    /// Only sections in which a symbol stands.
    sections: HashMap<SectionId, OfSection, FixedState>,
    misfits: Vec<(SectionId, Diagnostic)>,
}

impl Covered {
    /// Collects the bytes of `sections` that symbols cover; parameters have no symbols.
    pub(super) fn new(module: &Module<'_>, sections: &[SectionId]) -> Self {
        let mut covered = Covered {
            sections: HashMap::default(),
            misfits: Vec::new(),
        };
        let mut kinds = sections.iter().map(|id| module.sections[*id].kind);
        if kinds.all(|kind| kind == SectionKind::FunctionConstants(0)) {
            return covered;
        }
        let mut ids = Vec::new();
        for symbol in module.symbols.values() {
            let SymbolPlace::Section(id) = symbol.place else {
                continue;
            };
            let section = &module.sections[id];
            if !matches!(section.kind, SectionKind::FunctionConstants(1..)) {
                continue;
            }
            let end = symbol.value.saturating_add(symbol.size);
            let of_section = covered.sections.entry(id).or_insert_with(|| {
                ids.push(id);
                OfSection::default()
            });
            of_section.end = of_section.end.max(end);
            let message = match of_section.chunks.add(symbol.value, end) {
                Ok(()) => continue,
                Err(Misfit::SpansTooMuch) => "overlapping data spans too much".to_owned(),
                Err(Misfit::SizeMismatch) => {
                    let name = String::from_utf8_lossy(section.name);
                    format!("{name} section size mismatch")
                }
            };
            covered.misfit(
                module,
                id,
                input::CONSTANT_CHUNKS,
                &format!("Internal error: {message}"),
            );
        }
        ids.sort_unstable();
        for id in ids {
            let (section, of_section) = (&module.sections[id], &covered.sections[&id]);
            let Chunks(chunks) = &of_section.chunks;
            let mut what = None;
            if chunks.last().is_some_and(|(_, end)| *end > section.size()) {
                what = Some(unsupported::CONSTANT_SYMBOL_RANGE);
            }
            let mut before = 0;
            for (start, end) in chunks {
                let gap = before as usize..*start as usize;
                let gap = section.bytes().get(gap).unwrap_or(&[]);
                if gap.iter().any(|byte| *byte != 0) {
                    what = what.or(Some(unsupported::CONSTANT_GAP));
                    break;
                }
                before = *end;
            }
            // Only the first misfit of a link is said.
            if let Some(what) = what {
                covered.misfit(module, id, what, what.title());
            }
        }
        covered
    }

    fn misfit(&mut self, module: &Module<'_>, id: SectionId, code: Code, message: &str) {
        let row = Diagnostic::fatal(code, message)
            .note(located(module, id))
            .at(module.sections[id].object.index_u32(), id.index_u32());
        self.misfits.push((id, row));
    }

    /// Returns the size in bytes of what a section adds to the output; none if no symbol stands in
    /// it.
    pub(super) fn size(&self, module: &Module<'_>, id: SectionId) -> Option<u64> {
        let of_section = self.sections.get(&id)?;
        Some(of_section.end.min(module.sections[id].size()))
    }

    /// Returns the first thing that is wrong with sections that the link takes.
    pub(super) fn misfit_of(self, taken: impl Fn(SectionId) -> bool) -> Option<Diagnostic> {
        let mut misfits = self.misfits.into_iter();
        misfits
            .find(|(id, _)| taken(*id))
            .map(|(_, diagnostic)| diagnostic)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(ranges: &[(u64, u64)]) -> Result<Vec<(u64, u64)>, Misfit> {
        let mut chunks = Chunks::default();
        for (start, size) in ranges {
            chunks.add(*start, start + size)?;
        }
        Ok(chunks.0)
    }

    #[test]
    fn ranges_overlap_as_nvlink_allows() {
        let spans = Err(Misfit::SpansTooMuch);
        let mismatch = Err(Misfit::SizeMismatch);
        let cases: [(&[(u64, u64)], _); 16] = [
            (&[(0, 20), (24, 8)], Ok(vec![(0, 20), (24, 32)])),
            (&[(24, 8), (0, 20)], Ok(vec![(0, 20), (24, 32)])),
            (&[(0, 20), (16, 8)], spans.clone()),
            (&[(0, 20), (12, 8)], Ok(vec![(0, 20)])),
            (&[(0, 20), (0, 32)], Ok(vec![(0, 32)])),
            (&[(24, 8), (0, 32)], Ok(vec![(0, 32)])),
            (&[(24, 8), (0, 28)], mismatch.clone()),
            (&[(8, 8), (0, 32)], mismatch.clone()),
            (&[(8, 8), (0, 16)], Ok(vec![(0, 16)])),
            (&[(0, 20), (24, 8), (0, 36)], spans.clone()),
            (&[(0, 20), (24, 8), (0, 32)], Ok(vec![(0, 32)])),
            (&[(0, 20), (24, 8), (0, 24)], Ok(vec![(0, 24), (24, 32)])),
            (&[(0, 8), (16, 4), (0, 18)], spans.clone()),
            (&[(0, 8), (12, 8), (12, 24)], Ok(vec![(0, 8), (12, 36)])),
            (&[(8, 8), (20, 8), (0, 20)], mismatch),
            (&[(0, 8), (8, 8), (4, 8)], spans),
        ];
        for (ranges, expected) in cases {
            assert_eq!(added(ranges), expected, "{ranges:?}");
        }
    }
}
