//! Passes that refuse a link or prove it sound, and the limits that they ask about.

pub(crate) mod check_limits;
pub mod check_link;
pub mod check_objects;
pub(crate) mod check_undefined;
mod cta_granularity;
pub mod finalizer;
mod large_parameters;
pub(crate) mod register_limit;
pub(crate) mod reserved_use;
pub mod self_check;
mod stack_limit;
