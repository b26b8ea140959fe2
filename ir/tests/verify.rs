//! The verifier: each rule has a module that breaks it and nothing else, what is right passes, and
//! no module makes it panic.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::path::PathBuf;

use cuweld_elf::Target;
use cuweld_ir::Arena;
use cuweld_ir::LinkOptions;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::SymbolRef;
use cuweld_ir::elf;
use cuweld_ir::ids::*;
use cuweld_ir::table::EntityId;
use cuweld_ir::table::IdRange;
use cuweld_ir::text;
use cuweld_ir::text::outline;
use cuweld_ir::text::outline::Outline;
use cuweld_ir::verify;
use cuweld_ir::verify::Rule;
use proptest::prelude::*;

const LINKED: &str = include_str!("fixtures/linked.lir");

fn parse<'data>(text: &str, arena: &'data Arena) -> Result<Module<'data>, text::ParseError> {
    text::parse(text, arena, &|_| None)
}

fn broken_rules(module: &Module<'_>) -> BTreeSet<Rule> {
    verify(module).iter().map(|error| error.rule).collect()
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verify");
    let mut found: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    found.sort();
    found
}

#[test]
fn each_case_breaks_the_rule_of_its_name_and_no_other() {
    for path in cases() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        let arena = Arena::new();
        let module = parse(&text, &arena).unwrap_or_else(|error| panic!("{name}: {error}"));
        let errors = verify(&module);
        let rule = Rule::ALL.iter().find(|rule| rule.name() == name);
        let rule = *rule.unwrap_or_else(|| panic!("there is no rule {name}"));
        assert!(!errors.is_empty(), "{name} is not found broken");
        for error in &errors {
            assert_eq!(error.rule, rule, "{name}: {error}");
            assert!(!error.place.is_empty(), "{name}: {error}");
        }
        assert!(module.phase >= rule.from_phase(), "{name}");
    }
}

/// The finding of each rule is shown at its row, or at the module's where there is none.
#[test]
fn each_finding_is_about_a_row_of_its_rule() {
    for path in cases() {
        let text = fs::read_to_string(&path).unwrap();
        let arena = Arena::new();
        let outline = Outline::new(&text);
        for error in verify(&parse(&text, &arena).unwrap()) {
            let line = outline.line_of_place(&error.place);
            let line = line.or_else(|| outline.line_of_word("module", 0)).unwrap();
            let found = text.lines().nth(line).unwrap();
            let row = outline::row_of_line(found, line, 0).unwrap();
            assert!(error.rule.rows().contains(&row.word()), "{error}: {found}");
            for row in error.rule.rows() {
                assert!(text::vocabulary::row(row).is_some(), "{row}");
            }
        }
    }
}

#[test]
fn each_rule_has_a_case() {
    let named: BTreeSet<String> = cases()
        .iter()
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    for rule in Rule::ALL {
        // No text form names a row that does not exist: `ids_that_name_nothing` breaks this one.
        if *rule != Rule::IdsInRange {
            assert!(named.contains(rule.name()), "{rule} has no case");
        }
        assert!(rule.doc().ends_with('.'), "{rule} has no sentence");
    }
    let names: BTreeSet<_> = Rule::ALL.iter().map(|rule| rule.name()).collect();
    assert_eq!(names.len(), Rule::ALL.len());
}

type Damage = fn(&mut Module<'_>);

/// Every id and range of every row, each set to what names nothing.
const DAMAGES: [(&str, Damage); 32] = [
    ("@0", |m| m.objects[ObjectId::new(0)].sections = none()),
    ("@0", |m| m.objects[ObjectId::new(0)].symbols = none()),
    ("@0", |m| m.objects[ObjectId::new(0)].functions = none()),
    ("@0", |m| m.objects[ObjectId::new(0)].relocs = none()),
    ("@0", |m| m.objects[ObjectId::new(0)].attributes = none()),
    ("@0", |m| m.objects[ObjectId::new(0)].calls = none()),
    ("@0", |m| m.objects[ObjectId::new(0)].prototypes = none()),
    ("@0", |m| m.objects[ObjectId::new(0)].notes = none()),
    ("#1", |m| m.sections[SectionId::new(1)].object = at(99)),
    ("#1", |m| m.sections[SectionId::new(1)].link = Some(at(99))),
    ("#1", |m| m.sections[SectionId::new(1)].owner = Some(at(99))),
    ("#1", |m| m.sections[SectionId::new(1)].relocs = none()),
    ("#1", |m| m.sections[SectionId::new(1)].attributes = none()),
    ("#1", |m| {
        m.sections[SectionId::new(1)].info = cuweld_ir::SectionInfo::Section(at(99));
    }),
    ("%1", |m| m.symbols[SymbolId::new(1)].object = at(99)),
    ("%1", |m| {
        m.symbols[SymbolId::new(1)].function = Some(at(99))
    }),
    ("%1", |m| m.symbols[SymbolId::new(1)].link = Some(at(99))),
    ("%1", |m| {
        m.symbols[SymbolId::new(1)].place = cuweld_ir::SymbolPlace::Section(at(99));
    }),
    ("fn1", |m| m.functions[FunctionId::new(1)].symbol = at(99)),
    ("fn1", |m| {
        m.functions[FunctionId::new(1)].views.sass.text = at(99)
    }),
    ("fn1", |m| {
        m.functions[FunctionId::new(1)].views.sass.info = Some(at(99))
    }),
    ("r1", |m| m.relocs[RelocId::new(1)].section = at(99)),
    ("r1", |m| {
        m.relocs[RelocId::new(1)].target = SymbolRef::Symbol(at(99))
    }),
    ("a1", |m| m.attributes[AttributeId::new(1)].refs = 1..99),
    ("reference 0", |m| {
        m.attribute_refs[0] = SymbolRef::Section(at(99));
    }),
    ("c1", |m| {
        m.calls[CallId::new(1)].from = SymbolRef::Symbol(at(99))
    }),
    ("n1", |m| m.notes[NoteId::new(1)].section = Some(at(99))),
    ("$1", |m| {
        m.link_symbols[LinkSymbolId::new(1)].definition = Some(at(99))
    }),
    ("bank piece 0", |m| m.bank_pieces[0].kernel = at(99)),
    ("merged list 1", |m| m.merged_info[1].records[0] = at(99)),
    ("fixup 0", |m| m.fixups[0].cause = Some(at(99))),
    ("output piece 2", |m| {
        m.plan.as_mut().unwrap().pieces[2].section = at(99);
    }),
];

fn at<K: EntityId>(index: usize) -> K {
    K::new(index)
}

fn none<K: EntityId>() -> IdRange<K> {
    IdRange::new(0, 99)
}

#[test]
fn ids_that_name_nothing() {
    let arena = Arena::new();
    let module = parse(LINKED, &arena).unwrap();
    for (place, damage) in DAMAGES {
        let mut damaged = module.clone();
        damage(&mut damaged);
        let errors = verify(&damaged);
        let [error] = errors.as_slice() else {
            panic!("{place}: {errors:?}");
        };
        assert_eq!(
            (error.rule, error.place.as_str()),
            (Rule::IdsInRange, place)
        );
    }
}

#[test]
fn errors_name_rule_and_row() {
    let arena = Arena::new();
    let text = LINKED.replace("kind=text owner=fn1:helper", "kind=text");
    let errors = verify(&parse(&text, &arena).unwrap());
    assert_eq!(
        errors.first().map(ToString::to_string).as_deref(),
        Some("text-owner: #6:.text.helper: no function owns it as its code")
    );
}

#[test]
fn what_is_right_passes() {
    let arena = Arena::new();
    let before_plan = Phase::ALL
        .into_iter()
        .filter(|phase| *phase < Phase::LaidOut);
    for name in before_plan.map(Phase::name) {
        let text =
            format!("lir 1\nmodule phase={name} toolkit=13.0.88 target=sm_90 bytes=full\nend\n");
        assert_eq!(verify(&parse(&text, &arena).unwrap()), [], "{name}");
    }
    assert_eq!(verify(&parse(LINKED, &arena).unwrap()), []);
}

#[test]
fn objects_as_read_pass() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut read = 0;
    let mut module = Module::new(Target::parse("sm_90").unwrap(), LinkOptions::default());
    let images: Vec<Vec<u8>> = fs::read_dir(root)
        .unwrap()
        .map(|entry| fs::read(entry.unwrap().path()).unwrap())
        .collect();
    for image in &images {
        let Ok(part) = elf::read_object(image, b"name", b"") else {
            continue;
        };
        module.append(part).unwrap();
        assert_eq!(verify(&module), []);
        read += 1;
    }
    assert!(read >= 4);
}

/// Verifies many rows that overlap in every way that a text can express, which would take minutes
/// if any rule were quadratic.
#[test]
fn time_is_linear_for_rows_that_overlap() {
    const ROWS: usize = 60_000;
    let mut text =
        String::from("lir 1\nmodule phase=placed toolkit=13.0.88 target=sm_90 bytes=full\n");
    text.push_str("object @0 a.cubin type=REL state=included\n");
    text.push_str(&format!("  owns #0..{ROWS} r0..{ROWS} a0..{ROWS}\n"));
    for index in 0..ROWS {
        text.push_str(&format!(
            "#{index} .x REL info=#0 decoded relocs=r0..{ROWS} attributes=a0..{ROWS} kind=debug\n"
        ));
    }
    text.push_str("relocs #0\n");
    for index in 0..ROWS {
        text.push_str(&format!("r{index} 0x0 R_CUDA_32 none\n"));
    }
    text.push_str("attributes #0\n");
    for index in 0..ROWS {
        text.push_str(&format!("a{index} SVAL EXTERNS refs=0..{ROWS}\n"));
    }
    text.push_str("attribute-refs");
    text.push_str(&" none".repeat(ROWS));
    text.push_str("\nmerged-info none");
    for index in 0..ROWS {
        text.push_str(&format!(" a{index}"));
    }
    text.push_str("\nend\n");
    let arena = Arena::new();
    let module = parse(&text, &arena).unwrap();
    assert!(broken_rules(&module).contains(&Rule::AttributeRefs));
}

/// Returns the text without the names of the entities to which references refer; with them most
/// changes would be refused.
fn without_annotations(text: &str) -> String {
    let word = |word: &str| match word.split_once(':') {
        Some((reference, _)) if !word.ends_with(':') && !word.contains('"') => reference.to_owned(),
        _ => word.to_owned(),
    };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn annotations_only_help_the_eye() {
    let arena = Arena::new();
    let module = parse(&without_annotations(LINKED), &arena);
    assert_eq!(module, parse(LINKED, &arena));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..Default::default() })]

    /// Changes digits of a whole module: a text that still parses must neither make the verifier
    /// panic nor, with its plan, the writer.
    #[test]
    fn no_module_makes_it_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), 0u8..10), 1..4), phase in 0usize..Phase::ALL.len()) {
        let mut bytes = without_annotations(LINKED).into_bytes();
        let digits: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at].is_ascii_digit()).collect();
        for (place, digit) in changes {
            bytes[digits[place.index(digits.len())]] = b'0' + digit;
        }
        let phase = format!("phase={}", Phase::ALL[phase].name());
        let text = String::from_utf8(bytes).unwrap().replace("phase=laid-out", &phase);
        let arena = Arena::new();
        if let Ok(module) = parse(&text, &arena) {
            verify(&module);
            if let Some(plan) = module.plan.as_ref().filter(|plan| plan.file_size < 1 << 20) {
                let _ = elf::write(&module, plan);
            }
        }
    }
}
