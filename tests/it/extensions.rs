//! Passes from outside: the plugin in C and the program in Python of `examples/`, and what is refused of others.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::harness::command::{cuweld, program, stderr};

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
    Command::new(program())
        .args(words)
        .args(more)
        .current_dir(folder)
        // Reproducers go with the folder.
        .env("TMPDIR", folder)
        .output()
        .unwrap()
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
            format!("classify,rename{{from='{kernel}',to='renamed',bytes={form}}},select-objects");
        let output = opt(folder.path(), &passes, &plugin);
        assert!(output.status.success(), "{}", stderr(&output));
        let text = std::fs::read_to_string(folder.path().join("out.lir")).unwrap();
        assert!(
            text.contains(" .text.renamed PROGBITS") && text.contains(":renamed "),
            "{text}"
        );
        assert!(!text.contains(&format!(" {kernel} ")));
    }
    let output = opt(folder.path(), "classify,rename{from='x'}", &plugin);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("pass 'rename': it needs the options 'from' and 'to'"),
        "{}",
        stderr(&output)
    );
    // Options are checked before an input is opened.
    for (options, expected) in [
        (
            "form='x'",
            "there is no option 'form'; did you mean 'from'?",
        ),
        ("from=3", "option 'from' takes a string, not 3"),
    ] {
        let passes = format!("rename{{{options}}}");
        let words = ["opt", "no-such-file.cubin", "--arch=sm_90", "-o", "x.lir"];
        let words = [&words[..], &["--passes", &passes], &plugin].concat();
        let said = stderr(&cuweld(folder.path(), &words));
        assert!(said.contains(expected), "{said}");
    }
    // A name without a slash is a file of this folder, as for every other option.
    let output = opt(
        folder.path(),
        "classify,rename{from='no_such',to='name'}",
        &[
            "--load-pass-plugin",
            "plugin.so",
            "--explain=all",
            "--stats",
        ],
    );
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stderr(&output);
    let warning = "warning: nothing has the name to replace\n  note: code extension/no-such-name,";
    assert!(said.contains(warning), "{said}");
    assert!(said.contains("names"), "{said}");
}

/// A plugin whose pass does what its option says.
const PLUGIN: &str = r#"
#include <cuweld-plugin.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DO, LIMIT, FLAG, WORDS };
static const cuweld_option options[] = {
    {"do", CUWELD_STRING, "'nothing'", "What to do."},
    {"limit", CUWELD_INTEGER, DEFAULT, "A number."},
    {"flag", CUWELD_BOOL, "true", "A flag."},
    {"words", CUWELD_STRINGS, "['a', 'b']", "Words."},
};

static int32_t run(const cuweld_call *call, cuweld_output *output) {
  const char *what = call->options[DO].string;
  (void)output;
  if (!strcmp(what, "abort")) abort();
  if (!strcmp(what, "segfault")) *(volatile int *)8 = 1;
  if (!strcmp(what, "trap")) __builtin_trap();
  if (!strcmp(what, "exit")) exit(0);
  if (!strcmp(what, "exit-of-child")) {
    if (fork() == 0) exit(3);
  }
  if (!strcmp(what, "report")) {
    const char *notes[] = {"one", "two"}, *helps[] = {"none"};
    cuweld_finding finding = {CUWELD_WARNING, "odd", "is odd", "fn0", notes, 2, helps, 1};
    call->report(call->context, &finding);
    finding.severity = CUWELD_ERROR;
    finding.row = NULL;
    finding.message = call->options[WORDS].strings[call->options[WORDS].string_count - 1];
    call->report(call->context, &finding);
    finding = (cuweld_finding){.severity = CUWELD_REMARK, .message = "is here", .row = "fn0"};
    call->report(call->context, &finding);
    call->count(call->context, "limits", (uint64_t)call->options[LIMIT].integer);
    call->count(call->context, "flags", (uint64_t)call->options[FLAG].integer);
  }
  if (!strcmp(what, "broken")) {
    cuweld_finding finding = {.severity = 9, .message = "x"};
    call->report(call->context, &finding);
  }
  return CUWELD_DONE;
}
static void release(cuweld_output *output) { output->data = 0; }
static const cuweld_pass passes[] = {{"does", "Does as it is told", "classified", NULL, options, 4, run, release}};
static const cuweld_plugin_info plugin = {CUWELD_PLUGIN_ABI, CUWELD_LIR_GRAMMAR, 1, passes};
const cuweld_plugin_info *cuweld_plugin(void) { return &plugin; }
"#;

/// Builds [`PLUGIN`]; its integer has this default.
fn obedient(folder: &Path, default: &str) -> PathBuf {
    let source = folder.join("does.c");
    std::fs::write(&source, PLUGIN).unwrap();
    build(folder, &source, &[&format!("-DDEFAULT=\"{default}\"")])
}

#[test]
fn plugins_report_and_count() {
    let folder = tempfile::tempdir().unwrap();
    let library = obedient(folder.path(), "32");
    let plugin = ["--load-pass-plugin", library.to_str().unwrap()];
    let words = ["--stats=json", "--remarks=does", "--explain=all"];
    let run = |options: &str| {
        let passes = format!("classify,does{{do='report'{options}}},select-objects");
        opt(folder.path(), &passes, &[&plugin[..], &words].concat())
    };
    let output = run("");
    let said = stderr(&output);
    // An error lets the link go on, and fails it.
    assert_eq!(output.status.code(), Some(255), "{said}");
    for expected in [
        "warning: 'T1 heavy<float>(const T1 *, int)' is odd\n  note: one\n  note: two\n  help: none\n  note: code extension/odd,",
        "error: b\n  note: one",
        "remark: does: 'T1 heavy<float>(const T1 *, int)' is here\n",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    let counts = |said: &str| {
        let counts: String = said
            .chars()
            .filter(|letter| !letter.is_whitespace())
            .collect();
        ["\"limits\":32", "\"limits\":7", "\"flags\":1"].map(|it| counts.contains(it))
    };
    assert_eq!(counts(&said), [true, false, true], "{said}");
    let said = stderr(&run(",limit=7,flag=false,words=['c']"));
    assert_eq!(counts(&said), [false, true, false], "{said}");
    assert!(said.contains("error: c\n"), "{said}");
    let said = stderr(&opt(folder.path(), "classify,does{do='broken'}", &plugin));
    let broken = "pass 'does': it reported a broken finding: there is no such severity";
    assert!(said.contains(broken), "{said}");
    // A default that is of another type is a fault of the plugin.
    let library = obedient(folder.path(), "'x'");
    let plugin = ["--load-pass-plugin", library.to_str().unwrap()];
    let said = stderr(&opt(folder.path(), "classify", &plugin));
    let expected = "pass 'does': option 'limit': its default is not a whole number, but 'x'";
    assert!(said.contains(expected), "{said}");
}

/// Returns the command of a message, without its quotes.
fn command_of(said: &str) -> &str {
    let help = said.split("help: `").nth(1);
    let command = help.and_then(|help| help.split("` runs them again").next());
    command.unwrap_or_else(|| panic!("no command: {said}"))
}

/// Runs the command of a message, which fails as well, and returns what it said.
fn reproduced(folder: &Path, said: &str) -> String {
    let command = command_of(said);
    let before = command.split(' ').find(|word| word.ends_with("before.lir"));
    assert!(
        Path::new(before.unwrap())
            .with_file_name("rest.toml")
            .exists()
    );
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env("TMPDIR", folder)
        .output()
        .unwrap();
    assert!(!output.status.success());
    stderr(&output)
}

#[test]
fn a_plugin_that_ends_the_process_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let library = obedient(folder.path(), "32");
    // The command of the message runs in any folder.
    let plugin = ["--load-pass-plugin", "plugin.so"];
    assert!(library.ends_with("plugin.so"));
    for (what, cause) in [
        ("segfault", "SIGSEGV"),
        ("abort", "SIGABRT"),
        ("trap", "SIGILL"),
        ("exit", "exit"),
    ] {
        let passes = format!("classify,does{{do='{what}'}},select-objects");
        let output = opt(folder.path(), &passes, &plugin);
        let said = stderr(&output);
        let expected = format!(
            "error: cuweld: pass 'does' (step 2) of plugin 'plugin.so' was ended by {cause}\n"
        );
        assert!(said.contains(&expected), "{said}");
        assert!(!folder.path().join("out.lir").exists());
        // A signal goes on to end the program, for debuggers and shells.
        match what {
            "exit" => assert_eq!(output.status.code(), Some(1)),
            _ => assert_eq!(output.status.code(), None, "{said}"),
        }
        let elsewhere = tempfile::tempdir().unwrap();
        let again = reproduced(elsewhere.path(), &said);
        let expected = format!("was ended by {cause}\n");
        assert!(
            again.contains("pass 'does' (step 1)") && again.contains(&expected),
            "{again}"
        );
    }
    // A case is a reproducer by itself.
    let case = "; run: does{do='abort'}\nlir 1\nmodule phase=classified toolkit=13.0.88 target=sm_90 bytes=full\nend\n";
    std::fs::write(folder.path().join("a.lir"), case).unwrap();
    let words = [&["test-passes", "a.lir"][..], &plugin].concat();
    let output = cuweld(folder.path(), &words);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "test a.lir ... ");
    assert_eq!(
        stderr(&output),
        "error: cuweld: pass 'does' (step 1) of plugin 'plugin.so' was ended by SIGABRT\n"
    );
    // Nothing is left of passes that come to their end, and what a child does is its own affair.
    for what in ["nothing", "exit-of-child"] {
        let folder = tempfile::tempdir().unwrap();
        let library = library.to_str().unwrap();
        let passes = format!("classify,does{{do='{what}'}},select-objects");
        let output = opt(folder.path(), &passes, &["--load-pass-plugin", library]);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(stderr(&output), "");
        let left = std::fs::read_dir(folder.path()).unwrap();
        let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["out.lir"]);
    }
}

#[test]
fn a_program_that_does_not_come_to_its_end_leaves_a_reproducer() {
    let folder = tempfile::tempdir().unwrap();
    for (script, cause) in [
        ("kill -SEGV $$", "failed: signal: 11 (SIGSEGV)"),
        (
            "echo why >&2; exit 3",
            "failed: exit status: 3\n  note: why",
        ),
    ] {
        let passes = format!("classify,exec{{command=['sh','-c','{script}']}},select-objects");
        let said = stderr(&opt(folder.path(), &passes, &[]));
        assert!(
            said.contains("error: cuweld: pass 'exec': 'sh -c "),
            "{said}"
        );
        assert!(said.contains(cause), "{said}");
        let again = reproduced(folder.path(), &said);
        assert!(again.contains(cause), "{again}");
    }
}

/// Comments of what a program writes.
#[test]
fn programs_report_and_count() {
    let folder = tempfile::tempdir().unwrap();
    let comments = "; warning: fn0 is odd\n; note: one\n; help: none\n; statistic: odd = 7\n";
    std::fs::write(folder.path().join("said"), comments).unwrap();
    let run = |script: &str, more: &[&str]| {
        let passes = format!(
            "classify,exec{{command=['sh','-c','{script}'],requires=classified}},select-objects"
        );
        opt(folder.path(), &passes, &[&["--stats"], more].concat())
    };
    // With a module, and alone.
    for script in ["cat - said", "cat said"] {
        let output = run(script, &[]);
        let said = stderr(&output);
        assert!(output.status.success(), "{said}");
        let expected =
            "warning: 'T1 heavy<float>(const T1 *, int)' is odd\n  note: one\n  help: none\n";
        assert!(said.contains(expected), "{said}");
        let mut lines = said.lines();
        assert!(
            lines.any(|line| line.contains("odd") && line.contains('7')),
            "{said}"
        );
    }
    let output = run("echo \"; error: it is wrong\"", &[]);
    assert_eq!(output.status.code(), Some(255));
    assert!(stderr(&output).contains("error: it is wrong\n"));
}

#[test]
fn plugins_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("other.c");
    let text = "#include <cuweld-plugin.h>\n\
        static int32_t run(const cuweld_call *c, cuweld_output *o) {\n\
          (void)c; static uint8_t text[] = TEXT; o->data = text; o->size = sizeof text - 1; return 0; }\n\
        static void release(cuweld_output *o) { o->data = 0; }\n\
        static const cuweld_pass passes[] = {{\"other\", \"\", PHASE, 0, 0, 0, run, release}};\n\
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
            "is for plugin ABI 9; this cuweld has 2",
        ),
        (
            defines("2", "plugin", "lowered", ""),
            "it has no function 'cuweld_plugin'",
        ),
        (
            defines("2", "cuweld_plugin", "late", ""),
            "names an unknown phase 'late'",
        ),
        (
            defines("2", "cuweld_plugin", "live", module),
            "pass 'other' (step 2) requires phase 'live'",
        ),
        (
            defines("2", "cuweld_plugin", "classified", "lir 1 junk"),
            "pass 'other' gave back does not parse",
        ),
        (
            defines(
                "2",
                "cuweld_plugin",
                "classified",
                &module.replace("sm_90", "sm_80"),
            ),
            "gave back changes row 'module': it is for sm_80, not sm_90",
        ),
        (
            defines(
                "2",
                "cuweld_plugin",
                "classified",
                &module.replace("=classified", "=live"),
            ),
            "gave back is 'live', not 'classified'",
        ),
        (
            defines(
                "2",
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
fn a_phase_is_verified_though_nothing_changes() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("nothing.c");
    let text = "#include <cuweld-plugin.h>\n\
        static int32_t run(const cuweld_call *call, cuweld_output *o) { return CUWELD_DONE; }\n\
        static void release(cuweld_output *o) { o->data = 0; }\n\
        static const cuweld_pass passes[] = {\n\
          {\"no-dce\", \"\", \"resolved\", \"live\", NULL, 0, run, release},\n\
          {\"no-relocate\", \"\", \"laid-out\", \"relocated\", NULL, 0, run, release},\n\
          {\"no-emit\", \"\", \"relocated\", \"emitted\", NULL, 0, run, release},\n\
          {\"nothing\", \"\", \"resolved\", NULL, NULL, 0, run, release}};\n\
        static const cuweld_plugin_info info = {CUWELD_PLUGIN_ABI, CUWELD_LIR_GRAMMAR, 4, passes};\n\
        const cuweld_plugin_info *cuweld_plugin(void) { return &info; }\n";
    std::fs::write(&source, text).unwrap();
    let library = build(folder.path(), &source, &[]);
    let whole = "check-objects,classify,select-objects,symbol-resolve,callgraph-dce,merge-metadata,\
        propagate-resources,place-memory,constant-bank-dedup,check-undefined,plan-relocations,\
        report-call-graph,check-limits,layout-output,relocate,check-link,report-resources,emit";
    for (pass, in_place, broken) in [
        ("callgraph-dce", "no-dce", "live-set: $0:"),
        ("relocate", "no-relocate", "it has no fixup"),
        ("emit", "no-emit", "image: image: there is none"),
        ("classify", "classify,nothing", ""),
    ] {
        let steps: Vec<&str> = whole.split(',').map(str::trim).collect();
        let steps = steps
            .iter()
            .map(|step| if *step == pass { in_place } else { step });
        let passes = steps.collect::<Vec<_>>().join(",").replace(
            "classify,nothing,select-objects,symbol-resolve",
            "classify,select-objects,symbol-resolve,nothing",
        );
        let example = |name: &str| format!("{ROOT}/examples/rdc/{name}");
        let output = cuweld(
            folder.path(),
            &[
                "link",
                "--arch=sm_90",
                "-o",
                "x",
                "--load-pass-plugin",
                library.to_str().unwrap(),
                "--passes",
                &passes,
                &example("a.o"),
                &example("b.o"),
            ],
        );
        let said = stderr(&output);
        assert_eq!(output.status.success(), broken.is_empty(), "{pass}: {said}");
        assert_eq!(folder.path().join("x").exists(), broken.is_empty());
        if !broken.is_empty() {
            let what = format!("pass '{in_place}' changed nothing, but the module is not '");
            assert!(
                said.contains(&what) && said.contains(broken),
                "{pass}: {said}"
            );
        }
    }
}

/// What is linked and what was found is not for a pass from outside to change.
#[test]
fn rows_of_the_link_stay() {
    let folder = tempfile::tempdir().unwrap();
    for (script, expected) in [
        (
            "s/target=sm_90/target=sm_80/",
            "changes row 'module': it is for sm_80, not sm_90",
        ),
        (
            "s/classified toolkit=[0-9.]*/classified toolkit=12.8.93/",
            "changes row 'module': it is of toolkit 12.8",
        ),
        (
            "/option recorded-options/d",
            "changes row 'option recorded-options': options are",
        ),
        (
            "s/^end$/warning link\\/undefined x\\n&/",
            "changes row 'warning link/undefined \"x\"': what was found stays",
        ),
        (
            "s/^end$/stopped x\\n&/",
            "breaks invariants of the IR\n  note: stopped-by-error",
        ),
    ] {
        let pass = format!("classify,exec{{command=['sed','{script}']}}");
        let output = opt(folder.path(), &pass, &[]);
        assert_eq!(output.status.code(), Some(1));
        let said = stderr(&output);
        assert!(
            said.contains("what 'sed ") && said.contains(expected),
            "{script}: {said}"
        );
        assert!(!folder.path().join("out.lir").exists());
    }
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
