//! Symbols that no compiler of the toolkit writes: nvlink takes each of their fields at its word,
//! in ways that are not known, so they are refused.

use cuweld_diagnostics::Code;
use cuweld_diagnostics::codes::unsupported;
use cuweld_elf::known_symbols;
use cuweld_elf::symbol::Binding;
use cuweld_elf::symbol::SymbolOther;
use cuweld_elf::symbol::SymbolType;
use cuweld_elf::toolkit::Toolkit;
use cuweld_ir::Module;
use cuweld_ir::Object;
use cuweld_ir::ObjectId;
use cuweld_ir::PrimaryMap;
use cuweld_ir::Section;
use cuweld_ir::SectionKind;
use cuweld_ir::Symbol;
use cuweld_ir::SymbolId;
use cuweld_ir::SymbolPlace;
use cuweld_ir::SymbolRef;
use cuweld_ir::callgraph_record::CallKind;
use cuweld_ir::callgraph_record::CallRecord;
use cuweld_ir::callgraph_record::PrototypeRecord;
use cuweld_ir::section::ADDRESS_BANK;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hashbrown::HashSet;

use super::rows::Rows;

/// Larger alignments in bytes of shared variables, which would make files of any size, are refused.
/// (Compilers take up to 128.)
const LARGEST_ALIGN: u64 = 1 << 20;

/// Returns the code of the finding about an unsupported symbol that is defined elsewhere.
fn undefined(symbol: &Symbol<'_>, capmerc: bool, has_mercury: bool) -> Option<Code> {
    if capmerc && symbol.ty != SymbolType::OBJECT {
        return (symbol.ty == SymbolType::NOTYPE).then_some(unsupported::UNDEFINED_SYMBOL);
    }
    let plain = symbol.bind == Binding::GLOBAL || symbol.bind == Binding::WEAK;
    // Relocatable output gives undefined variables the value -1.
    let no_value = matches!(symbol.value, 0 | u64::MAX);
    let fits = if known_symbols::is_unified_table_symbol(symbol.name) {
        symbol.ty == SymbolType::OBJECT
            && plain
            && symbol.other.is_empty()
            && symbol.value == 0
            && symbol.size == 8
    } else if known_symbols::is_reserved_shared_symbol(symbol.name) {
        let first = symbol.name == known_symbols::RESERVED_SHARED_OFFSET;
        symbol.ty == SymbolType::OBJECT
            && plain
            && symbol.other.is_empty()
            && (!first || symbol.size == 4 && (has_mercury || symbol.value == 0))
    } else if known_symbols::is_descriptor_size(symbol.name) {
        // [descriptor-sizes]
        symbol.ty == SymbolType::OBJECT
            && plain
            && symbol.other.is_empty()
            && no_value
            && symbol.size == 4
    } else if symbol.ty.is_header() {
        symbol.bind == Binding::GLOBAL
            && symbol.other.is_empty()
            && symbol.value == 0
            && symbol.size == 0
    } else if symbol.is_function() {
        plain
            && (symbol.other - (SymbolOther::ENTRY | SymbolOther::UNIFIED)).is_empty()
            && symbol.value == 0
            && symbol.size == 0
    } else if symbol.bind == Binding::LOCAL {
        // `.nv.ptx.const0.size` of the device runtime.
        symbol.other.contains(SymbolOther::COMPILER) && symbol.name.starts_with(b".nv.")
    } else {
        let space = symbol.other - (SymbolOther::MANAGED | SymbolOther::UNIFIED_VARIABLE);
        let known = space == SymbolOther::GLOBAL
            || space == SymbolOther::CONSTANT
            || symbol.other - SymbolOther::COMPILER == SymbolOther::SHARED;
        // Relocatable output gives kernels weak names of dynamic shared memory, of its own making.
        let is_made = symbol.other.contains(SymbolOther::COMPILER);
        let shared = symbol.is_shared()
            && (symbol.bind == Binding::GLOBAL || symbol.bind == Binding::WEAK && is_made)
            && (symbol.value <= LARGEST_ALIGN || symbol.value == u64::MAX);
        symbol.ty == SymbolType::CUDA_OBJECT
            && (shared || symbol.bind == Binding::GLOBAL && no_value)
            && known
    };
    (!fits).then_some(unsupported::UNDEFINED_SYMBOL)
}

/// Returns the code of the finding about an unsupported function that an object defines.
fn function(toolkit: &Toolkit, symbol: &Symbol<'_>, section: &Section<'_>) -> Option<Code> {
    // nvlink takes it for a kernel in some respects: its sections, warnings about its stack, no
    // comparison of prototypes.
    if toolkit.is_system_function(symbol.name) {
        return Some(unsupported::DRIVER_FUNCTION);
    }
    let is_alias = section.owner != symbol.function && symbol.size == 0;
    let whole = is_alias || symbol.size == section.size();
    let fits = (symbol.other - (SymbolOther::ENTRY | SymbolOther::UNIFIED)).is_empty()
        && symbol.value == 0
        && whole;
    (!fits).then_some(unsupported::FUNCTION_SIZE)
}

/// Returns the code of the finding about an unsupported variable that an object defines in a
/// section.
fn variable(symbol: &Symbol<'_>, section: &Section<'_>) -> Option<Code> {
    let (is_local, has_dollar) = (symbol.is_local(), symbol.name.starts_with(b"$"));
    let fits = match section.kind {
        SectionKind::Global | SectionKind::GlobalInit => {
            symbol.other - SymbolOther::MANAGED == SymbolOther::GLOBAL
        }
        SectionKind::KernelShared | SectionKind::ModuleShared => {
            // The value is the alignment. Names of the compiler's own making begin with a dollar
            // sign, in sections of kernels. Outputs of -r that were linked with -r again define
            // what stands for dynamic shared memory, with the visibility "internal" (1).
            let instance = symbol.name == known_symbols::DYNAMIC_SHARED_INSTANCE;
            let other = match instance {
                true => SymbolOther::SHARED | SymbolOther::COMPILER,
                false => SymbolOther::SHARED,
            };
            symbol.other == other
                && (symbol.size == 0
                    || symbol.value.is_power_of_two()
                    || symbol.value == 0 && section.kind == SectionKind::ModuleShared)
                && symbol.value <= LARGEST_ALIGN
                && !(section.kind == SectionKind::KernelShared && has_dollar && !is_local)
        }
        // Addresses that position-independent code (`ptxas -pic`) loads.
        SectionKind::ConstantBank(ADDRESS_BANK) => {
            symbol.other == SymbolOther::CONSTANT | SymbolOther::COMPILER
        }
        SectionKind::ConstantBank(_) => symbol.other == SymbolOther::CONSTANT,
        SectionKind::FunctionConstants(_) => {
            symbol.other == SymbolOther::CONSTANT | SymbolOther::COMPILER
                && symbol.bind == Binding::LOCAL
        }
        SectionKind::Unified => true,
        _ => return None,
    };
    if !fits {
        return Some(unsupported::SYMBOL_SPACE);
    }
    let in_shared = matches!(
        section.kind,
        SectionKind::KernelShared | SectionKind::ModuleShared
    );
    // Relocatable output has names of dynamic shared memory, none of the compiler's own making.
    if symbol.size == 0 && in_shared && !(has_dollar && is_local) {
        return None;
    }
    let end = symbol.value.checked_add(symbol.size);
    if symbol.size == 0 || !in_shared && end.is_none_or(|end| end > section.size()) {
        return Some(unsupported::VARIABLE_RANGE);
    }
    // Constants of two bytes are stored as single precision.
    let is_other = |(start, end): (u64, u64)| {
        let stored = match end.wrapping_sub(start) {
            2 => 4,
            size => size,
        };
        (start, stored) != (symbol.value, symbol.size)
    };
    if constant_range(symbol.name).is_some_and(is_other) {
        return Some(unsupported::CONSTANT_PLACE);
    }
    None
}

/// Returns the begin and end that the name of a compiler constant gives: `F.const_opt.START.END`.
fn constant_range(name: &[u8]) -> Option<(u64, u64)> {
    // Few names end like that.
    if !name.last()?.is_ascii_digit() {
        return None;
    }
    let name = std::str::from_utf8(name).ok()?;
    let (_, range) = name.rsplit_once(".const_opt.")?;
    let (start, end) = range.split_once('.')?;
    Some((start.parse().ok()?, end.parse().ok()?))
}

/// Returns `true` if a texture, sampler or surface lies in a section that is never part of the
/// output as it is. Sections of code and data are mapped at a turn of their own; in those such a
/// symbol is only unsupported.
pub(super) fn is_unmapped(rows: &Rows<'_, '_>, symbol: &Symbol<'_>) -> bool {
    let SymbolPlace::Section(section) = symbol.place else {
        return false;
    };
    if !symbol.ty.is_header() {
        return false;
    }
    let is_table = matches!(
        rows.sections[section].kind,
        SectionKind::SectionNames
            | SectionKind::SymbolNames
            | SectionKind::Symbols
            | SectionKind::Relocs
            | SectionKind::ToolInfo
            | SectionKind::CudaInfo
            | SectionKind::Info
            | SectionKind::FunctionInfo
            | SectionKind::Compat
            | SectionKind::CallGraph
            | SectionKind::Prototypes
            | SectionKind::ModuleShared
            | SectionKind::Debug
    );
    is_table && !rows.shared.is_mercury
}

/// Returns the code of the finding about an unsupported symbol, once sections have their kinds.
pub(super) fn oddity(rows: &Rows<'_, '_>, symbol: &Symbol<'_>) -> Option<Code> {
    let capmerc = rows.shared.capmerc;
    if symbol.is_reserved_alias() {
        return None;
    }
    if has_odd_name(symbol) {
        return Some(unsupported::SYMBOL_NAME);
    }
    if symbol.is_filler() {
        // Labels of code that is gone, which debug information refers to.
        let is_label = symbol.is_undefined() && symbol.bind == Binding::LOCAL;
        if rows.shared.is_mercury && !is_label {
            return Some(unsupported::UNTYPED_MERCURY_SYMBOL);
        }
        let SymbolPlace::Section(section) = symbol.place else {
            return None;
        };
        return match rows.sections[section].kind {
            SectionKind::FunctionConstants(_) => Some(unsupported::UNTYPED_CONSTANT),
            SectionKind::KernelShared | SectionKind::ModuleShared => {
                Some(unsupported::UNTYPED_SHARED)
            }
            _ => None,
        };
    }
    let section = match symbol.place {
        SymbolPlace::Section(section) => &rows.sections[section],
        SymbolPlace::Undefined => {
            return undefined(symbol, capmerc, rows.shared.is_mercury);
        }
        SymbolPlace::Common => {
            // Relocatable output of nvlink with a unified one is not linked again as it began.
            let beside = match rows.shared.relocatable {
                true => SymbolOther::MANAGED,
                false => SymbolOther::MANAGED | SymbolOther::UNIFIED_VARIABLE,
            };
            let fits = symbol.bind == Binding::GLOBAL
                && symbol.ty == SymbolType::CUDA_OBJECT
                && symbol.other - beside == SymbolOther::GLOBAL
                && symbol.value.is_power_of_two();
            return (!fits).then_some(unsupported::COMMON_SYMBOL);
        }
        SymbolPlace::Absolute | SymbolPlace::Reserved(_) => {
            return Some(unsupported::SYMBOL_WITHOUT_SECTION);
        }
    };
    match section.kind {
        SectionKind::Text if symbol.is_function() => function(rows.shared.toolkit, symbol, section),
        // [header-parameters]
        SectionKind::Text if is_header_parameter(symbol) => None,
        SectionKind::Global
        | SectionKind::GlobalInit
        | SectionKind::KernelShared
        | SectionKind::ModuleShared
        | SectionKind::ConstantBank(_)
        | SectionKind::FunctionConstants(_)
        | SectionKind::Local
        | SectionKind::Unified
        | SectionKind::Other => {
            if symbol.ty != SymbolType::CUDA_OBJECT {
                return Some(unsupported::SYMBOL_TYPE);
            }
            variable(symbol, section)
        }
        SectionKind::ReservedShared if rows.shared.is_mercury => reserved_variable(symbol, section),
        _ => Some(unsupported::SYMBOL_SPACE),
    }
}

/// Returns `true` if a symbol is a texture, sampler or surface that is a parameter of the kernel in
/// whose code it is defined.
pub(super) fn is_header_parameter(symbol: &Symbol<'_>) -> bool {
    symbol.ty.is_header() && symbol.is_local() && (symbol.value, symbol.size) == (0, 0)
}

/// Returns `true` if a symbol has a name that no compiler writes. (Debug information of clang has
/// names of its own for strings, such as `.str.1`, which PTX lacks.)
fn has_odd_name(symbol: &Symbol<'_>) -> bool {
    let is_unknown_label = symbol.is_local()
        && symbol.ty == SymbolType::NOTYPE
        && symbol.place == SymbolPlace::Undefined;
    match symbol.name.first() {
        None => !symbol.is_filler(),
        Some(b'.') if is_unknown_label => false,
        Some(b'.') => !known_symbols::is_dotted(symbol.name),
        Some(_) => false,
    }
}

/// Returns `true` if a symbol is another name of the reserved block, or a variable in it.
pub(super) fn is_in_reserved(rows: &Rows<'_, '_>, symbol: &Symbol<'_>) -> bool {
    let in_section = matches!(symbol.place, SymbolPlace::Section(section)
        if rows.sections[section].kind == SectionKind::ReservedShared);
    in_section || symbol.is_reserved_alias()
}

/// Returns `true` for each section of an object in which a symbol lies that stands for something.
pub(super) fn with_symbols(object: &Object<'_>, symbols: &[Symbol<'_>]) -> Vec<bool> {
    let mut with_symbols = vec![false; object.sections.len()];
    for symbol in symbols {
        if let SymbolPlace::Section(section) = symbol.place
            && let Some(ordinal) = object.sections.ordinal(section)
        {
            with_symbols[ordinal] |= !symbol.is_filler();
        }
    }
    with_symbols
}

/// Returns the code of the finding about an unsupported variable in reserved shared memory.
fn reserved_variable(symbol: &Symbol<'_>, section: &Section<'_>) -> Option<Code> {
    let variable = (symbol.value, symbol.size);
    let fits = known_symbols::is_reserved_shared_variable(symbol.name, variable.0, variable.1)
        && (symbol.bind, symbol.ty) == (Binding::WEAK, SymbolType::CUDA_OBJECT)
        && symbol.other == SymbolOther::RESERVED
        && known_symbols::holds_reserved_shared_variable((section.align, section.size()), variable);
    (!fits).then_some(unsupported::RESERVED_SHARED_SYMBOL)
}

/// Returns the names of an object's kernels that have a bank of parameters, which `has_bank` says of
/// its functions by ordinal: after `-r` those of other kernels of the name lie in it
/// [parameters-of-local-kernels].
pub(super) fn kernels_with_bank<'data>(
    rows: &Rows<'_, 'data>,
    object: &Object<'_>,
    has_bank: impl Fn(usize) -> bool,
) -> HashSet<&'data [u8], FixedState> {
    let functions = object.functions.iter().enumerate();
    let with_bank = functions.filter(|(ordinal, _)| has_bank(*ordinal));
    let symbols = with_bank.map(|(_, id)| &rows.shared.symbols[rows.functions[id].symbol]);
    let kernels = symbols.filter(|symbol| symbol.is_entry());
    kernels.map(|symbol| symbol.name).collect()
}

/// Returns `true` if a symbol has a name, but no type.
pub(super) fn is_bare(symbol: &Symbol<'_>) -> bool {
    symbol.ty == SymbolType::NOTYPE && !symbol.is_local() && !symbol.name.is_empty()
}

/// Returns the symbols without a type whose name an earlier object has: nvlink takes references to
/// them for references to that name, else to symbol 0 [untyped-symbols].
pub(super) fn bound_without_type<'module>(
    module: &'module Module<'_>,
) -> Vec<&'module Symbol<'module>> {
    let symbols = module.symbols.values();
    let bare: Vec<&Symbol<'_>> = symbols.filter(|symbol| is_bare(symbol)).collect();
    let mut first: HashMap<&[u8], ObjectId, FixedState> = HashMap::default();
    if !bare.is_empty() {
        for symbol in module.symbols.values() {
            if symbol.ty != SymbolType::NOTYPE && !symbol.is_local() {
                first.entry(symbol.name).or_insert(symbol.object);
            }
        }
    }
    let is_bound = |symbol: &&Symbol<'_>| {
        let object = first.get(symbol.name);
        object.is_some_and(|object| *object < symbol.object)
    };
    bare.into_iter().filter(is_bound).collect()
}

/// Returns the code of the finding about unsupported call graphs and prototypes.
pub(super) fn call_graph_oddity(module: &Module<'_>) -> Option<Code> {
    let prototypes = module.prototypes.values();
    let mut prototypes = prototypes.filter_map(|row| prototype_oddity(&module.symbols, row));
    if let Some(what) = prototypes.next() {
        return Some(what);
    }
    let is_odd = |object: &Object<'_>| {
        let calls = &module.calls[object.calls];
        takes_untaken(calls) || calls.iter().any(|row| is_odd_call(&module.symbols, row))
    };
    let mut objects = module.objects.values();
    objects.any(is_odd).then_some(unsupported::UNUSUAL_CALL)
}

/// Returns the code of the finding about a prototype that no compiler writes: nvlink crashes on
/// those of something else than functions.
pub(super) fn prototype_oddity(
    symbols: &PrimaryMap<SymbolId, Symbol<'_>>,
    row: &PrototypeRecord<'_>,
) -> Option<Code> {
    let function = row.function.symbol().map(|symbol| &symbols[symbol]);
    match function.filter(|symbol| symbol.is_function()) {
        Some(symbol) if symbol.is_local() => Some(unsupported::LOCAL_PROTOTYPE),
        Some(_) if row.prototype.starts_with(PROTOTYPE) => None,
        _ => Some(unsupported::UNUSUAL_PROTOTYPE),
    }
}

/// Returns `true` if a row of a call graph is not one of functions and prototypes: nvlink drops
/// some of them, and crashes on others.
pub(super) fn is_odd_call(
    symbols: &PrimaryMap<SymbolId, Symbol<'_>>,
    row: &CallRecord<'_>,
) -> bool {
    let is_function = |target: SymbolRef| {
        let symbol = target.symbol();
        symbol.is_some_and(|symbol| symbols[symbol].is_function())
    };
    let fits = match row.kind {
        CallKind::Direct | CallKind::TakesAddress => is_function(row.to),
        // Kernels whose address is taken have none.
        CallKind::AddressTaken => row.prototype.is_empty() || row.prototype.starts_with(PROTOTYPE),
        CallKind::Indirect => row.prototype.starts_with(PROTOTYPE),
    };
    !fits || !is_function(row.from)
}

/// Returns `true` if the call graph of an object says that a function takes the address of one, and
/// does not have that among those whose address is taken.
pub(super) fn takes_untaken(calls: &[CallRecord<'_>]) -> bool {
    let of_kind = |kind| calls.iter().filter(move |row| row.kind == kind);
    let mut takes = of_kind(CallKind::TakesAddress).peekable();
    if takes.peek().is_none() {
        return false;
    }
    let taken = of_kind(CallKind::AddressTaken).filter_map(|row| row.from.symbol());
    let taken: HashSet<SymbolId, FixedState> = taken.collect();
    takes.any(|row| {
        row.to
            .symbol()
            .is_some_and(|symbol| !taken.contains(&symbol))
    })
}

/// How prototypes begin.
const PROTOTYPE: &[u8] = b"#";
