//! The linker IR of cuweld.
//!
//! A [`Module`] is one device link: its target, the options that change bytes, the input objects in
//! link order, and dense tables of entities named by typed `u32` ids. It has three forms: in memory
//! (this crate's types), text (`.lir`) and device ELF ([`elf`]).
//!
//! Architecture Invariant: this crate does no IO, prints nothing and knows file names only as data.
//!
//! Architecture Invariant: from `resolved` on nothing is removed from a module, and contents never
//! change. What dies, loses or is skipped is marked with its reason; what changes in the bytes is a
//! [`Fixup`] that the writer applies while it copies. Before that, passes change rows by [`edit`].

#![forbid(unsafe_code)]

pub mod arena;
pub mod attribute;
pub mod callgraph_record;
pub mod edit;
pub mod elf;
pub mod function;
pub mod ids;
pub mod link_symbol;
pub mod merge_log;
pub mod module;
pub mod note;
pub mod object;
pub mod options;
pub mod origin;
pub mod placement;
pub mod plan;
pub mod reloc;
pub mod section;
pub mod symbol;
pub mod table;
pub mod text;
pub mod verify;

pub use arena::Arena;
pub use attribute::Attribute;
pub use attribute::MergedInfo;
pub use callgraph_record::CallKind;
pub use callgraph_record::CallRecord;
pub use callgraph_record::PrototypeRecord;
pub use function::Fate;
pub use function::Function;
pub use function::FunctionView;
pub use function::Remade;
pub use function::Views;
pub use ids::*;
pub use link_symbol::LinkSymbol;
pub use link_symbol::Liveness;
pub use merge_log::MergeEvent;
pub use merge_log::MergeOutcome;
pub use module::Module;
pub use module::Phase;
pub use note::Note;
pub use object::Object;
pub use object::ObjectOrigin;
pub use object::ObjectState;
pub use options::Finalize;
pub use options::HostReferences;
pub use options::LinkOptions;
pub use options::LinkRecord;
pub use options::MemoryOptions;
pub use options::MercuryOptions;
pub use options::Reports;
pub use placement::BankPiece;
pub use placement::HeaderSlot;
pub use placement::PoolPart;
pub use placement::SharedFrame;
pub use plan::OutputLayout;
pub use reloc::Fixup;
pub use reloc::Reloc;
pub use reloc::RelocAction;
pub use section::Section;
pub use section::SectionContent;
pub use section::SectionInfo;
pub use section::SectionKind;
pub use symbol::Symbol;
pub use symbol::SymbolPlace;
pub use symbol::SymbolRef;
pub use table::IdRange;
pub use table::PrimaryMap;
pub use verify::VerifyError;
pub use verify::verify;
