//! The machine code of a link stub, held against what GNU as makes of `tests/dlink/stub/*.s`: code, relocations, unwinding.
//!
//! The listings beside the assembly are committed; `BLESS=1` makes them anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use object::Object as _;
use object::ObjectSection as _;
use object::ObjectSymbol as _;
use object::RelocationFlags;
use object::RelocationTarget;
use object::SymbolKind;

use super::dlink;
use super::fixture;
use super::is_there;
use super::run;
use super::say;
use super::sources;

const MACHINES: [(&str, &str); 2] = [("x86_64", "as"), ("aarch64", "aarch64-linux-gnu-as")];

/// Returns a host object of the two modules of `tests/dlink/three`.
pub fn host_object(machine: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    run(dlink(folder.path())
        .args(["--arch", "sm_90", "--host", machine, "-o", "link.o"])
        .args([fixture("a.o"), fixture("b.o")]));
    fs::read(folder.path().join("link.o")).unwrap()
}

/// Writes what an object has of code, in words that do not depend on who wrote it.
fn listing(bytes: &[u8]) -> String {
    let file = object::File::parse(bytes).unwrap();
    let mut text = String::new();
    let code = file.section_by_name(".text").unwrap();
    let functions: BTreeMap<u64, &str> = file
        .symbols()
        .filter(|symbol| symbol.section_index() == Some(code.index()))
        .filter(|symbol| !symbol.name().unwrap().is_empty() && symbol.kind() != SymbolKind::Section)
        .map(|symbol| (symbol.address(), symbol.name().unwrap()))
        .collect();
    for (at, name) in functions {
        writeln!(text, "function {at:#x} {name}").unwrap();
    }
    for line in code.data().unwrap().chunks(16) {
        writeln!(text, "code {}", hex(line)).unwrap();
    }
    for section in [".text", ".eh_frame"] {
        let section = file.section_by_name(section).unwrap();
        let mut lines: Vec<_> = section.relocations().collect();
        lines.sort_by_key(|(offset, _)| *offset);
        if section.name() == Ok(".eh_frame") {
            frames(section.data().unwrap(), &lines, &file, &mut text);
            continue;
        }
        for (offset, relocation) in lines {
            let RelocationFlags::Elf { r_type } = relocation.flags() else {
                panic!("no ELF");
            };
            let (to, addend) = target(&file, &relocation);
            writeln!(text, "relocation {offset:#x} {} {to} {addend}", r_type.0).unwrap();
        }
    }
    text
}

/// Returns the symbol or section that a relocation refers to, and the distance from it.
pub fn target(file: &object::File<'_>, relocation: &object::Relocation) -> (String, i64) {
    let RelocationTarget::Symbol(index) = relocation.target() else {
        panic!("no symbol");
    };
    let symbol = file.symbol_by_index(index).unwrap();
    let name = match symbol.kind() {
        SymbolKind::Section => {
            let section = symbol.section_index().unwrap();
            file.section_by_index(section)
                .unwrap()
                .name()
                .unwrap()
                .to_owned()
        }
        _ => symbol.name().unwrap().to_owned(),
    };
    (name, relocation.addend())
}

/// Writes the entries of `.eh_frame` without what fills them up.
fn frames(
    data: &[u8],
    relocations: &[(u64, object::Relocation)],
    file: &object::File<'_>,
    text: &mut String,
) {
    let mut at = 0;
    while at < data.len() {
        let size = u32::from_le_bytes(data[at..at + 4].try_into().unwrap()) as usize;
        let entry = &data[at + 4..at + 4 + size];
        let back = u32::from_le_bytes(entry[..4].try_into().unwrap()) as usize;
        let filled = entry
            .iter()
            .rposition(|byte| *byte != 0)
            .map_or(0, |last| last + 1);
        match back {
            0 => writeln!(text, "common frame {}", hex(&entry[4..filled])).unwrap(),
            back => {
                // The common entry is the first.
                assert_eq!(back, at + 4);
                let of = |(offset, _): &&(u64, object::Relocation)| *offset == at as u64 + 8;
                let (_, relocation) = relocations.iter().find(of).unwrap();
                let (to, start) = target(file, relocation);
                assert_eq!(to, ".text");
                let range = u32::from_le_bytes(entry[8..12].try_into().unwrap());
                let rules = hex(entry.get(12..filled.max(12)).unwrap());
                writeln!(text, "frame {start:#x} {range:#x} rules {rules}.").unwrap();
            }
        }
        at += 4 + size;
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn the_code_is_what_the_assembler_makes() {
    let bless = std::env::var_os("BLESS").is_some_and(|value| value == "1");
    for (machine, assembler) in MACHINES {
        let folder = sources().join("stub");
        let committed = folder.join(format!("{machine}.txt"));
        let runs = match machine {
            "x86_64" => cfg!(target_arch = "x86_64") && is_there(assembler),
            _ => is_there(assembler),
        };
        if runs {
            let out = tempfile::tempdir().unwrap();
            let object = out.path().join("stub.o");
            let assembly = folder.join(format!("{machine}.s"));
            run(Command::new(assembler)
                .arg("-o")
                .arg(&object)
                .arg(&assembly));
            let assembled = listing(&fs::read(&object).unwrap());
            if bless {
                fs::write(&committed, &assembled).unwrap();
            }
            assert_eq!(
                fs::read_to_string(&committed).unwrap(),
                assembled,
                "{machine}"
            );
        } else {
            say(&format!(
                "there is no {assembler}, the committed listing alone is compared"
            ));
        }
        let expected = fs::read_to_string(&committed).unwrap();
        assert_eq!(expected, listing(&host_object(machine)), "{machine}");
    }
}
