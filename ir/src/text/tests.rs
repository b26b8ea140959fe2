//! A hand-built module with every variant of every enumeration, and texts that are no module.

mod findings;
mod grammar;
mod sample;

use self::sample::sample;
use self::sample::sample_plan;
use super::*;
use crate::arena::Arena;
use crate::attribute::Attribute;
use crate::attribute::MergedInfo;
use crate::attribute::format;
use crate::callgraph_record::*;
use crate::elf;
use crate::function::*;
use crate::ids::*;
use crate::link_symbol::*;
use crate::merge_log::*;
use crate::module::*;
use crate::note::Note;
use crate::object::*;
use crate::placement::*;
use crate::plan::*;
use crate::reloc::*;
use crate::section::*;
use crate::symbol::*;
use crate::table::EntityId;
use crate::table::IdRange;
use cuweld_elf::note_records::cuda_info;
use cuweld_elf::note_records::tool_info;
use cuweld_elf::symbol::*;
use cuweld_elf::target::Target;
use cuweld_elf::target::section_types::sht;

const IMAGE: [u8; 100] = {
    let mut image = [0; 100];
    let mut index = 0;
    while index < 100 {
        image[index] = (index * 7) as u8;
        index += 1;
    }
    image
};
static INPUT: [u8; 100] = IMAGE;

fn input<'d>(key: &ImageKey<'_>) -> Option<&'d [u8]> {
    (key.name == b"dir/a.cubin" && key.member == b"x y.o" && key.size == 100).then_some(&INPUT[..])
}

/// Returns the text of a module with every kind of row.
pub(super) fn printed_sample(arena: &Arena) -> String {
    let mut module = sample(arena);
    module.plan = Some(sample_plan(arena));
    print(&module, DumpBytes::Full)
}

fn no_input<'d>(_: &ImageKey<'_>) -> Option<&'d [u8]> {
    None
}

/// Prints in both forms that parse back and compares.
fn check(module: &Module<'_>) {
    for form in [DumpBytes::Ref, DumpBytes::Full] {
        let text = print(module, form);
        let arena = Arena::new();
        let resolve = if form == DumpBytes::Ref {
            input
        } else {
            no_input
        };
        let parsed = parse(&text, &arena, &resolve).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(&parsed, module, "{text}");
        assert_eq!(print(&parsed, form), text);
    }
}

#[test]
fn an_empty_module_is_four_words() {
    check(&Module::default());
    let text = print(&Module::default(), DumpBytes::Ref);
    assert_eq!(
        text,
        "lir 1\nmodule phase=lowered toolkit=13.0.88 target=sm_0 bytes=ref\nend\n"
    );
}

#[test]
fn every_variant_comes_back_at_every_phase() {
    let arena = Arena::new();
    let mut module = sample(&arena);
    for phase in Phase::ALL {
        module.phase = phase;
        check(&module);
    }
    module.plan = Some(sample_plan(&arena));
    check(&module);
    module.image = Some(elf::write(&module, module.plan.as_ref().unwrap()).unwrap());
    check(&module);
    // An image that the plan does not give stands in the text.
    assert!(
        !print(&module, DumpBytes::Ref)
            .rsplit_once("\nimage sha256:")
            .unwrap()
            .1
            .contains("image-bytes")
    );
    module.image = Some(b"something else".to_vec());
    check(&module);
    module.plan = None;
    check(&module);
}

#[test]
fn rows_read_as_a_linker_engineer_expects() {
    let arena = Arena::new();
    let mut module = sample(&arena);
    module.plan = Some(sample_plan(&arena));
    let text = print(&module, DumpBytes::Ref);
    for line in [
        "module phase=lowered toolkit=13.0.88 target=sm_100f bytes=ref",
        "#0 .text.f PROGBITS flags=WRITE bytes=@0[0x40..0x50] owner=fn0:f place=0x0",
        "#2 .text.f PROGBITS flags=EXECINSTR align=2 info=%1:f/24 bytes=@0[0x40..0x50] kind=section-names place=0x2",
        "%1 f GLOBAL FUNC other=ENTRY in=#2:.text.f value=0x1 size=0xffffffffffffffff function=fn0",
        "r1 0x10 R_CUDA_CONST_FIELD21_26 %0:_Z3foov addend=-0x2 keep=(R_CUDA_64 addend=-0x8000000000000000 rela)"
            .replace("CONST_FIELD21_26", "FUNC_DESC32_20")
            .as_str(),
        "a0 SVAL REGCOUNT %1:f 24 0x10000",
        "a1 HVAL MAXREG_COUNT value=0xff",
        "a2 BVAL COMPAT_ISA_CLASS value=0x1",
        "c1 address-taken %1:f prototype=\"#ii\"",
        "n0 \"NVIDIA Corp\\x00\" type=1000 cuinfo=(version=2 sm=100 toolkit=130)",
        "n1 \"NVIDIA Corp\\x00\" type=2000 tkinfo=(\"\" \"ptxas\" \"v\" \"b\" \"-O3 \")",
        "$1 %3:\"a b\" definition=%1:f live=live size=0x8 common-align=4 value=0x0 kernel=fn1:f internal order=3",
        "fixup #3:.text.f offset=0x4 bit=3 width=8 value=0x5 add cause=r1",
        "output-reloc 0 offset=0x0 type=R_CUDA_ABS32_LO_32 symbol=1:f addend=-0x1",
    ] {
        assert!(text.lines().any(|found| found.trim() == line), "{line}\n{text}");
    }
}

fn error(text: &str) -> ParseError {
    let arena = Arena::new();
    parse(text, &arena, &input).expect_err(text)
}

#[test]
fn errors_say_where_and_what() {
    let head = "lir 1\nmodule phase=lowered toolkit=13.0.88 target=sm_90 bytes=ref\n";
    let object = "object @0 a type=REL flags=0 state=candidate\n";
    for (body, expected) in [
        (
            "",
            "line 3, column 1: expected `end`, found the end of the text",
        ),
        (
            "wrong\nend\n",
            "line 3, column 1: expected a row, found `wrong`",
        ),
        (
            "end\nmore\n",
            "line 4, column 1: expected nothing after `end`, found `more`",
        ),
        (
            "%0 a GLOBAL FUNC common\nend\n",
            "line 3, column 1: expected the field `object`, as no object owns the row",
        ),
        (
            "object @1 a\nend\n",
            "line 3, column 8: expected row `@0`, found `@1`",
        ),
    ] {
        assert_eq!(error(&format!("{head}{body}")).to_string(), expected);
    }
    for (body, expected) in [
        (
            "%0 a GLOBAL FUNC in=#3:x",
            "line 4, column 21: `#3` is not defined: the table has 0 rows",
        ),
        (
            "%0 a GLOBAL FUNC common\nlink-symbols\n$0 %0:b",
            "line 6, column 4: `%0` is named `a`, not `b`",
        ),
        (
            "%0 a GLOBAL FUNCTION common",
            "line 4, column 13: expected a symbol type or a number, found `FUNCTION`",
        ),
        (
            "%0 a GLOBAL 256 common",
            "line 4, column 13: expected a number of at most 8 bits, found 0x100",
        ),
        (
            "#0 a PROGBITS size=4",
            "line 4, column 15: expected one of the fields flags, align, entsize, link, info, \
             bytes, nobits, decoded, relocs, attributes, kind, owner, place, object, found `size`",
        ),
        (
            "#0 a PROGBITS bytes=@0[0x0..0x1]",
            "line 4, column 21: 0x0..0x1 is no range of the image, which has 0x0 bytes",
        ),
        (
            "#0 a PROGBITS decoded relocs=r0..1",
            "line 4, column 30: the range ends at `r1`, the table has 0 rows",
        ),
        (
            "r0 0x0 R_CUDA_32 none",
            "line 4, column 1: expected a heading `relocs #…` above the first row",
        ),
        (
            "#0 a PROGBITS bytes=hash:0011223344556677+8",
            "line 4, column 21: a hash stands for bytes that are not in the text",
        ),
    ] {
        assert_eq!(
            error(&format!("{head}{object}{body}\nend\n")).to_string(),
            expected
        );
    }
    assert_eq!(
        error("lir 2\n").to_string(),
        "line 1, column 5: expected version 1, found 2"
    );
}

#[test]
fn inputs_are_asked_for_and_compared() {
    let arena = Arena::new();
    let module = sample(&arena);
    let text = print(&module, DumpBytes::Ref);
    let missing = parse(&text, &arena, &no_input).unwrap_err();
    assert!(
        missing
            .message
            .contains("dir/a.cubin:x y.o` is not at hand"),
        "{missing}"
    );
    let other = |_: &ImageKey<'_>| Some(&[0u8; 100][..]);
    let changed = parse(&text, &arena, &other).unwrap_err();
    assert!(changed.message.contains("SHA-256"), "{changed}");
    let short = |_: &ImageKey<'_>| Some(&INPUT[..99]);
    let changed = parse(&text, &arena, &short).unwrap_err();
    assert!(
        changed.message.contains("expected an image of 100 bytes"),
        "{changed}"
    );
}

#[test]
fn hashes_do_not_parse_back() {
    let arena = Arena::new();
    let text = print(&sample(&arena), DumpBytes::Hash);
    assert!(text.contains("bytes=hash:"), "{text}");
    assert!(!text.contains("@0[") && !text.contains("image-bytes"));
    assert!(error(&text).message.contains("--dump-bytes=ref"));
}

#[test]
fn a_filter_shows_what_it_names() {
    let arena = Arena::new();
    let mut module = sample(&arena);
    module.plan = Some(sample_plan(&arena));
    let filter = |name: &str| {
        print_filtered(
            &module,
            &Filter {
                names: vec![name.to_owned()],
            },
        )
    };
    let text = filter("foo");
    assert!(text.contains("\n    %0 _Z3foov "), "{text}");
    assert!(!text.contains("\n    %1 f "), "{text}");
    // References to it stay, with the ids of the whole dump.
    assert!(text.contains("\n    r1 "), "{text}");
    assert!(text.contains("\n    p0 %0:_Z3foov"), "{text}");
    // Whole lines of the whole dump.
    let whole = print(&module, DumpBytes::Hash);
    let lines: Vec<&str> = whole.lines().collect();
    assert!(
        text.lines().skip(2).all(|line| lines.contains(&line)),
        "{text}"
    );
    let nothing = filter("no such name");
    assert!(!nothing.contains("object"), "{nothing}");
}

#[test]
fn no_prefix_of_a_text_is_a_module() {
    let arena = Arena::new();
    let mut module = sample(&arena);
    module.plan = Some(sample_plan(&arena));
    module.image = Some(elf::write(&module, module.plan.as_ref().unwrap()).unwrap());
    let text = print(&module, DumpBytes::Full);
    let whole = text.trim_end().len();
    for end in 0..whole {
        let arena = Arena::new();
        assert!(parse(&text[..end], &arena, &input).is_err(), "{end}");
    }
    assert!(parse(&text[..whole], &arena, &input).is_ok());
}

#[test]
fn damaged_texts_are_refused_or_print_again() {
    let arena = Arena::new();
    let mut module = sample(&arena);
    module.plan = Some(sample_plan(&arena));
    module.image = Some(elf::write(&module, module.plan.as_ref().unwrap()).unwrap());
    let text = print(&module, DumpBytes::Ref);
    let mut state = 0x1234_5678_9abc_def0_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize
    };
    let (mut parsed_again, mut refused) = (0, 0);
    for _ in 0..4000 {
        let mut damaged = text.clone().into_bytes();
        for _ in 0..1 + next() % 3 {
            let at = next() % damaged.len();
            match next() % 4 {
                0 => damaged[at] = b' ' + (next() % 95) as u8,
                1 => drop(damaged.remove(at)),
                2 => damaged.insert(at, b"0123456789abcdef%#=\"\n;"[next() % 22]),
                _ => damaged[at] = damaged[next() % damaged.len()],
            }
        }
        let damaged = String::from_utf8(damaged).unwrap();
        let arena = Arena::new();
        match parse(&damaged, &arena, &input) {
            Err(_) => refused += 1,
            Ok(module) => {
                let text = print(&module, DumpBytes::Ref);
                let again = Arena::new();
                assert_eq!(parse(&text, &again, &input).as_ref(), Ok(&module), "{text}");
                parsed_again += 1;
            }
        }
    }
    assert!(
        parsed_again > 100 && refused > 100,
        "{parsed_again} {refused}"
    );
}

#[test]
fn a_hundred_thousand_rows_of_each_table_come_back() {
    let arena = Arena::new();
    let mut module = sample(&arena);
    let names: Vec<String> = (0..100_000).map(|i| format!("_Z{i}symbol")).collect();
    let (symbol, reloc) = (
        module.symbols[SymbolId::new(1)],
        module.relocs[RelocId::new(1)],
    );
    let attribute = module.attributes[AttributeId::new(0)].clone();
    for name in &names {
        let name = name.as_bytes();
        let id = module.symbols.push(Symbol { name, ..symbol });
        let target = SymbolRef::Symbol(id);
        module.relocs.push(Reloc { target, ..reloc });
        let start = module.attribute_refs.len() as u32;
        module.attribute_refs.push(target);
        module.attributes.push(Attribute {
            refs: start..start + 1,
            ..attribute.clone()
        });
    }
    check(&module);
}
