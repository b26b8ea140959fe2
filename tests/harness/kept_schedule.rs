//! Kernels that keep the code of their object where nvlink schedules anew (deviation D12): what has to be equal all the same.

use std::ops::Range;

use cuweld_elf::sass::Instruction;
use cuweld_elf::target::section_types::{SectionFlags, is_no_bits};
use object::Endianness;
use object::Object as _;
use object::ObjectSection as _;
use object::ObjectSymbol as _;
use object::U32;
use object::read::elf::ElfFile64;
use object::read::elf::SectionHeader as _;

use super::link::Outcome;

/// What the message about such a kernel says, or about one that we make anew.
const KEEPS: [&str; 4] = [
    "keeps its code, which NVIDIA's finalizer",
    "which NVIDIA's finalizer would compile for sm_",
    " scheduled anew, ",
    " compiled for the debugger, ",
];

/// What the error about it says, with `--cuweld-strict-finalize`.
const NEEDS: &str = "needs NVIDIA's finalizer";

/// What it says of code that we make anew where we know how.
const FIRST_LOAD: &str = "its first load has a scoreboard";
const WORK_AROUND: &str = "has a work-around at a memory barrier";
const BARE_END: &str = "has no memory barrier where it ends";

/// Control bits that differ then, of an instruction: barriers that are set and waited for, rarely stall count, yield and the bit after
/// it.
const CONTROL: u128 = 0x3_ffff << 105;

/// The record of code of a compiler after 13.0.88, which lies after all others.
const LATER_COMPILER: &[u8] = &[3, 0x6b, 1, 0];

/// The section of the code that a message is about.
fn code_section(line: &str) -> Option<String> {
    let named = ["kernel '", "function '"]
        .iter()
        .find_map(|kind| line.split_once(kind));
    let (name, _) = named?.1.split_once('\'')?;
    Some(match name.strip_prefix("__cuda_uf_stub_") {
        Some(function) => format!(".nv.uft.rel.{function}"),
        None => format!(".text.{name}"),
    })
}

/// What such kernels leave to be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Everything but the control bits of their code.
    ControlBits,
    /// What does not follow from the length of code ([`frame`]): with a memory barrier more or less much moves, as in code
    /// that is made anew or for another architecture.
    MemoryBarrier,
}

/// Takes the messages about code that is kept out of a result.
pub fn drop_notes(ours: &mut Outcome) {
    let is_note = |line: &str| KEEPS.iter().any(|words| line.contains(words));
    ours.lines.retain(|line| !is_note(line));
    let lines = ours.stderr.lines().filter(|line| !is_note(line));
    ours.stderr = lines.map(|line| format!("{line}\n")).collect();
}

/// Takes what differs on purpose out of both results, `strictly` being that of the link with `--cuweld-strict-finalize`;
/// says what there was. With code of another length the sections that `differs` names are left out, too.
pub fn mask(
    theirs: &mut Outcome,
    ours: &mut Outcome,
    strictly: &Outcome,
    differs: fn(&str) -> bool,
) -> Option<Kept> {
    let needed = || strictly.lines.iter().filter(|line| line.contains(NEEDS));
    // Code that we make anew has to be nvlink's.
    let output = ours.output.as_deref();
    let is_made = |line: &str| {
        let section = code_section(line);
        let section = section.zip(output);
        section.is_some_and(|(section, file)| is_as_nvlink_makes(line, file, &section))
    };
    let kept: Vec<&String> = needed().filter(|line| !is_made(line)).collect();
    drop_notes(ours);
    let of_other_length = ["memory barrier", "a compiler after", " for sm_"];
    let is_of_other_length =
        |line: &&String| of_other_length.iter().any(|words| line.contains(words));
    let what = match kept.iter().any(is_of_other_length) {
        true => Kept::MemoryBarrier,
        false => Kept::ControlBits,
    };
    let sections: Vec<String> = kept.iter().filter_map(|line| code_section(line)).collect();
    for output in [&mut theirs.output, &mut ours.output].into_iter().flatten() {
        for section in &sections {
            mask_code(output, section);
        }
        if what == Kept::MemoryBarrier {
            *output = frame(output, differs);
        }
    }
    needed().next().map(|_| what)
}

/// What two files have in common whose code has another length: the headers of sections but for places and sizes, symbols
/// but for values and sizes, the sizes of attributes, relocations and tables of switches, and the contents of whatever does not speak of code.
fn frame(file: &[u8], differs: fn(&str) -> bool) -> Vec<u8> {
    let file = ElfFile64::<Endianness>::parse(file).expect("a linked file is an ELF file");
    let mut frame = Vec::new();
    let starts =
        |name: &[u8], words: &[&str]| words.iter().any(|word| name.starts_with(word.as_bytes()));
    for section in file.sections() {
        let name = section.name_bytes().expect("a section has a name");
        let header = section.elf_section_header();
        let word = |field: U32<Endianness>| field.get(Endianness::Little);
        let shape = (
            header.sh_type(Endianness::Little),
            header.sh_flags(Endianness::Little),
            word(header.sh_link),
            word(header.sh_info),
        );
        frame.extend_from_slice(name);
        if differs(&String::from_utf8_lossy(name)) {
            continue;
        }
        frame.extend_from_slice(format!(" {shape:x?}").as_bytes());
        let plain = name.strip_prefix(b".nv.merc").unwrap_or(name);
        let flags = SectionFlags::from_bits_retain(shape.1.0);
        let data = match is_no_bits(shape.0.0, flags) {
            true => &[],
            false => section.data().expect("a section lies in its file"),
        };
        if starts(name, &[".nv.info."]) {
            // The record that nvlink does not know stays with the code that is kept, as the last.
            let own = data.strip_suffix(LATER_COMPILER).unwrap_or(data);
            frame.extend_from_slice(format!(" {:#x}", own.len()).as_bytes());
        } else if !starts(plain, &[".text", ".nv.capmerc", ".debug_", ".nv_debug_"]) {
            frame.extend_from_slice(format!(" {:#x}", section.size()).as_bytes());
            if !starts(
                plain,
                &[
                    ".nv.info",
                    ".rel",
                    ".nv.resolvedrel",
                    ".symtab",
                    ".nv.constant2.",
                ],
            ) {
                frame.extend_from_slice(data);
            }
        }
        frame.push(b'\n');
    }
    for symbol in file.symbols() {
        let row = symbol.elf_symbol();
        frame.extend_from_slice(symbol.name_bytes().expect("a symbol has a name"));
        let kind = (
            row.st_info,
            row.st_other,
            row.st_shndx.get(Endianness::Little),
        );
        frame.extend_from_slice(format!(" {kind:x?}\n").as_bytes());
    }
    frame
}

/// Clears the control bits of a section's instructions.
fn mask_code(file: &mut [u8], name: &str) {
    for code in codes(file, name) {
        for word in file[code].as_chunks_mut::<16>().0 {
            *word = (u128::from_le_bytes(*word) & !CONTROL).to_le_bytes();
        }
    }
}

/// Returns `true` if a section's code does not have what nvlink changes it for, as a message says.
fn is_as_nvlink_makes(line: &str, file: &[u8], name: &str) -> bool {
    let codes = codes(file, name).into_iter();
    let words: Vec<Instruction> = codes
        .flat_map(|code| Instruction::all(&file[code]))
        .collect();
    if line.contains(FIRST_LOAD) {
        let mut loads = words.iter().filter(|word| word.loads_stack_pointer());
        loads.next().is_some_and(|load| load.write_barrier() == 7)
    } else if line.contains(WORK_AROUND) {
        !words.iter().any(|word| word.waits_for_shared())
    } else if line.contains(BARE_END) {
        let mut pairs = words.windows(2);
        !words.is_empty() && pairs.all(|pair| !pair[1].is_exit() || pair[0].is_error_barrier())
    } else {
        false
    }
}

/// Returns where the bytes of the sections of a name lie in a file.
fn codes(file: &[u8], name: &str) -> Vec<Range<usize>> {
    let parsed = ElfFile64::<Endianness>::parse(file);
    let sections = parsed.iter().flat_map(|file| file.sections());
    let named = sections.filter(|section| section.name() == Ok(name));
    let ranges = named.filter_map(|section| section.file_range());
    let ranges = ranges.map(|(start, size)| start as usize..(start + size) as usize);
    ranges
        .filter(|range| file.get(range.clone()).is_some())
        .collect()
}

/// Returns `true` if a link for a target with Mercury has code that nvlink of another toolkit than 13.0 makes anew with other
/// registers, sizes or sections, given what it says with `--cuweld-strict-finalize`: code of an older compiler, stubs of unified
/// functions, and in 13.5 code for the debugger, beside which records name other symbols (docs/using/toolkits.md).
pub fn is_made_anew(finalized: &Outcome, toolkit: &str) -> bool {
    let mut reasons = vec![
        "the compiler of an older toolkit made it",
        "it is a unified stub",
    ];
    if toolkit.starts_with("13.5") {
        reasons.push("it has no memory barrier where it ends");
    }
    reasons
        .iter()
        .any(|reason| finalized.stderr.contains(reason))
}
