//! `cuweld size` gives every byte of device code to one owner: what it says adds up, whatever it is grouped by.
//!
//! What the command writes is in `tests/inspect`.

use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;

use cuweld::InputArena;
use cuweld::Kind;
use cuweld::LinkMap;
use cuweld::Linker;
use cuweld::Target;
use cuweld::inspect::functions::Reached;
use cuweld::inspect::{Content, DeviceElf, Functions, Name, Node, inspect_bytes};
use cuweld::size::{ImageKind, ObjectMap, Options, Row, SizeReport, Source, collect};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn options<'o>(sources: &'o [Source], maps: &'o [ObjectMap]) -> Options<'o> {
    Options {
        sources,
        archs: &[],
        maps,
        demangles: true,
    }
}

fn read(path: &str) -> Vec<u8> {
    std::fs::read(Path::new(ROOT).join(path)).unwrap()
}

fn rows(row: &Row) -> BTreeMap<&str, &Row> {
    row.rows
        .iter()
        .map(|row| (row.name.as_str(), row))
        .collect()
}

/// Checks that each row is the sum of its rows.
fn adds_up(row: &Row) {
    if row.rows.is_empty() {
        return;
    }
    let file: u64 = row.rows.iter().map(|row| row.size.file).sum();
    let memory: u64 = row.rows.iter().map(|row| row.size.memory).sum();
    assert_eq!(
        (row.size.file, row.size.memory),
        (file, memory),
        "{}",
        row.name
    );
    row.rows.iter().for_each(adds_up);
}

/// Files below a folder.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files(&path, found),
            false => found.push(path),
        }
    }
}

/// Bytes of memory of the sections of a file.
fn memory(elf: &DeviceElf<'_>) -> u64 {
    let sections = elf.sections.iter();
    let sections = sections.filter(|section| section.flag_names.contains(&"ALLOC"));
    sections.map(|section| section.size).sum()
}

#[test]
fn every_byte_of_every_case_has_one_owner() {
    let mut paths = Vec::new();
    files(&Path::new(ROOT).join("tests/links"), &mut paths);
    paths.retain(|path| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|it| ["cubin", "fatbin", "o", "a"].contains(&it))
    });
    paths.sort();
    let mut images = 0;
    for path in paths {
        let bytes = std::fs::read(&path).unwrap();
        let arena = InputArena::new();
        let node = inspect_bytes(b"a", &bytes, &arena);
        let (mut file, mut expected_memory) = (0, 0);
        for image in collect(&node) {
            images += 1;
            file += image.size;
            if let ImageKind::Elf(elf) = image.kind {
                expected_memory += memory(elf);
            }
        }
        if let Content::DeviceElf(_) = &node.content {
            assert_eq!(file, bytes.len() as u64);
        }
        let nodes = [node];
        for sources in [
            &[Source::Archs, Source::Kinds][..],
            &[Source::Kernels, Source::Sections],
            &[Source::Templates, Source::Symbols],
        ] {
            let report = SizeReport::new(&nodes, &[], options(sources, &[])).unwrap();
            let size = report.total.size;
            let name = path.display();
            assert_eq!((size.file, size.memory), (file, expected_memory), "{name}");
            adds_up(&report.total);
        }
    }
    assert!(images > 2500, "{images}");
}

fn cubin<'data>(bytes: &'data [u8], arena: &'data InputArena) -> Node<'data> {
    inspect_bytes(b"x.cubin", bytes, arena)
}

/// The example as a linked file, and its map.
fn example() -> (Vec<u8>, LinkMap) {
    let mut linker = Linker::new(Target::parse("sm_90").unwrap()).map(true);
    for name in ["a.o", "b.o"] {
        let bytes = read(&format!("examples/rdc/{name}"));
        linker = linker.add(bytes, Kind::Object, name).unwrap();
    }
    let linked = linker.link().unwrap();
    (linked.cubin, linked.map.unwrap())
}

#[test]
fn objects_have_what_the_map_says() {
    let (bytes, map) = example();
    let arena = InputArena::new();
    let nodes = [cubin(&bytes, &arena)];
    let mut expected: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for section in &map.sections {
        // Sections of device code that take memory.
        let takes_memory = [".text", ".nv.constant", ".nv.global", ".nv.shared"];
        let takes_memory = takes_memory
            .iter()
            .any(|kind| section.name.starts_with(kind));
        for piece in &section.pieces {
            if let Some(input) = &piece.input {
                let (file, memory) = expected.entry(&input.name).or_default();
                *file += piece.size * u64::from(section.in_file);
                *memory += piece.size * u64::from(takes_memory);
            }
        }
    }
    let json = serde_json::to_vec(&map).unwrap();
    let maps = [ObjectMap::parse(&json).unwrap()];
    let report = SizeReport::new(&nodes, &[], options(&[Source::Objects], &maps)).unwrap();
    let found = rows(&report.total);
    assert_eq!(
        found.keys().copied().collect::<Vec<_>>(),
        ["[linker]", "a.o", "b.o"]
    );
    for (name, sizes) in &expected {
        let size = found[name].size;
        assert_eq!((size.file, size.memory), *sizes, "{name}");
    }
    assert_eq!(report.total.size.file, bytes.len() as u64);
    // Code is that of the objects alone.
    let sources = [Source::Objects, Source::Kinds];
    let report = SizeReport::new(&nodes, &[], options(&sources, &maps)).unwrap();
    assert!(!rows(rows(&report.total)["[linker]"]).contains_key(".text"));
    // A map of another file says nothing.
    assert!(SizeReport::new(&nodes, &[], options(&sources, &[])).is_err());
    let mut other = map;
    other.sections[3].size += 8;
    let maps = [ObjectMap::new(other)];
    assert!(SizeReport::new(&nodes, &[], options(&sources, &maps)).is_err());
    // Objects need no map.
    let object = read("examples/rdc/a.o");
    let nodes = [inspect_bytes(b"a.o", &object, &arena)];
    let report = SizeReport::new(&nodes, &[], options(&[Source::Objects], &[])).unwrap();
    assert_eq!(
        rows(&report.total).keys().copied().collect::<Vec<_>>(),
        ["a.o"]
    );
}

#[test]
fn functions_are_those_of_the_kernel_that_alone_reaches_them() {
    let (bytes, _) = example();
    let arena = InputArena::new();
    let node = cubin(&bytes, &arena);
    let Content::DeviceElf(elf) = &node.content else {
        panic!("no device ELF")
    };
    let functions = Functions::of(elf);
    let at = |name: &str| functions.named(Name(name.as_bytes())).unwrap();
    let [blur, find, histogram] = [
        "_Z4blurPK5PixelPS_i",
        "_Z14find_brightestPK5Pixeli",
        "_Z9histogramPK5PixelPii",
    ]
    .map(at);
    let reached = functions.reached();
    assert_eq!(reached[blur], Reached::By(blur));
    assert_eq!(reached[at("_Z12apply_filterPK5Pixelii")], Reached::By(blur));
    // Called by a function that it calls.
    assert_eq!(reached[at("_Z8clamp_toIiET_S0_S0_S0_")], Reached::By(blur));
    assert_eq!(reached[at("_Z8clamp_toIfET_S0_S0_S0_")], Reached::BySeveral);
    assert_eq!(reached[find], Reached::By(find));
    assert_eq!(functions.list[histogram].registers, Some(24));
    assert_eq!(functions.list[blur].stack, Some(48));
    assert_eq!(functions.list[find].shared, 2048);
    assert_eq!(
        functions.list[at("_Z12apply_filterPK5Pixelii")].frame,
        Some(48)
    );

    let nodes = [node];
    let report = SizeReport::new(&nodes, &[], options(&[Source::Kernels], &[])).unwrap();
    let found = rows(&report.total);
    let needs = found["blur(const Pixel *, Pixel *, int)"].needs.unwrap();
    assert_eq!(
        (needs.registers, needs.stack, needs.shared),
        (Some(28), Some(48), 0)
    );
    assert!(found["[several kernels]"].needs.is_none());
    let code = found["blur(const Pixel *, Pixel *, int)"].size.memory;
    // Its code, that of apply_filter and clamp_to<int>, and its constants.
    assert_eq!(code, 0x380 + 0xe00 + 0x100 + 0x224);
}

#[test]
fn calls_by_address_reach_functions_of_the_prototype() {
    let folder = "tests/links/liveness";
    let mut by_address = 0;
    let mut paths = Vec::new();
    files(&Path::new(ROOT).join(folder), &mut paths);
    for path in paths {
        let is_expected = path.to_string_lossy().contains("/expected/");
        if !is_expected || path.extension().is_none_or(|ending| ending != "cubin") {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let arena = InputArena::new();
        let node = cubin(&bytes, &arena);
        let Content::DeviceElf(elf) = &node.content else {
            continue;
        };
        let functions = Functions::of(elf);
        let reached = functions.reached();
        for prototype in functions.list.len()..functions.callees.len() {
            for callee in &functions.callees[prototype] {
                // What reaches a prototype reaches the functions that have it.
                let is_kernel = functions.list[*callee].is_kernel;
                if reached[prototype] != Reached::ByNone && !is_kernel {
                    by_address += 1;
                    assert_ne!(reached[*callee], Reached::ByNone, "{}", path.display());
                }
            }
        }
    }
    assert!(by_address > 10, "{by_address}");
}

#[test]
fn comparisons_are_by_name() {
    let (bytes, _) = example();
    let arena = InputArena::new();
    let now = [cubin(&bytes, &arena)];
    let same = SizeReport::new(&now, &now, options(&[Source::Symbols], &[])).unwrap();
    assert!(same.total.rows.iter().all(Row::is_unchanged) && same.total.is_unchanged());
    let object = read("examples/rdc/a.o");
    let base = [inspect_bytes(b"a.o", &object, &arena)];
    let mut report = SizeReport::new(&now, &base, options(&[Source::Symbols], &[])).unwrap();
    let found = rows(&report.total);
    let histogram = found["histogram(const Pixel *, int *, int)"];
    assert_eq!(histogram.base.unwrap().file, 0);
    assert!(histogram.size.file > 0);
    let growth = |row: &Row| row.size.file as i64 - row.base.unwrap().file as i64;
    let sum: i64 = report.total.rows.iter().map(growth).sum();
    assert_eq!(sum, growth(&report.total));
    let before = report.total.rows.len();
    report.limit(3);
    assert_eq!(report.total.rows.len(), 4);
    let others = report
        .total
        .rows
        .iter()
        .find(|row| row.name.ends_with(" Others]"));
    assert!(others.is_some() && before > 10);
    let kept: i64 = report.total.rows.iter().map(growth).sum();
    assert_eq!(kept, sum);
}
