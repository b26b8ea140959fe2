//! Every field of an object file that a structural mutation changes, found by a reader that knows ELF and the shapes of CUDA's
//! records and nothing of the linker.

use std::ops::Range;

/// What a field is part of: mutations are drawn evenly over these, not over the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    FileHeader,
    SectionHeader,
    Symbol,
    SymbolOrder,
    Relocation,
    RelocationOrder,
    Record,
    RecordOrder,
    Note,
    CallGraph,
    Prototype,
    Names,
    Code,
    Constant,
    Data,
    Frame,
    Debug,
    MercuryRecord,
    MercuryRelocation,
    MercuryCode,
    MercuryOther,
}

impl Part {
    /// All parts, by the name that `CUWELD_STRUCTURE_PARTS` takes.
    pub const ALL: [(&'static str, Part); 21] = [
        ("file-header", Part::FileHeader),
        ("section-header", Part::SectionHeader),
        ("symbol", Part::Symbol),
        ("symbol-order", Part::SymbolOrder),
        ("relocation", Part::Relocation),
        ("relocation-order", Part::RelocationOrder),
        ("record", Part::Record),
        ("record-order", Part::RecordOrder),
        ("note", Part::Note),
        ("call-graph", Part::CallGraph),
        ("prototype", Part::Prototype),
        ("names", Part::Names),
        ("code", Part::Code),
        ("constant", Part::Constant),
        ("data", Part::Data),
        ("frame", Part::Frame),
        ("debug", Part::Debug),
        ("mercury-record", Part::MercuryRecord),
        ("mercury-relocation", Part::MercuryRelocation),
        ("mercury-code", Part::MercuryCode),
        ("mercury-other", Part::MercuryOther),
    ];
}

/// A change of one place: a field that gets another value, or two rows of one size, the second of which is swapped with the
/// first.
#[derive(Clone, Debug)]
pub enum Place {
    /// A number in the file.
    Field {
        /// Where it is, in bytes.
        at: usize,
        /// Its size in bytes.
        width: usize,
    },
    /// Rows of one size.
    Rows(Range<usize>, Range<usize>),
}

/// Swaps two rows of one size.
pub fn swap(object: &mut [u8], first: &Range<usize>, second: &Range<usize>) {
    let row = object[first.clone()].to_vec();
    object.copy_within(second.clone(), first.start);
    object[second.clone()].copy_from_slice(&row);
}

/// What can be changed, with a name for reports.
#[derive(Clone, Debug)]
pub struct Target {
    /// What it is part of.
    pub part: Part,
    /// Section and field.
    pub name: String,
    /// Where it is.
    pub place: Place,
}

/// Fields of the file header: name, offset, size in bytes.
const FILE_HEADER: [(&str, usize, usize); 13] = [
    ("ei_osabi", 7, 1),
    ("ei_abiversion", 8, 1),
    ("e_type", 16, 2),
    ("e_machine", 18, 2),
    ("e_version", 20, 4),
    ("e_entry", 24, 8),
    ("e_phoff", 32, 8),
    ("e_shoff", 40, 8),
    ("e_flags", 48, 4),
    ("e_ehsize", 52, 2),
    ("e_shentsize", 58, 2),
    ("e_shnum", 60, 2),
    ("e_shstrndx", 62, 2),
];
/// Fields of a section header.
const SECTION_HEADER: [(&str, usize, usize); 10] = [
    ("sh_name", 0, 4),
    ("sh_type", 4, 4),
    ("sh_flags", 8, 8),
    ("sh_addr", 16, 8),
    ("sh_offset", 24, 8),
    ("sh_size", 32, 8),
    ("sh_link", 40, 4),
    ("sh_info", 44, 4),
    ("sh_addralign", 48, 8),
    ("sh_entsize", 56, 8),
];
/// Fields of a symbol.
const SYMBOL: [(&str, usize, usize); 6] = [
    ("st_name", 0, 4),
    ("st_info", 4, 1),
    ("st_other", 5, 1),
    ("st_shndx", 6, 2),
    ("st_value", 8, 8),
    ("st_size", 16, 8),
];
/// Fields of a relocation with addend; one without has the first three.
const RELOCATION: [(&str, usize, usize); 4] = [
    ("r_offset", 0, 8),
    ("r_type", 8, 4),
    ("r_sym", 12, 4),
    ("r_addend", 16, 8),
];

const SHT_SYMTAB: u32 = 2;
const SHT_STRTAB: u32 = 3;
const SHT_RELA: u32 = 4;
const SHT_NOTE: u32 = 7;
/// Types without bytes in the file: NOBITS, and CUDA's global, local, shared and reserved shared memory.
const WITHOUT_BYTES: [u32; 5] = [8, 0x7000_0007, 0x7000_0009, 0x7000_000a, 0x7000_0015];
const SHT_REL: u32 = 9;
const SHT_CUDA_INFO: u32 = 0x7000_0000;
const SHT_CUDA_CALLGRAPH: u32 = 0x7000_0001;
const SHT_CUDA_PROTOTYPE: u32 = 0x7000_0002;

struct Section {
    name: String,
    ty: u32,
    bytes: Range<usize>,
}

/// Returns a number of a file; 0 past its end.
pub fn number(bytes: &[u8], at: usize, width: usize) -> u64 {
    let mut word = [0; 8];
    if let Some(found) = bytes.get(at..at + width) {
        word[..width].copy_from_slice(found);
    }
    u64::from_le_bytes(word)
}

/// Returns everything in a file that can be changed; nothing if it is no 64-bit ELF file.
pub fn targets(file: &[u8]) -> Vec<Target> {
    if !file.starts_with(b"\x7fELF\x02\x01") || file.len() < 64 {
        return Vec::new();
    }
    let mut found = Targets {
        file,
        all: Vec::new(),
    };
    found.fields(Part::FileHeader, "", &FILE_HEADER, 0);
    let headers = number(file, 40, 8) as usize;
    for (index, section) in sections(file).iter().enumerate() {
        if index > 0 {
            let at = headers + index * 64;
            found.fields(Part::SectionHeader, &section.name, &SECTION_HEADER, at);
        }
        found.contents(section);
    }
    found.all
}

fn sections(file: &[u8]) -> Vec<Section> {
    let headers = number(file, 40, 8) as usize;
    let count = number(file, 60, 2) as usize;
    let field = |index: usize, offset: usize, width: usize| {
        number(file, headers + index * 64 + offset, width)
    };
    let names = field(number(file, 62, 2) as usize, 24, 8) as usize;
    let section = |index: usize| {
        let name = names + field(index, 0, 4) as usize;
        let name = file.get(name..).unwrap_or_default();
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        let ty = field(index, 4, 4) as u32;
        let start = field(index, 24, 8) as usize;
        let size = if WITHOUT_BYTES.contains(&ty) {
            0
        } else {
            field(index, 32, 8) as usize
        };
        let bytes = start..start + size;
        Section {
            name: String::from_utf8_lossy(name).into_owned(),
            ty,
            bytes: if bytes.end <= file.len() { bytes } else { 0..0 },
        }
    };
    (0..count).map(section).collect()
}

struct Targets<'file> {
    file: &'file [u8],
    all: Vec<Target>,
}

impl Targets<'_> {
    fn field(&mut self, part: Part, name: String, at: usize, width: usize) {
        let place = Place::Field { at, width };
        self.all.push(Target { part, name, place });
    }

    fn fields(&mut self, part: Part, of: &str, fields: &[(&str, usize, usize)], at: usize) {
        for (field, offset, width) in fields {
            let name = match of {
                "" => (*field).to_owned(),
                of => format!("{of} {field}"),
            };
            self.field(part, name, at + offset, *width);
        }
    }

    /// Rows of a table: their fields, and neighbours and others that are swapped.
    fn rows(
        &mut self,
        parts: [Part; 2],
        section: &Section,
        size: usize,
        fields: &[(&str, usize, usize)],
    ) {
        let rows: Vec<Range<usize>> = section
            .bytes
            .clone()
            .step_by(size)
            .map(|start| start..start + size)
            .filter(|row| row.end <= section.bytes.end)
            .collect();
        for (index, row) in rows.iter().enumerate() {
            let of = format!("{}[{index}]", section.name);
            self.fields(parts[0], &of, fields, row.start);
        }
        self.swaps(parts[1], section, &rows);
    }

    fn swaps(&mut self, part: Part, section: &Section, rows: &[Range<usize>]) {
        for (index, row) in rows.iter().enumerate() {
            let second = rows.get(index + 1..).unwrap_or_default();
            // The next two of its size, and the last.
            let alike: Vec<_> = second
                .iter()
                .filter(|other| other.len() == row.len())
                .collect();
            let next = alike.iter().take(2);
            let chosen = next.chain(alike.iter().skip(2).next_back()).copied();
            for other in chosen {
                self.all.push(Target {
                    part,
                    name: format!(
                        "{} {:#x} and {:#x} swapped",
                        section.name, row.start, other.start
                    ),
                    place: Place::Rows(row.clone(), other.clone()),
                });
            }
        }
    }

    /// Numbers of a section one after another.
    fn words(&mut self, part: Part, section: &Section, width: usize) {
        for at in section.bytes.clone().step_by(width) {
            if at + width <= section.bytes.end {
                let name = format!("{}+{:#x}", section.name, at - section.bytes.start);
                self.field(part, name, at, width);
            }
        }
    }

    fn records(&mut self, part: Part, section: &Section) {
        let mut rows = Vec::new();
        let mut at = section.bytes.start;
        while at + 4 <= section.bytes.end {
            let payload = match self.file[at] {
                4 => number(self.file, at + 2, 2) as usize,
                _ => 0,
            };
            let end = at + 4 + payload;
            if end > section.bytes.end {
                break;
            }
            let code = self.file[at + 1];
            let of = format!("{} record {code:#x}", section.name);
            self.field(part, format!("{of} format"), at, 1);
            self.field(part, format!("{of} code"), at + 1, 1);
            self.field(part, format!("{of} size or value"), at + 2, 2);
            for word in (at + 4..end).step_by(4).filter(|word| word + 4 <= end) {
                self.field(part, format!("{of} word {}", (word - at) / 4 - 1), word, 4);
            }
            rows.push(at..end);
            at = end;
        }
        if part == Part::Record {
            self.swaps(Part::RecordOrder, section, &rows);
        }
    }

    fn contents(&mut self, section: &Section) {
        let name = section.name.as_str();
        let of_mercury = name.contains("merc");
        match section.ty {
            SHT_SYMTAB => {
                self.rows([Part::Symbol, Part::SymbolOrder], section, 24, &SYMBOL);
            }
            _ if name.starts_with(".nv.capmerc") => self.words(Part::MercuryCode, section, 1),
            SHT_RELA | SHT_REL => {
                let parts = match of_mercury {
                    true => [Part::MercuryRelocation; 2],
                    false => [Part::Relocation, Part::RelocationOrder],
                };
                match section.ty {
                    SHT_RELA => self.rows(parts, section, 24, &RELOCATION),
                    _ => self.rows(parts, section, 16, &RELOCATION[..3]),
                }
            }
            _ if of_mercury && name.contains(".nv.info") => {
                self.records(Part::MercuryRecord, section)
            }
            _ if of_mercury => self.words(Part::MercuryOther, section, 4),
            SHT_CUDA_INFO => self.records(Part::Record, section),
            SHT_CUDA_CALLGRAPH => self.words(Part::CallGraph, section, 4),
            SHT_CUDA_PROTOTYPE => self.words(Part::Prototype, section, 4),
            SHT_NOTE => self.words(Part::Note, section, 4),
            SHT_STRTAB => self.words(Part::Names, section, 1),
            _ if name.starts_with(".nv.compat") => self.records(Part::Record, section),
            _ if name.starts_with(".text") => self.words(Part::Code, section, 4),
            _ if name.starts_with(".nv.constant") => self.words(Part::Constant, section, 4),
            _ if name.starts_with(".debug_frame") => self.words(Part::Frame, section, 4),
            _ if name.starts_with(".debug") || name.starts_with(".nv_debug") => {
                self.words(Part::Debug, section, 4);
            }
            _ => self.words(Part::Data, section, 4),
        }
    }
}
