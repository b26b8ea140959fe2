//! What the program is built of: crates of crates.io under licences that go with ours, each of one version.
//!
//! Known vulnerabilities are not looked for: their database is on a server that tests do not ask. `cargo deny check advisories` does.

use std::collections::BTreeMap;
use std::error::Error;
use std::process::Command;

use serde_json::Value;

/// Licences that let the program be passed on under any of its own.
const LICENCES: [&str; 9] = [
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Crates of which there is more than one version, because crates that we use have not agreed on one yet.
const SEVERAL_VERSIONS: [&str; 1] = ["syn"];

/// The packages that are compiled into what is shipped for this machine, without those of tests and build scripts.
fn packages() -> Result<Vec<Value>, Box<dyn Error>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version=1", "--offline", "--locked"])
        .args(["--filter-platform=x86_64-unknown-linux-gnu"])
        .args([
            "--manifest-path",
            concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
        ])
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let nodes: BTreeMap<String, Value> = list(&metadata["resolve"]["nodes"])
        .into_iter()
        .map(|node| (node["id"].to_string(), node))
        .collect();
    let packages = list(&metadata["packages"]);
    let is_program = |package: &&Value| package["name"] == "cuweld" && package["source"].is_null();
    let program = packages.iter().find(is_program).ok_or("no program")?;
    let mut open = vec![program["id"].to_string()];
    let mut reached = Vec::new();
    while let Some(id) = open.pop() {
        if reached.contains(&id) {
            continue;
        }
        for dependency in list(&nodes[&id]["deps"]) {
            // `null` stands for a dependency of the program itself.
            let kinds = list(&dependency["dep_kinds"]);
            if kinds.iter().any(|kind| kind["kind"].is_null()) {
                open.push(dependency["pkg"].to_string());
            }
        }
        reached.push(id);
    }
    let is_reached = |package: &Value| reached.contains(&package["id"].to_string());
    Ok(packages.into_iter().filter(is_reached).collect())
}

/// Returns `true` if a licence expression is met by licences of the list alone.
fn is_met(expression: &str) -> bool {
    // `/` is the old form of OR. Parentheses hold nothing but alternatives in what crates write.
    let flat = expression.replace('/', " OR ").replace(['(', ')'], " ");
    let is_known = |licence: &str| LICENCES.contains(&licence.trim());
    flat.split(" AND ")
        .all(|part| part.split(" OR ").any(is_known))
}

#[test]
fn crates_are_of_one_registry_and_of_licences_that_we_may_pass_on() -> Result<(), Box<dyn Error>> {
    let packages = packages()?;
    assert!(packages.len() > 50, "{}", packages.len());
    for package in &packages {
        let name = &package["name"];
        let source = package["source"].as_str();
        let ours = concat!("path+file://", env!("CARGO_MANIFEST_DIR"));
        let is_ours = source.is_none()
            && package["id"]
                .as_str()
                .is_some_and(|id| id.starts_with(ours));
        let is_published = source == Some("registry+https://github.com/rust-lang/crates.io-index");
        assert!(is_ours || is_published, "{name} comes from {source:?}");
        let licence = package["license"].as_str().unwrap_or("none");
        assert!(is_ours || is_met(licence), "{name} is under {licence}");
    }
    Ok(())
}

#[test]
fn each_crate_has_one_version() -> Result<(), Box<dyn Error>> {
    let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in packages()? {
        let name = package["name"].as_str().unwrap_or_default().to_owned();
        versions
            .entry(name)
            .or_default()
            .push(package["version"].to_string());
    }
    versions.retain(|_, versions| versions.len() > 1);
    let names: Vec<&str> = versions.keys().map(String::as_str).collect();
    assert_eq!(names, SEVERAL_VERSIONS, "{versions:?}");
    Ok(())
}

#[test]
fn licence_expressions_are_read() {
    for good in [
        "MIT",
        "MIT OR Apache-2.0",
        "GPL-3.0/MIT",
        "(MIT OR Apache-2.0) AND Unicode-3.0",
    ] {
        assert!(is_met(good), "{good}");
    }
    for bad in [
        "none",
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "(MIT OR Apache-2.0) AND OpenSSL",
    ] {
        assert!(!is_met(bad), "{bad}");
    }
}
