//! Where NVIDIA's tools are, if they are here.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The release whose output is the reference.
const RELEASE: &str = "V13.0.88";

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
    let root = std::env::var_os("CUWELD_ORACLE_DIR")
        .map(PathBuf::from)
        .or_else(|| {
            let home = std::env::var_os("HOME")?;
            Some(Path::new(&home).join(".cache/cuda-oracle-13.0.88"))
        });
    let pythons = root
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
