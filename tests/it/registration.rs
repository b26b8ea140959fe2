//! The file of `--register-link-binaries`, for the link cases that have one from nvlink in `expected/registration.h`.

use std::process::Command;

use crate::harness::case::Case;

#[test]
fn the_register_file_is_nvlinks() -> Result<(), Box<dyn std::error::Error>> {
    let mut compared = 0;
    for case in Case::all()? {
        let Ok(expected) = std::fs::read_to_string(case.folder.join("expected/registration.h"))
        else {
            continue;
        };
        let out = tempfile::tempdir()?;
        let file = out.path().join("registration.h");
        for arch in &case.arch {
            Command::new(env!("CARGO_BIN_EXE_cuweld"))
                .arg("nvlink")
                .args(case.arguments(arch))
                .arg(format!("--register-link-binaries={}", file.display()))
                .arg("-o")
                .arg(out.path().join("out.cubin"))
                .current_dir(&case.folder)
                .output()?;
            assert_eq!(std::fs::read_to_string(&file)?, expected, "{}", case.name);
            compared += 1;
        }
    }
    assert!(compared >= 3, "only {compared} cases");
    Ok(())
}
