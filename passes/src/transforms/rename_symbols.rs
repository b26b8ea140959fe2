//! `rename-symbols`: functions and variables get other names.
//!
//! Opt-in. Each entry of `names` is `old=new`: every symbol of that name in every object, defined
//! or not, gets the new name, and so do the sections of a function, whose names end with its name
//! (`.text.F`, `.nv.info.F`, `.nv.constant0.F`), and what host information says of it. Two names
//! may change places. Host code that registers a kernel or a variable has to be compiled with the
//! new name; names in debug information and in strings stay as they are. A name that nothing has is
//! a warning.
//!
//! Runs between `classify` and `symbol-resolve`. Refused: a new name that a symbol has already
//! which is not renamed itself, and one name given twice.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use cuweld_ir::Module;
use cuweld_ir::Phase;
use serde::Deserialize;

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
const OPTIONS: &[OptionInfo] = &[OptionInfo {
    name: "names",
    ty: OptionType::Strings,
    default: "[]",
    doc: "What is renamed, each as `old=new`.",
}];

const RENAMED: RemarkInfo = RemarkInfo {
    name: "renamed",
    doc: "A symbol has another name",
};

/// The `rename-symbols` pass.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RenameSymbols {
    names: Vec<String>,
}

impl Pass for RenameSymbols {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "rename-symbols",
            summary: "Give functions and variables other names",
            doc: include_str!("rename_symbols.rs"),
            options: OPTIONS,
            requires: Phase::Classified,
            before: Some(Phase::Resolved),
            remarks: &[RENAMED],
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        let names = match self.names(module) {
            Ok(names) => names,
            Err(what) => {
                opt_in::refuse(self, &what, cx)?;
                return Ok(Changed::No);
            }
        };
        // Sections first: their names end with the old name of their function.
        let sections: Vec<_> = module
            .sections
            .iter()
            .filter_map(|(id, section)| {
                let old = module.function_name(section.owner?);
                let stem = section.name.strip_suffix(old)?;
                let new = names.get(old)?;
                stem.ends_with(b".").then(|| (id, [stem, *new].concat()))
            })
            .collect();
        for (id, name) in sections {
            module.sections[id].name = cx.arena.bytes(&name);
            cx.statistics.add("sections", 1);
        }
        let mut unknown: BTreeSet<&[u8]> = names.keys().copied().collect();
        for id in module.symbols.ids() {
            let symbol = &mut module.symbols[id];
            if let Some((old, new)) = names.get_key_value(symbol.name) {
                unknown.remove(old);
                symbol.name = cx.arena.bytes(new);
                cx.remarks.emit(|| {
                    let old = String::from_utf8_lossy(old).into_owned();
                    Remark::about(&RENAMED, id)
                        .words(" was named '")
                        .argument("old", old)
                        .words("'")
                });
                cx.statistics.add("symbols", 1);
            }
        }
        let options = &mut module.options;
        let host_names = [
            &mut options.host.kernels_external,
            &mut options.host.kernels_internal,
            &mut options.host.variables_external,
            &mut options.host.variables_internal,
        ];
        for name in host_names.into_iter().flatten().flatten() {
            if let Some(new) = names.get(name.as_bytes()) {
                *name = String::from_utf8_lossy(new).into_owned();
            }
        }
        let changed = unknown.len() < names.len();
        let unknown = unknown
            .iter()
            .filter_map(|name| std::str::from_utf8(name).ok());
        opt_in::warn_of_unknown(self, unknown.collect(), cx);
        Ok(Changed::from(changed))
    }
}

impl RenameSymbols {
    /// Returns the old and new names, or a description of what is wrong with them.
    fn names(&self, module: &Module<'_>) -> Result<BTreeMap<&[u8], &[u8]>, String> {
        let mut names: BTreeMap<&[u8], &[u8]> = BTreeMap::new();
        let mut taken: BTreeSet<&[u8]> = BTreeSet::new();
        for entry in &self.names {
            let (old, new) = match entry.split_once('=') {
                Some((old, new)) if !old.is_empty() && !new.is_empty() => (old, new),
                _ => return Err(format!("'{entry}' is not of the form old=new")),
            };
            if names.insert(old.as_bytes(), new.as_bytes()).is_some() {
                return Err(format!("'{old}' would get two names"));
            }
            if !taken.insert(new.as_bytes()) {
                return Err(format!("two names would become '{new}'"));
            }
        }
        let clash = module
            .symbols
            .values()
            .find(|symbol| taken.contains(symbol.name) && !names.contains_key(symbol.name));
        match clash {
            Some(symbol) => Err(format!(
                "there is a symbol '{}' already",
                String::from_utf8_lossy(symbol.name)
            )),
            None => Ok(names),
        }
    }
}
