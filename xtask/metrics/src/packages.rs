//! The packages of a workspace.

use std::error::Error;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// A package of the workspace.
pub struct Package {
    pub name: String,
    /// The files in which its libraries and programs begin; tests, benchmarks and examples are none
    /// of them.
    pub roots: Vec<PathBuf>,
}

/// Returns the packages of the workspace that a folder belongs to, by name.
pub fn of(folder: &Path) -> Result<Vec<Package>, Box<dyn Error>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut metadata = Command::new(cargo);
    metadata.args(["metadata", "--no-deps", "--offline", "--format-version=1"]);
    let output = metadata.current_dir(folder).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut packages = Vec::new();
    for package in list(&metadata["packages"]) {
        let is_counted = |target: &&Value| {
            let kinds = list(&target["kind"]);
            let not = ["test", "bench", "example", "custom-build"];
            !kinds.iter().any(|kind| not.contains(&text(kind).as_str()))
        };
        let targets = list(&package["targets"]);
        let roots = targets.iter().filter(is_counted);
        let roots = roots.map(|target| text(&target["src_path"]).into());
        packages.push(Package {
            name: text(&package["name"]),
            roots: roots.collect(),
        });
    }
    packages.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(packages)
}
