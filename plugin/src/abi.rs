//! The table that a plugin exports: `include/cuweld-plugin.h` in Rust.

use std::ffi::c_char;

/// The version of this interface.
pub const ABI: u32 = 1;

/// The version of the text form's grammar: the number after `lir` in the first line.
pub const GRAMMAR: u32 = 1;

/// The name of the function that a plugin exports.
pub const ENTRY: &[u8] = b"cuweld_plugin\0";

/// Bytes that the plugin owns until they are handed to [`RawPass::release`].
#[repr(C)]
#[derive(Debug)]
pub struct RawOutput {
    /// Where they begin; null if there are none.
    pub data: *mut u8,
    /// How many there are.
    pub size: usize,
}

/// Runs a pass: input, its size, arguments, their count, output. 0 is success.
pub type RawRun =
    unsafe extern "C" fn(*const u8, usize, *const *const c_char, usize, *mut RawOutput) -> i32;

/// Takes back an output.
pub type RawRelease = unsafe extern "C" fn(*mut RawOutput);

/// A pass.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawPass {
    /// Its name in pipelines.
    pub name: *const c_char,
    /// One line that says what it does.
    pub summary: *const c_char,
    /// The phase that a module must have reached.
    pub requires: *const c_char,
    /// The phase that it has reached afterwards, or null.
    pub establishes: *const c_char,
    /// Runs it.
    pub run: Option<RawRun>,
    /// Takes back what `run` put out.
    pub release: Option<RawRelease>,
}

/// A plugin.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawPlugin {
    /// [`ABI`].
    pub abi: u32,
    /// [`GRAMMAR`].
    pub grammar: u32,
    /// How many passes there are.
    pub pass_count: usize,
    /// The passes.
    pub passes: *const RawPass,
}

/// The function that a plugin exports.
pub type RawEntry = unsafe extern "C" fn() -> *const RawPlugin;
