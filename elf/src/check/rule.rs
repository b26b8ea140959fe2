//! The list of rules, and which part of a file each belongs to.

/// What a rule is about. The finalizer has one code and one message for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Code and other contents.
    Text,
    /// Debug information.
    Debug,
    /// Relocations.
    Relocations,
    /// Symbols, section headers and the file itself.
    Symbols,
}

impl Part {
    /// Returns the rule's name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Part::Text => "text",
            Part::Debug => "debug",
            Part::Relocations => "relocation",
            Part::Symbols => "symbol",
        }
    }
}

rules! {
    /// Something that holds of every sound device ELF, or of one that its link has just written.
    enum Rule;
    /// Returns the part of the file that the rule is about.
    fn part -> Part;

    /// The file is a little-endian ELF64 for CUDA, and its headers speak of nothing outside of it.
    Structure = "structure" of Symbols,
    /// Every byte belongs to a header table or to one section, to two only if one is the Mercury
    /// name of the other; all others are zeros for an alignment, or room that names took.
    BytesOwned = "bytes-owned" of Symbols,
    /// Names of sections and symbols lie in their tables.
    Names = "names" of Symbols,
    /// Links and infos of section headers name sections or symbols of the right kind.
    Links = "links" of Symbols,
    /// Program headers of an executable cover each section in memory once, with its rights.
    Segments = "segments" of Symbols,
    /// A symbol is defined in a section that exists, and lies within it.
    SymbolPlace = "symbol-place" of Symbols,
    /// The kind bits of `e_flags` say whether the file has Mercury, and name the right section of
    /// notes.
    Kind = "kind" of Symbols,
    /// A section of the Mercury view has the type, flags, link and info that its name asks for.
    MercuryHeader = "mercury-header" of Symbols,
    /// Each section of the Mercury view stands for one of the SASS view, and in the same order.
    MercuryTwin = "mercury-twin" of Symbols,
    /// The symbols of both views are the same, in the same order, with the places of their view.
    MercurySymbols = "mercury-symbols" of Symbols,
    /// Rows lie within the section that they change, and name symbols that exist.
    RelocRows = "reloc-rows" of Relocations,
    /// Rows of a view have types of that view.
    RelocTypes = "reloc-types" of Relocations,
    /// Rows of both views stand for each other in order: types of one meaning, equal symbols and
    /// addends.
    RelocPairs = "reloc-pairs" of Relocations,
    /// Rows of code lie at the start of a SASS instruction, and at the word of a Mercury
    /// instruction that is filled.
    RelocPlaces = "reloc-places" of Relocations,
    /// Code has whole instructions.
    CodeSize = "code-size" of Text,
    /// Mercury code is of the known form.
    MercuryGrammar = "mercury-grammar" of Text,
    /// The items of Mercury code stand for all SASS instructions.
    MercuryCount = "mercury-count" of Text,
    /// Mercury code names the section of the function that its own name says.
    MercuryText = "mercury-text" of Text,
    /// What no Mercury stands for at the end of a function is a branch to itself and padding, as
    /// nvlink writes them.
    MercuryTail = "mercury-tail" of Text,
    /// Operands of records are those of the SASS instruction.
    MercuryRecord = "mercury-record" of Text,
    /// Sections that both views share have the same bytes.
    DebugAlias = "debug-alias" of Debug,
    /// Entries of `.debug_frame` follow each other without a rest.
    DebugFrames = "debug-frames" of Debug,
    /// A function that has FDEs is covered by one of them, in the size of its view. Others, and all
    /// of a weak function, may be those of copies that it replaced.
    DebugRange = "debug-range" of Debug,
    /// Attribute lists of both views give the same functions registers and stack.
    ListPairs = "list-pairs" of Text,
    /// Records of the SASS view name instructions of their function, of the kind that they are about.
    RecordPlaces = "record-places" of Text,
    /// Frames of the SASS view have rules of the Mercury view, at instructions of their code.
    FramePairs = "frame-pairs" of Debug,
    /// Code is that of the objects but where relocations are applied.
    TextKept = "text-kept" of Text,
    /// Mercury code is that of the objects but for the section that it names and what relocations
    /// fill.
    MercuryKept = "mercury-kept" of Text,
    /// Contents that are no code are those of the objects, or those that the link decided.
    DataKept = "data-kept" of Text,
    /// Debug information is that of the objects but where relocations are applied, or that which
    /// the link decided.
    DebugKept = "debug-kept" of Debug,
    /// The rows of the file are those that the link decided.
    RelocPlanned = "reloc-planned" of Relocations,
    /// The file header and program headers are those that the link decided.
    HeadersPlanned = "headers-planned" of Symbols,
    /// The section headers and names are those that the link decided.
    SectionsPlanned = "sections-planned" of Symbols,
    /// The symbols and their names are those that the link decided.
    SymbolsPlanned = "symbols-planned" of Symbols,
    /// Every function that is linked has a symbol at its code, and no other function has.
    FunctionsWritten = "functions-written" of Symbols,
}
