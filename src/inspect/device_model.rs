//! The tables of a device ELF, each row in file order.

use cuweld_elf::mercury::capmerc::Capmerc;
use cuweld_elf::mercury::capmerc::Form;
use cuweld_elf::mercury::capmerc::Item;
use cuweld_elf::mercury::capmerc::Record;
use serde::Serialize;
use serde::Serializer;
use serde::ser::SerializeStruct;

use super::code_names::Coded;
use super::name::Hex;
use super::name::Name;

/// A device ELF.
#[derive(Clone, Debug, Serialize)]
pub struct DeviceElf<'data> {
    /// The file header.
    pub header: Header,
    /// Program headers.
    pub segments: Vec<Segment<'data>>,
    /// Section headers.
    pub sections: Vec<Section<'data>>,
    /// `.symtab`, and `.nv.merc.symtab` if there is one.
    pub symbol_tables: Vec<SymbolTable<'data>>,
    /// Relocations, by section.
    pub relocations: Vec<Relocations<'data>>,
    /// Records of `.nv.info*` and `.nv.compat`, by section.
    pub attributes: Vec<Attributes<'data>>,
    /// Code of the Mercury view, by section.
    pub mercury: Vec<MercuryCode<'data>>,
    /// Notes.
    pub notes: Vec<Note<'data>>,
    /// Rows of `.nv.callgraph`.
    pub call_graph: Vec<CallRow<'data>>,
    /// Rows of `.nv.prototype`.
    pub prototypes: Vec<PrototypeRow<'data>>,
    /// The whole file.
    #[serde(skip)]
    pub image: &'data [u8],
}

/// The file header.
#[derive(Clone, Debug, Serialize)]
pub struct Header {
    /// `e_ident[EI_CLASS]`: ELF64, or ELF32 of old 32-bit programs.
    pub class: &'static str,
    /// `e_type`.
    pub file_type: Coded,
    /// `e_machine`.
    pub machine: Coded,
    /// Architecture: the SM of `flags`, with `a` if `.nv.compat`, or legacy `flags`, mark the file
    /// so.
    pub arch: String,
    /// `e_ident[EI_OSABI]`.
    pub os_abi: u8,
    /// `e_ident[EI_ABIVERSION]`.
    pub abi_version: u8,
    /// `e_version`.
    pub version: u32,
    /// `e_entry`.
    pub entry: u64,
    /// `e_flags`.
    pub flags: u32,
    /// SM number, bits 8 to 23 of `flags`; bits 0 to 7 of legacy ones.
    pub sm: u16,
    /// Code in the file, bits 0 to 7 of `flags`: 4 for SASS, 2 for Mercury. Legacy files have SASS.
    pub code: Coded,
    /// Index of `.note.nv.cuinfo`, bits 24 to 31 of `flags`; 0 in legacy files.
    pub cuda_info_section: u8,
    /// The other fields of `flags`, if they have the legacy layout (OS ABI other than 0x41).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub legacy: Option<LegacyFlags>,
    /// `e_phoff`.
    pub program_headers_offset: u64,
    /// `e_shoff`.
    pub section_headers_offset: u64,
    /// `e_phnum`.
    pub program_header_count: u16,
    /// `e_shnum`.
    pub section_header_count: u16,
    /// `e_shstrndx`.
    pub section_names_section: u16,
}

/// Fields of `e_flags` in the layout that toolkits before 13.0 write below sm_100.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LegacyFlags {
    /// SM number of the virtual architecture, bits 16 to 23.
    pub virtual_sm: u8,
    /// Whether addresses have 64 bits (bit 10).
    pub addresses_64: bool,
    /// Bit 14, SASS.
    pub sass: bool,
    /// Bit 31, relocatable.
    pub relocatable: bool,
}

/// A program header.
#[derive(Clone, Debug, Serialize)]
pub struct Segment<'data> {
    /// `p_type`.
    #[serde(rename = "type")]
    pub ty: Coded,
    /// `p_flags`: 4 read, 2 write, 1 execute.
    pub flags: u32,
    /// `p_offset`.
    pub offset: u64,
    /// `p_vaddr`.
    pub virtual_address: u64,
    /// `p_paddr`.
    pub physical_address: u64,
    /// `p_filesz`.
    pub file_size: u64,
    /// `p_memsz`.
    pub memory_size: u64,
    /// `p_align`.
    pub align: u64,
    /// First and last section within its part of the file.
    pub sections: Option<(Name<'data>, Name<'data>)>,
}

/// A section header.
#[derive(Clone, Debug, Serialize)]
pub struct Section<'data> {
    /// Index.
    pub index: u32,
    /// Name.
    pub name: Name<'data>,
    /// `sh_type`.
    #[serde(rename = "type")]
    pub ty: Coded,
    /// `sh_flags`.
    pub flags: u64,
    /// Names of the flags that have one.
    pub flag_names: Vec<&'static str>,
    /// `sh_addr`.
    pub address: u64,
    /// `sh_offset`.
    pub offset: u64,
    /// `sh_size`.
    pub size: u64,
    /// `sh_link`.
    pub link: u32,
    /// `sh_info`.
    pub info: u32,
    /// What `sh_info` refers to.
    pub refers_to: Option<Reference<'data>>,
    /// `sh_addralign`.
    pub align: u64,
    /// `sh_entsize`.
    pub entry_size: u64,
    /// Its bytes in the file, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hex: Option<Hex<'data>>,
    /// Its bytes in the file; empty if it has none or they lie outside.
    #[serde(skip)]
    pub contents: &'data [u8],
}

/// What `sh_info` of a section refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reference<'data> {
    /// A section.
    Section(Name<'data>),
    /// The function of a code section.
    Function {
        /// Its symbol.
        symbol: Name<'data>,
        /// Bits 24 to 31, registers on sm_75 to sm_89.
        high: u8,
    },
}

/// A symbol table.
#[derive(Clone, Debug, Serialize)]
pub struct SymbolTable<'data> {
    /// Name of its section.
    pub section: Name<'data>,
    /// Index of its section.
    pub section_index: u32,
    /// Its symbols, the null symbol included.
    pub symbols: Vec<Symbol<'data>>,
}

/// A symbol.
#[derive(Clone, Debug, Serialize)]
pub struct Symbol<'data> {
    /// Index.
    pub index: u32,
    /// Name; of a SECTION symbol without one that of its section.
    pub name: Name<'data>,
    /// The name as in the source, if it is mangled.
    #[serde(skip_serializing_if = "Demangled::is_none")]
    pub demangled: Demangled<'data>,
    /// `st_value`.
    pub value: u64,
    /// `st_size`.
    pub size: u64,
    /// Binding.
    pub binding: Coded,
    /// Type.
    #[serde(rename = "type")]
    pub ty: Coded,
    /// `st_other`.
    pub other: u8,
    /// Names of the bits of `st_other`.
    pub other_names: Vec<&'static str>,
    /// Where it is defined.
    pub section: Place<'data>,
}

/// The source form of a name, made when it is written.
#[derive(Clone, Copy, Debug)]
pub struct Demangled<'data>(pub Name<'data>);

impl Demangled<'_> {
    fn is_none(&self) -> bool {
        self.0.demangled().is_none()
    }
}

impl Serialize for Demangled<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.demangled().serialize(serializer)
    }
}

/// Where a symbol is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Place<'data> {
    /// Nowhere in this file.
    Undefined,
    /// An absolute value.
    Absolute,
    /// A tentative definition.
    Common,
    /// A section.
    In {
        /// Its index.
        index: u32,
        /// Its name.
        name: Name<'data>,
    },
    /// A reserved index, or one that names no section.
    Reserved(u32),
}

/// A reference to a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct SymbolUse<'data> {
    /// Its index.
    pub index: u32,
    /// Its name.
    pub name: Name<'data>,
}

/// The relocations of one section.
#[derive(Clone, Debug, Serialize)]
pub struct Relocations<'data> {
    /// Name of the section that holds them.
    pub section: Name<'data>,
    /// Its index.
    pub section_index: u32,
    /// Section that they change.
    pub target: Name<'data>,
    /// The rows.
    pub rows: Vec<Relocation<'data>>,
}

/// A relocation.
#[derive(Clone, Debug, Serialize)]
pub struct Relocation<'data> {
    /// `r_offset`.
    pub offset: u64,
    /// Type.
    #[serde(rename = "type")]
    pub ty: Coded,
    /// Symbol.
    pub symbol: SymbolUse<'data>,
    /// `r_addend`; none in a REL section.
    pub addend: Option<i64>,
}

/// The attribute records of one section.
#[derive(Clone, Debug, Serialize)]
pub struct Attributes<'data> {
    /// Name of the section.
    pub section: Name<'data>,
    /// Its index.
    pub section_index: u32,
    /// The function that it is about, none for the file's own.
    pub function: Option<Name<'data>>,
    /// The records.
    pub records: Vec<Attribute<'data>>,
}

/// An attribute record.
#[derive(Clone, Debug, Serialize)]
pub struct Attribute<'data> {
    /// Offset in the section.
    pub offset: u64,
    /// Form of its value.
    pub format: Coded,
    /// What it is about.
    pub code: Coded,
    /// The value.
    pub value: AttributeValue<'data>,
}

/// The value of an attribute record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AttributeValue<'data> {
    /// Bytes 2 and 3 of a record without payload.
    Number(u16),
    /// A payload: leading symbols, then words, then bytes that fill no word.
    Payload {
        /// Symbols.
        symbols: Vec<SymbolUse<'data>>,
        /// Words.
        words: Vec<u32>,
        /// Bytes.
        bytes: Hex<'data>,
    },
    /// KPARAM_INFO.
    Parameter {
        /// First word, 0.
        index: u32,
        /// Position in the parameter list.
        ordinal: u16,
        /// Offset among the parameters.
        offset: u16,
        /// Size in bytes.
        size: u16,
        /// The last word, whose upper bits are the size.
        word: u32,
    },
    /// PARAM_CBANK.
    ParameterBank {
        /// The constant bank's SECTION symbol.
        section: SymbolUse<'data>,
        /// Offset of the parameters in it.
        offset: u16,
        /// Their size.
        size: u16,
    },
}

/// The Mercury code of a function, `.nv.capmerc.text.F`.
#[derive(Clone, Copy, Debug)]
pub struct MercuryCode<'data> {
    /// Name of the section.
    pub section: Name<'data>,
    /// Its index.
    pub section_index: u32,
    /// What it holds.
    pub code: Capmerc<'data>,
}

impl Serialize for MercuryCode<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let items: Vec<MercuryItem<'_>> = self.code.items().map(MercuryItem).collect();
        let mut fields = serializer.serialize_struct("MercuryCode", 4)?;
        fields.serialize_field("section", &self.section)?;
        fields.serialize_field("section_index", &self.section_index)?;
        fields.serialize_field("text_section", &self.code.text)?;
        fields.serialize_field("items", &items)?;
        fields.end()
    }
}

/// An item of Mercury code.
struct MercuryItem<'data>(Item<'data>);

impl Serialize for MercuryItem<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let item = &self.0;
        let (form, record) = parts_of(item.form);
        let operation = operation(item.form);
        let mut fields = serializer.serialize_struct("MercuryItem", 6)?;
        fields.serialize_field("form", form)?;
        fields.serialize_field("offset", &(form != "plain").then_some(item.at))?;
        fields.serialize_field("instruction", &item.instruction)?;
        fields.serialize_field("instructions", &item.count)?;
        fields.serialize_field("operation", &operation)?;
        fields.serialize_field("record", &record.map(Hex))?;
        fields.end()
    }
}

/// Returns the name of an item's form, and the bytes that it has.
pub(crate) fn parts_of(form: Form<'_>) -> (&'static str, Option<&[u8]>) {
    match form {
        Form::Plain => ("plain", None),
        Form::Record(record) => ("record", Some(record)),
        Form::Run(record) => ("run", record),
        Form::Note(note) => ("note", Some(note)),
    }
}

/// Returns the operation of an item's record.
pub(crate) fn operation(form: Form<'_>) -> Option<u8> {
    let is_note = matches!(form, Form::Note(_));
    let (_, record) = parts_of(form);
    Some(Record(record.filter(|_| !is_note)?).operation())
}

/// A note.
#[derive(Clone, Debug, Serialize)]
pub struct Note<'data> {
    /// Section that holds it.
    pub section: Name<'data>,
    /// Owner.
    pub owner: Name<'data>,
    /// `n_type`.
    #[serde(rename = "type")]
    pub ty: Coded,
    /// What it says.
    pub value: NoteValue<'data>,
}

/// What a note says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteValue<'data> {
    /// `.note.nv.tkinfo`.
    Tool {
        /// Name of the object.
        object: Name<'data>,
        /// The tool that made the file.
        tool: Name<'data>,
        /// Its version.
        version: Name<'data>,
        /// Its build.
        build: Name<'data>,
        /// Its options.
        options: Name<'data>,
    },
    /// `.note.nv.cuinfo`.
    CudaInfo {
        /// Version of the note.
        version: u16,
        /// The lowest SM that the code was compiled for.
        virtual_sm: u16,
        /// Toolkit, 130 for 13.0.
        toolkit: u16,
    },
    /// Another descriptor.
    Other(Hex<'data>),
}

/// A row of `.nv.callgraph`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct CallRow<'data> {
    /// The group that it stands in.
    pub group: CallGroup,
    /// The first function.
    pub from: SymbolUse<'data>,
    /// The second function, or a prototype.
    pub to: CallTarget<'data>,
}

/// Groups of `.nv.callgraph`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallGroup {
    /// Caller and callee.
    Direct,
    /// A function whose address is taken, with its prototype.
    AddressTaken,
    /// A function that makes an indirect call, with the prototype that it calls.
    Indirect,
    /// A function that takes an address, and the function whose address it is.
    TakesAddress,
}

/// The second word of a row of `.nv.callgraph`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallTarget<'data> {
    /// A function.
    Function(SymbolUse<'data>),
    /// A prototype such as `#ii`.
    Prototype(Name<'data>),
}

/// A row of `.nv.prototype`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct PrototypeRow<'data> {
    /// The function.
    pub function: SymbolUse<'data>,
    /// Its prototype, such as `#ii`.
    pub prototype: Name<'data>,
}

impl CallGroup {
    /// Returns the name of the group.
    pub fn name(self) -> &'static str {
        match self {
            CallGroup::Direct => "direct",
            CallGroup::AddressTaken => "address-taken",
            CallGroup::Indirect => "indirect",
            CallGroup::TakesAddress => "takes-address",
        }
    }
}
