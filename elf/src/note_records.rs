//! Notes in their file form, and the descriptors of CUDA's own notes.

use crate::put::put;

/// Owner name of NVIDIA's notes.
pub const NOTE_OWNER: &[u8] = b"NVIDIA Corp\0";
/// `n_type` of `.note.nv.cuinfo`.
pub const NOTE_CUDA_INFO: u32 = 1000;
/// `n_type` of `.note.nv.tkinfo`.
pub const NOTE_TOOL_INFO: u32 = 2000;

/// A note as it stands in a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawNote<'data> {
    /// Owner name with its NUL.
    pub owner: &'data [u8],
    /// Type.
    pub ty: u32,
    /// Descriptor.
    pub desc: &'data [u8],
}

/// Splits a note section; `None` if a record reaches past its end.
pub fn split_notes(mut bytes: &[u8]) -> Option<Vec<RawNote<'_>>> {
    let mut notes = Vec::new();
    while !bytes.is_empty() {
        let (note, rest) = first_note(bytes)?;
        notes.push(note);
        bytes = rest;
    }
    Some(notes)
}

/// Returns the first note of a section, and what follows it; `None` if it reaches past the end.
pub fn first_note(bytes: &[u8]) -> Option<(RawNote<'_>, &[u8])> {
    let word = |index: usize| -> Option<u32> {
        Some(u32::from_le_bytes(
            bytes.get(index * 4..index * 4 + 4)?.try_into().ok()?,
        ))
    };
    let (owner_size, desc_size, ty) = (word(0)? as usize, word(1)? as usize, word(2)?);
    let owner = bytes.get(12..12usize.checked_add(owner_size)?)?;
    let desc_start = 12 + owner_size.checked_next_multiple_of(4)?;
    let desc_end = desc_start.checked_add(desc_size)?;
    let desc = bytes.get(desc_start..desc_end)?;
    let next = desc_end.checked_next_multiple_of(4)?;
    let rest = bytes.get(next..).unwrap_or(&[]);
    Some((RawNote { owner, ty, desc }, rest))
}

/// Returns the size in bytes of a note in its file form.
pub fn note_size(owner: &[u8], desc: &[u8]) -> usize {
    12 + owner.len().next_multiple_of(4) + desc.len().next_multiple_of(4)
}

/// Writes a note in its file form into zeroed room that is large enough, and returns what is after
/// it.
pub fn put_note<'b>(room: &'b mut [u8], owner: &[u8], ty: u32, desc: &[u8]) -> &'b mut [u8] {
    let Some((mut note, rest)) = room.split_at_mut_checked(note_size(owner, desc)) else {
        return &mut [];
    };
    for word in [owner.len() as u32, desc.len() as u32, ty] {
        note = put(note, &word.to_le_bytes());
    }
    for bytes in [owner, desc] {
        let padding = bytes.len().next_multiple_of(4) - bytes.len();
        note = put(note, bytes);
        note = note.get_mut(padding..).unwrap_or_default();
    }
    rest
}

/// Appends a note in its file form.
pub fn append_note(out: &mut Vec<u8>, owner: &[u8], ty: u32, desc: &[u8]) {
    let start = out.len();
    out.resize(start + note_size(owner, desc), 0);
    if let Some(room) = out.get_mut(start..) {
        put_note(room, owner, ty, desc);
    }
}

/// Returns the descriptor of a `.note.nv.tkinfo` note: version 2, the offsets of five strings, and
/// these: the object, the tool, its version and branch, and the options, padded to 4 bytes.
pub fn tool_info(strings: [&[u8]; 5]) -> Vec<u8> {
    let mut desc = 2u32.to_le_bytes().to_vec();
    let mut texts = Vec::new();
    for text in strings {
        desc.extend_from_slice(&(texts.len() as u32).to_le_bytes());
        texts.extend_from_slice(text);
        texts.push(0);
    }
    desc.extend_from_slice(&texts);
    desc.resize(desc.len().next_multiple_of(4), 0);
    desc
}

/// Returns the five strings of a `.note.nv.tkinfo` descriptor.
pub fn tool_info_strings(desc: &[u8]) -> Option<[&[u8]; 5]> {
    let strings = desc.get(24..)?;
    let mut found = [&[][..]; 5];
    for (index, slot) in found.iter_mut().enumerate() {
        let at = 4 + index * 4;
        let offset = u32::from_le_bytes(desc.get(at..at + 4)?.try_into().ok()?);
        *slot = super::raw::string_at(strings, offset)?;
    }
    Some(found)
}

/// Returns the descriptor of a `.note.nv.cuinfo` note with a virtual SM and the number of a
/// toolkit.
pub fn cuda_info(virtual_sm: u16, toolkit: u32) -> [u8; 8] {
    let mut desc = [0; 8];
    desc[0] = 2;
    desc[2..4].copy_from_slice(&virtual_sm.to_le_bytes());
    desc[4..8].copy_from_slice(&toolkit.to_le_bytes());
    desc
}

/// Returns the version, the virtual SM and the toolkit of a `.note.nv.cuinfo` descriptor.
pub fn cuda_info_fields(desc: &[u8]) -> Option<(u16, u16, u16)> {
    let half = |at: usize| -> Option<u16> {
        Some(u16::from_le_bytes(desc.get(at..at + 2)?.try_into().ok()?))
    };
    Some((half(0)?, half(2)?, half(4)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_split_and_join() {
        let mut bytes = Vec::new();
        append_note(&mut bytes, b"NVIDIA Corp\0", 1000, &cuda_info(90, 0x82));
        append_note(&mut bytes, b"abc\0", 7, &[1, 2, 3]);
        let notes = split_notes(&bytes).unwrap();
        assert_eq!(notes.len(), 2);
        assert_eq!(cuda_info_fields(notes[0].desc), Some((2, 90, 0x82)));
        assert_eq!(
            notes[1],
            RawNote {
                owner: b"abc\0",
                ty: 7,
                desc: &[1, 2, 3]
            }
        );
        for length in 1..bytes.len() - 1 {
            // A cut note is refused, except where the cut falls between the two notes.
            assert_eq!(
                split_notes(&bytes[..length]).is_some(),
                length == 32,
                "{length}"
            );
        }
    }

    #[test]
    fn tool_strings_are_found_again() {
        let desc = tool_info([b"", b"nvlink", b"v", b"b", b"-arch sm_90 "]);
        assert_eq!(desc.len() % 4, 0);
        let strings = tool_info_strings(&desc).unwrap();
        assert_eq!(strings, [&b""[..], b"nvlink", b"v", b"b", b"-arch sm_90 "]);
    }
}
