//! The device ELF form of the IR.
//!
//! - [`read`]: bytes to an [`ObjectPart`], the rows of objects.
//! - [`plan_object()`]: an object to a plan of itself.
//! - [`write()`]: a plan to bytes.

mod append;
pub mod encode;
pub mod layout;
mod part;
pub mod plan_object;
pub mod read;
mod read_error;
pub mod write;

pub use part::ObjectPart;
pub(crate) use plan_object::has_section_symbol;
pub use plan_object::plan_object;
pub use read::ObjectReader;
pub use read::read_object;
pub use read_error::ReadError;
pub use write::StreamError;
pub use write::WriteError;
pub use write::write;
pub use write::write_in_order;
