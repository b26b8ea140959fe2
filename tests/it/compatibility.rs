//! Which objects go into which targets, against nvlink: all of sm_90 and up, and objects whose `.nv.compat` and SM were changed. Nothing without nvlink.
#![allow(clippy::print_stdout, reason = "what was measured is shown")]

use std::path::Path;
use std::process::Command;

use crate::harness::link::Linker;
use crate::harness::oracle;
use cuweld_elf::check;

/// Architectures of sm_90 and up, the plain one before its variants.
const NAMES: [&str; 17] = [
    "90", "90a", "100", "100a", "100f", "103", "103a", "103f", "110", "110a", "110f", "120",
    "120a", "120f", "121", "121a", "121f",
];

/// Older ones, one of each family and one more.
const OLDER: [&str; 3] = ["75", "80", "89"];

/// Compiles a function for an architecture.
fn compile(tools: &Path, folder: &Path, arch: &str) {
    let source = folder.join(format!("{arch}.ptx"));
    let text = format!(
        ".version {}\n.target sm_{arch}\n.address_size 64\n.visible .func (.param .b32 r) f(.param .b32 a) {{\n\
         .reg .b32 %x;\nld.param.b32 %x, [a];\nadd.u32 %x, %x, 7;\nst.param.b32 [r], %x;\nret;\n}}\n",
        "9.0"
    );
    std::fs::write(&source, text).unwrap();
    let done = Command::new(tools.join("ptxas"))
        .args(["-c", "-arch", &format!("sm_{arch}"), "-o"])
        .arg(folder.join(format!("{arch}.cubin")))
        .arg(&source)
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

/// What both linkers say of an object for a target, nvlink first: the lines, and whether there is an output.
fn both(tools: &Path, folder: &Path, file: &str, target: &str) -> [(Vec<String>, bool); 2] {
    let arguments = [format!("-arch=sm_{target}"), file.to_owned()];
    [Linker::nvlink(tools.join("nvlink")), Linker::ours()].map(|linker| {
        let outcome = linker.link(folder, &arguments).unwrap();
        let written = outcome.output.is_some() && outcome.exit == Some(0);
        (outcome.lines, written)
    })
}

#[test]
fn all_architectures_for_all_targets() {
    let Some(tools) = oracle::tools() else { return };
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<&str> = OLDER.into_iter().chain(NAMES).collect();
    for arch in &names {
        compile(&tools, folder.path(), arch);
    }
    let (mut same, mut behind, mut later, mut wrong) = (0, 0, 0, Vec::new());
    for arch in &names {
        for target in &names {
            let file = format!("{arch}.cubin");
            let [(nvlink, written), (ours, ours_written)] =
                both(&tools, folder.path(), &file, target);
            if (&nvlink, written) == (&ours, ours_written) {
                same += 1;
            } else if written
                && ours_written
                && ours.len() == 1
                && ours[0].contains("keeps its code of sm_100")
                && arch.starts_with("100")
                && target.starts_with("103")
            {
                behind += 1;
            } else if written
                && ours.iter().all(|line| line.contains("cuweld: unsupported"))
                && arch[..2] == target[..2]
            {
                // Let in, and refused for something else.
                later += 1;
            } else {
                wrong.push(format!(
                    "{arch} for {target}: nvlink {nvlink:?} {written}, ours {ours:?} {ours_written}"
                ));
            }
        }
    }
    println!("{same} the same, {behind} behind the gate, {later} refused for something else");
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    // 100 and 100f for 103, 103a and 103f.
    assert_eq!((same + later, behind), (394, 6));
}

/// Changes of `.nv.compat`, by code, and of the SM in `e_flags`.
fn changed(image: &[u8], sm: u16, records: &[(u8, u16)]) -> Vec<u8> {
    let mut image = image.to_vec();
    image[49..51].copy_from_slice(&sm.to_le_bytes());
    let view = check::read(&image, &mut Default::default()).unwrap();
    let section = view
        .sections
        .iter()
        .find(|section| section.name == b".nv.compat")
        .unwrap();
    let start = section.header.offset.get() as usize;
    let size = section.bytes.len();
    let mut at = start;
    while at < start + size {
        let (form, code) = (image[at], image[at + 1]);
        let length = if form == 4 {
            usize::from(image[at + 2])
        } else {
            0
        };
        for (wanted, value) in records {
            if *wanted == code && form == 3 {
                image[at + 2..at + 4].copy_from_slice(&value.to_le_bytes());
            } else if *wanted == code {
                image[at + 2] = *value as u8;
            }
        }
        at += 4 + length;
    }
    image
}

/// Whether a linker's gate lets an object through; what comes after it may fail all the same.
fn is_let_in(lines: &[String]) -> bool {
    !lines
        .iter()
        .any(|line| line.contains("arch does not match"))
}

#[test]
fn changed_objects_are_let_in_as_by_nvlink() {
    let Some(tools) = oracle::tools() else { return };
    let folder = tempfile::tempdir().unwrap();
    compile(&tools, folder.path(), "100");
    let image = std::fs::read(folder.path().join("100.cubin")).unwrap();
    // With `CUWELD_PROBES=all`, all of them: some minutes.
    let all = std::env::var_os("CUWELD_PROBES").is_some();
    let (mut count, mut taken, mut wrong) = (0, 0, Vec::new());
    for sm in [90, 100, 101, 102, 103, 104, 107, 110, 120, 121, 130] {
        for target in ["100", "103", "110", "120", "121"] {
            for class in 0..6 {
                for specific in [0, 1] {
                    for (isa, version) in [
                        (1, 0x101),
                        (0, 0x101),
                        (2, 0x101),
                        (3, 0x101),
                        (4, 0x101),
                        (1, 0x102),
                    ] {
                        count += 1;
                        if !all && count % 23 != 0 {
                            continue;
                        }
                        taken += 1;
                        let records = [(6, class), (9, specific), (2, isa), (7, version)];
                        std::fs::write(
                            folder.path().join("x.cubin"),
                            changed(&image, sm, &records),
                        )
                        .unwrap();
                        let [(nvlink, _), (ours, _)] =
                            both(&tools, folder.path(), "x.cubin", target);
                        if is_let_in(&nvlink) != is_let_in(&ours) {
                            wrong.push(format!(
                                "sm_{sm} for {target}, class {class} flag {specific} ISA {isa} version {version:#x}: nvlink {nvlink:?}, ours {ours:?}"
                            ));
                        }
                    }
                }
            }
        }
    }
    println!("{taken} of {count} objects");
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
