//! What is in a file: `cuweld inspect`.
//!
//! ```text
//! bytes ──collect──▶ Report (model, device_model) ──▶ text
//!                        │                        ──▶ JSON (serde)
//!                        └──▶ `crate::diff`
//! ```
//!
//! [`collect`] opens what wraps device code (archives, host files, fatbins), [`device`] decodes
//! device ELF files, [`text`] prints; JSON is the model itself. The decoder is not the linker's
//! reader: it takes executables as well, and goes on after damage, so that a report says what could
//! be read and what could not. Names and contents are slices of the input.
//!
//! Architecture Invariant: no byte of an input is trusted. Sections that overlap, members that
//! unpack to far more than their size and archives within archives are bounded.

pub mod code_names;
pub mod collect;
pub mod device;
pub mod device_model;
pub mod error;
pub mod functions;
pub mod model;
pub mod name;
pub mod selection;
#[cfg(test)]
mod tests;
pub mod text;

pub use collect::inspect_bytes;
pub use collect::inspect_file;
pub use device::decode_device_elf;
pub use device::decode_narrow_device_elf;
pub use device_model::DeviceElf;
pub use error::InspectError;
pub use functions::Functions;
pub use model::Content;
pub use model::Node;
pub use model::Report;
pub use name::Name;
pub use selection::Selection;
