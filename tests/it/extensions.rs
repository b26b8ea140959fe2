//! Passes from outside: the plugin in C and the program in Python of `examples/`, and what is refused of others.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::harness::command::{cuweld, stderr};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn opt(folder: &Path, passes: &str, more: &[&str]) -> Output {
    let input = Path::new(ROOT).join("tests/links/symbols/weak-templates/sm_90/a.cubin");
    let input = input.to_str().unwrap();
    let words = [
        "opt",
        input,
        "--arch=sm_90",
        "-o",
        "out.lir",
        "--passes",
        passes,
    ];
    cuweld(folder, &[&words, more].concat())
}

/// Builds a plugin with the system's compiler, which Rust needs for linking anyway.
fn build(folder: &Path, source: &Path, defines: &[&str]) -> PathBuf {
    let library = folder.join("plugin.so");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-Wall", "-Werror", "-I"])
        .arg(Path::new(ROOT).join("plugin/include"))
        .args(defines)
        .arg("-o")
        .args([&library, source])
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", stderr(&built));
    library
}

/// The name of a kernel of the test's input.
fn kernel(folder: &Path) -> String {
    let output = opt(folder, "classify", &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = std::fs::read_to_string(folder.join("out.lir")).unwrap();
    let row = text
        .lines()
        .find(|line| line.contains("other=ENTRY"))
        .unwrap();
    row.split_whitespace().nth(1).unwrap().to_owned()
}

#[test]
fn the_plugin_in_c_renames_a_kernel() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = kernel(folder.path());
    let source = Path::new(ROOT).join("examples/plugin-c/rename.c");
    let library = build(folder.path(), &source, &[]);
    let plugin = ["--load-pass-plugin", library.to_str().unwrap()];
    for form in ["full", "ref"] {
        let passes =
            format!("classify,rename{{args=['{kernel}','renamed'],bytes={form}}},select-objects");
        let output = opt(folder.path(), &passes, &plugin);
        assert!(output.status.success(), "{}", stderr(&output));
        let text = std::fs::read_to_string(folder.path().join("out.lir")).unwrap();
        assert!(
            text.contains(" .text.renamed PROGBITS") && text.contains(":renamed "),
            "{text}"
        );
        assert!(!text.contains(&format!(" {kernel} ")));
    }
    let output = opt(folder.path(), "classify,rename{args=['x']}", &plugin);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("pass 'rename': it takes two arguments"),
        "{}",
        stderr(&output)
    );
    // A name without a slash is a file of this folder, as for every other option.
    let output = opt(
        folder.path(),
        "classify,rename{args=['no_such','name']}",
        &["--load-pass-plugin", "plugin.so"],
    );
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn plugins_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("other.c");
    let text = "#include <cuweld-plugin.h>\n\
        static int32_t run(const uint8_t *i, size_t n, const char *const *a, size_t c, cuweld_output *o) {\n\
          static uint8_t text[] = TEXT; o->data = text; o->size = sizeof text - 1; return 0; }\n\
        static void release(cuweld_output *o) { o->data = 0; }\n\
        static const cuweld_pass passes[] = {{\"other\", \"\", PHASE, 0, run, release}};\n\
        static const cuweld_plugin_info info = {ABI, 1, 1, passes};\n\
        const cuweld_plugin_info *ENTRY(void) { return &info; }\n";
    std::fs::write(&source, text).unwrap();
    let defines = |abi: &str, entry: &str, phase: &str, text: &str| {
        vec![
            format!("-DABI={abi}"),
            format!("-DENTRY={entry}"),
            format!("-DPHASE=\"{phase}\""),
            format!("-DTEXT=\"{text}\""),
        ]
    };
    let module = "lir 1\\nmodule phase=classified toolkit=13.0.88 target=sm_90 bytes=full\\nend\\n";
    for (defines, expected) in [
        (
            defines("9", "cuweld_plugin", "lowered", ""),
            "is for plugin ABI 9; this cuweld has 1",
        ),
        (
            defines("1", "plugin", "lowered", ""),
            "it has no function 'cuweld_plugin'",
        ),
        (
            defines("1", "cuweld_plugin", "late", ""),
            "names an unknown phase 'late'",
        ),
        (
            defines("1", "cuweld_plugin", "live", module),
            "pass 'other' (step 2) requires phase 'live'",
        ),
        (
            defines("1", "cuweld_plugin", "classified", "lir 1 junk"),
            "pass 'other' gave back does not parse",
        ),
        (
            defines(
                "1",
                "cuweld_plugin",
                "classified",
                &module.replace("sm_90", "sm_80"),
            ),
            "gave back is for sm_80, not sm_90",
        ),
        (
            defines(
                "1",
                "cuweld_plugin",
                "classified",
                &module.replace("=classified", "=live"),
            ),
            "gave back is 'live', not 'classified'",
        ),
        (
            defines(
                "1",
                "cuweld_plugin",
                "classified",
                &module.replace("end", "merged-info none\\nend"),
            ),
            "gave back breaks invariants of the IR",
        ),
    ] {
        let defines: Vec<&str> = defines.iter().map(String::as_str).collect();
        let library = build(folder.path(), &source, &defines);
        let output = opt(
            folder.path(),
            "classify,other",
            &["--load-pass-plugin", library.to_str().unwrap()],
        );
        assert!(!output.status.success());
        assert!(
            stderr(&output).contains(expected),
            "{expected}: {}",
            stderr(&output)
        );
    }
    let output = opt(
        folder.path(),
        "classify",
        &["--load-pass-plugin", "other.c"],
    );
    assert!(
        stderr(&output).contains("cannot load plugin 'other.c'"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn the_program_in_python_raises_register_counts() {
    if Command::new("python3").arg("--version").output().is_err() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let kernel = kernel(folder.path());
    let program = format!("{ROOT}/examples/exec-pass/launch_bounds.py");
    let pass =
        format!("exec{{command=['python3','{program}','--at-least','200'],requires=classified}}");
    let output = opt(
        folder.path(),
        &format!("classify,{pass},select-objects"),
        &["--verify-each"],
    );
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stderr(&output).contains(&format!("{kernel}: ")),
        "{}",
        stderr(&output)
    );
    let text = std::fs::read_to_string(folder.path().join("out.lir")).unwrap();
    assert!(text.contains("registers=200"));
}

#[test]
fn programs_that_fail_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (pass, expected) in [
        ("exec", "option 'command' is missing"),
        ("exec{command=[]}", "option 'command' is missing"),
        (
            "exec{command=['cat'],requires=later}",
            "option 'requires': no phase 'later'",
        ),
        (
            "exec{command=['no-such-program']}",
            "cannot run 'no-such-program'",
        ),
        (
            "exec{command=['sh','-c','echo why >&2; exit 3']}",
            "failed: exit status: 3\n  note: why",
        ),
        (
            "exec{command=['echo','hello']}",
            "what 'echo hello' gave back does not parse",
        ),
        (
            "exec{command=['cat'],requires=selected}",
            "requires phase 'selected'",
        ),
    ] {
        let output = opt(folder.path(), &format!("classify,{pass}"), &[]);
        assert!(!output.status.success());
        assert!(
            stderr(&output).contains(expected),
            "{expected}: {}",
            stderr(&output)
        );
    }
    // What comes back as it was is no change; nothing at all is none either.
    for pass in [
        "exec{command=['cat']}",
        "exec{command=['cat'],bytes=ref}",
        "exec{command=['true']}",
    ] {
        let output = opt(
            folder.path(),
            &format!("classify,{pass},select-objects"),
            &[],
        );
        assert!(output.status.success(), "{}", stderr(&output));
    }
}
