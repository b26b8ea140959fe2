//! A CUDA toolkit as NVIDIA's installer, conda, PyPI's wheels or Debian lay it out.

use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

/// Folders of a toolkit below the folder that a package manager installs into: Debian's, and that of
/// PyPI's wheels in `site-packages`.
const BELOW: [&str; 2] = ["lib/nvidia-cuda-toolkit", "nvidia/cu13"];

/// Folders of libraries in a toolkit: of NVIDIA's installer, of PyPI's wheels, and of conda.
const LIBRARIES: [&str; 3] = ["lib64", "lib", "targets/x86_64-linux/lib"];

/// Finds the root of a toolkit: the folder itself, or one that a package manager has below it. In
/// the root are `bin/nvcc`, the compiler itself, and `bin/nvcc.profile`, which it reads.
pub fn find_root(folder: &Path) -> Option<PathBuf> {
    let below = BELOW.iter().map(|below| folder.join(below));
    let mut roots = [folder.to_owned()]
        .into_iter()
        .chain(below)
        .chain(wheels(folder));
    roots.find(|root| {
        let has = |name| root.join("bin").join(name).exists();
        has("nvcc") && has("nvcc.profile")
    })
}

/// Returns where PyPI's wheels have a toolkit in a virtual environment.
fn wheels(environment: &Path) -> Vec<PathBuf> {
    let pythons = fs::read_dir(environment.join("lib")).into_iter().flatten();
    let pythons = pythons.flatten().map(|entry| entry.path());
    let mut roots: Vec<PathBuf> = pythons
        .map(|python| python.join("site-packages/nvidia/cu13"))
        .filter(|root| root.is_dir())
        .collect();
    roots.sort();
    roots
}

/// Finds a program of a toolkit.
pub fn program(root: &Path, name: &str) -> Option<PathBuf> {
    let path = root.join("bin").join(name);
    path.is_file().then_some(path)
}

/// Finds a library of a toolkit.
pub fn library(root: &Path, name: &str) -> Option<PathBuf> {
    let mut paths = library_folders(root).map(|folder| folder.join(name));
    paths.find(|path| path.is_file())
}

/// Returns where a toolkit may have its libraries.
pub fn library_folders(root: &Path) -> impl Iterator<Item = PathBuf> {
    LIBRARIES.iter().map(move |folder| root.join(folder))
}

/// Returns the version of one of NVIDIA's programs, such as `13.5.37`, as it says itself.
pub fn version_of(program: &Path) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    version_in(&String::from_utf8_lossy(&output.stdout))
}

/// Returns the version in the text that `--version` prints: `... release 13.5, V13.5.37`.
fn version_in(text: &str) -> Option<String> {
    let (_, rest) = text.split_once(" release ")?;
    let (_, version) = rest.split_once(", V")?;
    let version = version.split_whitespace().next()?;
    let is_number = |part: &str| part.parse::<u32>().is_ok();
    (version.split('.').count() == 3 && version.split('.').all(is_number))
        .then(|| version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_that_of_the_release_line() {
        let text = "nvlink: NVIDIA (R) Cuda linker\nCuda compilation tools, release 13.5, V13.5.37\nBuild x\n";
        assert_eq!(version_in(text).as_deref(), Some("13.5.37"));
        assert_eq!(version_in("gcc (Debian) release 12, V12"), None);
        assert_eq!(version_in(""), None);
    }

    #[test]
    fn roots_of_all_layouts_are_found() {
        let owner = tempfile::tempdir().expect("a folder");
        for (folder, root) in [
            ("cuda", "cuda"),
            ("usr", "usr/lib/nvidia-cuda-toolkit"),
            ("site-packages", "site-packages/nvidia/cu13"),
            ("venv", "venv/lib/python3.12/site-packages/nvidia/cu13"),
        ] {
            let bin = owner.path().join(root).join("bin");
            fs::create_dir_all(&bin).expect("a folder");
            for file in ["nvcc", "nvcc.profile"] {
                fs::write(bin.join(file), "").expect("a file");
            }
            let found = find_root(&owner.path().join(folder));
            assert_eq!(found, Some(owner.path().join(root)), "{folder}");
        }
        // Debian's `/usr/bin/nvcc` runs the one below `/usr/lib`.
        fs::create_dir_all(owner.path().join("usr/bin")).expect("a folder");
        fs::write(owner.path().join("usr/bin/nvcc"), "").expect("a file");
        let found = find_root(&owner.path().join("usr"));
        assert_eq!(
            found,
            Some(owner.path().join("usr/lib/nvidia-cuda-toolkit"))
        );
        assert_eq!(find_root(&owner.path().join("none")), None);
    }
}
