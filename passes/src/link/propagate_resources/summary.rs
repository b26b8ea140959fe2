//! What a set of functions needs.

use std::hash::Hash;

use cuweld_elf::target::attributes as code;
use cuweld_ir::LinkSymbolId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// Codes that a kernel gets from device functions, each appended where it is first seen.
/// EXTERNS count even if the output keeps none of the list [first-sight-order].
pub const FIRST_SIGHT_CODES: [u8; 12] = [
    code::CTAIDZ_USED,
    code::RESERVED_SMEM_USED,
    code::VRC_CTA_INIT_COUNT,
    code::TCGEN05_1CTA_USED,
    code::TCGEN05_2CTA_USED,
    code::NUM_BARRIERS,
    code::REG_RECONFIG,
    code::NUM_MBARRIERS,
    code::EXTERNS,
    code::AT_ENTRY_FRAGMENTS,
    code::LANGUAGE,
    code::MULTIMEM_USED,
];

/// What the functions of a link have together.
#[derive(Clone, Debug, Default)]
pub struct LinkSummary {
    /// NUM_MBARRIERS of each device function that has it.
    pub mbarriers: Vec<u16>,
    /// Whether any function of the link has SPARSE_MMA_MASK.
    pub any_sparse_mma: bool,
    /// All externs that the output keeps, with their places; they repeat.
    pub(super) externs: Vec<(u64, LinkSymbolId)>,
}

/// What is needed by a set of functions.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Largest register count.
    pub registers: u32,
    /// Deepest call-return stack in bytes; `None` with recursion.
    pub crs: Option<u32>,
    /// Deepest stack in bytes; `None` with recursion.
    pub stack: Option<u32>,
    /// Largest SAM_REGION_STACK_SIZE.
    pub region_stack: Option<u32>,
    /// Union of the sparse MMA masks.
    pub sparse_mma: u16,
    /// Whether some load asks for caching.
    pub explicit_caching: bool,
    /// Largest barrier count in section flags of device functions.
    pub flag_barriers: u8,
    /// Whether any place in `first_sight` is one. What is below is as at the beginning without.
    pub sees: bool,
    /// Per code of [`FIRST_SIGHT_CODES`], the place of the first record in the order of device
    /// functions, or [`NEVER`].
    pub first_sight: [u32; FIRST_SIGHT_CODES.len()],
    /// Largest NUM_BARRIERS.
    pub barriers: u8,
    /// Largest VRC_CTA_INIT_COUNT.
    pub cta_init_count: u8,
    /// Union of MULTIMEM_USED [multimem-of-callees].
    pub multimem: u16,
    /// Place and value of the last REG_RECONFIG.
    pub reg_reconfig: Option<(u32, u16)>,
    /// What few functions have.
    lists: Option<Box<Lists>>,
}

/// What is listed. Records have places in the order of device functions, and so have their values.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    /// Externs of device functions with their first places, in order: functions that the driver
    /// provides, and kernels that device code launches. No others stay undefined in an executable,
    /// so that these lists are short.
    pub(super) externs: Vec<(u64, LinkSymbolId)>,
    /// Words of AT_ENTRY_FRAGMENTS with their first places, in order.
    pub(super) fragments: Vec<(u64, u32)>,
    /// Words of LANGUAGE with their first places, in order [languages-of-callees].
    pub(super) languages: Vec<(u64, u32)>,
    /// Bits of the functions in [`LinkSummary::mbarriers`] that are reached.
    pub(super) mbarrier_bits: Vec<u64>,
}

/// The mask of a function without one, in a link where others have it.
pub const NO_SPARSE_MMA_MASK: u16 = 0x8000;

/// The place of what is not seen.
pub const NEVER: u32 = u32::MAX;

impl Default for Summary {
    /// Returns the needs of a node without records.
    fn default() -> Self {
        Summary {
            registers: 0,
            crs: Some(0),
            stack: Some(0),
            region_stack: None,
            sparse_mma: 0,
            explicit_caching: false,
            flag_barriers: 0,
            sees: false,
            first_sight: [NEVER; FIRST_SIGHT_CODES.len()],
            barriers: 0,
            cta_init_count: 0,
            multimem: 0,
            reg_reconfig: None,
            lists: None,
        }
    }
}

impl Summary {
    /// Returns the externs of device functions, in the order of their first places.
    pub fn externs(&self) -> impl Iterator<Item = LinkSymbolId> {
        let lists = self.lists.as_deref();
        let externs = lists.map_or(&[][..], |lists| &lists.externs);
        externs.iter().map(|(_, link)| *link)
    }

    /// Returns the words of AT_ENTRY_FRAGMENTS or LANGUAGE, in the order of their first places.
    pub fn words(&self, code: u8) -> impl Iterator<Item = u32> + Clone {
        let lists = self.lists.as_deref();
        let words = lists.map_or(&[][..], |lists| match code {
            code::LANGUAGE => &lists.languages,
            _ => &lists.fragments,
        });
        words.iter().map(|(_, word)| *word)
    }

    pub(super) fn lists_mut(&mut self) -> &mut Lists {
        self.lists.get_or_insert_default()
    }

    /// Returns the sum of NUM_MBARRIERS over the functions that are reached, each once.
    pub fn mbarriers(&self, link: &LinkSummary) -> u16 {
        let set = |index: usize| {
            let lists = self.lists.as_deref();
            let word = lists.and_then(|lists| lists.mbarrier_bits.get(index / 64));
            word.is_some_and(|word| word >> (index % 64) & 1 != 0)
        };
        link.mbarriers
            .iter()
            .enumerate()
            .filter(|(index, _)| set(*index))
            .fold(0, |sum, (_, value)| add_mbarriers(sum, *value))
    }

    /// Adds what callees need, but for the path sums.
    pub(super) fn merge(&mut self, other: &Summary) {
        self.registers = self.registers.max(other.registers);
        self.region_stack = self.region_stack.max(other.region_stack);
        self.sparse_mma |= other.sparse_mma;
        self.explicit_caching |= other.explicit_caching;
        self.flag_barriers = self.flag_barriers.max(other.flag_barriers);
        if !other.sees {
            return;
        }
        self.sees = true;
        for (mine, theirs) in self.first_sight.iter_mut().zip(&other.first_sight) {
            *mine = (*mine).min(*theirs);
        }
        self.barriers = self.barriers.max(other.barriers);
        self.cta_init_count = self.cta_init_count.max(other.cta_init_count);
        self.multimem |= other.multimem;
        self.reg_reconfig = self.reg_reconfig.max(other.reg_reconfig);
        if let Some(theirs) = &other.lists {
            let mine = self.lists_mut();
            merge_places(&mut mine.externs, &theirs.externs);
            merge_places(&mut mine.fragments, &theirs.fragments);
            merge_places(&mut mine.languages, &theirs.languages);
            if mine.mbarrier_bits.len() < theirs.mbarrier_bits.len() {
                mine.mbarrier_bits.resize(theirs.mbarrier_bits.len(), 0);
            }
            for (mine, theirs) in mine.mbarrier_bits.iter_mut().zip(&theirs.mbarrier_bits) {
                *mine |= theirs;
            }
        }
    }
}

/// Returns the sum of two values of NUM_MBARRIERS, where 0xffff means that the number is not known.
pub fn add_mbarriers(a: u16, b: u16) -> u16 {
    match (a, b) {
        (u16::MAX, _) | (_, u16::MAX) => u16::MAX,
        _ => a.wrapping_add(b),
    }
}

/// So few values are looked up without a table.
const SHORT: usize = 8;

/// Merges two lists in order of place, keeping the first place of each value.
pub(super) fn merge_places<T: Copy + Eq + Hash>(mine: &mut Vec<(u64, T)>, theirs: &[(u64, T)]) {
    if theirs.is_empty() {
        return;
    }
    let mut changed = false;
    let is_long = theirs.len() > SHORT;
    let mut table: HashMap<T, usize, FixedState> = HashMap::default();
    if is_long {
        for (index, (_, value)) in mine.iter().enumerate() {
            table.entry(*value).or_insert(index);
        }
    }
    for &(place, value) in theirs {
        let found = match is_long {
            true => table.get(&value).copied(),
            false => mine.iter().position(|(_, known)| *known == value),
        };
        match found.and_then(|index| mine.get_mut(index)) {
            Some((known, _)) if *known <= place => {}
            Some((known, _)) => {
                *known = place;
                changed = true;
            }
            None => {
                if is_long {
                    table.insert(value, mine.len());
                }
                mine.push((place, value));
                changed = true;
            }
        }
    }
    if changed {
        mine.sort_unstable_by_key(|(place, _)| *place);
    }
}
