//! What the fuzz targets call.

pub mod entries;
