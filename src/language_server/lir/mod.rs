//! Documents that are modules in text form.

mod check;
pub mod completion;
pub mod hover;
pub mod navigation;
pub mod row;

pub use check::check;
