//! What the words of the text form mean, for editors: rows, fields, and values that are words.
//!
//! A test holds the tables against the declarations of the rows and against the words of the parser.

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
    let groups = FIELDS.iter().filter(of_row);
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
    match (row, key) {
        (_, "phase") => PHASES,
        (_, "state") => STATES,
        (_, "origin") => ORIGINS,
        (_, "kind") => KINDS,
        (_, "fate") => FATES,
        (_, "live") => LIVENESS,
        ("merge", "") => OUTCOMES,
        ("call", "") => CALLS,
        ("symbol", "") => SYMBOLS,
        ("symbol" | "output-symbol", "other") => OTHERS,
        ("attribute", "") => FORMATS,
        ("module", "bytes") => BYTES,
        _ => &[],
    }
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
    ("end", "The end of the file, so that a cut file is noticed."),
];

/// Fields of rows.
const FIELDS: &[(&[&str], &[Meaning])] = &[
    (
        &["module"],
        &[
            (
                "phase",
                "How far the link has come; each phase has invariants.",
            ),
            (
                "toolkit",
                "The version of the CUDA toolkit whose linker is stood in for.",
            ),
            ("target", "The GPU to link for."),
            ("bytes", "How contents are written."),
        ],
    ),
    (
        &["object"],
        &[
            (
                "member",
                "The member of the archive or fatbin that holds the object.",
            ),
            ("type", "`e_type`: REL, EXEC, or EWP."),
            ("flags", "`e_flags`, with the SM number."),
            (
                "legacy",
                "`e_version` of the header of toolkits up to 12.9: the toolkit that made the object.",
            ),
            (
                "abi",
                "OSABI and ABI version, if they are not the usual ones.",
            ),
            (
                "state",
                "Whether and why the object takes part in the link.",
            ),
            (
                "system-library",
                "The object is of NVIDIA's device runtime library.",
            ),
            (
                "silent",
                "Nothing says which of its kernels host code refers to.",
            ),
            ("origin", "In what the object stood, or what made it."),
            ("image", "The file of the object, by SHA-256 and size."),
        ],
    ),
    (
        &["section"],
        &[
            ("flags", "`sh_flags`."),
            ("align", "`sh_addralign` in bytes."),
            ("entsize", "`sh_entsize` in bytes."),
            ("link", "`sh_link`, a section of the same object."),
            (
                "info",
                "`sh_info`: a section, a function with bits 31:24, or a number.",
            ),
            ("bytes", "Its contents."),
            ("nobits", "Its size in bytes; it has none in the file."),
            ("decoded", "Its contents are rows of other tables."),
            ("relocs", "The relocations that it holds."),
            ("attributes", "The records that it holds."),
            ("kind", "What it is to the linker; set by `classify`."),
            (
                "owner",
                "The function whose code, attributes, constants or shared variables it holds; set by `classify`.",
            ),
            (
                "place",
                "Offset in bytes of this contribution in the output section; set by `place-memory`.",
            ),
            ("object", "The object that owns the row."),
        ],
    ),
    (
        &["symbol"],
        &[
            (
                "other",
                "`st_other`: kernels have ENTRY, variables their memory.",
            ),
            ("undefined", "It is defined elsewhere."),
            ("in", "The section in which it is defined."),
            ("common", "A tentative definition (SHN_COMMON)."),
            ("absolute", "An absolute value (SHN_ABS)."),
            ("reserved", "Another reserved section index."),
            (
                "value",
                "`st_value`: the offset in the section; the alignment of shared and common variables.",
            ),
            ("size", "Size in bytes."),
            ("function", "The function that it defines."),
            (
                "link",
                "The resolved symbol that it stands for; set by `symbol-resolve`.",
            ),
            ("object", "The object that owns the row."),
        ],
    ),
    (
        &["function"],
        &[
            ("sass", "The section of its code as SASS."),
            (
                "sass-info",
                "The section of its attributes; set by `classify`.",
            ),
            ("merc", "The section of its code as Mercury."),
            (
                "merc-info",
                "The section of the attributes of its Mercury view.",
            ),
            ("fate", "What the link made of this copy."),
            (
                "registers",
                "Registers that its object says it needs (REGCOUNT).",
            ),
            (
                "shared",
                "Layout of a kernel's shared memory; set by `place-memory`.",
            ),
            (
                "dynamic-shared",
                "Address of dynamic shared memory as its code sees it; set by `place-memory`.",
            ),
            (
                "unnamed-shared",
                "Where shared memory of a kernel lies that no symbol names, in bytes.",
            ),
            (
                "headers",
                "Which headers the driver fills at the end of the kernel's constant bank 0.",
            ),
            (
                "stack-limit",
                "The most bytes of stack that it may use (MAX_STACK_SIZE).",
            ),
            (
                "flag-barriers",
                "The barrier count in the section flags of its code.",
            ),
            ("merc-size", "Size in bytes of its code as Mercury."),
            ("object", "The object that owns the row."),
            ("size", "In `shared`: size in bytes."),
            ("align", "In `shared`: alignment in bytes."),
            (
                "slots-align",
                "In `shared`: alignment in bytes of the slots that several kernels share.",
            ),
            ("present", "In `shared`: the output has the section."),
        ],
    ),
    (
        &["reloc"],
        &[
            (
                "addend",
                "The explicit addend, or what stands in place of one.",
            ),
            ("keep", "It stays in the output, with this type and addend."),
            (
                "apply",
                "The linker writes this value into the field of this type.",
            ),
            ("clear", "The linker clears the field."),
            ("drop", "It is left out: nothing has to be done."),
            ("gone", "Its section is not linked."),
            (
                "rela",
                "In `keep`: the output's row has an explicit addend.",
            ),
            ("value", "In `apply`: the value."),
            ("in-place", "In `apply`: it is added to what stands there."),
        ],
    ),
    (
        &["attribute"],
        &[
            ("value", "The value of a record that is no SVAL."),
            (
                "refs",
                "References that the record shares with another one.",
            ),
            ("bytes", "A payload that is not whole words."),
        ],
    ),
    (
        &["call", "prototype"],
        &[("prototype", "The prototype, such as `#ii`.")],
    ),
    (
        &["note"],
        &[
            ("type", "The type of the note."),
            ("desc", "Its descriptor."),
            (
                "cuinfo",
                "The descriptor of `.note.nv.cuinfo`: version, virtual SM and toolkit.",
            ),
            (
                "tkinfo",
                "The descriptor of `.note.nv.tkinfo`: object, tool, version, branch and options.",
            ),
            ("version", "In `cuinfo`: the version of the descriptor."),
            (
                "sm",
                "In `cuinfo`: the virtual architecture that the code was compiled for.",
            ),
            ("toolkit", "In `cuinfo`: major * 10 + minor."),
        ],
    ),
    (
        &["link-symbol"],
        &[
            ("definition", "The prevailing definition."),
            (
                "live",
                "Whether the output keeps it; set by `callgraph-dce`.",
            ),
            (
                "size",
                "Size in bytes: of the definition, or the largest of the tentative ones.",
            ),
            (
                "common-align",
                "Alignment in bytes of a tentative definition that prevails.",
            ),
            (
                "value",
                "Offset in its output section, or address in shared memory; set by `place-memory`.",
            ),
            (
                "kernel",
                "The kernel that has a shared variable for itself.",
            ),
            (
                "internal",
                "The output shows it as a local symbol; set by `internalize`.",
            ),
            (
                "order",
                "Place of its code among the functions of the output; set by `order-functions`.",
            ),
        ],
    ),
    (
        &["bank-piece"],
        &[
            ("bank", "The number of the constant bank."),
            ("section", "The input section that holds the constants."),
            ("offset", "Offset in bytes in the kernel's bank."),
            ("size", "Size in bytes; 0 if only the place is left."),
            (
                "align",
                "Alignment in bytes of the bank once this piece is in it.",
            ),
        ],
    ),
    (
        &["pool-part"],
        &[
            ("bank", "The number of the constant bank."),
            ("start", "Offset in bytes in the section."),
            ("size", "Size in bytes."),
            ("offset", "Offset in bytes in the pool."),
        ],
    ),
    (
        &["header-slot"],
        &[(
            "offset",
            "Offset in bytes in the bank, the same for all kernels.",
        )],
    ),
    (
        &["fixup"],
        &[
            ("offset", "Offset in bytes of a 64-bit word in the section."),
            ("bit", "The first bit of the field."),
            ("width", "The number of bits."),
            ("value", "What is written into the field."),
            ("add", "It is added to what stands there."),
            ("cause", "The relocation that it comes of."),
        ],
    ),
    (
        &["plan"],
        &[
            ("type", "`e_type`."),
            ("flags", "`e_flags`."),
            (
                "legacy",
                "`e_version` of a file with the header of toolkits up to 12.9.",
            ),
            ("shoff", "File offset in bytes of the section headers."),
            ("phoff", "File offset in bytes of the program headers."),
            ("shstrndx", "Index of the section name table."),
            ("file-size", "Size of the file in bytes."),
        ],
    ),
    (
        &["output-section"],
        &[
            ("name", "`sh_name`: an offset into the section names."),
            ("type", "`sh_type`."),
            ("flags", "`sh_flags`."),
            ("offset", "File offset in bytes."),
            ("size", "Size in bytes."),
            ("link", "`sh_link`."),
            ("info", "`sh_info`."),
            ("align", "`sh_addralign` in bytes."),
            ("entsize", "`sh_entsize` in bytes."),
            ("no-bytes", "It has no bytes in the file."),
            ("bytes", "Its bytes."),
            (
                "pieces",
                "The copies of input sections that it consists of.",
            ),
            ("relocs", "Its relocation rows."),
            ("alias", "The earlier output section whose bytes it has."),
            ("section-names", "It holds the section names."),
            ("symbol-names", "It holds the symbol names."),
            ("symbols", "It holds the symbols."),
        ],
    ),
    (
        &["piece"],
        &[
            ("offset", "Offset in bytes in the output section."),
            ("section", "The input section."),
            (
                "size",
                "The bytes that it copies, from the beginning; all if there is no number.",
            ),
        ],
    ),
    (
        &["output-symbol"],
        &[
            (
                "name",
                "`st_name`: an offset into the symbol names, with the name.",
            ),
            ("bind", "Its binding."),
            ("type", "Its type."),
            ("other", "`st_other`."),
            ("section", "`st_shndx`."),
            ("value", "`st_value`."),
            ("size", "`st_size`."),
        ],
    ),
    (
        &["output-reloc"],
        &[
            ("offset", "Offset in bytes in the output section."),
            ("type", "Its type."),
            ("symbol", "The output symbol, with its name."),
            ("addend", "The explicit addend."),
        ],
    ),
    (
        &["segment"],
        &[
            ("type", "`p_type`."),
            ("flags", "`p_flags`."),
            ("offset", "File offset in bytes."),
            ("file-size", "Size in bytes in the file."),
            ("mem-size", "Size in bytes in memory."),
        ],
    ),
];

const PHASES: &[Meaning] = &[
    ("lowered", "Objects are read."),
    ("classified", "Sections and symbols have kinds."),
    ("selected", "It is known which objects take part."),
    (
        "resolved",
        "Every symbol of an included object stands for a resolved symbol.",
    ),
    ("live", "It is known what is kept."),
    (
        "merged",
        "Attribute lists, compatibility records and notes are merged.",
    ),
    (
        "propagated",
        "Kernels of an executable have what all that they reach needs.",
    ),
    ("placed", "Every value that a relocation can need is final."),
    ("planned", "It is known what becomes of each relocation."),
    ("laid-out", "The layout of the output is final."),
    ("relocated", "Applied relocations are fixups."),
    ("emitted", "The image is written."),
    ("checked", "The image was read again and agrees."),
];

const STATES: &[Meaning] = &[
    ("candidate", "`select-objects` has not run."),
    ("included", "Linked."),
    (
        "skipped-unneeded",
        "A member of a system library at whose turn nothing was undefined.",
    ),
    (
        "skipped-executable",
        "Already an executable: ignored without a message.",
    ),
    ("linker", "Made by the linker itself: owns what it creates."),
];

const ORIGINS: &[Meaning] = &[
    ("cubin", "A file, or a member of an archive, of its own."),
    ("fatbin", "A member of a fatbin."),
    ("compiled", "PTX or LTO-IR that was compiled for the link."),
];

const KINDS: &[Meaning] = &[
    ("unclassified", "`classify` has not run."),
    ("null", "The null section at index 0."),
    ("section-names", "`.shstrtab`."),
    ("symbol-names", "`.strtab`."),
    ("symbols", "`.symtab`."),
    ("symbol-section-indices", "`.symtab_shndx`."),
    ("relocs", "A relocation section, REL or RELA."),
    ("tool-info", "`.note.nv.tkinfo`."),
    ("cuda-info", "`.note.nv.cuinfo`."),
    ("info", "`.nv.info`: attributes that name their function."),
    ("function-info", "`.nv.info.F`: attributes of one function."),
    ("compat", "`.nv.compat`."),
    ("call-graph", "`.nv.callgraph`."),
    ("prototypes", "`.nv.prototype`."),
    ("rel-action", "`.nv.rel.action`."),
    (
        "reserved-shared",
        "`.nv.shared.reserved.N`: names the reserved block, and is not linked.",
    ),
    ("text", "`.text.F`: the code of a function."),
    ("global-init", "`.nv.global.init`: initialised variables."),
    ("global", "`.nv.global`: other variables in global memory."),
    (
        "kernel-shared",
        "`.nv.shared.K`: shared variables of a kernel.",
    ),
    (
        "module-shared",
        "Shared variables of device functions and of the module.",
    ),
    ("local", "`.nv.local.F`: local memory of a function."),
    ("unified", "Tables of unified functions and data."),
    ("debug", "Debug information: concatenated."),
    (
        "other",
        "Anything else that is not in memory: concatenated.",
    ),
    (
        "mercury-text",
        "`.nv.capmerc.text.F`: the code of the Mercury view.",
    ),
    ("mercury-symbols", "`.nv.merc.symtab`."),
    (
        "mercury-twin",
        "A section of the Mercury view with the contents of its plain twin.",
    ),
    ("mercury-debug", "Debug information of the Mercury view."),
    (
        "sass-info",
        "`.nv.info` where the link merges that of the Mercury view.",
    ),
    (
        "sass-function-info",
        "`.nv.info.F` where the link merges that of the Mercury view.",
    ),
    (
        "sass-relocs",
        "Relocations where the link merges those of the Mercury view.",
    ),
    (
        "sass-parameters",
        "`.nv.constant0.K`, which the Mercury view does not have.",
    ),
    ("stripped", "Left out of the link."),
    (
        "constant-bank",
        "`.nv.constantN`: a constant bank of the module.",
    ),
    (
        "function-constants",
        "`.nv.constantN.F`: a constant bank of one function.",
    ),
];

const FATES: &[Meaning] = &[
    (
        "candidate",
        "`symbol-resolve` has not run, or its object takes no part.",
    ),
    ("prevailing", "It is linked if its name is live."),
    (
        "replaced",
        "It prevailed until a copy of a later object took its place; its calls stay in the call graph.",
    ),
    (
        "discarded",
        "It never prevailed: the copy before it stayed.",
    ),
    (
        "folded",
        "A function of another name with the same code is linked in its place.",
    ),
];

const LIVENESS: &[Meaning] = &[
    ("unknown", "`callgraph-dce` has not run."),
    ("live", "Kept."),
    (
        "by-address",
        "Kept because code that can run may call it by an address in data.",
    ),
    ("unreachable", "No kernel that is kept reaches it."),
    ("unreferenced", "A kernel that no host code references."),
];

const OUTCOMES: &[Meaning] = &[
    ("replaces-weak", "The newcomer replaces a weak definition."),
    (
        "replaces-more-registers",
        "The newcomer replaces a weak copy that needs more registers.",
    ),
    (
        "replaces-older",
        "The newcomer replaces a weak copy that was compiled for a lower virtual architecture.",
    ),
    (
        "replaces-tentative",
        "The newcomer is initialised and replaces a tentative definition.",
    ),
    (
        "yields-to-strong",
        "The newcomer is weak and the definition before it is not.",
    ),
    (
        "yields-to-fewer-registers",
        "The newcomer needs more registers than the weak copy before it.",
    ),
    (
        "yields-to-first",
        "Both are weak and alike: the first stays.",
    ),
    (
        "yields-to-initialised",
        "The newcomer is tentative and the definition before it is initialised.",
    ),
    (
        "yields-to-tentative",
        "The newcomer's memory becomes that of a tentative definition.",
    ),
    (
        "grows",
        "Both are tentative: the memory grows to the newcomer's size.",
    ),
    (
        "joins",
        "Both are tentative, and the memory is large enough.",
    ),
];

const CALLS: &[Meaning] = &[
    ("direct", "A caller and what it calls."),
    (
        "address-taken",
        "A function whose address is taken, with its prototype.",
    ),
    (
        "indirect",
        "A function that calls by address, with the prototype that it calls.",
    ),
    (
        "takes-address",
        "A function that takes an address, and the function whose address it is.",
    ),
];

const SYMBOLS: &[Meaning] = &[
    ("LOCAL", "Visible to no other object."),
    (
        "GLOBAL",
        "Visible to other objects; one definition in the link.",
    ),
    (
        "WEAK",
        "Visible to other objects; one of several definitions prevails.",
    ),
    ("NOTYPE", "No part of any link."),
    ("OBJECT", "A variable."),
    ("FUNC", "A function."),
    ("SECTION", "A section; such symbols are no rows."),
    ("CUDA_TEXTURE", "A texture reference."),
    ("CUDA_SAMPLER", "A sampler reference."),
    ("CUDA_SURFACE", "A surface reference."),
    ("CUDA_OBJECT", "A variable in a memory of the GPU."),
];

const OTHERS: &[Meaning] = &[
    ("ENTRY", "A kernel."),
    ("GLOBAL", "A variable in global memory."),
    ("SHARED", "A variable in shared memory."),
    ("CONSTANT", "A variable in a constant bank."),
];

const FORMATS: &[Meaning] = &[
    ("NVAL", "A record without a value."),
    ("BVAL", "A record with a byte."),
    ("HVAL", "A record with a half word."),
    ("SVAL", "A record with a payload: references, then words."),
];

const BYTES: &[Meaning] = &[
    ("ref", "Slices of the inputs, which have to be at hand."),
    ("full", "The same, with each input in hex."),
    ("hash", "Hashes: for comparing only."),
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
