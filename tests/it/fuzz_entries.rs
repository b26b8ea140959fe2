//! The functions that the fuzz targets call (`fuzz/src/entries.rs`), on fixtures and on fixtures with changed bytes: none panics, and none runs
//! long. The changes are the same every time; `CUWELD_FUZZ=100000` makes more of them. `CUWELD_FUZZ_CORPUS` names a folder that gets the fixtures
//! (`cargo xtask fuzz`).

#[path = "../../fuzz/src/entries.rs"]
mod entries;

use std::error::Error;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

/// How many changed fixtures each function gets.
const CHANGES: usize = 3000;
/// Longest that one call may take; a link of such a small input takes milliseconds.
const LONGEST: Duration = Duration::from_secs(20);
/// Larger fixtures add time and no new kinds of bytes.
const LARGEST: u64 = 60_000;
/// How many fixtures each function gets at most.
const FIXTURES: usize = 60;

type Entry = fn(&[u8]);

/// Files of a folder of this project whose name ends so, sorted.
fn files(folder: &str, ending: &str) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    fn walk(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let path = entry.path();
            if path.is_dir() {
                walk(&path, ending, found)?;
            } else if path.to_string_lossy().ends_with(ending) && entry.metadata()?.len() < LARGEST
            {
                found.push(path);
            }
        }
        Ok(())
    }
    let mut found = Vec::new();
    walk(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join(folder),
        ending,
        &mut found,
    )?;
    found.sort();
    Ok(found)
}

/// A sequence of numbers that is the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }

    /// Cuts, flips, overwrites, or puts a piece of the file elsewhere in it.
    fn change(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(3) {
            let at = self.below(bytes.len());
            let length = 1 + self.below(8);
            let end = (at + length).min(bytes.len());
            match self.below(6) {
                0 => bytes.truncate(at),
                1 => bytes[at..end].fill(0xff),
                2 => bytes[at..end].fill(0),
                3 => {
                    let from = self.below(bytes.len().saturating_sub(end - at));
                    bytes.copy_within(from..from + (end - at), at);
                }
                _ if bytes.is_empty() => {}
                4 => bytes[at] = self.below(256) as u8,
                _ => bytes[at] ^= 1 << self.below(8),
            }
            if bytes.is_empty() {
                return;
            }
        }
    }
}

/// The input of a call. It stays in `target/tmp/fuzz-<test>` if the call panics.
struct Kept<'a>(&'a [u8]);

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let thread = std::thread::current();
            let name = format!("fuzz-{}", thread.name().unwrap_or("input"));
            // What cannot be written is lost; the panic says what failed.
            let _ = std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name), self.0);
        }
    }
}

fn call(entry: Entry, fixtures: &[Vec<u8>]) -> Result<(), Box<dyn Error>> {
    assert!(!fixtures.is_empty(), "no fixture");
    let changes = match std::env::var("CUWELD_FUZZ") {
        Ok(number) => number.parse()?,
        Err(_) => CHANGES,
    };
    let timed = |bytes: &[u8]| {
        let start = Instant::now();
        let _kept = Kept(bytes);
        entry(bytes);
        assert!(start.elapsed() < LONGEST, "{:?}", start.elapsed());
    };
    let corpus = std::env::var_os("CUWELD_FUZZ_CORPUS").map(PathBuf::from);
    for (number, bytes) in fixtures.iter().enumerate() {
        timed(bytes);
        if let Some(folder) = &corpus {
            std::fs::write(
                folder.join(format!("fixture-{number}-{}", bytes.len())),
                bytes,
            )?;
        }
    }
    let mut numbers = Numbers(0x0dd0_5eed_cafe_f00d);
    for _ in 0..changes {
        let mut bytes = fixtures[numbers.below(fixtures.len())].clone();
        numbers.change(&mut bytes);
        timed(&bytes);
    }
    Ok(())
}

/// Calls a function with files of a folder.
fn call_with(entry: Entry, folder: &str, ending: &str) -> Result<(), Box<dyn Error>> {
    let files = files(folder, ending)?;
    let step = files.len().div_ceil(FIXTURES).max(1);
    let fixtures: Result<Vec<_>, _> = files.iter().step_by(step).map(std::fs::read).collect();
    call(entry, &fixtures?)
}

/// Modules and pipelines in an editor. Sessions take longer than other calls.
#[test]
fn editors() -> Result<(), Box<dyn Error>> {
    call_with(entries::language_server, "tests/language_server", ".lir")?;
    call_with(entries::language_server, "tests/language_server", ".toml")
}

#[test]
fn fatbins() -> Result<(), Box<dyn Error>> {
    // The fatbins within nvcc's objects.
    let magic = 0xba55_ed50_u32.to_le_bytes();
    let mut fixtures = Vec::new();
    for file in files("tests/fixtures/input", ".o")? {
        let bytes = std::fs::read(file)?;
        if let Some(at) = bytes.windows(4).position(|window| window == magic) {
            fixtures.push(bytes[at..].to_vec());
        }
    }
    call(entries::fatbin, &fixtures)?;
    call_with(entries::fatbin, "tests/links", ".fatbin")
}

#[test]
fn archives() -> Result<(), Box<dyn Error>> {
    call_with(entries::archive, "tests/links", ".a")
}

#[test]
fn host_objects() -> Result<(), Box<dyn Error>> {
    call_with(entries::host_object, "tests", ".o")
}

#[test]
fn device_elfs() -> Result<(), Box<dyn Error>> {
    call_with(entries::device_elf, "tests/links", "0/a.cubin")
}

/// Links of two objects, with options that follow each other.
#[test]
fn links() -> Result<(), Box<dyn Error>> {
    let mut fixtures = Vec::new();
    for (options, first) in (0..64).cycle().zip(files("tests/links", "0/a.cubin")?) {
        let name = first.to_string_lossy();
        let target = u8::from(name.contains("/sm_90/")) + 2 * u8::from(name.contains("/sm_100/"));
        let (bytes, second) = (std::fs::read(&first)?, first.with_file_name("b.cubin"));
        let length = bytes.len().div_ceil(256);
        let mut fixture = vec![options & !3 | target];
        fixture.extend(u16::try_from(length)?.to_le_bytes());
        fixture.extend(&bytes);
        fixture.resize(3 + (length << 8), 0);
        fixture.extend(std::fs::read(second).unwrap_or_default());
        fixtures.push(fixture);
    }
    let step = fixtures.len().div_ceil(FIXTURES).max(1);
    let fixtures: Vec<_> = fixtures.into_iter().step_by(step).collect();
    call(entries::link, &fixtures)
}

/// The Mercury code and the ranges of registers of objects.
#[test]
fn mercury_sections() -> Result<(), Box<dyn Error>> {
    let mut fixtures = Vec::new();
    for file in files("tests/links/mercury", "0/a.cubin")? {
        let bytes = std::fs::read(file)?;
        let file = object::read::elf::ElfFile64::<object::Endianness>::parse(&bytes[..])?;
        for section in object::Object::sections(&file) {
            let name = object::ObjectSection::name(&section)?;
            let reader = match name {
                _ if name.starts_with(".nv.capmerc.text.") => 0,
                ".nv_debug_info_reg_sass" => 1,
                _ => continue,
            };
            let data = object::ObjectSection::data(&section)?;
            fixtures.push([&[reader][..], data].concat());
        }
    }
    call(entries::mercury_section, &fixtures)
}

#[test]
fn texts_of_the_ir() -> Result<(), Box<dyn Error>> {
    call_with(entries::lir, "tests/passes", ".lir")
}

#[test]
fn pipelines() -> Result<(), Box<dyn Error>> {
    call_with(entries::pipeline, "pipelines", ".toml")?;
    let line = b"classify,select-objects,symbol-resolve{order=forward},@debug,emit".to_vec();
    call(entries::pipeline, &[line])
}

#[test]
fn response_files() -> Result<(), Box<dyn Error>> {
    let words = br#"-arch=sm_90 -m64 --keep "a b.o" -L=x -l y -Xptxas "-v,-O3" --maxrregcount 0x20 -r -o out.cubin --options-file more @at"#;
    call(
        entries::response_file,
        &[
            words.to_vec(),
            b"-g -lineinfo \\\"x\\\" -time - a.o\0rest".to_vec(),
        ],
    )
}
