//! What the words of the text form mean, for editors: rows, fields, and values that are words.
//!
//! A test holds the tables against the declarations of the rows and against the words of the parser.

mod fields;
mod values;

use super::words;
use crate::module::Phase;

/// A word and what it means.
pub type Meaning = (&'static str, &'static str);

/// Returns what a row is that the grammar calls by this name.
pub fn row(name: &str) -> Option<&'static str> {
    meaning(ROWS, name)
}

/// Returns the fields of a row, in the order in which they are printed.
pub fn fields(row: &str) -> Vec<Meaning> {
    let of_row = |(rows, _): &&(&[&str], &[Meaning])| rows.contains(&row);
    let groups = fields::FIELDS.iter().filter(of_row);
    groups
        .flat_map(|(_, fields)| fields.iter().copied())
        .collect()
}

/// Returns what a field of a row means.
pub fn field(row: &str, key: &str) -> Option<&'static str> {
    meaning(&fields(row), key)
}

/// Returns the words that a field can have for its value. Rows whose words stand without a key have
/// them by the name of the row.
pub fn values(row: &str, key: &str) -> &'static [Meaning] {
    values::of(row, key)
}

/// Returns what a word means that is the value of a field of a row.
pub fn value(row: &str, key: &str, word: &str) -> Option<&'static str> {
    meaning(values(row, key), word)
}

fn meaning(table: &[Meaning], word: &str) -> Option<&'static str> {
    let found = table.iter().find(|(known, _)| *known == word);
    found.map(|(_, meaning)| *meaning)
}

/// Rows, by what the grammar calls them, and headings.
const ROWS: &[Meaning] = &[
    ("lir", "The version of the grammar."),
    (
        "module",
        "The link: how far it has come, for which toolkit and target, and how contents are written.",
    ),
    ("option", "An option of the link that changes the output."),
    (
        "object",
        "An input object of the link, with the rows of each table that it owns; or what the linker creates.",
    ),
    ("owns", "The rows of each table that the object owns."),
    ("unowned", "The rows below belong to no object's ranges."),
    ("section", "A section of an input object."),
    (
        "symbol",
        "A symbol of an input object. Null and SECTION symbols are no rows.",
    ),
    (
        "function",
        "A function that an object defines: its code in one or two views, and what the link made of this copy.",
    ),
    (
        "relocs",
        "The REL or RELA section that the relocations below were read from.",
    ),
    (
        "reloc",
        "A relocation: where, of which type, against what, and, once it is planned, what becomes of it.",
    ),
    (
        "attributes",
        "The section that the records below were read from.",
    ),
    ("attribute", "A record of `.nv.info*` or `.nv.compat`."),
    (
        "attribute-refs",
        "References of attribute records that no record above has.",
    ),
    ("call", "A row of `.nv.callgraph`."),
    (
        "prototype",
        "A row of `.nv.prototype`: the prototype of a function that is called by address.",
    ),
    ("notes", "The section that the notes below were read from."),
    ("note", "A note: its owner, type and descriptor."),
    (
        "link-symbol",
        "A resolved symbol: what a name, or a local symbol, refers to in the whole link.",
    ),
    (
        "merge",
        "A definition met the one of its name that prevailed until then.",
    ),
    (
        "bank-piece",
        "A function's constants as part of a kernel's constant bank.",
    ),
    (
        "pool-part",
        "A compiler constant in a pool that takes the place of the bank's pieces.",
    ),
    (
        "header-slot",
        "The place of a texture, sampler or surface header in constant bank 0.",
    ),
    (
        "merged-info",
        "The records of an output attribute section: of the module (`none`), or of one function.",
    ),
    ("merged-compat", "The records of the output's `.nv.compat`."),
    ("merged-notes", "The notes of the output."),
    (
        "fixup",
        "Bytes of a section that the writer changes while it copies.",
    ),
    (
        "plan",
        "The header of the output file, once its layout is decided.",
    ),
    (
        "section-names",
        "The strings of the section name table, each at its offset.",
    ),
    (
        "symbol-names",
        "The strings of the symbol name table, each at its offset.",
    ),
    ("output-section", "A section of the output."),
    (
        "piece",
        "A copy of an input section within an output section.",
    ),
    ("output-symbol", "A symbol of the output."),
    ("output-reloc", "A relocation of the output."),
    ("segment", "A program header of the output."),
    (
        "image",
        "The output file, by its SHA-256: writing the plan gives it again.",
    ),
    ("image-bytes", "The bytes of the image above, in hex."),
    (
        "stopped",
        "The pass that ended the link because of what it found.",
    ),
    ("end", "The end of the file, so that a cut file is noticed."),
];

/// Returns what a relocation type does to which bits, or nothing if there is no type of this name.
pub fn reloc_type(name: &str) -> Option<String> {
    use cuweld_elf::target::relocs::RelocClass;
    let ty = words::reloc_value(name)?;
    let row = cuweld_elf::target::relocs::reloc_type(ty)?;
    let mut text = format!("Type {ty:#x}. ");
    text += match row.class {
        RelocClass::None => "Does nothing.",
        RelocClass::Applied => "The linker fills the field.",
        RelocClass::Driver => "Only the driver fills the field: always kept.",
        RelocClass::FunctionDescriptor => "A function descriptor: kept.",
        RelocClass::Clear => "Clears the field if its function is gone.",
        RelocClass::Yield | RelocClass::YieldPredicate => {
            "Turns an instruction that yields into one that does nothing."
        }
        RelocClass::Slot | RelocClass::PcRelative => "Of targets before sm_75 only.",
    };
    if let Some(field) = row.field {
        text += &format!(" Field: {} bits from bit {}", field.width, field.bit);
        if field.shift != 0 {
            text += &format!(", of the value without its lowest {}", field.shift);
        }
        text += ".";
    }
    Some(text)
}

/// Returns the code of an attribute, or nothing if there is none of this name.
pub fn attribute(name: &str) -> Option<String> {
    let code = words::attribute_code_value(name)?;
    let kind = if name.starts_with("COMPAT_") {
        "`.nv.compat`"
    } else {
        "`.nv.info`"
    };
    Some(format!("Code {code:#04x} of {kind}."))
}

/// Returns the words that a module's phase can have.
pub fn phases() -> impl Iterator<Item = &'static str> {
    Phase::ALL.into_iter().map(Phase::name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::fields::Keys;
    use crate::text::fields::Row;

    fn keys<'data, R: Row<'data>>() -> Vec<&'static str> {
        let mut keys = Keys::default();
        R::default().fields(&mut keys);
        keys.0
    }

    #[test]
    fn fields_are_those_of_the_rows() {
        let rows = [
            ("object", keys::<crate::Object<'_>>()),
            ("section", keys::<crate::Section<'_>>()),
            ("symbol", keys::<crate::Symbol<'_>>()),
            (
                "function",
                [keys::<crate::Function>(), keys::<crate::SharedFrame>()].concat(),
            ),
            ("reloc", keys::<crate::Reloc>()),
            ("call", keys::<crate::CallRecord<'_>>()),
            ("prototype", keys::<crate::PrototypeRecord<'_>>()),
            ("note", keys::<crate::Note<'_>>()),
            ("link-symbol", keys::<crate::LinkSymbol>()),
            ("merge", keys::<crate::MergeEvent>()),
            ("bank-piece", keys::<crate::BankPiece>()),
            ("pool-part", keys::<crate::PoolPart>()),
            ("header-slot", keys::<crate::placement::HeaderSlot>()),
            ("merged-info", keys::<crate::MergedInfo>()),
            ("fixup", keys::<crate::Fixup>()),
            ("plan", keys::<crate::OutputLayout<'_>>()),
            ("output-section", keys::<crate::plan::PlanSection<'_>>()),
            ("piece", keys::<crate::plan::PlanPiece>()),
            ("output-symbol", keys::<crate::plan::PlanSymbol>()),
            ("output-reloc", keys::<crate::plan::PlanReloc>()),
            ("segment", keys::<crate::plan::PlanSegment>()),
        ];
        for (name, keys) in rows {
            assert!(row(name).is_some(), "{name}");
            let known: Vec<&str> = fields(name).iter().map(|(key, _)| *key).collect();
            for key in &keys {
                assert!(known.contains(key), "{name} lacks {key}");
            }
            // Those of groups follow, and say so.
            for (key, meaning) in fields(name) {
                assert!(
                    keys.contains(&key) || meaning.starts_with("In `"),
                    "{name}: {key}"
                );
            }
        }
    }

    #[test]
    fn values_are_the_words_of_the_parser() {
        let words = |row, key| {
            values(row, key)
                .iter()
                .map(|(word, _)| *word)
                .collect::<Vec<_>>()
        };
        let list = |list: String| list.split(", ").map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words("module", "phase"), phases().collect::<Vec<_>>());
        assert_eq!(words("object", "state"), list(words::OBJECT_STATES.list()));
        assert_eq!(
            words("object", "origin"),
            list(words::OBJECT_ORIGINS.list())
        );
        assert_eq!(words("function", "fate"), list(words::FATES.list()));
        assert_eq!(words("function", "remade"), list(words::REMADE.list()));
        assert_eq!(words("link-symbol", "live"), list(words::LIVENESS.list()));
        assert_eq!(words("merge", ""), list(words::MERGE_OUTCOMES.list()));
        assert_eq!(words("call", ""), list(words::CALL_KINDS.list()));
        assert_eq!(words("attribute", ""), list(words::FORMATS.list()));
        let kinds = [
            list(words::SECTION_KINDS.list()),
            words::BANK_KINDS.map(|it| it.0.to_owned()).to_vec(),
        ];
        assert_eq!(words("section", "kind"), kinds.concat());
        let symbols = [words::BINDINGS.list(), words::SYMBOL_TYPES.list()].map(list);
        assert_eq!(words("symbol", ""), symbols.concat());
        assert_eq!(words("symbol", "other"), list(words::SYMBOL_OTHERS.list()));
        for form in crate::text::DumpBytes::ALL {
            assert!(value("module", "bytes", form.name()).is_some());
        }
    }

    #[test]
    fn types_and_codes_have_texts() {
        let text = reloc_type("R_CUDA_ABS32_LO_32").unwrap();
        assert_eq!(
            text,
            "Type 0x38. The linker fills the field. Field: 32 bits from bit 32."
        );
        assert_eq!(
            attribute("REGCOUNT").as_deref(),
            Some("Code 0x2f of `.nv.info`.")
        );
        assert_eq!(reloc_type("R_CUDA_X"), None);
    }
}
