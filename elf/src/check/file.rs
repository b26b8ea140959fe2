//! The file as a whole: owners of bytes, links of section headers, program headers, kind.

use foldhash::fast::FixedState;
use hashbrown::HashSet;

use super::Findings;
use super::Rule;
use super::View;
use super::ViewSection;
use super::view::rows;
use crate::align::align_up;
use crate::mercury::Bank;
use crate::mercury::PREFIX;
use crate::raw::OSABI_CUDA;
use crate::raw::PT_LOAD;
use crate::raw::RawSymbol;
use crate::target::section_types::SectionFlags;
use crate::target::section_types::is_no_bits;
use crate::target::section_types::is_relocs;
use crate::target::section_types::sht;

/// Bytes that a file with Mercury leaves between the names of sections and those of symbols.
const NAMES_GAP: u64 = 0x24;

pub(super) fn check(view: &View<'_>, findings: &mut Findings) {
    bytes_owned(view, findings);
    links(view, findings);
    segments(view, findings);
    kind(view, findings);
}

/// Returns `true` if a file holds Mercury beside SASS.
pub(super) fn has_mercury(view: &View<'_>) -> bool {
    let is_code = |section: &ViewSection<'_>| section.ty() == sht::CUDA_CAPMERC;
    view.first(sht::CUDA_MERCURY_SYMTAB).is_some() || view.sections.iter().any(is_code)
}

/// A stretch of the file with its owner.
struct Owned<'data> {
    start: u64,
    end: u64,
    /// Alignment of its start.
    align: u64,
    name: &'data [u8],
    is_mercury: bool,
}

fn bytes_owned(view: &View<'_>, findings: &mut Findings) {
    let file = view.headers.file;
    let table = |start: u64, size: u64, name: &'static [u8]| Owned {
        start,
        end: start.saturating_add(size),
        align: 8,
        name,
        is_mercury: false,
    };
    let mut owners = vec![table(0, 64, b"file header")];
    let (sections, segments) = (
        view.sections.len() as u64,
        view.headers.segments.len() as u64,
    );
    owners.push(table(file.shoff.get(), 64 * sections, b"section headers"));
    if segments != 0 {
        owners.push(table(file.phoff.get(), 56 * segments, b"program headers"));
    }
    for section in &view.sections {
        if section.bytes.is_empty() {
            continue;
        }
        let header = section.header;
        owners.push(Owned {
            start: header.offset.get(),
            end: header.offset.get().saturating_add(header.size.get()),
            align: header.align.get().max(1),
            name: section.name,
            is_mercury: section.is_mercury(),
        });
    }
    owners.sort_by_key(|owner| (owner.start, owner.is_mercury, owner.end));
    // Sections without bytes take an aligned place too: what follows may stand after their
    // alignment.
    let mut empty: Vec<u64> = view
        .sections
        .iter()
        .filter(|section| section.bytes.is_empty() && section.ty() != sht::NULL)
        .map(|section| section.header.offset.get())
        .collect();
    empty.sort_unstable();
    let room = names_room(view);
    let mut reached = 0;
    let mut last: &Owned<'_> = match owners.first() {
        Some(first) => first,
        None => return,
    };
    for owner in &owners {
        if owner.start < reached {
            let shared = owner.is_mercury != last.is_mercury
                && (owner.start, owner.end) == (last.start, last.end);
            if !shared {
                let what = format!(
                    "bytes {:#x} to {:#x} belong to '{}' too",
                    owner.start,
                    owner.end.min(reached),
                    String::from_utf8_lossy(last.name)
                );
                findings.report(Rule::BytesOwned, owner.name, 0, what);
            }
            continue;
        }
        let left = match last.name {
            b".shstrtab" if room.is_some() && !has_added_tables(view) => NAMES_GAP,
            b".strtab" => room.unwrap_or(0),
            _ => 0,
        };
        // The alignments of empty sections between the two count.
        let from = empty.partition_point(|offset| *offset < reached);
        let before = empty[from..]
            .iter()
            .take_while(|offset| **offset <= owner.start)
            .last()
            .copied();
        let expected = align_up(reached.saturating_add(left), owner.align);
        let behind_empty =
            before.is_some_and(|offset| align_up(offset, owner.align) == owner.start);
        // ptxas leaves room after the names of sections in objects.
        let in_object = !view.is_executable() && last.name == b".shstrtab";
        if owner.start != expected && !behind_empty && !in_object {
            let what = format!("bytes {reached:#x} to {:#x} have no owner", owner.start);
            findings.report(Rule::BytesOwned, b"", reached, what);
        }
        zeros(view, reached, owner.start, findings);
        reached = owner.end;
        last = owner;
    }
    let size = view.image.len() as u64;
    if reached < size {
        let what = format!("bytes {reached:#x} to {size:#x} have no owner");
        findings.report(Rule::BytesOwned, b"", reached, what);
    }
}

fn zeros(view: &View<'_>, start: u64, end: u64, findings: &mut Findings) {
    let bytes = view.image.get(start as usize..end as usize).unwrap_or(&[]);
    if let Some(at) = bytes.iter().position(|byte| *byte != 0) {
        let what = "padding that is not zero";
        findings.report(Rule::BytesOwned, b"", start + at as u64, what);
    }
}

/// Returns the number of bytes that a file with Mercury leaves after the names of symbols: the
/// bytes by which the names of constant banks are shorter in the SASS view, and the names of their
/// relocations as a whole. `None` for other files.
fn names_room(view: &View<'_>) -> Option<u64> {
    if !has_mercury(view) {
        return None;
    }
    let relocated: HashSet<&[u8], FixedState> = view
        .sections
        .iter()
        .map(|section| section.name)
        .filter(|name| name.starts_with(b".rela.nv.constant"))
        .collect();
    let mut room = 0;
    for section in &view.sections {
        let Some(name) = section.name.strip_prefix(PREFIX) else {
            continue;
        };
        let Some(sass) = sass_bank(name) else {
            continue;
        };
        let shorter = (name.len() - sass.len()) as u64 - 1;
        room += shorter;
        let relocs = [b".rela".as_slice(), &sass].concat();
        if relocated.contains(relocs.as_slice()) {
            room += shorter + relocs.len() as u64 + 1;
        }
    }
    Some(room)
}

/// Returns `true` if tables of section indices were added after the Mercury view was laid out: that
/// of the SASS view is then not among the first sections, and the names of both take the room after
/// those of sections.
fn has_added_tables(view: &View<'_>) -> bool {
    let place = view.first(sht::SYMTAB_SHNDX).map(|(index, _)| index);
    place.is_some_and(|index| index > CLASSIC_TABLE)
}

/// Index of the `.symtab_shndx` that the classic linker writes.
const CLASSIC_TABLE: usize = 4;

/// Returns the name in the SASS view of a constant bank of the Mercury view.
pub(super) fn sass_bank(name: &[u8]) -> Option<Vec<u8>> {
    let (bank, function) = Bank::of_name(name)?;
    Some([bank.sass, function].concat())
}

fn links(view: &View<'_>, findings: &mut Findings) {
    let ty = |index: u32| view.section(index).map(ViewSection::ty);
    for section in &view.sections {
        let header = section.header;
        let (link, info) = (header.link.get(), header.info.get());
        let mut wrong = |what: String| findings.report(Rule::Links, section.name, None, what);
        if ty(link).is_none() {
            wrong(format!("its link {link} names no section"));
            continue;
        }
        let wanted = match section.ty() {
            sht::SYMTAB | sht::CUDA_MERCURY_SYMTAB => Some(sht::STRTAB),
            sht::REL | sht::RELA | sht::CUDA_INFO | sht::CUDA_CALLGRAPH | sht::CUDA_PROTOTYPE => {
                Some(sht::SYMTAB)
            }
            sht::CUDA_MERCURY_RELA
            | sht::CUDA_MERCURY_INFO
            | sht::CUDA_MERCURY_CALLGRAPH
            | sht::CUDA_MERCURY_PROTOTYPE
            | sht::CUDA_CAPMERC => Some(sht::CUDA_MERCURY_SYMTAB),
            _ => None,
        };
        if wanted.is_some() && ty(link) != wanted {
            wrong(format!("its link {link} names a section of another kind"));
        }
        let names_section =
            header.flags().contains(SectionFlags::INFO_LINK) || is_relocs(section.ty());
        // A note's info is its own version.
        if names_section && section.ty() != sht::NOTE && ty(info).is_none() {
            wrong(format!("its info {info} names no section"));
        }
        if section.is_code() || section.ty() == sht::CUDA_CAPMERC {
            let symbols = view
                .section(link)
                .map_or(&[][..], |table| rows::<RawSymbol>(table.bytes));
            if info & 0x00ff_ffff >= symbols.len().max(1) as u32 {
                wrong(format!("its info {info:#x} names no symbol"));
            }
        }
    }
}

/// Returns the `p_flags` that a section in memory needs.
fn rights(flags: SectionFlags) -> u32 {
    let bit = |has, bit| if flags.contains(has) { bit } else { 0 };
    4 | bit(SectionFlags::WRITE, 2) | bit(SectionFlags::EXECINSTR, 1)
}

/// Returns `true` if a program header gives rights: all that are needed, and that to write only if
/// it is needed. Constants of SASS files stand among code.
fn fits(flags: u32, needed: u32) -> bool {
    flags & needed == needed && flags & 2 == needed & 2
}

fn segments(view: &View<'_>, findings: &mut Findings) {
    if !view.is_executable() {
        return;
    }
    let mut loads: Vec<_> = view
        .headers
        .segments
        .iter()
        .filter(|segment| segment.ty.get() == PT_LOAD && segment.filesz.get() != 0)
        .map(|segment| {
            (
                segment.offset.get(),
                segment.filesz.get(),
                segment.flags.get(),
            )
        })
        .collect();
    loads.sort_unstable();
    for section in &view.sections {
        let header = section.header;
        if !section.flags().contains(SectionFlags::ALLOC)
            || section.is_mercury()
            || is_no_bits(section.ty(), section.flags())
        {
            continue;
        }
        let (start, size) = (header.offset.get(), header.size.get());
        if size == 0 {
            continue;
        }
        let after = loads.partition_point(|(offset, ..)| *offset <= start);
        let load = after.checked_sub(1).and_then(|index| loads.get(index));
        let within = load.is_some_and(|(offset, length, flags)| {
            offset.saturating_add(*length) >= start.saturating_add(size)
                && fits(*flags, rights(section.flags()))
        });
        if !within {
            let what = "no program header loads it with its rights";
            findings.report(Rule::Segments, section.name, None, what);
        }
    }
}

fn kind(view: &View<'_>, findings: &mut Findings) {
    let file = view.headers.file;
    if file.ident[7] != OSABI_CUDA {
        return;
    }
    let flags = file.flags.get();
    let wanted = if has_mercury(view) { 2 } else { 4 };
    // An empty link for a Mercury target has neither view.
    let has_code = view.sections.iter().any(|section| section.is_code());
    let says = flags & 7;
    if says != wanted && (has_code || wanted == 2) {
        let what = format!("kind bits {says} in e_flags {flags:#x}, not {wanted}");
        findings.report(Rule::Kind, b"", 48, what);
    }
    let notes = view.section(flags >> 24);
    // The number is cut to 8 bits.
    let named = notes.is_some_and(|section| section.name == b".note.nv.cuinfo");
    let exists = (0..256.min(view.sections.len()))
        .any(|index| view.sections[index].name == b".note.nv.cuinfo");
    if exists && !named {
        let what = format!("e_flags {flags:#x} name another section than .note.nv.cuinfo");
        findings.report(Rule::Kind, b"", 51, what);
    }
}
