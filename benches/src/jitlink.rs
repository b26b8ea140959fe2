//! Links in this process, by a library with the interface of libnvJitLink.

use std::ffi::CString;
use std::ffi::c_char;
use std::ffi::c_int;
use std::ffi::c_void;
use std::fs;
use std::io;
use std::io::BufRead;
use std::io::Write;
use std::time::Duration;
use std::time::Instant;

use libloading::Library;

/// How long links are repeated, and how often at most.
const LONG: Duration = Duration::from_millis(1_500);
const MOST_LINKS: usize = 200;

/// A cubin, by its number in the interface.
const CUBIN: c_int = 1;

type Create = unsafe extern "C" fn(*mut *mut c_void, u32, *const *const c_char) -> c_int;
type AddData =
    unsafe extern "C" fn(*mut c_void, c_int, *const c_void, usize, *const c_char) -> c_int;
type Complete = unsafe extern "C" fn(*mut c_void) -> c_int;
type Size = unsafe extern "C" fn(*mut c_void, *mut usize) -> c_int;
type Get = unsafe extern "C" fn(*mut c_void, *mut u8) -> c_int;
type Destroy = unsafe extern "C" fn(*mut *mut c_void) -> c_int;

/// The functions of a link.
struct Interface {
    create: Create,
    add_data: AddData,
    complete: Complete,
    size: Size,
    get: Get,
    destroy: Destroy,
}

/// Loads a library and links the cubins that standard input names, one a line, again and again.
/// Prints the seconds that loading took, how many bytes that made resident, how many of these no
/// other process can share, the seconds of a link (the middle of all), how many bytes more were
/// resident at most, and the last result.
pub fn run(library: &str, target: &str, output: &str) -> io::Result<()> {
    let names: Vec<String> = io::stdin().lock().lines().collect::<Result<_, _>>()?;
    let inputs = names.iter().map(fs::read).collect::<Result<Vec<_>, _>>()?;
    let sizes = || ["VmRSS:", "RssAnon:"].map(resident);
    let before = sizes();
    let begun = Instant::now();
    // SAFETY: the libraries that are measured have no conditions for loading.
    let library = unsafe { Library::new(library) }.map_err(io::Error::other)?;
    let load = begun.elapsed().as_secs_f64();
    let loaded = sizes();
    let interface = Interface::of(&library)?;
    let mut seconds = Vec::new();
    let begun = Instant::now();
    let mut linked = (0, Vec::new());
    while seconds.len() < 3 || seconds.len() < MOST_LINKS && begun.elapsed() < LONG {
        let started = Instant::now();
        linked = interface.link(target, &inputs)?;
        seconds.push(started.elapsed().as_secs_f64());
    }
    let peak = resident("VmHWM:");
    let (code, cubin) = linked;
    fs::write(output, cubin)?;
    seconds.sort_by(f64::total_cmp);
    let middle = seconds.get(seconds.len() / 2).copied().unwrap_or(f64::NAN);
    let [library, private] = [0, 1].map(|size| loaded[size].saturating_sub(before[size]));
    let links = peak.saturating_sub(loaded[0]);
    writeln!(
        io::stdout(),
        "{load} {library} {private} {middle} {links} {code}"
    )
}

impl Interface {
    fn of(library: &Library) -> io::Result<Self> {
        // SAFETY: these are the types of the functions in the interface.
        let functions = unsafe {
            || -> Result<Self, libloading::Error> {
                Ok(Interface {
                    create: *library.get::<Create>(b"nvJitLinkCreate")?,
                    add_data: *library.get::<AddData>(b"nvJitLinkAddData")?,
                    complete: *library.get::<Complete>(b"nvJitLinkComplete")?,
                    size: *library.get::<Size>(b"nvJitLinkGetLinkedCubinSize")?,
                    get: *library.get::<Get>(b"nvJitLinkGetLinkedCubin")?,
                    destroy: *library.get::<Destroy>(b"nvJitLinkDestroy")?,
                })
            }()
        };
        functions.map_err(io::Error::other)
    }

    /// Links from create to destroy. Returns the first result that is no success, and the output.
    fn link(&self, target: &str, inputs: &[Vec<u8>]) -> io::Result<(c_int, Vec<u8>)> {
        let option = CString::new(format!("-arch={target}"))?;
        let options = [option.as_ptr()];
        let (mut handle, mut size) = (std::ptr::null_mut(), 0);
        let mut cubin = Vec::new();
        let mut codes = Vec::with_capacity(inputs.len() + 4);
        // SAFETY: the options are as many as is said; each input has its size, and its name lives as
        // long as the link; the output has the size that the library says.
        unsafe {
            codes.push((self.create)(&mut handle, 1, options.as_ptr()));
            for input in inputs {
                let bytes = input.as_ptr().cast();
                codes.push((self.add_data)(
                    handle,
                    CUBIN,
                    bytes,
                    input.len(),
                    c"input".as_ptr(),
                ));
            }
            codes.push((self.complete)(handle));
            codes.push((self.size)(handle, &mut size));
            cubin.resize(size, 0);
            codes.push((self.get)(handle, cubin.as_mut_ptr()));
            (self.destroy)(&mut handle);
        }
        let failed = codes.into_iter().find(|code| *code != 0);
        Ok((failed.unwrap_or(0), cubin))
    }
}

/// Returns a size of this process's memory in bytes, as the system calls it.
fn resident(what: &str) -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(what));
    let size = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    size.unwrap_or(0).saturating_mul(1024)
}
