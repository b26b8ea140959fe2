//! Passes that report on a link and change nothing.

pub mod report_call_graph;
pub mod report_resources;
