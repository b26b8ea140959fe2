//! The grammar of `docs/framework/lir.md`: rules and fields are those of the printer and the
//! parser, and every rule has an example that is taken and one that is not.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::*;

/// A rule; a piece of the sample's text, what takes its place and is parsed, what takes its place
/// and is refused, and why.
const EXAMPLES: &[(&str, &str, &str, &str, &str)] = &[
    (
        "file",
        "\nend\n",
        "\n\n; all\nend ; of it\n",
        "\n",
        "expected `end`",
    ),
    (
        "module",
        "module phase=lowered toolkit=13.0.88 target=sm_100f",
        "module target=sm_90a phase=lowered",
        "module phase=lowered toolkit=13.0.88 target=gpu_90",
        "expected",
    ),
    (
        "option",
        "option tool-name \"a tool\"",
        "option tool-name plain",
        "option tool",
        "expected",
    ),
    (
        "option",
        "option finalize trust",
        "option finalize certified",
        "option finalize some",
        "expected `certified`, `keep` or `trust`, found `some`",
    ),
    (
        "PHASE",
        "phase=lowered",
        "phase=laid-out",
        "phase=laid",
        "expected a phase",
    ),
    (
        "object",
        "type=0x4d flags=0x5a0504",
        "flags=1 type=REL",
        "type=0x4d flags",
        "expected",
    ),
    (
        "STATE",
        "state=skipped-executable",
        "state=included",
        "state=skipped",
        "expected",
    ),
    (
        "unowned",
        "unowned\n    #27",
        "unowned ; rows\n    #27",
        "unowned @1\n    #27",
        "expected",
    ),
    (
        "section",
        "#5 .text.f PROGBITS flags=0x20 align=5",
        "#5 .text.f 1 align=0x5 flags=WRITE|0x20",
        "#5 .text.f flags=0x20",
        "expected a section type",
    ),
    (
        "INFO",
        "info=%1:f/24",
        "info=7",
        "info=%1:f/256",
        "expected",
    ),
    (
        "KIND",
        "kind=constant-bank/3",
        "kind=constant-bank/4",
        "kind=constant-bank",
        "expected",
    ),
    (
        "symbol",
        "%0 _Z3foov LOCAL NOTYPE undefined value=0x0",
        "%0 _Z3foov LOCAL NOTYPE in=#1",
        "%0 _Z3foov LOCAL NOTYPE",
        "expected",
    ),
    (
        "function",
        "fn2 %1:f sass=#1:.text.f",
        "fn2 %1 sass=#1",
        "fn2 %1:f sass=%1",
        "expected",
    ),
    (
        "relocs",
        "relocs #0:.text.f",
        "relocs #0",
        "relocs %0",
        "expected",
    ),
    (
        "reloc",
        "r7 0x70 R_CUDA_FUNC_DESC32_20",
        "r7 112 9",
        "r7 R_CUDA_FUNC_DESC32_20",
        "expected",
    ),
    (
        "TARGET",
        "r6 0x60 R_CUDA_ABS32_LO_32 none",
        "r6 0x60 R_CUDA_ABS32_LO_32 #2",
        "r6 0x60 R_CUDA_ABS32_LO_32 fn1",
        "expected",
    ),
    (
        "PLAN",
        "addend=0x3 drop",
        "addend=0x3 keep=(9 addend=4)",
        "addend=0x3 keep",
        "expected",
    ),
    (
        "attributes",
        "attributes #9\n",
        "attributes none\n",
        "attributes\n",
        "expected",
    ),
    (
        "attribute",
        "HVAL MAXREG_COUNT value=0xff",
        "0x3 0x1b value=255",
        "HVAL MAXREGS value=0xff",
        "expected",
    ),
    (
        "call",
        "c3 takes-address %1:f -> #3:.text.f",
        "c3 direct none prototype=p",
        "c3 far %1:f",
        "expected",
    ),
    (
        "prototype",
        "p0 %0:_Z3foov prototype=\"#\"",
        "p0 none prototype=x",
        "p0 prototype=x",
        "expected",
    ),
    (
        "notes",
        "notes none\n    n1",
        "notes #8\n    n1",
        "notes all\n    n1",
        "expected",
    ),
    (
        "note",
        "type=8 desc=x\"\"",
        "type=8 desc=x\"00ff\"",
        "type=8 desc=x\"0\"",
        "expected",
    ),
    (
        "refs",
        "attribute-refs %0:_Z3foov",
        "attribute-refs none",
        "attribute-refs fn0",
        "expected",
    ),
    (
        "link-symbol",
        "$3 %3:\"a b\" live=unreachable size=0x8",
        "$3 %3 definition=%1",
        "$3 live=unreachable",
        "expected",
    ),
    (
        "bank-piece",
        "bank-piece fn1:f bank=3",
        "bank-piece fn1 bank=0x3",
        "bank-piece %1 bank=3",
        "expected",
    ),
    (
        "pool-part",
        "pool-part #10:.text.f bank=2",
        "pool-part #10 bank=17",
        "pool-part bank=2",
        "expected",
    ),
    (
        "merge",
        "merge %2 replaces-weak %1",
        "merge %2 replaces-weak %1",
        "merge %2 wins %1",
        "expected",
    ),
    (
        "header-slot",
        "header-slot $1 offset=0x210",
        "header-slot $1 offset=528",
        "header-slot %1 offset=0x210",
        "expected",
    ),
    (
        "merged",
        "merged-notes n1 n0",
        "merged-notes n0",
        "merged-notes a0",
        "expected",
    ),
    (
        "fixup",
        "value=0x5 add cause=r1",
        "value=0x5 cause=r2 add",
        "value=0x5 add cause=#2",
        "expected",
    ),
    (
        "plan",
        "plan type=EXEC flags=0x5a0504",
        "plan flags=1 type=REL",
        "plan type=EXEC flags",
        "expected",
    ),
    (
        "finding",
        "info link/undefined \"a\\nb\" order=3/4294967295",
        "info link/of-a-pass b",
        "info undefined \"a\"",
        "expected",
    ),
    (
        "SEVERITY",
        "  error-line ",
        "  remark ",
        "  errors ",
        "expected",
    ),
    (
        "stopped",
        "stopped \"check-limits\"",
        "stopped limits",
        "stopped",
        "expected",
    ),
    ("image", "size=14\n", "size=0xe\n", "size=15\n", "expected"),
    (
        "BYTES",
        "bytes=x\"3132333435\"",
        "bytes=@0[0x0..0x5]",
        "bytes=3132333435",
        "expected",
    ),
];

/// Returns the rules of the page by name.
fn rules() -> BTreeMap<String, String> {
    let page = include_str!("../../../../docs/framework/lir.md");
    let section = page.split_once("## Grammar").unwrap().1;
    let block = section.split("```").nth(1).unwrap();
    let mut rules: BTreeMap<String, String> = BTreeMap::new();
    let mut open = String::new();
    for line in block.lines() {
        let defines = line.split_once(" = ").filter(|_| !line.starts_with(' '));
        if let Some((name, text)) = defines {
            open = name.trim().to_owned();
            assert!(
                rules.insert(open.clone(), text.to_owned()).is_none(),
                "{open}"
            );
        } else if !line.trim().is_empty() {
            let rule = rules.get_mut(&open).unwrap();
            rule.push_str(&format!("\n{line}"));
        }
    }
    rules
}

/// Returns the sample, with everything that a module can hold.
fn printed() -> String {
    let arena = Arena::new();
    let mut module = sample(&arena);
    module.plan = Some(sample_plan(&arena));
    // One that the plan does not give, so that it stands in the text.
    module.image = Some(b"something else".to_vec());
    print(&module, DumpBytes::Full)
}

#[test]
fn every_rule_has_an_example_and_a_refusal() {
    let named: BTreeSet<String> = rules().into_keys().collect();
    let shown: BTreeSet<String> = EXAMPLES.iter().map(|row| row.0.to_owned()).collect();
    assert_eq!(named, shown);
    let text = printed();
    for (rule, piece, taken, refused, why) in EXAMPLES {
        assert!(text.contains(piece), "{rule}: {piece}");
        let arena = Arena::new();
        let changed = text.replacen(piece, taken, 1);
        if let Err(error) = parse(&changed, &arena, &no_input) {
            panic!("{rule}: {error}");
        }
        let arena = Arena::new();
        let changed = text.replacen(piece, refused, 1);
        match parse(&changed, &arena, &no_input) {
            Ok(_) => panic!("{rule}: `{refused}` is taken"),
            Err(error) => assert!(error.to_string().contains(why), "{rule}: {error}"),
        }
    }
}

/// Returns the words before `=` in a text, outside of quotes.
fn keys(text: &str) -> BTreeSet<String> {
    let bare: String = text.split('"').step_by(2).collect();
    let words =
        bare.split_inclusive(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-'));
    let keys = words.filter_map(|word| word.strip_suffix('='));
    keys.filter(|key| key.starts_with(|letter: char| letter.is_ascii_lowercase()))
        .map(str::to_owned)
        .collect()
}

/// Returns the rule of a row, by its first word; headings that only help the eye have none.
fn rule_of(line: &str) -> Option<&str> {
    let first = line.split(' ').next()?;
    let by_id = [
        ("fn", "function"),
        ("#", "section"),
        ("%", "symbol"),
        ("$", "link-symbol"),
        ("r", "reloc"),
        ("a", "attribute"),
        ("c", "call"),
        ("p", "prototype"),
        ("n", "note"),
    ];
    let is_id = |prefix: &str| {
        first
            .strip_prefix(prefix)
            .is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()))
    };
    if let Some((_, rule)) = by_id.into_iter().find(|(prefix, _)| is_id(prefix)) {
        return Some(rule);
    }
    match first {
        "owns" => Some("object"),
        "report" | "remark" | "info" | "warning" | "error-line" | "error" | "fatal" => {
            Some("finding")
        }
        "attribute-refs" => Some("refs"),
        "merged-info" | "merged-compat" | "merged-notes" => Some("merged"),
        "output-section" | "piece" | "output-symbol" | "output-reloc" | "segment" => Some("plan"),
        _ => Some(first).filter(|first| EXAMPLES.iter().any(|row| row.0 == *first)),
    }
}

#[test]
fn the_fields_of_rows_are_those_of_the_rules() {
    let rules = rules();
    let mut printed_keys: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let text = printed();
    for line in text.lines() {
        if let Some(rule) = rule_of(line.trim()) {
            printed_keys.entry(rule).or_default().extend(keys(line));
        }
    }
    for (rule, found) in printed_keys {
        // With those of the rules that it names.
        let text = &rules[rule];
        let words = text.split(|letter: char| !letter.is_ascii_uppercase());
        let mut said = keys(text);
        said.extend(
            words
                .filter_map(|word| rules.get(word))
                .flat_map(|text| keys(text)),
        );
        assert_eq!(found, said, "{rule}");
    }
    // Flags of the link.
    let flags = |text: &str| -> BTreeSet<String> {
        let words = text.split([',', '\n']).map(str::trim);
        words
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let rule = rules["option"].split("\n            |").next().unwrap();
    let said = flags(rule.strip_prefix("\"option\" FLAG").unwrap());
    let lines = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("option "));
    let found: Vec<&str> = lines.filter(|option| !option.contains(' ')).collect();
    let lists = ["variables-used", "host-variables-internal"];
    let found: BTreeSet<String> = found
        .into_iter()
        .filter(|name| !lists.contains(name))
        .map(str::to_owned)
        .collect();
    assert_eq!(found, said);
}
