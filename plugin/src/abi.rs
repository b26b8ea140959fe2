//! The table that a plugin exports: `include/cuweld-plugin.h` in Rust, which says what the fields are.
#![allow(missing_docs, reason = "the header has the documentation")]

use std::ffi::c_char;
use std::ffi::c_void;

/// The version of this interface.
pub const ABI: u32 = 2;

/// The version of the text form's grammar: the number after `lir` in the first line.
pub const GRAMMAR: u32 = 1;

/// The name of the function that a plugin exports.
pub const ENTRY: &[u8] = b"cuweld_plugin\0";

/// What `run` returns if the pass has come to its end.
pub const DONE: i32 = 0;
/// What `run` returns if the pass cannot do its work on this module.
pub const FAILED: i32 = 1;
/// What `run` returns after a fault of the pass.
pub const CRASHED: i32 = 2;

/// Bytes that the plugin owns until they are handed to [`RawPass::release`].
#[repr(C)]
#[derive(Debug)]
pub struct RawOutput {
    pub data: *mut u8,
    pub size: usize,
}

/// An option of a pass.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawOption {
    pub name: *const c_char,
    pub ty: u32,
    pub default: *const c_char,
    pub doc: *const c_char,
}

/// The value of an option.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawValue {
    pub integer: i64,
    pub string: *const c_char,
    pub strings: *const *const c_char,
    pub string_count: usize,
}

/// A finding.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawFinding {
    pub severity: u32,
    pub code: *const c_char,
    pub message: *const c_char,
    pub row: *const c_char,
    pub notes: *const *const c_char,
    pub note_count: usize,
    pub helps: *const *const c_char,
    pub help_count: usize,
}

/// Takes a finding.
pub type RawReport = unsafe extern "C" fn(*mut c_void, *const RawFinding);

/// Adds to a counter.
pub type RawCount = unsafe extern "C" fn(*mut c_void, *const c_char, u64);

/// What a pass is given.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawCall {
    pub input: *const u8,
    pub size: usize,
    pub options: *const RawValue,
    pub option_count: usize,
    pub context: *mut c_void,
    pub report: RawReport,
    pub count: RawCount,
}

/// Runs a pass.
pub type RawRun = unsafe extern "C" fn(*const RawCall, *mut RawOutput) -> i32;

/// Takes back an output.
pub type RawRelease = unsafe extern "C" fn(*mut RawOutput);

/// A pass.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawPass {
    pub name: *const c_char,
    pub summary: *const c_char,
    pub requires: *const c_char,
    pub establishes: *const c_char,
    pub options: *const RawOption,
    pub option_count: usize,
    pub run: Option<RawRun>,
    pub release: Option<RawRelease>,
}

/// A plugin.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawPlugin {
    pub abi: u32,
    pub grammar: u32,
    pub pass_count: usize,
    pub passes: *const RawPass,
}

/// The function that a plugin exports.
pub type RawEntry = unsafe extern "C" fn() -> *const RawPlugin;
