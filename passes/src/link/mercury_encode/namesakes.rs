//! Local functions that are not the first of their name in their object, which only `-r` makes.
//!
//! nvlink finds the options of the compiler and the attributes of code by the name of their
//! section [section-found-by-name]: it schedules such a function as the first one was compiled, and
//! takes the places of instructions from it.

use cuweld_elf::target::attributes;
use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::detector::is_unoptimised;

/// The functions that are not the first of their name in their object.
pub(super) struct Namesakes {
    /// The first of each one's name.
    first: HashMap<FunctionId, FunctionId, FixedState>,
}

impl Namesakes {
    pub(super) fn new(module: &Module<'_>) -> Self {
        let mut first = HashMap::default();
        let mut by_name: HashMap<&[u8], FunctionId, FixedState> = HashMap::default();
        for (_, object) in module.included_objects() {
            by_name.clear();
            for function in object.functions.iter() {
                let named = by_name.entry(module.function_name(function));
                let named = *named.or_insert(function);
                if named != function {
                    first.insert(function, named);
                }
            }
        }
        Namesakes { first }
    }

    /// Returns the change that nvlink makes to a function because of the first of its name.
    pub(super) fn change(
        &self,
        module: &Module<'_>,
        function: FunctionId,
    ) -> Option<(&'static str, &'static str)> {
        let first = *self.first.get(&function)?;
        match (
            is_unoptimised(module, first),
            is_unoptimised(module, function),
        ) {
            (true, false) => Some((
                "schedule anew",
                "an earlier function of its name was compiled without optimisation",
            )),
            (false, true) => Some((
                "schedule anew",
                "an earlier function of its name was compiled with optimisation",
            )),
            _ if names_instructions(module, function) && !same_code(module, first, function) => {
                Some((
                    "describe by attributes of another function",
                    "an earlier function of its name has other instructions",
                ))
            }
            _ => None,
        }
    }
}

/// Returns `true` if attributes of a function hold places of instructions.
fn names_instructions(module: &Module<'_>, function: FunctionId) -> bool {
    let list = module.functions[function].views.sass.info;
    let mut records = list
        .into_iter()
        .flat_map(|list| &module.attributes[module.sections[list].attributes]);
    records.any(|record| attributes::holds_places(record.code))
}

/// Returns `true` if two functions have the same code.
fn same_code(module: &Module<'_>, a: FunctionId, b: FunctionId) -> bool {
    let code = |function: FunctionId| {
        let text = module.functions[function].views.sass.text;
        module.sections[text].bytes()
    };
    code(a) == code(b)
}
