//! The link stub: the host object that carries linked device code and registers it with the CUDA
//! runtime when the program starts.
//!
//! Each module that was linked, which is an object with relocatable device code, has a constructor
//! that calls `__cudaRegisterLinkedBinary_ID` with what it wants to be called back. The stub defines
//! these functions, and `def ID` in `__nv_module_id` so that a later device link knows that the
//! modules are linked. After the last call it registers the linked code, and calls all back.

mod aarch64;
mod code;
mod source;
mod unwind;
mod x86_64;

use std::borrow::Cow;
use std::collections::BTreeMap;

use object::BinaryFormat;
use object::Endianness;
use object::RelocationFlags;
use object::SectionFlags;
use object::SectionKind;
use object::SymbolFlags;
use object::SymbolKind;
use object::SymbolScope;
use object::elf::RelocationType;
use object::elf::SHF_ALLOC;
use object::elf::SHF_WRITE;
use object::elf::SHT_PROGBITS;
use object::write::Object;
use object::write::Relocation;
use object::write::SectionId;
use object::write::Symbol;
use object::write::SymbolId;
use object::write::SymbolSection;
use thiserror::Error;

use self::code::Code;
use self::code::Place;
use self::code::Role;
pub use self::source::source;
use self::unwind::Registers;
use self::unwind::eh_frame;
use crate::file_name;

const REGISTER: &str = "__cudaRegisterFatBinary";
const REGISTER_END: &str = "__cudaRegisterFatBinaryEnd";
const UNREGISTER: &str = "__cudaUnregisterFatBinary";
const AT_EXIT: &str = "atexit";

/// Name of the function that a module's constructor calls, before its id.
const REGISTER_MODULE: &str = "__cudaRegisterLinkedBinary";
/// Name of the descriptor in a module's host object, before its id.
const MODULE_DESCRIPTOR: &str = "__fatbinwrap";

/// What a descriptor begins with.
const DESCRIPTOR_MAGIC: u32 = 0x4662_43b1;
/// Of a descriptor that also points to what modules had before they were linked.
const LINKED_DESCRIPTOR: u32 = 2;

const POINTER: u64 = 8;

/// The machine of the host program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Host {
    /// x86-64.
    #[value(name = "x86_64")]
    X86_64,
    /// 64-bit Arm.
    Aarch64,
}

impl Host {
    /// Returns the machine on which this program runs.
    pub fn here() -> Option<Self> {
        match std::env::consts::ARCH {
            "x86_64" => Some(Host::X86_64),
            "aarch64" => Some(Host::Aarch64),
            _ => None,
        }
    }

    fn machine(self) -> &'static Machine {
        match self {
            Host::X86_64 => &x86_64::MACHINE,
            Host::Aarch64 => &aarch64::MACHINE,
        }
    }
}

/// Who sees the functions that modules call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Visibility {
    /// All of the process.
    #[default]
    Default,
    /// The program or the shared library that the host object is linked into: several of them may
    /// have the same modules.
    Hidden,
}

/// What is particular to a machine.
struct Machine {
    architecture: object::Architecture,
    /// An address of 8 bytes.
    pointer: RelocationType,
    /// A distance of 4 bytes.
    relative: RelocationType,
    registers: Registers,
    /// Writes the functions of a stub for a number of modules.
    code: fn(u32) -> Code,
}

/// Why there is no stub.
#[derive(Debug, Error)]
pub enum StubError {
    /// More modules than a program can count.
    #[error("{0} modules are too many to register")]
    Modules(usize),
    /// A module id that two inputs have.
    #[error("several inputs have the module id '{0}'")]
    Repeated(String),
    /// Code that calls what the stub does not have.
    #[error("internal error: there is no function {0:?}")]
    NoFunction(Role),
    /// A module id that is no name in C.
    #[error(
        "the module id '{0}' is no name that C has; --host names a machine to write an object for"
    )]
    NoName(String),
    /// The object cannot be written.
    #[error("internal error: {0}")]
    Object(#[from] object::write::Error),
}

/// Linked device code, and the modules that it was linked from.
#[derive(Clone, Copy, Debug)]
pub struct LinkStub<'a> {
    /// The fatbin.
    pub fatbin: &'a [u8],
    /// The ids of the modules, in the order in which they are defined.
    pub module_ids: &'a [String],
}

/// The form of a host object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostForm {
    /// The machine that it is for.
    pub host: Host,
    /// Who sees its functions.
    pub visibility: Visibility,
}

impl LinkStub<'_> {
    /// Returns the number of modules, whose ids are all different.
    fn modules(&self) -> Result<u32, StubError> {
        let mut ids: Vec<&String> = self.module_ids.iter().collect();
        ids.sort_unstable();
        if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(StubError::Repeated(pair[0].clone()));
        }
        let count = self.module_ids.len();
        i32::try_from(count)
            .map(i32::unsigned_abs)
            .map_err(|_| StubError::Modules(count))
    }

    /// Returns the host object.
    ///
    /// # Errors
    ///
    /// If modules cannot be registered, as two of one id.
    pub fn object(&self, form: HostForm) -> Result<Vec<u8>, StubError> {
        let machine = form.host.machine();
        let code = (machine.code)(self.modules()?);
        let mut writer = Writer::new(self, machine)?;
        writer.code(&code, form.visibility)?;
        writer.unwinding(&code)?;
        Ok(writer.object.write()?)
    }
}

/// An object that is being written.
struct Writer<'a> {
    object: Object<'a>,
    machine: &'static Machine,
    module_ids: &'a [String],
    text: SectionId,
    data: Data,
    functions: BTreeMap<Role, SymbolId>,
    externals: BTreeMap<String, SymbolId>,
}

/// The stub's own data.
struct Data {
    descriptor: SymbolId,
    handle: SymbolId,
    count: SymbolId,
    fatbins: SymbolId,
    callbacks: SymbolId,
    id_references: SymbolId,
}

impl<'a> Writer<'a> {
    /// Begins an object with its data.
    fn new(stub: &LinkStub<'a>, machine: &'static Machine) -> Result<Self, StubError> {
        let (format, endianness) = (BinaryFormat::Elf, Endianness::Little);
        let mut object = Object::new(format, machine.architecture, endianness);
        object.add_file_symbol(b"cuweld".to_vec());
        let text = object.add_section(Vec::new(), b".text".to_vec(), SectionKind::Text);
        // Nothing here needs a stack that can be executed.
        let stack = object.add_section(Vec::new(), b".note.GNU-stack".to_vec(), SectionKind::Other);
        object.section_mut(stack).flags = SectionFlags::Elf {
            sh_type: SHT_PROGBITS,
            sh_flags: object::elf::SectionFlags(0),
        };
        let data = data(&mut object, machine, stub)?;
        Ok(Writer {
            object,
            machine,
            module_ids: stub.module_ids,
            text,
            data,
            functions: BTreeMap::new(),
            externals: BTreeMap::new(),
        })
    }

    fn code(&mut self, code: &Code, visibility: Visibility) -> Result<(), StubError> {
        let seen = match visibility {
            Visibility::Default => SymbolScope::Dynamic,
            Visibility::Hidden => SymbolScope::Linkage,
        };
        let start = self.object.append_section_data(self.text, &code.bytes, 16);
        for function in &code.functions {
            let (name, scope) = match function.role {
                Role::Module(index) => {
                    let name = self.name_of(REGISTER_MODULE, index);
                    (name, seen)
                }
                Role::Register => ("cuweld_register".to_owned(), SymbolScope::Compilation),
                Role::Unregister => ("cuweld_unregister".to_owned(), SymbolScope::Compilation),
            };
            let symbol = self.object.add_symbol(Symbol {
                name: file_name::bytes(&name).into_owned(),
                value: start + function.start,
                size: function.size,
                kind: SymbolKind::Text,
                scope,
                weak: false,
                section: SymbolSection::Section(self.text),
                flags: SymbolFlags::None,
            });
            self.functions.insert(function.role, symbol);
        }
        for fixup in &code.fixups {
            let (symbol, distance) = self.symbol(fixup.place)?;
            let to = (symbol, distance + fixup.addend);
            relocate(
                &mut self.object,
                self.text,
                start + fixup.offset,
                fixup.kind,
                to,
            )?;
        }
        Ok(())
    }

    fn unwinding(&mut self, code: &Code) -> Result<(), StubError> {
        let frame = eh_frame(code, &self.machine.registers);
        let section = add_data(&mut self.object, ".eh_frame", false, (frame.bytes, POINTER));
        let text = self.object.section_symbol(self.text);
        for (function, offset) in code.functions.iter().zip(frame.functions) {
            let to = (text, function.start as i64);
            relocate(&mut self.object, section, offset, self.machine.relative, to)?;
        }
        Ok(())
    }

    /// Returns the symbol of a place and the distance from it.
    fn symbol(&mut self, place: Place) -> Result<(SymbolId, i64), StubError> {
        let symbol = match place {
            Place::Descriptor => self.data.descriptor,
            Place::Handle => self.data.handle,
            Place::Count => self.data.count,
            Place::Fatbins => self.data.fatbins,
            Place::Callbacks => self.data.callbacks,
            Place::IdReference(index) => {
                return Ok((self.data.id_references, index as i64 * POINTER as i64));
            }
            Place::Function(role) => {
                let function = self.functions.get(&role).copied();
                function.ok_or(StubError::NoFunction(role))?
            }
            Place::ModuleDescriptor(index) => {
                let name = self.name_of(MODULE_DESCRIPTOR, index);
                self.external(name)
            }
            Place::External(name) => self.external(name.to_owned()),
        };
        Ok((symbol, 0))
    }

    /// Returns the name of something of a module.
    fn name_of(&self, what: &str, module: usize) -> String {
        let id = self.module_ids.get(module).map_or("", String::as_str);
        format!("{what}{id}")
    }

    /// Returns the symbol of something that another object defines.
    fn external(&mut self, name: String) -> SymbolId {
        if let Some(symbol) = self.externals.get(&name) {
            return *symbol;
        }
        let symbol = self.object.add_symbol(Symbol {
            name: file_name::bytes(&name).into_owned(),
            value: 0,
            size: 0,
            kind: SymbolKind::Unknown,
            scope: SymbolScope::Unknown,
            weak: false,
            section: SymbolSection::Undefined,
            flags: SymbolFlags::None,
        });
        self.externals.insert(name, symbol);
        symbol
    }
}

/// Adds the data of a stub.
fn data<'a>(
    object: &mut Object<'a>,
    machine: &Machine,
    stub: &LinkStub<'a>,
) -> Result<Data, StubError> {
    let pointers = stub.module_ids.len() as u64 * POINTER;
    let bss = object.add_section(Vec::new(), b".bss".to_vec(), SectionKind::UninitializedData);
    let mut variable = |name, size| {
        let at = object.append_section_bss(bss, size, POINTER);
        add_local(object, name, bss, (at, size))
    };
    let handle = variable("cuweld_handle", POINTER);
    let count = variable("cuweld_registered_modules", 4);
    // Its end is a null pointer.
    let fatbins = variable("cuweld_prelinked_fatbins", pointers + POINTER);
    let callbacks = variable("cuweld_callbacks", pointers);
    let (mut ids, mut places) = (Vec::new(), Vec::new());
    for id in stub.module_ids {
        places.push(ids.len() as i64);
        ids.extend_from_slice(b"def ");
        ids.extend_from_slice(&file_name::bytes(id));
        ids.push(0);
    }
    // The strings of all objects stand without gaps in a program.
    let ids = add_data(object, "__nv_module_id", false, (ids, 1));
    let ids = object.section_symbol(ids);
    let room = vec![0; stub.module_ids.len() * POINTER as usize];
    let references = add_data(object, ".data.rel.local", true, (room, POINTER));
    for (offset, place) in (0..).step_by(POINTER as usize).zip(places) {
        relocate(object, references, offset, machine.pointer, (ids, place))?;
    }
    let id_references = add_local(object, "cuweld_module_ids", references, (0, pointers));
    let fatbin = add_data(object, ".nv_fatbin", false, (stub.fatbin, POINTER));
    let size = stub.fatbin.len() as u64;
    let fatbin = add_local(object, "cuweld_fatbin", fatbin, (0, size));
    let mut descriptor = DESCRIPTOR_MAGIC.to_le_bytes().to_vec();
    descriptor.extend_from_slice(&LINKED_DESCRIPTOR.to_le_bytes());
    descriptor.extend_from_slice(&[0; 2 * POINTER as usize]);
    let size = descriptor.len() as u64;
    let section = add_data(object, ".nvFatBinSegment", true, (descriptor, POINTER));
    let descriptor = add_local(object, "cuweld_descriptor", section, (0, size));
    relocate(object, section, 8, machine.pointer, (fatbin, 0))?;
    relocate(object, section, 16, machine.pointer, (fatbins, 0))?;
    Ok(Data {
        descriptor,
        handle,
        count,
        fatbins,
        callbacks,
        id_references,
    })
}

/// Adds a section of data with an alignment. Some that the runtime and linkers look for are known by
/// their names alone.
fn add_data<'a>(
    object: &mut Object<'a>,
    name: &str,
    is_written: bool,
    (data, align): (impl Into<Cow<'a, [u8]>>, u64),
) -> SectionId {
    let (kind, sh_flags) = match is_written {
        true => (SectionKind::Data, SHF_ALLOC | SHF_WRITE),
        false => (SectionKind::ReadOnlyData, SHF_ALLOC),
    };
    let id = object.add_section(Vec::new(), name.as_bytes().to_vec(), kind);
    let section = object.section_mut(id);
    section.flags = SectionFlags::Elf {
        sh_type: SHT_PROGBITS,
        sh_flags,
    };
    section.set_data(data, align);
    id
}

/// Adds a symbol that only the stub sees, at a place of a section and with a size.
fn add_local(
    object: &mut Object<'_>,
    name: &str,
    section: SectionId,
    (value, size): (u64, u64),
) -> SymbolId {
    object.add_symbol(Symbol {
        name: name.as_bytes().to_vec(),
        value,
        size,
        kind: SymbolKind::Data,
        scope: SymbolScope::Compilation,
        weak: false,
        section: SymbolSection::Section(section),
        flags: SymbolFlags::None,
    })
}

fn relocate(
    object: &mut Object<'_>,
    section: SectionId,
    offset: u64,
    r_type: RelocationType,
    (symbol, addend): (SymbolId, i64),
) -> Result<(), StubError> {
    let relocation = Relocation {
        offset,
        symbol,
        addend,
        flags: RelocationFlags::Elf { r_type },
    };
    Ok(object.add_relocation(section, relocation)?)
}
