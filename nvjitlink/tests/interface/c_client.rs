//! A C program that is linked with the library, and the names that it exports.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use super::child::ask;
use super::library::Interface;
use super::library::here;
use super::library::nvidias;
use super::library::shared;

/// The functions of a set.
const SET: [&str; 15] = [
    "Create",
    "Destroy",
    "AddData",
    "AddFile",
    "Complete",
    "GetLinkedCubinSize",
    "GetLinkedCubin",
    "GetLinkedPtxSize",
    "GetLinkedPtx",
    "GetLinkedLTOIRSize",
    "GetLinkedLTOIR",
    "GetErrorLogSize",
    "GetErrorLog",
    "GetInfoLogSize",
    "GetInfoLog",
];

#[test]
fn all_sets_are_there() {
    let interface = Interface::load(shared());
    for name in SET {
        assert!(interface.has(&format!("nvJitLink{name}")), "{name}");
        for minor in 0..=5 {
            let name = format!("__nvJitLink{name}_13_{minor}");
            assert!(interface.has(&name), "{name}");
        }
    }
    assert!(interface.has("nvJitLinkVersion") && interface.has("__nvJitLinkAPI"));
    assert!(!interface.has("rust_eh_personality"));
    assert_eq!(interface.version().0, 13);
}

/// Returns the names that a library exports, each with its version.
fn exported(library: &Path) -> BTreeSet<String> {
    let mut command = Command::new("nm");
    command.args(["-D", "--defined-only", "-j"]).arg(library);
    let names = String::from_utf8(command.output().unwrap().stdout).unwrap();
    names.lines().map(str::to_owned).collect()
}

/// NVIDIA's library is that of 13.0.88, and what `NVJITLINK_ORACLE` names.
#[test]
fn what_nvidias_library_exports_is_there() {
    let ours = exported(shared());
    let other = std::env::var_os("NVJITLINK_ORACLE").map(PathBuf::from);
    let libraries = nvidias().into_iter().chain(other);
    for library in libraries.filter(|file| file.is_file()) {
        let theirs = exported(&library);
        assert!(
            theirs.contains("nvJitLinkCreate@@libnvJitLink.so.13"),
            "{theirs:?}"
        );
        let lacks: Vec<&String> = theirs.difference(&ours).collect();
        assert!(lacks.is_empty(), "{}: {lacks:?}", library.display());
    }
}

/// It leaves no thread behind that would still run its code.
#[test]
fn the_library_can_be_unloaded_after_a_link() {
    let inputs = ["a", "b"].map(|name| here(&format!("tests/inputs/{name}.90.cubin")));
    let inputs = inputs.map(|path| path.display().to_string()).join(" ");
    let answer = ask("unload", &format!("sm_90||{inputs}"), shared(), "13.0.88");
    let fields: Vec<&str> = answer.split('|').collect();
    assert_eq!(
        (fields[0], fields[2], fields[3]),
        ("[0, 0, 0, 0]", "false", "true")
    );
}

/// A program asks for names of a version node, without which the system's loader ends it.
#[test]
fn a_c_program_links_two_cubins() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("client");
    let compiled = Command::new("cc")
        .arg(here("tests/client.c"))
        .arg(shared())
        .arg("-o")
        .arg(&program)
        .status()
        .unwrap();
    assert!(compiled.success());
    let node = Command::new("readelf").arg("-V").arg(&program).output();
    let node = String::from_utf8_lossy(&node.unwrap().stdout).into_owned();
    assert!(node.contains("Name: libnvJitLink.so.13"), "{node}");
    let log = folder.path().join("log");
    let ran = Command::new(&program)
        .current_dir(here("tests/inputs"))
        .env("LD_LIBRARY_PATH", shared().parent().unwrap())
        .env("CUWELD_JITLINK_LOG", &log)
        .env("CUWELD_STAMP", "nvjitlink")
        .output()
        .unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(
        (said.as_str(), ran.status.code()),
        ("complete 0, 6760 bytes, undefined 6\n", Some(0))
    );
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains("create -arch=sm_90"), "{log}");
    assert!(log.contains("2 inputs of"), "{log}");
}

#[test]
fn links_of_many_threads_are_equal() {
    let interface = Interface::load(shared());
    let read = |name: &str| fs::read(here("tests/inputs").join(name)).unwrap();
    let (a, b) = (read("a.90.cubin"), read("b.90.cubin"));
    let link = || {
        let (mut link, created) = interface.create(&["-arch=sm_90"]);
        let added = [(&a, "a"), (&b, "b")].map(|(it, name)| link.add(1, Some(it), Some(name)));
        assert_eq!((created, added, link.complete()), (0, [0, 0], 0));
        let cubin = link.get("LinkedCubin").unwrap();
        assert_eq!(link.destroy(), 0);
        cubin
    };
    let expected = link();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..50).for_each(|_| assert!(link() == expected)));
        }
    });
}
