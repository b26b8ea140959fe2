//! Reports on a link, which change nothing: passes that emit messages, and the link map.

pub mod link_map;
pub mod report_call_graph;
pub mod report_resources;
