//! A language server: what an editor asks about `.lir` and pipeline files, by the Language Server
//! Protocol.
//!
//! - `transport`: messages on streams; `params`: what editors send; `server`: what is done with them; `requests`: the answers; `workspace`: what they are found in.
//! - `document`: what is open; `lines`, `uri`: places and names as the protocol has them.
//! - `lir`: modules in text form; `pipeline`: pipeline files; `run_pass`: passes over a module.
//! - `checker`: the thread that parses and verifies modules; `files`: what documents name on disk.
//!
//! Architecture Invariant: what a document says is never run. A document may be a stranger's: plugins
//! come from the command line alone, and programs of `exec` run only in passes that the user runs.

mod checker;
mod document;
mod files;
mod finding;
mod lines;
mod lir;
mod params;
mod pipeline;
mod proposal;
mod requests;
mod run_pass;
mod server;
mod transport;
mod uri;
mod workspace;

pub use server::serve;
