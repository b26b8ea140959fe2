//! Device code of compilers other than nvcc, linked by both: programs of `tests/compilers/clang`, and of front ends on PyPI if `CUWELD_FRONT_ENDS`
//! asks for them (`tests/README.md`). Nothing without nvlink.
#![allow(clippy::print_stdout, reason = "what was linked is shown")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use crate::harness::oracle;
use crate::harness::tally::Tally;

const CLANG: &str = "clang-19";

const TARGETS: [&str; 9] = [
    "sm_80", "sm_100", "sm_90", "sm_120", "sm_75", "sm_103", "sm_89", "sm_121", "sm_90a",
];

/// Options of clang.
const LEVELS: [&[&str]; 6] = [
    &["-O2"],
    &["-O0", "-g"],
    &["-O1"],
    &["-O3", "-gline-tables-only"],
    &["-Os", "-g"],
    &["-O0"],
];

/// Options of ptxas, and nvcc's for the same.
const MODES: [(&str, &str); 3] = [("-O3", "-lineinfo"), ("-g", "-G"), ("-O1", "-Xptxas=-O1")];

/// The PTX version that 13.0's ptxas knows; front ends write later ones, with nothing of them.
const PTX_VERSION: f32 = 9.0;

/// How a program is compiled for a link.
#[derive(Clone, Copy)]
struct Way {
    level: &'static [&'static str],
    target: &'static str,
    mode: (&'static str, &'static str),
}

/// A folder with the units of a program.
struct Program {
    folder: PathBuf,
}

impl Program {
    /// Returns the folders in `root` by name.
    fn all(root: &Path) -> Vec<Self> {
        let entries = std::fs::read_dir(root).unwrap().flatten();
        let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        folders.retain(|folder| folder.is_dir());
        folders.sort();
        let programs = folders.into_iter().map(|folder| Self { folder });
        programs.collect()
    }

    /// Links the program, compiled in a `way`, in many ways.
    fn link(&self, tools: &Path, way: Way) -> Tally {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let mut units = Vec::new();
        let mut kernels = Vec::new();
        let mut files: Vec<_> = std::fs::read_dir(&self.folder).unwrap().flatten().collect();
        files.sort_by_key(std::fs::DirEntry::file_name);
        for file in files {
            let name = file.file_name().to_string_lossy().into_owned();
            let Some((unit, kind)) = name.rsplit_once('.') else {
                continue;
            };
            let object = format!("{unit}.cubin");
            let done = match (unit.ends_with(".nvcc"), kind) {
                (_, "h") => continue,
                (true, _) => by_nvcc(tools, &file.path(), &folder.join(&object), way),
                (false, "ptx") => {
                    let text = std::fs::read_to_string(file.path()).unwrap();
                    by_ptxas(tools, folder, unit, &text, way, &mut kernels)
                }
                (false, _) => by_clang(&file.path(), way)
                    .and_then(|text| by_ptxas(tools, folder, unit, &text, way, &mut kernels)),
            };
            match done {
                Ok(()) => units.push(object),
                // PTX of front ends may be for another architecture; sources here are not.
                Err(_) if kind == "ptx" => {}
                // The host's library may be one that clang does not compile for a GPU.
                Err(said) if kind == "cpp" => {
                    println!("{name} is not compiled, its program not linked: {said}");
                    return Tally::default();
                }
                Err(said) => panic!("{name} for {}: {said}", way.target),
            }
        }
        self.link_units(tools, folder, way, &units, &kernels)
    }

    fn link_units(
        &self,
        tools: &Path,
        folder: &Path,
        way: Way,
        units: &[String],
        kernels: &[String],
    ) -> Tally {
        let mut tally = Tally::default();
        let name = self.folder.file_name().unwrap_or_default();
        let name = format!("{} {:?} {}", name.to_string_lossy(), way.level, way.mode.0);
        let arch = format!("-arch={}", way.target);
        let mut link = |options: &[&str], units: &[&str]| {
            let words = [&[arch.as_str()], options, units].concat();
            let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
            let outcome = tally.link(
                tools,
                folder,
                &words,
                &format!("{name} {}", words.join(" ")),
            );
            outcome.and_then(|outcome| outcome.output)
        };
        let units: Vec<&str> = units.iter().map(String::as_str).collect();
        let Some((first, others)) = units.split_first() else {
            return tally;
        };
        let backwards: Vec<&str> = units.iter().rev().copied().collect();
        for options in [
            &[][..],
            &["-g"],
            &["-suppress-debug-info"],
            &["-extrawarn", "-v"],
        ] {
            link(options, &units);
        }
        link(&[], &backwards);
        link(&[], others);
        for kernel in kernels.iter().take(2) {
            let used = format!("-kernels-used={kernel}");
            link(&[&used], &units);
            link(&[&used, "-g"], &backwards);
        }
        let inputs = [(&[][..], &units), (&["-g"], &backwards)];
        for (options, inputs) in inputs {
            let Some(again) = link(&[&["-r"], options].concat(), inputs) else {
                continue;
            };
            std::fs::write(folder.join("again.o.cubin"), again).unwrap();
            for options in [&[][..], &["-g"], &["-r"]] {
                link(options, &["again.o.cubin"]);
            }
        }
        // The program in two steps, as builds with `nvcc -dlink -r` do it.
        if let Some(most) = link(&["-r"], others) {
            std::fs::write(folder.join("most.o.cubin"), most).unwrap();
            link(&[], &["most.o.cubin", first]);
            link(&["-g"], &[first, "most.o.cubin"]);
        }
        tally
    }
}

/// Returns the PTX that clang makes of a unit. CUDA's headers are not there for it: those of 13.0 are not for clang.
fn by_clang(unit: &Path, way: Way) -> Result<String, String> {
    let architecture = match way.target {
        "sm_75" | "sm_80" | "sm_89" | "sm_90a" => way.target,
        // clang 19 has no later one.
        _ => "sm_90",
    };
    let mut command = Command::new(CLANG);
    command.args(way.level).args(["-S", "-w", "-o", "-"]);
    command.args(["-Xclang", "-target-feature", "-Xclang", "+ptx80"]);
    let kind = unit.extension().unwrap_or_default().to_string_lossy();
    if kind == "cu" {
        command.args(["-x", "cuda", "-nocudainc", "-nocudalib", "-std=c++17"]);
        command.args(["--cuda-device-only", "-fgpu-rdc"]);
        command.arg(format!("--cuda-gpu-arch={architecture}"));
    } else {
        command.arg("--target=nvptx64-nvidia-cuda");
        command.arg(format!("-march={architecture}"));
    }
    if kind == "cpp" {
        command.args([
            "-std=c++17",
            "-fno-exceptions",
            "-D__x86_64__",
            "-D_GNU_SOURCE",
        ]);
        for folder in host_headers() {
            command.arg("-isystem").arg(folder);
        }
    }
    said(command.arg(unit)).map(|text| String::from_utf8_lossy(&text).into_owned())
}

/// Returns the folders of the host's C++ headers, of which programs for the GPU take what needs no library.
fn host_headers() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for root in ["/usr/include/c++", "/usr/include/x86_64-linux-gnu/c++"] {
        let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
        let mut versions: Vec<_> = entries.map(|entry| entry.path()).collect();
        versions.sort();
        folders.extend(versions.pop());
    }
    folders.extend(["/usr/include/x86_64-linux-gnu", "/usr/include"].map(PathBuf::from));
    folders
}

fn by_nvcc(tools: &Path, unit: &Path, object: &Path, way: Way) -> Result<(), String> {
    let mut command = Command::new(tools.join("nvcc"));
    command.args(["-std=c++17", "-rdc=true", "-cubin", "-w", way.mode.1]);
    command.args(["-arch", way.target]).arg(unit);
    said(command.arg("-o").arg(object)).map(|_| ())
}

/// Compiles PTX to an object of the unit's name, and notes the kernels in it.
fn by_ptxas(
    tools: &Path,
    folder: &Path,
    unit: &str,
    text: &str,
    way: Way,
    kernels: &mut Vec<String>,
) -> Result<(), String> {
    let mut out = String::new();
    // Warp ends its files as C ends texts.
    for line in text.trim_end_matches('\0').lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let line = match words[..] {
            [".version", version] if version.parse().is_ok_and(|v: f32| v > PTX_VERSION) => {
                ".version 9.0"
            }
            [".target", ..] => &for_target(line, way.target),
            _ => line,
        };
        if let Some(at) = words.iter().take(2).position(|word| *word == ".entry") {
            let name = words.get(at + 1).map(|name| name.trim_end_matches('('));
            kernels.extend(name.map(str::to_owned));
        }
        let _ = writeln!(out, "{line}");
    }
    std::fs::write(folder.join(format!("{unit}.ptx")), out).unwrap();
    let mut command = Command::new(tools.join("ptxas"));
    command.args(["-arch", way.target, "-c", way.mode.0]);
    command.arg(format!("{unit}.ptx"));
    command.args(["-o", &format!("{unit}.cubin")]);
    said(command.current_dir(folder)).map(|_| ())
}

/// Returns a `.target` line for the target of the link: without `a`, and at most that target.
fn for_target(line: &str, target: &str) -> String {
    let number = |name: &str| name.trim_start_matches("sm_").trim_end_matches('a').parse();
    let mut words = line.split([' ', '\t', ',']).filter(|word| !word.is_empty());
    let named = words.nth(1).unwrap_or_default();
    let least: u32 = number(named).unwrap_or(0).min(number(target).unwrap_or(0));
    match named == target {
        true => format!(".target {named}"),
        false => format!(".target sm_{least}"),
    }
}

/// Runs a program; what it writes to stdout, or to stderr if it fails.
fn said(command: &mut Command) -> Result<Vec<u8>, String> {
    let done = command.output().map_err(|error| error.to_string())?;
    match done.status.success() {
        true => Ok(done.stdout),
        false => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
    }
}

/// Links programs, each in its ways, and fails if something differs.
fn link_all(tools: &Path, title: &str, runs: &[(&Program, Way)]) {
    let next = AtomicUsize::new(0);
    let tallies = Mutex::new(BTreeMap::<&str, Tally>::new());
    let threads = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((program, way)) = runs.get(next.fetch_add(1, Relaxed)) {
                    let tally = program.link(tools, *way);
                    let mut tallies = tallies.lock().unwrap();
                    tallies.entry(way.target).or_default().add(tally);
                }
            });
        }
    });
    let mut whole = Tally::default();
    for (target, tally) in tallies.into_inner().unwrap() {
        println!("{title} {target}: {tally}");
        whole.add(tally);
    }
    println!("{title}: {whole}");
    assert!(whole.different.is_empty());
}

/// Returns all ways to compile, those for an option of clang alone where `levels` are.
fn all_ways(levels: &'static [&'static [&'static str]]) -> Vec<Way> {
    let mut ways = Vec::new();
    for &target in &TARGETS {
        for &level in levels {
            ways.extend(MODES.map(|mode| Way {
                level,
                target,
                mode,
            }));
        }
    }
    ways
}

#[test]
fn clang() {
    let Some(tools) = oracle::tools() else { return };
    if said(Command::new(CLANG).arg("--version")).is_err() {
        println!("{CLANG} is not here: no program of clang is linked.");
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compilers/clang");
    let programs = Program::all(&root);
    let asked = std::env::var("CUWELD_CLANG").ok();
    let mut runs = Vec::new();
    for (index, program) in programs.iter().enumerate() {
        match asked.as_deref() {
            // Nobody waits long for two ways each, one of them without Mercury.
            None => runs.extend([0, 1].map(|more| {
                let level = LEVELS[(index + more) % 3];
                let target = TARGETS[(2 * index + more) % 4];
                let mode = MODES[(index + 2 * more) % MODES.len()];
                (
                    program,
                    Way {
                        level,
                        target,
                        mode,
                    },
                )
            })),
            Some(words) if words == "all" || program.folder.ends_with(words) => {
                runs.extend(all_ways(&LEVELS).into_iter().map(|way| (program, way)));
            }
            Some(_) => {}
        }
    }
    link_all(&tools, "clang", &runs);
}

/// Links PTX that front ends write, each of a package of PyPI in an environment of its own.
#[test]
fn front_ends() {
    let Some(tools) = oracle::tools() else { return };
    let Ok(asked) = std::env::var("CUWELD_FRONT_ENDS") else {
        return;
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("target/front-ends");
    let names: Vec<&str> = match asked.as_str() {
        "all" => vec!["numba", "triton", "warp"],
        some => some.split(',').collect(),
    };
    for name in names {
        let programs = match name.contains('/') {
            // A folder with a folder of PTX for each program.
            true => PathBuf::from(name),
            false => {
                let mut command = Command::new(root.join("tests/tools/front-end"));
                said(command.arg(name).arg(&folder)).unwrap_or_else(|said| panic!("{said}"));
                folder.join(name)
            }
        };
        let programs = Program::all(&programs);
        let ways = all_ways(&[&[]]);
        let mut runs = Vec::new();
        for program in &programs {
            runs.extend(ways.iter().map(|way| (program, *way)));
        }
        link_all(&tools, name, &runs);
    }
}
