//! What is made by threads: symbols, lists, relocation rows, the call graph.

use std::ops::Range;

use cuweld_ir::Arena;
use cuweld_ir::OutputLayout;
use cuweld_ir::plan::PlanReloc;
use cuweld_ir::plan::PlanSymbol;

use super::Finish;
use super::LISTS;
use super::Order;
use super::OutId;
use super::OutSection;
use super::Placed;
use super::ROWS;
use super::lists::is_list;
use super::rows;
use crate::threads::Threads;
use crate::threads::Work;

/// How many symbols, or sections, make a part.
const PART: usize = 1024;

/// A part of the work; parts do not depend on each other.
enum Part<'p> {
    CallGraph(Vec<u8>),
    /// The symbols at these places of the lists, with rows of `.symtab_shndx` where there is one.
    Symbols(Range<usize>, Vec<PlanSymbol>, Vec<u32>),
    /// Lists of these sections one after the other, and the end of each.
    Lists(&'p [Placed], Vec<u8>, Vec<usize>),
    /// Relocation rows of these sections.
    Rows(&'p [Placed], &'p mut [PlanReloc]),
}

/// What the parts make beside symbols, rows and pieces of the plan.
pub(super) struct Made<'data> {
    pub(super) call_graph: Vec<u8>,
    /// The lists.
    pub(super) lists: Vec<&'data [u8]>,
    /// The contents of `.symtab_shndx`.
    pub(super) index_table: Option<&'data [u8]>,
}

/// The sections of the file with the places of their contents.
pub(super) struct Places {
    pub(super) sections: Vec<Placed>,
    /// Which sections lists are among.
    with_lists: Range<usize>,
    /// Number of relocation rows, and which sections have some.
    rows: usize,
    with_rows: Range<usize>,
}

impl<'data> Finish<'_, 'data> {
    /// Gives contents their places, and the plan its pieces.
    pub(super) fn places(&self, order: &Order, plan: &mut OutputLayout<'data>) -> Places {
        let mut places = Places {
            // Those that are fixed come before them.
            sections: Vec::with_capacity(order.sections.len() + 5),
            with_lists: order.class(LISTS),
            rows: 0,
            with_rows: order.class(ROWS),
        };
        plan.pieces.reserve_exact(self.out.pieces.len());
        for (place, id) in order.sections.iter().enumerate() {
            let section = &self.out.sections[*id as OutId];
            let start = if is_list(section.content) {
                place - places.with_lists.start
            } else if let count @ 1.. = rows::count(section) {
                places.rows += count;
                places.rows - count
            } else {
                let start = plan.pieces.len();
                if self.pieces(*id as OutId) != 0 {
                    plan.pieces.extend(self.out.pieces_of(*id as OutId));
                }
                start
            };
            // After that nothing is found, which the writer refuses.
            let start = u32::try_from(start).unwrap_or(u32::MAX);
            places.sections.push(Placed { id: *id, start });
        }
        places
    }

    /// Makes symbols, lists, relocation rows and the call graph.
    pub(super) fn parts(
        &self,
        places: &Places,
        plan: &mut OutputLayout<'data>,
        arena: &'data Arena,
        threads: &Threads,
        work: Work,
    ) -> Made<'data> {
        let size = match threads.count(work) {
            1 => usize::MAX,
            _ => PART,
        };
        let none = PlanReloc {
            offset: 0,
            ty: 0,
            symbol: 0,
            addend: 0,
        };
        plan.relocs = vec![none; places.rows];
        let mut parts = vec![Part::CallGraph(Vec::new())];
        for start in (0..self.listed_symbols().max(1)).step_by(size) {
            let end = start.saturating_add(size).min(self.listed_symbols());
            parts.push(Part::Symbols(start..end, Vec::new(), Vec::new()));
        }
        let with_lists = &places.sections[places.with_lists.clone()];
        let lists = with_lists.chunks(PART);
        parts.extend(lists.map(|part| Part::Lists(part, Vec::new(), Vec::new())));
        let mut rows_left = plan.relocs.as_mut_slice();
        for sections in places.sections[places.with_rows.clone()].chunks(size) {
            let of_rows;
            let counts = self
                .sections(sections)
                .map(|(_, section)| rows::count(section));
            (of_rows, rows_left) = rows_left.split_at_mut(counts.sum());
            parts.push(Part::Rows(sections, of_rows));
        }
        threads.for_each(work, &mut parts, |part| self.make(part));
        let mut call_graph = Vec::new();
        let mut index_rows = Vec::new();
        let mut lists = Vec::with_capacity(with_lists.len());
        for part in parts {
            match part {
                Part::CallGraph(bytes) => call_graph = bytes,
                Part::Symbols(_, symbols, of_symbols) if plan.symbols.is_empty() => {
                    (plan.symbols, index_rows) = (symbols, of_symbols);
                    let more = (self.listed_symbols() + 1).saturating_sub(size);
                    plan.symbols.reserve_exact(more);
                }
                Part::Symbols(_, symbols, of_symbols) => {
                    plan.symbols.extend(symbols);
                    index_rows.extend(of_symbols);
                }
                Part::Lists(_, bytes, ends) => {
                    let of_part = arena.keep(bytes);
                    let mut start = 0;
                    for end in ends {
                        lists.push(&of_part[start..end]);
                        start = end;
                    }
                }
                Part::Rows(..) => {}
            }
        }
        Made {
            call_graph,
            lists,
            index_table: self.out.needs_index_table().then(|| {
                let rows = index_rows.into_iter().map(u32::to_le_bytes);
                arena.bytes(rows.collect::<Vec<_>>().as_flattened())
            }),
        }
    }

    /// Makes a part.
    fn make(&self, part: &mut Part<'_>) {
        match part {
            Part::CallGraph(bytes) => *bytes = self.call_graph(),
            Part::Symbols(range, symbols, index_rows) => {
                self.symbols(range.clone(), symbols, index_rows);
            }
            Part::Lists(places, bytes, ends) => {
                ends.reserve_exact(places.len());
                for (_, section) in self.sections(places) {
                    self.append_list(section.content, bytes);
                    ends.push(bytes.len());
                }
                bytes.shrink_to_fit();
            }
            Part::Rows(places, room) => {
                let mut room = std::mem::take(room);
                for (id, section) in self.sections(places) {
                    if let count @ 1.. = rows::count(section) {
                        let of_section;
                        (of_section, room) = room.split_at_mut(count);
                        self.put_rows(id, of_section);
                    }
                }
            }
        }
    }

    fn sections<'p>(
        &'p self,
        places: &'p [Placed],
    ) -> impl Iterator<Item = (OutId, &'p OutSection<'data>)> {
        let ids = places.iter().map(|place| place.id as OutId);
        ids.map(|id| (id, &self.out.sections[id]))
    }
}
