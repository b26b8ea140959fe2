//! Attribute records and relocations of frames that no compiler of the toolkit writes: nvlink takes
//! them at their word, crashes, or ends with an internal error, in ways that are not known, so they
//! are refused.

use cuweld_diagnostics::Code;
use cuweld_diagnostics::codes::unsupported;
use cuweld_elf::target::attributes;
use cuweld_elf::target::attributes::reference_words;
use cuweld_elf::target::compat;
use cuweld_elf::target::relocs::RelocClass;
use cuweld_elf::target::relocs::reloc_type;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::Attribute;
use cuweld_ir::Reloc;
use cuweld_ir::Section;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolRef;
use cuweld_ir::attribute::UNIFIED_ENTRY;
use cuweld_ir::attribute::format;
use cuweld_ir::table::Part;

use super::rows::Rows;

/// Registers that a function can use, at most.
const MOST_REGISTERS: u32 = 255;

/// Returns `true` if a section holds records of compatibility, which have codes of their own.
pub(super) fn is_compat(rows: &Rows<'_, '_>, section: Option<SectionId>) -> bool {
    section.is_some_and(|section| rows.sections[section].kind == SectionKind::Compat)
}

/// Returns the code of the finding about an unsupported record of compatibility.
pub(super) fn compat_oddity(attribute: &Attribute<'_>) -> Option<Code> {
    let fits = match attribute.code {
        compat::CUDA_ACCELERATOR_TARGET
        | compat::ISA_CLASS
        | compat::INST_TENSORMAP_V1
        | compat::INST_TCGEN05_MMA
        | compat::ENABLE_OPPORTUNISTIC_FINALIZATION
        | compat::CUDA_INTERNAL_TARGET => attribute.format == format::BVAL,
        compat::MERCURY_ISA_MAJOR_MINOR_VERSION
        | compat::MERCURY_VERSION
        | compat::FINALIZER_VERSION => attribute.format == format::HVAL,
        compat::CAN_FASTPATH_FINALIZE => attribute.format == format::SVAL,
        _ => (format::NVAL..=format::SVAL).contains(&attribute.format),
    };
    let fits = fits && (attribute.format != format::BVAL || attribute.value < 0x100);
    (!fits).then_some(unsupported::COMPAT_RECORD)
}

/// How compilers write the records of a code.
#[derive(Clone, Copy)]
enum Shape {
    /// In several ways, or only some compilers write them.
    Any,
    /// Without a value.
    Flag,
    /// A half word.
    Half,
    /// A payload of this number of bytes.
    Bytes(u8),
    /// A payload of one or more words.
    Words,
    /// A payload that begins with a reference.
    Reference,
}

/// The shapes of all codes.
const SHAPES: [Shape; 256] = {
    let mut shapes = [Shape::Any; 256];
    let mut code = 0;
    while code < shapes.len() {
        shapes[code] = shape(code as u8);
        code += 1;
    }
    shapes
};

const fn shape(code: u8) -> Shape {
    match code {
        attributes::FRAME_SIZE
        | attributes::MIN_STACK_SIZE
        | attributes::MAX_STACK_SIZE
        | attributes::REGCOUNT
        | attributes::PARAM_CBANK => Shape::Bytes(8),
        attributes::MAX_THREADS
        | attributes::REQNTID
        | attributes::KPARAM_INFO
        | attributes::CTA_PER_CLUSTER => Shape::Bytes(12),
        attributes::CRS_STACK_SIZE
        | attributes::SW_WAR
        | attributes::CUDA_API_VERSION
        | attributes::MAX_CLUSTER_RANK => Shape::Bytes(4),
        attributes::CBANK_PARAM_SIZE
        | attributes::MAXREG_COUNT
        | attributes::MERCURY_ISA_VERSION => Shape::Half,
        attributes::CTAIDZ_USED
        | attributes::SW2861232_WAR
        | attributes::EXPLICIT_CLUSTER
        | attributes::RESERVED_SMEM_USED
        | attributes::TEXMODE_INDEPENDENT
        | attributes::TCGEN05_1CTA_USED
        | attributes::TCGEN05_2CTA_USED => Shape::Flag,
        attributes::EXTERNS => Shape::Words,
        code if attributes::holds_places(code) => Shape::Words,
        code if reference_words(code, 1) > 0 => Shape::Reference,
        _ => Shape::Any,
    }
}

/// Returns the code of the finding about a record without the format and size that compilers give
/// to its code.
fn shape_oddity(attribute: &Attribute<'_>) -> Option<Code> {
    let is_payload = attribute.format == format::SVAL;
    let size = attribute.refs.len() * 4 + attribute.rest.len();
    let fits = match SHAPES[usize::from(attribute.code)] {
        Shape::Any => true,
        Shape::Flag => (attribute.format, attribute.value) == (format::NVAL, 0),
        Shape::Half => attribute.format == format::HVAL,
        Shape::Bytes(bytes) => is_payload && size == usize::from(bytes),
        Shape::Words => is_payload && size > 0 && size.is_multiple_of(4),
        Shape::Reference => is_payload,
    };
    match fits {
        true => None,
        false if !is_payload && reference_words(attribute.code, 1) > 0 => {
            Some(unsupported::RECORD_PAYLOAD)
        }
        false => Some(unsupported::RECORD_FORMAT),
    }
}

/// Returns `true` if a record stands in the list of the module.
fn is_of_module(rows: &Rows<'_, '_>, attribute: &Attribute<'_>) -> bool {
    let section = attribute.section.map(|section| &rows.sections[section]);
    section.is_some_and(|section| section.kind == SectionKind::Info)
}

/// Returns the code of the finding about another unsupported record of a SASS view.
pub(super) fn attribute_oddity(rows: &Rows<'_, '_>, attribute: &Attribute<'_>) -> Option<Code> {
    let shape = shape_oddity(attribute);
    if shape.is_some() {
        return shape;
    }
    let target = || rows.shared.refs(attribute).first();
    match attribute.code {
        attributes::REGCOUNT
        | attributes::FRAME_SIZE
        | attributes::MIN_STACK_SIZE
        | attributes::MAX_STACK_SIZE
        | attributes::SAM_REGION_STACK_SIZE => {
            let names_function = target()
                .and_then(|target| target.symbol())
                .is_some_and(|symbol| rows.shared.symbols[symbol].is_function());
            if !names_function {
                return Some(unsupported::RESOURCE_RECORD);
            }
            let count = attribute.word(0).unwrap_or(0);
            (attribute.code == attributes::REGCOUNT && !(1..=MOST_REGISTERS).contains(&count))
                .then_some(unsupported::REGISTER_RANGE)
        }
        attributes::IMAGE_SLOT
        | attributes::IMAGE_OFFSET
        | attributes::IMAGE_SIZE
        | attributes::TEXTURE_NORMALIZED
        | attributes::SAMPLER_INIT
        | attributes::SAMPLER_FORCE_UNNORMALIZED
        | attributes::BINDLESS_IMAGE_OFFSETS => {
            (!matches!(target(), Some(SymbolRef::Symbol(_)))).then_some(unsupported::TEXTURE_RECORD)
        }
        attributes::KPARAM_INFO | attributes::KPARAM_INFO_V2 => parameter_oddity(rows, attribute),
        attributes::PARAM_CBANK => {
            let bank = match target() {
                Some(SymbolRef::Section(section)) => Some(*section),
                _ => None,
            };
            let fits = bank.is_some_and(|bank| {
                matches!(
                    rows.sections[bank].kind,
                    SectionKind::FunctionConstants(0) | SectionKind::SassParameters
                )
            });
            (!fits).then_some(unsupported::PARAMETER_SECTION)
        }
        UNIFIED_ENTRY => {
            let symbol = target().and_then(|target| target.symbol());
            let value = symbol.map(|symbol| rows.shared.symbols[symbol].value as u32);
            // The flags of ptxas, and those of nvlink.
            let fits = matches!(attribute.word(0), Some(1 | 7))
                && attribute.word(1) == value
                && attribute.word(2) == Some(0);
            (!fits).then_some(unsupported::UNIFIED_ROW)
        }
        attributes::NUM_BARRIERS if attribute.format == format::SVAL || attribute.value > 0xff => {
            Some(unsupported::BARRIER_FORMAT)
        }
        attributes::SPARSE_MMA_MASK if attribute.format != format::HVAL => {
            Some(unsupported::MASK_FORMAT)
        }
        // It counts for the function whose list it is in.
        attributes::LOAD_CACHE_REQUEST if is_of_module(rows, attribute) => {
            Some(unsupported::RECORD_FORMAT)
        }
        attributes::AT_ENTRY_FRAGMENTS if !rows.shared.target.is_mercury() => {
            Some(unsupported::ENTRY_FRAGMENTS)
        }
        _ => None,
    }
}

/// Returns the code of the finding about a record of an object with Mercury.
pub(super) fn mercury_oddity(rows: &Rows<'_, '_>, attribute: &Attribute<'_>) -> Option<Code> {
    shape_oddity(attribute).or_else(|| parameter_oddity(rows, attribute))
}

/// Returns the code of the finding about the record of a parameter that names a symbol, unless it
/// is a texture, sampler or surface [header-parameters].
fn parameter_oddity(rows: &Rows<'_, '_>, attribute: &Attribute<'_>) -> Option<Code> {
    let is_parameter = matches!(
        attribute.code,
        attributes::KPARAM_INFO | attributes::KPARAM_INFO_V2
    );
    let named = rows.shared.refs(attribute).first();
    let fits = match named {
        None | Some(SymbolRef::None) => true,
        Some(SymbolRef::Symbol(symbol)) => rows.shared.symbols[*symbol].ty.is_header(),
        Some(SymbolRef::Section(_)) => false,
    };
    (is_parameter && !fits).then_some(unsupported::PARAMETER_RECORD)
}

/// Returns `true` if a section is the list of a function that is not just the stub of a unified
/// one.
pub(super) fn is_list_of_code(
    sections: Part<'_, SectionId, Section<'_>>,
    section: &Section<'_>,
) -> bool {
    section.kind == SectionKind::FunctionInfo
        && !matches!(section.info, SectionInfo::Section(code)
            if sections[code].ty == sht::CUDA_UNIFIED_FUNCTION)
}

/// Returns the section that the rows of a relocation section apply to, if it is `.debug_frame`.
pub(super) fn frames(rows: &Rows<'_, '_>, relocs: &Section<'_>) -> Option<SectionId> {
    match relocs.info {
        SectionInfo::Section(patched) if rows.sections[patched].name == b".debug_frame" => {
            Some(patched)
        }
        _ => None,
    }
}

/// Returns `true` if a row of frames refers to something else than code and frames.
pub(super) fn is_odd_frame(rows: &Rows<'_, '_>, frames: SectionId, reloc: &Reloc) -> bool {
    match reloc.target {
        SymbolRef::None => true,
        SymbolRef::Symbol(symbol) => !rows.shared.symbols[symbol].is_function(),
        // Fields that are cleared with a function that is not linked name the function.
        SymbolRef::Section(section) => {
            let is_cleared = reloc_type(reloc.ty).is_some_and(|row| row.class == RelocClass::Clear);
            section != frames && (is_cleared || rows.sections[section].kind != SectionKind::Text)
        }
    }
}
