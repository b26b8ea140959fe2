//! What a plugin in Rust is made with.

use std::ffi::CStr;
use std::ffi::c_char;
use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

use crate::abi::RawOutput;
use crate::abi::RawPass;
use crate::abi::RawPlugin;

/// A pass of a plugin: a module as text and the pipeline's arguments in; the new module, `None` if
/// it is as it was, or what is wrong out.
pub type PassFn = fn(text: &str, args: &[&str]) -> Result<Option<String>, String>;

/// Exports passes from a library (`crate-type = ["cdylib"]`).
///
/// ```
/// fn nothing(_text: &str, _args: &[&str]) -> Result<Option<String>, String> {
///     Ok(None)
/// }
/// cuweld_plugin::export! {
///     { name: c"nothing", summary: c"Does nothing", requires: c"lowered", run: nothing }
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export {
    ($({ name: $name:literal, summary: $summary:literal, requires: $requires:literal, run: $run:path }),+ $(,)?) => {
        /// What cuweld looks up in a plugin.
        // SAFETY: a library is a plugin because it has this one symbol; nothing else that is linked
        // together with it has it.
        #[unsafe(no_mangle)]
        pub extern "C" fn cuweld_plugin() -> *const $crate::abi::RawPlugin {
            static PASSES: &[$crate::guest::Exported<$crate::abi::RawPass>] = &[$({
                extern "C" fn run(
                    input: *const u8,
                    size: usize,
                    args: *const *const ::std::ffi::c_char,
                    arg_count: usize,
                    output: *mut $crate::abi::RawOutput,
                ) -> i32 {
                    // SAFETY: this function is only called through the table, by the contract of
                    // `cuweld-plugin.h`, which is that of `run_pass`.
                    unsafe { $crate::guest::run_pass($run, input, size, args, arg_count, output) }
                }
                $crate::guest::pass($name, $summary, $requires, run)
            }),+];
            static PLUGIN: $crate::guest::Exported<$crate::abi::RawPlugin> = $crate::guest::plugin(PASSES);
            PLUGIN.get()
        }
    };
}

/// A table with pointers in a `static`.
#[repr(transparent)]
#[derive(Debug)]
pub struct Exported<T>(T);

// SAFETY: the pointers of a table that `pass` and `plugin` make are to `'static` data that nobody
// writes, and its functions may be called from any thread.
unsafe impl<T> Sync for Exported<T> {}

impl<T> Exported<T> {
    /// Returns the address of the value.
    pub fn get(&'static self) -> *const T {
        &raw const self.0
    }
}

/// Returns the entry of a pass.
pub const fn pass(
    name: &'static CStr,
    summary: &'static CStr,
    requires: &'static CStr,
    run: extern "C" fn(*const u8, usize, *const *const c_char, usize, *mut RawOutput) -> i32,
) -> Exported<RawPass> {
    Exported(RawPass {
        name: name.as_ptr(),
        summary: summary.as_ptr(),
        requires: requires.as_ptr(),
        establishes: std::ptr::null(),
        run: Some(run),
        release: Some(release),
    })
}

/// Returns the table of a plugin.
pub const fn plugin(passes: &'static [Exported<RawPass>]) -> Exported<RawPlugin> {
    Exported(RawPlugin {
        abi: crate::abi::ABI,
        grammar: crate::abi::GRAMMAR,
        pass_count: passes.len(),
        // `Exported` is transparent.
        passes: passes.as_ptr().cast(),
    })
}

/// Runs a pass for the table; nothing unwinds out of it.
///
/// # Safety
///
/// `input` is valid for reads of `size` bytes; `args` is valid for `arg_count` pointers, each to a
/// string that ends with NUL (it may be null if there are none); all of it during the call.
/// `output` is valid for a write, and aliases none of it.
pub unsafe fn run_pass(
    run: PassFn,
    input: *const u8,
    size: usize,
    args: *const *const c_char,
    arg_count: usize,
    output: *mut RawOutput,
) -> i32 {
    let result = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the caller's contract. An empty input may come with any pointer.
        let bytes = match size {
            0 => &[][..],
            _ => unsafe { std::slice::from_raw_parts(input, size) },
        };
        let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
        let mut words = Vec::with_capacity(arg_count);
        for index in 0..arg_count {
            // SAFETY: the caller's contract: `index` is below the count, and the string ends with
            // NUL.
            let word = unsafe { CStr::from_ptr(*args.add(index)) };
            words.push(word.to_str().map_err(|error| error.to_string())?);
        }
        run(text, &words)
    }));
    let (status, text) = match result {
        Ok(Ok(None)) => return 0,
        Ok(Ok(Some(text))) => (0, text),
        Ok(Err(message)) => (1, message),
        Err(_) => (2, "the pass panicked".to_owned()),
    };
    let bytes: Box<[u8]> = text.into_bytes().into_boxed_slice();
    let size = bytes.len();
    let data = Box::into_raw(bytes).cast::<u8>();
    // SAFETY: the caller's contract: `output` may be written.
    unsafe { output.write(RawOutput { data, size }) };
    status
}

/// Frees what [`run_pass`] put out.
extern "C" fn release(output: *mut RawOutput) {
    // SAFETY: cuweld calls this once with an output that `run_pass` wrote, whose data is that of a
    // box of `size` bytes; null is left alone.
    unsafe {
        if let Some(output) = output.as_mut()
            && !output.data.is_null()
        {
            let bytes = std::ptr::slice_from_raw_parts_mut(output.data, output.size);
            drop(Box::from_raw(bytes));
            output.data = std::ptr::null_mut();
            output.size = 0;
        }
    }
}
