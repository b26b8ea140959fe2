//! Functions of one name in an object, given names of their own: what nvlink makes of such an object is what a link of the
//! object without `--cuweld-strict` is held against (deviation D18).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cuweld_elf::target::section_types::{SectionFlags, is_no_bits};

use super::link::Outcome;

const HEADER: usize = 64;
const SYMBOL: usize = 24;
const SHT_SYMTAB: u32 = 2;
const SHT_STRTAB: u32 = 3;
const SHT_CALLGRAPH: u32 = 0x7000_0001;
const SHT_PROTOTYPE: u32 = 0x7000_0002;
const SHT_CAPMERC: u32 = 0x7000_0016;
const SHT_MERCURY_SYMTAB: u32 = 0x7000_0085;
const SHF_INFO_LINK: u64 = 0x40;
const FUNCTION: u8 = 2;
const SECTION: u8 = 3;

fn number(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(size)?)?;
    Some(
        bytes
            .iter()
            .rev()
            .fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
    )
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at + value.len()) {
        place.copy_from_slice(value);
    }
}

struct Section {
    header: usize,
    name: Vec<u8>,
    ty: u32,
    flags: u64,
    offset: usize,
    size: usize,
    link: usize,
    info: usize,
    align: u64,
}

impl Section {
    fn is_symbols(&self) -> bool {
        matches!(self.ty, SHT_SYMTAB | SHT_MERCURY_SYMTAB)
    }
}

fn string(bytes: &[u8], at: usize) -> Vec<u8> {
    let rest = bytes.get(at..).unwrap_or(&[]);
    rest.split(|byte| *byte == 0).next().unwrap_or(&[]).to_vec()
}

fn sections(bytes: &[u8]) -> Option<Vec<Section>> {
    if !bytes.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let table = number(bytes, 40, 8)? as usize;
    let header = |index: usize| table + index * HEADER;
    let names = number(bytes, header(number(bytes, 62, 2)? as usize) + 24, 8)? as usize;
    let read = |index: usize| {
        let field = |at: usize, size: usize| number(bytes, header(index) + at, size);
        Some(Section {
            header: header(index),
            name: string(bytes, names + field(0, 4)? as usize),
            ty: field(4, 4)? as u32,
            flags: field(8, 8)?,
            offset: field(24, 8)? as usize,
            size: field(32, 8)? as usize,
            link: field(40, 4)? as usize,
            info: field(44, 4)? as usize,
            align: field(48, 8)?,
        })
    };
    (0..number(bytes, 60, 2)? as usize).map(read).collect()
}

/// Writes the inputs in which functions share names with names of their own, and returns the arguments that name them.
pub fn renamed_inputs(folder: &Path, arguments: &[String]) -> std::io::Result<Vec<String>> {
    let mut renamed = arguments.to_vec();
    for argument in &mut renamed {
        let image = std::fs::read(folder.join(&*argument));
        if let Some(image) = image.ok().and_then(self::renamed) {
            *argument = format!("own-{argument}");
            std::fs::write(folder.join(&*argument), image)?;
        }
    }
    Ok(renamed)
}

/// The object with another name for each local function whose name another function has, too; `None` if there is none.
fn renamed(mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    let sections = sections(&bytes)?;
    let table = sections.iter().find(|section| section.ty == SHT_SYMTAB)?;
    let strings = sections.get(table.link)?;
    let symbols: Vec<(u8, usize, Vec<u8>)> = (0..table.size / SYMBOL)
        .map(|index| {
            let at = table.offset + index * SYMBOL;
            let name = strings.offset + number(&bytes, at, 4)? as usize;
            let section = number(&bytes, at + 6, 2)? as usize;
            Some((*bytes.get(at + 4)?, section, string(&bytes, name)))
        })
        .collect::<Option<_>>()?;
    let functions = || {
        let functions = symbols.iter().filter(|(info, section, _)| {
            info & 15 == FUNCTION && (1..sections.len()).contains(section)
        });
        functions.map(|(info, section, name)| (*info == FUNCTION, *section, name))
    };
    // Those that are not local keep theirs.
    let mut seen: BTreeSet<&[u8]> = functions()
        .filter(|(is_local, ..)| !is_local)
        .map(|(.., name)| name.as_slice())
        .collect();
    let mut others: BTreeMap<usize, (Vec<u8>, Vec<u8>)> = BTreeMap::new();
    for (is_local, section, name) in functions() {
        if is_local && !seen.insert(name) {
            let own = [name, format!("$own{section}").as_bytes()].concat();
            others.insert(section, (name.clone(), own));
        }
    }
    if others.is_empty() {
        return None;
    }
    for (index, section) in sections.iter().enumerate() {
        if section.ty == SHT_CAPMERC
            && let Some(names) = others
                .get(&(number(&bytes, section.offset, 4)? as usize))
                .cloned()
        {
            others.insert(index, names);
        }
    }
    // Sections of sections, such as relocations of constants.
    for _ in 0..2 {
        for (index, section) in sections.iter().enumerate() {
            if section.flags & SHF_INFO_LINK != 0
                && !section.is_symbols()
                && let Some(names) = others.get(&section.info).cloned()
            {
                others.entry(index).or_insert(names);
            }
        }
    }
    let index_of_names = number(&bytes, 62, 2)? as usize;
    let names = sections.get(index_of_names)?;
    let of = |section: &Section| bytes.get(section.offset..section.offset + section.size);
    let (mut section_names, mut symbol_names) = (of(names)?.to_vec(), of(strings)?.to_vec());
    let add = |names: &mut Vec<u8>, name: &[u8]| {
        let at = names.len() as u32;
        names.extend_from_slice(name);
        names.push(0);
        at.to_le_bytes()
    };
    let own_name = |index: usize| {
        let (name, own) = others.get(&index)?;
        let section = &sections[index].name;
        let at = section.len().checked_sub(name.len())?;
        let start = (0..=at).rev().find(|at| section[*at..].starts_with(name))?;
        let rest = &section[start + name.len()..];
        Some([&section[..start], own, rest].concat())
    };
    for index in others.keys() {
        let at = add(&mut section_names, &own_name(*index)?);
        put(&mut bytes, sections[*index].header, &at);
    }
    for table in sections.iter().filter(|section| section.is_symbols()) {
        for symbol in 0..table.size / SYMBOL {
            let at = table.offset + symbol * SYMBOL;
            let section = number(&bytes, at + 6, 2)? as usize;
            let name = match (others.get(&section), bytes.get(at + 4)? & 15) {
                (Some((_, own)), FUNCTION) => own.clone(),
                (Some(_), SECTION) => own_name(section)?,
                _ => continue,
            };
            let name = add(&mut symbol_names, &name);
            put(&mut bytes, at, &name);
        }
    }
    for (section, contents) in [(names, section_names), (strings, symbol_names)] {
        let place = [bytes.len() as u64, contents.len() as u64];
        for (field, value) in [24, 32].into_iter().zip(place) {
            put(&mut bytes, section.header + field, &value.to_le_bytes());
        }
        bytes.extend(contents);
    }
    Some(bytes)
}

/// What cuweld says in strict mode of links that it cannot do as nvlink does.
const REFUSED: &str = "local functions of one name";

/// Whether a link is refused for its local functions of one name.
pub fn are_refused(strictly: &Outcome) -> bool {
    let is_refusal = |line: &&String| line.contains("unsupported: ");
    let refusal = strictly.lines.iter().find(is_refusal);
    refusal.is_some_and(|line| line.contains(REFUSED))
}

/// Whether two outputs are the same but for names and where these are.
pub fn are_alike(ours: &Outcome, own: &Outcome) -> bool {
    let (ours, own) = (contents(ours), contents(own));
    ours.is_some() && ours == own
}

/// The sections of an output; of those that hold names, or numbers of names, the headers alone.
fn contents(linked: &Outcome) -> Option<Vec<impl PartialEq>> {
    let bytes = linked.output.as_ref()?;
    let sections = sections(bytes)?;
    let rows = sections.iter().map(|section| {
        let is_named = section.is_symbols()
            || matches!(section.ty, SHT_STRTAB | SHT_CALLGRAPH | SHT_PROTOTYPE)
            // The note has the names of the inputs.
            || section.name == b".note.nv.tkinfo"
            // What is reserved has bytes that are others'.
            || section.name == b".nv.merc.nv.shared.reserved.0"
            || is_no_bits(section.ty, SectionFlags::from_bits_retain(section.flags));
        let contents = match is_named {
            true => None,
            false => bytes.get(section.offset..section.offset + section.size),
        };
        let head = (section.ty, section.flags, section.info, section.align);
        (head, contents.map(<[u8]>::to_vec))
    });
    Some(rows.collect())
}
