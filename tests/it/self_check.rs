//! The self-check: what links write passes it, and a change of one thing breaks the rule that forbids it.

use std::collections::BTreeSet;
use std::path::Path;

use crate::harness::case::{Case, Expect};
use crate::harness::link::Linker;
use cuweld::diagnostics::{Reporter, Style};
use cuweld::{Controls, PassSelection, run_pipeline};
use cuweld_elf::Target;
use cuweld_elf::check::{Rule, View, ViewSection, check_image, read};
use cuweld_elf::mercury::capmerc::{Capmerc, Form};
use cuweld_elf::target::section_types::sht;
use cuweld_ir::{
    Arena, Fixup, LinkOptions, LinkRecord, Module, Phase, SectionContent, SectionId, elf,
};
use cuweld_passes::pipeline::Facts;

/// Runs passes over a module; what they said, and whether they went through.
fn passes<'data>(module: &mut Module<'data>, arena: &'data Arena, passes: &str) -> (String, bool) {
    let controls = match passes {
        "" => Controls::default(),
        passes => Controls {
            selection: PassSelection {
                passes: Some(passes.to_owned()),
                ..PassSelection::default()
            },
            ..Controls::default()
        },
    };
    let facts = Facts::new(module.target, &module.options);
    let manager = controls.manager(facts, module.phase).unwrap();
    let mut messages = Vec::new();
    let mut reporter = Reporter::new(&mut messages, Style::Native);
    run_pipeline(
        &controls,
        &manager,
        module,
        arena,
        Default::default(),
        &mut reporter,
    )
    .unwrap();
    let ok = !reporter.failed();
    (String::from_utf8(messages).unwrap(), ok)
}

/// A case of `tests/links`, linked up to the file.
fn linked<'data>(case: &str, target: &str, arena: &'data Arena) -> Module<'data> {
    let options = LinkOptions {
        record: LinkRecord {
            stamp_nvlink: true,
            ..Default::default()
        },
        ..LinkOptions::default()
    };
    let mut module = Module::new(Target::parse(target).unwrap(), options);
    for name in ["a.cubin", "b.cubin"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/links")
            .join(case);
        let image = std::fs::read(folder.join(target).join(name)).unwrap();
        let part = elf::read_object(arena.bytes(&image), name.as_bytes(), b"").unwrap();
        module.append(part).unwrap();
    }
    let (said, ok) = passes(&mut module, arena, "");
    assert!(ok && module.image.is_some(), "{case}: {said}");
    module
}

/// The place of a section in the file.
fn place(image: &[u8], name: &str) -> usize {
    section(image, |section| section.name == name.as_bytes()).0
}

/// The place in the file of a section's bytes, and of its header.
fn section(image: &[u8], wanted: impl Fn(&ViewSection<'_>) -> bool) -> (usize, usize) {
    let view = read(image, &mut Default::default()).unwrap();
    let index = view.sections.iter().position(wanted).unwrap();
    let header = view.headers.file.shoff.get() as usize + 64 * index;
    (view.sections[index].header.offset.get() as usize, header)
}

fn header(image: &[u8], name: &str) -> usize {
    section(image, |section| section.name == name.as_bytes()).1
}

/// The places of the first two functions of a symbol table.
fn functions(image: &[u8], table: &str) -> [usize; 2] {
    let rows = (place(image, table)..).step_by(24);
    let mut functions = rows.filter(|row| image[row + 4] & 15 == 2);
    [(); 2].map(|()| functions.next().unwrap())
}

/// A change of a file.
type Change = fn(&mut [u8]);

/// Mercury code of the first function: its items, their bytes, and the place of these in the file.
fn mercury<'data>(view: &View<'data>) -> (Capmerc<'data>, &'data [u8], usize) {
    let mut sections = view.sections.iter();
    let code = sections
        .find(|section| section.ty() == sht::CUDA_CAPMERC)
        .unwrap();
    let items = Capmerc::parse(code.bytes).unwrap();
    (items, code.bytes, code.header.offset.get() as usize)
}

/// Where Mercury code has an item of this kind: the place of its entry.
fn entry(image: &[u8], wanted: impl Fn(&[u8]) -> bool) -> usize {
    let view = read(image, &mut Default::default()).unwrap();
    let (items, bytes, place) = mercury(&view);
    let at = items
        .items()
        .find(|item| item.form != Form::Plain && wanted(&bytes[item.at..]));
    place + at.unwrap().at
}

/// The SASS of the tail of the first function: the place in the file.
fn tail(image: &[u8]) -> usize {
    let view = read(image, &mut Default::default()).unwrap();
    let (items, ..) = mercury(&view);
    let tail = items
        .items()
        .find(|item| matches!(item.form, Form::Run(None)))
        .unwrap();
    let text = &view.sections[items.text as usize];
    text.header.offset.get() as usize + 16 * tail.instruction as usize
}

/// One change for each rule that a file alone can break: a linked file of `mercury-targets` for sm_120.
const OF_FILES: &[(Rule, Change)] = &[
    (Rule::Structure, |image| image[18] = 0),
    // After the names of sections there are 36 zeros.
    (Rule::BytesOwned, |image| {
        let strings = place(image, ".strtab");
        image[strings - 1] = 1;
    }),
    (Rule::Names, |image| {
        let symbols = place(image, ".symtab");
        image[symbols + 24 + 2] = 0xff;
    }),
    (Rule::Links, |image| {
        let at = header(image, ".nv.callgraph");
        image[at + 40] = 4;
    }),
    (Rule::Segments, |image| {
        let at = u64::from_le_bytes(image[32..40].try_into().unwrap()) as usize;
        // The third header loads the first sections in memory.
        image[at + 2 * 56 + 32] = 1;
    }),
    (Rule::SymbolPlace, |image| {
        let function = functions(image, ".symtab")[0];
        image[function + 17] = 0xff;
    }),
    (Rule::Kind, |image| image[48] = 4),
    (Rule::MercuryHeader, |image| {
        let at = header(image, ".nv.merc.nv.info");
        image[at + 8] = 2;
    }),
    // Neither of the Mercury view by its flags nor of a type that is read: its rows would be lost.
    (Rule::MercuryHeader, |image| {
        let at = header(image, ".nv.merc.rela.debug_frame");
        image[at + 4..at + 16].copy_from_slice(&[0x82, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }),
    (Rule::MercuryTwin, |image| {
        let names = place(image, ".shstrtab");
        let wanted = b".nv.merc.nv.global.init\0";
        let at = image[names..]
            .windows(24)
            .position(|name| name == wanted)
            .unwrap();
        image[names + at + 10] = b'x';
    }),
    (Rule::MercurySymbols, |image| {
        let function = functions(image, ".nv.merc.symtab")[0];
        image[function + 6] ^= 1;
    }),
    (Rule::RelocRows, |image| {
        let rows = place(image, ".rela.text._Z1kPi");
        image[rows + 2] = 0xff;
    }),
    (Rule::RelocTypes, |image| {
        let rows = place(image, ".rela.text._Z1kPi");
        image[rows + 10] = 1;
    }),
    (Rule::RelocPairs, |image| {
        let rows = place(image, ".nv.merc.rela.text._Z1kPi");
        image[rows + 12] ^= 1;
    }),
    (Rule::RelocPlaces, |image| {
        let rows = place(image, ".rela.text._Z1kPi");
        image[rows] |= 4;
    }),
    (Rule::CodeSize, |image| {
        let at = header(image, ".text._Z5twicei");
        image[at + 32] -= 1;
    }),
    (Rule::MercuryGrammar, |image| {
        let code = place(image, ".nv.capmerc.text._Z1kPi");
        image[code + 4] = 2;
    }),
    // The tail stands for one instruction less.
    (Rule::MercuryCount, |image| {
        let at = entry(image, |entry| entry[0] & 0x7f == 0x50);
        image[at] ^= 0x80;
    }),
    (Rule::MercuryText, |image| {
        let code = place(image, ".nv.capmerc.text._Z1kPi");
        image[code] ^= 1;
    }),
    (Rule::MercuryTail, |image| {
        let at = tail(image) + 16;
        image[at] ^= 1;
    }),
    (Rule::MercuryRecord, |image| {
        let at = entry(image, |entry| entry[..2] == [1, 0x0b]);
        image[at + 0xa] ^= 0x40;
    }),
    // The clone of the data begins early.
    (Rule::DebugAlias, |image| {
        let at = header(image, ".nv.merc.nv.global.init");
        image[at + 25] -= 1;
    }),
    (Rule::DebugFrames, |image| {
        let frames = place(image, ".debug_frame");
        image[frames + 4] ^= 1;
    }),
    (Rule::DebugRange, |image| {
        let frames = place(image, ".debug_frame");
        let length = u64::from_le_bytes(image[frames + 4..frames + 12].try_into().unwrap());
        let entry = frames + 12 + length as usize;
        image[entry + 28] ^= 1;
    }),
    // The register that a rule of the unwinder is about.
    (Rule::FramePairs, |image| {
        let frames = place(image, ".debug_frame");
        let length = u64::from_le_bytes(image[frames + 4..frames + 12].try_into().unwrap());
        let entry = frames + 12 + length as usize;
        let rule = [0x0c, 0x81, 0x80, 0x80, 0x28];
        let mut rules = image[entry..].windows(rule.len());
        let at = rules.position(|window| window == rule).unwrap();
        image[entry + at + 1] ^= 2;
    }),
    // The registers of a function.
    (Rule::ListPairs, |image| {
        let list = place(image, ".nv.merc.nv.info");
        let mut records = image[list..].windows(4);
        let at = records
            .position(|window| window == [4, 0x2f, 8, 0])
            .unwrap();
        image[list + at + 8] ^= 1;
    }),
    // The place of an instruction that ends the kernel.
    (Rule::RecordPlaces, |image| {
        let list = place(image, ".nv.info._Z1kPi");
        let mut records = image[list..].windows(4);
        let at = records
            .position(|window| window == [4, 0x1c, 4, 0])
            .unwrap();
        image[list + at + 4] ^= 0x10;
    }),
];

/// One change for each rule that needs the module, which no rule of the file alone sees.
const OF_LINKS: &[(Rule, Change)] = &[
    (Rule::TextKept, |image| {
        let code = place(image, ".text._Z5twicei");
        image[code + 13] ^= 2;
    }),
    (Rule::MercuryKept, |image| {
        let at = entry(image, |entry| entry[..2] == [2, 0x22]);
        image[at + 8] ^= 1;
    }),
    (Rule::DataKept, |image| {
        let data = place(image, ".nv.global.init");
        image[data] ^= 1;
    }),
    // The first rule of a frame, one instruction later.
    (Rule::DebugKept, |image| {
        let frames = place(image, ".debug_frame");
        let length = u64::from_le_bytes(image[frames + 4..frames + 12].try_into().unwrap());
        let advance = frames + 12 + length as usize + 36;
        assert_eq!(image[advance], 4);
        image[advance + 1] += 4;
    }),
    // In both views.
    // The addend of a variable's address, in both views.
    (Rule::RelocPlanned, |image| {
        for name in [".rela.text._Z1kPi", ".nv.merc.rela.text._Z1kPi"] {
            let addend = place(image, name) + 3 * 24 + 16;
            image[addend] += 4;
        }
    }),
    (Rule::HeadersPlanned, |image| image[24] = 1),
    (Rule::SectionsPlanned, |image| {
        let at = header(image, ".nv.prototype");
        image[at + 56] ^= 1;
    }),
    (Rule::SymbolsPlanned, |image| {
        let function = functions(image, ".symtab")[0];
        image[function + 5] ^= 0x40;
    }),
    // In both views: the name of the first function is that of the second.
    (Rule::FunctionsWritten, |image| {
        for table in [".symtab", ".nv.merc.symtab"] {
            let [first, second] = functions(image, table);
            let name: [u8; 4] = image[second..][..4].try_into().unwrap();
            image[first..][..4].copy_from_slice(&name);
        }
    }),
];

#[test]
fn each_rule_of_files_is_broken_by_a_change() {
    let path = "tests/links/mercury/mercury-targets/expected/sm_120.cubin";
    let good = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    assert_eq!(check_image(&good), []);
    for (rule, change) in OF_FILES {
        let mut image = good.clone();
        change(&mut image);
        let findings = check_image(&image);
        let broken: Vec<Rule> = findings.iter().map(|finding| finding.rule).collect();
        assert!(broken.contains(rule), "{}: {findings:#?}", rule.name());
    }
}

#[test]
fn each_rule_of_links_is_broken_by_a_change() {
    let arena = Arena::new();
    let mut module = linked("mercury/mercury-targets", "sm_120", &arena);
    let good = module.image.clone().unwrap();
    for (rule, change) in OF_LINKS {
        let mut image = good.clone();
        change(&mut image);
        assert_ne!(image, good, "{}", rule.name());
        assert_eq!(check_image(&image), [], "{}", rule.name());
        module.image = Some(image);
        // Each change is one of a link that nothing was found of.
        (module.findings, module.stopped) = Default::default();
        let (said, ok) = passes(&mut module, &arena, "self-check");
        assert!(
            !ok && said.contains(&format!("[{}]", rule.name())),
            "{}: {said}",
            rule.name()
        );
        let part = match rule.part().name() {
            "symbol" => "Self check for capsule mercury symbol section failed",
            "relocation" => "Self check for capsule mercury relocation section failed",
            "debug" => "Self check for capsule mercury debug section failed",
            _ => "Self check for capsule mercury text section failed",
        };
        assert!(said.contains(part), "{}: {said}", rule.name());
    }
}

#[test]
fn every_rule_has_a_change() {
    let changed: BTreeSet<Rule> = OF_FILES
        .iter()
        .chain(OF_LINKS)
        .map(|(rule, _)| *rule)
        .collect();
    let missing: Vec<_> = Rule::ALL
        .iter()
        .filter(|rule| !changed.contains(rule))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn what_failed_is_named_with_its_place() {
    let arena = Arena::new();
    let mut module = linked("mercury/mercury-targets", "sm_120", &arena);
    let image = module.image.as_mut().unwrap();
    let code = place(image, ".text._Z5twicei");
    image[code + 13] ^= 2;
    let (said, _) = passes(&mut module, &arena, "self-check");
    assert!(
        said.contains("Failure of '.text._Z5twicei' section in self-check for capsule mercury."),
        "{said}"
    );
    assert!(said.contains(".text._Z5twicei+0xd: 0x"), "{said}");
}

#[test]
fn files_of_sass_are_checked_too() {
    let arena = Arena::new();
    let mut module = linked("shared-memory/shared-static", "sm_90", &arena);
    let (said, ok) = passes(&mut module, &arena, "self-check");
    assert!(ok, "{said}");
    let image = module.image.as_mut().unwrap();
    let text = section(image, |section| section.is_code()).0;
    image[text + 4] ^= 1;
    module.phase = Phase::Emitted;
    let (said, ok) = passes(&mut module, &arena, "self-check");
    assert!(
        !ok && said.contains("Self check of text section failed"),
        "{said}"
    );
    assert!(said.contains("[text-kept]"), "{said}");
}

#[test]
fn all_link_cases_pass() {
    let mut count = 0;
    for case in Case::all().unwrap() {
        if case.expect != Expect::Identical || case.exit != 0 {
            continue;
        }
        for arch in &case.arch {
            let mut arguments = case.arguments(arch);
            arguments.push("--cuweld-self-check".to_owned());
            let outcome = Linker::ours().link(&case.folder, &arguments).unwrap();
            assert_eq!(
                outcome.exit,
                Some(0),
                "{}/{arch}: {}",
                case.name,
                outcome.lines.join(" ")
            );
            count += 1;
        }
    }
    assert!(count > 200, "{count} links");
}

/// Changes the linked module before its file is written; what the self-check says then.
fn said_after(change: impl FnOnce(&mut Module<'_>, SectionId)) -> String {
    let arena = Arena::new();
    let mut module = linked("mercury/mercury-targets", "sm_120", &arena);
    let found = module
        .sections
        .iter()
        .find(|(_, row)| row.name == b".text._Z5twicei");
    let (code, _) = found.unwrap();
    change(&mut module, code);
    module.phase = Phase::Relocated;
    module.image = None;
    let (said, ok) = passes(&mut module, &arena, "emit,self-check");
    assert_eq!(ok, said.is_empty());
    said
}

/// A driver may take either view of a function: a change of one alone makes another program.
#[test]
fn code_is_not_changed_without_its_mercury() {
    assert_eq!(said_after(|_, _| {}), "");
    let said = said_after(|module, section| {
        let at = module
            .fixups
            .partition_point(|fixup| fixup.section <= section);
        let fixup = Fixup {
            section,
            offset: 0x10,
            bit: 0,
            width: 8,
            value: 0x55,
            add: false,
            cause: None,
        };
        module.fixups.insert(at, fixup);
    });
    assert!(
        said.contains(".text._Z5twicei+0x10: a fixup of the code is none that the link makes"),
        "{said}"
    );
    let said = said_after(|module, section| {
        let code = module.sections[section].bytes().to_vec();
        let mut changed = code;
        changed[0x24] ^= 1;
        module.sections[section].content = SectionContent::Bytes(changed.leak());
    });
    assert!(
        said.contains(".text._Z5twicei+0x24: the code is changed, and its Mercury is that of"),
        "{said}"
    );
}
