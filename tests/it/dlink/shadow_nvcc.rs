//! Options of nvcc that a shadow toolkit's nvcc takes into account, or leaves to nvcc.

use std::fs;

use object::Object as _;
use object::ObjectSection as _;
use object::ObjectSymbol as _;
use object::SymbolFlags;

use super::programs::Build;
use super::programs::OBJECTS;
use super::run;
use crate::harness::command::said;

/// Returns the visibilities of what a host object defines, and whether it is ours.
fn visibilities(bytes: &[u8]) -> (Vec<(String, u8)>, bool) {
    let file = object::File::parse(bytes).unwrap();
    let functions = file
        .symbols()
        .filter(|symbol| symbol.is_global() && symbol.is_definition());
    let mut functions: Vec<_> = functions
        .map(|symbol| {
            let SymbolFlags::Elf { st_other, .. } = symbol.flags() else {
                panic!("no ELF");
            };
            (symbol.name().unwrap().to_owned(), st_other.0 & 3)
        })
        .collect();
    functions.sort();
    let mut symbols = file.symbols();
    let is_ours = symbols.any(|symbol| symbol.name() == Ok("cuweld_descriptor"));
    (functions, is_ours)
}

/// Returns the linked device code of a host object.
fn device_code(bytes: &[u8]) -> Vec<u8> {
    let file = object::File::parse(bytes).unwrap();
    let section = file.section_by_name(".nv_fatbin").unwrap();
    section.data().unwrap().to_vec()
}

#[test]
fn options_have_their_effect() {
    let Some(build) = Build::new(&OBJECTS) else {
        return;
    };
    let output = build.folder().join("link.o");
    // nvcc hands so much on to nvlink in a file, which its dry run does not write.
    let long = format!("-L{}", "x".repeat(5000));
    for (options, by_us) in [
        (&["-Xcompiler", "-fvisibility=hidden"][..], true),
        (
            &["-Xcompiler=-fvisibility=hidden,-fvisibility=default"],
            true,
        ),
        (&["-Xcompiler", "-fvisibility=protected"], false),
        (&["--threads", "2"], true),
        (&["-Xcompiler", "-fsanitize=undefined"], false),
        (&["-Xnvlink", "-v"], true),
        (&["--keep"], false),
        (&[&long], true),
    ] {
        let mut made = Vec::new();
        for toolkit in [&build.real, &build.shadow] {
            let _ = fs::remove_file(&output);
            let mut nvcc = build.nvcc(toolkit);
            run(nvcc
                .args(["-dlink", "a.o", "b.o", "-o", "link.o"])
                .args(options));
            let object = fs::read(&output).unwrap();
            made.push((visibilities(&object), device_code(&object)));
        }
        let (codes, made): (Vec<_>, Vec<_>) = made.into_iter().map(|(it, code)| (code, it)).unzip();
        assert!(codes[0] == codes[1], "{options:?}");
        assert_eq!(made[0].0, made[1].0, "{options:?}");
        assert_eq!([made[0].1, made[1].1], [false, by_us], "{options:?}");
    }
    let _ = fs::remove_file(&output);
    for (option, writes) in [
        ("--dryrun", false),
        ("-dryrun", false),
        ("--verbose", true),
        ("-v", true),
    ] {
        let mut nvcc = build.nvcc(&build.shadow);
        let done = run(nvcc.args(["-dlink", "a.o", "b.o", "-o", "link.o", option]));
        let said = said(&done);
        assert!(said.contains("#$ nvlink "), "{option}: {said}");
        assert_eq!(fs::remove_file(&output).is_ok(), writes, "{option}");
    }
}
