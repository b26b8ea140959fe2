//! The integration tests, a module for each topic. What is one test per file or folder of data is in `cases`.
//!
//! `cargo test --test it opt_in` runs the tests whose path contains a word.

#[path = "../harness/mod.rs"]
mod harness;

mod behaviours;
mod book;
mod builds;
mod changing_files;
mod compatibility;
mod compilers;
mod damaged;
mod dependencies;
mod detector;
mod deviations;
mod dlink;
mod dlink_fatbin;
mod edits;
mod extensions;
mod file_names;
mod finalize;
mod fuzz_entries;
mod gc_sections;
mod inspect;
mod instrument_options;
mod jitlink;
mod language_server;
mod limits;
mod link_map;
mod linker;
mod message_format;
mod messages;
mod new_pass;
mod opened_files;
mod opt;
mod opt_in;
mod pass_orders;
mod programs;
mod recipes;
mod registration;
mod remarks;
mod report;
mod repro;
mod same_output;
mod section_numbers;
mod self_check;
mod size;
mod streams;
mod support;
mod untrusted;
mod watch;
