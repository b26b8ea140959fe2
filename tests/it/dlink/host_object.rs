//! The host object that registers linked code: its sections, symbols and relocations, for each machine.

use std::fs;
use std::process::Command;

use object::Object as _;
use object::ObjectSection as _;
use object::ObjectSymbol as _;
use object::RelocationFlags;
use object::SectionFlags;
use object::SectionKind;
use object::SymbolFlags;
use object::SymbolKind;

use super::assembly::host_object;
use super::assembly::target;
use super::dlink;
use super::fixture;
use super::is_there;
use super::modules::module_ids;
use super::run;

const ALLOC: u64 = 2;
const WRITE: u64 = 1;
const EXECUTE: u64 = 4;
const HIDDEN: u8 = 2;

/// Names, flags and alignments of the sections that a program gets.
const SECTIONS: [(&str, u64, u64); 8] = [
    (".text", ALLOC | EXECUTE, 16),
    (".note.GNU-stack", 0, 1),
    (".bss", ALLOC | WRITE, 8),
    ("__nv_module_id", ALLOC, 1),
    (".data.rel.local", ALLOC | WRITE, 8),
    (".nv_fatbin", ALLOC, 8),
    (".nvFatBinSegment", ALLOC | WRITE, 8),
    (".eh_frame", ALLOC, 8),
];

/// Machines with the number of an address of 8 bytes.
const MACHINES: [(&str, object::Architecture, u32); 2] = [
    ("x86_64", object::Architecture::X86_64, 1),
    ("aarch64", object::Architecture::Aarch64, 257),
];

#[test]
fn it_has_sections_and_symbols() {
    for (machine, architecture, pointer) in MACHINES {
        let bytes = host_object(machine);
        let ids = module_ids(&bytes);
        let file = object::File::parse(&*bytes).unwrap();
        assert_eq!(file.kind(), object::ObjectKind::Relocatable);
        assert_eq!(file.architecture(), architecture);
        let sections = file
            .sections()
            .filter(|section| section.kind() != SectionKind::Metadata);
        let sections: Vec<_> = sections
            .map(|section| {
                let SectionFlags::Elf { sh_flags, .. } = section.flags() else {
                    panic!("no ELF");
                };
                (section.name().unwrap(), sh_flags.0, section.align())
            })
            .collect();
        assert_eq!(sections, SECTIONS, "{machine}");
        let globals: Vec<_> = file
            .symbols()
            .filter(|symbol| symbol.is_global() && symbol.is_definition())
            .map(|symbol| {
                assert_eq!(symbol.kind(), SymbolKind::Text);
                symbol.name().unwrap().to_owned()
            })
            .collect();
        let expected = ids
            .iter()
            .map(|id| format!("__cudaRegisterLinkedBinary{id}"));
        assert_eq!(globals, expected.collect::<Vec<_>>(), "{machine}");
        let mut undefined: Vec<_> = file
            .symbols()
            .filter(|symbol| symbol.is_undefined() && symbol.index().0 != 0)
            .map(|symbol| symbol.name().unwrap().to_owned())
            .collect();
        undefined.sort();
        let mut expected: Vec<String> = ids.iter().map(|id| format!("__fatbinwrap{id}")).collect();
        let functions = [
            "RegisterFatBinary",
            "RegisterFatBinaryEnd",
            "UnregisterFatBinary",
        ];
        expected.extend(functions.map(|name| format!("__cuda{name}")));
        expected.push("atexit".to_owned());
        expected.sort();
        assert_eq!(undefined, expected, "{machine}");
        let relocations = |name: &str| {
            let section = file.section_by_name(name).unwrap();
            let relocations = section.relocations().map(|(offset, relocation)| {
                assert_eq!(
                    relocation.flags(),
                    RelocationFlags::Elf {
                        r_type: object::elf::RelocationType(pointer)
                    }
                );
                let (name, addend) = target(&file, &relocation);
                (offset, name, addend)
            });
            relocations.collect::<Vec<_>>()
        };
        assert_eq!(
            relocations(".nvFatBinSegment"),
            [
                (8, "cuweld_fatbin".to_owned(), 0),
                (16, "cuweld_prelinked_fatbins".to_owned(), 0)
            ]
        );
        let second = format!("def {}", ids[0]).len() as i64 + 1;
        let id = "__nv_module_id".to_owned();
        assert_eq!(
            relocations(".data.rel.local"),
            [(0, id.clone(), 0), (8, id, second)]
        );
        let descriptor = file
            .section_by_name(".nvFatBinSegment")
            .unwrap()
            .data()
            .unwrap();
        assert_eq!(descriptor[..8], [0xb1, 0x43, 0x62, 0x46, 2, 0, 0, 0]);
    }
}

/// The ids are those of the objects, and the fatbin is what `--fatbin` writes.
#[test]
fn it_has_the_ids_and_the_code() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = [fixture("a.o"), fixture("b.o")];
    run(dlink(folder.path())
        .args(["--fatbin", "--arch", "sm_90", "-o", "link"])
        .args(&inputs));
    let fatbin = fs::read(folder.path().join("link")).unwrap();
    for (machine, ..) in MACHINES {
        let bytes = host_object(machine);
        let file = object::File::parse(&*bytes).unwrap();
        assert!(file.section_by_name(".nv_fatbin").unwrap().data().unwrap() == fatbin);
        for (id, input) in module_ids(&bytes).iter().zip(&inputs) {
            let input = fs::read(input).unwrap();
            let input = object::File::parse(&*input).unwrap();
            let section = input.section_by_name("__nv_module_id").unwrap();
            assert_eq!(section.data().unwrap(), format!("{id}\0").as_bytes());
        }
    }
}

#[test]
fn visibility_is_chosen() {
    let folder = tempfile::tempdir().unwrap();
    for (visibility, expected) in [("default", 0), ("hidden", HIDDEN)] {
        for (machine, ..) in MACHINES {
            run(dlink(folder.path())
                .args([
                    "--arch",
                    "sm_90",
                    "--host",
                    machine,
                    "--visibility",
                    visibility,
                    "-o",
                    "link.o",
                ])
                .args([fixture("a.o"), fixture("b.o")]));
            let bytes = fs::read(folder.path().join("link.o")).unwrap();
            let file = object::File::parse(&*bytes).unwrap();
            let functions = file.symbols().filter(|symbol| symbol.is_global());
            for symbol in functions {
                let SymbolFlags::Elf { st_other, .. } = symbol.flags() else {
                    panic!("no ELF");
                };
                let expected = if symbol.is_definition() { expected } else { 0 };
                assert_eq!(st_other.0 & 3, expected, "{machine} {:?}", symbol.name());
            }
        }
    }
}

/// The object of a link that registers nothing has code for whoever reads it, and links.
#[test]
fn nothing_is_registered_without_modules() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("none.c"), "int x;\n").unwrap();
    run(Command::new("cc")
        .args(["-c", "none.c"])
        .current_dir(folder.path()));
    for (machine, ..) in MACHINES {
        run(dlink(folder.path()).args([
            "--arch", "sm_90", "--host", machine, "none.o", "-o", "link.o",
        ]));
        let bytes = fs::read(folder.path().join("link.o")).unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        assert!(file.section_by_name(".nv_fatbin").unwrap().size() > 0);
        assert_eq!(module_ids(&bytes), [""; 0]);
        assert_eq!(
            file.symbols()
                .filter(|symbol| symbol.is_undefined())
                .count(),
            0
        );
        if machine == std::env::consts::ARCH {
            fs::write(
                folder.path().join("main.c"),
                "int main(void) { return 0; }\n",
            )
            .unwrap();
            run(Command::new("cc")
                .args(["main.c", "link.o", "none.o", "-Wl,--fatal-warnings"])
                .current_dir(folder.path()));
        }
    }
}

/// binutils reads what is unwound: each function, with a frame where it calls.
#[test]
fn readelf_reads_the_frames() {
    if !is_there("readelf") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (machine, ..) in MACHINES {
        fs::write(folder.path().join("link.o"), host_object(machine)).unwrap();
        let done = run(Command::new("readelf")
            .args(["-W", "--debug-dump=frames", "link.o"])
            .current_dir(folder.path()));
        assert!(
            done.stderr.is_empty(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
        let text = String::from_utf8(done.stdout).unwrap();
        assert_eq!(text.matches(" FDE cie=").count(), 4, "{text}");
        let restores = if machine == "x86_64" { 3 } else { 12 };
        assert_eq!(text.matches("DW_CFA_restore: ").count(), restores, "{text}");
    }
}
