//! Pointers of a caller in C, by what the interface says of them.
//!
//! Only C makes these values, and vouches for them for the length of the call: code in Rust cannot
//! make one that is not sound.

use std::borrow::Cow;
use std::cell::Cell;
use std::ffi::CStr;
use std::ffi::c_char;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Null, or a place to write to, which need not hold a value before. Several may be the same.
pub type Place<'call, T> = Option<&'call Cell<MaybeUninit<T>>>;

/// Null, or a text that ends with NUL and is not changed meanwhile.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Text<'call>(*const c_char, PhantomData<&'call CStr>);

impl<'call> Text<'call> {
    /// Returns the text, in which what is no UTF-8 is replaced; `None` if it is null.
    pub(crate) fn read(self) -> Option<Cow<'call, str>> {
        // SAFETY: the caller in C vouches for a text that is not null.
        let text = (!self.0.is_null()).then(|| unsafe { CStr::from_ptr(self.0) });
        text.map(CStr::to_string_lossy)
    }
}

/// Null, or the first of some values, whose number is another argument.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Array<'call, T>(*const T, PhantomData<&'call [T]>);

impl<'call, T> Array<'call, T> {
    /// Returns the values; `None` if the array is null and has any.
    ///
    /// # Safety
    ///
    /// `count` is the number that belongs to the array.
    pub(crate) unsafe fn read(self, count: usize) -> Option<&'call [T]> {
        match (count, self.0.is_null()) {
            (0, _) => Some(&[]),
            (_, true) => None,
            // SAFETY: the caller in C vouches for as many values.
            (_, false) => Some(unsafe { std::slice::from_raw_parts(self.0, count) }),
        }
    }
}

/// Null, or room for as many bytes as the function for the size of a result tells.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Room<'call>(*mut c_char, PhantomData<&'call mut [u8]>);

impl Room<'_> {
    /// Returns `true` if there is none.
    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Fills the room with a result.
    ///
    /// # Safety
    ///
    /// It is not null, and the result is the one whose function it was handed to.
    pub(crate) unsafe fn fill(self, result: &[u8]) {
        // SAFETY: the caller in C vouches for the room, and the bytes are ours.
        unsafe { self.0.cast::<u8>().copy_from(result.as_ptr(), result.len()) }
    }
}
