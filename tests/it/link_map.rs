//! The link map says what the file holds: its sections and symbols, and for each piece the input that has the same bytes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use cuweld::DropReason;
use cuweld::Kind;
use cuweld::LinkMap;
use cuweld::LinkOptions;
use cuweld::Linker;
use cuweld::MapPiece;
use cuweld::MapSection;
use cuweld::SymbolKind;
use cuweld::Target;
use object::Endianness;
use object::Object as _;
use object::ObjectSection as _;
use object::ObjectSymbol as _;
use object::elf;
use object::read::elf::ElfFile64;
use object::read::elf::SectionHeader as _;
use object::read::elf::Sym as _;

use crate::harness::command::{cuweld, program, said};

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/rdc");
const LINKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/links");
const HEADER: [&str; 7] = ["Offset", "Address", "Size", "Align", "Out", "In", "Symbol"];

type File<'data> = ElfFile64<'data, Endianness>;

/// A link with its map, and its inputs by name.
struct Mapped {
    cubin: Vec<u8>,
    map: LinkMap,
    inputs: BTreeMap<String, Vec<u8>>,
}

/// Links files; `None` if they do not link.
fn link(files: &[PathBuf], arch: &str, options: LinkOptions) -> Option<Mapped> {
    let mut linker = Linker::new(Target::parse(arch)?).options(options).map(true);
    let mut inputs = BTreeMap::new();
    for file in files {
        let name = file.file_name()?.to_str()?.to_owned();
        let bytes = fs::read(file).unwrap();
        linker = linker.add(bytes.clone(), Kind::Any, name.clone()).ok()?;
        inputs.insert(name, bytes);
    }
    let linked = linker.link().ok()?;
    Some(Mapped {
        cubin: linked.cubin,
        map: linked.map.expect("a map was asked for"),
        inputs,
    })
}

fn relocatable() -> LinkOptions {
    LinkOptions {
        relocatable: true,
        ..LinkOptions::default()
    }
}

fn example() -> Mapped {
    let files = ["a.o", "b.o"].map(|name| Path::new(EXAMPLE).join(name));
    link(&files, "sm_90", LinkOptions::default()).unwrap()
}

/// The cubins of a case for a target.
fn case(name: &str, arch: &str) -> Vec<PathBuf> {
    let folder = Path::new(LINKS).join(name).join(arch);
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|is| is == "cubin"))
        .collect();
    files.sort();
    files
}

impl Mapped {
    fn section(&self, name: &str) -> &MapSection {
        let found = self
            .map
            .sections
            .iter()
            .find(|section| section.name == name);
        found.unwrap_or_else(|| panic!("no {name}"))
    }

    /// Checks the map against the file, and the bytes that both have against the inputs; returns the number of
    /// pieces whose bytes were compared.
    fn check(&self, what: &str) -> usize {
        let file = File::parse(&*self.cubin).unwrap();
        let e = Endianness::Little;
        let headers = file.elf_section_table();
        assert_eq!(headers.len(), self.map.sections.len(), "{what}");
        for (header, section) in headers.iter().zip(&self.map.sections).skip(1) {
            let name = &section.name;
            assert_eq!(
                file.elf_section_table().section_name(e, header).unwrap(),
                name.as_bytes()
            );
            assert_eq!(header.sh_type(e).0, section.ty, "{what} {name}");
            assert_eq!(header.sh_offset(e), section.offset, "{what} {name}");
            assert_eq!(header.sh_addr(e), section.address, "{what} {name}");
            assert_eq!(header.sh_size(e), section.size, "{what} {name}");
            assert_eq!(header.sh_addralign(e), section.align, "{what} {name}");
            is_in_order(section, what);
        }
        self.symbols_are_those_of(&file, what);
        let pieces = |section: &MapSection| {
            let pieces = section.pieces.iter();
            let compared = pieces.filter(|piece| self.is_copied(&file, section, piece, what));
            compared.count()
        };
        self.map.sections.iter().map(pieces).sum()
    }

    fn symbols_are_those_of(&self, file: &File<'_>, what: &str) {
        let e = Endianness::Little;
        let mut of_file: Vec<_> = file
            .symbols()
            .filter(|symbol| symbol.elf_symbol().st_type() != elf::STT_SECTION)
            .filter_map(|symbol| {
                let section = symbol.section_index()?.0;
                let is_function = symbol.elf_symbol().st_type() == elf::STT_FUNC;
                let (value, size) = (symbol.address(), symbol.elf_symbol().st_size(e));
                Some((
                    section,
                    symbol.name().unwrap().to_owned(),
                    value,
                    size,
                    is_function,
                ))
            })
            .collect();
        let mut of_map = Vec::new();
        for section in &self.map.sections {
            for symbol in section.pieces.iter().flat_map(|piece| &piece.symbols) {
                let is_function = symbol.kind == SymbolKind::Function;
                let number = section.number as usize;
                of_map.push((
                    number,
                    symbol.name.clone(),
                    symbol.value,
                    symbol.size,
                    is_function,
                ));
            }
        }
        of_file.sort();
        of_map.sort();
        assert_eq!(of_file, of_map, "{what}");
    }

    /// Returns `true` if a piece is bytes of a section without relocations, after checking that its input has them.
    fn is_copied(
        &self,
        file: &File<'_>,
        section: &MapSection,
        piece: &MapPiece,
        what: &str,
    ) -> bool {
        let Some(input) = piece.input.as_ref().filter(|_| section.in_file) else {
            return false;
        };
        // Other files hold the device ELF inside.
        let cubin = self
            .inputs
            .get(&input.name)
            .filter(|_| input.name.ends_with(".cubin"));
        let Some(input_file) = cubin.map(|bytes| File::parse(&**bytes).unwrap()) else {
            return false;
        };
        let is_patched = |file: &File<'_>, name: &str| {
            let rows = [".rel", ".rela", ".nv.merc.rela", ".nv.resolvedrela"];
            let plain = name.strip_prefix(".nv.merc").unwrap_or(name);
            let plain = plain.strip_prefix(".nv.capmerc").unwrap_or(plain);
            rows.iter()
                .any(|prefix| file.section_by_name(&format!("{prefix}{plain}")).is_some())
        };
        // Mercury code has the number of a section, and its SASS may get other control bits.
        let has_mercury = self
            .map
            .sections
            .iter()
            .any(|row| row.name == ".nv.merc.symtab");
        let is_code = section.name.contains(".text.");
        if is_code && has_mercury
            || is_patched(&input_file, &input.section)
            || is_patched(file, &section.name)
        {
            return false;
        }
        let mut named = input_file
            .sections()
            .filter(|row| row.name() == Ok(&input.section))
            .map(|row| row.data().unwrap());
        let start = (section.offset + piece.offset) as usize;
        let bytes = &self.cubin[start..start + piece.size as usize];
        let from = input.offset as usize;
        let has = |data: &[u8]| data.get(from..from + bytes.len()) == Some(bytes);
        assert!(named.any(has), "{what}: {} of {input}", section.name);
        true
    }
}

/// Checks that pieces lie in their section one after the other, and symbols in their pieces.
fn is_in_order(section: &MapSection, what: &str) {
    let mut end = 0;
    for piece in &section.pieces {
        let at = format!("{what}: {} at {:#x}", section.name, piece.offset);
        assert!(end <= piece.offset, "{at}");
        end = piece.offset + piece.size;
        assert!(end <= section.size, "{at}");
        assert!(
            piece.symbols.is_sorted_by_key(|symbol| symbol.value),
            "{at}"
        );
        // Shared variables have addresses, which begin before the section or end after it.
        if !section.name.contains("shared") {
            let inside = |value| piece.offset <= value && value <= end;
            assert!(
                piece.symbols.iter().all(|symbol| inside(symbol.value)),
                "{at}"
            );
        }
    }
}

#[test]
fn the_map_of_the_example_is_that_of_its_file() {
    let linked = example();
    linked.check("example");
    let text = linked.section(".text._Z4blurPK5PixelPS_i");
    let [piece] = &*text.pieces else {
        panic!("{text:?}");
    };
    assert_eq!((piece.offset, piece.size), (0, text.size));
    let input = piece.input.as_ref().unwrap();
    assert_eq!(input.to_string(), "a.o:(.text._Z4blurPK5PixelPS_i)");
    let [symbol] = &*piece.symbols else {
        panic!("{piece:?}");
    };
    assert_eq!(
        symbol.demangled.as_deref(),
        Some("blur(const Pixel *, Pixel *, int)")
    );
    // Variables without bytes in the file.
    let global = linked.section(".nv.global");
    assert!(!global.in_file);
    let of = |piece: &MapPiece| {
        let names = piece.symbols.iter().map(|symbol| symbol.name.clone());
        (
            piece.input.as_ref().unwrap().name.clone(),
            names.collect::<Vec<_>>().join(" "),
        )
    };
    let variables: Vec<_> = global.pieces.iter().map(of).collect();
    let expected = [("a.o", "brightest"), ("b.o", "pixels_done")];
    let expected = expected.map(|(input, name)| (input.to_owned(), name.to_owned()));
    assert_eq!(variables, expected);
    // What the linker made.
    let names = linked.section(".strtab");
    assert!(matches!(&*names.pieces, [piece] if piece.input.is_none()));
    // What it left out.
    let dropped: Vec<_> = linked.map.dropped.iter().collect();
    let reasons: Vec<_> = dropped.iter().map(|it| (it.reason, it.size)).collect();
    let expected = [
        (DropReason::Discarded, 0x100),
        (DropReason::Unreachable, 0x100),
    ];
    assert_eq!(reasons, expected);
    assert_eq!(dropped[1].input.to_string(), "b.o:(.text._Z6invert5Pixel)");
}

#[test]
fn no_map_is_made_unless_asked_for() {
    let linker = Linker::new(Target::parse("sm_90").unwrap());
    let add = |linker: Linker, name: &str| {
        let bytes = fs::read(Path::new(EXAMPLE).join(name)).unwrap();
        linker.add(bytes, Kind::Object, name).unwrap()
    };
    let linked = add(add(linker, "a.o"), "b.o").link().unwrap();
    assert_eq!(linked.map, None);
    assert!(linked.cubin == example().cubin);
}

#[test]
fn relocatable_output_and_mercury_have_maps() {
    for arch in ["sm_90", "sm_100"] {
        let files = case("relocatable/relocatable", arch);
        let linked = link(&files, arch, relocatable()).unwrap();
        let compared = linked.check(arch);
        assert!(compared > 0, "{arch}");
        let code = linked.section(".text._Z5thirdPi");
        assert_eq!(code.pieces[0].input.as_ref().unwrap().name, "b.cubin");
        let program = link(&files, arch, LinkOptions::default()).unwrap();
        program.check(arch);
    }
    let linked = link(
        &case("relocatable/relocatable", "sm_100"),
        "sm_100",
        relocatable(),
    );
    let linked = linked.unwrap();
    let mercury = linked.section(".nv.capmerc.text._Z3mixff");
    let input = mercury.pieces[0].input.as_ref().unwrap();
    assert_eq!(input.to_string(), "c.cubin:(.nv.capmerc.text._Z3mixff)");
    assert_eq!(mercury.pieces[0].size, mercury.size);
}

/// Constants that are laid out one by one come from their places in the inputs.
#[test]
fn constants_laid_out_again_have_their_inputs() {
    let files = case("data/constants-laid-out-again", "sm_90");
    let linked = link(&files, "sm_90", LinkOptions::default()).unwrap();
    linked.check("constants");
    let bank = linked.section(".nv.constant3");
    assert!(bank.pieces.len() > 3, "{bank:?}");
    for piece in &bank.pieces {
        let input = piece.input.as_ref().unwrap();
        assert_eq!(input.section, ".nv.constant3");
        assert_eq!(piece.symbols[0].value, piece.offset);
    }
    let later = bank.pieces.iter().filter_map(|piece| piece.input.as_ref());
    assert!(later.filter(|input| input.offset > 0).count() > 1);
}

/// Every case of `tests/links` for every target that links, as an executable and with `-r`.
#[test]
fn maps_of_all_cases_are_those_of_their_files() {
    let (mut links, mut compared) = (0, 0);
    let folders = |path: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(path).unwrap();
        let entries = entries.map(|entry| entry.unwrap().path());
        entries.filter(|path| path.is_dir()).collect()
    };
    let cases: Vec<PathBuf> = folders(Path::new(LINKS))
        .iter()
        .flat_map(|topic| folders(topic))
        .collect();
    for case_folder in cases {
        let name = case_folder.strip_prefix(LINKS).unwrap().to_str().unwrap();
        for folder in folders(&case_folder) {
            let arch = folder.file_name().unwrap().to_str().unwrap();
            if Target::parse(arch).is_none() {
                continue;
            }
            let files = case(name, arch);
            for options in [LinkOptions::default(), relocatable()] {
                let what = format!("{name} {arch} {}", options.relocatable);
                if let Some(linked) = link(&files, arch, options) {
                    links += 1;
                    compared += linked.check(&what);
                }
            }
        }
    }
    assert!(links > 1000 && compared > 3000, "{links} {compared}");
}

/// Links the example in a folder of its own with these options; returns it, and what the program said.
fn run(words: &[&str], variable: Option<&str>) -> (tempfile::TempDir, std::process::Output) {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.o", "b.o"] {
        fs::copy(Path::new(EXAMPLE).join(name), folder.path().join(name)).unwrap();
    }
    let mut command = Command::new(program());
    command.args(words).current_dir(folder.path());
    if let Some(file) = variable {
        command.env("CUWELD_MAP", file);
    }
    let output = command.output().unwrap();
    (folder, output)
}

/// The words of a link of the example on both command lines, with an option for a map.
fn both(map: &str) -> [Vec<String>; 2] {
    let native = format!("link --arch sm_90 a.o b.o -o out.cubin --map={map}");
    let nvlink = format!("nvlink -arch=sm_90 a.o b.o -o out.cubin --cuweld-map={map}");
    [native, nvlink].map(|line| line.split(' ').map(str::to_owned).collect())
}

fn run_line(line: &[String]) -> (tempfile::TempDir, std::process::Output) {
    let words: Vec<&str> = line.iter().map(String::as_str).collect();
    run(&words, None)
}

fn is_text(map: &str) {
    let mut lines = map.lines();
    let header: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
    assert_eq!(header, HEADER);
    assert!(
        map.contains("        a.o:(.text._Z4blurPK5PixelPS_i)\n"),
        "{map}"
    );
    assert!(
        map.contains("                blur(const Pixel *, Pixel *, int)\n"),
        "{map}"
    );
}

#[test]
fn both_command_lines_write_maps() {
    for line in both("out.map") {
        let (folder, output) = run_line(&line);
        assert!(output.status.success(), "{}", said(&output));
        let map = fs::read_to_string(folder.path().join("out.map")).unwrap();
        is_text(&map);
        // The links of programs record other options.
        let (lines, expected) = (map.lines().count(), example().map.to_string());
        assert_eq!(lines, expected.lines().count());
    }
    for line in both("out.json") {
        let (folder, output) = run_line(&line);
        assert!(output.status.success(), "{}", said(&output));
        let json = fs::read(folder.path().join("out.json")).unwrap();
        let map: serde_json::Value = serde_json::from_slice(&json).unwrap();
        let expected = serde_json::to_value(example().map).unwrap();
        assert_eq!(map["dropped"], expected["dropped"]);
        let sections = map["sections"].as_array().unwrap();
        let code = sections
            .iter()
            .find(|section| section["name"] == ".text._Z4blurPK5PixelPS_i");
        let piece = &code.unwrap()["pieces"][0];
        assert_eq!(piece["input"]["name"], "a.o");
        assert_eq!(piece["symbols"][0]["type"], "function");
        assert_eq!(piece["symbols"][0]["binding"], "global");
    }
    for line in both("-") {
        let (_folder, output) = run_line(&line);
        is_text(std::str::from_utf8(&output.stdout).unwrap());
    }
    let words = ["nvlink", "-arch=sm_90", "a.o", "b.o", "-o", "out.cubin"];
    let (folder, _) = run(&words, Some("of-variable.map"));
    is_text(&fs::read_to_string(folder.path().join("of-variable.map")).unwrap());
}

#[test]
fn a_map_is_written_only_beside_an_output() {
    for line in both("out.map") {
        let line: Vec<String> = line.into_iter().filter(|word| word != "b.o").collect();
        let (folder, output) = run_line(&line);
        assert!(!output.status.success());
        assert!(!folder.path().join("out.map").exists());
        assert!(!folder.path().join("out.cubin").exists());
    }
    for line in both("none/out.map") {
        let (_folder, output) = run_line(&line);
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        assert!(said(&output).contains("none/out.map"), "{}", said(&output));
    }
}

/// SASS that is taken out of a file with Mercury lies elsewhere than in that file.
#[test]
fn sass_alone_has_no_map() {
    let folder = Path::new(LINKS).join("relocatable/relocatable/sm_100");
    let out = tempfile::tempdir().unwrap();
    let output = out.path().join("out.cubin");
    let words = [
        "link",
        "--arch",
        "sm_100",
        "a.cubin",
        "b.cubin",
        "c.cubin",
        "--binary-kind=sass",
    ];
    let more = ["--map", "-", "-o", output.to_str().unwrap()];
    let done = cuweld(&folder, &[&words[..], &more].concat());
    assert_eq!(done.status.code(), Some(1), "{}", said(&done));
    assert!(said(&done).contains("--map"), "{}", said(&done));
    assert!(!output.exists());
}
