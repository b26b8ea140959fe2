//! `symbol-resolve`: every symbol gets the link symbol that it stands for.
//!
//! Objects in link order; in each first the functions, then the rest, in symbol table order:
//!
//! - a local symbol stands for itself;
//! - of weak functions the one with the fewest registers wins [weak-fewest-registers], of equals the first, or the one
//!   that was compiled for a higher virtual architecture than the first; a strong one wins over weak ones; two strong
//!   ones are an error;
//! - of weak variables the first wins, a strong one wins over weak ones; tentative definitions merge
//!   to the largest size and the first alignment, a real definition wins over them;
//! - memory spaces and sizes must agree; size 0 agrees with every size.
//!
//! A conflict between functions is an error only if the function is live, so `callgraph-dce`
//! reports it; everything else is reported here. What nvlink says of an object while it merges it
//! is reported here, too. Each name is hashed once.

mod functions;
mod remarks;
mod reports;
mod variables;

use std::any::TypeId;

use std::cell::OnceCell;
use std::cmp::Ordering;

use cuweld_diagnostics::Code;
use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::Severity;
use cuweld_diagnostics::codes::input;
use cuweld_diagnostics::codes::link;
use cuweld_diagnostics::codes::unsupported;
use cuweld_elf::known_symbols;
use cuweld_elf::raw::ET_EWP;
use cuweld_elf::string_table::NameHash;
use cuweld_elf::symbol::Binding;
use cuweld_elf::symbol::SymbolOther;
use cuweld_elf::target::compat;
use cuweld_ir::Fate;
use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbol;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Liveness;
use cuweld_ir::MergeEvent;
use cuweld_ir::MergeOutcome;
use cuweld_ir::Module;
use cuweld_ir::Object;
use cuweld_ir::ObjectId;
use cuweld_ir::ObjectState;
use cuweld_ir::Phase;
use cuweld_ir::Section;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::Symbol;
use cuweld_ir::SymbolId;
use cuweld_ir::SymbolPlace;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hashbrown::HashTable;

use crate::analyses::Kinds;
use crate::analyses::Meanings;
use crate::analyses::Preserved;
use crate::analyses::Prototypes;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::PassInfo;
use crate::remark::Remarks;
use cuweld_demangle::displayed;
use reports::text;

/// The `symbol-resolve` pass.
#[derive(Debug, Default)]
pub struct SymbolResolve;

impl Pass for SymbolResolve {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "symbol-resolve",
            summary: "Find what each name stands for in the whole link",
            doc: include_str!("symbol_resolve.rs"),
            requires: Phase::Selected,
            establishes: Some(Phase::Resolved),
            preserves: Preserved::Only(&[TypeId::of::<Kinds>, TypeId::of::<Meanings>]),
            remarks: remarks::KINDS,
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        let kinds = cx.analyses.get::<Kinds>(module);
        let names = likely_names(module);
        // What is not filled is never touched.
        let most = module.symbols.len();
        module.link_symbols.reserve(most);
        let mut resolver = Resolver {
            module,
            diagnostics: Vec::new(),
            failed: false,
            ended: false,
            names: HashTable::with_capacity(names),
            function_over_variable: false,
            parameters: OnceCell::new(),
            virtual_sms: OnceCell::new(),
            local_functions: HashMap::default(),
            first_locals: OnceCell::new(),
            prototypes: Prototypes::default(),
            first_definition: Vec::with_capacity(most),
            named_by: Vec::with_capacity(most),
            common_is_taken: Vec::with_capacity(most),
            end: None,
            constants_size: None,
            meanings: Meanings::of_nothing(most),
        };
        let has_ewp = resolver.module.has_ewp_object();
        let first_sass = resolver.module.first_sass_object();
        let mut unneeded = None;
        'merge: for object in resolver.module.objects.ids() {
            let row = resolver.module.objects[object].clone();
            if row.state == ObjectState::SkippedUnneeded {
                unneeded.get_or_insert(row.display());
            }
            if !row.state.is_included() {
                continue;
            }
            if let Some(runtime) = unneeded.as_ref().filter(|_| !row.system_library) {
                resolver.refuse_behind_runtime(object, runtime);
                break;
            }
            if has_ewp {
                resolver.warn_beside_ewp(object);
            }
            for function in [true, false] {
                for id in row.symbols.iter() {
                    let symbol = &resolver.module.symbols[id];
                    if symbol.is_undeclared() && !function {
                        resolver.resolve_undeclared(id);
                        continue;
                    }
                    if symbol.is_function() == function
                        && !resolver.module.stands_for_nothing(symbol, first_sass)
                    {
                        resolver.resolve(id, *symbol);
                        if resolver.end.is_some() {
                            break 'merge;
                        }
                    }
                }
            }
            resolver.prototypes(object);
            resolver.warn_of_isa_class(object, kinds);
            // [conflicts-end-merge]
            if resolver.failed {
                break;
            }
        }
        let end = resolver.end.take();
        let fatal = if let Some(message) = &end {
            message
        } else if resolver.function_over_variable {
            "Internal error: no callgraph node"
        } else {
            "merge_elf failed"
        };
        let diagnostics = std::mem::take(&mut resolver.diagnostics);
        let failed = resolver.failed;
        let ended = resolver.ended;
        let meanings = std::mem::take(&mut resolver.meanings);
        cx.statistics
            .add("link symbols", module.link_symbols.len() as u64);
        for diagnostic in diagnostics {
            cx.diagnostics.emit(diagnostic);
        }
        cx.analyses.set(meanings);
        if !failed {
            return Ok(Changed::Yes);
        }
        if ended {
            return Err(PassError::Diagnosed);
        }
        cx.diagnostics
            .emit(Diagnostic::fatal(link::MERGE_FAILED, fatal).at(u32::MAX, u32::MAX));
        Err(PassError::Diagnosed)
    }

    fn remarks(&self, module: &Module<'_>, remarks: &mut Remarks) {
        remarks::make(module, remarks);
    }
}

struct Resolver<'m, 'data> {
    module: &'m mut Module<'data>,
    diagnostics: Vec<Diagnostic>,
    /// Whether there is an error among the findings.
    failed: bool,
    /// Whether one of them ends the link at once.
    ended: bool,
    names: HashTable<Named>,
    /// A device function has the name of a variable; nvlink then fails in its call graph.
    function_over_variable: bool,
    /// Sizes in bytes of the kernels' parameter banks, by function, once two kernels are compared.
    parameters: OnceCell<Vec<u64>>,
    /// Virtual SMs by object, once two weak copies need as many registers.
    virtual_sms: OnceCell<Vec<u16>>,
    /// The first local function of each name, of those that came before any global symbol of the name.
    local_functions: HashMap<&'data [u8], FunctionId, FixedState>,
    /// The first local symbol of each name, once a name is an error by that.
    first_locals: OnceCell<HashMap<&'data [u8], SymbolId, FixedState>>,
    /// The prototypes of functions so far.
    prototypes: Prototypes<'data>,
    /// The first definitions, also those that others replaced, by resolved symbol.
    first_definition: Vec<Option<SymbolId>>,
    /// The symbol whose file messages name as the variable's, by resolved symbol: the first, or the
    /// common symbol or the initialised variable over a common symbol that gave it its memory; not
    /// another definition [named-by-first-symbol].
    named_by: Vec<SymbolId>,
    /// Whether a strong definition without contents has taken the memory of a common symbol, by
    /// resolved symbol.
    common_is_taken: Vec<bool>,
    /// What nvlink says where it fails at a symbol: that is the end of the link.
    end: Option<String>,
    /// What the size of all constants stands for, which is one symbol although it is local
    /// [constants-size].
    constants_size: Option<LinkSymbolId>,
    /// What symbols stand for, as an analysis has it.
    meanings: Meanings,
}

/// How many of the first symbols tell what the others are like.
const SAMPLE: usize = 4 << 10;

/// Returns an estimate of the number of names: each has one strong definition.
fn likely_names(module: &Module<'_>) -> usize {
    let symbols = module.symbols.values().as_slice();
    let sample = symbols.get(..SAMPLE).unwrap_or(symbols);
    let strong = sample.iter();
    let strong = strong.filter(|symbol| symbol.bind == Binding::GLOBAL && !symbol.is_undefined());
    strong.count() * symbols.len() / sample.len().max(1)
}

/// A name, by what it stands for. Its hash stands beside it, so that the table grows without
/// looking at names.
struct Named {
    hash: NameHash,
    link: LinkSymbolId,
}

impl<'data> Resolver<'_, 'data> {
    fn resolve(&mut self, id: SymbolId, symbol: Symbol<'data>) {
        let is_local = symbol.bind == Binding::LOCAL;
        let is_size = is_local && symbol.name == known_symbols::CONSTANTS_SIZE;
        let link = if let Some(link) = self.constants_size.filter(|_| is_size) {
            link
        } else if is_local {
            let link = self.create(id, &symbol);
            if is_size {
                self.constants_size = Some(link);
            }
            if let Some(function) = symbol.function
                && self.named(NameHash::of(symbol.name), symbol.name).is_none()
            {
                self.local_functions.entry(symbol.name).or_insert(function);
            }
            link
        } else {
            self.compare_local_functions(id, &symbol);
            let hash = NameHash::of(symbol.name);
            match self.named(hash, symbol.name) {
                Some(link) => {
                    self.merge(link, id, &symbol);
                    link
                }
                None => {
                    self.compare_tensor_memory(id, &symbol);
                    let link = self.create(id, &symbol);
                    let named = Named { hash, link };
                    let rehash = |named: &Named| named.hash.spread();
                    self.names.insert_unique(hash.spread(), named, rehash);
                    link
                }
            }
        };
        self.module.symbols[id].link = Some(link);
        self.meanings.set(id, link);
    }

    /// Lets a name of debug information that its unit does not declare stand for the symbol of that
    /// name that an object before has, a global one first [undeclared-names].
    fn resolve_undeclared(&mut self, id: SymbolId) {
        let symbol = &self.module.symbols[id];
        let global = self.named(NameHash::of(symbol.name), symbol.name);
        let local = || {
            let local = self.first_locals().get(symbol.name).copied();
            self.module.symbols[local?].link
        };
        let is_before = |link: &LinkSymbolId| {
            let first = self.module.link_symbols[*link].first;
            self.module.symbols[first].object < symbol.object
        };
        if let Some(link) = global.or_else(local).filter(is_before) {
            self.module.symbols[id].link = Some(link);
            self.meanings.set(id, link);
        }
    }

    /// Returns what a global name stands for so far. `hash` is that of the name.
    fn named(&self, hash: NameHash, name: &[u8]) -> Option<LinkSymbolId> {
        let module = &*self.module;
        let is_same = |named: &Named| named.hash == hash && module.link_name(named.link) == name;
        let found = self.names.find(hash.spread(), is_same);
        found.map(|named| named.link)
    }

    fn create(&mut self, id: SymbolId, symbol: &Symbol<'data>) -> LinkSymbolId {
        let mut link = LinkSymbol {
            first: id,
            definition: None,
            live: Liveness::Unknown,
            size: symbol.size,
            common_align: 0,
            kernel: None,
            internal: false,
            order: None,
            value: None,
        };
        // Dynamic shared memory has a name and no definition, wherever its symbols stand.
        if !symbol.is_undefined() && !symbol.is_dynamic_shared() {
            link.definition = Some(id);
            if symbol.place == SymbolPlace::Common {
                link.common_align = symbol.value;
            }
            if let Some(function) = symbol.function {
                self.set_fate(function, Fate::Prevailing);
            }
        }
        self.first_definition.push(link.definition);
        self.named_by.push(id);
        self.common_is_taken.push(false);
        self.module.link_symbols.push(link)
    }

    fn set_fate(&mut self, function: FunctionId, fate: Fate) {
        let function = &mut self.module.functions[function];
        function.fate = fate;
        self.meanings.set_copy(function);
    }

    /// Merges another symbol of a name that is known.
    fn merge(&mut self, link: LinkSymbolId, id: SymbolId, symbol: &Symbol<'data>) {
        let known = &self.module.link_symbols[link];
        let reference = known.definition.unwrap_or(known.first);
        let other = &self.module.symbols[reference];
        // Most are references to what is known, in the same words.
        if symbol.is_undefined()
            && !symbol.is_shared()
            && (symbol.ty, symbol.other) == (other.ty, other.other)
            && (symbol.is_function() || symbol.size == known.size)
        {
            return;
        }
        let (known, other) = (*known, *other);
        if symbol.ty.is_header() && other.ty != symbol.ty {
            // Textures and the like have no memory space that nvlink would compare.
            self.duplicate(id, reference);
            return;
        }
        if other.is_function() != symbol.is_function()
            || !symbol.is_function() && other.other.space() != symbol.other.space()
        {
            let named = if other.is_function() {
                reference
            } else {
                self.named_by[link.index()]
            };
            self.space_conflict(&known, id, symbol, reference, named);
            return;
        }
        if symbol.is_function() {
            self.merge_function(link, id, symbol, reference);
        } else {
            self.compare_managed(id, symbol, &other, self.named_by[link.index()]);
            self.merge_variable(link, id, symbol, reference);
        }
    }

    /// Reports one name in two memory spaces, and what else is wrong with it
    /// [space-conflict-goes-on].
    fn space_conflict(
        &mut self,
        known: &LinkSymbol,
        id: SymbolId,
        symbol: &Symbol<'data>,
        reference: SymbolId,
        named: SymbolId,
    ) {
        let other = self.module.symbols[reference];
        if symbol.ty.is_header() && other.is_function()
            || other.ty.is_header() && symbol.is_function()
        {
            let name = String::from_utf8_lossy(symbol.name);
            let what = format!("'{name}' as a function and as a texture, sampler or surface");
            self.push(
                id,
                Diagnostic::fatal(unsupported::FUNCTION_AND_TEXTURE, what),
            );
            return;
        }
        // The mark of kernels is that of unified variables.
        let mark = SymbolOther::ENTRY;
        if symbol.is_function() && symbol.other.contains(mark) != other.other.contains(mark) {
            self.not_declared_global(id, symbol);
        }
        self.conflict(
            link::SPACE_MISMATCH,
            "Memory space doesn't match for",
            "first specified in",
            id,
            named,
        );
        if !symbol.is_function() {
            self.compare_managed(id, symbol, &other, named);
        }
        // The size of an alias is 0, as is that of dynamic shared memory after `-r`, and no size of a
        // reference, nor of a texture before a tentative variable.
        let is_alias = other.is_function() && known.definition.is_some() && known.size == 0;
        let is_tentative =
            symbol.place == SymbolPlace::Common && !other.is_function() && !other.ty.is_header();
        let has_size = known.size != 0 || is_alias || is_tentative;
        let is_sized = symbol.size != 0 || matches!(symbol.place, SymbolPlace::Section(_));
        let sizes_differ = known.size != symbol.size && has_size && is_sized;
        if !symbol.is_function() && sizes_differ {
            self.conflict(
                link::SIZE_MISMATCH,
                "Size doesn't match for",
                "first specified in",
                id,
                named,
            );
        }
        let is_common = known.common_align != 0 && !symbol.is_function();
        let known_defined = known.definition.is_some() && !is_common || other.is_dynamic_shared();
        let both_defined =
            known_defined && !symbol.is_undefined() && !(is_alias && symbol.is_shared());
        // [function-over-weak-variable]
        let is_over_weak_variable = both_defined
            && symbol.is_function()
            && !other.is_function()
            && other.bind == Binding::WEAK;
        if is_over_weak_variable && symbol.bind == Binding::WEAK {
            self.end_merge("Internal error: no such original reg count".to_owned());
        }
        if both_defined && other.bind != Binding::WEAK && symbol.bind != Binding::WEAK {
            self.duplicate(id, named);
        }
        let is_weak_unified =
            symbol.bind == Binding::WEAK && symbol.other.contains(SymbolOther::UNIFIED);
        self.function_over_variable |=
            symbol.is_function() && !symbol.is_entry() && !is_weak_unified && !other.is_function();
        let replaces = is_over_weak_variable && symbol.bind != Binding::WEAK;
        if replaces && self.has_joined(&other, symbol.object) {
            let name = displayed(symbol.name);
            self.end_merge(format!("Could not replace weak symbol '{name}'"));
        }
    }

    /// Lets the link end at the symbol that is merged, with a message.
    fn end_merge(&mut self, message: String) {
        self.end.get_or_insert(message);
    }

    /// Returns `true` if another object before `end` has a section of the name of that in which a
    /// variable lies.
    fn has_joined(&self, variable: &Symbol<'data>, end: ObjectId) -> bool {
        let SymbolPlace::Section(section) = variable.place else {
            return false;
        };
        let sections = &self.module.sections;
        let joins = |row: &Section<'data>| {
            row.object != variable.object
                && row.object < end
                && row.name == sections[section].name
                && self.module.objects[row.object].state.is_included()
        };
        sections.values().any(joins)
    }

    /// Reports a variable that is managed memory in one object alone.
    fn compare_managed(
        &mut self,
        id: SymbolId,
        symbol: &Symbol<'data>,
        other: &Symbol<'data>,
        named: SymbolId,
    ) {
        if variables::are_managed_otherwise(symbol, other) {
            self.conflict(
                link::MANAGED_MISMATCH,
                "Managed attribute doesn't match for",
                "first specified in",
                id,
                named,
            );
        }
    }

    fn not_declared_global(&mut self, id: SymbolId, symbol: &Symbol<'data>) {
        self.push(
            id,
            Diagnostic::error(
                link::NOT_GLOBAL,
                format!(
                    "Function '{}' not declared __global__ in all source files",
                    displayed(symbol.name)
                ),
            ),
        );
    }

    /// Adds to the merge log that a definition met the one that prevails.
    fn record(&mut self, newcomer: SymbolId, prevailing: SymbolId, outcome: MergeOutcome) {
        self.compare_unified(newcomer, prevailing, outcome);
        self.module.merge_log.push(MergeEvent {
            newcomer,
            prevailing,
            outcome,
        });
    }

    /// Refuses two definitions of which one has a unified address, where nvlink does not end the
    /// link: the symbol, its section and its row in the table of such addresses are those of
    /// one or the other.
    fn compare_unified(&mut self, new: SymbolId, old: SymbolId, outcome: MergeOutcome) {
        let (symbol, other) = (&self.module.symbols[new], &self.module.symbols[old]);
        let mark = match symbol.is_function() {
            true if !outcome.replaces() => return,
            true => SymbolOther::UNIFIED,
            false => SymbolOther::UNIFIED_VARIABLE,
        };
        let differ = symbol.other.contains(mark) != other.other.contains(mark);
        if differ && self.module.options.relocatable {
            let name = displayed(symbol.name);
            let message = format!("'{name}' with a unified address in one object alone");
            self.push(
                new,
                Diagnostic::error(unsupported::UNIFIED_MISMATCH, message),
            );
        }
    }

    fn define(&mut self, link: LinkSymbolId, id: SymbolId, symbol: &Symbol<'data>) {
        self.first_definition[link.index()].get_or_insert(id);
        let row = &mut self.module.link_symbols[link];
        row.definition = Some(id);
        row.size = symbol.size;
        row.common_align = 0;
    }

    /// Compares the prototypes of an object with those that are known.
    fn prototypes(&mut self, object: ObjectId) {
        let mut mismatches = Vec::new();
        self.prototypes
            .read(self.module, object, |mismatch| mismatches.push(mismatch));
        for mismatch in mismatches {
            let (symbol, link) = (mismatch.symbol, mismatch.link);
            let first = self.first_definition[link.index()];
            let message = format!(
                "Prototype doesn't match for '{}' in '{}', first defined in '{}'",
                text(self.module.symbols[symbol].name),
                self.file(symbol),
                self.file(first.unwrap_or(self.module.link_symbols[link].first))
            );
            let note = format!(
                "'{}' here, '{}' before",
                text(mismatch.here),
                text(mismatch.known)
            );
            self.find(
                Diagnostic::error(link::PROTOTYPE, message)
                    .note(note)
                    .at(object.index_u32(), u32::MAX),
            );
        }
    }
}
