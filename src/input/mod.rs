//! Input discovery: from the names on the command line to the ordered list of device images.
//!
//! [`discover()`] walks the positional inputs, then the `-l` libraries, and answers for each file
//! which device image it contributes to a link for one target. The steps, one module each:
//!
//! 1. [`library_search`] resolves `-l` names along `-L` and `LIBRARY_PATH`.
//! 2. [`mapped`] brings files into memory; the [`InputArena`] of the caller owns their bytes.
//! 3. [`identify`] decides what a file is, from its name and first bytes.
//! 4. [`archive`] and [`host_object`] open what wraps a fatbin; [`host_info`] gathers which kernels
//!    the host code refers to.
//! 5. [`fatbin`] lists the members of a fatbin, [`select`] chooses one of them for the target,
//!    [`decompress`] unpacks the chosen one (and no other), several at once where there is much to unpack.
//!
//! The rules are nvlink's. They are lenient (many files are ignored without a word); what was
//! ignored and why is kept as a [`DiagnosticKind::Ignored`] note, for users that ask.
//!
//! Architecture Invariant: nothing here knows a symbol or a linking rule. Device ELF headers are
//! looked at only as far as deciding on a file's kind needs it.
//!
//! Architecture Invariant: no byte of an input is trusted. Truncated or altered inputs give an
//! [`InputError`] or another image, never a panic, and allocations are bounded by the input's size.

mod ahead;
pub mod archive;
pub mod arena;
mod batch;
mod codec;
#[cfg(test)]
mod damage_tests;
pub mod decompress;
pub mod device_input;
pub mod diagnostic;
pub mod discover;
mod discover_archive;
mod discover_fatbin;
mod discover_options;
pub mod error;
pub mod fatbin;
mod fatbin_match;
mod file_identity;
pub mod host_info;
pub mod host_object;
pub mod identify;
pub mod library_search;
mod loaded;
pub mod mapped;
pub mod module_id;
pub mod select;
mod shared;
#[cfg(test)]
mod test_files;
#[cfg(test)]
mod tests;
pub mod zstd;

pub use arena::InputArena;
pub use cuweld_elf::Target;
pub use device_input::DeviceInput;
pub use device_input::Image;
pub use device_input::NvvmImage;
pub use device_input::PtxImage;
pub use device_input::SkipReason;
pub use diagnostic::InputDiagnostic;
pub use discover::Discovered;
pub use discover::discover_with;
pub use discover_options::DiscoverOptions;
pub use discover_options::EarlyErrors;
pub use error::InputError;
pub use host_info::HostInfo;
pub use library_search::CpuArch;
pub use module_id::default_id;
pub use shared::SharedFiles;
