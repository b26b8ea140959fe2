//! `callgraph-dce`: which functions the output keeps.
//!
//! Whatever the kept kernels reach through direct and indirect calls is live. A function whose address
//! is taken stays as well, even if only dead code takes it, but what it calls stays only if a kernel
//! reaches that too, or if it has no definition (measured, `DEVICE-ELF.md`). Variables and constants always stay. With `-g`, and
//! for relocatable output, everything stays.
//!
//! A kernel is kept unless `-kernels-used` names others or host information says that no host code
//! references it (`inputs.md` section 5).

use cuweld_ir::CallKind;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Liveness;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::SymbolRef;
use cuweld_ir::symbol::stb;
use cuweld_ir::table::EntityId;

use crate::analysis::Preserved;
use crate::analysis::counting_calls;
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
        "Keep the functions that kept kernels reach"
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
        let mut reached = cx.analyses.call_graph(module).reach(roots);
        let calls = counting_calls(module);
        let link = |symbol: SymbolRef| module.symbols[symbol.symbol()?].link;
        for call in &calls {
            if call.kind == CallKind::AddressTaken
                && let Some(taken) = link(call.from)
            {
                reached[taken.index()] = true;
            }
        }
        for call in &calls {
            if call.kind == CallKind::Direct
                && let (Some(caller), Some(callee)) = (link(call.from), link(call.to))
                && module.link_symbols[callee].definition.is_none()
            {
                reached[callee.index()] |= reached[caller.index()];
            }
        }
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
        Ok(Changed::Yes)
    }
}

/// Whether a link symbol is a defined kernel that is kept for its own sake.
fn is_root_kernel(module: &Module<'_>, id: LinkSymbolId) -> bool {
    let Some(definition) = module.link_symbols[id].definition else {
        return false;
    };
    let symbol = &module.symbols[definition];
    if !symbol.is_entry() {
        return false;
    }
    let options = &module.options;
    if options.kernels_used.is_some() || options.variables_used.is_some() {
        // Giving only -variables-used leaves an empty list of kernels: all of them die.
        let names = options.kernels_used.as_deref().unwrap_or(&[]);
        return names
            .iter()
            .any(|part| contains(symbol.name, part.as_bytes()));
    }
    let patterns = if symbol.bind == stb::LOCAL {
        &options.host_kernels_internal
    } else {
        &options.host_kernels_external
    };
    if options.host_kernels_external.is_none() && options.host_kernels_internal.is_none() {
        return true;
    }
    patterns
        .iter()
        .flatten()
        .any(|pattern| matches_pattern(pattern.as_bytes(), symbol.name))
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
