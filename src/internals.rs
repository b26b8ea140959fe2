//! What the benchmarks, fuzz targets and tests of cuweld and its libnvJitLink reach into. It is no
//! interface: it changes with them.

pub use crate::cli::nvlink::parse;
pub use crate::compile::jitlink_library;
pub use crate::dlink::fatbin as fatbin_writer;
pub use crate::input::archive;
pub use crate::input::decompress;
pub use crate::input::discover::discover;
pub use crate::input::fatbin;
pub use crate::input::host_object;
pub use crate::input::identify;
pub use crate::input::select;
pub use crate::input::zstd;
pub use crate::language_server::serve as language_server;
pub use crate::repro::Replay;
