//! The list of invariants.

use std::fmt;

use crate::module::Phase;

cuweld_elf::rules! {
    /// An invariant of the IR.
    enum Rule;
    /// Returns the phase from which it holds.
    fn from_phase -> Phase;

    /// Every id and every range of ids names rows of its table.
    IdsInRange = "ids-in-range" from Lowered,
    /// The ranges of the objects partition every table, in link order; only attributes and notes of
    /// the linker follow the last range.
    ObjectRanges = "object-ranges" from Lowered,
    /// Sections, symbols and functions name the object whose range they stand in.
    RowObject = "row-object" from Lowered,
    /// What a row of an object refers to belongs to the same object.
    SameObject = "same-object" from Lowered,
    /// A relocation stands in the range of the REL or RELA section that it names, and the range
    /// holds no other.
    SectionRelocs = "section-relocs" from Lowered,
    /// An attribute record stands in the range of the section that it names, and the range holds no
    /// other.
    SectionAttributes = "section-attributes" from Lowered,
    /// A note names a section of notes of the object whose range it stands in; the linker's own
    /// name none.
    NoteSection = "note-section" from Lowered,
    /// The references of attribute records follow each other in the order of the records.
    AttributeRefs = "attribute-refs" from Lowered,
    /// Only S records have references and a payload, of at most 65535 bytes, and they have no
    /// value.
    AttributeForm = "attribute-form" from Lowered,
    /// Alignments of sections are 0 or powers of two.
    SectionAlign = "section-align" from Lowered,
    /// The contents of a section have the form that its type asks for: decoded, bytes, or none.
    SectionContent = "section-content" from Lowered,
    /// `sh_info` is a section for relocations and under INFO_LINK, a symbol for code only.
    SectionInfo = "section-info" from Lowered,
    /// Binding and type of a symbol fit into four bits, and no symbol is a SECTION symbol.
    SymbolInfo = "symbol-info" from Lowered,
    /// A function and its symbol name each other, the symbol is an STT_FUNC defined in the section
    /// of the function's code, and every such symbol has a function.
    FunctionSymbol = "function-symbol" from Lowered,
    /// REL rows have no explicit addend.
    RelAddend = "rel-addend" from Lowered,
    /// A call graph row has a callee or a prototype, as its kind says.
    CallForm = "call-form" from Lowered,

    /// The target is one of those that are linked for.
    TargetKnown = "target-known" from Lowered,
    /// A link that a pass has stopped has an error among its findings.
    StoppedByError = "stopped-by-error" from Lowered,

    /// Before `classified`, sections have no kind and no owner, functions no registers and no
    /// attributes.
    EarlyClassified = "early-classified" from Lowered,
    /// Before `selected`, every object is a candidate.
    EarlySelected = "early-selected" from Lowered,
    /// Before `resolved`, there are no link symbols, and no copy of a function was chosen.
    EarlyResolved = "early-resolved" from Lowered,
    /// Before `live`, no liveness is known and there are no output lists.
    EarlyLive = "early-live" from Lowered,
    /// Before `placed`, no section, variable or kernel has a place in memory.
    EarlyPlaced = "early-placed" from Lowered,
    /// Before `planned`, no relocation is planned but those that a pass has taken out.
    EarlyPlanned = "early-planned" from Lowered,
    /// Before `laid-out`, there are no fixups but patches, and no plan of the file.
    EarlyLaidOut = "early-laid-out" from Lowered,
    /// Before `emitted`, there is no image.
    EarlyEmitted = "early-emitted" from Lowered,

    /// Every section has a kind.
    KindSet = "kind-set" from Classified,
    /// The kind of a section fits its type and flags.
    KindForm = "kind-form" from Classified,
    /// Every section of code is owned by the function that is defined in it. Others in it are
    /// aliases, which come later.
    TextOwner = "text-owner" from Classified,
    /// The attributes of a function are a `.nv.info.F` that it owns.
    FunctionInfo = "function-info" from Classified,

    /// No object is a candidate any more.
    StateSet = "state-set" from Selected,
    /// Included objects are no finished executables.
    IncludedType = "included-type" from Selected,

    /// Every symbol of an included object but ptxas's fillers stands for a link symbol, no other
    /// does.
    LinkSet = "link-set" from Resolved,
    /// First symbol and definition of a link symbol are symbols that stand for it, and the
    /// definition is one.
    LinkMembers = "link-members" from Resolved,
    /// The symbols of a link symbol have one name, and a local symbol stands for itself alone, but for
    /// `.nv.ptx.const0.size`.
    LinkName = "link-name" from Resolved,
    /// No two link symbols of global symbols have the same name.
    LinkUnique = "link-unique" from Resolved,
    /// Link symbols stand in the order of their first symbols: by object, functions before the
    /// rest.
    LinkOrder = "link-order" from Resolved,
    /// Of the copies of a function in included objects the one that defines its link symbol
    /// prevails and the others do not; copies elsewhere stay candidates.
    FunctionState = "function-state" from Resolved,
    /// Replaying the merge log gives the definition of each name, and of each copy of a function
    /// whether it was replaced or discarded.
    MergeLog = "merge-log" from Resolved,
    /// Only a tentative definition has an alignment of its own.
    CommonAlign = "common-align" from Resolved,

    /// It is known of every link symbol whether it is kept.
    LiveSet = "live-set" from Live,
    /// The first output list of attributes is the module's; the others belong to one live function
    /// each.
    MergedInfo = "merged-info" from Live,
    /// What records of the output lists refer to is part of the output.
    MergedRefs = "merged-refs" from Live,

    /// Same-named sections that are concatenated follow each other at their alignment, in link
    /// order; only uninitialised memory may be left out.
    PlaceOrder = "place-order" from Placed,
    /// Only concatenated sections and functions' constants of included objects have a place.
    PlaceKind = "place-kind" from Placed,
    /// A piece of a constant bank belongs to a live function and is a section of constants of that
    /// bank, at the offset that is the section's place.
    BankPiece = "bank-piece" from Placed,
    /// The pieces of a kernel's constant bank do not overlap.
    BankOverlap = "bank-overlap" from Placed,
    /// What is defined outside shared memory has a value.
    ValueSet = "value-set" from Placed,
    /// What lies in a section that has a place has the value that follows from it; other
    /// definitions outside shared memory have the value of their symbol.
    ValuePlace = "value-place" from Placed,
    /// Shared variables of a kernel lie within its shared memory.
    SharedPlace = "shared-place" from Placed,
    /// In an executable exactly the live kernels have a layout of shared memory, with alignments
    /// that are not 0.
    SharedFrame = "shared-frame" from Placed,

    /// Every relocation is planned.
    PlanSet = "plan-set" from Planned,
    /// Relocations of sections that are not linked are gone.
    PlanGone = "plan-gone" from Planned,
    /// Relocations that are kept, applied or cleared lie within the section that they apply to.
    PlanOffset = "plan-offset" from Planned,
    /// Applied types have a field, and no UNIFIED type is left in an executable.
    PlanType = "plan-type" from Planned,
    /// Only rows of REL sections stay without an addend or have theirs in place.
    PlanForm = "plan-form" from Planned,
    /// Kept relocations refer to no function that the output lacks.
    PlanTarget = "plan-target" from Planned,

    /// Fixups are sorted by section.
    FixupOrder = "fixup-order" from Lowered,
    /// The field of a fixup is part of a 64-bit word that begins within its section.
    FixupField = "fixup-field" from Lowered,
    /// A fixup comes of a relocation of its place that is applied or cleared, or it is a patch of bits
    /// that no relocation changes.
    FixupCause = "fixup-cause" from Lowered,
    /// There is a plan of the file.
    LayoutSet = "layout-set" from LaidOut,
    /// The plan has one section each of section names, symbol names and symbols, and the header
    /// names the first; it has as many sections and segments as the file header can number.
    LayoutTables = "layout-tables" from LaidOut,
    /// The plan begins with a null section and a null symbol.
    LayoutNull = "layout-null" from LaidOut,
    /// Names of output sections and symbols are strings of their tables.
    LayoutNames = "layout-names" from LaidOut,
    /// `sh_link` and `sh_info` of output sections name sections and symbols of the plan.
    LayoutLinks = "layout-links" from LaidOut,
    /// Output symbols lie in sections of the plan, and no local one comes after the first of the
    /// global part.
    LayoutSymbols = "layout-symbols" from LaidOut,
    /// Pieces and relocation rows of output sections follow each other, and none is left over.
    LayoutRanges = "layout-ranges" from LaidOut,
    /// Output relocations name a symbol of the plan and lie within their section.
    LayoutRelocs = "layout-relocs" from LaidOut,
    /// Every relocation that is kept has a row in the output.
    LayoutKept = "layout-kept" from LaidOut,
    /// The bytes of every linked section of code, data, debug information or an unknown kind are in
    /// the file once.
    LayoutCarried = "layout-carried" from LaidOut,
    /// Pieces lie within their output section and do not overlap.
    LayoutPieces = "layout-pieces" from LaidOut,
    /// The size of an output section is that of its contents.
    LayoutSize = "layout-size" from LaidOut,
    /// Sections lie after each other in the file, at their alignment, then come the tables of
    /// headers, all within the file's size.
    LayoutOffsets = "layout-offsets" from LaidOut,
    /// Segments lie within the file.
    LayoutSegments = "layout-segments" from LaidOut,

    /// Every relocation that is applied or cleared has its fixup.
    Patched = "patched" from Relocated,
    /// The image is what writing the plan gives.
    Image = "image" from Emitted,
}

impl Rule {
    /// Returns the rows that the rule is about, as the grammar of the text form calls them.
    pub fn rows(self) -> &'static [&'static str] {
        match self {
            Rule::IdsInRange => &[],
            Rule::ObjectRanges => &[
                "object",
                "owns",
                "section",
                "symbol",
                "function",
                "reloc",
                "attribute",
                "call",
                "prototype",
                "note",
            ],
            Rule::RowObject => &["section", "symbol", "function"],
            Rule::SameObject => &[
                "section",
                "symbol",
                "function",
                "reloc",
                "attribute",
                "call",
                "prototype",
            ],
            Rule::SectionRelocs => &["section", "relocs", "reloc"],
            Rule::SectionAttributes => &["section", "attributes", "attribute"],
            Rule::NoteSection => &["note", "notes"],
            Rule::AttributeRefs => &["attribute", "attribute-refs"],
            Rule::AttributeForm => &["attribute"],
            Rule::SectionAlign | Rule::SectionContent | Rule::SectionInfo => &["section"],
            Rule::SymbolInfo => &["symbol"],
            Rule::FunctionSymbol => &["function", "symbol"],
            Rule::RelAddend => &["reloc"],
            Rule::CallForm => &["call"],
            Rule::EarlyClassified => &["section", "function"],
            Rule::EarlySelected => &["object"],
            Rule::EarlyResolved => &["link-symbol", "merge", "function"],
            Rule::EarlyLive => &[
                "link-symbol",
                "merged-info",
                "merged-compat",
                "merged-notes",
            ],
            Rule::EarlyPlaced => &[
                "section",
                "function",
                "link-symbol",
                "bank-piece",
                "pool-part",
                "header-slot",
            ],
            Rule::EarlyPlanned => &["reloc"],
            Rule::EarlyLaidOut => &["plan", "fixup"],
            Rule::EarlyEmitted => &["image"],
            Rule::KindSet | Rule::KindForm => &["section"],
            Rule::TextOwner => &["section", "function"],
            Rule::FunctionInfo => &["function"],
            Rule::StateSet | Rule::IncludedType => &["object"],
            Rule::LinkSet => &["symbol"],
            Rule::LinkMembers | Rule::LinkName | Rule::LinkUnique => &["link-symbol", "symbol"],
            Rule::LinkOrder => &["link-symbol"],
            Rule::FunctionState => &["function"],
            Rule::MergeLog => &["merge", "link-symbol", "function"],
            Rule::CommonAlign | Rule::LiveSet => &["link-symbol"],
            Rule::MergedInfo => &["merged-info"],
            Rule::MergedRefs => &["merged-info", "merged-compat", "attribute"],
            Rule::PlaceOrder | Rule::PlaceKind => &["section"],
            Rule::BankPiece => &["bank-piece", "pool-part"],
            Rule::BankOverlap => &["bank-piece"],
            Rule::ValueSet | Rule::ValuePlace => &["link-symbol"],
            Rule::SharedPlace => &["link-symbol"],
            Rule::SharedFrame => &["function"],
            Rule::PlanSet
            | Rule::PlanGone
            | Rule::PlanOffset
            | Rule::PlanType
            | Rule::PlanForm
            | Rule::PlanTarget => &["reloc"],
            Rule::FixupOrder | Rule::FixupField | Rule::FixupCause => &["fixup"],
            Rule::TargetKnown | Rule::LayoutSet => &["module"],
            Rule::StoppedByError => &["stopped"],
            Rule::LayoutTables | Rule::LayoutNull => &["plan"],
            Rule::LayoutNames => &["output-section", "output-symbol", "symbol-names"],
            Rule::LayoutLinks => &["output-section"],
            Rule::LayoutSymbols => &["output-symbol"],
            Rule::LayoutRanges => &["output-section", "plan"],
            Rule::LayoutRelocs => &["output-reloc"],
            Rule::LayoutKept => &["output-reloc", "reloc", "plan"],
            Rule::LayoutCarried => &["section"],
            Rule::LayoutPieces => &["piece"],
            Rule::LayoutSize => &["output-section"],
            Rule::LayoutOffsets => &["output-section", "plan"],
            Rule::LayoutSegments => &["segment"],
            Rule::Patched => &["reloc"],
            Rule::Image => &["image", "plan"],
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
