//! Programs as people write them, linked by both: `tests/programs`, of the headers of CCCL and the toolkit, and the device code of published packages.
//! Nothing without nvlink. What takes long is done if `CUWELD_PROGRAMS` or `CUWELD_PACKAGES` asks for it (`tests/README.md`).
#![allow(clippy::print_stdout, reason = "what was linked is shown")]

use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use crate::harness::oracle;
use crate::harness::tally::Tally;

/// Programs whose units take long to compile: linked if they are asked for.
const SLOW: [&str; 5] = [
    "device_wide",
    "reductions",
    "sequences",
    "sorting",
    "thrust",
];

/// The targets of programs, and what their units are compiled with.
const TARGETS: [&str; 4] = ["sm_80", "sm_90", "sm_100", "sm_120"];
const DEBUG: [&str; 3] = ["", "-lineinfo", "-G"];

/// Packages with code of toolkits that are linked; the newest have code of newer ones.
const PACKAGES: [&str; 3] = [
    "nvidia-nvshmem-cu13==3.4.5",
    "bitsandbytes==0.50.2",
    "nvidia-nccl-cu13==2.27.7",
];

/// A folder of `tests/programs`, and what its `program.toml` says if it has one.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    #[serde(skip)]
    folder: PathBuf,
    /// What it shows.
    #[serde(default, rename = "summary")]
    _summary: String,
    /// Whether it is linked with `libcudadevrt.a`.
    #[serde(default)]
    device_runtime: bool,
    /// Whether it is compiled and linked with NVSHMEM, of `$NVSHMEM_ROOT`.
    #[serde(default)]
    nvshmem: bool,
    /// The first target that its units compile for.
    #[serde(default)]
    since: String,
}

impl Program {
    fn read(folder: PathBuf) -> Self {
        let text = std::fs::read_to_string(folder.join("program.toml")).unwrap_or_default();
        let program: Self = toml::from_str(&text).unwrap();
        Self { folder, ..program }
    }

    fn name(&self) -> String {
        let name = self.folder.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Returns the targets that it compiles for.
    fn targets(&self) -> &'static [&'static str] {
        let first = TARGETS.iter().position(|target| *target == self.since);
        &TARGETS[first.unwrap_or(0)..]
    }

    /// Compiles the units in a copy of the folder; returns what is linked.
    fn compile(&self, tools: &Path, folder: &Path, target: &str, debug: &str) -> Vec<String> {
        let mut units = Vec::new();
        for file in std::fs::read_dir(&self.folder).unwrap().flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            std::fs::copy(file.path(), folder.join(&name)).unwrap();
            units.extend(name.strip_suffix(".cu").map(str::to_owned));
        }
        units.sort();
        for unit in &units {
            let mut command = Command::new(tools.join("nvcc"));
            command.args(["-std=c++17", "-rdc=true", "-cubin", "-w"]);
            command.args(["--extended-lambda", "-arch", target]);
            command.args((!debug.is_empty()).then_some(debug));
            if let Some(root) = std::env::var_os("NVSHMEM_ROOT").filter(|_| self.nvshmem) {
                command.arg("-I").arg(Path::new(&root).join("include"));
            }
            command
                .arg(format!("{unit}.cu"))
                .args(["-o", &format!("{unit}.cubin")]);
            let done = command.current_dir(folder).output().unwrap();
            let said = String::from_utf8_lossy(&done.stderr);
            assert!(done.status.success(), "{unit}.cu for {target}: {said}");
        }
        units.iter().map(|unit| format!("{unit}.cubin")).collect()
    }

    /// Returns the options that name its libraries.
    fn libraries(&self, tools: &Path) -> Vec<String> {
        let of_runtime = self
            .device_runtime
            .then(|| tools.join("../lib/libcudadevrt.a"));
        let of_nvshmem = std::env::var_os("NVSHMEM_ROOT")
            .filter(|_| self.nvshmem)
            .map(|root| Path::new(&root).join("lib/libnvshmem_device.a"));
        let files = of_runtime.into_iter().chain(of_nvshmem);
        files
            .map(|file| file.to_string_lossy().into_owned())
            .collect()
    }

    /// Links it by both, with each kind of output, and `-r` again; if `whole` also with the units in
    /// reverse order and with `-g`.
    fn link(&self, tools: &Path, target: &str, debug: &str, whole: bool) -> Tally {
        let mut tally = Tally::default();
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let units = self.compile(tools, folder, target, debug);
        let libraries = self.libraries(tools);
        let name = self.name();
        let arch = format!("-arch={target}");
        let mut backwards = units.clone();
        backwards.reverse();
        let kinds = [&[][..], &["-r"], &["-g"], &["-r", "-g"]];
        let (orders, kinds) = match whole {
            true => (&[&units, &backwards][..], &kinds[..]),
            false => (&[&units][..], &kinds[..2]),
        };
        for inputs in orders {
            for options in kinds {
                let relocatable = options.contains(&"-r");
                let mut arguments = vec![arch.clone()];
                arguments.extend(options.iter().map(|&option| option.to_owned()));
                arguments.extend_from_slice(inputs);
                // As nvcc does it: libraries are for the last link.
                arguments.extend(libraries.iter().filter(|_| !relocatable).cloned());
                let said = format!("{name} {target} {debug} {}", arguments.join(" "));
                let outcome = tally.link(tools, folder, &arguments, &said);
                let again = outcome.and_then(|outcome| outcome.output);
                let Some(again) = again.filter(|_| relocatable) else {
                    continue;
                };
                std::fs::write(folder.join("again.o.cubin"), again).unwrap();
                let mut arguments = vec![arch.clone(), "again.o.cubin".to_owned()];
                arguments.extend_from_slice(&libraries);
                tally.link(tools, folder, &arguments, &format!("{said}, linked again"));
            }
        }
        tally
    }
}

#[test]
fn programs() {
    let Some(tools) = oracle::tools() else { return };
    let asked = std::env::var("CUWELD_PROGRAMS").ok();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let entries = std::fs::read_dir(root).unwrap().flatten();
    let mut programs: Vec<_> = entries.map(|entry| Program::read(entry.path())).collect();
    programs.sort_by_key(Program::name);
    let has_nvshmem = std::env::var_os("NVSHMEM_ROOT").is_some();
    programs.retain(|program| match asked.as_deref() {
        _ if program.nvshmem && !has_nvshmem => false,
        None => !SLOW.contains(&program.name().as_str()),
        Some("all") => true,
        Some(wanted) => wanted.split(',').any(|name| name == program.name()),
    });
    let mut runs = Vec::new();
    for (index, program) in programs.iter().enumerate() {
        let targets = program.targets();
        if asked.is_none() {
            // Nobody waits long for one target each.
            runs.push((program, targets[index % targets.len()], DEBUG[0]));
            continue;
        }
        for target in targets {
            runs.extend(DEBUG.iter().map(|debug| (program, *target, *debug)));
        }
    }
    let next = AtomicUsize::new(0);
    let tallies = Mutex::new(Tally::default());
    let threads = std::thread::available_parallelism().map_or(2, |number| number.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((program, target, debug)) = runs.get(next.fetch_add(1, Relaxed)) {
                    let tally = program.link(&tools, target, debug, asked.is_some());
                    tallies.lock().unwrap().add(tally);
                }
            });
        }
    });
    let tally = tallies.into_inner().unwrap();
    println!("programs: {tally}");
    assert!(tally.different.is_empty());
}

#[test]
fn packages() {
    let Some(tools) = oracle::tools() else { return };
    let Ok(asked) = std::env::var("CUWELD_PACKAGES") else {
        return;
    };
    let packages: Vec<&str> = match asked.as_str() {
        "all" => PACKAGES.to_vec(),
        some => some.split(',').collect(),
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("target/real-corpus");
    let done = Command::new(root.join("tests/tools/real-corpus"))
        .arg(&folder)
        .args(packages)
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    let mut tally = Tally::default();
    for line in String::from_utf8_lossy(&done.stdout).lines() {
        let mut words = line.split(' ');
        let path = PathBuf::from(words.next().unwrap_or_default());
        let mut inputs = vec![path.clone()];
        if path.is_dir() {
            inputs = std::fs::read_dir(&path)
                .unwrap()
                .flatten()
                .map(|entry| entry.path())
                .collect();
            inputs.sort();
        }
        // nvlink links nothing for older ones.
        for sm in words
            .filter_map(|word| word.parse().ok())
            .filter(|sm: &u32| *sm >= 75)
        {
            for option in [None, Some("-r")] {
                let mut arguments = vec![format!("-arch=sm_{sm}")];
                arguments.extend(option.map(str::to_owned));
                arguments.extend(
                    inputs
                        .iter()
                        .map(|path| path.to_string_lossy().into_owned()),
                );
                let name = format!("{} sm_{sm} {}", path.display(), option.unwrap_or_default());
                println!("{name}");
                tally.link(&tools, &folder, &arguments, &name);
            }
        }
    }
    println!("packages: {tally}");
    assert!(tally.different.is_empty());
}
