//! The programs that are needed beside cuweld.

use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::process::Stdio;

/// Why something could not be made or measured.
pub type Failure = String;

/// Where programs are.
pub struct Tools {
    /// The cuweld that is measured.
    pub cuweld: PathBuf,
    /// One to compare it with.
    pub before: Option<PathBuf>,
    /// This program, which measures in processes of its own.
    here: PathBuf,
    /// NVIDIA's linker, if it is there.
    pub nvlink: Option<PathBuf>,
    /// NVIDIA's assembler, which makes inputs.
    pub ptxas: Option<PathBuf>,
    /// A folder for what is made.
    pub folder: PathBuf,
}

impl Tools {
    /// Looks for programs: cuweld and the one that measures beside this one, NVIDIA's in `PATH`.
    pub fn find(cuweld: Option<PathBuf>, folder: PathBuf) -> Result<Self, Failure> {
        let here = std::env::current_exe().map_err(|error| error.to_string())?;
        let cuweld = cuweld.unwrap_or_else(|| here.with_file_name("cuweld"));
        if !cuweld.is_file() {
            return Err(format!(
                "there is no {}: cargo build --release --bin cuweld",
                cuweld.display()
            ));
        }
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        Ok(Tools {
            cuweld,
            before: None,
            nvlink: in_path("nvlink"),
            ptxas: in_path("ptxas"),
            folder,
            here,
        })
    }

    /// Prepares a process that measures.
    pub fn measure(&self) -> Command {
        let mut command = Command::new(&self.here);
        command.arg("measure");
        command
    }

    /// Returns what lies beside this program.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.here.with_file_name(name)
    }

    /// Compiles PTX to a relocatable object.
    pub fn compile(&self, sm: &str, text: &str) -> Result<Vec<u8>, Failure> {
        let ptxas = self
            .ptxas
            .as_ref()
            .ok_or("ptxas, which makes the inputs, is not in PATH")?;
        let (source, object) = (self.folder.join("t.ptx"), self.folder.join("t.cubin"));
        std::fs::write(&source, text).map_err(|error| error.to_string())?;
        let output = Command::new(ptxas)
            .args(["-m64", "-O1", "-c", "-arch", sm, "-o"])
            .args([&object, &source])
            .output()
            .map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        std::fs::read(&object).map_err(|error| error.to_string())
    }

    /// Returns the first line of what a program says of its version that has a number.
    pub fn version(program: &Path) -> String {
        let output = Command::new(program)
            .arg("--version")
            .stderr(Stdio::null())
            .output();
        let text = output.map_or_else(
            |error| error.to_string(),
            |output| String::from_utf8_lossy(&output.stdout).into_owned(),
        );
        let numbered = |line: &&str| line.contains(", V") || line.starts_with("cuweld");
        let line = text.lines().find(numbered).or(text.lines().next());
        line.unwrap_or("").to_owned()
    }
}

fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}
