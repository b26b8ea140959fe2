//! The device ELF form of the IR.
//!
//! - [`class32`]: ELF32 files in the form of ELF64 ones.
//! - [`raw`]: the file's records, as zero-copy views.
//! - [`validate`]: the four layers of checks of the specification.
//! - [`read`]: bytes to an [`ObjectPart`], the rows of objects.
//! - [`origin`]: what an object says of the toolkit that made it.
//! - [`plan_object()`]: an object to a plan of itself.
//! - [`write()`]: a plan to bytes.

mod append;
pub mod class32;
pub mod encode;
pub mod layout;
pub mod names;
pub mod note_records;
pub mod origin;
mod part;
pub mod plan_object;
pub mod raw;
pub mod read;
pub mod validate;
pub mod write;

pub use part::ObjectPart;
pub use plan_object::plan_object;
pub use read::ObjectReader;
pub use read::ReadError;
pub use read::read_object;
pub use write::StreamError;
pub use write::WriteError;
pub use write::write;
pub use write::write_in_order;
