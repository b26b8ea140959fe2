//! Words for the values of enumerations and of ELF fields, both ways.

use std::borrow::Cow;

use crate::attribute::format;
use crate::callgraph_record::CallKind;
use crate::function::Fate;
use crate::function::Remade;
use crate::link_symbol::Liveness;
use crate::merge_log::MergeOutcome;
use crate::object::ObjectOrigin;
use crate::object::ObjectState;
use crate::section::SectionKind;
use cuweld_elf::raw;
use cuweld_elf::symbol::Binding;
use cuweld_elf::symbol::SymbolOther;
use cuweld_elf::symbol::SymbolType;
use cuweld_elf::symbol::header;
use cuweld_elf::target::attributes::attribute_by_name;
use cuweld_elf::target::attributes::attribute_name;
use cuweld_elf::target::compat;
use cuweld_elf::target::relocs::reloc_by_name;
use cuweld_elf::target::relocs::reloc_type;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::sht;

/// Values with their words.
pub(super) struct Words<T: 'static>(&'static [(T, &'static str)]);

impl<T> Words<T> {
    /// Makes a table.
    pub(super) const fn new(rows: &'static [(T, &'static str)]) -> Self {
        Words(rows)
    }
}

impl<T: Copy + PartialEq> Words<T> {
    /// Returns the word of a value.
    pub(super) fn word(&self, value: T) -> Option<&'static str> {
        self.0
            .iter()
            .find(|(known, _)| *known == value)
            .map(|(_, word)| *word)
    }

    /// Returns the value of a word.
    pub(super) fn value(&self, word: &str) -> Option<T> {
        self.0
            .iter()
            .find(|(_, known)| *known == word)
            .map(|(value, _)| *value)
    }

    /// Lists all words of the table.
    pub(super) fn words(&self) -> impl Iterator<Item = &'static str> + use<T> {
        self.0.iter().map(|(_, word)| *word)
    }

    /// Returns a list of all words of the table, for messages.
    pub(super) fn list(&self) -> String {
        self.0
            .iter()
            .map(|(_, word)| *word)
            .collect::<Vec<_>>()
            .join(", ")
    }
}

pub(super) const FILE_TYPES: Words<u16> = Words(&[(1, "REL"), (2, "EXEC"), (0xff00, "EWP")]);

pub(super) const OBJECT_STATES: Words<ObjectState> = Words(&[
    (ObjectState::Candidate, "candidate"),
    (ObjectState::Included, "included"),
    (ObjectState::SkippedUnneeded, "skipped-unneeded"),
    (ObjectState::SkippedExecutable, "skipped-executable"),
    (ObjectState::Linker, "linker"),
]);

pub(super) const OBJECT_ORIGINS: Words<ObjectOrigin> = Words(&[
    (ObjectOrigin::Cubin, "cubin"),
    (ObjectOrigin::Fatbin, "fatbin"),
    (ObjectOrigin::Compiled, "compiled"),
]);

const SECTION_TYPES: Words<u32> = Words(&[
    (sht::NULL, "NULL"),
    (sht::PROGBITS, "PROGBITS"),
    (sht::SYMTAB, "SYMTAB"),
    (sht::STRTAB, "STRTAB"),
    (sht::RELA, "RELA"),
    (sht::NOTE, "NOTE"),
    (sht::NOBITS, "NOBITS"),
    (sht::REL, "REL"),
    (sht::SYMTAB_SHNDX, "SYMTAB_SHNDX"),
    (sht::CUDA_INFO, "CUDA_INFO"),
    (sht::CUDA_CALLGRAPH, "CUDA_CALLGRAPH"),
    (sht::CUDA_PROTOTYPE, "CUDA_PROTOTYPE"),
    (sht::CUDA_RESOLVED_RELA, "CUDA_RESOLVED_RELA"),
    (sht::CUDA_GLOBAL, "CUDA_GLOBAL"),
    (sht::CUDA_GLOBAL_INIT, "CUDA_GLOBAL_INIT"),
    (sht::CUDA_LOCAL, "CUDA_LOCAL"),
    (sht::CUDA_SHARED, "CUDA_SHARED"),
    (sht::CUDA_RELOCINFO, "CUDA_RELOCINFO"),
    (sht::CUDA_UNIFIED_FUNCTION, "CUDA_UNIFIED_FUNCTION"),
    (sht::CUDA_UNIFIED_FUNCTIONS, "CUDA_UNIFIED_FUNCTIONS"),
    (sht::CUDA_UNIFIED_VARIABLES, "CUDA_UNIFIED_VARIABLES"),
    (sht::CUDA_SHARED_RESERVED, "CUDA_SHARED_RESERVED"),
    (sht::CUDA_CAPMERC, "CUDA_CAPMERC"),
    (
        sht::CUDA_MERCURY_HEADER_INDICES,
        "CUDA_MERCURY_HEADER_INDICES",
    ),
    (
        sht::CUDA_MERCURY_CONSTANT_USER,
        "CUDA_MERCURY_CONSTANT_USER",
    ),
    (sht::CUDA_MERCURY_CONSTANT_PIC, "CUDA_MERCURY_CONSTANT_PIC"),
    (sht::CUDA_MERCURY_RELA, "CUDA_MERCURY_RELA"),
    (
        sht::CUDA_MERCURY_RESOLVED_RELA,
        "CUDA_MERCURY_RESOLVED_RELA",
    ),
    (sht::CUDA_MERCURY_INFO, "CUDA_MERCURY_INFO"),
    (
        sht::CUDA_MERCURY_CONSTANT_OPTIMIZER,
        "CUDA_MERCURY_CONSTANT_OPTIMIZER",
    ),
    (sht::CUDA_MERCURY_SYMTAB, "CUDA_MERCURY_SYMTAB"),
    (sht::CUDA_COMPAT, "CUDA_COMPAT"),
    (sht::CUDA_MERCURY_CALLGRAPH, "CUDA_MERCURY_CALLGRAPH"),
    (sht::CUDA_MERCURY_PROTOTYPE, "CUDA_MERCURY_PROTOTYPE"),
]);

const CONSTANT: &str = "CUDA_CONSTANT";

/// Returns the word of a section type, or its number.
pub(super) fn section_type(ty: u32) -> Cow<'static, str> {
    if (sht::CUDA_CONSTANT0..=sht::CUDA_CONSTANT17).contains(&ty) {
        return format!("{CONSTANT}{}", ty - sht::CUDA_CONSTANT0).into();
    }
    SECTION_TYPES
        .word(ty)
        .map_or_else(|| format!("{ty:#x}").into(), Cow::from)
}

/// Returns the section type with this word.
pub(super) fn section_type_value(word: &str) -> Option<u32> {
    if let Some(bank) = word.strip_prefix(CONSTANT) {
        let bank: u32 = bank.parse().ok()?;
        return (bank <= 17).then_some(sht::CUDA_CONSTANT0 + bank);
    }
    SECTION_TYPES.value(word)
}

pub(super) const SECTION_FLAGS: Words<u64> = Words(&[
    (SectionFlags::WRITE.bits(), "WRITE"),
    (SectionFlags::ALLOC.bits(), "ALLOC"),
    (SectionFlags::EXECINSTR.bits(), "EXECINSTR"),
    (SectionFlags::INFO_LINK.bits(), "INFO_LINK"),
    (SectionFlags::MERCURY.bits(), "MERCURY"),
    (SectionFlags::CUDA_INFO_NOTE.bits(), "CUDA_INFO_NOTE"),
    (SectionFlags::CUDA_TOOL_NOTE.bits(), "CUDA_TOOL_NOTE"),
]);

pub(super) const SYMBOL_OTHERS: Words<u64> = Words(&[
    (SymbolOther::ENTRY.bits() as u64, "ENTRY"),
    (SymbolOther::GLOBAL.bits() as u64, "GLOBAL"),
    (SymbolOther::SHARED.bits() as u64, "SHARED"),
    (SymbolOther::CONSTANT.bits() as u64, "CONSTANT"),
]);

pub(super) const HEADER_KINDS: Words<u64> = Words(&[
    (header::TEXTURE as u64, "TEXTURE"),
    (header::SAMPLER as u64, "SAMPLER"),
    (header::SURFACE as u64, "SURFACE"),
]);

pub(super) const SEGMENT_FLAGS: Words<u64> = Words(&[(4, "R"), (2, "W"), (1, "X")]);

pub(super) const SEGMENT_TYPES: Words<u32> =
    Words(&[(raw::PT_LOAD, "PT_LOAD"), (raw::PT_PHDR, "PT_PHDR")]);

/// Formats flags, joined by `|`, the unknown ones as a number.
pub(super) fn flags(words: &Words<u64>, flags: u64) -> String {
    let mut parts = Vec::new();
    let mut rest = flags;
    for (bit, word) in words.0 {
        if flags & bit != 0 {
            parts.push(Cow::from(*word));
            rest &= !bit;
        }
    }
    if rest != 0 || parts.is_empty() {
        parts.push(format!("{rest:#x}").into());
    }
    parts.join("|")
}

pub(super) const BINDINGS: Words<Binding> = Words(&[
    (Binding::LOCAL, "LOCAL"),
    (Binding::GLOBAL, "GLOBAL"),
    (Binding::WEAK, "WEAK"),
]);

pub(super) const SYMBOL_TYPES: Words<SymbolType> = Words(&[
    (SymbolType::NOTYPE, "NOTYPE"),
    (SymbolType::OBJECT, "OBJECT"),
    (SymbolType::FUNC, "FUNC"),
    (SymbolType::SECTION, "SECTION"),
    (SymbolType::CUDA_TEXTURE, "CUDA_TEXTURE"),
    (SymbolType::CUDA_SAMPLER, "CUDA_SAMPLER"),
    (SymbolType::CUDA_SURFACE, "CUDA_SURFACE"),
    (SymbolType::CUDA_OBJECT, "CUDA_OBJECT"),
]);

pub(super) const RESERVED_INDICES: Words<u16> =
    Words(&[(raw::SHN_ABS, "ABS"), (raw::SHN_COMMON, "COMMON")]);

/// Kinds without a bank number.
pub(super) const SECTION_KINDS: Words<SectionKind> = Words(&[
    (SectionKind::Unclassified, "unclassified"),
    (SectionKind::Null, "null"),
    (SectionKind::SectionNames, "section-names"),
    (SectionKind::SymbolNames, "symbol-names"),
    (SectionKind::Symbols, "symbols"),
    (SectionKind::SymbolSectionIndices, "symbol-section-indices"),
    (SectionKind::Relocs, "relocs"),
    (SectionKind::ToolInfo, "tool-info"),
    (SectionKind::CudaInfo, "cuda-info"),
    (SectionKind::Info, "info"),
    (SectionKind::FunctionInfo, "function-info"),
    (SectionKind::Compat, "compat"),
    (SectionKind::CallGraph, "call-graph"),
    (SectionKind::Prototypes, "prototypes"),
    (SectionKind::RelAction, "rel-action"),
    (SectionKind::ReservedShared, "reserved-shared"),
    (SectionKind::Text, "text"),
    (SectionKind::GlobalInit, "global-init"),
    (SectionKind::Global, "global"),
    (SectionKind::KernelShared, "kernel-shared"),
    (SectionKind::ModuleShared, "module-shared"),
    (SectionKind::Local, "local"),
    (SectionKind::Unified, "unified"),
    (SectionKind::Debug, "debug"),
    (SectionKind::Other, "other"),
    (SectionKind::MercuryText, "mercury-text"),
    (SectionKind::MercurySymbols, "mercury-symbols"),
    (SectionKind::MercuryTwin, "mercury-twin"),
    (SectionKind::MercuryDebug, "mercury-debug"),
    (SectionKind::SassInfo, "sass-info"),
    (SectionKind::SassFunctionInfo, "sass-function-info"),
    (SectionKind::SassRelocs, "sass-relocs"),
    (SectionKind::SassParameters, "sass-parameters"),
    (SectionKind::Stripped, "stripped"),
]);

type BankKind = fn(u8) -> SectionKind;

/// Kinds with a bank number, printed as `word/bank`.
pub(super) const BANK_KINDS: [(&str, BankKind); 2] = [
    ("constant-bank", SectionKind::ConstantBank),
    ("function-constants", SectionKind::FunctionConstants),
];

/// Returns the word of a section kind.
pub(super) fn section_kind(kind: SectionKind) -> Cow<'static, str> {
    match kind {
        SectionKind::ConstantBank(bank) => format!("constant-bank/{bank}").into(),
        SectionKind::FunctionConstants(bank) => format!("function-constants/{bank}").into(),
        // Every other kind is in the table, which a test shows.
        plain => SECTION_KINDS.word(plain).unwrap_or("unclassified").into(),
    }
}

pub(super) const MERGE_OUTCOMES: Words<MergeOutcome> = Words(&[
    (MergeOutcome::ReplacesWeak, "replaces-weak"),
    (
        MergeOutcome::ReplacesMoreRegisters,
        "replaces-more-registers",
    ),
    (MergeOutcome::ReplacesOlder, "replaces-older"),
    (MergeOutcome::ReplacesTentative, "replaces-tentative"),
    (MergeOutcome::YieldsToStrong, "yields-to-strong"),
    (
        MergeOutcome::YieldsToFewerRegisters,
        "yields-to-fewer-registers",
    ),
    (MergeOutcome::YieldsToFirst, "yields-to-first"),
    (MergeOutcome::YieldsToInitialised, "yields-to-initialised"),
    (MergeOutcome::YieldsToTentative, "yields-to-tentative"),
    (MergeOutcome::Grows, "grows"),
    (MergeOutcome::Joins, "joins"),
]);

impl MergeOutcome {
    /// Returns its name in text forms.
    pub fn name(self) -> &'static str {
        MERGE_OUTCOMES.word(self).unwrap_or_default()
    }
}

pub(super) const FATES: Words<Fate> = Words(&[
    (Fate::Candidate, "candidate"),
    (Fate::Prevailing, "prevailing"),
    (Fate::Replaced, "replaced"),
    (Fate::Discarded, "discarded"),
    (Fate::Folded, "folded"),
]);

pub(super) const REMADE: Words<Remade> = Words(&[
    (Remade::No, "no"),
    (Remade::Scheduled, "scheduled"),
    (Remade::ForDebugger, "for-debugger"),
]);

pub(super) const LIVENESS: Words<Liveness> = Words(&[
    (Liveness::Unknown, "unknown"),
    (Liveness::Live, "live"),
    (Liveness::ByAddress, "by-address"),
    (Liveness::Unreachable, "unreachable"),
    (Liveness::Unreferenced, "unreferenced"),
]);

pub(super) const CALL_KINDS: Words<CallKind> = Words(&[
    (CallKind::Direct, "direct"),
    (CallKind::AddressTaken, "address-taken"),
    (CallKind::Indirect, "indirect"),
    (CallKind::TakesAddress, "takes-address"),
]);

pub(super) const FORMATS: Words<u8> = Words(&[
    (format::NVAL, "NVAL"),
    (format::BVAL, "BVAL"),
    (format::HVAL, "HVAL"),
    (format::SVAL, "SVAL"),
]);

/// Codes of `.nv.compat`, a number space of its own: the prefix keeps the words apart.
const COMPAT_CODES: Words<u8> = Words(&[
    (
        compat::CUDA_ACCELERATOR_TARGET,
        "COMPAT_CUDA_ACCELERATOR_TARGET",
    ),
    (compat::ISA_CLASS, "COMPAT_ISA_CLASS"),
    (compat::INST_TENSORMAP_V1, "COMPAT_INST_TENSORMAP_V1"),
    (compat::INST_TCGEN05_MMA, "COMPAT_INST_TCGEN05_MMA"),
    (
        compat::ENABLE_OPPORTUNISTIC_FINALIZATION,
        "COMPAT_ENABLE_OPPORTUNISTIC_FINALIZATION",
    ),
    (
        compat::MERCURY_ISA_MAJOR_MINOR_VERSION,
        "COMPAT_MERCURY_ISA_MAJOR_MINOR_VERSION",
    ),
    (
        compat::MERCURY_ISA_PATCH_VERSION,
        "COMPAT_MERCURY_ISA_PATCH_VERSION",
    ),
    (
        compat::CAN_FASTPATH_FINALIZE,
        "COMPAT_CAN_FASTPATH_FINALIZE",
    ),
]);

/// Returns the word of an attribute code, or its number.
pub(super) fn attribute_code(code: u8, is_compat: bool) -> Cow<'static, str> {
    let word = if is_compat {
        COMPAT_CODES.word(code)
    } else {
        attribute_name(code)
    };
    word.map_or_else(|| format!("{code:#04x}").into(), Cow::from)
}

/// Returns the attribute code with this word.
pub(super) fn attribute_code_value(word: &str) -> Option<u8> {
    COMPAT_CODES.value(word).or_else(|| attribute_by_name(word))
}

/// Returns the name of a relocation type, or its number.
pub(super) fn reloc_name(ty: u32) -> Cow<'static, str> {
    match reloc_type(ty) {
        Some(row) => format!("R_CUDA_{}", row.name).into(),
        None => format!("{ty:#x}").into(),
    }
}

/// Returns the relocation type with this name.
pub(super) fn reloc_value(word: &str) -> Option<u32> {
    reloc_by_name(word.strip_prefix("R_CUDA_")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_values_are_one_to_one() {
        for (kind, word) in SECTION_KINDS.0 {
            assert_eq!(section_kind(*kind), *word);
            assert_eq!(SECTION_KINDS.value(word), Some(*kind));
        }
        for ty in (0..0x20).chain(0x7000_0000..0x7000_0100) {
            let word = section_type(ty);
            assert_eq!(
                section_type_value(&word).is_none(),
                word.starts_with("0x"),
                "{word}"
            );
            assert!(
                word.starts_with("0x") || section_type_value(&word) == Some(ty),
                "{word}"
            );
        }
        for code in 0..=u8::MAX {
            for is_compat in [false, true] {
                let word = attribute_code(code, is_compat);
                assert!(word.starts_with("0x") || attribute_code_value(&word) == Some(code));
            }
        }
        for ty in 0..0x200 {
            let word = reloc_name(ty);
            assert!(word.starts_with("0x") || reloc_value(&word) == Some(ty));
        }
        assert_eq!(section_type_value("CUDA_CONSTANT18"), None);
        assert_eq!(
            flags(&SECTION_FLAGS, 0x8000_0006),
            "ALLOC|EXECINSTR|0x80000000"
        );
        assert_eq!(flags(&SECTION_FLAGS, 0), "0x0");
    }
}
