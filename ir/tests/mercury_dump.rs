//! Mercury code in `.lir`: every fixture's is understood, shown, and does not disturb the parser.

mod link_cases;

use std::path::Path;

use cuweld_elf::Target;
use cuweld_elf::mercury::capmerc::Capmerc;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::Arena;
use cuweld_ir::LinkOptions;
use cuweld_ir::Module;
use cuweld_ir::elf::read_object;
use cuweld_ir::text;
use cuweld_ir::text::DumpBytes;
use link_cases::cubins;

/// Builds the module of one object.
fn module<'data>(image: &'data [u8], target: &str) -> Module<'data> {
    let mut module = Module::new(Target::parse(target).unwrap(), LinkOptions::default());
    let part = read_object(image, b"a.cubin", b"").unwrap();
    module.append(part).unwrap();
    module
}

#[test]
fn a_dump_shows_mercury_code_and_parses_back() {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/links/mercury/mercury-targets");
    let image = std::fs::read(folder.join("sm_120/b.cubin")).unwrap();
    let module = module(&image, "sm_120");
    let dump = text::print(&module, DumpBytes::Full);
    assert!(dump.contains(
        "      ; Mercury of section 14: 11 items, 7 plain, 3 records, 1 runs, 24 instructions\n"
    ));
    assert!(dump.contains("      ; items 1..8 for code at 0x10: plain\n"));
    let arena = Arena::new();
    assert_eq!(text::parse(&dump, &arena, &|_| None).unwrap(), module);
}

#[test]
fn a_dump_says_what_it_does_not_know() {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/links/mercury/mercury-targets");
    let mut image = std::fs::read(folder.join("sm_120/b.cubin")).unwrap();
    let version = 0xc000_0001_u32.to_le_bytes();
    let at = image.windows(4).position(|bytes| bytes == version).unwrap();
    image[at] = 2;
    let dump = text::print(&module(&image, "sm_120"), DumpBytes::Hash);
    let expected = "; Mercury of another form: its version word is 0xc0000002, not 0xc0000001\n";
    assert!(dump.contains(expected));
}

#[test]
fn all_fixtures_are_understood() {
    let mut seen = 0;
    for (_, image) in cubins() {
        let Ok(part) = read_object(&image, b"", b"") else {
            continue;
        };
        for section in &part.sections {
            if section.ty == sht::CUDA_CAPMERC {
                let code = Capmerc::parse(section.bytes()).unwrap();
                let text = part.sections[code.text as usize].size();
                code.covers(text).unwrap();
                assert!(code.lines().count() > 1);
                seen += 1;
            }
        }
    }
    assert!(seen >= 20, "{seen} functions");
}
