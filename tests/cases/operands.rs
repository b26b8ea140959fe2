//! The registers that SASS instructions write and read, by the tables of `cuweld-elf` and by `nvdisasm -plr` of 13.0.88, which are to
//! say the same of every instruction.
//!
//! `CUWELD_OPERANDS` names files, one a line: cubins, and whatever cuobjdump takes cubins out of. Without it some cubins of tests/links
//! are looked at, and without the oracle none.

mod life_ranges;

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use cuweld_elf::sass::operands::{Generation, Operands};
use libtest_mimic::{Arguments, Conclusion, Trial};
use tempfile::TempDir;

use crate::harness::oracle;
use crate::harness::threads::on_all;
use life_ranges::{Disassembled, disassembled};

/// Cubins that are looked at without the variable.
const CUBINS: usize = 24;

/// `e_machine` of device code, and where it stands.
const CUDA: [u8; 2] = [190, 0];
const MACHINE: usize = 18;

pub fn run_all(arguments: &Arguments) -> Result<Conclusion, Box<dyn Error>> {
    let trials = vec![Trial::test("operands::tables", || Ok(compare_all()?))];
    Ok(libtest_mimic::run(arguments, trials))
}

/// What was seen of all files.
#[derive(Default)]
struct Seen {
    instructions: usize,
    /// Instructions that the tables do not have, by operation and name, and one of them.
    unknown: BTreeMap<(u16, String), (usize, String)>,
    /// Instructions of which the tables say something else, likewise.
    differing: BTreeMap<(u16, String), (usize, String)>,
}

fn compare_all() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout();
    let Some(tools) = oracle::tools() else {
        writeln!(
            out,
            "operands: there is no nvdisasm (see tests/tools/oracle)"
        )?;
        return Ok(());
    };
    let taken_out = TempDir::new()?;
    let asked = std::env::var("CUWELD_OPERANDS").ok();
    let files = match &asked {
        None => cubins_of_cases()?,
        Some(asked) => {
            let files = asked.lines().map(Path::new);
            let files: Result<Vec<_>, _> = (0..)
                .zip(files)
                .map(|(number, file)| {
                    cubins_of(&tools, file, &taken_out.path().join(format!("{number}")))
                })
                .collect();
            files?.concat()
        }
    };
    let (next, seen) = (AtomicUsize::new(0), Mutex::new(Seen::default()));
    on_all(|| {
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let text = text_of(&tools, file)?;
            let mut seen = seen.lock().map_err(|error| error.to_string())?;
            for instruction in disassembled(&text)? {
                seen.add(&instruction, file);
            }
        }
        Ok(())
    })?;
    let seen = seen.into_inner()?;
    let unknown: usize = seen.unknown.values().map(|(count, _)| count).sum();
    let differing: usize = seen.differing.values().map(|(count, _)| count).sum();
    if asked.is_some() {
        for ((operation, name), (count, text)) in &seen.unknown {
            writeln!(
                out,
                "not in the table {count:>8}: {operation:03x} {name}, such as {text}"
            )?;
        }
    }
    for ((operation, name), (count, text)) in &seen.differing {
        writeln!(
            out,
            "differs {count:>8}: {operation:03x} {name}, such as {text}"
        )?;
    }
    writeln!(
        out,
        "operands: {} instructions of {} cubins, {unknown} not in the tables, {differing} of which the tables say something else",
        seen.instructions,
        files.len()
    )?;
    match (seen.instructions, differing) {
        (0, _) => Err("no instruction was looked at".into()),
        (_, 0) => Ok(()),
        _ => Err("the tables are wrong, see above".into()),
    }
}

impl Seen {
    fn add(&mut self, instruction: &Disassembled, file: &Path) {
        self.instructions += 1;
        let Some(generation) = Generation::of(instruction.sm) else {
            return;
        };
        let word = instruction.word;
        let key = (word.operation(), instruction.name().to_owned());
        let Some(operands) = Operands::of(generation, word) else {
            let unknown = self.unknown.entry(key);
            unknown.or_insert_with(|| (0, instruction.text.clone())).0 += 1;
            return;
        };
        // What is written and never read is not shown.
        let defined = operands
            .defined
            .without(&operands.defined.without(&instruction.defined));
        let used = operands
            .used
            .without(&operands.used.without(&instruction.shown));
        if used != instruction.used
            || defined != instruction.defined
            || operands.name != instruction.name()
        {
            let text = format!(
                "{}, {word:x?}, of {}: {operands:?}",
                instruction.text,
                file.display()
            );
            self.differing.entry(key).or_insert((0, text)).0 += 1;
        }
    }
}

/// Returns what `nvdisasm` says of a cubin.
fn text_of(tools: &Path, cubin: &Path) -> Result<String, String> {
    let mut nvdisasm = Command::new(tools.join("nvdisasm"));
    let done = nvdisasm.args(["-plr", "-hex"]).arg(cubin).output();
    let done = done.map_err(|error| error.to_string())?;
    match done.status.success() {
        true => String::from_utf8(done.stdout).map_err(|error| error.to_string()),
        // Damaged ones are cases, too.
        false => Ok(String::new()),
    }
}

/// Returns some cubins of the link cases, of all GPUs and at places that are far from each other.
fn cubins_of_cases() -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut cubins = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/links")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if is_cubin(&path)? {
                cubins.push(path);
            }
        }
    }
    cubins.sort();
    let step = (cubins.len() / CUBINS).max(1);
    Ok(cubins.into_iter().step_by(step).collect())
}

fn is_cubin(path: &Path) -> std::io::Result<bool> {
    let bytes = std::fs::read(path)?;
    Ok(bytes.starts_with(b"\x7fELF") && bytes.get(MACHINE..MACHINE + 2) == Some(&CUDA))
}

/// Returns the cubins in a file, which are put into a new folder if it is none itself.
fn cubins_of(tools: &Path, file: &Path, folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let file = std::path::absolute(file)?;
    if is_cubin(&file)? {
        return Ok(vec![file]);
    }
    std::fs::create_dir_all(folder)?;
    let mut cuobjdump = Command::new(tools.join("cuobjdump"));
    let done = cuobjdump
        .args(["-xelf", "all"])
        .arg(&file)
        .current_dir(folder)
        .output()?;
    if !done.status.success() {
        return Err(format!(
            "{}: {}",
            file.display(),
            String::from_utf8_lossy(&done.stderr)
        )
        .into());
    }
    let cubins: Result<Vec<_>, _> = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect();
    cubins.map_err(|error: std::io::Error| error.into())
}
