//! Links that cuweld does another way than nvlink, says so, and refuses with `--cuweld-strict`: what has to be equal all the same.

use std::collections::BTreeSet;

use object::Endianness;
use object::Object as _;
use object::ObjectSection as _;
use object::read::elf::ElfFile64;
use object::read::elf::SectionHeader as _;

use super::link::Outcome;

/// A deviation: what strict mode says of a link with it, and which sections differ.
pub struct Reported {
    refusal: &'static str,
    /// Whether a section of this name differs.
    pub differs: fn(&str) -> bool,
    /// The error with which nvlink ends in some of these links.
    error: Option<&'static str>,
}

const DEVIATIONS: [Reported; 4] = [
    // D22
    Reported {
        refusal: "applied relocations of local functions of one name",
        differs: |name| name.starts_with(".nv.resolvedrel"),
        error: None,
    },
    // D23
    Reported {
        refusal: "constants with relocations of a copy that is replaced",
        differs: |name| {
            let name = name.strip_prefix(".nv.merc").unwrap_or(name);
            name.starts_with(".nv.constant2.")
                || (name.starts_with(".rel") && name.contains(".nv.constant"))
        },
        error: Some("Internal error: relocation is past end of offset"),
    },
    // D25
    Reported {
        refusal: "ranges of registers of a copy that is not linked",
        differs: |name| name == ".nv_debug_info_reg_sass",
        error: None,
    },
    // D26
    Reported {
        refusal: "a line table of another form",
        differs: |name| {
            let name = name.strip_prefix(".rela").unwrap_or(name);
            [".debug_line", ".nv_debug_line_sass", ".debug_info"].contains(&name)
        },
        error: None,
    },
];

/// Returns the deviation for which strict mode refuses a link, `strictly` being the result.
pub fn refused(strictly: &Outcome) -> Option<&'static Reported> {
    let is_said = |deviation: &&Reported| {
        let is_refusal =
            |line: &String| line.contains("unsupported: ") && line.contains(deviation.refusal);
        strictly.exit != Some(0) && strictly.lines.iter().any(is_refusal)
    };
    DEVIATIONS.iter().find(is_said)
}

impl Reported {
    /// Returns `true` if two results are the same but for the sections that differ.
    pub fn are_alike(&self, theirs: &Outcome, ours: &Outcome) -> bool {
        if let Some(error) = self.error
            && theirs.lines.iter().any(|line| line.contains(error))
        {
            return ours.exit == Some(0);
        }
        let rest = |outcome: &Outcome| rest(outcome.output.as_ref()?, self.differs);
        let [their_rest, our_rest] = [rest(theirs), rest(ours)];
        let same_rest = their_rest.is_some() && their_rest == our_rest;
        (theirs.exit, &theirs.lines) == (ours.exit, &ours.lines)
            && (theirs.output == ours.output || same_rest)
    }
}

/// The deviations that a link reports, such as `D14 D25`, `explaining` being the result with explanations; `None` if it
/// reports none but code that is kept (D12, D15) or scheduled (D31), of which the rest is compared.
pub fn codes(explaining: &Outcome) -> Option<String> {
    let codes = explaining.lines.iter().filter_map(|line| {
        let (_, rest) = line.split_once("deviation ")?;
        let code = rest.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
        Some(code.to_owned())
    });
    let codes: BTreeSet<String> = codes
        .filter(|code| code.starts_with('D') && !["D12", "D15", "D31"].contains(&code.as_str()))
        .collect();
    (!codes.is_empty()).then(|| Vec::from_iter(codes).join(" "))
}

/// A section: its name, the fields of its header but for the place, and its contents.
type Section = (String, Vec<u64>, Vec<u8>);

/// A file's sections, with nothing but the names of those that differ; `None` for what a link without an output left.
fn rest(file: &[u8], differs: fn(&str) -> bool) -> Option<Vec<Section>> {
    let file = ElfFile64::<Endianness>::parse(file).ok()?;
    let rows = file.sections().map(|section| {
        let name = section.name().expect("a section has a name").to_owned();
        if differs(&name) {
            return (name, Vec::new(), Vec::new());
        }
        let header = section.elf_section_header();
        let endian = Endianness::Little;
        let fields = vec![
            header.sh_type(endian).0.into(),
            header.sh_flags(endian).0,
            header.sh_size(endian),
            header.sh_link(endian).into(),
            header.sh_info(endian).into(),
            header.sh_addralign(endian),
        ];
        // Sections without bytes of their own lie past the end, some of NVIDIA's types with a size.
        let data = section.data().unwrap_or_default().to_vec();
        (name, fields, data)
    });
    Some(rows.collect())
}
