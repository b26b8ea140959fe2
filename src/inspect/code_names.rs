//! Names of the codes in ELF headers, symbols and relocations.

use std::borrow::Cow;
use std::fmt;

use cuweld_elf::symbol::Binding;
use cuweld_elf::symbol::SymbolOther;
use cuweld_elf::symbol::SymbolType;
use cuweld_elf::target::relocs::reloc_type;
use serde::Serialize;

/// A number with its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Coded {
    /// The number.
    pub value: u32,
    /// Its name, if it has one.
    pub name: Option<Cow<'static, str>>,
}

impl Coded {
    fn new(value: u32, name: Option<&'static str>) -> Self {
        Coded {
            value,
            name: name.map(Cow::Borrowed),
        }
    }
}

impl fmt::Display for Coded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => f.pad(name),
            None => f.pad(&format!("{:#x}", self.value)),
        }
    }
}

/// Returns the name of an `e_type`.
pub fn file_type(value: u16) -> Coded {
    let name = match value {
        0 => Some("NONE"),
        1 => Some("REL"),
        2 => Some("EXEC"),
        3 => Some("DYN"),
        4 => Some("CORE"),
        0xff00 => Some("EWP"),
        _ => None,
    };
    Coded::new(value.into(), name)
}

/// Returns the name of an `e_machine`, of the hosts that CUDA has or had.
pub fn machine(value: u16) -> Coded {
    let name = match value {
        3 => Some("i386"),
        21 => Some("PowerPC64"),
        40 => Some("ARM"),
        62 => Some("x86-64"),
        183 => Some("AArch64"),
        190 => Some("CUDA"),
        243 => Some("RISC-V"),
        _ => None,
    };
    Coded::new(value.into(), name)
}

/// Returns the name of the kind of code in bits 0 to 7 of `e_flags`.
pub fn code_kind(value: u32) -> Coded {
    let name = match value {
        4 => Some("SASS"),
        2 => Some("Mercury"),
        _ => None,
    };
    Coded::new(value, name)
}

/// Returns the name of an `sh_type` as cuobjdump has it, without `SHT_`.
pub fn section_type(value: u32) -> Coded {
    let name = match value {
        0 => "NULL",
        1 => "PROGBITS",
        2 => "SYMTAB",
        3 => "STRTAB",
        4 => "RELA",
        7 => "NOTE",
        8 => "NOBITS",
        9 => "REL",
        18 => "SYMTAB_SHNDX",
        0x7000_0000 => "CUDA_INFO",
        0x7000_0001 => "CUDA_CALLGRAPH",
        0x7000_0002 => "CUDA_PROTOTYPE",
        0x7000_0003 => "CUDA_RESOLVED_RELA",
        0x7000_0004 => "CUDA_METADATA",
        0x7000_0006 => "CUDA_CONSTANT",
        0x7000_0007 => "CUDA_GLOBAL",
        0x7000_0008 => "CUDA_GLOBAL_INIT",
        0x7000_0009 => "CUDA_LOCAL",
        0x7000_000a => "CUDA_SHARED",
        0x7000_000b => "CUDA_RELOCINFO",
        0x7000_000c => "CUDA_MERCURY",
        0x7000_000d => "CUDA_MERCURY_SASS_MAP",
        0x7000_000e => "CUDA_UFT",
        0x7000_0010 => "CUDA_UIDX",
        0x7000_0011 => "CUDA_UFT_ENTRY",
        0x7000_0012 => "CUDA_UDT",
        0x7000_0014 => "CUDA_UDT_ENTRY",
        0x7000_0015 => "CUDA_RESERVED_SHARED",
        0x7000_0016 => "CUDA_CAPMERC",
        0x7000_0064..=0x7000_0075 => {
            let name = format!("CUDA_CONSTANT_B{}", value - 0x7000_0064);
            return Coded {
                value,
                name: Some(name.into()),
            };
        }
        0x7000_0078 => "CUDA_MERCURY_CONSTANT_PARAMS",
        0x7000_0079 => "CUDA_MERCURY_CONSTANT_IMGHDR",
        0x7000_007a => "CUDA_MERCURY_CONSTANT_DRIVER",
        0x7000_007b => "CUDA_MERCURY_CONSTANT_OPT",
        0x7000_007c => "CUDA_MERCURY_CONSTANT_USER",
        0x7000_007d => "CUDA_MERCURY_CONSTANT_PIC",
        0x7000_007e => "CUDA_MERCURY_CONSTANT_TOOLS",
        0x7000_0082 => "CUDA_MERCURY_RELA",
        0x7000_0083 => "CUDA_MERCURY_INFO",
        0x7000_0084 => "CUDA_MERCURY_CONSTANT_OPT_V2",
        0x7000_0085 => "CUDA_MERCURY_SYMTAB",
        0x7000_0086 => "CUDA_COMPAT_INFO",
        0x7000_0087 => "CUDA_EMBEDDED_HOST",
        0x7000_0088 => "CUDA_MERCURY_RESOLVED_RELA",
        _ => return Coded::new(value, None),
    };
    Coded::new(value, Some(name))
}

/// What the decoder makes of a section's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// Nothing.
    Bytes,
    /// Strings.
    Strings,
    /// Symbols.
    Symbols,
    /// Relocations without addends.
    Rel,
    /// Relocations with addends, applied ones included.
    Rela,
    /// Notes.
    Notes,
    /// Records of `.nv.info*`.
    Info,
    /// Records of `.nv.compat`.
    Compat,
    /// Call graph rows.
    CallGraph,
    /// Prototypes.
    Prototypes,
}

/// Returns the kind of table that a section of this type holds, also in its Mercury form.
pub fn table(section_type: u32) -> Table {
    match section_type {
        3 => Table::Strings,
        2 | 0x7000_0085 => Table::Symbols,
        9 => Table::Rel,
        4 | 0x7000_0003 | 0x7000_0082 | 0x7000_0088 => Table::Rela,
        7 => Table::Notes,
        0x7000_0000 | 0x7000_0083 => Table::Info,
        0x7000_0086 => Table::Compat,
        0x7000_0001 => Table::CallGraph,
        0x7000_0002 => Table::Prototypes,
        _ => Table::Bytes,
    }
}

/// `sh_flags` bits: letter and name.
pub const SECTION_FLAGS: [(u64, char, &str); 9] = [
    (1, 'W', "WRITE"),
    (2, 'A', "ALLOC"),
    (4, 'X', "EXECINSTR"),
    (0x40, 'I', "INFO_LINK"),
    (0x800, 'Z', "COMPRESSED"),
    (0x100_0000, 'C', "CUDA_INFO_NOTE"),
    (0x200_0000, 'T', "CUDA_TOOL_NOTE"),
    (0x1000_0000, 'M', "CUDA_MERCURY"),
    (0x8000_0000, 'E', "EXCLUDE"),
];

/// Returns the name of a `p_type`.
pub fn segment_type(value: u32) -> Coded {
    let name = match value {
        0 => Some("NULL"),
        1 => Some("LOAD"),
        2 => Some("DYNAMIC"),
        3 => Some("INTERP"),
        4 => Some("NOTE"),
        6 => Some("PHDR"),
        _ => None,
    };
    Coded::new(value, name)
}

/// Returns the binding of a symbol.
pub fn binding(value: Binding) -> Coded {
    let name = match value {
        Binding::LOCAL => Some("LOCAL"),
        Binding::GLOBAL => Some("GLOBAL"),
        Binding::WEAK => Some("WEAK"),
        _ => None,
    };
    Coded::new(value.0.into(), name)
}

/// Returns the type of a symbol.
pub fn symbol_type(value: SymbolType) -> Coded {
    let name = match value {
        SymbolType::NOTYPE => Some("NOTYPE"),
        SymbolType::OBJECT => Some("OBJECT"),
        SymbolType::FUNC => Some("FUNC"),
        SymbolType::SECTION => Some("SECTION"),
        SymbolType(4) => Some("FILE"),
        SymbolType(5) => Some("COMMON"),
        SymbolType::CUDA_TEXTURE => Some("CUDA_TEXTURE"),
        SymbolType::CUDA_SAMPLER => Some("CUDA_SAMPLER"),
        SymbolType::CUDA_SURFACE => Some("CUDA_SURFACE"),
        SymbolType::CUDA_OBJECT => Some("CUDA_OBJECT"),
        _ => None,
    };
    Coded::new(value.0.into(), name)
}

/// Bits of `st_other`.
pub const SYMBOL_OTHER: [(SymbolOther, &str); 5] = [
    (SymbolOther::ENTRY, "ENTRY"),
    (SymbolOther::GLOBAL, "GLOBAL"),
    (SymbolOther::SHARED, "SHARED"),
    (SymbolOther::CONSTANT, "CONSTANT"),
    (SymbolOther::COMPILER, "COMPILER"),
];

/// Returns the name of a relocation type, with `R_CUDA_`.
pub fn relocation_type(value: u32) -> Coded {
    Coded {
        value,
        name: reloc_type(value).map(|row| format!("R_CUDA_{}", row.name).into()),
    }
}

/// Returns the name of an `n_type` of NVIDIA's notes.
pub fn note_type(value: u32) -> Coded {
    let name = match value {
        cuweld_elf::note_records::NOTE_CUDA_INFO => Some("CUDA_INFO"),
        cuweld_elf::note_records::NOTE_TOOL_INFO => Some("TOOL_INFO"),
        _ => None,
    };
    Coded::new(value, name)
}

/// Returns the format byte of an attribute record.
pub fn attribute_format(value: u8) -> Coded {
    use cuweld_ir::attribute::format;
    let name = match value {
        format::NVAL => Some("NVAL"),
        format::BVAL => Some("BVAL"),
        format::HVAL => Some("HVAL"),
        format::SVAL => Some("SVAL"),
        _ => None,
    };
    Coded::new(value.into(), name)
}

/// Returns the code of a record of `.nv.info*`, without `EIATTR_`.
pub fn info_code(value: u8) -> Coded {
    let name = cuweld_elf::target::attributes::attribute_name(value);
    Coded::new(value.into(), name)
}

/// Returns the code of a record of `.nv.compat`, without `EICOMPAT_ATTR_`.
pub fn compat_code(value: u8) -> Coded {
    let name = match value {
        0 => Some("ERROR"),
        1 => Some("PAD"),
        2 => Some("ISA_CLASS"),
        3 => Some("INST_TENSORMAP_V1"),
        4 => Some("INST_TCGEN05_MMA_DEPRECATED"),
        5 => Some("INST_TCGEN05_MMA"),
        6 => Some("ENABLE_OPPORTUNISTIC_FINALIZATION"),
        7 => Some("MERCURY_ISA_MAJOR_MINOR_VERSION"),
        8 => Some("MERCURY_ISA_PATCH_VERSION"),
        9 => Some("CUDA_ACCELERATOR_TARGET"),
        10 => Some("CUDA_DRIVER_VERSION"),
        11 => Some("CAN_FASTPATH_FINALIZE"),
        _ => None,
    };
    Coded::new(value.into(), name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_show_their_name_or_number() {
        assert_eq!(section_type(0x7000_0067).to_string(), "CUDA_CONSTANT_B3");
        assert_eq!(section_type(0x7000_0099).to_string(), "0x70000099");
        assert_eq!(relocation_type(0x38).to_string(), "R_CUDA_ABS32_LO_32");
        assert_eq!(relocation_type(0x10003).to_string(), "0x10003");
        assert_eq!(format!("{:>8}|", binding(Binding::WEAK)), "    WEAK|");
    }
}
