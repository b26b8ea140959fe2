//! What became of functions: looked up once, as rows of functions, symbols, link symbols and
//! sections are far from each other.

use cuweld_ir::Fate;
use cuweld_ir::Function;
use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::SectionContent;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::threads::Threads;
use crate::threads::Work;

/// Room for sections that are not those of functions.
const OTHER_SECTIONS: usize = 32;

/// What became of a function.
#[derive(Clone, Copy)]
pub(super) struct Outcome {
    /// What its symbol stands for.
    pub(super) link: Option<LinkSymbolId>,
    /// Whether that is kept.
    pub(super) is_live: bool,
    /// Whether the copy was taken into the link at its turn, be it replaced or found dead since.
    pub(super) came_in: bool,
    /// Whether the copy is linked.
    pub(super) is_linked: bool,
    /// Whether its list of attributes has its section.
    pub(super) has_info: bool,
}

/// What became of all functions.
#[derive(Default)]
pub(super) struct Outcomes {
    rows: Vec<Outcome>,
    /// How many kernels came in and are kept.
    kernels: usize,
    /// How many other functions.
    others: usize,
    /// Whether one that came in is not kept.
    pub(super) any_dead: bool,
    /// Whether code that is linked has no bytes in its file (type NOBITS).
    pub(super) has_code_without_bytes: bool,
    /// The largest alignment in bytes of the code of copies that another replaced, which stays that
    /// of the section [replaced-alignment].
    pub(super) replaced_align: HashMap<LinkSymbolId, u64, FixedState>,
}

impl Outcomes {
    /// Returns the outcomes of all functions.
    pub(super) fn of(module: &Module<'_>, threads: &Threads) -> Self {
        let functions = module.functions.values().as_slice();
        let part = |functions: &[Function]| Outcomes::of_part(module, functions);
        let parts = threads.map_chunks(Work::Rows(functions.len()), functions, part);
        let mut parts = parts.into_iter();
        let mut all = parts.next().unwrap_or_default();
        all.rows.reserve_exact(functions.len() - all.rows.len());
        for part in parts {
            all.rows.extend(part.rows);
            all.kernels += part.kernels;
            all.others += part.others;
            all.any_dead |= part.any_dead;
            all.has_code_without_bytes |= part.has_code_without_bytes;
        }
        for (replaced, _) in module.replaced_functions() {
            if let Some(link) = all.get(replaced).link {
                let text = functions[replaced.index()].views.sass.text;
                let largest = all.replaced_align.entry(link).or_default();
                *largest = module.sections[text].align.max(*largest);
            }
        }
        all
    }

    fn of_part(module: &Module<'_>, functions: &[Function]) -> Self {
        let mut outcomes = Outcomes {
            rows: Vec::with_capacity(functions.len()),
            ..Outcomes::default()
        };
        for row in functions {
            let symbol = &module.symbols[row.symbol];
            let link = symbol.link;
            let is_live = link.is_some_and(|link| module.link_symbols[link].live.is_live());
            let outcome = Outcome {
                link,
                is_live,
                came_in: row.fate.ever_prevailed(),
                is_linked: is_live && row.fate == Fate::Prevailing,
                has_info: false,
            };
            if outcome.came_in && is_live {
                match symbol.is_entry() {
                    true => outcomes.kernels += 1,
                    false => outcomes.others += 1,
                }
            }
            outcomes.any_dead |= outcome.came_in && !is_live;
            let text = row.views.sass.text;
            if matches!(module.sections[text].content, SectionContent::NoBits(1..)) {
                outcomes.has_code_without_bytes |= module.is_section_linked(text);
            }
            outcomes.rows.push(outcome);
        }
        outcomes
    }

    /// Returns an estimate of the number of sections: of code, attributes, constants, shared memory
    /// and relocations of the functions that are kept, and a few others.
    pub(super) fn sections(&self) -> usize {
        5 * self.kernels + 4 * self.others + OTHER_SECTIONS
    }

    /// Returns an estimate of the number of section names, including those of sections that are not
    /// made.
    pub(super) fn section_names(&self) -> usize {
        6 * self.kernels + 4 * self.others + OTHER_SECTIONS
    }

    /// Returns the outcome for a function.
    pub(super) fn get(&self, function: FunctionId) -> Outcome {
        self.rows[function.index()]
    }

    /// Notes that the function's attribute list has its section.
    pub(super) fn has_info(&mut self, function: FunctionId) {
        self.rows[function.index()].has_info = true;
    }
}
