//! The refusal of what no compiler writes and of what this linker would otherwise drop unseen.

use std::cell::LazyCell;

use cuweld_ir::Module;
use cuweld_ir::Object;
use cuweld_ir::ObjectId;
use cuweld_ir::Section;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::Symbol;
use cuweld_ir::target::attributes;
use cuweld_ir::target::section_types::shf;
use cuweld_ir::target::section_types::sht;
use cuweld_ir::target::toolkit;

use super::IndexU32;
use super::headers;
use super::located;
use super::mercury;
use super::records;
use super::symbols;
use crate::diagnostic::Diagnostic;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::threads;
use crate::threads::Threads;

/// So many rows of an object's tables are worth a thread of their own.
const ROWS_PER_THREAD: usize = 32 << 10;

/// Reports what cannot be linked exactly; an error if there is anything.
pub(super) fn refuse(module: &Module<'_>, cx: &mut PassCx<'_, '_>) -> Result<(), PassError> {
    let mut findings = Vec::new();
    if module.target.is_mercury() {
        mercury::refuse(module, cx.threads, &mut findings);
    }
    // What is odd about Mercury says more than what is odd about its SASS view.
    if findings.is_empty() {
        findings = odd(module, cx.threads);
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

/// Everything that is odd about a link.
fn odd(module: &Module<'_>, threads: &dyn Threads) -> Vec<Diagnostic> {
    let rows = module.sections.len() + module.symbols.len();
    let rows = rows + module.relocs.len() + module.attributes.len();
    let pieces = (rows / ROWS_PER_THREAD).max(1);
    let objects: Vec<ObjectId> = module.objects.ids().collect();
    let parts: Vec<&[ObjectId]> = threads::parts(&objects, pieces).collect();
    let capmerc = module.is_capmerc();
    let found = threads::map(threads, pieces, &parts, |part| {
        let mut found = Found::new(module, capmerc);
        part.iter().for_each(|object| found.object(*object));
        found.parts()
    });
    let mut whole = Whole::default();
    let mut findings = Vec::new();
    for (part, of_part) in found {
        whole.add(&part);
        findings.extend(of_part);
    }
    whole.refuse(module, &mut findings);
    // Stable: within one subject they stay in the order of the rows.
    findings.sort_by_key(|(about, _)| *about);
    findings.into_iter().map(|(_, finding)| finding).collect()
}

/// What decides, taken together for all objects.
#[derive(Default)]
struct Whole {
    /// Some list of records has a mask of sparse matrices, and some list has none.
    has_mask: bool,
    lacks_mask: bool,
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
        self.has_mask |= part.has_mask;
        self.lacks_mask |= part.lacks_mask;
        self.uses_mask |= part.uses_mask;
        self.is_packed |= part.is_packed;
        self.names_local |= part.names_local;
        self.names_untyped |= part.names_untyped;
        self.has_odd_calls |= part.has_odd_calls;
    }

    /// Adds what no object alone shows.
    fn refuse(&self, module: &Module<'_>, findings: &mut Vec<(About, Diagnostic)>) {
        if self.has_mask && self.lacks_mask && !module.target.is_mercury() {
            // Now every list without one is incomplete.
            findings.retain(|(about, _)| *about != About::Lists);
            let lists = records::incomplete_lists(module).into_iter();
            findings.extend(lists.map(|id| (About::Lists, refused(module, INCOMPLETE, id))));
        }
        if self.uses_mask && self.is_packed {
            let what = "sparse matrices beside packed lists of records";
            findings.push((About::Masks, Diagnostic::unsupported(what)));
        }
        if self.names_local {
            let what = "a kernel or texture with the name of a local symbol in another object";
            let symbols = symbols::shadowed(module).into_iter();
            findings.extend(symbols.map(|symbol| (About::Names, named(what, symbol))));
        }
        if self.names_untyped {
            let what = "a symbol without a type, of a name that an object before has";
            let symbols = symbols::bound_without_type(module).into_iter();
            findings.extend(symbols.map(|symbol| (About::Names, named(what, symbol))));
        }
        if self.has_odd_calls
            && let Some(what) = symbols::call_graph_oddity(module)
        {
            findings.push((About::Calls, Diagnostic::unsupported(what)));
        }
    }
}

/// What is said of a list of records without those that every list has.
const INCOMPLETE: &str = "a function without records that every function has";

/// What is found in some objects.
struct Found<'m, 'data> {
    module: &'m Module<'data>,
    is_mercury: bool,
    capmerc: bool,
    whole: Whole,
    findings: Vec<(About, Diagnostic)>,
    /// The kinds of sections that each function of the object has, a bit each.
    kinds: Vec<u32>,
}

impl<'m, 'data> Found<'m, 'data> {
    fn new(module: &'m Module<'data>, capmerc: bool) -> Self {
        Found {
            module,
            is_mercury: module.target.is_mercury(),
            capmerc,
            whole: Whole::default(),
            findings: Vec::new(),
            kinds: Vec::new(),
        }
    }

    fn parts(self) -> (Whole, Vec<(About, Diagnostic)>) {
        (self.whole, self.findings)
    }

    fn object(&mut self, id: ObjectId) {
        let object = &self.module.objects[id];
        self.kinds.clear();
        self.kinds.resize(object.functions.len(), 0);
        self.sections(object);
        self.relocs(object);
        self.records(object);
        self.symbols(object);
        self.calls(object);
        self.functions(object);
    }

    fn refuse(&mut self, about: About, what: &str, section: SectionId) {
        self.findings
            .push((about, refused(self.module, what, section)));
    }

    fn sections(&mut self, object: &Object<'_>) {
        let module = self.module;
        let symbols = &module.symbols[object.symbols];
        let shared_aligns = LazyCell::new(|| symbols::shared_aligns(object, symbols));
        let with_symbols = LazyCell::new(|| symbols::with_symbols(object, symbols));
        for (ordinal, id) in object.sections.iter().enumerate() {
            let section = &module.sections[id];
            let what = match section.kind {
                SectionKind::ReservedShared if section.size() != 0 && !with_symbols[ordinal] => {
                    "variables in reserved shared memory"
                }
                // One without symbols is left out: the linker makes its own (measured).
                SectionKind::RelAction
                    if section.name != b".nv.rel.action"
                        || self.is_mercury
                        || with_symbols[ordinal] =>
                {
                    "an object whose .nv.rel.action has another name or symbols"
                }
                SectionKind::Other if is_made_by_linker(section.name) => {
                    "a section of another type than its name says"
                }
                SectionKind::FunctionConstants(_) | SectionKind::KernelShared
                    if !self.is_only_one(object, section) =>
                {
                    "two sections of one kind for a function"
                }
                SectionKind::FunctionConstants(bank)
                    if !self.is_mercury && !is_bank_of_owner(module, section, bank) =>
                {
                    "a section of constants with an unusual name"
                }
                SectionKind::FunctionConstants(1..) if section.flags & shf::COMPRESSED != 0 => {
                    "packed constants of a function"
                }
                SectionKind::ToolInfo | SectionKind::CudaInfo if section.align != 4 => {
                    "a note that is not aligned to 4"
                }
                SectionKind::ToolInfo if section.flags & shf::CUDA_TOOL_NOTE == 0 => {
                    "a note without its section flag"
                }
                SectionKind::CudaInfo if section.flags & shf::CUDA_INFO_NOTE == 0 => {
                    "a note without its section flag"
                }
                SectionKind::Other if section.ty == sht::NOTE => "a note of another name",
                SectionKind::FunctionConstants(0) if !PARAMETER_ALIGNS.contains(&section.align) => {
                    "an alignment of parameters that no compiler writes"
                }
                SectionKind::Relocs if section.ty == sht::REL && module.target.has_compat() => {
                    "relocations without addends for a target whose compilers write addends"
                }
                SectionKind::ModuleShared | SectionKind::KernelShared
                    if !shared_align_fits(section, shared_aligns[ordinal]) =>
                {
                    "shared memory that is not aligned as its variables"
                }
                SectionKind::Text if section.owner.is_none() => {
                    "code that no function symbol names"
                }
                SectionKind::Text
                    if section.flags_with_barriers(0) & !shf::COMPRESSED & !7 != 0 =>
                {
                    "code with unusual section flags"
                }
                _ if !self.is_mercury && has_foreign_bank(section) => {
                    "a constant bank whose name is not that of its type"
                }
                SectionKind::ConstantBank(2) if !self.is_mercury => {
                    "a bank of compiler constants that is no function's"
                }
                SectionKind::Relocs | SectionKind::SassRelocs
                    if !may_be_relocated(module, section) =>
                {
                    let finding = Diagnostic::fatal("Internal error: unexpected reloc section")
                        .note(located(module, id))
                        .at(section.object.index_u32(), 0);
                    self.findings.push((About::Sections, finding));
                    continue;
                }
                _ if !self.is_mercury && headers::is_odd(module, id) => {
                    "a section header that no compiler writes"
                }
                _ => continue,
            };
            self.refuse(About::Sections, what, id);
        }
    }

    /// Whether the function that owns a section has no other one of its kind so far.
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

    fn relocs(&mut self, object: &Object<'_>) {
        let module = self.module;
        let mut holder = None;
        // Whether the rows of a section lie in frames.
        let mut in_frames = false;
        for reloc in &module.relocs[object.relocs] {
            if holder != Some(reloc.section) {
                holder = Some(reloc.section);
                in_frames = !self.is_mercury && records::holds_frames(module, reloc.section);
            }
            let target = reloc.target.symbol().map(|symbol| &module.symbols[symbol]);
            let what = if target.is_some_and(|symbol| {
                symbols::is_in_reserved(module, symbol)
                    && !(self.capmerc && symbol.name == toolkit::TENSOR_MEMORY_PARTITION)
            }) {
                "a reference to reserved shared memory"
            } else if in_frames && records::is_odd_frame(module, reloc) {
                "a frame that refers to something else than code and frames"
            } else {
                continue;
            };
            self.refuse(About::Relocs, what, reloc.section);
        }
    }

    fn records(&mut self, object: &Object<'_>) {
        let module = self.module;
        for id in object.sections.iter() {
            let section = &module.sections[id];
            if section.kind != SectionKind::FunctionInfo {
                continue;
            }
            self.whole.is_packed |= section.flags & shf::COMPRESSED != 0;
            if self.is_mercury || !records::is_list_of_code(module, section) {
                continue;
            }
            let (mut has_version, mut has_mask) = (false, false);
            for record in &module.attributes[section.attributes] {
                has_version |= record.code == attributes::CUDA_API_VERSION;
                has_mask |= record.code == attributes::SPARSE_MMA_MASK;
            }
            self.whole.has_mask |= has_mask;
            self.whole.lacks_mask |= !has_mask;
            if !has_version {
                self.refuse(About::Lists, INCOMPLETE, id);
            }
        }
        let mut holder = None;
        let mut is_compat = false;
        for attribute in &module.attributes[object.attributes] {
            self.whole.uses_mask |=
                attribute.code == attributes::SPARSE_MMA_MASK && attribute.value != 0;
            if self.is_mercury {
                continue;
            }
            if holder != Some(attribute.section) {
                holder = Some(attribute.section);
                is_compat = records::is_compat(module, attribute.section);
            }
            let what = match is_compat {
                true => records::compat_oddity(attribute),
                false => records::attribute_oddity(module, attribute),
            };
            if let Some(what) = what {
                let finding = match attribute.section {
                    Some(section) => refused(module, what, section),
                    None => Diagnostic::unsupported(what),
                };
                let finding = finding.note(format!("record {:#04x}", attribute.code));
                self.findings.push((About::Records, finding));
            }
        }
    }

    fn symbols(&mut self, object: &Object<'_>) {
        let module = self.module;
        for symbol in &module.symbols[object.symbols] {
            let is_unmapped = || symbols::is_unmapped(module, symbol);
            if let Some(what) =
                symbols::oddity(module, symbol, self.capmerc).filter(|_| !is_unmapped())
            {
                self.findings.push((About::Symbols, named(what, symbol)));
            }
            if is_unmapped() {
                let finding = Diagnostic::fatal("Internal error: section not mapped");
                let finding = finding.at(symbol.object.index_u32(), 0);
                self.findings.push((About::Unmapped, finding));
            }
            self.whole.names_local |= symbols::may_shadow(symbol);
            self.whole.names_untyped |= symbols::is_bare(symbol);
        }
    }

    fn calls(&mut self, object: &Object<'_>) {
        let module = self.module;
        let prototypes = &module.prototypes[object.prototypes];
        let calls = &module.calls[object.calls];
        self.whole.has_odd_calls |= prototypes
            .iter()
            .any(|row| symbols::is_odd_prototype(module, row))
            || calls.iter().any(|row| symbols::is_odd_call(module, row));
    }

    fn functions(&mut self, object: &Object<'_>) {
        let module = self.module;
        for (ordinal, id) in object.functions.iter().enumerate() {
            let function = &module.functions[id];
            if !self.is_mercury
                && let Some(view) = function.views.merc
            {
                let what = "Mercury in a link without Mercury";
                self.refuse(About::Functions, what, view.text);
            }
            let text = function.views.sass.text;
            let section = &module.sections[text];
            let has_parameters = self.kinds[ordinal] & PARAMETERS != 0;
            if !self.capmerc && module.symbols[function.symbol].is_entry() != has_parameters {
                let what = "a kernel without parameter bank, or a bank without kernel";
                self.refuse(About::Functions, what, text);
            }
            let is_own = section.owner == Some(id);
            if section.kind != SectionKind::Text || !is_own {
                self.refuse(About::Functions, "two functions in one section", text);
            }
        }
    }
}

/// What is odd about a section.
fn refused(module: &Module<'_>, what: &str, section: SectionId) -> Diagnostic {
    Diagnostic::unsupported(what)
        .note(located(module, section))
        .at(module.sections[section].object.index_u32(), 0)
}

/// What is odd about a symbol.
fn named(what: &str, symbol: &Symbol<'_>) -> Diagnostic {
    Diagnostic::unsupported(what)
        .note(format!("'{}'", String::from_utf8_lossy(symbol.name)))
        .at(symbol.object.index_u32(), 0)
}

/// The bit of a kernel's shared variables in [`Found::kinds`].
const SHARED: u32 = 1;

/// The bit of parameters, bank 0. There are banks 0 to 17.
const PARAMETERS: u32 = 2;

/// Whether a section is a constant bank by its type and another or none by its name, or the reverse. No compiler writes that.
fn has_foreign_bank(section: &Section<'_>) -> bool {
    let (bank, of_function) = match section.kind {
        SectionKind::ConstantBank(bank) => (Some(bank), false),
        SectionKind::FunctionConstants(bank) => (Some(bank), true),
        SectionKind::Other => (None, false),
        _ => return false,
    };
    let rest = section.name.strip_prefix(b".nv.constant");
    let Some(bank) = bank else {
        return rest.is_some();
    };
    let digits = rest.map_or(0, |rest| {
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    });
    let named = rest
        .and_then(|rest| std::str::from_utf8(rest.get(..digits)?).ok())
        .and_then(|digits| digits.parse::<u8>().ok());
    let end = rest.and_then(|rest| rest.get(digits));
    let right_end = if of_function {
        end == Some(&b'.')
    } else {
        end.is_none()
    };
    named != Some(bank) || !right_end
}

/// Whether the linker makes sections of this name itself, so that another kind of section of that name would be taken
/// for one of them.
fn is_made_by_linker(name: &[u8]) -> bool {
    let whole: [&[u8]; 9] = [
        b".nv.info",
        b".nv.compat",
        b".nv.callgraph",
        b".nv.prototype",
        b".nv.rel.action",
        b".note.nv.tkinfo",
        b".note.nv.cuinfo",
        b".nv.global",
        b".nv_debug.shared",
    ];
    let beginnings: [&[u8]; 4] = [b".nv.info.", b".nv.shared.", b".nv.constant", b".text."];
    whole.contains(&name) || beginnings.iter().any(|start| name.starts_with(start))
}

/// Whether a section of constants has the name that the linker would give it.
fn is_bank_of_owner(module: &Module<'_>, section: &Section<'_>, bank: u8) -> bool {
    let digits = [b'0' + bank / 10, b'0' + bank % 10];
    let digits = if bank < 10 { &digits[1..] } else { &digits[..] };
    let rest = section.name.strip_prefix(b".nv.constant");
    let rest = rest.and_then(|rest| rest.strip_prefix(digits)?.strip_prefix(b"."));
    section
        .owner
        .is_some_and(|owner| rest == Some(module.function_name(owner)))
}

/// Alignments in bytes of `.nv.constant0.K`; compilers write 4.
const PARAMETER_ALIGNS: [u64; 2] = [4, 8];

/// Whether a section of shared memory has the alignment of its variables, or, a kernel's, a larger one.
fn shared_align_fits(section: &Section<'_>, of_variables: u64) -> bool {
    matches!(of_variables, 0 | u64::MAX)
        || section.align == of_variables
        || section.align > of_variables && section.kind == SectionKind::KernelShared
}

fn may_be_relocated(module: &Module<'_>, section: &Section<'_>) -> bool {
    let SectionInfo::Section(target) = section.info else {
        return false;
    };
    if module.sections[target].kind == SectionKind::Text
        && module.sections[target].ty == sht::NOBITS
    {
        return false;
    }
    !matches!(
        module.sections[target].kind,
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
