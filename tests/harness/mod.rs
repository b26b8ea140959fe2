//! What the test runners share: cases as data, one link in a child process, and the comparison of two links.
#![allow(dead_code, reason = "each runner uses its own part")]

pub mod case;
pub mod command;
pub mod copies;
pub mod elf_difference;
pub mod kept_schedule;
pub mod link;
pub mod oracle;
pub mod own_names;
pub mod reported;
pub mod tally;
pub mod threads;
pub mod verdict;
