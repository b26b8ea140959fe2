//! The refusal of what no compiler writes and of what this linker would otherwise drop unseen.

use std::cell::LazyCell;

use cuweld_diagnostics::Code;
use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::Kind;
use cuweld_diagnostics::codes::input;
use cuweld_diagnostics::codes::unsupported;
use cuweld_elf::known_symbols;
use cuweld_elf::symbol::Binding;
use cuweld_elf::target::attributes;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::Object;
use cuweld_ir::ObjectId;
use cuweld_ir::Section;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::Symbol;
use cuweld_ir::SymbolId;
use cuweld_ir::table::EntityId;

use super::headers;
use super::mercury;
use super::records;
use super::rows::Rows;
use super::section_names::has_foreign_bank;
use super::section_names::is_bank_of_owner;
use super::section_names::is_made_by_linker;
use super::section_names::is_named_by_owner;
use super::shadowed;
use super::symbols;
use crate::located::located;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::threads::Threads;
use crate::threads::Work;

/// Flags that compilers give to code.
const OF_CODE: SectionFlags = SectionFlags::WRITE
    .union(SectionFlags::ALLOC)
    .union(SectionFlags::EXECINSTR)
    .union(SectionFlags::COMPRESSED)
    .union(SectionFlags::BARRIERS);

/// Reports what cannot be linked exactly, with what was found of each part of the objects; an error
/// if there is anything.
pub(super) fn refuse(
    module: &Module<'_>,
    found: Vec<Found>,
    cx: &mut PassCx<'_, '_>,
) -> Result<(), PassError> {
    let mut findings = Vec::new();
    if module.target.is_mercury() {
        mercury::refuse(module, cx.threads, &mut findings);
    }
    // Findings about the Mercury view are more specific, so they take precedence.
    if findings.is_empty() {
        findings = odd(module, found);
    }
    if findings.is_empty() {
        return Ok(());
    }
    for finding in findings {
        cx.diagnostics.emit(finding);
    }
    Err(PassError::Diagnosed)
}

/// What findings are about, in the order in which they are said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum About {
    Sections,
    Relocs,
    Lists,
    Masks,
    Records,
    Symbols,
    Names,
    Unmapped,
    Calls,
    Functions,
}

/// A finding about an unsupported row of an object.
struct Finding {
    about: About,
    code: Code,
    place: Place,
}

/// The row that is unsupported.
enum Place {
    Section(SectionId),
    /// A record of a section, by its code.
    Record(Option<SectionId>, u8),
    Symbol(SymbolId),
    /// One that is not named.
    Object(ObjectId),
}

impl Finding {
    fn said(&self, module: &Module<'_>) -> Diagnostic {
        let code = self.code;
        // nvlink's own words.
        let internal = || Diagnostic::fatal(code, format!("Internal error: {}", code.title()));
        match self.place {
            Place::Section(section) if code.kind() == Kind::Input => internal()
                .note(located(module, section))
                .at(module.sections[section].object.index_u32(), 0),
            Place::Section(section) => refused(module, code, section),
            Place::Record(section, record) => {
                let finding = match section {
                    Some(section) => refused(module, code, section),
                    None => Diagnostic::refusal(code),
                };
                finding.note(format!("record {record:#04x}"))
            }
            Place::Symbol(symbol) => named(code, &module.symbols[symbol]),
            Place::Object(object) => internal().at(object.index_u32(), 0),
        }
    }
}

/// Returns a finding for everything in a link that cuweld does not support.
fn odd(module: &Module<'_>, found: Vec<Found>) -> Vec<Diagnostic> {
    let mut whole = Whole::default();
    let mut findings = Vec::new();
    for part in found {
        whole.add(&part.whole);
        let said = |finding: &Finding| (finding.about, finding.said(module));
        findings.extend(part.findings.iter().map(said));
    }
    whole.refuse(module, &mut findings);
    // Stable: within one subject they stay in the order of the rows.
    findings.sort_by_key(|(about, _)| *about);
    findings.into_iter().map(|(_, finding)| finding).collect()
}

/// What decides, taken together for all objects.
#[derive(Default)]
struct Whole {
    /// Some function uses sparse matrices, and some list is marked as packed.
    uses_mask: bool,
    is_packed: bool,
    /// Some local symbol has a name, and some symbol without a type.
    names_local: bool,
    names_untyped: bool,
    /// A prototype or a call is of a symbol that cannot have one.
    has_odd_calls: bool,
}

impl Whole {
    fn add(&mut self, part: &Whole) {
        self.uses_mask |= part.uses_mask;
        self.is_packed |= part.is_packed;
        self.names_local |= part.names_local;
        self.names_untyped |= part.names_untyped;
        self.has_odd_calls |= part.has_odd_calls;
    }

    /// Adds what no object alone shows.
    fn refuse(&self, module: &Module<'_>, findings: &mut Vec<(About, Diagnostic)>) {
        if self.uses_mask && self.is_packed {
            let what = unsupported::SPARSE_MASKS;
            findings.push((About::Masks, Diagnostic::refusal(what)));
        }
        if self.names_local {
            let what = unsupported::SHADOWED_NAME;
            let symbols = shadowed::shadowed(module).into_iter();
            findings.extend(symbols.map(|symbol| (About::Names, named(what, symbol))));
        }
        if self.names_untyped {
            let what = unsupported::UNTYPED_NAME;
            let symbols = symbols::bound_without_type(module).into_iter();
            findings.extend(symbols.map(|symbol| (About::Names, named(what, symbol))));
        }
        if self.has_odd_calls
            && let Some(what) = symbols::call_graph_oddity(module)
        {
            findings.push((About::Calls, Diagnostic::refusal(what)));
        }
    }
}

/// What is found in some objects.
#[derive(Default)]
pub(super) struct Found {
    whole: Whole,
    findings: Vec<Finding>,
    /// The kinds of sections that each function of the object has, a bit each.
    kinds: Vec<u32>,
    has_shared: bool,
}

impl Found {
    /// Returns `true` if any symbol is a shared variable.
    pub(super) fn has_shared(&self) -> bool {
        self.has_shared
    }

    /// Looks at an object whose sections have their kinds.
    pub(super) fn object(&mut self, rows: &Rows<'_, '_>, object: &Object<'_>) {
        self.all_but_records(rows, object);
        self.records(rows, object);
        self.calls(rows, object);
    }

    /// Does the same as [`Self::object`], with threads for work that is large enough for them.
    pub(super) fn large_object(
        &mut self,
        rows: &Rows<'_, '_>,
        object: &Object<'_>,
        threads: &Threads,
        work: Work,
    ) {
        let mut others = Found::default();
        let there = || {
            others.records(rows, object);
            others.calls(rows, object);
        };
        threads.join(work, || self.all_but_records(rows, object), there);
        self.whole.add(&others.whole);
        // What they are about is not what the others are about.
        self.findings.append(&mut others.findings);
    }

    fn all_but_records(&mut self, rows: &Rows<'_, '_>, object: &Object<'_>) {
        self.kinds.clear();
        self.kinds.resize(object.functions.len(), 0);
        let has_reserved = self.symbols(rows, object);
        self.sections(rows, object, has_reserved);
        self.functions(rows, object);
    }

    fn refuse(&mut self, about: About, code: Code, section: SectionId) {
        self.find(about, code, Place::Section(section));
    }

    fn find(&mut self, about: About, code: Code, place: Place) {
        self.findings.push(Finding { about, code, place });
    }

    fn sections(&mut self, rows: &Rows<'_, '_>, object: &Object<'_>, has_reserved: bool) {
        let is_mercury = rows.shared.is_mercury;
        let symbols = &rows.shared.symbols[object.symbols];
        let with_symbols = LazyCell::new(|| symbols::with_symbols(object, symbols));
        for (ordinal, id) in object.sections.iter().enumerate() {
            let section = &rows.sections[id];
            if !section.relocs.is_empty() {
                self.relocs(rows, id, section, has_reserved);
            }
            if section.kind == SectionKind::FunctionInfo {
                self.list(rows, id, section);
            }
            let what = match section.kind {
                SectionKind::ReservedShared if section.size() != 0 && !with_symbols[ordinal] => {
                    unsupported::RESERVED_SHARED_VARIABLES
                }
                // [own-rel-action]
                SectionKind::RelAction
                    if section.name != b".nv.rel.action" || is_mercury || with_symbols[ordinal] =>
                {
                    unsupported::REL_ACTION
                }
                SectionKind::Other if is_made_by_linker(section.name) => {
                    unsupported::MISNAMED_SECTION
                }
                SectionKind::FunctionConstants(_) | SectionKind::KernelShared
                    if !self.is_only_one(object, section) =>
                {
                    unsupported::REPEATED_SECTION
                }
                SectionKind::FunctionConstants(bank)
                    if !is_mercury && !is_bank_of_owner(rows, section, bank) =>
                {
                    unsupported::CONSTANTS_NAME
                }
                SectionKind::FunctionConstants(1..)
                    if section.flags.contains(SectionFlags::COMPRESSED) =>
                {
                    unsupported::PACKED_CONSTANTS
                }
                SectionKind::ToolInfo | SectionKind::CudaInfo if section.align != 4 => {
                    unsupported::NOTE_ALIGNMENT
                }
                SectionKind::ToolInfo | SectionKind::CudaInfo
                    if !headers::has_flag_of_note(section) =>
                {
                    unsupported::NOTE_FLAG
                }
                SectionKind::Other if section.ty == sht::NOTE => unsupported::NOTE_NAME,
                SectionKind::FunctionConstants(0) if !PARAMETER_ALIGNS.contains(&section.align) => {
                    unsupported::PARAMETER_ALIGNMENT
                }
                SectionKind::FunctionConstants(0) | SectionKind::SassParameters
                    if has_bytes(section) =>
                {
                    unsupported::PARAMETER_BYTES
                }
                SectionKind::Text | SectionKind::FunctionInfo | SectionKind::SassFunctionInfo
                    if !is_named_by_owner(rows, section) =>
                {
                    unsupported::FUNCTION_NAME
                }
                SectionKind::Relocs
                    if section.ty == sht::REL && rows.shared.target.has_compat() =>
                {
                    unsupported::MISSING_ADDENDS
                }
                SectionKind::Text if section.owner.is_none() => unsupported::UNNAMED_CODE,
                SectionKind::Text if !(section.flags - OF_CODE).is_empty() => {
                    unsupported::CODE_FLAGS
                }
                _ if !is_mercury && has_foreign_bank(section) => unsupported::BANK_NAME,
                SectionKind::ConstantBank(2) if !is_mercury => {
                    unsupported::MODULE_COMPILER_CONSTANTS
                }
                SectionKind::Relocs | SectionKind::SassRelocs
                    if !may_be_relocated(rows, section) =>
                {
                    input::RELOCATED_METADATA
                }
                SectionKind::Text if is_mercury && section.align != CODE_ALIGN => {
                    unsupported::SECTION_HEADER
                }
                _ if headers::is_odd(rows, id, section) => unsupported::SECTION_HEADER,
                _ => continue,
            };
            self.refuse(About::Sections, what, id);
        }
    }

    /// Returns `true` if the function that owns a section has no other one of its kind so far.
    fn is_only_one(&mut self, object: &Object<'_>, section: &Section<'_>) -> bool {
        let kind = match section.kind {
            SectionKind::FunctionConstants(bank) => PARAMETERS << bank,
            _ => SHARED,
        };
        let owner = section
            .owner
            .and_then(|owner| object.functions.ordinal(owner));
        owner
            .and_then(|owner| self.kinds.get_mut(owner))
            .is_none_or(|kinds| {
                let is_first = *kinds & kind == 0;
                *kinds |= kind;
                is_first
            })
    }

    /// Looks at the rows of a relocation section: those of frames, and all where a symbol of the
    /// object lies in reserved shared memory.
    fn relocs(
        &mut self,
        rows: &Rows<'_, '_>,
        id: SectionId,
        section: &Section<'_>,
        has_reserved: bool,
    ) {
        let shared = &rows.shared;
        let frames = match shared.is_mercury {
            true => None,
            false => records::frames(rows, section),
        };
        if frames.is_none() && !has_reserved {
            return;
        }
        for reloc in &shared.relocs[section.relocs] {
            let target = reloc.target.symbol().filter(|_| has_reserved);
            let target = target.map(|symbol| &shared.symbols[symbol]);
            let what = if target.is_some_and(|symbol| {
                symbols::is_in_reserved(rows, symbol)
                    && !(shared.capmerc && known_symbols::is_tensor_memory_variable(symbol.name))
            }) {
                unsupported::RESERVED_SHARED_REFERENCE
            } else if frames.is_some_and(|frames| records::is_odd_frame(rows, frames, reloc)) {
                unsupported::FRAME_REFERENCE
            } else {
                continue;
            };
            self.refuse(About::Relocs, what, id);
        }
    }

    /// Looks at which records a list of a function has.
    fn list(&mut self, rows: &Rows<'_, '_>, id: SectionId, section: &Section<'_>) {
        let shared = &rows.shared;
        self.whole.is_packed |= section.flags.contains(SectionFlags::COMPRESSED);
        if shared.is_mercury || !records::is_list_of_code(rows.sections, section) {
            return;
        }
        let mut records = shared.attributes[section.attributes].iter();
        if !records.any(|record| record.code == attributes::CUDA_API_VERSION) {
            self.refuse(About::Lists, unsupported::MISSING_RECORDS, id);
        }
    }

    fn records(&mut self, rows: &Rows<'_, '_>, object: &Object<'_>) {
        let shared = &rows.shared;
        let mut holder = None;
        let mut masked = None;
        let mut is_compat = false;
        let [mut registers, mut frames, mut limits] = [0_usize; 3];
        let mut of_functions = None;
        for attribute in &shared.attributes[object.attributes] {
            let section = attribute.section;
            let count = match attribute.code {
                attributes::REGCOUNT => Some(&mut registers),
                attributes::FRAME_SIZE => Some(&mut frames),
                attributes::MAX_STACK_SIZE => Some(&mut limits),
                attributes::SPARSE_MMA_MASK => {
                    self.whole.uses_mask |= attribute.value != 0;
                    if !shared.is_mercury && masked.replace(section) == Some(section) {
                        let place = Place::Record(section, attribute.code);
                        self.find(About::Records, unsupported::MASK_FORMAT, place);
                    }
                    None
                }
                _ => None,
            };
            if let Some(count) = count {
                *count += 1;
                of_functions = section;
            }
            if holder != Some(section) {
                holder = Some(section);
                is_compat = records::is_compat(rows, section);
            }
            let what = match is_compat {
                true => records::compat_oddity(attribute),
                // What the views say is compared elsewhere.
                false if shared.is_mercury => records::mercury_oddity(rows, attribute),
                false => records::attribute_oddity(rows, attribute),
            };
            if let Some(what) = what {
                self.find(About::Records, what, Place::Record(section, attribute.code));
            }
        }
        // The number of registers may stand in the header of code alone [registers-of-code].
        if frames != limits || frames > 0 && registers > frames {
            let place = Place::Record(of_functions, attributes::FRAME_SIZE);
            self.find(About::Lists, unsupported::MISSING_RECORDS, place);
        }
    }

    /// Looks at the symbols; says whether one lies in reserved shared memory.
    fn symbols(&mut self, rows: &Rows<'_, '_>, object: &Object<'_>) -> bool {
        let mut has_reserved = false;
        let symbols = &rows.shared.symbols[object.symbols];
        for (id, symbol) in object.symbols.iter().zip(symbols) {
            let is_unmapped = || symbols::is_unmapped(rows, symbol);
            if let Some(what) = symbols::oddity(rows, symbol).filter(|_| !is_unmapped()) {
                self.find(About::Symbols, what, Place::Symbol(id));
            }
            if is_unmapped() {
                self.find(
                    About::Unmapped,
                    input::UNMAPPED_SECTION,
                    Place::Object(symbol.object),
                );
            }
            self.whole.names_local |= shadowed::may_shadow(symbol);
            self.whole.names_untyped |= symbols::is_bare(symbol);
            has_reserved |= symbols::is_in_reserved(rows, symbol);
            self.has_shared |= symbol.is_shared();
        }
        has_reserved
    }

    fn calls(&mut self, rows: &Rows<'_, '_>, object: &Object<'_>) {
        let symbols = rows.shared.symbols;
        let prototypes = &rows.shared.prototypes[object.prototypes];
        let calls = &rows.shared.calls[object.calls];
        self.whole.has_odd_calls |= prototypes
            .iter()
            .any(|row| symbols::prototype_oddity(symbols, row).is_some())
            || calls.iter().any(|row| symbols::is_odd_call(symbols, row))
            || symbols::takes_untaken(calls);
    }

    fn functions(&mut self, rows: &Rows<'_, '_>, object: &Object<'_>) {
        let shared = &rows.shared;
        let mut with_bank = None;
        for (ordinal, id) in object.functions.iter().enumerate() {
            let function = &rows.functions[id];
            if !shared.is_mercury
                && let Some(view) = function.views.merc
            {
                let what = unsupported::UNEXPECTED_MERCURY;
                self.refuse(About::Functions, what, view.text);
            }
            let text = function.views.sass.text;
            let section = &rows.sections[text];
            let has_parameters = self.kinds[ordinal] & PARAMETERS != 0;
            let is_kernel = shared.symbols[function.symbol].is_entry();
            let is_odd = !shared.capmerc && is_kernel != has_parameters;
            let mut shares = || {
                let names = with_bank.get_or_insert_with(|| {
                    let has_bank = |ordinal: usize| self.kinds[ordinal] & PARAMETERS != 0;
                    symbols::kernels_with_bank(rows, object, has_bank)
                });
                names.contains(shared.symbols[function.symbol].name)
            };
            if is_odd && !(is_kernel && shares()) {
                let what = unsupported::KERNEL_PARAMETERS;
                self.refuse(About::Functions, what, text);
            }
            // An alias [function-aliases].
            let symbol = &shared.symbols[function.symbol];
            let size = match shared.capmerc {
                true => function.merc_size,
                false => symbol.size,
            };
            let can_have_aliases =
                |symbol: &Symbol<'_>| !symbol.is_entry() && symbol.bind != Binding::WEAK;
            let is_alias = |owner: FunctionId| {
                let other = &shared.symbols[rows.functions[owner].symbol];
                size == 0 && can_have_aliases(symbol) && can_have_aliases(other)
            };
            let is_known = section
                .owner
                .is_some_and(|owner| owner == id || is_alias(owner));
            if section.kind != SectionKind::Text || !is_known {
                self.refuse(About::Functions, unsupported::SHARED_CODE_SECTION, text);
            }
        }
    }
}

/// Builds a finding about a section.
fn refused(module: &Module<'_>, code: Code, section: SectionId) -> Diagnostic {
    Diagnostic::refusal(code)
        .note(located(module, section))
        .at(module.sections[section].object.index_u32(), 0)
}

/// Builds a finding about a symbol.
fn named(code: Code, symbol: &Symbol<'_>) -> Diagnostic {
    Diagnostic::refusal(code)
        .note(format!("'{}'", String::from_utf8_lossy(symbol.name)))
        .at(symbol.object.index_u32(), 0)
}

/// The bit of a kernel's shared variables in [`Found::kinds`].
const SHARED: u32 = 1;

/// The bit of parameters, bank 0. There are banks 0 to 17.
const PARAMETERS: u32 = 2;

/// Alignments in bytes of `.nv.constant0.K`; compilers write 4.
const PARAMETER_ALIGNS: [u64; 2] = [4, 8];

/// Alignment in bytes of code for targets with Mercury.
const CODE_ALIGN: u64 = 128;

/// Returns `true` if a section has bytes that are not zero.
fn has_bytes(section: &Section<'_>) -> bool {
    // Without an early end within a block, so that whole blocks are looked at in one step.
    let mut blocks = section.bytes().chunks(64);
    blocks.any(|block| block.iter().fold(0, |all, byte| all | byte) != 0)
}

fn may_be_relocated(rows: &Rows<'_, '_>, section: &Section<'_>) -> bool {
    let SectionInfo::Section(target) = section.info else {
        return false;
    };
    if rows.sections[target].kind == SectionKind::Text && rows.sections[target].ty == sht::NOBITS {
        return false;
    }
    !matches!(
        rows.sections[target].kind,
        SectionKind::Null
            | SectionKind::Symbols
            | SectionKind::SectionNames
            | SectionKind::SymbolNames
            | SectionKind::SymbolSectionIndices
            | SectionKind::Relocs
            | SectionKind::Info
            | SectionKind::FunctionInfo
            | SectionKind::MercurySymbols
            | SectionKind::SassInfo
            | SectionKind::SassFunctionInfo
            | SectionKind::SassRelocs
            | SectionKind::CallGraph
            | SectionKind::Prototypes
            | SectionKind::Compat
            | SectionKind::ToolInfo
            | SectionKind::CudaInfo
    )
}
