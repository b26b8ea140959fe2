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
    pub fn object(&self, host: Host) -> Result<Vec<u8>, StubError> {
        let machine = host.machine();
        let code = (machine.code)(self.modules()?);
        let mut writer = Writer::new(self, machine);
        writer.data(self)?;
        writer.code(&code)?;
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
    bss: SectionId,
    externals: BTreeMap<String, SymbolId>,
    /// Data of the stub, by the order of [`DATA`].
    data: [Option<SymbolId>; 5],
    /// Pointers to the ids of modules.
    id_references: Option<(SymbolId, u64)>,
    functions: Vec<(Role, SymbolId)>,
}

/// Names of the stub's own data.
const DATA: [&str; 5] = [
    "cuweld_descriptor",
    "cuweld_handle",
    "cuweld_registered_modules",
    "cuweld_prelinked_fatbins",
    "cuweld_callbacks",
];

impl<'a> Writer<'a> {
    fn new(stub: &LinkStub<'a>, machine: &'static Machine) -> Self {
        let mut object = Object::new(BinaryFormat::Elf, machine.architecture, Endianness::Little);
        object.add_file_symbol(b"cuweld".to_vec());
        let text = object.add_section(Vec::new(), b".text".to_vec(), SectionKind::Text);
        let bss = object.add_section(Vec::new(), b".bss".to_vec(), SectionKind::UninitializedData);
        // Nothing here needs a stack that can be executed.
        let stack = object.add_section(Vec::new(), b".note.GNU-stack".to_vec(), SectionKind::Other);
        object.section_mut(stack).flags = SectionFlags::Elf {
            sh_type: SHT_PROGBITS,
            sh_flags: object::elf::SectionFlags(0),
        };
        Writer {
            object,
            machine,
            module_ids: stub.module_ids,
            text,
            bss,
            externals: BTreeMap::new(),
            data: [None; 5],
            id_references: None,
            functions: Vec::new(),
        }
    }

    /// Adds a section of data; the runtime's own are only found by their names.
    fn section(&mut self, name: &str, is_written: bool, data: Vec<u8>, align: u64) -> SectionId {
        let kind = match is_written {
            true => SectionKind::Data,
            false => SectionKind::ReadOnlyData,
        };
        let section = self
            .object
            .add_section(Vec::new(), name.as_bytes().to_vec(), kind);
        let flags = match is_written {
            true => SHF_ALLOC | SHF_WRITE,
            false => SHF_ALLOC,
        };
        self.object.section_mut(section).flags = SectionFlags::Elf {
            sh_type: SHT_PROGBITS,
            sh_flags: flags,
        };
        self.object.section_mut(section).set_data(data, align);
        section
    }

    fn data(&mut self, stub: &LinkStub<'a>) -> Result<(), StubError> {
        let modules = stub.module_ids.len() as u64;
        let count = modules * POINTER;
        // The list of fatbins ends with a null pointer.
        for (index, size) in [(1, POINTER), (2, 4), (3, count + POINTER), (4, count)] {
            let at = self.object.append_section_bss(self.bss, size, POINTER);
            self.data[index] = Some(self.local(DATA[index], self.bss, at, size));
        }
        let mut ids = Vec::new();
        let mut places = Vec::new();
        for id in stub.module_ids {
            places.push(ids.len() as i64);
            ids.extend_from_slice(b"def ");
            ids.extend_from_slice(&crate::file_name::bytes(id));
            ids.push(0);
        }
        let ids = self.section("__nv_module_id", false, ids, 1);
        let pointers = vec![0; usize::try_from(count).unwrap_or(0)];
        let references = self.section(".data.rel.local", true, pointers, POINTER);
        let ids = self.object.section_symbol(ids);
        for (index, place) in places.into_iter().enumerate() {
            let offset = index as u64 * POINTER;
            self.relocation(references, offset, self.machine.pointer, (ids, place))?;
        }
        let references = self.local("cuweld_module_ids", references, 0, count);
        self.id_references = Some((references, POINTER));
        let fatbin = self.section(".nv_fatbin", false, stub.fatbin.to_vec(), POINTER);
        let fatbin = self.local("cuweld_fatbin", fatbin, 0, stub.fatbin.len() as u64);
        let mut descriptor = DESCRIPTOR_MAGIC.to_le_bytes().to_vec();
        descriptor.extend_from_slice(&LINKED_DESCRIPTOR.to_le_bytes());
        descriptor.extend_from_slice(&[0; 2 * POINTER as usize]);
        let size = descriptor.len() as u64;
        let section = self.section(".nvFatBinSegment", true, descriptor, POINTER);
        self.data[0] = Some(self.local(DATA[0], section, 0, size));
        self.relocation(section, 8, self.machine.pointer, (fatbin, 0))?;
        let fatbins = self.symbol(Place::Fatbins);
        self.relocation(section, 16, self.machine.pointer, fatbins)
    }

    fn code(&mut self, code: &Code) -> Result<(), StubError> {
        let start = self.object.append_section_data(self.text, &code.bytes, 16);
        for function in &code.functions {
            let (name, scope) = match function.role {
                Role::Module(index) => {
                    let id = self.module_ids.get(index).map_or("", String::as_str);
                    (format!("{REGISTER_MODULE}{id}"), SymbolScope::Dynamic)
                }
                Role::Register => ("cuweld_register".to_owned(), SymbolScope::Compilation),
                Role::Unregister => ("cuweld_unregister".to_owned(), SymbolScope::Compilation),
            };
            let symbol = self.object.add_symbol(Symbol {
                name: crate::file_name::bytes(&name).into_owned(),
                value: start + function.start,
                size: function.size,
                kind: SymbolKind::Text,
                scope,
                weak: false,
                section: SymbolSection::Section(self.text),
                flags: SymbolFlags::None,
            });
            self.functions.push((function.role, symbol));
        }
        for fixup in &code.fixups {
            let (symbol, addend) = self.symbol(fixup.place);
            let to = (symbol, addend + fixup.addend);
            self.relocation(self.text, start + fixup.offset, fixup.kind, to)?;
        }
        Ok(())
    }

    fn unwinding(&mut self, code: &Code) -> Result<(), StubError> {
        let frame = eh_frame(code, &self.machine.registers);
        let section = self.section(".eh_frame", false, frame.bytes, POINTER);
        for (function, offset) in code.functions.iter().zip(frame.functions) {
            let text = self.object.section_symbol(self.text);
            let to = (text, function.start as i64);
            self.relocation(section, offset, self.machine.relative, to)?;
        }
        Ok(())
    }

    /// Adds a symbol that only the stub sees.
    fn local(&mut self, name: &str, section: SectionId, value: u64, size: u64) -> SymbolId {
        self.object.add_symbol(Symbol {
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

    /// Returns the symbol of a place and the distance from it.
    fn symbol(&mut self, place: Place) -> (SymbolId, i64) {
        let own = |index: usize| self.data[index];
        let known = match place {
            Place::Descriptor => own(0),
            Place::Handle => own(1),
            Place::Count => own(2),
            Place::Fatbins => own(3),
            Place::Callbacks => own(4),
            Place::IdReference(index) => {
                let references = self.id_references;
                return match references {
                    Some((symbol, size)) => (symbol, (index as u64 * size) as i64),
                    None => (self.external(String::new()), 0),
                };
            }
            Place::Function(role) => {
                let mut functions = self.functions.iter();
                functions.find(|(of, _)| *of == role).map(|(_, it)| *it)
            }
            Place::ModuleDescriptor(index) => {
                let id = self.module_ids.get(index).map_or("", String::as_str);
                let name = format!("{MODULE_DESCRIPTOR}{id}");
                return (self.external(name), 0);
            }
            Place::External(name) => return (self.external(name.to_owned()), 0),
        };
        let symbol = known.unwrap_or_else(|| self.external(String::new()));
        (symbol, 0)
    }

    /// Returns the symbol of something that another object defines.
    fn external(&mut self, name: String) -> SymbolId {
        if let Some(symbol) = self.externals.get(&name) {
            return *symbol;
        }
        let symbol = self.object.add_symbol(Symbol {
            name: crate::file_name::bytes(&name).into_owned(),
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

    fn relocation(
        &mut self,
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
        Ok(self.object.add_relocation(section, relocation)?)
    }
}
