//! Section headers as the compilers of the toolkit write them. nvlink takes type, flags, link and
//! info of a header at their word, each by rules of its own, so that an object with others is
//! refused. What compilers write was read from 527 objects for sm_75 to sm_90a of the toolkits 12
//! and 13.

use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::Section;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolPlace;

use super::rows::Rows;

const NONE: SectionFlags = SectionFlags::empty();

/// Flags that say nothing here: barrier counts of code, `SHF_INFO_LINK`, which toolkit 12.0 does
/// not set, and that of packed contents.
const BESIDE: SectionFlags = SectionFlags::BARRIERS
    .union(SectionFlags::INFO_LINK)
    .union(SectionFlags::COMPRESSED);

/// Flags of variables.
const OF_DATA: SectionFlags = SectionFlags::WRITE.union(SectionFlags::ALLOC);

/// What a section's header has to say, by its name.
struct Expected {
    ty: u32,
    /// `sh_flags`, without [`BESIDE`].
    flags: SectionFlags,
    /// Whether `sh_link` names the symbol table; it names nothing otherwise.
    symbols: bool,
    info: Info,
}

/// What `sh_info` holds.
enum Info {
    Nothing,
    Section,
    /// The section of a function's code.
    Code,
    /// The function whose code the section is.
    Function,
}

/// Returns the header of a section that compilers write; `None` for the others.
fn expected(section: &Section<'_>) -> Option<Expected> {
    let name = section.name;
    let starts = |prefix: &[u8]| name.starts_with(prefix);
    let with = |ty, flags, symbols, info| {
        Some(Expected {
            ty,
            flags,
            symbols,
            info,
        })
    };
    // The first letter decides between few.
    match name.get(1)? {
        b'n' => match name {
            b".nv.info" => with(sht::CUDA_INFO, NONE, true, Info::Nothing),
            b".nv.callgraph" => with(sht::CUDA_CALLGRAPH, NONE, true, Info::Nothing),
            b".nv.prototype" => with(sht::CUDA_PROTOTYPE, NONE, true, Info::Nothing),
            b".nv.compat" => with(sht::CUDA_COMPAT, NONE, false, Info::Nothing),
            b".nv.global" => with(sht::CUDA_GLOBAL, OF_DATA, false, Info::Nothing),
            b".nv.global.init" => with(sht::CUDA_GLOBAL_INIT, OF_DATA, false, Info::Nothing),
            b".nv_debug.shared" => None,
            _ if starts(b".nv.info.") => with(sht::CUDA_INFO, NONE, true, Info::Code),
            _ if starts(b".nv.constant0.") => {
                with(sht::CUDA_CONSTANT0, SectionFlags::ALLOC, false, Info::Code)
            }
            _ if starts(b".nv_debug_") => with(sht::PROGBITS, NONE, false, Info::Nothing),
            _ => None,
        },
        // nvlink has words for code without contents.
        b't' if starts(b".text.") && section.ty != sht::NOBITS => with(
            sht::PROGBITS,
            SectionFlags::ALLOC | SectionFlags::EXECINSTR,
            true,
            Info::Function,
        ),
        b'r' if starts(b".rela.") => with(sht::RELA, NONE, true, Info::Section),
        b'r' if starts(b".rel.") => with(sht::REL, NONE, true, Info::Section),
        b'd' if starts(b".debug_") => with(sht::PROGBITS, NONE, false, Info::Nothing),
        b's' if matches!(name, b".strtab" | b".shstrtab") => {
            with(sht::STRTAB, NONE, false, Info::Nothing)
        }
        _ => None,
    }
}

/// Returns `true` if a note of CUDA has the flag of its kind, and none beside it but
/// `SHF_INFO_LINK`.
pub(super) fn has_flag_of_note(section: &Section<'_>) -> bool {
    let flag = match section.kind {
        SectionKind::ToolInfo => SectionFlags::CUDA_TOOL_NOTE,
        _ => SectionFlags::CUDA_INFO_NOTE,
    };
    section.flags - SectionFlags::INFO_LINK == flag
}

/// Returns `true` if a header of a section of the SASS view is not one that compilers write.
pub(super) fn is_odd(rows: &Rows<'_, '_>, id: SectionId, section: &Section<'_>) -> bool {
    if section.name.is_empty() {
        return section.kind != SectionKind::Null;
    }
    let Some(expected) = expected(section) else {
        // Of other constants only the flags are known.
        let is_constant = section.name.starts_with(b".nv.constant");
        return is_constant && section.flags - BESIDE != SectionFlags::ALLOC;
    };
    let kind_is = |id: SectionId, kind| rows.sections[id].kind == kind;
    let link_fits = match section.link {
        Some(link) => expected.symbols && kind_is(link, SectionKind::Symbols),
        None => !expected.symbols,
    };
    let info_fits = match (expected.info, section.info) {
        (Info::Nothing, SectionInfo::None) => !section.flags.contains(SectionFlags::INFO_LINK),
        (Info::Section, SectionInfo::Section(_)) => true,
        (Info::Code, SectionInfo::Section(code)) => kind_is(code, SectionKind::Text),
        (Info::Function, SectionInfo::Symbol { symbol, .. }) => {
            let symbol = &rows.shared.symbols[symbol];
            symbol.is_function() && symbol.place == SymbolPlace::Section(id)
        }
        _ => false,
    };
    let is_filled = section.kind != SectionKind::FunctionConstants(0) || section.size() > 0;
    let fits = section.ty == expected.ty
        && section.flags - BESIDE == expected.flags
        && link_fits
        && info_fits
        && is_filled;
    !fits
}
