//! Changes of a module by passes: rows that come and go, uses that move, bytes that change.
//!
//! A module's rows have dense ids, and objects and sections own ranges of them. [`Edits`] collects
//! rows to add and to erase and applies them at once: rows get their places, and every id and
//! range follows. What an object's rows are is open until `resolved`; bytes of sections can be
//! changed until the file is written ([`Patch`]).
//!
//! - `erased`: what goes with erased rows; `arrange`, `places`: the new order of each table;
//!   `renumbering`: new numbers by old ones; `apply`: all of it, done to the module.
//! - `patch`: bytes that change without a relocation.

mod apply;
mod arrange;
mod erased;
mod error;
mod patch;
mod places;
mod renumbering;

pub use error::EditError;
pub use patch::Patch;
pub use patch::PatchError;
pub use renumbering::Renumbering;

use std::ops::Range;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::arena::Arena;
use crate::attribute::Attribute;
use crate::callgraph_record::CallRecord;
use crate::callgraph_record::PrototypeRecord;
use crate::function::Function;
use crate::function::FunctionView;
use crate::function::Views;
use crate::ids::*;
use crate::module::Module;
use crate::module::Phase;
use crate::note::Note;
use crate::reloc::Reloc;
use crate::section::Section;
use crate::section::SectionContent;
use crate::section::SectionInfo;
use crate::section::SectionKind;
use crate::symbol::Symbol;
use crate::symbol::SymbolPlace;
use crate::table::EntityId;
use crate::verify::broken_ids;
use crate::verify::verify;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::sht;

use self::erased::Erasures;

/// A batch of changes of the rows of objects, for modules that are not resolved yet.
///
/// Ids of rows that were added are good for other rows of the batch; [`Renumbering::get`] says what
/// they are in the module once the batch is applied. Linear in the module for a whole batch.
///
/// ```
/// # use cuweld_ir::{Arena, Symbol, edit::Edits, text};
/// # let arena = Arena::new();
/// # let text = "lir 1\nmodule phase=lowered toolkit=13.0.88 target=sm_90 bytes=full\n\
/// #     object @0 a.cubin type=REL flags=0x6005a04 state=candidate\n  owns %0..1\n\
/// #     %0 callee GLOBAL FUNC undefined value=0x0 size=0x0\nend\n";
/// # let mut module = text::parse(text, &arena, &|_| None).unwrap();
/// let mut edits = Edits::new(&module)?;
/// let old = module.symbols.ids().next().unwrap();
/// let new = edits.add_symbol(Symbol {
///     name: b"replacement",
///     ..module.symbols[old]
/// });
/// edits.replace_all_uses(old, new);
/// edits.erase_symbol(old);
/// let numbers = edits.apply(&mut module)?;
/// assert_eq!(numbers.get(old), None);
/// assert_eq!(module.symbols[numbers.get(new).unwrap()].name, b"replacement");
/// # Ok::<(), cuweld_ir::edit::EditError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Edits<'data> {
    phase: Phase,
    lengths: [usize; 8],
    sections: Vec<Section<'data>>,
    symbols: Vec<Symbol<'data>>,
    functions: Vec<Function>,
    relocs: Vec<Reloc>,
    attributes: Vec<(Attribute<'data>, Vec<crate::symbol::SymbolRef>)>,
    calls: Vec<(ObjectId, CallRecord<'data>)>,
    prototypes: Vec<(ObjectId, PrototypeRecord<'data>)>,
    notes: Vec<Note<'data>>,
    erased: Erasures,
    replaced: Vec<(SymbolId, SymbolId)>,
    /// The RELA section of each section that has one, once it is asked for.
    relas: Option<HashMap<SectionId, SectionId, FixedState>>,
}

/// The ids of a function that was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewFunction {
    /// The function.
    pub function: FunctionId,
    /// Its symbol.
    pub symbol: SymbolId,
    /// Its code.
    pub text: SectionId,
}

fn lengths(module: &Module<'_>) -> [usize; 8] {
    [
        module.sections.len(),
        module.symbols.len(),
        module.functions.len(),
        module.relocs.len(),
        module.attributes.len(),
        module.calls.len(),
        module.prototypes.len(),
        module.notes.len(),
    ]
}

impl<'data> Edits<'data> {
    /// Begins a batch for this module, which must not be `resolved` yet.
    pub fn new(module: &Module<'data>) -> Result<Self, EditError> {
        if module.phase >= Phase::Resolved {
            return Err(EditError::TooLate(module.phase));
        }
        Ok(Edits {
            phase: module.phase,
            lengths: lengths(module),
            sections: Vec::new(),
            symbols: Vec::new(),
            functions: Vec::new(),
            relocs: Vec::new(),
            attributes: Vec::new(),
            calls: Vec::new(),
            prototypes: Vec::new(),
            notes: Vec::new(),
            erased: Erasures::default(),
            replaced: Vec::new(),
            relas: None,
        })
    }

    /// Adds a section at the end of the object that it names. From `classified` on it needs a kind,
    /// and an owner if it belongs to a function.
    pub fn add_section(&mut self, section: Section<'data>) -> SectionId {
        self.sections.push(section);
        SectionId::new(self.lengths[0] + self.sections.len() - 1)
    }

    /// Adds a symbol to the object that it names: a local one after the object's local symbols,
    /// others at the end. A defined function also needs a row of its own, see
    /// [`Edits::add_function`].
    pub fn add_symbol(&mut self, symbol: Symbol<'data>) -> SymbolId {
        self.symbols.push(symbol);
        SymbolId::new(self.lengths[1] + self.symbols.len() - 1)
    }

    /// Adds a function with its symbol and its code, whose places and references to each other are
    /// filled in. Attributes, such as the number of its registers, are added by
    /// [`Edits::add_attribute`].
    pub fn add_function(&mut self, symbol: Symbol<'data>, text: Section<'data>) -> NewFunction {
        let function = FunctionId::new(self.lengths[2] + self.functions.len());
        let is_classified = self.phase >= Phase::Classified;
        let id = SymbolId::new(self.lengths[1] + self.symbols.len());
        let text = self.add_section(Section {
            object: symbol.object,
            info: SectionInfo::Symbol {
                symbol: id,
                high: 0,
            },
            kind: match is_classified {
                true => SectionKind::Text,
                false => SectionKind::Unclassified,
            },
            owner: is_classified.then_some(function),
            ..text
        });
        self.functions.push(Function {
            object: symbol.object,
            symbol: id,
            views: Views {
                sass: FunctionView { text, info: None },
                merc: None,
            },
            ..Function::default()
        });
        let symbol = self.add_symbol(Symbol {
            place: SymbolPlace::Section(text),
            function: Some(function),
            ..symbol
        });
        NewFunction {
            function,
            symbol,
            text,
        }
    }

    /// Returns the RELA section that applies to a section of the module or of this batch; adds one
    /// if there is none.
    pub fn rela_section(
        &mut self,
        module: &Module<'data>,
        patched: SectionId,
        arena: &'data Arena,
    ) -> SectionId {
        let relas = self.relas.get_or_insert_with(|| {
            let is_rela = |section: &Section<'_>| section.ty == sht::RELA;
            let relas = module.sections.iter().filter(|(_, row)| is_rela(row));
            let relas = relas.filter_map(|(id, row)| match row.info {
                SectionInfo::Section(patched) => Some((patched, id)),
                _ => None,
            });
            relas.collect()
        });
        if let Some(known) = relas.get(&patched) {
            return *known;
        }
        let added = patched.index().checked_sub(self.lengths[0]);
        let of = match added {
            Some(added) => self.sections.get(added),
            None => module.sections.get(patched),
        };
        let of = of.copied().unwrap_or_default();
        let own = module.objects.get(of.object);
        let symbols = own.and_then(|object| {
            let is_symbols = |id: &SectionId| module.sections[*id].ty == sht::SYMTAB;
            object.sections.iter().find(is_symbols)
        });
        let is_classified = self.phase >= Phase::Classified;
        let rela = self.add_section(Section {
            object: of.object,
            name: arena.joined(b".rela", of.name),
            ty: sht::RELA,
            flags: SectionFlags::INFO_LINK,
            align: 8,
            entsize: 24,
            link: symbols,
            info: SectionInfo::Section(patched),
            content: SectionContent::Decoded,
            kind: match is_classified {
                true => SectionKind::Relocs,
                false => SectionKind::Unclassified,
            },
            owner: of.owner,
            ..Section::default()
        });
        self.relas.get_or_insert_default().insert(patched, rela);
        rela
    }

    /// Adds a relocation after the last one of the REL or RELA section that it names.
    pub fn add_reloc(&mut self, reloc: Reloc) -> RelocId {
        self.relocs.push(reloc);
        RelocId::new(self.lengths[3] + self.relocs.len() - 1)
    }

    /// Adds a record, whose payload begins with these references, after the last one of the section
    /// that it names. Its own range of references does not count.
    pub fn add_attribute(
        &mut self,
        attribute: Attribute<'data>,
        refs: &[crate::symbol::SymbolRef],
    ) -> AttributeId {
        self.attributes.push((attribute, refs.to_vec()));
        AttributeId::new(self.lengths[4] + self.attributes.len() - 1)
    }

    /// Adds a row of `.nv.callgraph` to an object, after the last one of its kind.
    pub fn add_call(&mut self, object: ObjectId, call: CallRecord<'data>) -> CallId {
        self.calls.push((object, call));
        CallId::new(self.lengths[5] + self.calls.len() - 1)
    }

    /// Adds a row of `.nv.prototype` at the end of an object.
    pub fn add_prototype(
        &mut self,
        object: ObjectId,
        prototype: PrototypeRecord<'data>,
    ) -> PrototypeId {
        self.prototypes.push((object, prototype));
        PrototypeId::new(self.lengths[6] + self.prototypes.len() - 1)
    }

    /// Adds a note after the last one of the section that it names.
    pub fn add_note(&mut self, note: Note<'data>) -> NoteId {
        self.notes.push(note);
        NoteId::new(self.lengths[7] + self.notes.len() - 1)
    }

    /// Erases a section with its records and notes, and with the relocations that apply to it. A
    /// symbol that stays must not lie in it.
    pub fn erase_section(&mut self, id: SectionId) {
        self.erased.sections.push(id);
    }

    /// Erases a symbol that nothing refers to, or nothing that stays.
    pub fn erase_symbol(&mut self, id: SymbolId) {
        self.erased.symbols.push(id);
    }

    /// Erases a function with its symbol, its code, the sections that belong to that and the
    /// variables in them, and with what its object says of it: records, rows of the call graph,
    /// relocations of debug information. Calls of it by functions that stay have to be erased or
    /// replaced, too.
    pub fn erase_function(&mut self, id: FunctionId) {
        self.erased.functions.push(id);
    }

    /// Erases a relocation: its bytes stay as they are.
    pub fn erase_reloc(&mut self, id: RelocId) {
        self.erased.relocs.push(id);
    }

    /// Erases a record.
    pub fn erase_attribute(&mut self, id: AttributeId) {
        self.erased.attributes.push(id);
    }

    /// Erases a row of `.nv.callgraph`.
    pub fn erase_call(&mut self, id: CallId) {
        self.erased.calls.push(id);
    }

    /// Erases a row of `.nv.prototype`.
    pub fn erase_prototype(&mut self, id: PrototypeId) {
        self.erased.prototypes.push(id);
    }

    /// Erases a note.
    pub fn erase_note(&mut self, id: NoteId) {
        self.erased.notes.push(id);
    }

    /// Makes relocations, records, rows of the call graph and prototypes that refer to a symbol refer
    /// to another one of the same object. Rows of this batch keep their references, so that a new
    /// function can call the one that it stands in for.
    pub fn replace_all_uses(&mut self, of: SymbolId, with: SymbolId) {
        self.replaced.push((of, with));
    }

    /// Applies the batch. The module passes the verifier after it, or is as it was.
    pub fn apply(self, module: &mut Module<'data>) -> Result<Renumbering, EditError> {
        if self.phase != module.phase || self.lengths != lengths(module) {
            return Err(EditError::OtherModule);
        }
        let added: [usize; 8] = [
            self.sections.len(),
            self.symbols.len(),
            self.functions.len(),
            self.relocs.len(),
            self.attributes.len(),
            self.calls.len(),
            self.prototypes.len(),
            self.notes.len(),
        ];
        let fits = |(old, added): (&usize, &usize)| old + added < u32::MAX as usize;
        if !self.lengths.iter().zip(&added).all(fits) {
            return Err(EditError::TooLarge);
        }
        if let Some(error) = broken_ids(module) {
            return Err(EditError::Broken(error));
        }
        let mut changed = module.clone();
        let numbers = apply::apply(self, &mut changed)?;
        if let Some(error) = verify(&changed).into_iter().next() {
            return Err(EditError::Broken(error));
        }
        *module = changed;
        Ok(numbers)
    }
}

impl<'data> Module<'data> {
    /// Adds a record that the linker made, whose payload begins with these references, after those
    /// of all objects. Allowed in every phase; what it says counts once an output list names it.
    pub fn push_attribute(
        &mut self,
        attribute: Attribute<'data>,
        refs: &[crate::symbol::SymbolRef],
    ) -> AttributeId {
        let start = self.attribute_refs.len() as u32;
        self.attribute_refs.extend_from_slice(refs);
        let refs: Range<u32> = start..self.attribute_refs.len() as u32;
        self.attributes.push(Attribute { refs, ..attribute })
    }
}
