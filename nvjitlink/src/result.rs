//! What calls return.

use std::ffi::c_int;

/// What a call returns: a number of the interface, 0 for success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct ResultCode(pub c_int);

#[allow(
    missing_docs,
    reason = "the names of the interface, which its documentation explains"
)]
impl ResultCode {
    pub const SUCCESS: Self = ResultCode(0);
    pub const UNRECOGNIZED_OPTION: Self = ResultCode(1);
    pub const MISSING_ARCH: Self = ResultCode(2);
    pub const INVALID_INPUT: Self = ResultCode(3);
    pub const PTX_COMPILE: Self = ResultCode(4);
    pub const NVVM_COMPILE: Self = ResultCode(5);
    pub const INTERNAL: Self = ResultCode(6);
    pub const UNRECOGNIZED_INPUT: Self = ResultCode(8);
    pub const NULL_INPUT: Self = ResultCode(10);
    pub const INCOMPATIBLE_OPTIONS: Self = ResultCode(11);
    pub const INCORRECT_INPUT_TYPE: Self = ResultCode(12);
    pub const UNRECOGNIZED_ARCH: Self = ResultCode(16);
    pub const UNSUPPORTED_ARCH: Self = ResultCode(17);
    pub const LTO_NOT_ENABLED: Self = ResultCode(18);
}
