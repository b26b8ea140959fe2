//! The whole device-link step: `nvcc -dlink` of NVIDIA's toolkit, of a shadow of it, and `cuweld
//! dlink`, in turn.
#![expect(clippy::print_stdout, reason = "a program whose output is a table")]

use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use crate::run::Taken;
use crate::run::median;
use crate::run::taken;
use crate::tools::Failure;
use crate::tools::Tools;
use crate::wrap;

/// Programs in C++ for several GPUs: name, number of objects, GPUs.
pub const PROGRAMS: [(&str, usize, &[&str]); 4] = [
    (README, 2, &["sm_80", "sm_90", "sm_100"]),
    ("2 objects", 2, &["sm_80", "sm_90", "sm_100"]),
    ("2 objects, before sm_100", 2, &["sm_80", "sm_86", "sm_90"]),
    (
        "70 objects",
        70,
        &[
            "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_110", "sm_120",
        ],
    ),
];

/// The program of the README, in place of a generated one.
const README: &str = "2 objects of the README";

/// Cases whose cubins are put into host objects, for one GPU.
pub const CASES: [&str; 3] = ["lean-1000", "weak-1000x100", "mixed-100-sm100"];

/// Runs of each program; those of nvcc end after one where it takes seconds.
const RUNS: usize = 11;

/// What does the step, in the order of the columns.
const WAYS: [&str; 3] = ["nvcc", "dlink", "shadow"];

/// Makes the shadow toolkit.
pub fn shadow(tools: &Tools, folder: &Path) -> Result<PathBuf, Failure> {
    let oracle = std::env::var_os("CUDA_ORACLE")
        .ok_or("NVIDIA's tools are not there: eval \"$(tests/tools/oracle)\"")?;
    let shadow = folder.join("shadow-toolkit");
    let mut make = Command::new(&tools.cuweld);
    make.args(["toolkit", "--device-link", "--from"])
        .arg(oracle);
    let done = make.arg("--to").arg(&shadow).output();
    match done.map_err(|error| error.to_string())? {
        done if done.status.success() => Ok(shadow),
        done => Err(String::from_utf8_lossy(&done.stderr).into_owned()),
    }
}

/// Returns the folder of a program of several GPUs, whose objects are made once, and their names.
pub fn program(
    root: &Path,
    name: &str,
    count: usize,
    targets: &[&str],
) -> Result<(PathBuf, Vec<String>), Failure> {
    let folder = root.join(name.replace([' ', ','], "-"));
    let names: Vec<String> = match name {
        README => ["a.o", "b.o"].map(str::to_owned).to_vec(),
        _ => (0..count).map(|index| format!("m{index}.o")).collect(),
    };
    if names.iter().all(|name| folder.join(name).is_file()) {
        return Ok((folder, names));
    }
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    match name {
        README => {
            let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/rdc");
            let sources = ["a.cu", "b.cu"].map(|source| sources.join(source));
            wrap::compile(&folder, targets, &sources)?;
        }
        _ => drop(wrap::classes(&folder, targets, count)?),
    }
    Ok((folder, names))
}

/// Prints the head of the table.
pub fn head() {
    println!(
        "| link | GPUs | in | `nvcc -dlink`, ms | `cuweld dlink`, ms | faster | shadow's `nvcc -dlink`, ms | faster | peak, MB | same device code |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|---|");
}

/// Measures a device link, and prints its row.
pub fn row(
    name: &str,
    (folder, inputs, targets): (&Path, &[String], &[&str]),
    tools: &Tools,
    shadow: &Path,
) -> Result<(), Failure> {
    std::fs::write(folder.join("inputs.txt"), inputs.join("\n"))
        .map_err(|error| error.to_string())?;
    let commands = WAYS.map(|way| command(way, targets, &tools.cuweld, shadow));
    let mut runs: [Vec<Taken>; 3] = Default::default();
    for run in 0..RUNS {
        for turn in 0..WAYS.len() {
            let way = (run + turn) % WAYS.len();
            if runs[way].iter().any(|taken| taken.wall > 2.0) {
                continue;
            }
            let one = taken(tools, folder, &commands[way])?;
            if one.code != 0 {
                return Err(format!(
                    "{} ends with {}",
                    commands[way].join(" "),
                    one.code
                ));
            }
            runs[way].push(one);
        }
    }
    let wall = |way: usize| 1e3 * median(runs[way].iter().map(|taken| taken.wall));
    let [nvcc, dlink, with_shadow] = [0, 1, 2].map(wall);
    let peak = runs[1].iter().map(|taken| taken.peak).max().unwrap_or(0);
    let bytes = inputs
        .iter()
        .filter_map(|input| std::fs::metadata(folder.join(input)).ok());
    let bytes: u64 = bytes.map(|file| file.len()).sum();
    let code = ["nvcc", "shadow"].map(|way| device_code(&folder.join(format!("{way}.o"))));
    let same = match code {
        [Some(nvidias), Some(ours)] if nvidias == ours => "yes",
        _ => "no",
    };
    println!(
        "| {name} | {} | {:.1} | {nvcc:.1} | {dlink:.1} | {:.1} times | {with_shadow:.1} | {:.1} times | {:.1} | {same} |",
        targets.len(),
        bytes as f64 / 1e6,
        nvcc / dlink,
        nvcc / with_shadow,
        peak as f64 / 1e6,
    );
    for way in WAYS {
        // What is not there need not go.
        let _ = std::fs::remove_file(folder.join(format!("{way}.o")));
    }
    Ok(())
}

/// Returns the words of a run: those of `measure`, the program's and its arguments.
fn command(way: &str, targets: &[&str], cuweld: &Path, shadow: &Path) -> Vec<String> {
    let program = match way {
        "nvcc" => PathBuf::from("nvcc"),
        "shadow" => shadow.join("bin/nvcc"),
        _ => cuweld.to_owned(),
    };
    let mut words = vec![
        "run".to_owned(),
        "0".to_owned(),
        program.to_string_lossy().into_owned(),
    ];
    if way == "dlink" {
        words.extend(["dlink".to_owned(), format!("--arch={}", targets.join(","))]);
    } else {
        words.push("-dlink".to_owned());
        for target in targets {
            let virtual_target = target.replace("sm_", "compute_");
            words.push(format!("-gencode=arch={virtual_target},code={target}"));
        }
    }
    words.extend(["--options-file", "inputs.txt", "-o"].map(str::to_owned));
    words.push(format!("{way}.o"));
    words
}

/// Returns the linked device code of a host object.
fn device_code(path: &Path) -> Option<Vec<u8>> {
    use object::Object;
    use object::ObjectSection;
    let bytes = std::fs::read(path).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    Some(file.section_by_name(".nv_fatbin")?.data().ok()?.to_vec())
}
