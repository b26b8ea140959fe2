//! Calls that cannot do what they are for: no process ends, and the status says why.
#![allow(unsafe_code, reason = "a client of a C interface")]

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ptr;

use cuweld_capi::linked::*;
use cuweld_capi::linker::*;
use cuweld_capi::status::Status;

fn create() -> Box<Linker> {
    let mut place = MaybeUninit::uninit();
    // SAFETY: the text ends with NUL; what is made is freed once.
    unsafe {
        assert_eq!(
            cuweld_linker_create(c"sm_90".as_ptr(), Some(&mut place)),
            Status::Ok
        );
        Box::from_raw(place.assume_init())
    }
}

fn error(linker: &Linker) -> &str {
    // SAFETY: it is a text of the linker.
    let text = unsafe { CStr::from_ptr(cuweld_linker_error(Some(linker))) };
    text.to_str().unwrap()
}

#[test]
fn null_is_refused() {
    let mut place = MaybeUninit::uninit();
    // SAFETY: null may be given everywhere.
    unsafe {
        assert_eq!(
            cuweld_linker_create(ptr::null(), Some(&mut place)),
            Status::Invalid
        );
        assert!(place.assume_init().is_null());
        assert_eq!(
            cuweld_linker_create(c"sm_90".as_ptr(), None),
            Status::Invalid
        );
        assert_eq!(
            cuweld_linker_set(None, c"debug".as_ptr(), ptr::null(), 0),
            Status::Invalid
        );
        assert_eq!(
            cuweld_linker_add(None, ptr::null(), 0, 0, ptr::null()),
            Status::Invalid
        );
        assert_eq!(
            cuweld_linker_set_progress(None, None, ptr::null_mut()),
            Status::Invalid
        );
    }
    assert_eq!(cuweld_linker_link(None, None), Status::Invalid);
    let mut linker = create();
    assert_eq!(cuweld_linker_link(Some(&mut linker), None), Status::Invalid);
    let mut size = MaybeUninit::uninit();
    assert!(cuweld_linked_cubin(None, Some(&mut size)).is_null());
    // SAFETY: the size was written.
    assert_eq!(unsafe { size.assume_init() }, 0);
    assert!(cuweld_linked_map(None).is_null());
    assert_eq!(cuweld_linked_finding_count(None), 0);
    assert_eq!(cuweld_linked_finding(None, 0, None), Status::Invalid);
    assert_eq!(cuweld_linked_statistics(None).inputs, 0);
    cuweld_linked_destroy(None);
    cuweld_linker_destroy(None);
    cuweld_linker_destroy(Some(linker));
}

#[test]
fn wrong_settings_and_inputs_are_told() {
    let mut linker = create();
    let linker = &mut *linker;
    let (yes, no_utf8) = (c"yes".as_ptr(), c"\xff".as_ptr());
    // SAFETY: all texts end with NUL, and the arrays have one.
    unsafe {
        let set = |linker: &mut Linker, word: &CStr, value: *const _| {
            cuweld_linker_set(Some(linker), word.as_ptr(), &value, 1)
        };
        assert_eq!(set(linker, c"debgu", yes), Status::BadSetting);
        assert_eq!(error(linker), "there is no setting 'debgu': 'debug' is one");
        assert_eq!(set(linker, c"debug", yes), Status::BadSetting);
        assert_eq!(set(linker, c"debug", ptr::null()), Status::Invalid);
        assert_eq!(set(linker, c"debug", no_utf8), Status::Invalid);
        let null = cuweld_linker_set(Some(linker), c"debug".as_ptr(), ptr::null(), 1);
        assert_eq!(null, Status::Invalid);
        assert_eq!(set(linker, c"input-limit", c"3".as_ptr()), Status::Ok);
        let add = |linker: &mut Linker, text: &CStr, kind| {
            let size = text.count_bytes();
            cuweld_linker_add(
                Some(linker),
                text.as_ptr().cast(),
                size,
                kind,
                c"x".as_ptr(),
            )
        };
        assert_eq!(add(linker, c"text", 1), Status::OtherKind);
        assert_eq!(add(linker, c"text", 7), Status::Invalid);
        assert_eq!(
            add(linker, c".version 8.0\n.target sm_90\n", 2),
            Status::TooLarge
        );
        assert_eq!(
            cuweld_linker_add(Some(linker), ptr::null(), 1, 0, c"x".as_ptr()),
            Status::Invalid
        );
        assert_eq!(
            cuweld_linker_add(Some(linker), ptr::null(), 0, 0, c"x".as_ptr()),
            Status::OtherKind
        );
    }
    let mut place = MaybeUninit::uninit();
    assert_eq!(
        cuweld_linker_link(Some(linker), Some(&mut place)),
        Status::Ok
    );
    // SAFETY: it was made by this call, and is freed once.
    let linked = unsafe { Box::from_raw(place.assume_init()) };
    assert!(!cuweld_linked_cubin(Some(&linked), None).is_null());
    cuweld_linked_destroy(Some(linked));
    // Once only.
    assert_eq!(
        cuweld_linker_link(Some(linker), Some(&mut place)),
        Status::Invalid
    );
    assert_eq!(error(linker), "the linker has linked already");
}
