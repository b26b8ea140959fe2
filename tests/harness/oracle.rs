//! Where NVIDIA's tools are, if they are here.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The release whose output is the reference.
const RELEASE: &str = "V13.0.88";

/// A linker that cuweld stands in for, and the compilers of what both link.
#[derive(Clone, Debug)]
pub struct Reference {
    /// NVIDIA's linker.
    pub nvlink: PathBuf,
    /// Folders of programs: of 13.0.88, and of the toolkit if it is another. Objects are made by each in turn.
    pub compilers: Vec<PathBuf>,
    /// What our command line begins with.
    pub ours: Vec<String>,
    /// The toolkit, if it is not 13.0.88.
    pub toolkit: Option<String>,
    /// `nvlink` stands for a library (`tests/tools/nvlink_by_library.py`), which says findings in other words, or not at all.
    pub by_library: bool,
}

/// Exit code of `tests/tools/nvlink_by_library.py` where the library takes no such option or input.
pub const NOT_TAKEN: i32 = 97;

impl Reference {
    /// The toolkit that `CUWELD_ORACLE_TOOLKIT` names (see `tests/tools/toolkit`), else 13.0.88; none if it is not installed.
    pub fn chosen() -> Option<Self> {
        match std::env::var("CUWELD_ORACLE_TOOLKIT") {
            Ok(version) => Self::of_toolkit(&version),
            Err(_) => Some(Self::new(tools()?, "--cuweld-stamp=nvlink-13.0.88")),
        }
    }

    /// Another toolkit, if `tests/tools/toolkit` has installed it.
    pub fn of_toolkit(version: &str) -> Option<Self> {
        let folder = install_root()?.join(format!("toolkit-{version}"));
        folder.join(".complete").exists().then_some(())?;
        let by_library = version.starts_with("12.");
        let programs = folder.join(match by_library {
            true => "nvidia/cuda_nvcc/bin",
            false => "nvidia/cu13/bin",
        });
        let mut reference = Self::new(tools()?, "--cuweld-stamp=nvlink");
        reference.nvlink = programs.join("nvlink");
        if by_library {
            // Objects of a newer toolkit are refused.
            reference.compilers.clear();
        }
        reference.compilers.push(programs);
        reference.by_library = by_library;
        reference.ours.push(format!("--cuweld-toolkit={version}"));
        reference.toolkit = Some(version.to_owned());
        Some(reference)
    }

    fn new(tools: PathBuf, stamp: &str) -> Self {
        let ours = ["nvlink", stamp, "--cuweld-explain=off"];
        Reference {
            nvlink: tools.join("nvlink"),
            compilers: vec![tools],
            ours: ours.map(str::to_owned).to_vec(),
            toolkit: None,
            by_library: false,
        }
    }
}

/// A folder with nvlink and ptxas of the right release: of `$CUDA_ORACLE`, on `PATH`, or where `tests/tools/oracle` installs.
pub fn tools() -> Option<PathBuf> {
    let named = std::env::var_os("CUDA_ORACLE").map(|root| Path::new(&root).join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    named
        .into_iter()
        .chain(std::env::split_paths(&path))
        .chain(installed())
        .find(|folder| is_reference(folder))
}

/// Folders that `tests/tools/oracle` has filled before; nothing is installed here.
fn installed() -> Vec<PathBuf> {
    let pythons = install_root()
        .and_then(|root| std::fs::read_dir(root.join("venv/lib")).ok())
        .into_iter()
        .flatten();
    let mut folders: Vec<_> = pythons
        .flatten()
        .map(|python| python.path().join("site-packages/nvidia/cu13/bin"))
        .collect();
    folders.sort();
    folders
}

fn install_root() -> Option<PathBuf> {
    if let Some(root) = std::env::var_os("CUWELD_ORACLE_DIR") {
        return Some(PathBuf::from(root));
    }
    let home = std::env::var_os("HOME")?;
    Some(Path::new(&home).join(".cache/cuda-oracle-13.0.88"))
}

fn is_reference(folder: &Path) -> bool {
    let says_release = |tool: &str| {
        let program = folder.join(tool);
        program.exists()
            && Command::new(program)
                .arg("--version")
                .output()
                .is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(RELEASE))
    };
    says_release("nvlink") && says_release("ptxas")
}
