//! The compiler's record in an object, `.note.nv.tkinfo`.
//!
//! A debug compilation records the files it worked on. nvlink's own compiler works on no files, so
//! the names of ours are taken out, and the object gets the name that it has there; all else is the
//! same.

use cuweld_elf::note_records::append_note;
use cuweld_elf::note_records::split_notes;
use cuweld_elf::note_records::tool_info;
use cuweld_elf::note_records::tool_info_strings;
use cuweld_elf::raw::SectionHeader;
use cuweld_elf::raw::string_at;
use cuweld_elf::validate::validate_structure;

/// The section of the record.
const SECTION: &[u8] = b".note.nv.tkinfo";
/// What nvlink's own compiler calls the object that it makes.
const OBJECT_NAME: &str = "elf.o";

/// Returns the index of the record's section and the range of its bytes in the file.
fn find(cubin: &[u8]) -> Option<(usize, std::ops::Range<usize>)> {
    let headers = validate_structure(cubin).ok()?;
    let names = headers
        .sections
        .get(headers.section_names)
        .and_then(range)
        .and_then(|range| cubin.get(range))?;
    headers
        .sections
        .iter()
        .enumerate()
        .find(|(_, section)| string_at(names, section.name.get()) == Some(SECTION))
        .and_then(|(index, section)| Some((index, range(section)?)))
}

fn range(section: &SectionHeader) -> Option<std::ops::Range<usize>> {
    let start = usize::try_from(section.offset.get()).ok()?;
    Some(start..start.checked_add(usize::try_from(section.size.get()).ok()?)?)
}

/// Returns the release that compiled an object, in words.
pub fn release(cubin: &[u8]) -> Option<String> {
    let (_, range) = find(cubin)?;
    let notes = split_notes(cubin.get(range)?)?;
    let [_, _, version, ..] = tool_info_strings(notes.first()?.desc)?;
    Some(String::from_utf8_lossy(version).into_owned())
}

/// Takes the names of input and output out of the record. An object that does not name them stays
/// as it is. The section gets shorter; nothing moves in the file.
pub fn forget_files(cubin: &mut [u8], input: &str, output: &str) {
    if let Some((index, range)) = find(cubin)
        && let Some(notes) = without_files(cubin.get(range.clone()), input, output)
        && let Some(size_field) = size_field(cubin, index)
        && let Some(place) = cubin.get_mut(range)
        && let Some((head, tail)) = place.split_at_mut_checked(notes.len())
    {
        head.copy_from_slice(&notes);
        tail.fill(0);
        if let Some(field) = cubin.get_mut(size_field) {
            field.copy_from_slice(&(notes.len() as u64).to_le_bytes());
        }
    }
}

/// Returns the range of the file with the field that holds the size of a section.
fn size_field(cubin: &[u8], index: usize) -> Option<std::ops::Range<usize>> {
    let headers = validate_structure(cubin).ok()?;
    let table = usize::try_from(headers.file.shoff.get()).ok()?;
    let header = table.checked_add(index.checked_mul(size_of::<SectionHeader>())?)?;
    let start = header.checked_add(std::mem::offset_of!(SectionHeader, size))?;
    Some(start..start.checked_add(8)?)
}

fn without_files(section: Option<&[u8]>, input: &str, output: &str) -> Option<Vec<u8>> {
    let notes = split_notes(section?)?;
    let mut bytes = Vec::new();
    let mut changed = false;
    for note in notes {
        let Some(options) = tool_info_strings(note.desc)
            .and_then(|strings| std::str::from_utf8(strings[4]).ok())
            .and_then(|options| options.strip_prefix(&format!("{input} ")))
        else {
            append_note(&mut bytes, note.owner, note.ty, note.desc);
            continue;
        };
        let options = options.replacen(&format!("-o {output} "), "", 1);
        let [_, tool, version, branch, _] = tool_info_strings(note.desc)?;
        let object = OBJECT_NAME.as_bytes();
        let desc = tool_info([object, tool, version, branch, options.as_bytes()]);
        append_note(&mut bytes, note.owner, note.ty, &desc);
        changed = true;
    }
    changed.then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_records_of_the_files_change() {
        let note = |object: &str, options: &str| {
            let mut bytes = Vec::new();
            append_note(
                &mut bytes,
                b"NVIDIA Corp\0",
                2000,
                &tool_info([object, "ptxas", "V", "B", options].map(str::as_bytes)),
            );
            bytes
        };
        let options = "application ptx input -no-bb-merge  -g  -o x.cubin -arch sm_90 -m 64 -c  ";
        let found = without_files(
            Some(&note("x.cubin", options)),
            "application ptx input",
            "x.cubin",
        );
        assert_eq!(
            found,
            Some(note("elf.o", "-no-bb-merge  -g  -arch sm_90 -m 64 -c  "))
        );
        let plain = note("", "-arch sm_90 -m 64 -c  ");
        assert_eq!(
            without_files(Some(&plain), "application ptx input", "x.cubin"),
            None
        );
        assert_eq!(without_files(Some(&plain[..20]), "a", "b"), None);
    }

    #[test]
    fn what_is_no_object_stays_as_it_is() {
        let mut bytes = b"\x7fELF no more".to_vec();
        let before = bytes.clone();
        forget_files(&mut bytes, "a", "b");
        assert_eq!(bytes, before);
        assert_eq!(release(&bytes), None);
    }
}
