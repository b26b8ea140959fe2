//! Symbols of input objects and references to them.

use cuweld_elf::symbol::Binding;
use cuweld_elf::symbol::SymbolOther;
use cuweld_elf::symbol::SymbolType;

use crate::ids::*;

/// An entry of an input symbol table.
///
/// The null symbol and SECTION symbols are not entities: relocations name sections directly, and
/// the output plan creates SECTION symbols anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Symbol<'data> {
    /// The object that holds it.
    pub object: ObjectId,
    /// Its name, a slice of the string table; may be empty.
    pub name: &'data [u8],
    /// Its binding.
    pub bind: Binding,
    /// Its type.
    pub ty: SymbolType,
    /// `st_other`.
    pub other: SymbolOther,
    /// Where it is defined.
    pub place: SymbolPlace,
    /// `st_value`: the offset in the section; the alignment for shared and common variables.
    pub value: u64,
    /// Size in bytes.
    pub size: u64,
    /// The function it defines, if it is a defined STT_FUNC.
    pub function: Option<FunctionId>,
    /// What it stands for in the link; set by `symbol-resolve`.
    pub link: Option<LinkSymbolId>,
}

impl Symbol<'_> {
    /// Returns `true` if the symbol is visible to no other object.
    pub fn is_local(&self) -> bool {
        self.bind == Binding::LOCAL
    }

    /// Returns `true` if the symbol is a kernel.
    pub fn is_entry(&self) -> bool {
        self.ty == SymbolType::FUNC && self.other.contains(SymbolOther::ENTRY)
    }

    /// Returns `true` if the symbol is a function.
    pub fn is_function(&self) -> bool {
        self.ty == SymbolType::FUNC
    }

    /// Returns `true` if the symbol has no definition in its object.
    pub fn is_undefined(&self) -> bool {
        self.place == SymbolPlace::Undefined
    }

    /// Returns `true` if the symbol is a shared variable.
    pub fn is_shared(&self) -> bool {
        !self.is_function() && self.other.space() == SymbolOther::SHARED
    }

    /// Returns `true` if the symbol is a variable in global memory.
    pub fn is_global_memory(&self) -> bool {
        !self.is_function() && self.other.space() == SymbolOther::GLOBAL
    }

    /// Returns `true` if the symbol declares dynamic shared memory: compilers leave it undefined,
    /// relocatable links give it the section of the variables in no kernel.
    pub fn is_dynamic_shared(&self) -> bool {
        let somewhere = matches!(self.place, SymbolPlace::Undefined | SymbolPlace::Section(_));
        self.is_shared() && somewhere && self.size == 0
    }

    /// Returns `true` if the symbol is a compiler-made constant bank symbol, which executables do
    /// not show.
    pub fn is_compiler_constant(&self) -> bool {
        !self.is_function()
            && self
                .other
                .contains(SymbolOther::CONSTANT | SymbolOther::COMPILER)
    }

    /// Returns `true` if the symbol has no part in any link: NOTYPE, whatever its name, section and
    /// value [untyped-symbols]. ptxas writes anonymous ones, and other names of the reserved block.
    pub fn is_filler(&self) -> bool {
        self.ty == SymbolType::NOTYPE
    }

    /// Returns `true` if the symbol is a filler with the name of something that its unit does not
    /// declare, as in debug information: it stands for what an object before has of that name, if
    /// there is one [undeclared-names].
    pub fn is_undeclared(&self) -> bool {
        self.is_filler() && self.is_local() && self.is_undefined() && !self.name.is_empty()
    }

    /// Returns `true` if the symbol is `__nv_reservedSMEM_offset_N_alias`, which EWP objects have
    /// in `.nv.shared.reserved.N`.
    pub fn is_reserved_alias(&self) -> bool {
        self.ty == SymbolType::NOTYPE
            && self.other == SymbolOther::RESERVED
            && self.name.starts_with(b"__nv_reservedSMEM_")
    }
}

/// Where a symbol is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SymbolPlace {
    /// Nowhere in this object (SHN_UNDEF).
    #[default]
    Undefined,
    /// In a section.
    Section(SectionId),
    /// A tentative definition (SHN_COMMON, 0xfff2).
    Common,
    /// An absolute value (SHN_ABS, 0xfff1).
    Absolute,
    /// Another reserved index, carried through.
    Reserved(u16),
}

/// What a relocation, an attribute or a call graph row refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum SymbolRef {
    /// Symbol index 0.
    #[default]
    None,
    /// A symbol.
    Symbol(SymbolId),
    /// A section, through its SECTION symbol.
    Section(SectionId),
}

impl SymbolRef {
    /// Returns the symbol, if it is one.
    pub fn symbol(self) -> Option<SymbolId> {
        match self {
            SymbolRef::Symbol(symbol) => Some(symbol),
            _ => None,
        }
    }
}
