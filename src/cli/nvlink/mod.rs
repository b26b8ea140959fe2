//! The nvlink-compatible command line.
