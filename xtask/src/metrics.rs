//! What the sources and the program measure: lines, unsafe code, circles, functions, size, first build.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use crate::tools::{QUICK, cargo, root, run, target};

/// Prints the measurements of the sources and the size of the program that is built.
pub fn of_sources() -> Result<(), Box<dyn Error>> {
    let measure = ["run", "-q", "--profile", QUICK, "-p", "cuweld-metrics"];
    run(cargo(&measure).arg("--").arg(root()))?;
    let program = target().join("release/cuweld");
    match program.is_file() {
        true => size(&program),
        false => {
            println!("\nThe program is not built: cargo build --release");
            Ok(())
        }
    }
}

/// Prints how long the build of the README takes in an empty folder, and the size of the program.
pub fn of_build() -> Result<(), Box<dyn Error>> {
    let folder = target().join("metrics");
    if folder.is_dir() {
        std::fs::remove_dir_all(&folder)?;
    }
    // Downloads are not measured.
    run(cargo(&["fetch", "-q"]))?;
    let begun = Instant::now();
    run(cargo(&["build", "-q", "--release"]).env("CARGO_TARGET_DIR", &folder))?;
    let seconds = begun.elapsed().as_secs();
    println!("First build: {} min {:02} s", seconds / 60, seconds % 60);
    size(&folder.join("release/cuweld"))?;
    Ok(std::fs::remove_dir_all(&folder)?)
}

fn size(program: &Path) -> Result<(), Box<dyn Error>> {
    let bytes = std::fs::metadata(program)?.len();
    println!(
        "\nSize of {}: {:.1} MB",
        program.display(),
        bytes as f64 / 1e6
    );
    Ok(())
}
