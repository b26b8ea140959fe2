//! Times of the two libraries that unpack Zstandard, in turn, on cubins as fatbinary packs them.

use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use cuweld::internals::fatbin;
use cuweld::internals::zstd::by_libzstd;
use cuweld::internals::zstd::by_ruzstd;

use crate::run::median;
use crate::shapes::Case;
use crate::shapes::Shape;
use crate::tools::Failure;
use crate::tools::Tools;

/// Cubins of about 14 MB.
pub const CASES: [Case; 2] = [
    Case {
        name: "kern-7500",
        sm: "sm_90",
        shape: Shape::Kernels,
        size: 7500,
        aim: None,
        long: false,
    },
    Case {
        name: "kern-4700-sm100",
        sm: "sm_100",
        shape: Shape::Kernels,
        size: 4700,
        aim: None,
        long: false,
    },
];

/// Prints the table's head.
pub fn head() {
    println!(
        "| cubin | bytes | packed | libzstd ms | ruzstd ms | ruzstd / libzstd |\n|---|--:|--:|--:|--:|--:|"
    );
}

/// Prints a row: medians, and the median of the ratios run by run.
pub fn row(name: &str, cubin: &Path, tools: &Tools, runs: usize) -> Result<(), Failure> {
    let packed = pack(cubin, &tools.folder.join("packed.fatbin"))?;
    let members = fatbin::parse(&packed).map_err(|error| error.to_string())?;
    let member = members.first().ok_or("fatbinary packs nothing")?;
    let size = member.header.uncompressed_size.get() as usize;
    let timed = |unpack: fn(&[u8], &mut [u8]) -> Result<usize, String>| {
        let start = Instant::now();
        let mut unpacked = vec![0; size];
        let length = unpack(member.stored, &mut unpacked)?;
        if length != size {
            return Err(format!("{length} bytes, expected {size}"));
        }
        Ok(start.elapsed().as_secs_f64() * 1e3)
    };
    let mut times = Vec::new();
    for _ in 0..runs {
        times.push((timed(by_libzstd)?, timed(by_ruzstd)?));
    }
    println!(
        "| {name} | {size} | {} | {:.2} | {:.2} | {:.1} |",
        member.stored.len(),
        median(times.iter().map(|(libzstd, _)| *libzstd)),
        median(times.iter().map(|(_, ruzstd)| *ruzstd)),
        median(times.iter().map(|(libzstd, ruzstd)| ruzstd / libzstd)),
    );
    Ok(())
}

/// Packs a cubin into a fatbin, as fatbinary does by default.
fn pack(cubin: &Path, fatbin: &PathBuf) -> Result<Vec<u8>, Failure> {
    let bytes = std::fs::read(cubin).map_err(|error| format!("{}: {error}", cubin.display()))?;
    let flags = bytes.get(48..52).and_then(|flags| flags.first_chunk::<4>());
    let sm = flags.map_or(0, |flags| (u32::from_le_bytes(*flags) >> 8) & 0xffff);
    let output = Command::new("fatbinary")
        .args([
            "-64",
            "--compress-all",
            &format!("--create={}", fatbin.display()),
        ])
        .arg(format!(
            "--image3=kind=elf,sm={sm},file={}",
            cubin.display()
        ))
        .output()
        .map_err(|error| format!("fatbinary, which packs the cubins: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    std::fs::read(fatbin).map_err(|error| error.to_string())
}
