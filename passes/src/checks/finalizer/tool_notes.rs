//! The tool that wrote a file, by `.note.nv.tkinfo`: a file that NVIDIA's linker or JIT linker
//! wrote is linked already.

use cuweld_elf::check;
use cuweld_elf::check::Findings;
use cuweld_elf::check::View;
use cuweld_elf::note_records;
use cuweld_elf::note_records::split_notes;
use cuweld_elf::note_records::tool_info_strings;

/// Tools that link.
const LINKERS: [&[u8]; 2] = [b"nvlink", b"nvJIT API"];

/// Returns `true` if a note says that a linker of NVIDIA's wrote the file.
pub fn is_linked(image: &[u8]) -> bool {
    let view = check::read(image, &mut Findings::default());
    view.is_some_and(|view| is_view_linked(&view))
}

fn is_view_linked(view: &View<'_>) -> bool {
    let sections = view.sections.iter();
    sections
        .filter(|section| section.name == b".note.nv.tkinfo")
        .flat_map(|section| split_notes(section.bytes))
        .flatten()
        .filter(|note| note.ty == note_records::NOTE_TOOL_INFO)
        .any(|note| {
            let strings = tool_info_strings(note.desc);
            strings.is_some_and(|[_, tool, ..]| LINKERS.contains(&tool))
        })
}
