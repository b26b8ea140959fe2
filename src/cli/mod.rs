//! Command lines: `cuweld nvlink` (and any program name that ends in `nvlink`) is the compatible
//! one, everything else is ours.

pub mod diff;
pub mod inspect;
pub mod native;
pub mod nvlink;
pub mod opt;
pub mod pipeline_args;
pub mod toolkit;
