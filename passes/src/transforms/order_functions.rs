//! `order-functions`: the code of functions stands in the output in a given order.
//!
//! Opt-in. The functions that `functions` names come first, in that order; all others stay after
//! them in nvlink's order. Only the order of the `.text` sections changes, with their offsets and
//! numbers: calls, symbols and relocations do not. What is used together can so share pages and
//! cache lines of instructions. A name that no function has is a warning, for an order may be that
//! of a larger program.
//!
//! Runs between `symbol-resolve` and `layout-output`. Refused: objects with Mercury, and names
//! given twice.

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
use crate::remark::Remarks;
use crate::transforms::opt_in;

/// What is known of the options.
pub const OPTIONS: &[OptionInfo] = &[OptionInfo {
    name: "functions",
    ty: OptionType::Strings,
    default: "[]",
    doc: "Names of functions, first to last.",
}];

const ORDERED: RemarkInfo = RemarkInfo {
    name: "ordered",
    doc: "A function has a place in the given order",
};

/// The `order-functions` pass.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OrderFunctions {
    /// Names of functions, first to last.
    pub functions: Vec<String>,
}

impl Pass for OrderFunctions {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "order-functions",
            summary: "Put the code of functions into a given order",
            doc: include_str!("order_functions.rs"),
            options: OPTIONS,
            requires: Phase::Resolved,
            before: Some(Phase::LaidOut),
            refuses: &["mercury"],
            remarks: &[ORDERED],
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        let mut places: BTreeMap<&[u8], u32> = BTreeMap::new();
        for (place, name) in (0..).zip(&self.functions) {
            if places.insert(name.as_bytes(), place).is_some() {
                opt_in::refuse(self, &format!("'{name}' has two places"), cx)?;
            }
        }
        let mut unknown: BTreeSet<&str> = places
            .keys()
            .filter_map(|name| std::str::from_utf8(name).ok())
            .collect();
        let mut ordered = 0;
        for link in module.link_symbols.values_mut() {
            let symbol = &module.symbols[link.first];
            link.order = match places.get(symbol.name) {
                Some(place) if symbol.is_function() => Some(*place),
                _ => None,
            };
            if link.order.is_some() {
                ordered += 1;
                if let Ok(name) = std::str::from_utf8(symbol.name) {
                    unknown.remove(name);
                }
            }
        }
        opt_in::warn_of_unknown(self, unknown, cx);
        cx.statistics.add("functions", ordered);
        Ok(Changed::from(ordered != 0))
    }

    fn remarks(&self, module: &Module<'_>, remarks: &mut Remarks) {
        for (id, link) in module.link_symbols.iter() {
            if let Some(place) = link.order {
                remarks.emit(|| {
                    Remark::about(&ORDERED, id)
                        .words(" has place ")
                        .argument("place", place)
                        .words(" of the order that was given")
                });
            }
        }
    }
}
