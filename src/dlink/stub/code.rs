//! Machine code of a link stub before it is in an object: bytes, what they refer to, and how its
//! frames are unwound.

use object::elf::RelocationType;

/// What an instruction refers to.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// The descriptor of the linked device code (`.nvFatBinSegment`).
    Descriptor,
    /// What the runtime gave for the device code.
    Handle,
    /// How many modules have registered.
    Count,
    /// The device code that each module had before it was linked, in the order of registration.
    Fatbins,
    /// What each module does once the linked code is registered, in the same order.
    Callbacks,
    /// The pointer to the id of a module.
    IdReference(usize),
    /// The descriptor of a module, which is in its host object.
    ModuleDescriptor(usize),
    /// A function of the stub.
    Function(Role),
    /// A function of the runtime, or of the C library.
    External(&'static str),
}

/// What a function of the stub does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Takes the registration of a module, whose constructor calls it.
    Module(usize),
    /// Counts a module; after the last one registers the linked code and calls all back.
    Register,
    /// Takes the linked code from the runtime when the program ends.
    Unregister,
}

/// A reference that a linker fills in.
#[derive(Clone, Copy, Debug)]
pub struct Fixup {
    /// Where it is in the code.
    pub offset: u64,
    /// How it is filled in.
    pub kind: RelocationType,
    /// What is referred to.
    pub place: Place,
    /// What is added.
    pub addend: i64,
}

/// A change of the frame, for unwinding.
#[derive(Clone, Copy, Debug)]
pub enum FrameRule {
    /// The frame begins so many bytes above the stack pointer.
    Size(u8),
    /// A register is saved at this number of 8 bytes below the frame's beginning.
    Saved(u8, u8),
    /// A register has its value of before.
    Restored(u8),
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// What it does.
    pub role: Role,
    /// Where it begins in the code.
    pub start: u64,
    /// Its size in bytes.
    pub size: u64,
    /// What changes of its frame, each after so many bytes of the function.
    pub frame: Vec<(u64, FrameRule)>,
}

/// Machine code.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// The instructions.
    pub bytes: Vec<u8>,
    /// What they refer to.
    pub fixups: Vec<Fixup>,
    /// The functions, in their order.
    pub functions: Vec<Function>,
}

impl Code {
    /// Returns where the next instruction begins.
    pub fn at(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Adds instructions.
    pub fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Adds a function, which `make` writes.
    pub fn function(&mut self, role: Role, make: impl FnOnce(&mut Self)) {
        let start = self.at();
        self.functions.push(Function {
            role,
            start,
            size: 0,
            frame: Vec::new(),
        });
        make(self);
        let end = self.at();
        if let Some(function) = self.functions.last_mut() {
            function.size = end - start;
        }
    }

    /// Notes a change of the frame, from the next instruction on.
    pub fn frame(&mut self, rules: &[FrameRule]) {
        let at = self.at();
        if let Some(function) = self.functions.last_mut() {
            let rules = rules.iter().map(|rule| (at - function.start, *rule));
            function.frame.extend(rules);
        }
    }

    /// Notes a reference at an offset.
    pub fn fixup(&mut self, offset: u64, kind: RelocationType, place: Place, addend: i64) {
        self.fixups.push(Fixup {
            offset,
            kind,
            place,
            addend,
        });
    }
}
