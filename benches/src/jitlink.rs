//! Links in this process, by a library with the interface of libnvJitLink.

use std::ffi::CString;
use std::ffi::c_int;
use std::fs;
use std::io;
use std::io::BufRead;
use std::io::Write;
use std::path::Path;
use std::time::Duration;
use std::time::Instant;

use cuweld::internals::jitlink_library::JitLink;
use cuweld::internals::jitlink_library::JitLinkError;
use cuweld::internals::jitlink_library::JitLinkLibrary;

/// How long links are repeated, and how often at most.
const LONG: Duration = Duration::from_millis(1_500);
const MOST_LINKS: usize = 200;

/// A cubin, by its number in the interface.
const CUBIN: c_int = 1;

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
    let library = JitLinkLibrary::load(Path::new(library)).map_err(io::Error::other)?;
    let load = begun.elapsed().as_secs_f64();
    let loaded = sizes();
    let mut seconds = Vec::new();
    let begun = Instant::now();
    let mut linked = (0, Vec::new());
    while seconds.len() < 3 || seconds.len() < MOST_LINKS && begun.elapsed() < LONG {
        let started = Instant::now();
        linked = link(&library, target, &inputs).map_err(io::Error::other)?;
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

/// Links from create to destroy. Returns the first result that is no success, and the output.
fn link(
    library: &JitLinkLibrary,
    target: &str,
    inputs: &[Vec<u8>],
) -> Result<(c_int, Vec<u8>), JitLinkError> {
    let options: Result<CString, _> = CString::new(format!("-arch={target}"));
    let options: Vec<CString> = options.into_iter().collect();
    let code_of = |error| match error {
        JitLinkError::Code { code, .. } => Ok((code, Vec::new())),
        missing => Err(missing),
    };
    let (mut link, code) = JitLink::create(library, &options)?;
    let mut linked = || {
        for input in inputs {
            link.add(CUBIN, input, Some(c"input".to_owned()))?;
        }
        link.complete()?;
        link.get("nvJitLinkGetLinkedCubinSize", "nvJitLinkGetLinkedCubin")
    };
    match code {
        0 => linked().map(|cubin| (0, cubin)).or_else(code_of),
        code => Ok((code, Vec::new())),
    }
}

/// Returns a size of this process's memory in bytes, as the system calls it.
fn resident(what: &str) -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(what));
    let size = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    size.unwrap_or(0).saturating_mul(1024)
}
