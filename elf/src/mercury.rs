//! The Mercury view of objects for sm_100 and later.
//!
//! Such an object holds its code twice: as SASS in the usual sections, and as what turns the SASS
//! back into Mercury, NVIDIA's own intermediate form (`.nv.capmerc.text.F`). Attributes,
//! relocations and debug sections exist once for each view, constants and data have one contents
//! with two names. nvlink merges the Mercury view, under the names that
//! `cuweld_ir::section::view_name` gives, and derives the SASS view from the result.

pub mod capmerc;
pub mod edit;
pub mod fast_path;
pub mod frames;
pub mod lines;
pub mod offsets;
pub mod records;
pub mod register_ranges;
pub mod relocs;

use crate::target::section_types::sht;

/// What precedes the names of the Mercury view in files.
pub const PREFIX: &[u8] = b".nv.merc";

/// A constant bank that has another name in the Mercury view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bank {
    /// Its number.
    pub number: u8,
    /// Its name, without that of a function.
    pub name: &'static [u8],
    /// Its name in the SASS view.
    pub sass: &'static [u8],
    /// The type of its section in the Mercury view of a file.
    pub ty: u32,
}

/// The banks that have another name.
pub const BANKS: [Bank; 3] = [
    Bank {
        number: 2,
        name: b".nv.constant.optimizer",
        sass: b".nv.constant2",
        ty: sht::CUDA_MERCURY_CONSTANT_OPTIMIZER,
    },
    Bank {
        number: 3,
        name: b".nv.constant.user",
        sass: b".nv.constant3",
        ty: sht::CUDA_MERCURY_CONSTANT_USER,
    },
    Bank {
        number: 4,
        name: b".nv.constant.pic",
        sass: b".nv.constant4",
        ty: sht::CUDA_MERCURY_CONSTANT_PIC,
    },
];

/// The slots of textures, samplers and surfaces of a kernel, which are part of constant bank 0 in
/// the SASS view.
pub const HEADER_INDICES: Bank = Bank {
    number: 0,
    name: b".nv.constant.entry_image_header_indices",
    sass: b".nv.constant0",
    ty: sht::CUDA_MERCURY_HEADER_INDICES,
};

impl Bank {
    /// Returns the bank with this number.
    pub fn numbered(number: u8) -> Option<Bank> {
        BANKS.into_iter().find(|bank| bank.number == number)
    }

    /// Returns the bank of a name of the Mercury view, and what stands after it: nothing, or a dot
    /// and a function.
    pub fn of_name(name: &[u8]) -> Option<(Bank, &[u8])> {
        // Most names are of other sections.
        if !name.starts_with(b".nv.constant.") {
            return None;
        }
        let mut banks = BANKS.into_iter().chain([HEADER_INDICES]);
        banks.find_map(|bank| {
            let rest = name.strip_prefix(bank.name)?;
            (rest.is_empty() || rest.starts_with(b".")).then_some((bank, rest))
        })
    }
}
