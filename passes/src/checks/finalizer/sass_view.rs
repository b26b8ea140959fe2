//! The SASS view of a file, alone.
//!
//! The sections of the Mercury view stand after all others, so that indices stay as they are. Files
//! close up, and the kind bits and `.nv.compat` say that there is no Mercury.

use cuweld_elf::align::align_up;
use cuweld_elf::check;
use cuweld_elf::check::Findings;
use cuweld_elf::check::View;
use cuweld_elf::raw::FileHeader;
use cuweld_elf::raw::ProgramHeader;
use cuweld_elf::raw::SHN_LORESERVE;
use cuweld_elf::raw::SectionHeader;
use cuweld_elf::target::compat;
use cuweld_elf::target::section_types::SectionFlags;
use zerocopy::IntoBytes;

use super::FinalizerError;

/// Bytes of the record of `.nv.compat` that only files with Mercury have, which is its last.
const FAST_PATH_RECORD: usize = 12;

/// Writes the SASS view of a file alone.
pub fn sass_view(image: &[u8]) -> Result<Vec<u8>, FinalizerError> {
    let refused = FinalizerError::SassView;
    let view = check::read(image, &mut Findings::default()).ok_or(FinalizerError::NotElf)?;
    let kept = view
        .sections
        .iter()
        .position(|section| section.is_mercury());
    let kept = kept.unwrap_or(view.sections.len());
    if view.sections[kept..]
        .iter()
        .any(|section| !section.is_mercury())
    {
        return Err(refused("a section stands after those of the Mercury view"));
    }
    if view.headers.section_names >= kept || view.sections.len() >= SHN_LORESERVE.into() {
        return Err(refused("it has too many sections"));
    }
    let mut out = vec![0; size_of::<FileHeader>()];
    let mut headers: Vec<SectionHeader> = Vec::with_capacity(kept);
    for (index, section) in view.sections[..kept].iter().enumerate() {
        let mut header = *section.header;
        let mut bytes = section.bytes;
        if section.name == b".nv.compat" {
            bytes = without_fast_path(bytes);
            header.size = (bytes.len() as u64).into();
        }
        if index != 0 {
            let offset = align_up(out.len() as u64, header.align.get());
            header.offset = offset.into();
            if !bytes.is_empty() {
                out.resize(offset as usize, 0);
                out.extend_from_slice(bytes);
            }
        }
        headers.push(header);
    }
    let shoff = align_up(out.len() as u64, 8);
    out.resize(shoff as usize, 0);
    for header in &headers {
        out.extend_from_slice(header.as_bytes());
    }
    let phoff = out.len() as u64;
    for segment in view.headers.segments {
        out.extend_from_slice(moved(&view, segment, &headers, phoff).as_bytes());
    }
    let file = view.headers.file;
    let has_segments = !view.headers.segments.is_empty();
    let header = FileHeader {
        shoff: shoff.into(),
        phoff: if has_segments { phoff } else { 0 }.into(),
        shnum: (kept as u16).into(),
        // Kind 4: SASS alone.
        flags: (file.flags.get() & !7 | 4).into(),
        ..*file
    };
    out[..size_of::<FileHeader>()].copy_from_slice(header.as_bytes());
    Ok(out)
}

/// Returns `.nv.compat` without its last record, if that record names the SMs on which the SASS
/// runs.
fn without_fast_path(bytes: &[u8]) -> &[u8] {
    let Some(start) = bytes.len().checked_sub(FAST_PATH_RECORD) else {
        return bytes;
    };
    let (kept, record) = bytes.split_at(start);
    match record {
        [_, compat::CAN_FASTPATH_FINALIZE, 8, 0, ..] => kept,
        _ => bytes,
    }
}

/// Returns a program header with the new offset of the segment.
fn moved(
    view: &View<'_>,
    segment: &ProgramHeader,
    headers: &[SectionHeader],
    phoff: u64,
) -> ProgramHeader {
    let (start, size) = (segment.offset.get(), segment.filesz.get());
    if start == view.headers.file.phoff.get() {
        return ProgramHeader {
            offset: phoff.into(),
            ..*segment
        };
    }
    let mut first = None;
    let mut end = 0;
    for (section, header) in view.sections.iter().zip(headers) {
        let from = section.header.offset.get();
        let within = from >= start
            && from.saturating_add(section.bytes.len() as u64) <= start.saturating_add(size);
        let is_loaded = section.flags().contains(SectionFlags::ALLOC) && !section.bytes.is_empty();
        if within && is_loaded {
            first.get_or_insert(header.offset.get());
            end = header
                .offset
                .get()
                .saturating_add(section.bytes.len() as u64);
        }
    }
    let Some(first) = first else {
        // Memory without bytes.
        let mut rows = view.sections.iter().zip(headers);
        let place = rows.find(|(section, _)| {
            let is_there = section.header.offset.get() == start && section.bytes.is_empty();
            is_there && section.flags().contains(SectionFlags::ALLOC)
        });
        let offset = place.map_or(segment.offset, |(_, header)| header.offset);
        return ProgramHeader { offset, ..*segment };
    };
    let length = end - first;
    let behind = segment.memsz.get().saturating_sub(size);
    ProgramHeader {
        offset: first.into(),
        filesz: length.into(),
        memsz: length.saturating_add(behind).into(),
        ..*segment
    }
}
