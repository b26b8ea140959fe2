//! Programs as people write them, linked by both: `tests/programs`, of the headers of CCCL and the toolkit, and the device code of published packages.
//! Nothing without nvlink. What takes long is done if `CUWELD_PROGRAMS` or `CUWELD_PACKAGES` asks for it (`tests/README.md`).
#![allow(clippy::print_stdout, reason = "what was linked is shown")]

use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use crate::harness::link::Linker;
use crate::harness::link::Outcome;
use crate::harness::oracle;
use crate::harness::verdict::Verdict;
use crate::harness::verdict::judge;

/// What is linked without being asked for.
const SMALL: &str = "standard";

/// The targets of programs, and what their units are compiled with.
const TARGETS: [&str; 4] = ["sm_80", "sm_90", "sm_100", "sm_120"];
const DEBUG: [&str; 3] = ["", "-lineinfo", "-G"];

/// Packages with code of toolkits that are linked; the newest have code of newer ones.
const PACKAGES: [&str; 3] = [
    "nvidia-nvshmem-cu13==3.4.5",
    "bitsandbytes==0.50.2",
    "nvidia-nccl-cu13==2.27.7",
];

/// Links that fell short, and how many there were.
#[derive(Default)]
struct Tally {
    identical: usize,
    kept: usize,
    refused: Vec<String>,
    different: Vec<String>,
}

/// Whether a line says that code stays that nvlink would make anew.
fn is_of_kept(line: &str) -> bool {
    line.contains("keeps its code") || line.contains("deviation D12")
}

impl Tally {
    /// Links with both; what nvlink left if there is an output, and the same.
    fn link(
        &mut self,
        tools: &Path,
        folder: &Path,
        arguments: &[String],
        name: &str,
    ) -> Option<Outcome> {
        let theirs = Linker::nvlink(tools.join("nvlink"))
            .link(folder, arguments)
            .unwrap();
        let mut ours = Linker::ours().link(folder, arguments).unwrap();
        let lines = ours.lines.len();
        ours.lines.retain(|line| !is_of_kept(line));
        // Only the code of some kernels differs, and what follows from it.
        if ours.lines.len() < lines && ours.output.is_some() && theirs.output.is_some() {
            ours.output.clone_from(&theirs.output);
            self.kept += 1;
        }
        match judge(&theirs, &ours, false) {
            Verdict::Identical | Verdict::SameError => {
                self.identical += 1;
                return theirs.output.is_some().then_some(theirs);
            }
            Verdict::Refused(why) => self.refused.push(format!("{name}: {why}")),
            verdict => self.different.push(format!("{name}: {verdict:?}")),
        }
        None
    }

    fn show(self, what: &str) {
        println!(
            "{what}: {} links identical, {} of them with kernels that keep their code, {} refused",
            self.identical,
            self.kept,
            self.refused.len()
        );
        for refused in &self.refused {
            println!("refused: {refused}");
        }
        assert!(self.different.is_empty(), "{}", self.different.join("\n"));
    }
}

/// Compiles the units of a program in a copy of its folder.
fn compile(tools: &Path, source: &Path, folder: &Path, target: &str, debug: &str) -> Vec<String> {
    let mut units = Vec::new();
    for file in std::fs::read_dir(source).unwrap().flatten() {
        let name = file.file_name().to_string_lossy().into_owned();
        std::fs::copy(file.path(), folder.join(&name)).unwrap();
        units.extend(name.strip_suffix(".cu").map(str::to_owned));
    }
    units.sort();
    for unit in &units {
        let mut command = Command::new(tools.join("nvcc"));
        command.args(["-std=c++17", "-rdc=true", "-cubin", "-w", "-arch", target]);
        command.args((!debug.is_empty()).then_some(debug));
        command
            .arg(format!("{unit}.cu"))
            .args(["-o", &format!("{unit}.cubin")]);
        let done = command.current_dir(folder).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{unit}.cu for {target}: {said}");
    }
    units.iter().map(|unit| format!("{unit}.cubin")).collect()
}

#[test]
fn programs() {
    let Some(tools) = oracle::tools() else { return };
    let asked = std::env::var("CUWELD_PROGRAMS").ok();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut programs: Vec<PathBuf> = std::fs::read_dir(root)
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    programs.sort();
    let wanted = asked.as_deref().unwrap_or(SMALL);
    programs.retain(|path| wanted == "all" || wanted.split(',').any(|name| path.ends_with(name)));
    // Nobody waits long for one.
    let (targets, debugs) = match asked {
        Some(_) => (&TARGETS[..], &DEBUG[..]),
        None => (&TARGETS[1..2], &DEBUG[..1]),
    };
    let mut tally = Tally::default();
    for program in &programs {
        for (target, debug) in targets
            .iter()
            .flat_map(|target| debugs.iter().map(move |debug| (*target, *debug)))
        {
            let folder = tempfile::tempdir().unwrap();
            let folder = folder.path();
            let units = compile(&tools, program, folder, target, debug);
            let name = program.file_name().unwrap_or_default().to_string_lossy();
            let arch = format!("-arch={target}");
            let mut backwards = units.clone();
            backwards.reverse();
            for inputs in [&units, &backwards] {
                for options in [&[][..], &["-r"], &["-g"], &["-r", "-g"]] {
                    let mut arguments = vec![arch.clone()];
                    arguments.extend(options.iter().map(|&option| option.to_owned()));
                    arguments.extend_from_slice(inputs);
                    let said = format!("{name} {target} {debug} {}", arguments.join(" "));
                    let outcome = tally.link(&tools, folder, &arguments, &said);
                    let again = outcome.and_then(|outcome| outcome.output);
                    let Some(again) = again.filter(|_| options.contains(&"-r")) else {
                        continue;
                    };
                    std::fs::write(folder.join("again.o.cubin"), again).unwrap();
                    let arguments = [arch.clone(), "again.o.cubin".to_owned()];
                    tally.link(&tools, folder, &arguments, &format!("{said}, linked again"));
                }
            }
        }
    }
    tally.show("programs");
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
    tally.show("packages");
}
