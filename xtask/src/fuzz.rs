//! Coverage-guided fuzzing of everything that reads bytes from outside.

use std::error::Error;

use crate::tools::{cargo, program, root, run};

/// The fuzz targets, each with the name of the test in `tests/it/fuzz_entries.rs` that has fixtures for it.
const TARGETS: [(&str, &str); 10] = [
    ("link", "links"),
    ("device_elf", "device_elfs"),
    ("mercury_section", "mercury_sections"),
    ("fatbin", "fatbins"),
    ("archive", "archives"),
    ("host_object", "host_objects"),
    ("lir", "texts_of_the_ir"),
    ("pipeline", "pipelines"),
    ("language_server", "editors"),
    ("response_file", "response_files"),
];

/// Runs targets, all if none is named, for this number of hours together, each with the same share, with the address and
/// leak sanitizers. Their corpora, in `fuzz/corpus`, begin with the fixtures of the tests. An input that fails lies in `fuzz/artifacts`.
pub fn fuzz(hours: &str, names: &[&str]) -> Result<(), Box<dyn Error>> {
    let hours: f64 = hours.parse()?;
    if let Some(unknown) = names
        .iter()
        .find(|name| !TARGETS.iter().any(|(target, _)| target == *name))
    {
        return Err(format!("there is no target '{unknown}'").into());
    }
    if run(program("cargo-fuzz").arg("--version")).is_err() {
        return Err("cargo-fuzz is missing: cargo install cargo-fuzz".into());
    }
    let targets = TARGETS
        .iter()
        .filter(|(target, _)| names.is_empty() || names.contains(target));
    let targets: Vec<_> = targets.collect();
    let seconds = hours * 3600.0 / targets.len() as f64;
    let limit = format!("-max_total_time={}", seconds.max(1.0) as u64);
    for (target, test) in targets {
        let corpus = root().join("fuzz/corpus").join(target);
        std::fs::create_dir_all(&corpus)?;
        let fixtures = format!("fuzz_entries::{test}");
        run(
            cargo(&["test", "-q", "--test", "it", "--", "--exact", &fixtures])
                .env("CUWELD_FUZZ", "0")
                .env("CUWELD_FUZZ_CORPUS", &corpus),
        )?;
        // The sanitizers are not stable yet; the compiler that is there has them.
        run(program("cargo-fuzz")
            .args(["run", "--sanitizer=address", target, "--", &limit])
            .args(["-timeout=20", "-rss_limit_mb=4096", "-max_len=65536"])
            .env("RUSTC_BOOTSTRAP", "1"))?;
    }
    Ok(())
}
