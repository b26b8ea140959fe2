//! Fixtures of the link tests, as they are and damaged.

use std::io::Write;
use std::path::Path;

use super::*;
use crate::input::InputArena;
use crate::inspect::device_model::*;
use crate::inspect::text::TextOptions;
use crate::inspect::text::write_report;

fn fixture(path: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

fn cubin(bytes: &[u8]) -> DeviceElf<'_> {
    let (elf, errors) = decode_device_elf(bytes).unwrap();
    assert_eq!(errors, []);
    elf
}

/// Runs everything that the command does and throws the output away.
fn show(bytes: &[u8]) -> Vec<(String, String)> {
    struct Sink;
    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let arena = InputArena::new();
    let mut report = Report::new(vec![inspect_bytes(b"file", bytes, &arena)]);
    let selection = Selection {
        hex: true,
        ..Selection::ALL
    };
    selection.apply(&mut report);
    let options = TextOptions {
        selection,
        demangle: true,
    };
    write_report(&report, &options, &mut Sink).unwrap();
    serde_json::to_writer(Sink, &report).unwrap();
    let errors = report.files[0].all_errors().into_iter();
    errors
        .map(|(place, error)| (place, error.to_string()))
        .collect()
}

#[test]
fn every_fixture_is_read_whole() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/links");
    let mut seen = 0;
    let topics = std::fs::read_dir(root).unwrap().flatten();
    let cases = topics.flat_map(|topic| std::fs::read_dir(topic.path()).unwrap().flatten());
    for case in cases.map(|case| case.path()) {
        for folder in ["sm_90", "expected"] {
            for file in std::fs::read_dir(case.join(folder)).into_iter().flatten() {
                let path = file.unwrap().path();
                let path_text = path.to_str().unwrap();
                // What these cases are about is damage.
                let damaged = [
                    "fatbin-wrong",
                    "short-file",
                    "truncated-",
                    "text-as-cubin",
                    ".h",
                ];
                if damaged.iter().any(|word| path_text.contains(word)) {
                    continue;
                }
                assert_eq!(show(&std::fs::read(&path).unwrap()), [], "{path_text}");
                seen += 1;
            }
        }
    }
    assert!(seen > 150, "{seen}");
}

#[test]
fn records_of_an_executable() {
    let bytes = fixture("tests/links/resources/printf-assert/expected/sm_90.cubin");
    let elf = cubin(&bytes);
    assert_eq!((elf.header.arch.as_str(), elf.segments.len()), ("sm_90", 4));
    let info = elf
        .attributes
        .iter()
        .find(|list| list.function == Some(Name(b"_Z3runPfi")))
        .unwrap();
    let value = |name: &str| {
        let record = info
            .records
            .iter()
            .find(|record| record.code.to_string() == name);
        &record.unwrap().value
    };
    assert!(matches!(
        value("PARAM_CBANK"),
        AttributeValue::ParameterBank { section, offset: 0x210, size: 12 }
            if section.name == Name(b".nv.constant0._Z3runPfi")
    ));
    assert!(matches!(
        value("KPARAM_INFO"),
        AttributeValue::Parameter {
            ordinal: 0,
            offset: 0,
            size: 8,
            ..
        }
    ));
    assert!(matches!(
        value("EXTERNS"),
        AttributeValue::Payload { symbols, .. } if symbols.len() == 2
    ));
    let calls: Vec<String> = elf
        .call_graph
        .iter()
        .map(|row| format!("{} {:?} {:?}", row.group.name(), row.from.name, row.to))
        .collect();
    assert!(
        calls[1].starts_with("direct '_Z3runPfi' Function"),
        "{calls:?}"
    );
    assert_eq!(elf.prototypes[0].prototype, Name(b"#vii"));
    assert!(matches!(
        elf.notes[3].value,
        NoteValue::CudaInfo {
            version: 2,
            virtual_sm: 90,
            toolkit: 130
        }
    ));
}

#[test]
fn wrappings_nest() {
    let bytes = fixture("tests/links/inputs/archive/sm_90/libk.a");
    let arena = InputArena::new();
    let node = inspect_bytes(b"libk.a", &bytes, &arena);
    let mut path = vec![&node];
    while let Some(child) = path.last().unwrap().children().first() {
        path.push(child);
    }
    let kinds: Vec<&str> = path
        .iter()
        .map(|node| match &node.content {
            Content::Archive(_) => "archive",
            Content::HostElf(_) => "host",
            Content::Fatbin(_) => "fatbin",
            Content::FatbinMember(member) => member.codec,
            Content::DeviceElf(_) => "device",
            _ => "other",
        })
        .collect();
    assert_eq!(kinds, ["archive", "host", "fatbin", "zstd", "device"]);
    // Offsets count from what holds the node.
    let (member, region) = (path[1], path[2]);
    let at = (member.offset + region.offset) as usize;
    assert!(crate::input::fatbin::has_magic(&bytes[at..]));
}

#[test]
fn members_before_the_damage_are_shown() {
    let bytes = fixture("examples/rdc/a.o");
    let arena = InputArena::new();
    let whole = inspect_bytes(b"a.o", &bytes, &arena);
    let region = whole.children()[0];
    let (members, second) = (region.children().len(), region.children()[1]);
    assert!(members > 1);
    let mut damaged = bytes.clone();
    // The size field of the second member's header.
    let at = (region.offset + second.offset) as usize + 8;
    damaged[at + 5] = 0xff;
    let node = inspect_bytes(b"a.o", &damaged, &arena);
    let region = node.children()[0];
    assert_eq!(region.children().len(), 1);
    assert!(matches!(
        region.children()[0].children()[0].content,
        Content::DeviceElf(_)
    ));
    assert_eq!(
        region
            .errors
            .iter()
            .map(InspectError::kind)
            .collect::<Vec<_>>(),
        ["fatbin"]
    );
}

#[test]
fn tables_before_the_damage_are_shown() {
    let bytes = fixture("tests/links/resources/printf-assert/expected/sm_90.cubin");
    let elf = cubin(&bytes);
    let info = &elf.attributes[0];
    let at = elf.sections[info.section_index as usize].offset as usize;
    let records = info.records.len();
    let mut damaged = bytes.clone();
    // The length of the third record.
    damaged[at + 24 + 3] = 0xff;
    let (elf, errors) = decode_device_elf(&damaged).unwrap();
    assert_eq!(elf.attributes[0].records.len(), 2);
    assert!(records > 2 && elf.prototypes.len() == 3);
    assert_eq!(
        errors.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["section 7 '.nv.info': the record at 0x18 reaches past its end"]
    );
}

#[test]
fn tables_over_each_other_are_not_all_decoded() {
    let bytes = fixture("tests/links/resources/printf-assert/expected/sm_90.cubin");
    let elf = cubin(&bytes);
    let mut damaged = bytes.clone();
    for section in &elf.sections[5..] {
        let header = elf.header.section_headers_offset as usize + section.index as usize * 64;
        damaged[header + 4..header + 8].copy_from_slice(&4u32.to_le_bytes());
        damaged[header + 24..header + 32].fill(0);
        damaged[header + 32..header + 40].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
    }
    let (elf, errors) = decode_device_elf(&damaged).unwrap();
    let rows: usize = elf.relocations.iter().map(|list| list.rows.len()).sum();
    assert!(rows <= bytes.len() * 2 / 24, "{rows}");
    assert!(errors.len() <= 101, "{}", errors.len());
    assert!(matches!(errors.last(), Some(InspectError::More(_))));
}

#[test]
fn every_cut_is_an_error() {
    for path in [
        "tests/links/resources/printf-assert/expected/sm_90.cubin",
        "tests/links/symbols/weak-templates/sm_90/a.cubin",
        "tests/links/inputs/archive/sm_90/libk.a",
        "tests/links/inputs/fatbin/sm_90/a.fatbin",
        "tests/links/inputs/elf32-object/sm_75/k.cubin",
    ] {
        let bytes = fixture(path);
        for length in (0..bytes.len()).step_by(37) {
            assert_ne!(show(&bytes[..length]), [], "{path} cut to {length}");
        }
    }
}

/// Returns the next number of xorshift, so that the mutations are the same in each run.
fn random(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 11) as usize
}

#[test]
fn damage_never_panics() {
    let mut state = 0x9e37_79b9_7f4a_7c15;
    for path in [
        "tests/links/resources/printf-assert/expected/sm_90.cubin",
        "tests/links/resources/printf-assert/sm_90/a.cubin",
        "tests/links/debug/debug-link/expected/sm_90.cubin",
        "tests/links/liveness/function-pointers/expected/sm_90.cubin",
        "tests/links/inputs/archive/sm_90/libk.a",
        "tests/links/inputs/fatbin/sm_90/a.fatbin",
        "examples/rdc/b.o",
        "tests/links/inputs/elf32-object/sm_75/k.cubin",
    ] {
        let bytes = fixture(path);
        let mut headers: Vec<usize> = (0..64).collect();
        if let Ok((elf, _)) = decode_device_elf(&bytes) {
            // Headers and tables are where damage has consequences.
            let at = elf.header.section_headers_offset as usize;
            headers.extend(at..at + elf.sections.len() * 64);
            for section in &elf.sections {
                if code_names::table(section.ty.value) != code_names::Table::Bytes {
                    headers
                        .extend(section.offset as usize..(section.offset + section.size) as usize);
                }
            }
        }
        for case in 0..400 {
            let mut damaged = bytes.clone();
            for _ in 0..1 + case % 4 {
                let at = if case % 3 == 0 {
                    random(&mut state) % damaged.len()
                } else {
                    headers[random(&mut state) % headers.len()]
                };
                damaged[at] = match random(&mut state) % 4 {
                    0 => 0xff,
                    1 => 0,
                    2 => damaged[at] ^ (1 << (random(&mut state) % 8)),
                    _ => random(&mut state) as u8,
                };
            }
            if case % 7 == 0 {
                damaged.truncate(random(&mut state) % bytes.len());
            }
            show(&damaged);
        }
    }
}
