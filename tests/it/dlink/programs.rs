//! Programs of several objects, libraries and device links: what they register with the runtime is what it is with nvcc's
//! `-dlink`. Nothing is built without nvcc 13.0.88 (see tests/tools/oracle).

use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use cuweld::InputArena;
use cuweld::internals::decompress::decompress;
use cuweld::internals::fatbin;
use object::Object as _;
use object::ObjectSection as _;
use object::ObjectSymbol as _;

use super::RECORDER;
use super::Recorded;
use super::dlink;
use super::is_there;
use super::make_recorder;
use super::run;
use super::say;
use super::sources;
use crate::harness::oracle;

/// A folder of `tests/dlink`.
pub struct Program {
    folder: &'static str,
    targets: &'static [&'static str],
    /// Options of nvcc, which compiles and links.
    options: &'static [&'static str],
    /// The same for `cuweld dlink`.
    ours: &'static [&'static str],
    /// Static libraries of objects that nobody has linked.
    archives: &'static [(&'static str, &'static [&'static str])],
    /// What is linked, one after the other; the last is the program.
    parts: &'static [Part],
    libraries: &'static [&'static str],
}

/// Inputs of a device link, and what is made of them and its object.
pub struct Part {
    inputs: &'static [&'static str],
    made: Made,
}

pub enum Made {
    Shared(&'static str),
    Archive(&'static str),
    /// The inputs and the object go into the program.
    Objects,
    Program,
}

/// Who does the device links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Nvcc,
    ShadowNvcc,
    Dlink,
    C,
    Cxx,
}

/// Words for the host's linker: kinds of programs, compilers and linkers.
#[derive(Clone, Copy)]
struct HostLink {
    compiler: &'static str,
    words: &'static [&'static str],
    /// What has to be there.
    needs: &'static str,
}

const PLAIN: HostLink = HostLink {
    compiler: "g++",
    words: &[],
    needs: "g++",
};

const HOST_LINKS: [HostLink; 7] = [
    HostLink {
        words: &["-pie"],
        ..PLAIN
    },
    HostLink {
        words: &["-no-pie"],
        ..PLAIN
    },
    HostLink {
        words: &["-fuse-ld=gold", "-Wl,--gc-sections"],
        needs: "ld.gold",
        ..PLAIN
    },
    HostLink {
        words: &["-fuse-ld=lld", "-Wl,--gc-sections"],
        needs: "ld.lld",
        ..PLAIN
    },
    HostLink {
        words: &["-Wl,-z,now,-z,relro,-z,noexecstack,--gc-sections,--fatal-warnings"],
        ..PLAIN
    },
    HostLink {
        compiler: "clang++",
        words: &[],
        needs: "clang++",
    },
    HostLink {
        compiler: "clang++",
        words: &["-no-pie", "-fuse-ld=lld"],
        needs: "ld.lld",
    },
];

pub const OBJECTS: Program = Program {
    folder: "objects",
    targets: &["sm_90"],
    options: &[],
    ours: &[],
    archives: &[],
    parts: &[Part {
        inputs: &["a.o", "b.o"],
        made: Made::Program,
    }],
    libraries: &[],
};

/// Where a program is built.
pub struct Build<'a> {
    program: &'a Program,
    owner: tempfile::TempDir,
    pub real: PathBuf,
    pub shadow: PathBuf,
}

impl<'a> Build<'a> {
    /// Compiles a program. `None` where NVIDIA's tools are not installed.
    pub fn new(program: &'a Program) -> Option<Self> {
        let Some(tools) = oracle::tools() else {
            let text = "nothing is built, there is no nvcc 13.0.88 (see tests/tools/oracle)";
            say(text);
            return None;
        };
        let owner = tempfile::tempdir().unwrap();
        let build = Build {
            program,
            real: tools.parent().unwrap().to_owned(),
            shadow: owner.path().join("toolkit"),
            owner,
        };
        let folder = build.folder();
        run(Command::new(crate::harness::command::program())
            .args(["toolkit", "--device-link", "--from"])
            .arg(&build.real)
            .arg("--to")
            .arg(&build.shadow));
        make_recorder(folder, "gcc");
        let mut sources: Vec<_> = fs::read_dir(sources().join(program.folder))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        sources.sort();
        let mut units = Vec::new();
        for source in &sources {
            let name = source.file_name().unwrap().to_str().unwrap();
            fs::copy(source, folder.join(name)).unwrap();
            match name.rsplit_once('.') {
                Some((_, "cu")) => units.push(name),
                Some((unit, "cc")) => {
                    let object = format!("{unit}.o");
                    run(Command::new("g++")
                        .current_dir(folder)
                        .args(["-c", "-fPIC", name, "-o", &object]));
                }
                _ => {}
            }
        }
        run(build
            .nvcc(&build.real)
            .args(["-dc", "-Xcompiler", "-fPIC", "--threads", "0"])
            .args(program.options)
            .args(units));
        for (archive, members) in program.archives {
            run(Command::new("ar")
                .current_dir(folder)
                .args(["rcs", archive])
                .args(*members));
        }
        Some(build)
    }

    pub fn folder(&self) -> &Path {
        self.owner.path()
    }

    /// Returns a command of a toolkit's nvcc, for the targets.
    pub fn nvcc(&self, toolkit: &Path) -> Command {
        let mut command = Command::new(toolkit.join("bin/nvcc"));
        command
            .current_dir(self.folder())
            .env("CUWELD_STAMP", "nvlink-13.0.88")
            .env("CUWELD_LOG", "info")
            .env("LC_ALL", "C")
            .arg(format!("-L{}", self.real.join("lib").display()));
        command.args(self.program.targets.iter().map(|target| {
            let target = target.trim_start_matches("sm_");
            format!("-gencode=arch=compute_{target},code=sm_{target}")
        }));
        command
    }

    /// Does a device link.
    fn link(&self, way: Way, inputs: &[&str], output: &str) {
        let program = self.program;
        let toolkit = match way {
            Way::Nvcc => Some(&self.real),
            Way::ShadowNvcc => Some(&self.shadow),
            _ => None,
        };
        if let Some(toolkit) = toolkit {
            let mut nvcc = self.nvcc(toolkit);
            nvcc.args(["-dlink", "-Xcompiler", "-fPIC"])
                .args(program.options);
            let done = run(nvcc
                .args(inputs)
                .args(program.libraries)
                .args(["-o", output]));
            let said = crate::harness::command::said(&done);
            assert!(!said.contains("nvcc does the device link"), "{said}");
            return;
        }
        let mut command = dlink(self.folder());
        command
            .args([
                "--stamp",
                "nvlink-13.0.88",
                "--arch",
                &program.targets.join(","),
            ])
            .args(program.ours)
            .args(inputs)
            .args(program.libraries)
            .arg(format!("-L{}", self.real.join("lib").display()));
        if way == Way::Dlink {
            run(command.args(["-o", output]));
            return;
        }
        run(command.args(["--host-source", "-o", "link.c"]));
        let (compiler, language) = match way {
            Way::C => ("gcc", "c"),
            _ => ("g++", "c++"),
        };
        run(Command::new(compiler)
            .current_dir(self.folder())
            .args([
                "-Wall", "-Wextra", "-Werror", "-O2", "-fPIC", "-c", "-x", language, "link.c",
            ])
            .args(["-o", output]));
    }

    /// Builds the program, and returns its words for the host's linker.
    fn build(&self, way: Way) -> Vec<String> {
        let mut words = Vec::new();
        for (index, part) in self.program.parts.iter().enumerate() {
            let stub = format!("link{index}.o");
            self.link(way, part.inputs, &stub);
            self.check_stub(way, &stub);
            let objects = || part.inputs.iter().copied().chain([stub.as_str()]);
            let command = |name: &str| {
                let mut command = Command::new(name);
                command.current_dir(self.folder());
                command
            };
            match part.made {
                Made::Shared(name) => {
                    run(command("g++").args(["-shared", "-o", name]).args(objects()));
                    words.push(name.to_owned());
                }
                Made::Archive(name) => {
                    let _ = fs::remove_file(self.folder().join(name));
                    run(command("ar").args(["rcs", name]).args(objects()));
                }
                Made::Objects | Made::Program => {
                    // The object refers to members of libraries, which come after it.
                    words.splice(0..0, part.inputs.iter().map(|name| (*name).to_owned()));
                    words.insert(0, stub.clone());
                }
            }
        }
        words
    }

    /// Fails if another made the object.
    fn check_stub(&self, way: Way, stub: &str) {
        let bytes = fs::read(self.folder().join(stub)).unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        let is_ours = file
            .symbols()
            .any(|symbol| symbol.name() == Ok("cuweld_descriptor"));
        assert_eq!(
            is_ours,
            matches!(way, Way::ShadowNvcc | Way::Dlink),
            "{way:?}"
        );
    }

    /// Links the program on the host and runs it. Also returns its fatbins, with those before the link.
    fn record(&self, words: &[String], host: HostLink) -> (Recorded, Vec<u8>) {
        let libraries = self.program.libraries.iter();
        run(Command::new(host.compiler)
            .current_dir(self.folder())
            .args(["-o", "program", "-Wl,-rpath,$ORIGIN"])
            .args(host.words)
            .args(words)
            .arg(format!("-L{}", self.real.join("lib").display()))
            .args(libraries)
            .arg(RECORDER));
        let program = self.folder().join("program");
        let recorded = Recorded::of(&mut Command::new(&program), self.folder());
        let bytes = fs::read(&program).unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        let section = file.section_by_name(".nv_fatbin").unwrap();
        (recorded, section.data().unwrap().to_vec())
    }
}

/// Returns the sections of each image, without the one that has the linker's options.
fn contents(fatbins: &[Vec<u8>]) -> Vec<Vec<(String, Vec<u8>)>> {
    let arena = InputArena::new();
    let mut contents = Vec::new();
    for bytes in fatbins {
        for member in fatbin::parse(bytes).unwrap() {
            let image = decompress(&member, &arena).unwrap();
            let file = object::read::elf::ElfFile64::<object::Endianness>::parse(image).unwrap();
            let sections = file.sections().map(|section| {
                let name = String::from_utf8_lossy(section.name_bytes().unwrap()).into_owned();
                (name, section.data().unwrap_or_default().to_vec())
            });
            contents.push(
                sections
                    .filter(|(name, _)| name != ".note.nv.tkinfo")
                    .collect(),
            );
        }
    }
    contents
}

/// Builds a program in every way, links it on the host in some, and compares what it registers.
#[track_caller]
fn compare(program: &Program, hosts: &[HostLink]) -> Option<String> {
    let build = Build::new(program)?;
    let words = build.build(Way::Nvcc);
    let (theirs, their_fatbins) = build.record(&words, PLAIN);
    assert!(theirs.text.contains("launch of "), "{}", theirs.text);
    assert!(!theirs.text.contains("no kernel"), "{}", theirs.text);
    for way in [Way::ShadowNvcc, Way::Dlink, Way::C, Way::Cxx] {
        let words = build.build(way);
        let all = [PLAIN];
        let others = hosts
            .iter()
            .filter(|_| matches!(way, Way::ShadowNvcc | Way::C));
        for host in all.iter().chain(others) {
            if !is_there(host.needs) || !is_there(host.compiler) {
                say(&format!("there is no {}", host.needs));
                continue;
            }
            let (ours, our_fatbins) = build.record(&words, *host);
            let what = format!(
                "{}: {way:?} {} {:?}",
                program.folder, host.compiler, host.words
            );
            assert_eq!(theirs.text, ours.text, "{what}");
            // For a debugger the names of temporary files are recorded.
            if way == Way::ShadowNvcc && program.ours != ["-g"] {
                assert!(theirs.fatbins == ours.fatbins, "{what}: other fatbins");
                assert!(
                    their_fatbins == our_fatbins,
                    "{what}: another section of fatbins"
                );
            } else {
                assert!(
                    contents(&theirs.fatbins) == contents(&ours.fatbins),
                    "{what}: other code"
                );
            }
        }
    }
    Some(theirs.text)
}

#[test]
fn two_objects() {
    compare(&OBJECTS, &HOST_LINKS);
}

#[test]
fn static_libraries() {
    let program = Program {
        folder: "libraries",
        archives: &[
            ("libshapes.a", &["area.o", "unused.o"]),
            ("liblength.a", &["length.o"]),
        ],
        parts: &[Part {
            inputs: &["main.o", "libshapes.a", "liblength.a"],
            made: Made::Program,
        }],
        ..OBJECTS
    };
    compare(&program, &[]);
}

#[test]
fn kernels_that_launch() {
    let program = Program {
        folder: "launches",
        libraries: &["-lcudadevrt"],
        ..OBJECTS
    };
    compare(&program, &[]);
}

#[test]
fn shared_library_and_program() {
    let program = Program {
        folder: "shared",
        parts: &[
            Part {
                inputs: &["library.o", "add.o"],
                made: Made::Shared("liblibrary.so"),
            },
            Part {
                inputs: &["main.o"],
                made: Made::Program,
            },
        ],
        ..OBJECTS
    };
    if let Some(text) = compare(&program, &[]) {
        assert!(text.contains("1: registered"), "{text}");
    }
}

#[test]
fn two_device_links_in_a_program() {
    let program = Program {
        folder: "twice",
        parts: &[
            Part {
                inputs: &["b.o", "c.o"],
                made: Made::Objects,
            },
            Part {
                inputs: &["a.o"],
                made: Made::Program,
            },
        ],
        ..OBJECTS
    };
    if let Some(text) = compare(&program, &[]) {
        assert!(text.contains("1: registered"), "{text}");
    }
}

#[test]
fn linked_library_in_another_link() {
    let program = Program {
        folder: "prelinked",
        parts: &[
            Part {
                inputs: &["library.o"],
                made: Made::Archive("liblibrary.a"),
            },
            Part {
                inputs: &["main.o", "liblibrary.a"],
                made: Made::Program,
            },
        ],
        ..OBJECTS
    };
    if let Some(text) = compare(&program, &[]) {
        assert!(text.contains("1: registered"), "{text}");
    }
}

#[test]
fn entities_of_every_kind_for_three_targets() {
    let program = Program {
        folder: "entities",
        targets: &["sm_80", "sm_90", "sm_100"],
        ..OBJECTS
    };
    if let Some(text) = compare(&program, &[]) {
        assert!(text.contains(": managed variable "), "{text}");
        assert!(text.contains(": variable "), "{text}");
    }
}

#[test]
fn object_without_device_code() {
    let program = Program {
        folder: "plain",
        parts: &[Part {
            inputs: &["host.o", "main.o"],
            made: Made::Program,
        }],
        ..OBJECTS
    };
    compare(&program, &[]);
}

#[test]
fn code_for_a_debugger() {
    let program = Program {
        folder: "debug",
        options: &["-G"],
        ours: &["-g"],
        ..OBJECTS
    };
    compare(&program, &[]);
}

#[test]
fn anonymous_namespaces() {
    let program = Program {
        folder: "anonymous",
        ..OBJECTS
    };
    compare(&program, &[]);
}
