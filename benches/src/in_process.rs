//! Links within a process: NVIDIA's libnvJitLink and ours in turn, each in a process of its own.
#![expect(clippy::print_stdout, reason = "a program whose output is a table")]

use std::path::Path;
use std::path::PathBuf;

use crate::run::median;
use crate::run::of_inputs;
use crate::tools::Failure;
use crate::tools::Tools;

/// The cases, and how many of their inputs are linked.
pub const CASES: [(&str, usize); 7] = [
    ("tiny", 2),
    ("tiny-sm100", 2),
    ("mixed-40", 40),
    ("mixed-100", 100),
    ("mixed-100-sm100", 100),
    ("kern-1000", 1),
    ("lean-1000", 1_000),
];

/// Processes of each library.
const RUNS: usize = 5;

/// The two libraries.
pub struct Libraries {
    ours: PathBuf,
    nvidias: PathBuf,
}

/// What a process took: seconds for loading, bytes that this made resident and those of them that no
/// other process can share, seconds of a link, bytes that were resident beyond these at most.
struct Taken {
    load: f64,
    library: f64,
    private: f64,
    link: f64,
    links: f64,
    code: f64,
}

impl Libraries {
    /// Looks for ours beside this program, and for NVIDIA's in the folder that `CUDA_ORACLE` names.
    pub fn find(tools: &Tools) -> Result<Self, Failure> {
        let name = "libnvJitLink.so.13";
        let ours = tools.beside(name);
        let oracle = std::env::var_os("CUDA_ORACLE")
            .ok_or("NVIDIA's tools are not there: eval \"$(tests/tools/oracle)\"")?;
        let nvidias = PathBuf::from(oracle).join("lib").join(name);
        for library in [&ours, &nvidias] {
            if !library.is_file() {
                return Err(format!(
                    "there is no {}: cargo xtask jitlink",
                    library.display()
                ));
            }
        }
        Ok(Libraries { ours, nvidias })
    }
}

/// Prints the head of the table.
pub fn head() {
    println!(
        "| link | load, ms | | library, MB | | private, MB | | link, ms | | faster | links, MB | | same bytes |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|");
    println!(
        "| | NVIDIA's | cuweld's | NVIDIA's | cuweld's | NVIDIA's | cuweld's | NVIDIA's | cuweld's | | NVIDIA's | cuweld's | |"
    );
}

/// Measures the first inputs of a case, and prints its row.
pub fn row(
    name: &str,
    (target, folder, inputs): (&str, &Path, &[String]),
    tools: &Tools,
    libraries: &Libraries,
) -> Result<(), Failure> {
    let outputs = [&libraries.nvidias, &libraries.ours].map(|library| {
        let name = if library == &libraries.ours {
            "cuweld.out"
        } else {
            "nvidia.out"
        };
        (library, folder.join(name))
    });
    let mut taken = [Vec::new(), Vec::new()];
    for run in 0..RUNS {
        for index in [run % 2, (run + 1) % 2] {
            let (library, output) = &outputs[index];
            taken[index].push(process(tools, library, target, folder, inputs, output)?);
        }
    }
    let [nvidias, ours] = &taken;
    let columns = |value: &dyn Fn(&Taken) -> f64, unit: f64| {
        [nvidias, ours].map(|all| median(all.iter().map(value)) / unit)
    };
    let load = columns(&|taken| taken.load, 1e-3);
    let library = columns(&|taken| taken.library, 1e6);
    let private = columns(&|taken| taken.private, 1e6);
    let link = columns(&|taken| taken.link, 1e-3);
    let links = columns(&|taken| taken.links, 1e6);
    let failed = taken.iter().flatten().any(|taken| taken.code != 0.0);
    let bytes = [&outputs[0].1, &outputs[1].1].map(|path| std::fs::read(path).unwrap_or_default());
    let same = match failed {
        true => "a link failed",
        false if bytes[0] == bytes[1] => "yes",
        false => "no",
    };
    println!(
        "| {} of {name} | {:.2} | {:.2} | {:.1} | {:.1} | {:.1} | {:.1} | {:.2} | {:.2} | {:.1} times | {:.1} | {:.1} | {same} |",
        inputs.len(),
        load[0],
        load[1],
        library[0],
        library[1],
        private[0],
        private[1],
        link[0],
        link[1],
        link[0] / link[1],
        links[0],
        links[1]
    );
    for (_, output) in outputs {
        // What is not there need not go.
        let _ = std::fs::remove_file(output);
    }
    Ok(())
}

fn process(
    tools: &Tools,
    library: &Path,
    target: &str,
    folder: &Path,
    inputs: &[String],
    output: &Path,
) -> Result<Taken, Failure> {
    let mut process = tools.measure();
    process
        .arg("jitlink")
        .args([library, Path::new(target), output])
        .env("CUWELD_STAMP", "nvjitlink")
        .env("CUWELD_TOOLKIT", "13.0.88")
        .current_dir(folder);
    let (numbers, text) = of_inputs(&mut process, inputs)?;
    match numbers.as_slice() {
        [load, library, private, link, links, code] => Ok(Taken {
            load: *load,
            library: *library,
            private: *private,
            link: *link,
            links: *links,
            code: *code,
        }),
        _ => Err(format!("{} says '{text}'", library.display())),
    }
}
