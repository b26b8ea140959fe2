//! The passes.
