//! Files that change while they are linked, and where outputs go.

use std::path::Path;

use crate::harness::command::{cuweld, stderr};

/// An object that is large enough to be mapped.
const OBJECT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/links/relocatable/relocatable-debug/sm_90/a.cubin"
);

/// Links the object of a folder, while a program runs between reading and writing; returns what was said, and whether the link succeeded.
fn link_while(folder: &Path, script: &str) -> (bool, String) {
    std::fs::copy(OBJECT, folder.join("in.cubin")).unwrap();
    let passes = format!("exec{{command=['sh','-c','{script}'],requires=lowered}},@relocatable");
    let words = ["link", "-r", "--arch", "sm_90", "in.cubin"];
    let output = cuweld(
        folder,
        &[&words[..], &["--passes", &passes, "-o", "out.cubin"]].concat(),
    );
    (output.status.success(), stderr(&output))
}

#[test]
fn an_input_that_is_written_meanwhile_is_an_error() {
    for change in ["printf x >> in.cubin", "sleep 0.02; touch in.cubin"] {
        let folder = tempfile::tempdir().unwrap();
        let (linked, said) = link_while(folder.path(), change);
        assert!(!linked, "{change}");
        let expected = "'in.cubin' was changed while it was linked";
        assert!(said.contains(expected), "{change}: {said}");
        assert!(!folder.path().join("out.cubin").exists(), "{change}");
        // Nothing else is left.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

/// `cuweld opt`, which writes a module in text form.
#[test]
fn an_input_of_opt_that_is_written_meanwhile_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let run = |script: &str| {
        std::fs::copy(OBJECT, folder.path().join("in.cubin")).unwrap();
        let passes = format!("exec{{command=['sh','-c','{script}'],requires=lowered}}");
        let words = ["opt", "in.cubin", "--arch=sm_90", "-o", "out.lir"];
        cuweld(
            folder.path(),
            &[&words[..], &["--passes", &passes]].concat(),
        )
    };
    let changed = run("printf x >> in.cubin");
    assert!(!changed.status.success());
    let expected = "'in.cubin' was changed while it was linked";
    assert!(stderr(&changed).contains(expected), "{}", stderr(&changed));
    assert!(!folder.path().join("out.lir").exists());
    assert!(run("true").status.success());
}

#[cfg(target_os = "linux")]
#[test]
fn an_input_that_is_cut_meanwhile_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let (linked, said) = link_while(folder.path(), ": > in.cubin");
    assert!(!linked);
    let name = folder.path().join("in.cubin");
    let expected = format!("cuweld: error: '{}' became shorter", name.display());
    assert!(said.contains(&expected), "{said}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn an_input_that_another_file_takes_the_place_of_is_linked_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let (linked, said) = link_while(folder.path(), "echo x > other; mv other in.cubin");
    assert!(linked, "{said}");
    let replaced = std::fs::read(folder.path().join("out.cubin")).unwrap();
    let (linked, said) = link_while(folder.path(), "true");
    assert!(linked, "{said}");
    assert!(std::fs::read(folder.path().join("out.cubin")).unwrap() == replaced);
}

#[cfg(unix)]
#[test]
fn an_output_that_leads_to_an_input_takes_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (linked, said) = link_while(folder.path(), "true");
    assert!(linked, "{said}");
    let expected = std::fs::read(at("out.cubin")).unwrap();
    std::fs::remove_file(at("out.cubin")).unwrap();
    std::os::unix::fs::symlink("in.cubin", at("out.cubin")).unwrap();
    let (linked, said) = link_while(folder.path(), "true");
    assert!(linked, "{said}");
    assert!(std::fs::read(at("in.cubin")).unwrap() == expected);
    assert!(
        std::fs::symlink_metadata(at("out.cubin"))
            .unwrap()
            .is_symlink()
    );
}
