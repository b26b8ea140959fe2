//! One link in a child process, and how two links are compared.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::command::program;
use super::elf_difference::first_difference;

/// What is there after a link.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Exit code; none after a signal.
    pub exit: Option<i32>,
    /// The lines of stderr.
    pub lines: Vec<String>,
    /// The same in one piece, for reports.
    pub stderr: String,
    /// The output file, if there is one.
    pub output: Option<Vec<u8>>,
    /// Files left beside the output, by name.
    pub litter: Vec<String>,
}

/// A program that takes nvlink's command line.
#[derive(Clone, Debug)]
pub struct Linker {
    program: PathBuf,
    leading: Vec<String>,
}

impl Linker {
    /// Our own binary, or what `CUWELD_TEST_BIN` names.
    pub fn ours() -> Self {
        let leading = [
            "nvlink",
            "--cuweld-stamp=nvlink-13.0.88",
            "--cuweld-explain=off",
        ];
        Self {
            program: program(),
            leading: leading.map(str::to_owned).to_vec(),
        }
    }

    /// Our own binary in the place of another toolkit's linker.
    #[allow(dead_code, reason = "only the cases of toolkits have some")]
    pub fn of_toolkit(version: &str) -> Self {
        let mut ours = Self::ours();
        ours.leading.retain(|argument| !argument.contains("stamp"));
        ours.leading.push(format!("--cuweld-toolkit={version}"));
        ours.leading.push("--cuweld-stamp=nvlink".to_owned());
        ours
    }

    /// Our own binary with its explanations.
    pub fn ours_explaining() -> Self {
        Self::ours().explaining()
    }

    /// The same linker with its explanations.
    pub fn explaining(mut self) -> Self {
        self.leading
            .retain(|argument| argument != "--cuweld-explain=off");
        self
    }

    /// Reproduces nvlink where we deviate.
    pub fn strict(mut self, strict: bool) -> Self {
        if strict {
            self.leading.push("--cuweld-strict".to_owned());
        }
        self
    }

    /// NVIDIA's linker.
    pub fn nvlink(program: PathBuf) -> Self {
        Self {
            program,
            leading: Vec::new(),
        }
    }

    /// Links in `folder`; the output goes to a folder of its own.
    pub fn link(&self, folder: &Path, arguments: &[String]) -> std::io::Result<Outcome> {
        let out = tempfile::tempdir()?;
        // With -g the output's file name is part of the output, so it is the same for every linker.
        let target = out.path().join("out.cubin");
        let done = Command::new(&self.program)
            .args(&self.leading)
            .args(arguments)
            .arg("-o")
            .arg(&target)
            .current_dir(folder)
            .env("LC_ALL", "C")
            .env_remove("LIBRARY_PATH")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .output()?;
        let mut litter = Vec::new();
        for entry in std::fs::read_dir(out.path())? {
            let name = entry?.file_name();
            if name != "out.cubin" {
                litter.push(name.to_string_lossy().into_owned());
            }
        }
        litter.sort();
        let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
        let lines = stderr.lines().map(str::to_owned).collect();
        let output = if target.exists() {
            Some(std::fs::read(&target)?)
        } else {
            None
        };
        Ok(Outcome {
            exit: done.status.code(),
            lines,
            stderr,
            output,
            litter,
        })
    }
}

/// What should be there after a link.
#[derive(Debug)]
pub struct Expected {
    /// Exit code; none after a signal.
    pub exit: Option<i32>,
    /// Lines of stderr; none where the wording is ours.
    pub lines: Option<Vec<String>>,
    /// The output file, if there is to be one.
    pub output: Option<Vec<u8>>,
}

/// Compares a link with what is expected of it; the error says all that differs.
pub fn compare(ours: &Outcome, expected: &Expected) -> Result<(), String> {
    let mut report = String::new();
    if ours.exit != expected.exit {
        let _ = writeln!(
            report,
            "exit code: {}, expected {}",
            code(ours.exit),
            code(expected.exit)
        );
    }
    if let Some(lines) = expected
        .lines
        .as_ref()
        .filter(|lines| **lines != ours.lines)
    {
        let _ = writeln!(report, "messages differ:");
        for line in lines.iter().filter(|line| !ours.lines.contains(line)) {
            let _ = writeln!(report, "  missing: {line}");
        }
        for line in ours.lines.iter().filter(|line| !lines.contains(line)) {
            let _ = writeln!(report, "  extra:   {line}");
        }
        if lines.iter().all(|line| ours.lines.contains(line))
            && ours.lines.iter().all(|line| lines.contains(line))
        {
            let _ = writeln!(
                report,
                "  the same lines, but in this order or number: {:#?}",
                ours.lines
            );
        }
    }
    match (&ours.output, &expected.output) {
        (Some(our), Some(their)) if our != their => {
            let _ = writeln!(report, "output differs: {}", first_difference(our, their));
        }
        (None, Some(their)) => {
            let _ = writeln!(report, "no output, expected {} bytes", their.len());
        }
        (Some(our), None) => {
            let _ = writeln!(
                report,
                "an output of {} bytes was left, expected none",
                our.len()
            );
        }
        _ => {}
    }
    if !ours.litter.is_empty() {
        let _ = writeln!(report, "files left beside the output: {:?}", ours.litter);
    }
    if report.is_empty() {
        return Ok(());
    }
    if !ours.stderr.is_empty() {
        let _ = writeln!(report, "stderr was:");
        for line in ours.stderr.lines().take(20) {
            let _ = writeln!(report, "  {line}");
        }
    }
    Err(report)
}

fn code(exit: Option<i32>) -> String {
    exit.map_or_else(|| "a signal".to_owned(), |exit| exit.to_string())
}
