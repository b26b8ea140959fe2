//! What an object says of the toolkit that made it [toolkit-of-object].
//!
//! The legacy header has the toolkit in `e_version` and the virtual SM in `e_flags`. Other objects
//! have a note of type 1000 in the section that bits 31:24 of `e_flags` name by index, or, if these
//! are 0xff, in the one called `.note.nv.cuinfo` or `.note.nv.cuver`. Its descriptor begins with a
//! version: from 2 on the toolkit follows after the virtual SM; before that it is the first word of
//! `.note.nv.tkinfo`.

use crate::ids::SectionId;
use crate::note::Note;
use crate::object::Object;
use crate::section::Section;
use cuweld_elf::note_records;

/// The value of `e_flags` bits 31:24 that asks for the note's section by name.
const BY_NAME: u32 = 0xff;

/// What an object says of the toolkit that made it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Major * 10 + minor; 0 if the object does not say.
    pub toolkit: u32,
    /// The SM number of the PTX that the object was compiled from.
    pub virtual_sm: Option<u16>,
}

/// Reads the origin of an object, given its own rows.
pub fn origin(object: &Object<'_>, sections: &[Section<'_>], notes: &[Note<'_>]) -> Origin {
    if let Some(toolkit) = object.legacy {
        return Origin {
            toolkit,
            virtual_sm: object.legacy_virtual_sm(),
        };
    }
    let ordinal = |section: SectionId| object.sections.ordinal(section);
    let named = |name: &[u8]| sections.iter().position(|section| section.name == name);
    let place = match object.e_flags >> 24 {
        BY_NAME => named(b".note.nv.cuinfo").or_else(|| named(b".note.nv.cuver")),
        index => Some(index as usize),
    };
    let note_of = |place: Option<usize>, ty: u32| {
        notes.iter().find(|note| {
            note.ty == ty && note.section.and_then(ordinal) == place && place.is_some()
        })
    };
    let half = |desc: &[u8], index: usize| {
        let bytes = desc.get(index * 2..)?.first_chunk()?;
        Some(u16::from_le_bytes(*bytes))
    };
    let Some(note) = note_of(place, note_records::NOTE_CUDA_INFO) else {
        let is_empty = place
            .and_then(|place| sections.get(place))
            .is_some_and(|section| {
                section.name == b".note.nv.cuinfo"
                    && !notes
                        .iter()
                        .any(|note| note.section.and_then(ordinal) == place)
            });
        return Origin {
            toolkit: 0,
            virtual_sm: (!is_empty).then_some(0),
        };
    };
    let toolkit = match half(note.desc, 0) {
        Some(2..) => half(note.desc, 2).unwrap_or(0).into(),
        _ => note_of(named(b".note.nv.tkinfo"), note_records::NOTE_TOOL_INFO)
            .and_then(|note| note.desc.first_chunk())
            .map_or(0, |word| u32::from_le_bytes(*word)),
    };
    Origin {
        toolkit,
        virtual_sm: Some(half(note.desc, 1).unwrap_or(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ObjectId;
    use crate::object::ObjectOrigin;
    use crate::object::ObjectState;
    use crate::section::SectionContent;
    use crate::section::SectionInfo;
    use crate::section::SectionKind;
    use crate::table::EntityId;
    use crate::table::IdRange;
    use cuweld_elf::note_records::cuda_info;
    use cuweld_elf::target::section_types::sht;

    fn object(e_flags: u32, legacy: Option<u32>) -> Object<'static> {
        Object {
            name: b"a.cubin",
            member: b"",
            image: b"",
            e_type: 1,
            e_flags,
            unusual_abi: None,
            legacy,
            state: ObjectState::Candidate,
            system_library: false,
            is_silent: false,
            origin: ObjectOrigin::default(),
            sections: IdRange::new(0, 2),
            symbols: IdRange::default(),
            functions: IdRange::default(),
            relocs: IdRange::default(),
            attributes: IdRange::default(),
            calls: IdRange::default(),
            prototypes: IdRange::default(),
            notes: IdRange::default(),
        }
    }

    fn section(name: &'static [u8]) -> Section<'static> {
        Section {
            object: ObjectId::new(0),
            name,
            ty: sht::NOTE,
            flags: Default::default(),
            align: 4,
            entsize: 0,
            link: None,
            info: SectionInfo::None,
            content: SectionContent::Decoded,
            relocs: IdRange::default(),
            attributes: IdRange::default(),
            kind: SectionKind::Unclassified,
            owner: None,
            place: None,
        }
    }

    fn note(section: usize, ty: u32, desc: &[u8]) -> Note<'_> {
        Note {
            section: Some(SectionId::new(section)),
            owner: note_records::NOTE_OWNER,
            ty,
            desc,
        }
    }

    #[test]
    fn the_toolkit_is_found_as_nvlink_finds_it() {
        let sections = [section(b".note.nv.tkinfo"), section(b".note.nv.cuinfo")];
        let current = cuda_info(80, 0x82);
        let old = [1, 0, 80, 0, 1, 0, 0, 0];
        let tools = [0x81, 0, 0, 0];
        for (flags, legacy, desc, expected) in [
            (0x0100_5004, None, current, (0x82, Some(80))),
            (0xff00_5004, None, current, (0x82, Some(80))),
            (0x0500_5004, None, current, (0, Some(0))),
            (0x0000_5004, None, current, (0, Some(0))),
            (0x0100_5004, None, old, (0x81, Some(80))),
            (0x004b_0550, Some(0x78), current, (0x78, Some(75))),
        ] {
            let notes = [
                note(0, note_records::NOTE_TOOL_INFO, &tools),
                note(1, note_records::NOTE_CUDA_INFO, &desc),
            ];
            let found = origin(&object(flags, legacy), &sections, &notes);
            assert_eq!((found.toolkit, found.virtual_sm), expected, "{flags:#x}");
        }
    }
}
