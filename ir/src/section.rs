//! Sections of input objects.

use cuweld_elf::mercury::Bank;
use cuweld_elf::mercury::PREFIX;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::sht;

use crate::ids::*;
use crate::table::IdRange;

/// A section header with its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Section<'data> {
    /// The object that holds it.
    pub object: ObjectId,
    /// Its name, a slice of the section name table.
    pub name: &'data [u8],
    /// `sh_type`.
    pub ty: u32,
    /// `sh_flags`.
    pub flags: SectionFlags,
    /// `sh_addralign` in bytes; 0 and 1 both mean none.
    pub align: u64,
    /// `sh_entsize` in bytes.
    pub entsize: u64,
    /// `sh_link` as a section of the same object.
    pub link: Option<SectionId>,
    /// `sh_info`, decoded by the section's type and flags.
    pub info: SectionInfo,
    /// What it holds.
    pub content: SectionContent<'data>,
    /// Relocation rows, for REL and RELA sections.
    pub relocs: IdRange<RelocId>,
    /// Records, for `.nv.info*` and `.nv.compat`.
    pub attributes: IdRange<AttributeId>,
    /// What it is to the linker; set by `classify`.
    pub kind: SectionKind,
    /// The function whose code, attributes, constants or shared variables it holds; set by
    /// `classify`.
    pub owner: Option<FunctionId>,
    /// Offset in bytes of this contribution within the output section; set by `place-memory`.
    pub place: Option<u64>,
}

impl Section<'_> {
    /// Returns the size in bytes of contents that are not decoded; 0 for decoded ones.
    pub fn size(&self) -> u64 {
        match self.content {
            SectionContent::Bytes(bytes) => bytes.len() as u64,
            SectionContent::NoBits(size) => size,
            SectionContent::Decoded => 0,
        }
    }

    /// Returns the contents as stored in the file; empty for NOBITS and decoded sections.
    pub fn bytes(&self) -> &[u8] {
        match self.content {
            SectionContent::Bytes(bytes) => bytes,
            _ => &[],
        }
    }
}

/// `sh_info` as what it refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SectionInfo {
    /// 0.
    #[default]
    None,
    /// A section index (`SHF_INFO_LINK`, and relocation sections).
    Section(SectionId),
    /// `.text.*`: the function's symbol in bits 0..23, `high` in bits 31:24 (the register count on
    /// sm_75..89, 0 from sm_90 on).
    Symbol {
        /// The function's symbol.
        symbol: SymbolId,
        /// Bits 31:24.
        high: u8,
    },
    /// Anything else, carried through.
    Raw(u32),
}

/// Contents of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SectionContent<'data> {
    /// Bytes of the file, untouched.
    Bytes(&'data [u8]),
    /// Occupies this many bytes in memory and none in the file.
    NoBits(u64),
    /// The bytes are held as entities of other tables (symbols, relocations, attributes, notes,
    /// call graph) and are made anew when the object is written.
    #[default]
    Decoded,
}

/// The constant bank of addresses that position-independent code loads (`ptxas -pic`).
pub const ADDRESS_BANK: u8 = 4;

/// What a section is to the linker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SectionKind {
    /// `classify` has not run.
    #[default]
    Unclassified,
    /// The null section at index 0.
    Null,
    /// `.shstrtab`.
    SectionNames,
    /// `.strtab`.
    SymbolNames,
    /// `.symtab`.
    Symbols,
    /// `.symtab_shndx`.
    SymbolSectionIndices,
    /// A relocation section, SHT_REL or SHT_RELA.
    Relocs,
    /// `.note.nv.tkinfo`.
    ToolInfo,
    /// `.note.nv.cuinfo`.
    CudaInfo,
    /// `.nv.info`.
    Info,
    /// `.nv.info.F`.
    FunctionInfo,
    /// `.nv.compat`.
    Compat,
    /// `.nv.callgraph`.
    CallGraph,
    /// `.nv.prototype`.
    Prototypes,
    /// `.nv.rel.action`.
    RelAction,
    /// `.text.F`.
    Text,
    /// `.nv.constantN`: a module-wide constant bank.
    ConstantBank(u8),
    /// `.nv.constantN.F`: a constant bank of one function.
    FunctionConstants(u8),
    /// `.nv.global.init`.
    GlobalInit,
    /// `.nv.global`.
    Global,
    /// `.nv.shared.K`: shared variables of a kernel.
    KernelShared,
    /// `.nv_debug.shared`, `.nv.shared`: shared variables of device functions and of the module.
    ModuleShared,
    /// `.nv.local.F`.
    Local,
    /// Unified function and data tables (`.nv.uft*`, `.nv.udt*`).
    Unified,
    /// `.debug_*`, `.nv_debug_*` without SHF_ALLOC: concatenated.
    Debug,
    /// Anything else without SHF_ALLOC that is PROGBITS or a note: concatenated.
    Other,
    /// `.nv.capmerc.text.F`: the code of the Mercury view.
    MercuryText,
    /// `.nv.merc.symtab`.
    MercurySymbols,
    /// A section of the Mercury view whose plain twin has the same contents: constants and data.
    MercuryTwin,
    /// `.nv.merc.debug_*`: concatenated, beside the plain section.
    MercuryDebug,
    /// `.nv.info` where the link merges that of the Mercury view.
    SassInfo,
    /// `.nv.info.F` where the link merges that of the Mercury view.
    SassFunctionInfo,
    /// `.rela*` where the link merges those of the Mercury view.
    SassRelocs,
    /// `.nv.constant0.K` of a Mercury object, which the Mercury view does not have.
    SassParameters,
    /// `.nv.shared.reserved.N` of EWP objects: names the reserved block, and is not linked.
    ReservedShared,
    /// Left out of the link: by an opt-in pass, the Mercury view of an object in a link of SASS
    /// alone, the call graph of the Mercury view, or what `-preserve-relocs` recorded.
    Stripped,
}

impl SectionKind {
    /// Returns `true` if a section of the kind is the code of a function, in either view.
    pub fn is_code(self) -> bool {
        matches!(self, SectionKind::Text | SectionKind::MercuryText)
    }

    /// Returns `true` if same-named sections of all objects are concatenated into one output
    /// section.
    pub fn is_concatenated(self) -> bool {
        matches!(
            self,
            SectionKind::ConstantBank(_)
                | SectionKind::GlobalInit
                | SectionKind::Global
                | SectionKind::ModuleShared
                | SectionKind::Debug
                | SectionKind::Other
                | SectionKind::Local
                | SectionKind::Unified
                | SectionKind::MercuryTwin
                | SectionKind::MercuryDebug
        )
    }
}

/// Returns the name that a section has while the Mercury view is linked: without `.nv.merc`, and
/// with the Mercury name of a module's bank. Banks of functions are named by [`Bank`] and function.
pub fn view_name<'data>(section: &Section<'data>) -> &'data [u8] {
    let number = section.ty.wrapping_sub(sht::CUDA_CONSTANT0);
    let bank = u8::try_from(number).ok().and_then(Bank::numbered);
    if let Some(bank) = bank.filter(|bank| bank.sass == section.name) {
        return bank.name;
    }
    if !section.flags.contains(SectionFlags::MERCURY) {
        return section.name;
    }
    match section.name.strip_prefix(PREFIX) {
        Some(rest) if rest.starts_with(b".") => rest,
        _ => section.name,
    }
}
