//! `internalize`: functions that no other link is to see become local symbols.
//!
//! Opt-in. Every defined function that is no kernel and whose name matches no pattern of `keep` is
//! local in the output, whatever its objects say; with `variables`, variables in global and
//! constant memory too, but for those that host code is known to name. In relocatable output (`-r`)
//! such names meet nothing in a later link: two libraries can each have a `helper`. In executables
//! only the symbol table changes, so that `cuweld diff` and profilers tell what is private.
//!
//! Runs between `symbol-resolve` and `layout-output`. Weak functions lose their other copies in a
//! later link; textures, samplers, surfaces, shared and tentative variables keep their binding.
//!
//! Refused: objects with Mercury; `variables` without `keep` where nothing says which ones host
//! code names.

use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolPlace;
use serde::Deserialize;

use crate::analyses::host_names::HostNames;
use crate::analyses::name_patterns::NamePatterns;
use crate::options::OptionInfo;
use crate::options::OptionType;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::PassInfo;
use crate::remark::Remark;
use crate::remark::RemarkInfo;
use crate::transforms::opt_in;

/// What is known of the options.
const OPTIONS: &[OptionInfo] = &[
    OptionInfo {
        name: "keep",
        ty: OptionType::Strings,
        default: "[]",
        doc: "Names that stay visible; `*` stands for any run of characters.",
    },
    OptionInfo {
        name: "variables",
        ty: OptionType::Bool,
        default: "false",
        doc: "Variables, too.",
    },
];

const INTERNAL: RemarkInfo = RemarkInfo {
    name: "internal",
    doc: "A function or variable becomes a local symbol",
};

/// The `internalize` pass.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Internalize {
    keep: Vec<String>,
    variables: bool,
}

impl Pass for Internalize {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "internalize",
            summary: "Make functions that are no kernels local symbols",
            doc: include_str!("internalize.rs"),
            options: OPTIONS,
            requires: Phase::Resolved,
            before: Some(Phase::LaidOut),
            refuses: &["mercury"],
            remarks: &[INTERNAL],
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        let host = HostNames::variables(&module.options);
        if self.variables && matches!(host, HostNames::All) && self.keep.is_empty() {
            let what = "variables without 'keep', where nothing says which ones host code names";
            opt_in::refuse(self, what, cx)?;
        }
        let keep = NamePatterns::new(&self.keep);
        let internal: Vec<LinkSymbolId> = module
            .link_symbols
            .iter()
            .filter(|(id, row)| {
                !row.internal
                    && !keep.match_name(module.link_name(*id))
                    && self.may_be_local(module, *id, &host)
            })
            .map(|(id, _)| id)
            .collect();
        for id in &internal {
            module.link_symbols[*id].internal = true;
            cx.remarks.emit(|| {
                Remark::about(&INTERNAL, *id)
                    .words(" becomes local: no pattern of 'keep' names it, and no host code does")
            });
        }
        cx.statistics.add("symbols", internal.len() as u64);
        Ok(Changed::from(!internal.is_empty()))
    }
}

impl Internalize {
    fn may_be_local(&self, module: &Module<'_>, link: LinkSymbolId, host: &HostNames<'_>) -> bool {
        let Some(definition) = module.link_symbols[link].definition else {
            return false;
        };
        let symbol = &module.symbols[definition];
        if symbol.is_local() || symbol.ty.is_header() {
            return false;
        }
        if symbol.is_function() {
            return !symbol.is_entry();
        }
        let SymbolPlace::Section(section) = symbol.place else {
            return false;
        };
        let in_memory = matches!(
            module.sections[section].kind,
            SectionKind::Global | SectionKind::GlobalInit | SectionKind::ConstantBank(_)
        );
        // Without host information `keep` names what host code does.
        let named = !matches!(host, HostNames::All) && host.hold(symbol);
        self.variables && in_memory && !named
    }
}
