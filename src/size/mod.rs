//! How large device code is, and what of it: `cuweld size`.
//!
//! ```text
//! files ──inspect──▶ images ──divide──▶ parts ──label by sources──▶ tree of rows ──▶ text, JSON, CSV
//!                                         ▲
//!                              link maps ─┘
//! ```
//!
//! Every byte of an image belongs to exactly one part, so that the parts of an image add up to its
//! size whatever they are grouped by. Sizes are those of device code after unpacking; host code and
//! what wraps device code do not count. The words and the form of the output are those of bloaty.

mod collect;
mod divide;
mod object_map;
mod part;
mod rows;
mod source;
pub mod text;

pub use collect::Image;
pub use collect::ImageKind;
pub use collect::Packaging;
pub use collect::collect;
pub use divide::divide;
pub use object_map::ObjectMap;
pub use object_map::ObjectMapError;
pub use part::Part;
pub use part::Place;
pub use rows::Needs;
pub use rows::Options;
pub use rows::Row;
pub use rows::SCHEMA;
pub use rows::SCHEMA_VERSION;
pub use rows::SizeReport;
pub use rows::Sizes;
pub use source::Labels;
pub use source::NoMap;
pub use source::Source;
