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

#[test]
fn a_register_file_of_an_earlier_link_is_written_anew() -> Result<(), Box<dyn std::error::Error>> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let runtime = "tests/links/inputs/device-runtime-is-pruned-too/sm_90/cudadevrt.o";
    let out = tempfile::tempdir()?;
    let file = out.path().join("registration.h");
    let link = |more: &[&str]| -> Result<(String, bool), std::io::Error> {
        std::fs::write(&file, "of an earlier link\n")?;
        let output = Command::new(env!("CARGO_BIN_EXE_cuweld"))
            .args(["nvlink", "-arch=sm_90", "a.o", "b.o", "-o"])
            .arg(out.path().join("out.cubin"))
            .arg(format!("--register-link-binaries={}", file.display()))
            .arg(root.join(runtime))
            .args(more)
            .current_dir(root.join("examples/rdc"))
            .output()?;
        assert!(output.status.success(), "{output:?}");
        let says = String::from_utf8_lossy(&output.stderr).contains("note: deviation D30");
        Ok((std::fs::read_to_string(&file)?, says))
    };
    // The device runtime is linked.
    let (written, says) = link(&["-keep-system-libraries"])?;
    assert!(written.contains("runtime_cu") && !says, "{written}");
    // It is not.
    let (written, says) = link(&[])?;
    assert!(written.contains("_a_cu_") && says, "{written}");
    assert_eq!(link(&["--cuweld-strict"])?.0, "of an earlier link\n");
    Ok(())
}
