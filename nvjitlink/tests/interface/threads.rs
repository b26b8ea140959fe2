//! Links of many threads at once, by the functions of the crate itself: `cargo xtask sanitize` runs this
//! with the thread sanitizer, which does not see the locks of a library that it did not compile.

use std::ffi::c_char;
use std::ffi::c_int;
use std::ffi::c_void;
use std::fs;

use cuweld_nvjitlink as _;

use super::library::here;

unsafe extern "C" {
    fn nvJitLinkCreate(
        handle: *mut *mut c_void,
        count: u32,
        options: *const *const c_char,
    ) -> c_int;
    fn nvJitLinkAddData(
        handle: *mut c_void,
        kind: c_int,
        data: *const c_void,
        size: usize,
        name: *const c_char,
    ) -> c_int;
    fn nvJitLinkComplete(handle: *mut c_void) -> c_int;
    fn nvJitLinkGetLinkedCubinSize(handle: *mut c_void, size: *mut usize) -> c_int;
    fn nvJitLinkGetLinkedCubin(handle: *mut c_void, cubin: *mut u8) -> c_int;
    fn nvJitLinkDestroy(handle: *mut *mut c_void) -> c_int;
}

/// Links inputs; one thread begins, another one goes on.
fn link(inputs: &[Vec<u8>]) -> Vec<u8> {
    let handle = std::thread::scope(|scope| {
        let begin = || {
            let options = [c"-arch=sm_90".as_ptr()];
            let mut handle = std::ptr::null_mut();
            // SAFETY: there is one option, and a place for the handle.
            assert_eq!(
                unsafe { nvJitLinkCreate(&mut handle, 1, options.as_ptr()) },
                0
            );
            handle as usize
        };
        scope.spawn(begin).join().unwrap()
    });
    let mut handle = handle as *mut c_void;
    let mut size = 0;
    // SAFETY: inputs have their sizes, the output has the one that is told.
    unsafe {
        for input in inputs {
            let added =
                nvJitLinkAddData(handle, 1, input.as_ptr().cast(), input.len(), c"x".as_ptr());
            assert_eq!(added, 0);
        }
        assert_eq!(nvJitLinkComplete(handle), 0);
        assert_eq!(nvJitLinkGetLinkedCubinSize(handle, &mut size), 0);
        let mut cubin = vec![0; size];
        assert_eq!(nvJitLinkGetLinkedCubin(handle, cubin.as_mut_ptr()), 0);
        assert_eq!(nvJitLinkDestroy(&mut handle), 0);
        cubin
    }
}

#[test]
fn links_within_this_program_are_equal() {
    let inputs = ["a.90.cubin", "b.90.cubin"].map(|name| here("tests/inputs").join(name));
    let inputs = inputs.map(|path| fs::read(path).unwrap());
    let expected = link(&inputs);
    let links = std::env::var("CUWELD_LINKS_OF_A_THREAD");
    let links = links.map_or(50, |count| count.parse().unwrap());
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..links).for_each(|_| assert!(link(&inputs) == expected)));
        }
    });
}
