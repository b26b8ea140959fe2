//! What a plugin in Rust is made with.

use std::any::Any;
use std::ffi::CStr;
use std::ffi::CString;
use std::ffi::c_char;
use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

use crate::abi::CRASHED;
use crate::abi::DONE;
use crate::abi::FAILED;
use crate::abi::RawCall;
use crate::abi::RawFinding;
use crate::abi::RawOption;
use crate::abi::RawOutput;
use crate::abi::RawPass;
use crate::abi::RawPlugin;
use crate::abi::RawRun;
use crate::abi::RawValue;
use crate::exchanged::Finding;
use crate::exchanged::OptionType;

/// A pass of a plugin: the new module, `None` if it is as it was, or what is wrong.
pub type PassFn = fn(call: &Call<'_>) -> Result<Option<String>, String>;

/// Exports passes from a library (`crate-type = ["cdylib"]`).
///
/// ```
/// use cuweld_plugin::{Call, Finding};
///
/// fn greet(call: &Call<'_>) -> Result<Option<String>, String> {
///     if call.string("name").is_empty() {
///         call.report(&Finding::warning("nobody", "there is nobody to greet"));
///     }
///     call.count("bytes", call.text().len() as u64);
///     Ok(None)
/// }
/// cuweld_plugin::export! {
///     {
///         name: c"greet",
///         summary: c"Does nothing",
///         requires: c"lowered",
///         options: [{ name: c"name", ty: String, default: c"''", doc: c"Whom to greet." }],
///         run: greet
///     }
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export {
    ($({
        name: $name:literal,
        summary: $summary:literal,
        requires: $requires:literal,
        $(options: [$({
            name: $option:literal,
            ty: $ty:ident,
            default: $default:literal,
            doc: $doc:literal $(,)?
        }),* $(,)?],)?
        run: $run:path $(,)?
    }),+ $(,)?) => {
        /// What cuweld looks up in a plugin.
        // SAFETY: a library is a plugin because it has this one symbol; nothing else that is linked
        // together with it has it.
        #[unsafe(no_mangle)]
        pub extern "C" fn cuweld_plugin() -> *const $crate::abi::RawPlugin {
            static PASSES: &[$crate::guest::Exported<$crate::abi::RawPass>] = &[$({
                static OPTIONS: &[$crate::guest::Exported<$crate::abi::RawOption>] = &[
                    $($($crate::guest::option($option, $crate::OptionType::$ty, $default, $doc)),*)?
                ];
                extern "C" fn run(
                    call: *const $crate::abi::RawCall,
                    output: *mut $crate::abi::RawOutput,
                ) -> i32 {
                    // SAFETY: this function is only called through the table, by the contract of
                    // `cuweld-plugin.h`, which is that of `run_pass`.
                    unsafe { $crate::guest::run_pass($run, OPTIONS, call, output) }
                }
                $crate::guest::pass($name, $summary, $requires, OPTIONS, run)
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

// SAFETY: the pointers of a table that `option`, `pass` and `plugin` make are to `'static` data that
// nobody writes, and its functions may be called from any thread.
unsafe impl<T> Sync for Exported<T> {}

impl<T> Exported<T> {
    /// Returns the address of the value.
    pub fn get(&'static self) -> *const T {
        &raw const self.0
    }
}

/// Returns the entry of an option.
pub const fn option(
    name: &'static CStr,
    ty: OptionType,
    default: &'static CStr,
    doc: &'static CStr,
) -> Exported<RawOption> {
    Exported(RawOption {
        name: name.as_ptr(),
        ty: ty as u32,
        default: default.as_ptr(),
        doc: doc.as_ptr(),
    })
}

/// Returns the entry of a pass.
pub const fn pass(
    name: &'static CStr,
    summary: &'static CStr,
    requires: &'static CStr,
    options: &'static [Exported<RawOption>],
    run: RawRun,
) -> Exported<RawPass> {
    Exported(RawPass {
        name: name.as_ptr(),
        summary: summary.as_ptr(),
        requires: requires.as_ptr(),
        establishes: std::ptr::null(),
        // `Exported` is transparent.
        options: options.as_ptr().cast(),
        option_count: options.len(),
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

/// What a pass is given.
#[derive(Debug)]
pub struct Call<'c> {
    text: &'c str,
    known: &'static [Exported<RawOption>],
    values: &'c [RawValue],
    raw: &'c RawCall,
}

impl Call<'_> {
    /// Returns the module in text form.
    pub fn text(&self) -> &str {
        self.text
    }

    /// Returns the value of an option of type `Bool`.
    ///
    /// # Panics
    ///
    /// If the pass has no option of this name and type, as for those of other types.
    #[track_caller]
    pub fn bool(&self, option: &str) -> bool {
        self.value(option, OptionType::Bool).integer != 0
    }

    /// Returns the value of an option of type `Integer`.
    #[track_caller]
    pub fn integer(&self, option: &str) -> i64 {
        self.value(option, OptionType::Integer).integer
    }

    /// Returns the value of an option of type `String`.
    #[track_caller]
    pub fn string(&self, option: &str) -> &str {
        let value = self.value(option, OptionType::String);
        // SAFETY: by the contract of `cuweld-plugin.h` the string of a value of this type ends with
        // NUL and is valid during the call.
        unsafe { text_of(value.string) }
    }

    /// Returns the value of an option of type `Strings`.
    #[track_caller]
    pub fn strings(&self, option: &str) -> Vec<&str> {
        let value = self.value(option, OptionType::Strings);
        let texts = (0..value.string_count).map(|index| {
            // SAFETY: as above; the index is below the count of the pointers.
            unsafe { text_of(*value.strings.add(index)) }
        });
        texts.collect()
    }

    /// Reports a finding.
    pub fn report(&self, finding: &Finding) {
        let text = |text: &str| CString::new(text.replace('\0', "\u{fffd}")).unwrap_or_default();
        let texts =
            |lines: &[String]| -> Vec<CString> { lines.iter().map(|it| text(it)).collect() };
        let pointers = |texts: &[CString]| -> Vec<*const c_char> {
            texts.iter().map(|it| it.as_ptr()).collect()
        };
        let message = text(&finding.message);
        let (code, row) = (
            finding.code.as_deref().map(text),
            finding.row.as_deref().map(text),
        );
        let (notes, helps) = (texts(&finding.notes), texts(&finding.helps));
        let (notes, helps) = (pointers(&notes), pointers(&helps));
        let optional =
            |text: &Option<CString>| text.as_ref().map_or(std::ptr::null(), |it| it.as_ptr());
        let raw = RawFinding {
            severity: finding.severity as u32,
            code: optional(&code),
            message: message.as_ptr(),
            row: optional(&row),
            notes: notes.as_ptr(),
            note_count: notes.len(),
            helps: helps.as_ptr(),
            help_count: helps.len(),
        };
        // SAFETY: the function and its context are of this call, which has not ended; what `raw`
        // points to lives until the function has returned.
        unsafe { (self.raw.report)(self.raw.context, &raw const raw) }
    }

    /// Adds to a counter, which `--stats` shows.
    pub fn count(&self, name: &str, more: u64) {
        let name = CString::new(name.replace('\0', "\u{fffd}")).unwrap_or_default();
        // SAFETY: as for `report`.
        unsafe { (self.raw.count)(self.raw.context, name.as_ptr(), more) }
    }

    #[track_caller]
    fn value(&self, option: &str, ty: OptionType) -> &RawValue {
        let mut rows = self.known.iter().zip(self.values);
        let found = rows.find(|(known, _)| {
            // SAFETY: the name of an option that `option` made.
            known.0.ty == ty as u32 && unsafe { text_of(known.0.name) } == option
        });
        match found {
            Some((_, value)) => value,
            None => panic!("the pass has no option '{option}' of type {ty:?}"),
        }
    }
}

/// Returns a text; cuweld's are UTF-8.
///
/// # Safety
///
/// The pointer is to a string that ends with NUL and stays as it is for the lifetime of the result.
unsafe fn text_of<'t>(pointer: *const c_char) -> &'t str {
    // SAFETY: the caller's contract.
    unsafe { CStr::from_ptr(pointer) }
        .to_str()
        .unwrap_or_default()
}

/// Runs a pass for the table; nothing unwinds out of it.
///
/// # Safety
///
/// `call` and all that it points to are as `cuweld-plugin.h` says, during the call, with a value for
/// each of `options`. `output` is valid for a write, and aliases none of it.
pub unsafe fn run_pass(
    run: PassFn,
    options: &'static [Exported<RawOption>],
    call: *const RawCall,
    output: *mut RawOutput,
) -> i32 {
    let result = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the caller's contract. Without bytes or options any pointer may come.
        let (raw, bytes, values) = unsafe {
            let raw = &*call;
            let bytes = match raw.size {
                0 => &[][..],
                size => std::slice::from_raw_parts(raw.input, size),
            };
            let values = match raw.option_count {
                0 => &[][..],
                count => std::slice::from_raw_parts(raw.options, count),
            };
            (raw, bytes, values)
        };
        let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
        run(&Call {
            text,
            known: options,
            values,
            raw,
        })
    }));
    let (status, text) = match result {
        Ok(Ok(None)) => return DONE,
        Ok(Ok(Some(text))) => (DONE, text),
        Ok(Err(message)) => (FAILED, message),
        Err(panic) => (CRASHED, panic_message(&*panic)),
    };
    let bytes: Box<[u8]> = text.into_bytes().into_boxed_slice();
    let size = bytes.len();
    let data = Box::into_raw(bytes).cast::<u8>();
    // SAFETY: the caller's contract: `output` may be written.
    unsafe { output.write(RawOutput { data, size }) };
    status
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    match text {
        Some(text) => format!("it panicked: {text}"),
        None => "it panicked".to_owned(),
    }
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
