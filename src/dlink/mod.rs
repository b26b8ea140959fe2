//! What `nvcc -dlink` makes of a linked image beside nvlink: the fatbin.

pub mod fatbin;
