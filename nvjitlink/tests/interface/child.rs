//! Links in a process of their own, since NVIDIA's library ends some processes.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use super::cases;
use super::library::Interface;
use super::library::here;
use super::library::nvidias;
use super::probes;

/// What the process does: a word, what it is about, and the library.
const TASK: &str = "NVJITLINK_TASK";
const ABOUT: &str = "NVJITLINK_ABOUT";
const LIBRARY: &str = "NVJITLINK_LIBRARY";

/// What the answer stands after, in what the process prints.
const SAID: &str = "answer: ";

/// Does nothing in the test run itself.
#[test]
fn child() {
    let variable = |name| std::env::var(name).ok();
    let (Some(task), Some(about), Some(library)) =
        (variable(TASK), variable(ABOUT), variable(LIBRARY))
    else {
        return;
    };
    let threads = threads();
    let interface = Interface::load(Path::new(&library));
    let said = match task.as_str() {
        "unload" => {
            let answer = cases::answer(&interface, &about);
            drop(interface);
            let maps = fs::read_to_string("/proc/self/maps").unwrap();
            let is_gone = !maps.contains(&library) && self::threads() == threads;
            format!("{answer}|{is_gone}")
        }
        "probe" | "probe without ptxas" => probes::answer(&interface, &probes::all()[&about]),
        _ => cases::answer(&interface, &about),
    };
    writeln!(std::io::stdout(), "\n{SAID}{said}").unwrap();
}

/// Returns the number of threads of this process.
fn threads() -> usize {
    fs::read_dir("/proc/self/task").unwrap().count()
}

/// Has a process do a task with a library, as that of a toolkit.
pub fn ask(task: &str, about: &str, library: &Path, toolkit: &str) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "child::child", "--nocapture"])
        .current_dir(here(""))
        .env(TASK, task)
        .env(ABOUT, about)
        .env(LIBRARY, library)
        .env("CUWELD_TOOLKIT", toolkit)
        .env("CUWELD_STAMP", "nvjitlink")
        .env_remove("CUDA_HOME");
    if task == "probe without ptxas" {
        command.env("PATH", "");
    }
    if let Some(real) = nvidias() {
        command.env("CUWELD_NVJITLINK", real);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = text.lines().find_map(|line| line.strip_prefix(SAID));
    said.map_or_else(|| "the process dies".to_owned(), str::to_owned)
}
