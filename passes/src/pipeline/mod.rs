//! Pipelines: which passes a link runs, in which order.
//!
//! A [`Pipeline`] is what a file ([`toml_form`]) or a command line ([`text_form`]) says: steps that
//! name passes or include other pipelines, with options and conditions. [`resolve()`] turns it into
//! passes ready to run and refuses everything that is wrong with it before any input is read:
//! names, options, conditions, cycles of includes, an order in which a pass comes before the phase
//! that it requires or after the one before which it has to run, a pass that is missing, and a
//! pipeline or a pass that is for other links.

mod error;
mod expand;
mod model;
mod phases;
mod resolve;
mod source;
pub mod text_form;
pub mod toml_form;

pub use crate::facts::FactInfo;
pub use crate::facts::Facts;
pub use error::PipelineError;
pub use error::PipelineErrorKind;
pub use model::Action;
pub use model::Anchor;
pub use model::Condition;
pub use model::Pipeline;
pub use model::Place;
pub use model::Setting;
pub use model::Side;
pub use model::Source;
pub use model::Step;
pub use phases::LeftOut;
pub use phases::PhaseError;
pub use phases::Provider;
pub(crate) use phases::Walls;
pub(crate) use phases::check_step;
pub use resolve::Resolved;
pub use resolve::ResolvedStep;
pub use resolve::resolve;
pub(crate) use resolve::writes_link;
pub use source::Embedded;
pub use source::PipelineSource;

#[cfg(test)]
mod tests;
