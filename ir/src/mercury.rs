//! The Mercury view of objects for sm_100 and later.
//!
//! Such an object holds its code twice: as SASS in the usual sections, and as what turns the SASS back
//! into Mercury, NVIDIA's own intermediate form (`.nv.capmerc.text.F`). Attributes, relocations and debug
//! sections exist once for each view, constants and data have one contents with two names. nvlink
//! merges the Mercury view, under the names of [`view_name`], and derives the SASS view from the result.

pub mod capmerc;
pub mod frames;
pub mod relocs;
pub mod sass;

use crate::section::Section;
use crate::target::section_types::shf;
use crate::target::section_types::sht;

/// What precedes the names of the Mercury view in files.
pub const PREFIX: &[u8] = b".nv.merc";

/// The name of bank 3 in the Mercury view.
pub const CONSTANT_USER: &[u8] = b".nv.constant.user";

/// The name that a section has while the Mercury view is linked: without `.nv.merc`, and with the
/// Mercury name of bank 3.
pub fn view_name<'data>(section: &Section<'data>) -> &'data [u8] {
    if section.ty == sht::CUDA_CONSTANT0 + 3 && section.name == b".nv.constant3" {
        return CONSTANT_USER;
    }
    if section.flags & shf::MERCURY == 0 {
        return section.name;
    }
    match section.name.strip_prefix(PREFIX) {
        Some(rest) if rest.starts_with(b".") => rest,
        _ => section.name,
    }
}
