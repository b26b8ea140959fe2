//! Frames of both views: the rules for the unwinder of a function are among those of Mercury, each
//! at an instruction of the function.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hashbrown::HashSet;
use zerocopy::FromBytes;

use super::Findings;
use super::Rule;
use super::View;
use super::ViewSection;
use super::file::has_mercury;
use super::view::rows;
use crate::mercury::capmerc::INSTRUCTION;
use crate::mercury::frames;
use crate::mercury::frames::Step;
use crate::raw::RawRela;
use crate::target::section_types::is_rela;

/// `DW_CFA_undefined`.
const UNDEFINED: u8 = 0x07;

/// `DW_CFA_same_value`.
const SAME_VALUE: u8 = 0x08;

/// `DW_CFA_register`.
const REGISTER: u8 = 0x09;

/// What the number of a uniform register ends with.
const UNIFORM: u8 = 0x60;

/// The entries of a section of frames.
struct Entries<'v> {
    bytes: &'v [u8],
    starts: Vec<u64>,
}

impl<'v> Entries<'v> {
    fn new(section: &ViewSection<'v>) -> Self {
        Entries {
            bytes: section.bytes,
            starts: frames::entries(section.bytes),
        }
    }

    fn entry(&self, index: usize) -> Option<&'v [u8]> {
        let start = *self.starts.get(index)? as usize;
        let next = self.starts.get(index + 1).map(|next| *next as usize);
        self.bytes.get(start..next.unwrap_or(self.bytes.len()))
    }

    /// Returns the CIE that the entry of this number names; `None` where it names none.
    fn cie(&self, number: usize, entry: &[u8]) -> Option<&'v [u8]> {
        let start = pointer(entry)?;
        // Mostly the entry before.
        let before = number
            .checked_sub(1)
            .filter(|before| self.starts[*before] == start);
        let number = before.or_else(|| self.starts.binary_search(&start).ok())?;
        self.entry(number).filter(|cie| is_cie(cie))
    }
}

/// Returns the field of an entry that names its CIE. That of the Mercury view counts in the object
/// that the entry came from.
fn pointer(entry: &[u8]) -> Option<u64> {
    let field = entry.get(frames::CIE_POINTER as usize..)?;
    Some(u64::read_from_prefix(field).ok()?.0)
}

fn is_cie(entry: &[u8]) -> bool {
    pointer(entry) == Some(u64::MAX)
}

/// Compares the frames of the views, where both have as many.
pub(super) fn check(view: &View<'_>, findings: &mut Findings) {
    let section = |name: &[u8]| {
        view.sections
            .iter()
            .position(|section| section.name == name)
    };
    let sections = section(b".debug_frame").zip(section(b".nv.merc.debug_frame"));
    let Some((index, twin)) = sections else {
        return;
    };
    let sass = &view.sections[index];
    let (own, other) = (Entries::new(sass), Entries::new(&view.sections[twin]));
    for (section, entries) in [(sass, &own), (&view.sections[twin], &other)] {
        if entries.starts.is_empty() && !section.bytes.is_empty() {
            let what = "its entries do not follow each other to its end";
            findings.report(Rule::DebugFrames, section.name, 0, what);
            return;
        }
    }
    let (own_relocs, other_relocs) = (relocs_of(view, index), relocs_of(view, twin));
    let (Some(own_functions), Some(other_functions)) =
        (functions(own_relocs, &own), functions(other_relocs, &other))
    else {
        let what = "a row is not that of a field of an entry";
        findings.report(Rule::FramePairs, sass.name, 0, what);
        return;
    };
    // Of links of objects for several targets the views have frames of other functions, and in
    // output of links the Mercury view has those of all copies; output of SASS alone has some of
    // Mercury by chance.
    if own_functions != other_functions {
        let (own, other) = ((&own, &own_functions[..]), (&other, &other_functions[..]));
        if has_mercury(view)
            && !view.is_executable()
            && let Some(number) = first_without_twin(view, own_relocs, own, other)
        {
            let what = "no entry of the Mercury view stands for it";
            findings.report(Rule::FramePairs, sass.name, own.0.starts[number], what);
        }
        return;
    }
    let sizes = sizes(view, own_relocs, &own_functions);
    for (number, size) in sizes.into_iter().enumerate() {
        let Some((first, second)) = own.entry(number).zip(other.entry(number)) else {
            continue;
        };
        let fits = match (is_cie(first), is_cie(second)) {
            (true, true) => is_same_cie(first, second),
            (false, false) => own.cie(number, first).is_some_and(|cie| {
                // Of several copies the first has the rules of all, the others have those of
                // Mercury [mercury-frames-of-replaced-copies].
                !frames::advances_by(cie, frames::SASS_UNIT)
                    || size.is_none_or(|size| is_same_frame(first, second, size))
            }),
            _ => false,
        };
        if !fits {
            let what = "the entry does not stand for that of the Mercury view";
            findings.report(Rule::FramePairs, sass.name, own.starts[number], what);
            return;
        }
    }
}

/// Returns the number of the first entry of the SASS view that has no like among all those of the
/// Mercury view: no CIE, or none of the frames of the function if it has some there. Entries come
/// with the functions that they name, and `relocs` are the rows of those of the SASS view.
fn first_without_twin(
    view: &View<'_>,
    relocs: Option<&ViewSection<'_>>,
    (own, own_functions): (&Entries<'_>, &[u32]),
    (other, other_functions): (&Entries<'_>, &[u32]),
) -> Option<usize> {
    let mut frames: HashMap<u32, Vec<&[u8]>, FixedState> = HashMap::default();
    let mut cies: HashSet<_, FixedState> = HashSet::default();
    for (number, function) in other_functions.iter().enumerate() {
        match other.entry(number) {
            Some(entry) if is_cie(entry) => drop(cies.insert(without_unit(entry))),
            Some(entry) => frames.entry(*function).or_default().push(entry),
            None => {}
        }
    }
    let sizes = sizes(view, relocs, own_functions);
    let has_twin = |number: usize| {
        let Some(entry) = own.entry(number) else {
            return true;
        };
        if is_cie(entry) {
            return cies.contains(&without_unit(entry));
        }
        let Some(cie) = own.cie(number, entry) else {
            return false;
        };
        let of_function = frames.get(&own_functions[number]);
        let advances_by_sass = frames::advances_by(cie, frames::SASS_UNIT);
        match (sizes[number].filter(|_| advances_by_sass), of_function) {
            (Some(size), Some(twins)) => twins.iter().any(|twin| is_same_frame(entry, twin, size)),
            _ => true,
        }
    };
    (0..own.starts.len()).find(|number| !has_twin(*number))
}

/// Returns the symbol of the function that each entry names by the rows in `relocs`, 0 for a CIE;
/// `None` if there is a row that is not of the CIE of an entry, of its function or of the function's
/// size.
fn functions(relocs: Option<&ViewSection<'_>>, entries: &Entries<'_>) -> Option<Vec<u32>> {
    let mut functions = vec![0; entries.starts.len()];
    let Some(relocs) = relocs else {
        return Some(functions);
    };
    let starts = &entries.starts;
    let mut entry = 0;
    for row in rows::<RawRela>(relocs.bytes) {
        let at = row.offset.get();
        entry = frames::entry_at(starts, |start| *start, at, entry)?;
        match at - starts[entry] {
            frames::FUNCTION if row.addend.get() == 0 => functions[entry] = row.symbol.get(),
            frames::CIE_POINTER | frames::RANGE => {}
            _ => return None,
        }
    }
    Some(functions)
}

/// Returns the section of the rows of the frames of a section.
pub(super) fn relocs_of<'v, 'data>(
    view: &'v View<'data>,
    frames: usize,
) -> Option<&'v ViewSection<'data>> {
    let mut sections = view.sections.iter();
    sections.find(|row| is_rela(row.ty()) && row.header.info.get() as usize == frames)
}

/// Returns the bytes of the functions of the entries of some frames with the rows in `relocs`, of
/// those that have one frame.
fn sizes(view: &View<'_>, relocs: Option<&ViewSection<'_>>, functions: &[u32]) -> Vec<Option<u64>> {
    let table = relocs.and_then(|relocs| view.section(relocs.header.link.get()));
    let symbols = table.map_or(&[][..], |table| view.symbols(table));
    let mut seen = vec![0_u8; symbols.len()];
    for function in functions {
        if let Some(seen) = seen.get_mut(*function as usize) {
            *seen = seen.saturating_add(1);
        }
    }
    let size = |function: &u32| {
        let function = *function as usize;
        let symbol = symbols
            .get(function)
            .filter(|_| seen[function] == 1 && function != 0);
        symbol.map(|symbol| symbol.size.get())
    };
    functions.iter().map(size).collect()
}

/// Returns the bytes of a CIE before and after the unit of advances.
fn without_unit(cie: &[u8]) -> (&[u8], &[u8]) {
    let unit = cie.len().min(frames::CIE_UNIT);
    (&cie[..unit], cie.get(unit + 1..).unwrap_or(&[]))
}

/// Returns `true` if CIEs are the same but for the unit of advances.
fn is_same_cie(first: &[u8], second: &[u8]) -> bool {
    without_unit(first) == without_unit(second)
}

/// Returns `true` if the second of two frames has the rules of the first, and those of the first are
/// at instructions of code of `size` bytes. Rules of places at which no instruction begins, or that
/// get another rule later, are in the Mercury view alone.
fn is_same_frame(first: &[u8], second: &[u8], size: u64) -> bool {
    let head = frames::FUNCTION as usize..frames::RANGE as usize;
    let range = first
        .get(frames::RANGE as usize..)
        .and_then(|rest| rest.first_chunk());
    if first.get(head.clone()) != second.get(head)
        || range.is_none_or(|range| u64::from_le_bytes(*range) != size)
    {
        return false;
    }
    let steps = |frame| {
        let instructions = <[u8]>::get(frame, frames::INSTRUCTIONS as usize..);
        frames::steps(instructions.unwrap_or(&[]))
    };
    let mut twins = steps(second);
    let mut at = 0;
    steps(first).all(|step| match step {
        Some(Step::Advance(units)) => {
            at += u64::from(units) * u64::from(frames::SASS_UNIT);
            at.is_multiple_of(INSTRUCTION) && at <= size
        }
        Some(Step::Rule([0])) => true,
        // Compilers since CUDA 13.4 say where a register has no value any more, its old one, or that
        // of a uniform register, in SASS alone.
        Some(Step::Rule([UNDEFINED | SAME_VALUE, ..] | [REGISTER, .., UNIFORM])) => true,
        // Mercury may go back to a place and give it another rule.
        Some(rule) => {
            let is_after = twins.any(|twin| twin == Some(rule));
            if !is_after {
                twins = steps(second);
            }
            is_after || steps(second).any(|twin| twin == Some(rule))
        }
        None => false,
    })
}
