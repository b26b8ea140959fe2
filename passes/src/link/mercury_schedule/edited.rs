//! What depends on where a function's instructions are, where some were added or taken out: its
//! size, relocations, frames, and the places in its records. All of it is the SASS view's: the
//! Mercury view counts Mercury instructions, which stay.

use std::cell::OnceCell;
use std::ops::Range;

use cuweld_elf::branch_targets::branches_by_table;
use cuweld_elf::mercury::edit::Edited;
use cuweld_elf::mercury::edit::Places;
use cuweld_elf::mercury::frames;
use cuweld_elf::mercury::lines;
use cuweld_elf::mercury::register_ranges;
use cuweld_elf::mercury::register_ranges::REGISTER_RANGES;
use cuweld_elf::target::attributes;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::Arena;
use cuweld_ir::AttributeId;
use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::ObjectId;
use cuweld_ir::Reloc;
use cuweld_ir::RelocAction;
use cuweld_ir::RelocId;
use cuweld_ir::Section;
use cuweld_ir::SectionContent;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolId;
use cuweld_ir::SymbolPlace;
use cuweld_ir::SymbolRef;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::analyses::code_changes::CodeChange;
use crate::link::place_memory::COMPILER_BANK;
use crate::link::plan_relocations::lines::is_line_table;
use crate::link::plan_relocations::lines::places_stay;

/// A function whose code was changed.
pub(super) struct Function {
    pub(super) id: FunctionId,
    pub(super) change: CodeChange,
    edited: Edited,
    /// What has to change with it; `None` if something is not known.
    follows: Option<Follows>,
}

/// New values of rows.
#[derive(Default)]
struct Follows {
    symbols: Vec<(SymbolId, u64, u64)>,
    relocs: Vec<(RelocId, Reloc)>,
    records: Vec<(AttributeId, Vec<u8>)>,
    /// New bytes of frames, ranges and tables of branches: the section, where, and what stands there.
    contents: Vec<(SectionId, usize, Vec<u8>)>,
    /// New sequences of lines: the section, the row of its address, and the sequence.
    lines: Vec<(SectionId, RelocId, Vec<u8>)>,
    /// How many targets its records name of branches by tables, less those that tables have.
    missing_targets: i64,
}

impl Function {
    pub(super) fn new(id: FunctionId, change: CodeChange, edited: Edited) -> Self {
        Function {
            id,
            change,
            edited,
            follows: Some(Follows::default()),
        }
    }

    /// Returns `true` if all that depends on the places of its instructions is known.
    pub(super) fn is_known(&self) -> bool {
        self.follows.is_some()
    }

    /// Notes what has to change, or that it is not known.
    fn follow(&mut self, what: impl FnOnce(&Places, &mut Follows) -> Option<()>) {
        if let Some(follows) = &mut self.follows
            && what(&self.edited.places, follows).is_none()
        {
            self.follows = None;
        }
    }
}

/// Looks for what depends on the places of the instructions of changed functions. Linear in rows.
pub(super) fn find(module: &Module<'_>, functions: &mut [Function]) {
    if functions.is_empty() {
        return;
    }
    let mut by_text: HashMap<SectionId, usize, FixedState> = HashMap::default();
    let mut by_symbol: HashMap<SymbolId, usize, FixedState> = HashMap::default();
    for (index, function) in functions.iter().enumerate() {
        let row = &module.functions[function.id];
        by_text.insert(row.views.sass.text, index);
        by_symbol.insert(row.symbol, index);
    }
    for (id, symbol) in module.symbols.iter() {
        let SymbolPlace::Section(section) = symbol.place else {
            continue;
        };
        if let Some(index) = by_text.get(&section) {
            by_symbol.insert(id, *index);
            functions[*index].follow(|places, follows| {
                let end = places.target(symbol.value.checked_add(symbol.size)?)?;
                let start = places.target(symbol.value)?;
                follows.symbols.push((id, start, end.checked_sub(start)?));
                Some(())
            });
        }
    }
    for function in &mut *functions {
        let info = module.functions[function.id].views.sass.info;
        let records = info.map_or(Default::default(), |info| module.sections[info].attributes);
        for id in records.iter() {
            let record = &module.attributes[id];
            if !attributes::holds_places(record.code) || record.rest.is_empty() {
                continue;
            }
            function.follow(|places, follows| {
                let moved = match record.code {
                    attributes::INDIRECT_BRANCH_TARGETS => {
                        let (moved, targets) = moved_targets(record.rest, places)?;
                        follows.missing_targets += targets;
                        moved
                    }
                    code => moved_places(code, record.rest, places)?,
                };
                follows.records.push((id, moved));
                Some(())
            });
        }
    }
    let constants = constants(module, &by_text);
    for section in module.sections.values() {
        let SectionInfo::Section(patched) = section.info else {
            continue;
        };
        match section.kind {
            SectionKind::SassRelocs => {
                relocations(module, section, patched, functions, &by_text, &by_symbol);
            }
            SectionKind::Relocs if module.sections[patched].kind == SectionKind::MercuryTwin => {
                branch_table(module, section, functions, &constants, &by_symbol);
            }
            _ => {}
        }
    }
    register_ranges(module, functions);
    for function in functions {
        function.follow(|_, follows| (follows.missing_targets == 0).then_some(()));
    }
}

/// Looks for the ranges of code in which registers hold variables of changed functions, for the
/// debugger. An object names functions in them, of which it has one of each name.
fn register_ranges(module: &Module<'_>, functions: &mut [Function]) {
    let object_of = |id: FunctionId| module.functions[id].object;
    let mut named: HashMap<(ObjectId, &[u8]), usize, FixedState> = HashMap::default();
    for (index, function) in functions.iter().enumerate() {
        named.insert(
            (object_of(function.id), module.function_name(function.id)),
            index,
        );
    }
    let sections = module.sections.iter();
    let sections = sections.filter(|(_, section)| {
        section.kind == SectionKind::Debug && section.name == REGISTER_RANGES
    });
    for (id, section) in sections {
        let bytes = section.bytes();
        let Some(all) = register_ranges::parse(bytes) else {
            let of_object = functions.iter_mut();
            for function in of_object.filter(|it| object_of(it.id) == section.object) {
                function.follows = None;
            }
            continue;
        };
        for ranges in &all {
            let Some(index) = named.get(&(section.object, ranges.function)) else {
                continue;
            };
            functions[*index].follow(|places, follows| {
                for row in &ranges.rows {
                    let mut made = Vec::with_capacity(8);
                    for place in row.range {
                        let place = u32::try_from(places.target(place.into())?).ok()?;
                        made.extend_from_slice(&place.to_le_bytes());
                    }
                    follows.contents.push((id, row.place, made));
                }
                Some(())
            });
        }
    }
}

/// Returns the constants of the compiler of changed functions, each with the number of its function.
fn constants(
    module: &Module<'_>,
    by_text: &HashMap<SectionId, usize, FixedState>,
) -> HashMap<usize, SectionId, FixedState> {
    let sections = module.sections.iter();
    let found = sections.filter_map(|(id, section)| {
        let text = module.functions[section.owner?].views.sass.text;
        let is_bank = section.kind == SectionKind::FunctionConstants(COMPILER_BANK);
        is_bank.then_some((*by_text.get(&text)?, id))
    });
    found.collect()
}

/// Looks for the places in the code of a function that its constants have, by the rows of the Mercury
/// view: in the SASS view they are numbers.
fn branch_table(
    module: &Module<'_>,
    section: &Section<'_>,
    functions: &mut [Function],
    constants: &HashMap<usize, SectionId, FixedState>,
    by_symbol: &HashMap<SymbolId, usize, FixedState>,
) {
    for row in &module.relocs[section.relocs] {
        let target = row.target.symbol().and_then(|id| by_symbol.get(&id));
        let Some(target) = target.copied() else {
            continue;
        };
        functions[target].follow(|places, follows| {
            let table = *constants.get(&target)?;
            let own = module.functions[module.sections[table].owner?].symbol;
            let is_own =
                section.owner == module.sections[table].owner && row.target.symbol() == Some(own);
            let at = usize::try_from(row.offset).ok()?;
            let word = module.sections[table].bytes().get(at..)?.first_chunk()?;
            let place = places.target(u32::from_le_bytes(*word).into())?;
            let place = u32::try_from(place).ok()?.to_le_bytes();
            follows.contents.push((table, at, place.to_vec()));
            follows.missing_targets -= 1;
            is_own.then_some(())
        });
    }
}

/// Looks through the rows of a section of the SASS view.
fn relocations(
    module: &Module<'_>,
    section: &Section<'_>,
    patched: SectionId,
    functions: &mut [Function],
    by_text: &HashMap<SectionId, usize, FixedState>,
    by_symbol: &HashMap<SymbolId, usize, FixedState>,
) {
    let bytes = module.sections[patched].bytes();
    let is_frames = module.sections[patched].name == b".debug_frame";
    let is_lines = is_line_table(module, patched);
    let starts = match (is_frames, is_lines) {
        (true, _) => frames::entries(bytes),
        (_, true) => lines::units(bytes).unwrap_or_default(),
        _ => Vec::new(),
    };
    // [labels-stay]
    let kind = module.sections[patched].kind;
    let keeps_places = matches!(kind, SectionKind::Debug | SectionKind::Other)
        && places_stay(module.sections[patched].name);
    let own = by_text.get(&patched);
    // Whether sequences can be replaced, if a row has asked.
    let is_known_table = OnceCell::new();
    let mut last = 0;
    for id in section.relocs.iter() {
        let row = &module.relocs[id];
        let target = row.target.symbol().and_then(|id| by_symbol.get(&id));
        if let Some(own) = own {
            functions[*own].follow(|places, follows| {
                let moved = follows.reloc(id, row);
                moved.offset = places.instruction(row.offset)?;
                Some(())
            });
        }
        let Some(target) = target.filter(|_| !keeps_places) else {
            continue;
        };
        functions[*target].follow(|places, follows| {
            if section.ty == sht::REL {
                return None;
            }
            if row.addend != 0 {
                let addend = places.target(u64::try_from(row.addend).ok()?)?;
                let moved = follows.reloc(id, row);
                moved.addend = i64::try_from(addend).ok()?;
                match &mut moved.plan {
                    RelocAction::Keep { addend, .. } if *addend == row.addend => {
                        *addend = moved.addend;
                    }
                    RelocAction::Unplanned | RelocAction::Drop | RelocAction::Gone => {}
                    _ => return None,
                }
            }
            Some(())
        });
        if !is_frames && !is_lines {
            continue;
        }
        let entry = frames::entry_at(&starts, |start| *start, row.offset, last);
        let start = entry.map(|entry| starts[entry] as usize);
        last = entry.unwrap_or(0);
        functions[*target].follow(|places, follows| {
            let start = start?;
            let end = starts
                .get(entry? + 1)
                .map_or(bytes.len(), |next| *next as usize);
            let own = bytes.get(start..end)?;
            let place = row.offset - start as u64;
            if is_lines {
                let is_known = || replaced(module, section, bytes, |_| None).is_some();
                if !is_known_table.get_or_init(is_known) {
                    return None;
                }
                let moved = |address| places.target(address);
                let made = lines::with_addresses(own, place, moved)?;
                follows.lines.push((patched, id, made));
            } else if place == frames::FUNCTION {
                let made = frame(own, places)?;
                follows.contents.push((patched, start, made));
            }
            Some(())
        });
    }
}

impl Follows {
    /// Returns the new form of a relocation, which is the old one at first.
    fn reloc(&mut self, id: RelocId, row: &Reloc) -> &mut Reloc {
        // Rows are looked at one after the other.
        if self.relocs.last().is_none_or(|(known, _)| *known != id) {
            self.relocs.push((id, *row));
        }
        let last = self.relocs.len() - 1;
        &mut self.relocs[last].1
    }
}

/// Returns the payload of a record with the places of instructions after the change; `None` for a
/// record of another form.
fn moved_places(code: u8, payload: &[u8], places: &Places) -> Option<Vec<u8>> {
    let words_of_row = match code {
        attributes::EXIT_INSTR_OFFSETS
        | attributes::S2RCTAID_INSTR_OFFSETS
        | attributes::ATOM_SYS_INSTR_OFFSETS
        | attributes::COOP_GROUP_INSTR_OFFSETS
        | attributes::INT_WARP_WIDE_INSTR_OFFSETS => 1,
        // A register.
        attributes::ATOM16_EMUL_INSTR_REG_MAP => 2,
        // Registers, what they are for, and -1.
        attributes::INSTR_REG_MAP => 3,
        // A register, an offset, and what the instruction does.
        attributes::MBARRIER_INSTR_OFFSETS => 4,
        _ => return None,
    };
    let (words, rest) = payload.as_chunks::<4>();
    if !rest.is_empty() || words.len() % words_of_row != 0 {
        return None;
    }
    let mut made = Vec::with_capacity(payload.len());
    for row in words.chunks(words_of_row) {
        let (word, others) = row.split_first()?;
        let place = places.instruction(u32::from_le_bytes(*word).into())?;
        made.extend_from_slice(&u32::try_from(place).ok()?.to_le_bytes());
        made.extend_from_slice(others.as_flattened());
    }
    Some(made)
}

/// Returns the payload of a record of branches by tables after the change, and how many targets it
/// names.
fn moved_targets(payload: &[u8], places: &Places) -> Option<(Vec<u8>, i64)> {
    let (mut made, mut count) = (Vec::with_capacity(payload.len()), 0);
    for branch in branches_by_table(payload) {
        let branch = branch?;
        let targets = u32::try_from(branch.targets().len()).ok()?;
        let place = u32::try_from(places.instruction(branch.place.into())?).ok()?;
        for word in [place, 0, targets] {
            made.extend_from_slice(&word.to_le_bytes());
        }
        for target in branch.targets() {
            let place = u32::try_from(places.target(target.into())?).ok()?;
            made.extend_from_slice(&place.to_le_bytes());
        }
        count += i64::from(targets);
    }
    Some((made, count))
}

/// Returns the frame of a function after the change.
fn frame(entry: &[u8], places: &Places) -> Option<Vec<u8>> {
    let mut made = entry.to_vec();
    let range = frames::RANGE as usize..frames::INSTRUCTIONS as usize;
    let size = entry
        .get(range.clone())?
        .try_into()
        .map(u64::from_le_bytes)
        .ok()?;
    made.get_mut(range)?
        .copy_from_slice(&places.target(size)?.to_le_bytes());
    let (mut at, mut before, mut after) = (frames::INSTRUCTIONS as usize, 0, 0);
    for step in frames::steps(entry.get(at..)?) {
        match step? {
            frames::Step::Advance(units) => {
                before += u64::from(units) * u64::from(frames::SASS_UNIT);
                let place = places.target(before)?;
                let units = place.checked_sub(after)? / u64::from(frames::SASS_UNIT);
                let field: Range<usize> = at + 1..at + 5;
                made.get_mut(field)?
                    .copy_from_slice(&u32::try_from(units).ok()?.to_le_bytes());
                after = place;
                at += 5;
            }
            frames::Step::Rule(rule) => at += rule.len(),
        }
    }
    Some(made)
}

/// Changes the code of functions and what depends on it. Those that are not known stay.
pub(super) fn apply<'data>(
    module: &mut Module<'data>,
    arena: &'data Arena,
    functions: Vec<Function>,
) {
    let (mut contents, mut new_lines) = (Vec::new(), Vec::new());
    for function in functions {
        let Some(follows) = function.follows else {
            continue;
        };
        let views = module.functions[function.id].views;
        let mercury = views.merc.map(|view| view.text);
        let code = (Some(views.sass.text), function.edited.code);
        for (section, bytes) in [code, (mercury, function.edited.capmerc)] {
            if let Some(section) = section {
                module.sections[section].content = SectionContent::Bytes(arena.bytes(&bytes));
            }
        }
        for (id, value, size) in follows.symbols {
            let symbol = &mut module.symbols[id];
            (symbol.value, symbol.size) = (value, size);
            let link = symbol.link.map(|link| &mut module.link_symbols[link]);
            if let Some(link) = link.filter(|link| link.definition == Some(id)) {
                link.size = size;
            }
        }
        for (id, row) in follows.relocs {
            module.relocs[id] = row;
        }
        for (id, payload) in follows.records {
            module.attributes[id].rest = arena.bytes(&payload);
        }
        contents.extend(follows.contents);
        new_lines.extend(follows.lines);
    }
    contents.sort_by_key(|(section, start, _)| (*section, *start));
    for parts in contents.chunk_by(|(one, ..), (other, ..)| one == other) {
        let section = parts[0].0;
        let mut bytes = module.sections[section].bytes().to_vec();
        for (_, start, part) in parts {
            if let Some(place) = bytes.get_mut(*start..start + part.len()) {
                place.copy_from_slice(part);
            }
        }
        module.sections[section].content = SectionContent::Bytes(arena.bytes(&bytes));
    }
    new_lines.sort_by_key(|(section, row, _)| (*section, *row));
    let mut tables: Vec<SectionId> = new_lines.iter().map(|(table, ..)| *table).collect();
    tables.dedup();
    let sections = module.sections.iter().filter(|(_, section)| {
        section.kind == SectionKind::SassRelocs
            && matches!(section.info, SectionInfo::Section(patched) if tables.binary_search(&patched).is_ok())
    });
    let sections: Vec<SectionId> = sections.map(|(id, _)| id).collect();
    for section in sections {
        table_of_lines(module, arena, section, &new_lines);
    }
}

/// Puts new sequences into a table of lines, whose rows are given.
fn table_of_lines<'data>(
    module: &mut Module<'data>,
    arena: &'data Arena,
    rows: SectionId,
    made: &[(SectionId, RelocId, Vec<u8>)],
) {
    let SectionInfo::Section(table) = module.sections[rows].info else {
        return;
    };
    let made = |row: RelocId| {
        let place = made.binary_search_by_key(&(table, row), |(table, row, _)| (*table, *row));
        Some(made[place.ok()?].2.clone())
    };
    let bytes = module.sections[table].bytes();
    if let Some((ids, kept)) = replaced(module, &module.sections[rows], bytes, made) {
        let starts = (lines::units(bytes), lines::units(&kept.bytes));
        if let (Some(before), Some(after)) = starts
            && before != after
        {
            move_units(module, table, &before, &after);
        }
        module.sections[table].content = SectionContent::Bytes(arena.bytes(&kept.bytes));
        for (id, place) in ids.into_iter().zip(kept.addresses) {
            if let Some(place) = place {
                module.relocs[id].offset = place;
            }
        }
    }
}

/// Has what refers to a unit of a table of lines after the first, in an object of a link with `-r`,
/// refer to where that begins now.
fn move_units(module: &mut Module<'_>, table: SectionId, before: &[u64], after: &[u64]) {
    let object = module.sections[table].object;
    for id in module.objects[object].sections.iter() {
        if module.sections[id].kind != SectionKind::SassRelocs {
            continue;
        }
        for row in module.sections[id].relocs.iter() {
            let row = &mut module.relocs[row];
            if row.target == SymbolRef::Section(table)
                && let Ok(unit) = before.binary_search(&(row.addend as u64))
                && let Some(start) = after.get(unit)
            {
                row.addend = *start as i64;
            }
        }
    }
}

/// Returns a table of lines with other sequences for some of its rows, and the rows in their order;
/// `None` if the table is of another form.
fn replaced(
    module: &Module<'_>,
    rows: &Section<'_>,
    bytes: &[u8],
    made: impl Fn(RelocId) -> Option<Vec<u8>>,
) -> Option<(Vec<RelocId>, lines::Kept)> {
    let mut ids: Vec<RelocId> = rows.relocs.iter().collect();
    ids.sort_by_key(|id| module.relocs[*id].offset);
    let sequences = (0..).zip(&ids).map(|(rank, id)| {
        let made = made(*id);
        (
            module.relocs[*id].offset,
            Some(lines::Staying { rank, made }),
        )
    });
    let sequences: Vec<_> = sequences.collect();
    let kept = lines::keep(bytes, &sequences, false)?;
    Some((ids, kept))
}
