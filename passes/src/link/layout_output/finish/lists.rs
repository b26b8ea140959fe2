//! Attribute lists and notes of the output, encoded side by side.

use cuweld_elf::note_records;
use cuweld_elf::note_records::append_note;
use cuweld_ir::Attribute;
use cuweld_ir::AttributeId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Note;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolRef;
use cuweld_ir::elf::encode::append_attribute;
use cuweld_ir::table::EntityId;

use super::Content;
use super::Finish;

/// Returns `true` if a section holds a list.
pub(super) fn is_list(content: Content) -> bool {
    matches!(
        content,
        Content::ToolInfo | Content::CudaInfo | Content::Info(_) | Content::Compat
    )
}

impl<'m, 'data> Finish<'m, 'data> {
    /// Encodes a list, if it is one.
    pub(super) fn append_list(&self, content: Content, out: &mut Vec<u8>) {
        let notes_of = match content {
            Content::ToolInfo => Some(note_records::NOTE_TOOL_INFO),
            Content::CudaInfo => Some(note_records::NOTE_CUDA_INFO),
            _ => None,
        };
        if let Some(ty) = notes_of {
            for note in self.notes(ty) {
                append_note(out, note.owner, note.ty, note.desc);
            }
            return;
        }
        for id in self.records(content) {
            let attribute = &self.module.attributes[*id];
            let none = self.unnamed_symbol_of(attribute);
            let refs = self
                .module
                .refs(attribute)
                .iter()
                .map(|target| match target {
                    SymbolRef::None => none,
                    target => self.reference(*target),
                });
            append_attribute(out, attribute, refs);
        }
    }

    /// Returns the index of what symbol 0 of the object of a record became: 0, or that of the
    /// object's symbol without a name [undefined-leaves-unnamed].
    fn unnamed_symbol_of(&self, attribute: &Attribute<'_>) -> u32 {
        let section = attribute
            .section
            .filter(|_| !self.unnamed_symbol.is_empty());
        let object = section.map(|section| self.module.sections[section].object);
        let found = object.and_then(|object| self.unnamed_symbol.get(&object));
        found.copied().unwrap_or(0)
    }

    /// Returns the notes of a type.
    fn notes(&self, ty: u32) -> impl Iterator<Item = &'m Note<'data>> {
        let module = self.module;
        let notes = module.merged_notes.iter().map(|id| &module.notes[*id]);
        notes.filter(move |note| {
            let section = note.section.map(|section| module.sections[section].kind);
            let is_tool = match section {
                Some(kind) => kind == SectionKind::ToolInfo,
                None => note.ty == note_records::NOTE_TOOL_INFO,
            };
            is_tool == (ty == note_records::NOTE_TOOL_INFO)
        })
    }

    /// Returns the records of an attribute list; none of anything else.
    fn records(&self, content: Content) -> &'m [AttributeId] {
        match content {
            Content::Compat => &self.module.merged_compat,
            Content::Info(link) => self.info_records(link),
            _ => &[],
        }
    }

    /// Returns the records of `.nv.info`, or of a function's.
    fn info_records(&self, link: Option<LinkSymbolId>) -> &'m [AttributeId] {
        let module = self.module;
        let function = link.and_then(|link| module.link_function(link));
        // Lists are found by function; the module-wide list is the first.
        let list = match function {
            None => module.merged_info.first(),
            Some(function) => self
                .out
                .info_lists
                .get(function.index())
                .and_then(|index| module.merged_info.get(*index as usize)),
        };
        list.map_or(&[], |list| &list.records)
    }
}
