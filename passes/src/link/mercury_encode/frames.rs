//! `.debug_frame` of the SASS view [frames-of-linked-functions].
//!
//! The Mercury view keeps the frames of all objects, also those of functions that are not linked.
//! In the SASS view only the frames of linked functions stand, each after its CIE.

use cuweld_diagnostics::codes::mercury;
use cuweld_elf::mercury::frames::CIE_POINTER;
use cuweld_elf::mercury::frames::FUNCTION;
use cuweld_elf::mercury::frames::MERCURY_UNIT;
use cuweld_elf::mercury::frames::RANGE;
use cuweld_elf::mercury::frames::advance_by_sass;
use cuweld_elf::mercury::frames::advances_by;
use cuweld_elf::mercury::frames::entries;
use cuweld_elf::mercury::frames::entry_at;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::Reloc;
use cuweld_ir::RelocAction;
use cuweld_ir::SectionId;
use cuweld_ir::SymbolRef;
use cuweld_ir::plan::PlanContent;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashSet;

use super::Encode;
use super::Refusal;
use super::replaced_frames::Form;
use super::replaced_frames::MercuryFrames;
use super::replaced_frames::ReplacedFrames;
use super::replaced_frames::append_first;
use crate::threads::Work;

/// An entry of `.debug_frame` of an object.
#[derive(Clone, Copy)]
struct Entry<'r> {
    start: u64,
    /// Whether its function is linked, if it has one.
    linked: Option<bool>,
    /// The entry that is its CIE.
    cie: Option<usize>,
    stays: bool,
    form: Form<'r>,
    /// Its place in the output, if it stays.
    place: u64,
}

/// Returns the index of the entry that begins at the offset `start`.
fn entry_from(entries: &[Entry<'_>], start: u64, last: usize) -> Option<usize> {
    let found = entry_at(entries, |entry| entry.start, start, last)?;
    (entries[found].start == start).then_some(found)
}

/// The frames of a function so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    None,
    /// That of the linked copy.
    Own,
    /// Several, or that of another copy.
    Other,
}

/// Rows of the SASS view with what is added to their offset.
pub(super) type Kept<'a> = Vec<(&'a Reloc, u64)>;

/// Returns the offset of the CIE that the entry at the offset `entry` names.
fn named_cie(bytes: &[u8], entry: u64) -> Option<u64> {
    let at = usize::try_from(entry.checked_add(CIE_POINTER)?).ok()?;
    let field = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(field.try_into().ok()?))
}

/// The frames of some objects that stay.
#[derive(Default)]
struct Frames<'m> {
    bytes: Vec<u8>,
    /// Where the fields are that name CIEs, whose places count from these bytes.
    fields: Vec<usize>,
    /// The rows that are kept, in the order of the input, with what is added to their offset;
    /// whether their entry stays.
    kept: Vec<(&'m Reloc, u64, bool)>,
    /// The rows of functions whose frames are those of the Mercury view, as `-r` leaves them.
    unmade: Vec<&'m Reloc>,
}

impl<'m> Frames<'m> {
    /// Writes the frames to their place, after this number of bytes of earlier objects.
    fn write(&self, place: &mut [u8], before: u64) {
        place.copy_from_slice(&self.bytes);
        for field in &self.fields {
            let field = place
                .get_mut(*field..)
                .and_then(|rest| rest.first_chunk_mut::<8>());
            if let Some(cie) = field {
                *cie = u64::from_le_bytes(*cie).wrapping_add(before).to_le_bytes();
            }
        }
    }

    /// Returns the rows that are kept, the last of the input first, after this number of bytes of
    /// earlier objects.
    fn rows_behind(self, before: u64) -> impl Iterator<Item = (&'m Reloc, u64)> {
        self.kept.into_iter().rev().map(move |(row, added, stays)| {
            let before = if stays { before } else { 0 };
            (row, added.wrapping_add(before))
        })
    }
}

impl<'m, 'data> Encode<'m, 'data> {
    /// Makes the frames of objects, those of a part of them by each thread.
    fn frames_of_all(
        &self,
        objects: &[(SectionId, &'m [Reloc])],
        replaced: &ReplacedFrames<'_>,
    ) -> Result<Vec<Frames<'m>>, Refusal> {
        let module = self.module;
        let work = Work::Objects(objects.len());
        let made = self.threads.map_chunks(work, objects, |objects| {
            let (mut made, mut entries) = (Frames::default(), Vec::new());
            for (id, rows) in objects {
                frames_of(module, *id, rows, replaced, &mut entries, &mut made)?;
            }
            Ok(made)
        });
        made.into_iter().collect()
    }

    /// Returns the functions with several frames, with that of a copy that is not linked, or with
    /// that of the Mercury view, each with a section of rows that name it.
    fn functions_with_other_frames(
        &self,
        made: &[Frames<'m>],
    ) -> Result<Vec<(LinkSymbolId, SectionId)>, Refusal> {
        let module = self.module;
        let mut seen = vec![Seen::None; module.link_symbols.len()];
        let mut seen_local: HashSet<SymbolRef, FixedState> = HashSet::default();
        let mut found = Vec::new();
        for row in made.iter().flat_map(|frames| &frames.unmade) {
            let symbol = row.target.symbol().map(|id| &module.symbols[id]);
            let Some(link) = symbol.and_then(|symbol| symbol.link) else {
                return Err(Refusal::new(mercury::REPLACED_FRAMES, row.section));
            };
            if seen[link.index()] == Seen::None {
                found.push((link, row.section));
                seen[link.index()] = Seen::Other;
            }
        }
        for (row, ..) in made.iter().flat_map(|frames| &frames.kept) {
            let refused = || Err(Refusal::new(mercury::REPLACED_FRAMES, row.section));
            let symbol = row.target.symbol().map(|id| &module.symbols[id]);
            let Some((symbol, link)) =
                symbol.and_then(|symbol| symbol.link.map(|link| (symbol, link)))
            else {
                if !seen_local.insert(row.target) {
                    return refused();
                }
                continue;
            };
            let is_other = symbol.function != module.link_function(link);
            let frames = &mut seen[link.index()];
            let is_first = *frames == Seen::None;
            if *frames != Seen::Other && (is_other || !is_first) {
                // Local functions of one name share attributes, by which nvlink makes code anew.
                if symbol.is_local() {
                    return refused();
                }
                found.push((link, row.section));
                *frames = Seen::Other;
            } else if is_first {
                *frames = Seen::Own;
            }
        }
        Ok(found)
    }

    /// Makes the contents of `.debug_frame`; returns the rows that are kept, the last of the input
    /// first.
    pub(super) fn frames(&mut self, index: usize) -> Result<Kept<'m>, Refusal> {
        let module = self.module;
        let objects = self.inputs.debug_sections(module, b".debug_frame");
        let mut replaced = ReplacedFrames::new(&self.early);
        let mut made = self.frames_of_all(&objects, &replaced)?;
        let with_others = self.functions_with_other_frames(&made)?;
        if !with_others.is_empty() {
            replaced.add(module, &objects, &with_others)?;
            made = self.frames_of_all(&objects, &replaced)?;
        }
        let size = made.iter().map(|frames| frames.bytes.len()).sum();
        let bytes = self.arena.zeroed(size);
        let mut rest = &mut *bytes;
        for frames in &made {
            let before = (size - rest.len()) as u64;
            let (own, behind) = rest.split_at_mut(frames.bytes.len());
            frames.write(own, before);
            rest = behind;
        }
        let section = &mut self.plan.sections[index];
        section.size = size as u64;
        section.content = PlanContent::Bytes(bytes);
        let mut kept = Vec::with_capacity(made.iter().map(|frames| frames.kept.len()).sum());
        let mut before = size as u64;
        for frames in made.into_iter().rev() {
            before -= frames.bytes.len() as u64;
            kept.extend(frames.rows_behind(before));
        }
        Ok(kept)
    }
}

/// Appends the frames of one object. `known` holds its entries meanwhile.
fn frames_of<'m, 'r>(
    module: &Module<'_>,
    id: SectionId,
    rows: &'m [Reloc],
    replaced: &'r ReplacedFrames,
    known: &mut Vec<Entry<'r>>,
    made: &mut Frames<'m>,
) -> Result<(), Refusal> {
    let out = &mut made.bytes;
    let refused = |what: &str| Err(Refusal::with(mercury::FRAMES, what, id));
    let section = &module.sections[id];
    let bytes = section.bytes();
    known.clear();
    known.extend(entries(bytes).into_iter().map(|start| Entry {
        start,
        linked: None,
        cie: None,
        stays: false,
        form: Form::Own,
        place: 0,
    }));
    let entries = known.as_mut_slice();
    if entries.is_empty() && !bytes.is_empty() {
        return refused("frames of another form");
    }
    // What the rows say of each entry: whether its function is linked, where its CIE is.
    let mut last = 0;
    for row in rows {
        let Some(entry) = entry_at(entries, |entry| entry.start, row.offset, last) else {
            return refused("a relocation outside of frames");
        };
        last = entry;
        match (row.offset - entries[entry].start, row.plan) {
            (CIE_POINTER, RelocAction::Apply { value, .. }) => {
                let place = value.wrapping_sub(section.place.unwrap_or(0));
                entries[entry].cie = entry_from(entries, place, entry);
            }
            (FUNCTION, plan) => {
                let is_linked = matches!(plan, RelocAction::Keep { .. });
                entries[entry].linked = Some(is_linked);
                if is_linked {
                    entries[entry].form = replaced.form(module, row);
                }
            }
            (RANGE, _) => {}
            _ => return refused("a relocation of frames that is not known"),
        }
    }
    let mut has_mercury = false;
    // What was linked before has no row for its CIE any more.
    for index in 0..entries.len() {
        let entry = entries[index];
        if let (Some(_), None) = (entry.linked, entry.cie) {
            let named = named_cie(bytes, entry.start);
            entries[index].cie = named.and_then(|place| entry_from(entries, place, index));
        }
        entries[index].stays |= entry.linked == Some(true);
        match (entry.linked, entries[index].cie) {
            (Some(true), Some(cie)) => {
                let is_shared = entries[cie].stays;
                entries[cie].stays = true;
                if matches!(entry.form, Form::Mercury) {
                    entries[cie].form = Form::Mercury;
                    has_mercury = true;
                }
                if is_shared && matches!(entries[cie].form, Form::Mercury) {
                    return refused("a CIE of several frames, one of a copy that is replaced");
                }
            }
            (Some(false), Some(_)) | (None, None) => {}
            _ => return refused("a frame without function or CIE"),
        }
    }
    let view = match has_mercury {
        true => {
            let starts: Vec<u64> = entries.iter().map(|entry| entry.start).collect();
            MercuryFrames::beside(module, id, &starts, rows)
        }
        false => None,
    };
    for index in 0..entries.len() {
        let entry = entries[index];
        if !entry.stays {
            continue;
        }
        let end = entries.get(index + 1).map(|next| next.start as usize);
        let end = end.unwrap_or(bytes.len());
        entries[index].place = out.len() as u64;
        let at = out.len() + CIE_POINTER as usize;
        match (entry.form, &view) {
            (Form::Own, _) => {
                let own = bytes.get(entry.start as usize..end).unwrap_or(&[]);
                out.extend_from_slice(own);
                if entry.linked.is_none() {
                    advance_by_sass(out, own.len());
                }
            }
            (Form::First { range, rules }, _) => {
                let own = bytes.get(entry.start as usize..end).unwrap_or(&[]);
                if append_first(own, range, rules, out).is_none() {
                    return refused("frames of another form");
                }
            }
            (Form::Mercury, view) => {
                let is_cie = entry.linked.is_none();
                let appended = view
                    .as_ref()
                    .and_then(|view| view.append(index, is_cie, out));
                if appended.is_none() {
                    return refused("frames of a replaced copy without a Mercury view");
                }
            }
        }
        if let Some(cie) = entry.cie {
            let Some(field) = out.get_mut(at..at + 8) else {
                return refused("frames of another form");
            };
            field.copy_from_slice(&entries[cie].place.to_le_bytes());
            // Of a CIE that does not stay, or after its frame, no place is known.
            if cie <= index && entries[cie].stays {
                made.fields.push(at);
            }
        }
    }
    for row in rows {
        if matches!(row.plan, RelocAction::Keep { .. }) {
            let Some(entry) = entry_at(entries, |entry| entry.start, row.offset, last) else {
                continue;
            };
            last = entry;
            let entry = entries[entry];
            let added = entry.place.wrapping_sub(entry.start);
            made.kept.push((row, added, entry.stays));
            let cie = entry.cie.and_then(|cie| entries.get(cie));
            let cie = cie.and_then(|cie| bytes.get(cie.start as usize..));
            if row.offset - entry.start == FUNCTION
                && entry.form == Form::Own
                && cie.is_some_and(|cie| advances_by(cie, MERCURY_UNIT))
            {
                made.unmade.push(row);
            }
        }
    }
    Ok(())
}
