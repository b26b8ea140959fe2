//! Reports on a link, which change nothing: passes that emit messages, the link map, and the map of shared memory.

pub mod link_map;
pub mod report_call_graph;
pub mod report_resources;
pub mod shared_map;
