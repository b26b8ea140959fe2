//! What words mean that are values of fields.

use super::Meaning;

/// Returns the words that a field can have for its value.
pub(super) fn of(row: &str, key: &str) -> &'static [Meaning] {
    match (row, key) {
        (_, "phase") => PHASES,
        (_, "state") => STATES,
        (_, "origin") => ORIGINS,
        (_, "kind") => KINDS,
        (_, "fate") => FATES,
        (_, "remade") => REMADE,
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

const REMADE: &[Meaning] = &[
    ("no", "It is as it was compiled."),
    (
        "scheduled",
        "It has other scoreboards, and no work-arounds at memory barriers.",
    ),
    (
        "for-debugger",
        "Barriers of the debugger stand in front of its ends.",
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
