//! `callgraph-dce`: which functions the output keeps.
//!
//! Roots are the kernels that are kept and every function whose address is taken, even if only dead
//! code takes it; whatever they reach is live (`merge.md` section 7). Variables and constants always
//! stay. With `-g`, and for relocatable output, everything stays.
//!
//! A kernel is kept unless `-kernels-used` names others or host information says that no host code
//! references it (`inputs.md` section 5).
//!
//! Afterwards what is live and undefined is an error, unless the driver provides it.

use cuweld_ir::CallKind;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Liveness;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::Symbol;
use cuweld_ir::symbol::stb;
use cuweld_ir::symbol::stt;
use cuweld_ir::table::EntityId;
use cuweld_ir::target::toolkit;

use crate::analysis::Preserved;
use crate::classify::IndexU32;
use crate::diagnostic::Diagnostic;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;

/// The `callgraph-dce` pass.
pub struct CallgraphDce;

impl Pass for CallgraphDce {
    fn name(&self) -> &'static str {
        "callgraph-dce"
    }

    fn summary(&self) -> &'static str {
        "Keep the functions that kept kernels reach, and refuse undefined ones"
    }

    fn requires(&self) -> Phase {
        Phase::Resolved
    }

    fn establishes(&self) -> Option<Phase> {
        Some(Phase::Live)
    }

    fn preserves(&self) -> Preserved {
        Preserved::ALL
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        let everything = module.options.debug || module.options.relocatable;
        let mut roots = Vec::new();
        for (id, link) in module.link_symbols.iter() {
            let symbol = &module.symbols[link.first];
            if symbol.is_function() && (everything || is_root_kernel(module, id)) {
                roots.push(id);
            }
        }
        for (_, object) in module.included_objects() {
            for call in &module.calls[object.calls] {
                if call.kind == CallKind::AddressTaken
                    && let Some(symbol) = call.from.symbol()
                {
                    roots.extend(module.symbols[symbol].link);
                }
            }
        }
        let reached = cx.analyses.call_graph(module).reach(roots);
        let (mut kept, mut dropped) = (0, 0);
        for (index, reached) in reached.iter().take(module.link_symbols.len()).enumerate() {
            let id = LinkSymbolId::new(index);
            let link = module.link_symbols[id];
            let symbol = &module.symbols[link.first];
            let is_function = symbol.is_function();
            let is_kernel = symbol.is_entry();
            module.link_symbols[id].live = match (is_function, reached) {
                (false, _) | (_, true) => Liveness::Live,
                _ if is_kernel => Liveness::Unreferenced,
                _ => Liveness::Unreachable,
            };
            if is_function {
                *(if *reached { &mut kept } else { &mut dropped }) += 1;
            }
        }
        cx.statistics.add("functions kept", kept);
        cx.statistics.add("functions dropped", dropped);
        if !module.options.relocatable && report_undefined(module, cx) {
            return Err(PassError::Diagnosed);
        }
        Ok(Changed::Yes)
    }
}

/// Whether a link symbol is a defined kernel that is kept for its own sake.
fn is_root_kernel(module: &Module<'_>, id: LinkSymbolId) -> bool {
    let Some(definition) = module.link_symbols[id].definition else { return false };
    let symbol = &module.symbols[definition];
    if !symbol.is_entry() {
        return false;
    }
    let options = &module.options;
    if options.kernels_used.is_some() || options.variables_used.is_some() {
        // Giving only -variables-used leaves an empty list of kernels: all of them die.
        let names = options.kernels_used.as_deref().unwrap_or(&[]);
        return names.iter().any(|part| contains(symbol.name, part.as_bytes()));
    }
    let patterns = if symbol.bind == stb::LOCAL {
        &options.host_kernels_internal
    } else {
        &options.host_kernels_external
    };
    if options.host_kernels_external.is_none() && options.host_kernels_internal.is_none() {
        return true;
    }
    patterns.iter().flatten().any(|pattern| matches_pattern(pattern.as_bytes(), symbol.name))
}

fn contains(name: &[u8], part: &[u8]) -> bool {
    part.is_empty() || name.windows(part.len()).any(|window| window == part)
}

/// Whether a whole name matches a pattern in which `*` stands for any run of characters.
fn matches_pattern(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    // Where to go on after the last star: pattern place, and name place it has swallowed up to.
    let mut retry: Option<(usize, usize)> = None;
    while n < name.len() {
        if pattern.get(p) == Some(&b'*') {
            p += 1;
            retry = Some((p, n));
        } else if pattern.get(p) == Some(&name[n]) {
            p += 1;
            n += 1;
        } else if let Some((after_star, swallowed)) = retry {
            p = after_star;
            n = swallowed + 1;
            retry = Some((after_star, n));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

/// Whether an undefined symbol needs a definition.
fn needs_definition(symbol: &Symbol<'_>) -> bool {
    let name = symbol.name;
    match symbol.ty {
        _ if symbol.bind != stb::GLOBAL => false,
        stt::FUNC => !toolkit::is_system_function(name),
        stt::OBJECT | stt::CUDA_OBJECT => {
            !symbol.is_shared()
                && !toolkit::is_unified_table_symbol(name)
                && !toolkit::is_reserved_shared_symbol(name)
        }
        _ => false,
    }
}

/// Reports what is live and undefined, each name once with the places that refer to it.
fn report_undefined(module: &Module<'_>, cx: &mut PassCx<'_, '_>) -> bool {
    let mut found = false;
    for (id, link) in module.link_symbols.iter() {
        let symbol = &module.symbols[link.first];
        if link.definition.is_some() || !link.live.is_live() || !needs_definition(symbol) {
            continue;
        }
        found = true;
        let name = String::from_utf8_lossy(symbol.name);
        let file = module.objects[symbol.object].display();
        let mut diagnostic =
            Diagnostic::error(format!("Undefined reference to '{name}' in '{file}'"))
                .at(symbol.object.index_u32(), link.first.index_u32());
        for caller in callers(module, id, 4) {
            diagnostic = diagnostic.note(format!("referenced by {caller}"));
        }
        if let Some(library) = known_library(symbol.name) {
            diagnostic = diagnostic.help(format!("{library} defines it"));
        }
        cx.diagnostics.emit(diagnostic);
    }
    found
}

/// Up to `limit` functions and sections that refer to an undefined name.
fn callers(module: &Module<'_>, id: LinkSymbolId, limit: usize) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for reloc in module.relocs.values() {
        let Some(symbol) = reloc.target.symbol() else { continue };
        if module.symbols[symbol].link != Some(id) || !module.is_section_linked(reloc.section) {
            continue;
        }
        let section = &module.sections[reloc.section];
        let place = match section.owner {
            Some(function) => String::from_utf8_lossy(module.function_name(function)).into_owned(),
            None => String::from_utf8_lossy(section.name).into_owned(),
        };
        let place = format!("'{place}' in '{}'", module.objects[section.object].display());
        if !found.contains(&place) {
            found.push(place);
            if found.len() == limit {
                break;
            }
        }
    }
    found
}

/// The library that defines a well-known undefined name.
fn known_library(name: &[u8]) -> Option<&'static str> {
    if name.starts_with(b"cudaGetParameterBuffer")
        || name.starts_with(b"cudaLaunchDevice")
        || name.starts_with(b"__cudaCDP2")
        || name.starts_with(b"cudaDeviceSynchronize")
    {
        Some("the device runtime library (-lcudadevrt)")
    } else if name.starts_with(b"nvshmem") {
        Some("NVSHMEM's device library (-lnvshmem_device)")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::matches_pattern;

    #[test]
    fn stars_match_any_run() {
        for (pattern, name, expected) in [
            ("_Z1kPi", "_Z1kPi", true),
            ("_Z1k*", "_Z1kPi", true),
            ("_Z1k*", "_Z1k", true),
            ("*a*b", "xxaybzb", true),
            ("*a*b", "xxaybzbc", false),
            ("", "", true),
            ("", "a", false),
            ("a?c", "abc", false),
        ] {
            let matched = matches_pattern(pattern.as_bytes(), name.as_bytes());
            assert_eq!(matched, expected, "{pattern} {name}");
        }
    }
}
