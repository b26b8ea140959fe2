//! Toolkits of NVIDIA's that are installed: where they are, which version they are of, and a copy of
//! one that links with cuweld.

pub mod installed;
pub mod profile;
pub mod shadow;
