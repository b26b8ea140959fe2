//! Reproducers and reduction.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::harness::command::{cuweld, said};
use cuweld::cli::Program;
use cuweld::extend::Register;
use cuweld_diagnostics::codes::internal;
use cuweld_ir::Module;
use cuweld_passes::{Changed, Pass, PassCx, PassError, PassInfo};

const LINKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/links");

/// A link into a folder that is there when it is recorded.
#[test]
fn a_replay_makes_the_folder_of_its_output() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("build")).unwrap();
    let input = Path::new(LINKS).join("symbols/weak-templates/sm_90/a.cubin");
    std::fs::copy(&input, folder.path().join("a.cubin")).unwrap();
    let link = ["link", "a.cubin", "--arch=sm_90", "-o", "build/out.cubin"];
    let done = cuweld(folder.path(), &[&link[..], &["--repro=r.tar"]].concat());
    assert!(done.status.success(), "{}", said(&done));
    let done = cuweld(folder.path(), &["replay", "r.tar", "--into", "again"]);
    assert!(done.status.success(), "{}", said(&done));
    let outputs = |folder: &Path| -> Vec<u8> {
        let mut found = walk(folder).into_iter();
        let output = found.find(|path| path.ends_with("build/out.cubin"));
        std::fs::read(output.unwrap()).unwrap()
    };
    let expected = std::fs::read(folder.path().join("build/out.cubin")).unwrap();
    assert_eq!(outputs(&folder.path().join("again")), expected);
}

/// Returns the files in a folder and those in it.
fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(walk(&path)),
            false => files.push(path),
        }
    }
    files
}

/// A link of a relative and an absolute path, and an options file; replayed where neither exists any more.
#[test]
fn a_link_is_replayed_from_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("work");
    std::fs::create_dir(&work).unwrap();
    let input = Path::new(LINKS).join("symbols/weak-templates/sm_90/a.cubin");
    std::fs::copy(&input, work.join("a.cubin")).unwrap();
    std::fs::copy(&input, folder.path().join("b.cubin")).unwrap();
    std::fs::write(work.join("options"), "--ignore-host-info\n").unwrap();
    let absolute = work.join("a.cubin").to_string_lossy().into_owned();
    let output = work.join("out.cubin").to_string_lossy().into_owned();
    for (repro, words) in [
        (
            "1.tar",
            vec![
                "link",
                "../b.cubin",
                "--arch=sm_90",
                "--repro=1.tar",
                "-o",
                &output,
            ],
        ),
        (
            "2.tar",
            vec![
                "nvlink",
                "-arch=sm_90",
                &absolute,
                "--options-file",
                "options",
                "--cuweld-repro=2.tar",
                "-o",
                &output,
            ],
        ),
        (
            "3.tar",
            vec![
                "opt",
                "a.cubin",
                "--arch=sm_90",
                "--repro",
                "3.tar",
                "-o",
                "out.cubin",
            ],
        ),
    ] {
        let done = cuweld(&work, &words);
        assert!(done.status.success(), "{}", said(&done));
        let expected = std::fs::read(&output).unwrap();
        std::fs::remove_file(&output).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let moved = elsewhere.path().join(repro);
        std::fs::rename(work.join(repro), &moved).unwrap();
        let hidden = folder.path().join("hidden");
        std::fs::rename(&work, &hidden).unwrap();
        let done = cuweld(elsewhere.path(), &["replay", repro, "--into=again"]);
        std::fs::rename(&hidden, &work).unwrap();
        assert!(done.status.success(), "{}", said(&done));
        let inside = elsewhere
            .path()
            .join("again/files")
            .join(output.trim_start_matches('/'));
        assert!(std::fs::read(inside).unwrap() == expected);
        assert!(!Path::new(&output).exists());
        // Equal links give equal archives.
        let first = std::fs::read(&moved).unwrap();
        assert!(cuweld(&work, &words).status.success());
        assert!(std::fs::read(work.join(repro)).unwrap() == first);
        let shown = said(&cuweld(elsewhere.path(), &["replay", repro, "--show"]));
        assert!(
            shown.contains("passes (those of the target)\nexit 0\n"),
            "{shown}"
        );
    }
}

/// Files that only a pipeline names: one it includes, an order of functions, a program. They are read where the archive has them.
#[test]
fn a_replay_has_the_files_of_pipelines() {
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path().join("work");
    std::fs::create_dir_all(work.join("lib")).unwrap();
    let input = Path::new(LINKS).join("symbols/weak-templates/sm_90/a.cubin");
    std::fs::copy(&input, work.join("a.cubin")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(work.join(name), text).unwrap();
    let inside = |name: &str| work.join(name).to_string_lossy().into_owned();
    write("order.txt", "kernel_b\n");
    write("raise.sed", "s/registers=[0-9]*/registers=99/\n");
    write("lib/raise.sh", "#!/bin/sh\nexec sed -f \"$@\"\n");
    std::fs::set_permissions(work.join("lib/raise.sh"), Permissions::from_mode(0o755)).unwrap();
    write(
        "mine.toml",
        "name = 'mine'\n[[pass]]\nuse = 'classify'\n[[pass]]\ninclude = 'lib/first.toml'\n",
    );
    // What is included stands beside the file that includes it.
    write(
        "lib/first.toml",
        "name = 'first'\n[[pass]]\ninclude = 'second.toml'\n",
    );
    let second = format!(
        "name = 'second'\n[[pass]]\nuse = 'exec'\noptions = {{ command = ['lib/raise.sh', '{}'], requires = 'classified' }}\n",
        inside("raise.sed")
    );
    write("lib/second.toml", &second);
    let order = format!(
        "classify,select-objects,symbol-resolve,order-functions{{file='{}'}}",
        inside("order.txt")
    );
    for words in [["--pipeline", "mine.toml"], ["--passes", &order]] {
        let link = [
            "opt",
            "a.cubin",
            "--arch=sm_90",
            "-o",
            "out.lir",
            "--repro=r.tar",
        ];
        let done = cuweld(&work, &[&link[..], &words].concat());
        assert!(done.status.success(), "{}", said(&done));
        let expected = std::fs::read_to_string(work.join("out.lir")).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::fs::rename(work.join("r.tar"), elsewhere.path().join("r.tar")).unwrap();
        let hidden = folder.path().join("hidden");
        std::fs::rename(&work, &hidden).unwrap();
        let again = cuweld(
            elsewhere.path(),
            &["replay", "r.tar", "--into=again", "--trust"],
        );
        std::fs::rename(&hidden, &work).unwrap();
        assert!(again.status.success(), "{}", said(&again));
        let output = work.join("out.lir");
        let output = output.strip_prefix("/").unwrap();
        let output = elsewhere.path().join("again/files").join(output);
        assert_eq!(std::fs::read_to_string(output).unwrap(), expected);
    }
}

#[test]
fn a_replay_ends_as_the_link_did() {
    let folder = tempfile::tempdir().unwrap();
    let input = Path::new(LINKS).join("symbols/weak-templates/sm_90/a.cubin");
    std::fs::copy(&input, folder.path().join("a.cubin")).unwrap();
    let words = [
        "nvlink",
        "-arch=sm_80",
        "a.cubin",
        "--cuweld-repro=r.tar",
        "-o",
        "out.cubin",
    ];
    let done = cuweld(folder.path(), &words);
    let again = cuweld(folder.path(), &["replay", "r.tar"]);
    assert!(!done.status.success());
    assert_eq!(again.status.code(), done.status.code());
    assert_eq!(said(&again), said(&done));
    // Another linker gets nvlink's arguments alone.
    let again = cuweld(folder.path(), &["replay", "r.tar", "--linker=/bin/echo"]);
    assert_eq!(said(&again), "-arch=sm_80 a.cubin -o out.cubin\n");
    std::fs::write(folder.path().join("no.tar"), "no archive").unwrap();
    let refused = cuweld(folder.path(), &["replay", "no.tar"]);
    assert!(said(&refused).contains("'no.tar'"), "{}", said(&refused));
}

#[derive(Default)]
struct Panics;

impl Pass for Panics {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "panics",
            summary: "Panic",
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        _: &mut Module<'data>,
        _: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        panic!("on purpose")
    }
}

#[derive(Default)]
struct BreaksModule;

impl Pass for BreaksModule {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "breaks-module",
            summary: "Leave an image before there is a plan",
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        _: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        module.image = Some(Vec::new());
        Ok(Changed::Yes)
    }
}

/// What is our fault leaves a reproducer without being asked for.
#[test]
fn an_internal_error_leaves_a_reproducer() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("a.lir");
    std::fs::write(
        &input,
        "lir 1\nmodule phase=lowered toolkit=13.0.88 target=sm_90 bytes=full\nend\n",
    )
    .unwrap();
    let output = folder.path().join("out.lir");
    let run_words = |pipeline: &[&str]| {
        let words = [
            "cuweld",
            "opt",
            input.to_str().unwrap(),
            "-o",
            output.to_str().unwrap(),
            "--verify-each",
            "--explain=all",
        ];
        let words: Vec<String> = words
            .iter()
            .chain(pipeline)
            .map(|&it| it.to_owned())
            .collect();
        let register: Register = |registry| {
            registry.register::<Panics>();
            registry.register::<BreaksModule>();
        };
        let program = Program {
            register: &[register],
            ..Program::default()
        };
        let mut messages = Vec::new();
        let code = cuweld::cli::native(&words, program, &mut Vec::new(), &mut messages).unwrap();
        (code, String::from_utf8_lossy(&messages).into_owned())
    };
    let run = |pass: &str| run_words(&["--passes", pass]);
    let (code, said) = run("breaks-module");
    assert_eq!(code, 1);
    assert!(said.contains("the module is broken"), "{said}");
    let fault = format!("note: code {},", internal::BROKEN_MODULE.name());
    assert!(said.contains(&fault), "{said}");
    let mut words = said.split('\'');
    let archive = words.find(|word| word.ends_with(".tar")).unwrap();
    let shown = cuweld(folder.path(), &["replay", archive, "--show"]);
    std::fs::remove_file(archive).unwrap();
    assert!(String::from_utf8_lossy(&shown.stdout).contains("exit 1"));
    assert!(!output.exists());
    // A panic is the fault of the pass: what is left is its input.
    let (code, said) = run("panics");
    assert_eq!(code, 1);
    let message = "error: cuweld: pass 'panics' (step 1) panicked: on purpose\n";
    assert!(said.contains(message), "{said}");
    assert!(said.contains("note: code extension/crash,"), "{said}");
    assert!(!said.contains("bug in cuweld"), "{said}");
    let mut words = said.split('\'');
    let reproducer = words.find(|word| word.contains("cuweld-pass-")).unwrap();
    let before = std::fs::read_to_string(Path::new(reproducer).join("before.lir")).unwrap();
    assert_eq!(before, std::fs::read_to_string(&input).unwrap());
    let rest = Path::new(reproducer)
        .join("rest.toml")
        .display()
        .to_string();
    let (_, again) = run_words(&["--pipeline", &rest]);
    assert!(again.contains(message), "{again}");
    let mut words = again.split('\'');
    let second = words.find(|word| word.contains("cuweld-pass-")).unwrap();
    std::fs::remove_dir_all(reproducer).unwrap();
    std::fs::remove_dir_all(second).unwrap();
    assert!(!output.exists());
    // What is wrong with the command is not our fault.
    assert!(!run("panic").1.contains("bug in cuweld"));
}

#[test]
fn files_are_reduced() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..12).map(|n| format!("{n}.cubin")).collect();
    for name in &names {
        std::fs::write(folder.path().join(name), name).unwrap();
    }
    let check = "f() { n=0; for i; do case $i in 3.cubin|9.cubin) n=$((n+1));; esac; done; test $n -lt 2; }; f";
    let mut words = vec!["reduce", "--check", check];
    words.extend(names.iter().map(String::as_str));
    let done = cuweld(folder.path(), &words);
    let text = said(&done);
    assert!(
        text.starts_with("3.cubin\n9.cubin\n2 of 12 files are left"),
        "{text}"
    );
}

#[test]
fn a_module_is_reduced() {
    let folder = tempfile::tempdir().unwrap();
    let input = Path::new(LINKS).join("symbols/weak-templates/sm_90/a.cubin");
    let input = input.to_str().unwrap();
    let done = cuweld(
        folder.path(),
        &[
            "opt",
            input,
            "--arch=sm_90",
            "--stop-after=classify",
            "-o",
            "a.lir",
        ],
    );
    assert!(done.status.success(), "{}", said(&done));
    let reduce = |check: &str| {
        cuweld(
            folder.path(),
            &["reduce", "a.lir", "--check", check, "-o", "b.lir"],
        )
    };
    let done = reduce("! grep -q REGCOUNT");
    assert!(done.status.success(), "{}", said(&done));
    let text = std::fs::read_to_string(folder.path().join("b.lir")).unwrap();
    // One record, the function it is about, and what holds them.
    assert_eq!(text.matches("REGCOUNT").count(), 1, "{text}");
    assert!(text.lines().count() < 40, "{text}");
    let again = cuweld(folder.path(), &["opt", "b.lir", "--passes=", "-o", "c.lir"]);
    assert!(again.status.success(), "{}", said(&again));
    assert!(said(&reduce("true")).contains("there is nothing to reduce"));
}
