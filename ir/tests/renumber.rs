//! Renumbering of edited texts: the files of `renumber/` before and after, and texts of modules that
//! are taken apart.

mod link_cases;

use std::fmt::Write as _;
use std::path::Path;

use cuweld_elf::Target;
use cuweld_ir::edit::Edits;
use cuweld_ir::text;
use cuweld_ir::text::DumpBytes;
use cuweld_ir::text::renumber;
use cuweld_ir::*;
use proptest::prelude::*;

/// What stands between a text and what it becomes.
const BECOMES: &str = "\n; ---- becomes\n";

/// Each file has an edited text and, after a line, the right one or the error. `BLESS=1` writes what
/// stands after the line anew: no other tool has this form, so read the difference.
#[test]
fn edited_texts_become_right_ones() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/renumber");
    let files = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 8, "{}", files.len());
    for file in files {
        let both = std::fs::read_to_string(&file).unwrap();
        let (edited, expected) = both.split_once(BECOMES).unwrap_or((&both, ""));
        let edited = format!("{}\n", edited.trim_end());
        let found = match renumber(&edited) {
            Ok(text) => {
                let arena = Arena::new();
                let module = text::parse(&text, &arena, &|_| None);
                let module = module.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
                assert_eq!(verify(&module), [], "{}", file.display());
                // Nothing is left to do.
                assert_eq!(renumber(&text).as_ref(), Ok(&text));
                text
            }
            Err(error) => format!("error: {error}\n"),
        };
        if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
            std::fs::write(&file, format!("{edited}{}{found}", &BECOMES[1..])).unwrap();
        } else {
            assert_eq!(found, expected, "{}", file.display());
        }
    }
}

/// Returns the module of an object of the link cases; of others that can be read, too.
fn modules<'data>(
    images: &'data [(std::path::PathBuf, Vec<u8>)],
) -> impl Iterator<Item = Module<'data>> {
    images.iter().filter_map(|(_, image)| {
        let mut module = Module::new(Target::parse("sm_90").unwrap(), LinkOptions::default());
        for name in ["a.cubin", "b.cubin"] {
            let part = elf::read_object(image, name.as_bytes(), b"").ok()?;
            module.append(part).unwrap();
        }
        Some(module)
    })
}

#[test]
fn texts_that_are_right_stay_as_they_are() {
    let images: Vec<_> = link_cases::cubins().collect();
    let mut same = 0;
    for module in modules(&images) {
        let text = text::print(&module, DumpBytes::Ref);
        assert!(renumber(&text).as_ref() == Ok(&text), "the text changed");
        same += 1;
    }
    assert!(same > 300, "{same}");
    let linked = include_str!("fixtures/classified.lir");
    assert_eq!(renumber(linked).as_deref(), Ok(linked));
}

#[test]
fn a_row_deleted_by_hand_is_a_row_erased() {
    let images: Vec<_> = link_cases::cubins().collect();
    let mut erased = 0;
    for (place, mut module) in modules(&images).enumerate() {
        if module.relocs.is_empty() || module.objects.values().any(Object::is_capmerc) {
            continue;
        }
        // As sections and symbols stay, what is said of the file does.
        let reloc = RelocId::new(place * 7 % module.relocs.len());
        let text = text::print(&module, DumpBytes::Full);
        let row = format!("\n    {reloc} ");
        let (before, after) = text.split_once(&row).unwrap();
        let (_, after) = after.split_once('\n').unwrap();
        let deleted = format!("{before}\n{after}");
        let arena = Arena::new();
        let deleted = renumber(&deleted).unwrap();
        let deleted = text::parse(&deleted, &arena, &|_| None).unwrap();
        let mut edits = Edits::new(&module).unwrap();
        edits.erase_reloc(reloc);
        edits.apply(&mut module).unwrap();
        assert!(
            deleted == module,
            "{}",
            text::print(&deleted, DumpBytes::Full)
        );
        erased += 1;
    }
    assert!(erased > 100, "{erased}");
}

use cuweld_ir::table::EntityId;

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..Default::default() })]

    /// Ids of any numbers and names come back as they were.
    #[test]
    fn ids_may_be_any(seed in any::<u32>()) {
        let text = include_str!("fixtures/classified.lir");
        let mut scattered = String::new();
        for line in text.lines() {
            if line.trim_start().starts_with("owns") {
                continue;
            }
            for word in line.split_inclusive(|part: char| part.is_whitespace() || "=:/".contains(part)) {
                let id = word.trim_end_matches(|part: char| part.is_whitespace() || "=:/".contains(part));
                let prefix = ["fn", "r", "a", "c", "n", "%", "#", "@"].into_iter().find(|prefix| {
                    let rest = id.strip_prefix(prefix).unwrap_or("");
                    !rest.is_empty() && rest.bytes().all(|digit| digit.is_ascii_digit())
                });
                match prefix {
                    Some(prefix) => {
                        let number: u32 = id[prefix.len()..].parse().unwrap();
                        let new = number.wrapping_mul(0x9e37_79b1) ^ seed;
                        let dot = if new.is_multiple_of(3) { ".x" } else { "" };
                        write!(scattered, "{prefix}{dot}{new}{}", &word[id.len()..]).unwrap();
                    }
                    None => scattered.push_str(word),
                }
            }
            scattered.push('\n');
        }
        let counted = renumber(&scattered);
        prop_assert_eq!(counted.as_deref(), Ok(text));
    }

    #[test]
    fn no_text_makes_it_panic(cut in 0usize..4000, with in "[%#$@rnap0-9.:\" ;=\n]{0,12}") {
        let text = include_str!("fixtures/classified.lir");
        let cut = cut.min(text.len());
        let damaged = format!("{}{with}{}", &text[..cut], &text[(cut + with.len() / 2).min(text.len())..]);
        let _ = renumber(&damaged);
    }
}
