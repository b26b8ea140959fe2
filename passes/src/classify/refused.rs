//! The refusal of what no compiler writes and of what this linker would otherwise drop unseen.

use std::cell::LazyCell;

use cuweld_ir::Module;
use cuweld_ir::Section;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::Symbol;
use cuweld_ir::table::EntityId;
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

/// Reports what cannot be linked exactly; an error if there is anything.
pub(super) fn refuse(module: &Module<'_>, cx: &mut PassCx<'_, '_>) -> Result<(), PassError> {
    let mut findings = Vec::new();
    if module.target.is_mercury() {
        mercury::refuse(module, cx.threads, &mut findings);
    }
    // What is odd about Mercury says more than what is odd about its SASS view.
    if findings.is_empty() {
        sections(module, &mut findings);
        relocs(module, &mut findings);
        attributes(module, &mut findings);
        names(module, &mut findings);
        functions(module, &mut findings);
    }
    if findings.is_empty() {
        return Ok(());
    }
    for finding in findings {
        cx.diagnostics.emit(finding);
    }
    Err(PassError::Diagnosed)
}

fn sections(module: &Module<'_>, findings: &mut Vec<Diagnostic>) {
    let mut seen = vec![0; module.functions.len()];
    let shared_aligns = symbols::shared_aligns(module);
    let with_symbols = LazyCell::new(|| symbols::with_symbols(module));
    for (id, section) in module.sections.iter() {
        let what = match section.kind {
            SectionKind::ReservedShared if section.size() != 0 && !with_symbols[id.index()] => {
                "variables in reserved shared memory"
            }
            // One without symbols is left out: the linker makes its own (measured).
            SectionKind::RelAction
                if section.name != b".nv.rel.action"
                    || module.target.is_mercury()
                    || with_symbols[id.index()] =>
            {
                "an object whose .nv.rel.action has another name or symbols"
            }
            SectionKind::Other if is_made_by_linker(section.name) => {
                "a section of another type than its name says"
            }
            SectionKind::FunctionConstants(_) | SectionKind::KernelShared
                if !is_only_one(&mut seen, section) =>
            {
                "two sections of one kind for a function"
            }
            SectionKind::FunctionConstants(bank)
                if !module.target.is_mercury() && !is_bank_of_owner(module, section, bank) =>
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
                if !shared_align_fits(section, shared_aligns[id.index()]) =>
            {
                "shared memory that is not aligned as its variables"
            }
            SectionKind::Text if section.owner.is_none() => "code that no function symbol names",
            SectionKind::Text if section.flags_with_barriers(0) & !shf::COMPRESSED & !7 != 0 => {
                "code with unusual section flags"
            }
            _ if !module.target.is_mercury() && has_foreign_bank(section) => {
                "a constant bank whose name is not that of its type"
            }
            SectionKind::ConstantBank(2) if !module.target.is_mercury() => {
                "a bank of compiler constants that is no function's"
            }
            SectionKind::Relocs | SectionKind::SassRelocs if !may_be_relocated(module, section) => {
                findings.push(
                    Diagnostic::fatal("Internal error: unexpected reloc section")
                        .note(located(module, id))
                        .at(section.object.index_u32(), 0),
                );
                continue;
            }
            _ if !module.target.is_mercury() && headers::is_odd(module, id) => {
                "a section header that no compiler writes"
            }
            _ => continue,
        };
        findings.push(refused(module, what, id));
    }
}

/// What is odd about a section.
fn refused(module: &Module<'_>, what: &str, section: SectionId) -> Diagnostic {
    Diagnostic::unsupported(what)
        .note(located(module, section))
        .at(module.sections[section].object.index_u32(), 0)
}

fn relocs(module: &Module<'_>, findings: &mut Vec<Diagnostic>) {
    let uses_partition = module.is_capmerc();
    for reloc in module.relocs.values() {
        let target = reloc.target.symbol().map(|symbol| &module.symbols[symbol]);
        let what = if target.is_some_and(|symbol| {
            symbols::is_in_reserved(module, symbol)
                && !(uses_partition && symbol.name == toolkit::TENSOR_MEMORY_PARTITION)
        }) {
            "a reference to reserved shared memory"
        } else if !module.target.is_mercury() && records::is_odd_frame(module, reloc) {
            "a frame that refers to something else than code and frames"
        } else {
            continue;
        };
        findings.push(refused(module, what, reloc.section));
    }
}

fn attributes(module: &Module<'_>, findings: &mut Vec<Diagnostic>) {
    if !module.target.is_mercury() {
        for id in records::incomplete_lists(module) {
            let what = "a function without records that every function has";
            findings.push(refused(module, what, id));
        }
    }
    if records::has_mask_beside_packed_lists(module) {
        let what = "sparse matrices beside packed lists of records";
        findings.push(Diagnostic::unsupported(what));
    }
    if module.target.is_mercury() {
        return;
    }
    for attribute in module.attributes.values() {
        if let Some(what) = records::attribute_oddity(module, attribute) {
            let finding = match attribute.section {
                Some(section) => refused(module, what, section),
                None => Diagnostic::unsupported(what),
            };
            findings.push(finding.note(format!("record {:#04x}", attribute.code)));
        }
    }
}

fn names(module: &Module<'_>, findings: &mut Vec<Diagnostic>) {
    let capmerc = module.is_capmerc();
    let mut refuse = |what: &str, symbol: &Symbol<'_>| {
        findings.push(
            Diagnostic::unsupported(what)
                .note(format!("'{}'", String::from_utf8_lossy(symbol.name)))
                .at(symbol.object.index_u32(), 0),
        );
    };
    let is_unmapped = |symbol: &Symbol<'_>| symbols::is_unmapped(module, symbol);
    for symbol in module.symbols.values() {
        if let Some(what) =
            symbols::oddity(module, symbol, capmerc).filter(|_| !is_unmapped(symbol))
        {
            refuse(what, symbol);
        }
    }
    for symbol in symbols::shadowed(module) {
        let what = "a kernel or texture with the name of a local symbol in another object";
        refuse(what, symbol);
    }
    for symbol in symbols::bound_without_type(module) {
        let what = "a symbol without a type, of a name that an object before has";
        refuse(what, symbol);
    }
    for symbol in module.symbols.values().filter(|symbol| is_unmapped(symbol)) {
        findings.push(
            Diagnostic::fatal("Internal error: section not mapped")
                .at(symbol.object.index_u32(), 0),
        );
    }
    findings.extend(symbols::call_graph_oddity(module).map(Diagnostic::unsupported));
}

fn functions(module: &Module<'_>, findings: &mut Vec<Diagnostic>) {
    let capmerc = module.is_capmerc();
    let mut has_parameters = vec![false; module.functions.len()];
    for section in module.sections.values() {
        if let (SectionKind::FunctionConstants(0), Some(owner)) = (section.kind, section.owner) {
            has_parameters[owner.index()] = true;
        }
    }
    for (id, function) in module.functions.iter() {
        if !module.target.is_mercury()
            && let Some(view) = function.views.merc
        {
            findings.push(refused(
                module,
                "Mercury in a link without Mercury",
                view.text,
            ));
        }
        let text = function.views.sass.text;
        let section = &module.sections[text];
        let owner = section.owner.map(|owner| module.functions[owner].symbol);
        if !capmerc && module.symbols[function.symbol].is_entry() != has_parameters[id.index()] {
            let what = "a kernel without parameter bank, or a bank without kernel";
            findings.push(refused(module, what, text));
        }
        if section.kind != SectionKind::Text || owner != Some(function.symbol) {
            findings.push(refused(module, "two functions in one section", text));
        }
    }
}

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
    let start = format!(".nv.constant{bank}.");
    let rest = section.name.strip_prefix(start.as_bytes());
    section
        .owner
        .is_some_and(|owner| rest == Some(module.function_name(owner)))
}

/// Whether the function that owns a section has no other one of its kind. `seen` has the kinds seen so far, a bit each, by function.
fn is_only_one(seen: &mut [u32], section: &Section<'_>) -> bool {
    // There are banks 0 to 17.
    let kind = match section.kind {
        SectionKind::FunctionConstants(bank) => 2 << bank,
        _ => 1,
    };
    section.owner.is_none_or(|owner| {
        let seen = &mut seen[owner.index()];
        let is_first = *seen & kind == 0;
        *seen |= kind;
        is_first
    })
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
