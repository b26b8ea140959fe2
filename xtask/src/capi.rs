//! The C interface, installed as a C library is.

use std::error::Error;
use std::fs;
use std::io;
use std::path::Path;
use std::path::PathBuf;

use crate::tools::{self, cargo, root, run};

/// The version of the library.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Builds the libraries and installs them below a prefix with the header and a file for pkg-config.
pub fn install(prefix: Option<&str>) -> Result<(), Box<dyn Error>> {
    run(cargo(&["build", "--release", "-p", "cuweld-capi"]))?;
    let prefix = prefix.map_or(tools::target().join("capi"), PathBuf::from);
    fs::create_dir_all(&prefix)?;
    let prefix = fs::canonicalize(prefix)?;
    let (lib, include) = (prefix.join("lib"), prefix.join("include"));
    let config = lib.join("pkgconfig");
    fs::create_dir_all(&config)?;
    fs::create_dir_all(&include)?;
    let built = tools::target().join("release");
    let shared = format!("libcuweld.so.{VERSION}");
    replace(&built.join("libcuweld_capi.so"), &lib.join(&shared))?;
    replace(&built.join("libcuweld_capi.a"), &lib.join("libcuweld.a"))?;
    let major = VERSION.split('.').next().unwrap_or(VERSION);
    let soname = format!("libcuweld.so.{major}");
    link(&shared, &lib.join(&soname))?;
    link(&soname, &lib.join("libcuweld.so"))?;
    let capi = root().join("capi");
    replace(&capi.join("include/cuweld.h"), &include.join("cuweld.h"))?;
    let text = fs::read_to_string(capi.join("cuweld.pc.in"))?;
    let text = text.replace("@prefix@", &prefix.display().to_string());
    let text = text.replace("@version@", VERSION);
    fs::write(config.join("cuweld.pc"), text)?;
    println!("{}", prefix.display());
    Ok(())
}

/// Puts a file in place of what is there, which a program may have loaded.
fn replace(from: &Path, to: &Path) -> io::Result<()> {
    remove(to)?;
    fs::copy(from, to).map(drop)
}

fn link(name: &str, to: &Path) -> io::Result<()> {
    remove(to)?;
    std::os::unix::fs::symlink(name, to)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
