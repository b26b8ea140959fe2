//! A cubin of the link tests, changed in one way each.

use super::*;
use crate::inspect::device_model::*;

fn fixture(path: &str) -> Vec<u8> {
    std::fs::read(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

fn cubin() -> Vec<u8> {
    fixture("tests/links/resources/printf-assert/expected/sm_90.cubin")
}

fn section<'a, 'data>(elf: &'a DeviceElf<'data>, name: &str) -> &'a Section<'data> {
    let mut sections = elf.sections.iter();
    sections
        .find(|section| section.name.0 == name.as_bytes())
        .unwrap()
}

/// Returns the file offset of a section's bytes.
fn at(elf: &DeviceElf<'_>, name: &str) -> usize {
    section(elf, name).offset as usize
}

/// Returns the file offset of a section's header.
fn header_at(elf: &DeviceElf<'_>, name: &str) -> usize {
    elf.header.section_headers_offset as usize + section(elf, name).index as usize * 64
}

/// Returns the file offset of a symbol.
fn symbol_at(elf: &DeviceElf<'_>, name: &str) -> usize {
    let table = &elf.symbol_tables[0];
    let mut symbols = table.symbols.iter();
    let symbol = symbols.find(|symbol| symbol.name.0 == name.as_bytes() && symbol.ty.value != 3);
    at(elf, ".symtab") + symbol.unwrap().index as usize * 24
}

/// Returns the differences after a change, as text.
fn lines(change: impl FnOnce(&DeviceElf<'_>, &mut Vec<u8>)) -> Vec<String> {
    let left = cubin();
    let mut right = left.clone();
    let (elf, errors) = decode_device_elf(&left).unwrap();
    assert_eq!(errors, []);
    change(&elf, &mut right);
    let found = diff_images(&left, &right).unwrap();
    found.iter().map(ToString::to_string).collect()
}

/// Checks that a change of one byte is reported by one line.
fn check(place: impl FnOnce(&DeviceElf<'_>) -> usize, byte: u8, expected: &str) {
    let found = lines(|elf, bytes| bytes[place(elf)] = byte);
    assert_eq!(found, [expected]);
}

#[test]
fn equal_files_do_not_differ() {
    assert_eq!(lines(|_, _| ()), [""; 0]);
}

#[test]
fn header_fields() {
    check(|_| 49, 80, "file header: flags: SM: 90 -> 80");
    check(|_| 16, 1, "file header: type: EXEC -> REL");
    check(|_| 8, 7, "file header: ABI version: 8 -> 7");
}

#[test]
fn section_fields() {
    let text = ".text._Z6reportif";
    check(
        |elf| header_at(elf, text) + 8,
        7,
        "section .text._Z6reportif: flags: 0x6 -> 0x7",
    );
    check(
        |elf| header_at(elf, text) + 48,
        0x40,
        "section .text._Z6reportif: align: 0x80 -> 0x40",
    );
    check(
        |elf| header_at(elf, text) + 44,
        22,
        "section .text._Z6reportif: info: _Z6reportif -> _Z3runPfi",
    );
    check(
        |elf| header_at(elf, ".nv.global.init") + 32,
        0x70,
        "section .nv.global.init: size: 0x78 -> 0x70",
    );
}

#[test]
fn missing_and_extra_sections() {
    let found = lines(|elf, bytes| {
        // `.nv.rel.action` loses its dot.
        bytes[header_at(elf, ".nv.rel.action")] += 1;
    });
    assert_eq!(
        found,
        [
            "section .nv.rel.action: only in the first file: CUDA_RELOCINFO, 0x10 bytes",
            "section nv.rel.action: only in the second file: CUDA_RELOCINFO, 0x10 bytes",
            "symbol .nv.rel.action: section: .nv.rel.action -> nv.rel.action",
        ]
    );
}

#[test]
fn symbol_fields() {
    let name = "_Z6reportif";
    let head = "symbol _Z6reportif (report(int, float)):";
    check(
        |elf| symbol_at(elf, name) + 4,
        0x22,
        &format!("{head} binding: GLOBAL -> WEAK"),
    );
    check(
        |elf| symbol_at(elf, name) + 5,
        0x10,
        &format!("{head} other: 0x0 -> 0x10"),
    );
    check(
        |elf| symbol_at(elf, name) + 6,
        21,
        &format!("{head} section: .text._Z6reportif -> .text._Z5quietPi"),
    );
    check(
        |elf| symbol_at(elf, name) + 8,
        0x10,
        &format!("{head} value: 0x0 -> 0x10"),
    );
    check(
        |elf| symbol_at(elf, name) + 17,
        5,
        &format!("{head} size: 0x480 -> 0x580"),
    );
}

#[test]
fn a_symbol_of_another_name() {
    let found = lines(|elf, bytes| bytes[symbol_at(elf, "vprintf")] += 1);
    assert_eq!(
        found[..2],
        [
            "symbol vprintf: only in the first file: GLOBAL FUNC, 0x0 bytes, undefined",
            "symbol printf: only in the second file: GLOBAL FUNC, 0x0 bytes, undefined",
        ]
    );
    // Whatever refers to it says so as well.
    let has = |start: &str| found.iter().any(|line| line.starts_with(start));
    assert!(has(
        "relocation .rela.text._Z3runPfi at 0x300: symbol: vprintf -> printf"
    ));
    assert!(has(
        "call graph direct _Z3runPfi -> vprintf: only in the first file"
    ));
}

#[test]
fn attribute_records() {
    check(
        |elf| at(elf, ".nv.info") + 0x24 + 8 - 0x18,
        0x2e,
        "attribute _Z5quietPi/REGCOUNT (quiet(int *)): value: 0x8 -> 0x2e",
    );
    check(
        |elf| at(elf, ".nv.info._Z3runPfi") + 0x38 + 2,
        0x80,
        "attribute _Z3runPfi/MAXREG_COUNT (run(float *, int)): value: 0xff -> 0x80",
    );
    check(
        |elf| at(elf, ".nv.compat") + 2,
        1,
        "attribute .nv.compat/CUDA_ACCELERATOR_TARGET: value: 0x0 -> 0x1",
    );
    let found = lines(|elf, bytes| bytes[at(elf, ".nv.info._Z3runPfi") + 0x3d] = 0x4c);
    assert_eq!(
        found,
        [
            "attribute _Z3runPfi/SPARSE_MMA_MASK (run(float *, int)): only in the first file: 0x0",
            "attribute _Z3runPfi/NUM_BARRIERS (run(float *, int)): only in the second file: 0x0",
        ]
    );
}

#[test]
fn relocations() {
    let list = ".rela.text._Z3runPfi";
    check(
        |elf| at(elf, list) + 8,
        0x39,
        "relocation .rela.text._Z3runPfi at 0xc0: type: R_CUDA_ABS32_LO_32 -> R_CUDA_ABS32_HI_32",
    );
    check(
        |elf| at(elf, list) + 16,
        4,
        "relocation .rela.text._Z3runPfi at 0xc0: addend: 0 -> 4",
    );
    // Two local symbols of one name.
    check(
        |elf| at(elf, list) + 12,
        14,
        "relocation .rela.text._Z3runPfi at 0xc0: symbol: $str -> $str #2",
    );
    let found = lines(|elf, bytes| bytes[at(elf, list)] = 0xc8);
    assert_eq!(
        found,
        [
            "relocation .rela.text._Z3runPfi at 0xc0: only in the first file: R_CUDA_ABS32_LO_32 $str",
            "relocation .rela.text._Z3runPfi at 0xc8: only in the second file: R_CUDA_ABS32_LO_32 $str",
        ]
    );
}

#[test]
fn notes() {
    let found = lines(|elf, bytes| {
        let start = at(elf, ".note.nv.tkinfo");
        let options = bytes[start..]
            .windows(5)
            .position(|word| word == b"sm_90")
            .unwrap();
        bytes[start + options + 3] = b'8';
    });
    assert_eq!(
        found,
        ["note .note.nv.tkinfo TOOL_INFO: options: -arch sm_90  -> -arch sm_80 "]
    );
    check(
        |elf| at(elf, ".note.nv.cuinfo") + 24 + 2,
        80,
        "note .note.nv.cuinfo CUDA_INFO: virtual SM: 90 -> 80",
    );
}

#[test]
fn call_graph_and_prototypes() {
    let found = lines(|elf, bytes| bytes[at(elf, ".nv.callgraph") + 8 + 4] = 27);
    assert_eq!(
        found,
        [
            "call graph direct _Z3runPfi -> vprintf: only in the first file",
            "call graph direct _Z3runPfi -> _Z5quietPi: only in the second file",
        ]
    );
    check(
        |elf| at(elf, ".nv.prototype") + 4,
        2,
        "prototype _Z6reportif (report(int, float)): prototype: #vii -> vii",
    );
}

#[test]
fn bytes_of_code_and_data() {
    let found = lines(|elf, bytes| bytes[at(elf, ".text._Z3runPfi") + 0x48] ^= 1);
    let [line] = &found[..] else {
        panic!("{found:?}");
    };
    let head = "contents .text._Z3runPfi+0x40 (_Z3runPfi+0x40, run(float *, int)): instruction: ";
    assert!(line.starts_with(head), "{line}");
    assert_eq!(line.matches(' ').count(), head.matches(' ').count() + 32);
    check(
        |elf| at(elf, ".nv.global.init") + 0x4d,
        b'!',
        "contents .nv.global.init+0x4d ($str+0x2): bytes: 3e -> 21",
    );
}

#[test]
fn program_headers() {
    check(
        |elf| elf.header.program_headers_offset as usize + 56 + 4,
        7,
        "segment program header 1: flags: 0x5 -> 0x7",
    );
    check(
        |elf| elf.header.program_headers_offset as usize + 56 + 40,
        0,
        "segment program header 1: memory size: 0xdf8 -> 0xd00",
    );
}

#[test]
fn order_of_rows() {
    let found = lines(|elf, bytes| {
        let start = at(elf, ".nv.info");
        let (first, second) = bytes[start..start + 24].split_at_mut(12);
        first.swap_with_slice(second);
    });
    assert_eq!(
        found,
        [
            "order records of .nv.info (number 0 of those in both): order: \
             _Z5quietPi/FRAME_SIZE -> _Z5quietPi/REGCOUNT"
        ]
    );
}

#[test]
fn layout_comes_last() {
    let found = lines(|elf, bytes| {
        bytes[symbol_at(elf, "_Z6reportif") + 5] = 0x10;
        let old = elf.header.program_headers_offset as usize;
        let new = bytes.len() as u64;
        bytes.extend_from_within(old..old + elf.segments.len() * 56);
        bytes[32..40].copy_from_slice(&new.to_le_bytes());
    });
    assert_eq!(
        found,
        [
            "symbol _Z6reportif (report(int, float)): other: 0x0 -> 0x10",
            "layout file header: offset of program headers: 0x25f8 -> 0x26d8",
        ]
    );
}

#[test]
fn bytes_that_belong_to_nothing() {
    let padding = |elf: &DeviceElf<'_>| {
        let before = section(elf, ".nv.constant0._Z5quietPi");
        (before.offset + before.size) as usize
    };
    check(
        padding,
        0xee,
        "byte file offset 0x15bc (padding after section '.nv.constant0._Z5quietPi'): \
         byte: 00 -> ee",
    );
    check(
        |_| 10,
        1,
        "byte file offset 0xa (file header+0xa): byte: 00 -> 01",
    );
    check(
        |elf| section(elf, ".note.nv.tkinfo").offset as usize + 24,
        3,
        "byte file offset 0xa70 (NOTE '.note.nv.tkinfo'+0x18): byte: 02 -> 03",
    );
    assert_eq!(
        lines(|_, bytes| bytes.push(0)),
        [
            "byte file offset 0x26d8 (padding after the program headers): byte: end of the file -> 00"
        ]
    );
}

#[test]
fn damaged_files_are_errors() {
    let whole = cubin();
    let cut = &whole[..whole.len() - 100];
    assert!(matches!(diff_images(&whole, cut), Err((1, _))));
    assert!(matches!(diff_images(b"text", &whole), Err((0, _))));
    assert_eq!(diff_images(cut, cut), Ok(Vec::new()));
}

/// Checks that any change is found, and that its consequences do not hide it.
#[test]
fn every_byte_counts() {
    let left = cubin();
    let mut right = left.clone();
    let mut read = 0;
    for at in (0..left.len()).step_by(13) {
        right[at] ^= 0x10;
        if let Ok(found) = diff_images(&left, &right) {
            assert!(!found.is_empty(), "{at:#x}");
            read += 1;
        }
        right[at] = left[at];
    }
    assert!(read > left.len() / 13 / 2, "{read}");
}

#[test]
fn inputs_and_outputs_compare() {
    let left = fixture("tests/links/resources/printf-assert/sm_90/a.cubin");
    let found = diff_images(&left, &cubin()).unwrap();
    let categories: std::collections::BTreeSet<Category> =
        found.iter().map(|difference| difference.category).collect();
    assert!(categories.len() >= 10, "{categories:?}");
    let sorted = found.is_sorted_by_key(|difference| difference.category);
    assert!(sorted, "layout comes last");
    let report = DiffReport::new("a", "b", found, 3);
    let mut text = Vec::new();
    text::write_report(&report, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert_eq!(text.lines().count(), 2 + 3 + 1, "{text}");
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["differences"][0]["category"], "header");
    assert_eq!(json["schema_version"], 1);
}
