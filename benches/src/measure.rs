//! Runs one program and says what it took: a process of its own, because the peak memory that the
//! system reports of a child begins with what its parent had.
//!
//! `cuweld-benches measure run SECONDS PROGRAM ARGUMENT...` prints wall, user and system time in seconds,
//! peak memory and peak anonymous memory (0 unless SECONDS is negative: looking slows the run) in
//! bytes, and the exit code; -1 if it was ended after that time.
//!
//! `cuweld-benches measure floor TARGET OUTPUT COPY` reads the files that standard input names, one a line,
//! unpacks what is packed in them, and writes as many bytes as OUTPUT has to COPY; prints the
//! seconds, the bytes of the inputs unpacked, and how many sections, symbols and relocations they
//! hold.
//!
//! `cuweld-benches measure jitlink LIBRARY TARGET OUTPUT` loads a library with the interface of libnvJitLink
//! and links the cubins that standard input names, one a line, again and again.
//!
//! `cuweld-benches measure warm BYTES` takes memory and gives it back. A virtual machine's host takes back
//! memory that is free for some seconds, and getting it again takes programs more time than they
//! run: what ran or waited before them would decide on that.

use std::ffi::OsString;
use std::io;
use std::io::BufRead;
use std::io::Write;
use std::process::Child;
use std::process::Command;
use std::process::Stdio;
use std::time::Duration;
use std::time::Instant;

use cuweld::Target;
use memmap2::MmapMut;
use nix::sys::resource::UsageWho;
use nix::sys::resource::getrusage;
use nix::sys::time::TimeValLike;

use crate::floor;
use crate::jitlink;

/// Does what the words after `measure` say.
pub fn measure(words: &[OsString]) -> io::Result<()> {
    let Some((kind, words)) = words.split_first() else {
        return Err(io::Error::other("what is to be measured?"));
    };
    match (kind.to_str(), words) {
        (Some("run"), [limit, program, arguments @ ..]) => {
            let limit = limit.to_str().and_then(|text| text.parse().ok());
            run(limit.unwrap_or(0.0), program, arguments)
        }
        (Some("floor"), [target, output, copy]) => print_floor(target, output, copy),
        (Some("jitlink"), [library, target, output]) => {
            let words = [library, target, output].map(|word| word.to_string_lossy());
            jitlink::run(&words[0], &words[1], &words[2])
        }
        (Some("warm"), [bytes]) => {
            let bytes = bytes.to_str().and_then(|text| text.parse().ok());
            warm(bytes.unwrap_or(0))
        }
        _ => Err(io::Error::other(
            "run SECONDS PROGRAM ..., floor TARGET OUTPUT COPY, jitlink LIBRARY TARGET OUTPUT, or warm BYTES",
        )),
    }
}

/// What a page has, or less.
const PAGE: usize = 4 << 10;

fn warm(bytes: usize) -> io::Result<()> {
    let mut memory = MmapMut::map_anon(bytes.max(1))?;
    #[cfg(target_os = "linux")]
    let _ = memory.advise(memmap2::Advice::HugePage);
    for byte in memory.iter_mut().step_by(PAGE) {
        *byte = 1;
    }
    Ok(())
}

fn run(limit: f64, program: &OsString, arguments: &[OsString]) -> io::Result<()> {
    let begun = Instant::now();
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let looks = limit < 0.0;
    let mut anonymous = 0;
    let ended = if looks {
        watch(
            &mut child,
            Duration::from_micros(300),
            Duration::MAX,
            &mut anonymous,
        )?
    } else if limit > 0.0 {
        // Short runs are waited for without looking.
        watch(
            &mut child,
            Duration::from_millis(50),
            Duration::from_secs_f64(limit),
            &mut 0,
        )?
    } else {
        child.wait()?;
        true
    };
    let status = child.wait()?;
    let wall = begun.elapsed().as_secs_f64();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(io::Error::from)?;
    let seconds = |time: nix::sys::time::TimeVal| time.num_microseconds() as f64 / 1e6;
    let code = if ended {
        status.code().unwrap_or(255)
    } else {
        -1
    };
    writeln!(
        io::stdout(),
        "{wall} {} {} {} {anonymous} {code}",
        seconds(usage.user_time()),
        seconds(usage.system_time()),
        usage.max_rss() * 1024,
    )
}

/// Waits for the end, and keeps the largest anonymous memory that was seen; ends the program after
/// a time.
fn watch(
    child: &mut Child,
    step: Duration,
    limit: Duration,
    anonymous: &mut u64,
) -> io::Result<bool> {
    let begun = Instant::now();
    let status = format!("/proc/{}/status", child.id());
    loop {
        if child.try_wait()?.is_some() {
            return Ok(true);
        }
        if begun.elapsed() > limit {
            child.kill()?;
            return Ok(false);
        }
        if step < Duration::from_millis(1) {
            let text = std::fs::read_to_string(&status).unwrap_or_default();
            let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:"));
            let size =
                line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
            *anonymous = size.unwrap_or(0).saturating_mul(1024).max(*anonymous);
        }
        std::thread::sleep(step);
    }
}

fn print_floor(target: &OsString, output: &OsString, copy: &OsString) -> io::Result<()> {
    let inputs: Vec<String> = io::stdin().lock().lines().collect::<io::Result<_>>()?;
    let size = std::fs::metadata(output)?.len();
    let target = target.to_str().and_then(Target::parse);
    let target = target.ok_or_else(|| io::Error::other("an unknown target"))?;
    let copy = copy.to_string_lossy();
    let floor = floor::floor(&inputs, target, size, &copy)?;
    writeln!(
        io::stdout(),
        "{} {} {}",
        floor.seconds,
        floor.decoded,
        floor.entities
    )
}
