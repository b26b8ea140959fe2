//! Frames of functions of which a later copy replaced an earlier one
//! [mercury-frames-of-replaced-copies].
//!
//! The object of each copy has a frame, and the Mercury view keeps all of them for the linked code.
//! In the SASS view the first frame has the rules of all: a rule holds from the Mercury instruction
//! that begins at its offset in the linked code, and is left out if none begins there; of the rules
//! at one offset those of the last frame stay. The other frames have the CIE and the head of the
//! Mercury view, and no rules.

use cuweld_diagnostics::codes::mercury;
use cuweld_elf::mercury::frames::CIE_POINTER;
use cuweld_elf::mercury::frames::FUNCTION;
use cuweld_elf::mercury::frames::INSTRUCTIONS;
use cuweld_elf::mercury::frames::MERCURY_UNIT;
use cuweld_elf::mercury::frames::RANGE;
use cuweld_elf::mercury::frames::Rules;
use cuweld_elf::mercury::frames::advances_by;
use cuweld_elf::mercury::frames::entries;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::Reloc;
use cuweld_ir::RelocAction;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolRef;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::Refusal;
use crate::analyses::EarlyAliases;

/// The instructions of a frame of the Mercury view in the SASS view, which do nothing.
const NO_RULES: [u8; 4] = [0; 4];

/// What an entry of the SASS view is made from.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Form<'r> {
    /// The entry of its object.
    #[default]
    Own,
    /// The head of the entry of its object, with this range and these instructions.
    First { range: u64, rules: &'r [u8] },
    /// The entry of the Mercury view.
    Mercury,
}

/// The functions whose frames are not those of their object, by name.
pub(super) struct ReplacedFrames<'e> {
    functions: HashMap<LinkSymbolId, Function, FixedState>,
    /// Those that come after an alias have the frames of the Mercury view.
    early: &'e EarlyAliases,
}

/// A function with frames of several copies, or with that of a copy that is not linked.
struct Function {
    /// The section and the offset of the row of its first frame.
    first: (SectionId, u64),
    /// Bytes of its SASS.
    range: u64,
    /// The instructions of the first frame.
    rules: Vec<u8>,
}

/// The frames of a function while they are collected.
struct Collected<'m> {
    first: (SectionId, u64),
    rules: Rules<'m>,
    /// Those of the object whose copy is linked: its first frame of the SASS view, and the rules of
    /// its Mercury view.
    own: Option<(&'m [u8], Rules<'m>)>,
}

impl<'e> ReplacedFrames<'e> {
    /// Begins with those that come after an alias.
    pub(super) fn new(early: &'e EarlyAliases) -> Self {
        ReplacedFrames {
            functions: HashMap::default(),
            early,
        }
    }

    /// Makes the frames of some functions anew, each with the section of a row of its frames.
    ///
    /// # Errors
    ///
    /// Fails if the place of a rule in the linked code is not known for certain.
    pub(super) fn add(
        &mut self,
        module: &Module<'_>,
        objects: &[(SectionId, &[Reloc])],
        wanted: &[(LinkSymbolId, SectionId)],
    ) -> Result<(), Refusal> {
        let mut found: HashMap<LinkSymbolId, Option<Collected<'_>>, FixedState> =
            wanted.iter().map(|(link, _)| (*link, None)).collect();
        for (id, rows) in objects {
            let is_wanted =
                |row: &&Reloc| link_of(module, row).is_some_and(|link| found.contains_key(&link));
            let all = rows;
            let mut rows: Vec<&Reloc> = rows.iter().filter(is_wanted).collect();
            if rows.is_empty() {
                continue;
            }
            rows.sort_by_key(|row| row.offset);
            let sass = EntriesOf::new(module.sections[*id].bytes());
            let merc = MercuryFrames::beside(module, *id, &sass.starts, all);
            for row in rows {
                let refused = || Refusal::new(mercury::REPLACED_FRAMES, row.section);
                let Some(link) = link_of(module, row) else {
                    continue;
                };
                let start = row.offset.checked_sub(FUNCTION).ok_or_else(refused)?;
                let index = sass.starts.binary_search(&start).map_err(|_| refused())?;
                let merc = merc.as_ref().and_then(|merc| merc.instructions(index));
                let (merc, sass) = merc.zip(sass.instructions(index)).ok_or_else(refused)?;
                let collected = found.get_mut(&link).ok_or_else(refused)?;
                let collected = collected.get_or_insert_with(|| Collected {
                    first: (row.section, row.offset),
                    rules: Rules::default(),
                    own: None,
                });
                collected.rules.add(merc).ok_or_else(refused)?;
                let definition = module.link_symbols[link].definition;
                let linked = definition.map(|symbol| module.symbols[symbol].object);
                if linked == Some(module.sections[*id].object) {
                    let own = collected
                        .own
                        .get_or_insert_with(|| (sass, Rules::default()));
                    own.1.add(merc).ok_or_else(refused)?;
                }
            }
        }
        for (link, section) in wanted {
            let refused = || Refusal::new(mercury::REPLACED_FRAMES, *section);
            let collected = found.remove(link).flatten().ok_or_else(refused)?;
            let function = module.link_function(*link).ok_or_else(refused)?;
            let offsets = module.mercury_offsets(function).ok_or_else(refused)?;
            // The compiler made the frame of the linked copy by the same rule; that after an early
            // alias was not made.
            let (own, rules) = collected.own.ok_or_else(refused)?;
            let made = rules.in_sass(&offsets).ok_or_else(refused)?;
            if made != own && own != NO_RULES {
                return Err(refused());
            }
            let text = module.functions[function].views.sass.text;
            let function = Function {
                first: collected.first,
                range: module.sections[text].size(),
                rules: collected.rules.in_sass(&offsets).ok_or_else(refused)?,
            };
            self.functions.insert(*link, function);
        }
        Ok(())
    }

    /// Returns what the entry of a function that this row names is made from.
    pub(super) fn form(&self, module: &Module<'_>, row: &Reloc) -> Form<'_> {
        if self.functions.is_empty() && self.early.is_empty() {
            return Form::Own;
        }
        if self.early.in_output(module, row.target.symbol()) {
            return Form::Mercury;
        }
        let link = link_of(module, row);
        match link.and_then(|link| self.functions.get(&link)) {
            Some(function) if function.first == (row.section, row.offset) => Form::First {
                range: function.range,
                rules: &function.rules,
            },
            Some(_) => Form::Mercury,
            None => Form::Own,
        }
    }
}

/// Returns the name that a row that is kept refers to.
fn link_of(module: &Module<'_>, row: &Reloc) -> Option<LinkSymbolId> {
    let symbol = row.target.symbol()?;
    let is_kept = matches!(row.plan, RelocAction::Keep { .. });
    module.symbols[symbol].link.filter(|_| is_kept)
}

/// Appends the head of an entry and its instructions.
fn append(head: &[u8], instructions: &[u8], out: &mut Vec<u8>) {
    let length = (head.len() + instructions.len()) as u64;
    out.extend_from_slice(&[0xff; 4]);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(head);
    out.extend_from_slice(instructions);
}

/// Appends an entry of the SASS view with other instructions, for a function of `range` bytes.
pub(super) fn append_first(
    entry: &[u8],
    range: u64,
    rules: &[u8],
    out: &mut Vec<u8>,
) -> Option<()> {
    let head = entry.get(CIE_POINTER as usize..RANGE as usize)?;
    let head = [head, &range.to_le_bytes()].concat();
    append(&head, rules, out);
    Some(())
}

/// The entries of frames.
struct EntriesOf<'m> {
    bytes: &'m [u8],
    starts: Vec<u64>,
}

impl<'m> EntriesOf<'m> {
    fn new(bytes: &'m [u8]) -> Self {
        let starts = entries(bytes);
        EntriesOf { bytes, starts }
    }

    fn entry(&self, index: usize) -> Option<&'m [u8]> {
        let start = usize::try_from(*self.starts.get(index)?).ok()?;
        let end = self.starts.get(index + 1).map(|end| *end as usize);
        self.bytes.get(start..end.unwrap_or(self.bytes.len()))
    }

    fn instructions(&self, index: usize) -> Option<&'m [u8]> {
        self.entry(index)?.get(INSTRUCTIONS as usize..)
    }
}

/// The frames of an object in the Mercury view.
pub(super) struct MercuryFrames<'m> {
    entries: EntriesOf<'m>,
    /// The entry for each of the SASS view, which lacks those of copies that `-r` left out.
    pairs: Option<Vec<Option<usize>>>,
}

impl<'m> MercuryFrames<'m> {
    /// Returns those beside the frames `sass` of the SASS view, whose entries begin at `starts` and
    /// have these rows; `None` if there are none.
    pub(super) fn beside(
        module: &'m Module<'_>,
        sass: SectionId,
        starts: &[u64],
        rows: &[Reloc],
    ) -> Option<Self> {
        let object = &module.objects[module.sections[sass].object];
        let mut sections = object.sections.iter();
        let id = sections.find(|id| module.sections[*id].name == b".nv.merc.debug_frame")?;
        let entries = EntriesOf::new(module.sections[id].bytes());
        let pairs = match entries.starts.len() == starts.len() {
            true => None,
            false => Some(pairs(starts, rows, &entries, rows_for(module, id)?)),
        };
        Some(MercuryFrames { entries, pairs })
    }

    /// Returns the index of the entry for one of the SASS view.
    fn twin(&self, index: usize) -> Option<usize> {
        match &self.pairs {
            Some(pairs) => pairs.get(index).copied().flatten(),
            None => Some(index),
        }
    }

    /// Returns the instructions of the entry for one of the SASS view.
    fn instructions(&self, index: usize) -> Option<&'m [u8]> {
        self.entries.instructions(self.twin(index)?)
    }

    /// Appends the entry for that of this index: a CIE whole, of a frame the head.
    pub(super) fn append(&self, index: usize, is_cie: bool, out: &mut Vec<u8>) -> Option<()> {
        let entry = self.entries.entry(self.twin(index)?)?;
        if is_cie {
            out.extend_from_slice(Some(entry).filter(|cie| advances_by(cie, MERCURY_UNIT))?);
            return Some(());
        }
        let head = entry.get(CIE_POINTER as usize..INSTRUCTIONS as usize)?;
        append(head, &NO_RULES, out);
        Some(())
    }
}

/// Returns the relocations for a section.
fn rows_for<'m>(module: &'m Module<'_>, patched: SectionId) -> Option<&'m [Reloc]> {
    let object = &module.objects[module.sections[patched].object];
    let mut sections = object.sections.iter().map(|id| &module.sections[id]);
    let rows = sections.find(|section| {
        section.kind == SectionKind::Relocs
            && matches!(section.info, SectionInfo::Section(id) if id == patched)
    })?;
    Some(&module.relocs[rows.relocs])
}

/// Finds the entry of the Mercury view for each of the SASS view by its function: frames of one
/// function are in the same order in both, each after its CIE.
fn pairs(
    starts: &[u64],
    rows: &[Reloc],
    entries: &EntriesOf<'_>,
    mercury: &[Reloc],
) -> Vec<Option<usize>> {
    let frame = |starts: &[u64], row: &Reloc| {
        let start = row.offset.checked_sub(FUNCTION)?;
        starts.binary_search(&start).ok()
    };
    let mut frames: Vec<(usize, SymbolRef)> = mercury
        .iter()
        .filter_map(|row| Some((frame(&entries.starts, row)?, row.target)))
        .collect();
    frames.sort_unstable_by_key(|(index, _)| std::cmp::Reverse(*index));
    let mut of_function: HashMap<SymbolRef, Vec<usize>, FixedState> = HashMap::default();
    for (index, function) in frames {
        of_function.entry(function).or_default().push(index);
    }
    let mut frames: Vec<(usize, SymbolRef)> = rows
        .iter()
        .filter_map(|row| Some((frame(starts, row)?, row.target)))
        .collect();
    frames.sort_unstable_by_key(|(index, _)| *index);
    let mut pairs = vec![None; starts.len()];
    for (index, function) in frames {
        let twin = of_function.get_mut(&function).and_then(Vec::pop);
        pairs[index] = twin;
        if let Some(cie) = index.checked_sub(1) {
            pairs[cie] = pairs[cie].or(twin.and_then(|twin| twin.checked_sub(1)));
        }
    }
    pairs
}
