//! Texts from and for C.

use std::ffi::CStr;
use std::ffi::CString;
use std::ffi::c_char;

/// Returns a text of the caller; `None` if it is null or no UTF-8.
///
/// # Safety
///
/// It is null, or ends with NUL and is not changed meanwhile.
pub(crate) unsafe fn text<'c>(text: *const c_char) -> Option<&'c str> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the caller vouches for it.
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}

/// Makes a text for C. It ends where it has a NUL of its own.
pub(crate) fn c_string(text: impl Into<Vec<u8>>) -> CString {
    CString::new(text).unwrap_or_else(|error| {
        let end = error.nul_position();
        let mut bytes = error.into_vec();
        bytes.truncate(end);
        CString::new(bytes).unwrap_or_default()
    })
}
