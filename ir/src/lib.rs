//! The linker IR.
