//! Programs of C modules (`tests/dlink/module.c`) that a host object of ours registers, for each machine that can be compiled for
//! and run here: Debian's `gcc-aarch64-linux-gnu`, `g++-aarch64-linux-gnu` and `qemu-user` do it for 64-bit Arm.

use std::fs;
use std::path::Path;
use std::process::Command;

use object::Object as _;
use object::ObjectSection as _;

use super::Recorded;
use super::assembly;
use super::dlink;
use super::fixture;
use super::is_there;
use super::run;
use super::say;
use super::sources;

struct Machine {
    host: &'static str,
    compiler: &'static str,
    compiler_of_cxx: &'static str,
    /// What runs its programs, if it is not this one.
    runner: &'static [&'static str],
    /// Words for its linker alone.
    links: &'static [&'static str],
}

const MACHINES: [Machine; 2] = [
    Machine {
        host: "x86_64",
        compiler: "cc",
        compiler_of_cxx: "c++",
        runner: &[],
        links: &["-Wl,-z,nosectionheader", "-Wl,-z,norelro"],
    },
    Machine {
        host: "aarch64",
        compiler: "aarch64-linux-gnu-gcc",
        compiler_of_cxx: "aarch64-linux-gnu-g++",
        runner: &["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"],
        links: &[
            "-Wl,--fix-cortex-a53-843419,--fix-cortex-a53-835769",
            "-Wl,--fix-cortex-a53-843419=full",
        ],
    },
];

/// What every linker of programs is asked for.
const LINKS: [&[&str]; 6] = [
    &[],
    &["-pie"],
    &["-no-pie"],
    &["-static"],
    &["-static-pie"],
    &["-Wl,--gc-sections,--fatal-warnings,-z,now,-z,relro,-z,text"],
];

impl Machine {
    fn is_here(&self) -> bool {
        let is_native = self.host == std::env::consts::ARCH;
        let needed = [self.compiler, self.compiler_of_cxx]
            .into_iter()
            .chain(self.runner.first().copied());
        let is_here = match self.runner.is_empty() {
            true => is_native,
            false => !is_native && needed.clone().all(is_there),
        };
        if !is_here {
            say(&format!("no programs are built for {}", self.host));
        }
        is_here
    }

    /// Returns `true` if its compiler of C++ is here, and says so if it is not.
    fn has_cxx(&self) -> bool {
        let has_cxx = is_there(self.compiler_of_cxx);
        if !has_cxx {
            say(&format!("there is no {}", self.compiler_of_cxx));
        }
        has_cxx
    }

    fn compile(&self, folder: &Path, source: &str, words: &[&str], output: &str) {
        let compiler = match source.ends_with(".cc") {
            true => self.compiler_of_cxx,
            false => self.compiler,
        };
        run(Command::new(compiler)
            .args(["-Wall", "-Wextra", "-Werror", "-O2", "-fPIC"])
            .args(words)
            .arg(sources().join(source))
            .args(["-o", output])
            .current_dir(folder));
    }

    fn link(&self, folder: &Path, words: &[&str]) {
        run(Command::new(self.compiler).args(words).current_dir(folder));
    }

    /// Runs the program of a folder.
    fn record(&self, folder: &Path) -> Recorded {
        let program = folder.join("program");
        let mut command = match self.runner {
            [] => Command::new(program),
            [runner, words @ ..] => {
                let mut command = Command::new(runner);
                command.args(words).arg(program);
                command
            }
        };
        Recorded::of(&mut command, folder)
    }
}

/// Returns the ids of the modules that a host object registers.
pub fn module_ids(object: &[u8]) -> Vec<String> {
    let file = object::File::parse(object).unwrap();
    let section = file.section_by_name("__nv_module_id").unwrap();
    let text = String::from_utf8(section.data().unwrap().to_vec()).unwrap();
    let ids = text.split_terminator('\0');
    ids.map(|id| id.strip_prefix("def ").unwrap().to_owned())
        .collect()
}

/// Compiles what programs are made of: the recorder, two modules, the program itself, and the host object.
fn compile_modules(
    machine: &Machine,
    folder: &Path,
    words: &[&str],
    visibility: &str,
) -> Vec<String> {
    run(dlink(folder)
        .args([
            "--arch",
            "sm_90,sm_80",
            "--host",
            machine.host,
            "--visibility",
            visibility,
            "-o",
            "link.o",
        ])
        .args([fixture("a.o"), fixture("b.o")]));
    let ids = module_ids(&fs::read(folder.join("link.o")).unwrap());
    machine.compile(folder, "record.c", &["-c"], "record.o");
    machine.compile(folder, "main.c", &["-c"], "main.o");
    for (index, id) in ids.iter().enumerate() {
        let macros = [format!("-DID={id}"), format!("-DNUMBER={index}")];
        let words = [words, &["-c", &macros[0], &macros[1]]].concat();
        machine.compile(folder, "module.c", &words, &format!("module{index}.o"));
    }
    ids
}

/// Returns what the recorder prints of two modules that a program has linked.
fn expected(ids: &[String]) -> String {
    let (a, b) = (&ids[0], &ids[1]);
    format!(
        "def {a}\ndef {b}\n0: registered, version 2\n\
         0: prelinked fatbin of 24 bytes, {}\n0: prelinked fatbin of 24 bytes, {}\n\
         0: function kernel of {a} {a} 0\n0: function kernel of {b} {b} 1\n0: end\nmain\n0: unregistered\n",
        hash(0),
        hash(1)
    )
}

/// Returns the hash of a module's fatbin, as the recorder computes it.
fn hash(number: u64) -> String {
    let words = [0x0010_0001_ba55_ed50, 8, number];
    let bytes = words.iter().flat_map(|word: &u64| word.to_le_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    format!("{hash:016x}")
}

#[test]
fn programs_register_their_modules() {
    for machine in MACHINES.iter().filter(|machine| machine.is_here()) {
        let owner = tempfile::tempdir().unwrap();
        let folder = owner.path();
        let ids = compile_modules(machine, folder, &[], "default");
        run(dlink(folder)
            .args(["--arch", "sm_90,sm_80", "-o", "link.fatbin"])
            .args([fixture("a.o"), fixture("b.o")]));
        let fatbin = fs::read(folder.join("link.fatbin")).unwrap();
        let expected = Recorded {
            text: expected(&ids),
            fatbins: vec![fatbin],
        };
        let own = machine.links.iter().map(std::slice::from_ref);
        for words in LINKS.into_iter().chain(own) {
            let objects = [
                "main.o",
                "module0.o",
                "module1.o",
                "link.o",
                "record.o",
                "-o",
                "program",
            ];
            machine.link(folder, &[words, &objects].concat());
            machine
                .record(folder)
                .compare(&expected, &format!("{} {words:?}", machine.host));
        }
        // In a shared library.
        machine.link(
            folder,
            &[
                "-shared",
                "module0.o",
                "module1.o",
                "link.o",
                "-o",
                "libmodules.so",
            ],
        );
        machine.link(
            folder,
            &[
                "main.o",
                "record.o",
                "-rdynamic",
                "-Wl,--no-as-needed,-rpath,$ORIGIN",
                "libmodules.so",
                "-o",
                "program",
            ],
        );
        machine
            .record(folder)
            .compare(&expected, &format!("{} shared", machine.host));
        // The order of registration is that of the constructors.
        machine.link(
            folder,
            &[
                "main.o",
                "module1.o",
                "module0.o",
                "link.o",
                "record.o",
                "-o",
                "program",
            ],
        );
        let lines = machine.record(folder).text;
        let first = lines.lines().next().unwrap().to_owned();
        assert_eq!(first, format!("def {}", ids[1]), "{}", machine.host);
    }
}

/// Two shared libraries of a process have the same modules, and nobody else sees them.
#[test]
fn hidden_modules_are_registered_by_each_library() {
    for machine in MACHINES.iter().filter(|machine| machine.is_here()) {
        let owner = tempfile::tempdir().unwrap();
        let folder = owner.path();
        compile_modules(machine, folder, &["-fvisibility=hidden"], "hidden");
        for library in ["libone.so", "libother.so"] {
            machine.link(
                folder,
                &["-shared", "module0.o", "module1.o", "link.o", "-o", library],
            );
        }
        machine.link(
            folder,
            &[
                "main.o",
                "record.o",
                "-rdynamic",
                "-Wl,--no-as-needed,-rpath,$ORIGIN",
                "libone.so",
                "libother.so",
                "-o",
                "program",
            ],
        );
        let recorded = machine.record(folder);
        assert_eq!(recorded.fatbins.len(), 2, "{}", recorded.text);
        for number in 0..2 {
            let begin = format!("{number}: prelinked ");
            let prelinked = recorded
                .text
                .lines()
                .filter(|line| line.starts_with(&begin));
            assert_eq!(prelinked.count(), 2, "{}", recorded.text);
            assert!(
                recorded.text.contains(&format!("{number}: end\n")),
                "{}",
                recorded.text
            );
        }
    }
}

/// The C of `--host-source` does the same, with and without modules.
#[test]
fn source_registers_modules() {
    for machine in MACHINES.iter().filter(|machine| machine.is_here()) {
        let owner = tempfile::tempdir().unwrap();
        let folder = owner.path();
        let ids = compile_modules(machine, folder, &[], "default");
        let inputs = [fixture("a.o"), fixture("b.o")];
        run(dlink(folder)
            .args(["--arch", "sm_90", "--host-source", "-o", "link.c"])
            .args(&inputs));
        run(dlink(folder)
            .args(["--arch", "sm_90", "-o", "link.cubin"])
            .args(inputs));
        run(dlink(folder).args([
            "--arch",
            "sm_90",
            "--host-source",
            "-o",
            "none.c",
            "link.cubin",
        ]));
        for (compiler, language) in [(machine.compiler, "c"), (machine.compiler_of_cxx, "c++")] {
            if language == "c++" && !machine.has_cxx() {
                continue;
            }
            for (level, standard) in [("-O0", "11"), ("-O2", "17")] {
                let standard = format!(
                    "-std={}{standard}",
                    if language == "c" { "c" } else { "gnu++" }
                );
                for source in ["none.c", "link.c"] {
                    run(Command::new(compiler)
                        .args([
                            "-Wall", "-Wextra", "-Werror", level, &standard, "-fPIC", "-c",
                        ])
                        .args(["-x", language, source, "-o", "link.o"])
                        .current_dir(folder));
                }
                machine.link(
                    folder,
                    &[
                        "main.o",
                        "module0.o",
                        "module1.o",
                        "link.o",
                        "record.o",
                        "-o",
                        "program",
                    ],
                );
                assert_eq!(
                    machine.record(folder).text,
                    expected(&ids),
                    "{} {language}",
                    machine.host
                );
            }
        }
    }
}

/// Exceptions go through each call of the stub, which keeps registers and aligns the stack.
#[test]
fn frames_are_unwound() {
    for machine in MACHINES
        .iter()
        .filter(|machine| machine.is_here() && machine.has_cxx())
    {
        let owner = tempfile::tempdir().unwrap();
        let folder = owner.path();
        run(dlink(folder)
            .args(["--arch", "sm_90", "--host", machine.host, "-o", "link.o"])
            .arg(fixture("b.o")));
        let ids = module_ids(&fs::read(folder.join("link.o")).unwrap());
        assert_eq!(ids.len(), 1);
        machine.compile(
            folder,
            "throws.cc",
            &["-c", &format!("-DID={}", ids[0])],
            "throws.o",
        );
        run(Command::new(machine.compiler_of_cxx)
            .args(["throws.o", "link.o", "-o", "program"])
            .current_dir(folder));
        let expected = [
            ("-1", "returned\nunregistered\n"),
            ("0", "caught 1\n"),
            ("1", "caught 2\n"),
            ("2", "caught 3\nunregistered\n"),
            ("3", "caught 4\nunregistered\n"),
        ];
        for (word, expected) in expected {
            let program = folder.join("program");
            let words = machine
                .runner
                .iter()
                .map(Path::new)
                .chain([program.as_path(), Path::new(word)]);
            let words: Vec<&Path> = words.collect();
            let done = run(Command::new(words[0]).args(&words[1..]));
            assert_eq!(
                String::from_utf8_lossy(&done.stdout),
                expected,
                "{} {word}",
                machine.host
            );
        }
    }
}

/// The objects of nvcc that are committed, with their constructors and launches.
#[test]
fn committed_objects_register() {
    if std::env::consts::ARCH != "x86_64" || !is_there("c++") {
        return;
    }
    let owner = tempfile::tempdir().unwrap();
    let folder = owner.path();
    fs::write(folder.join("link.o"), assembly::host_object("x86_64")).unwrap();
    super::make_recorder(folder, "cc");
    run(Command::new("c++")
        .args([fixture("a.o"), fixture("b.o")])
        .args([
            "link.o",
            super::RECORDER,
            "-Wl,-rpath,$ORIGIN",
            "-o",
            "program",
        ])
        .current_dir(folder));
    let text = Recorded::of(&mut Command::new(folder.join("program")), folder).text;
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.contains("prelinked"))
        .collect();
    assert_eq!(
        lines,
        [
            "0: registered, version 2",
            "0: function _Z5firstPi _Z5firstPi -1",
            "0: function _Z6secondPi _Z6secondPi -1",
            "0: end",
            "launch of _Z5firstPi",
            "launch of _Z6secondPi",
            "0: unregistered",
        ]
    );
}
