//! Which relocations stay, which are filled in, and which go.

super::behaviours! {
    "Relocations": "Which relocations stay, which are filled in, and which go.";

    /// What a relocation refers to decides: against functions and global memory it is kept for the
    /// driver; against all else it is applied, but for types that only the driver can apply.
    KEPT_BY_TARGET = "kept-by-target", shown by [
        "global-variables",
        "plan-relocations-targets",
        "plan-relocations-executable",
    ];
    /// Data loses the addresses of functions that are left out, and has 0 for them. Only rows of
    /// the call graph that the object of the prevailing definition has say that an address is
    /// taken: the function may be one that a kernel calls by a table.
    DEAD_FUNCTIONS_IN_DATA = "dead-functions-in-data", shown by [
        "table-of-discarded-copy",
        "table-of-discarded-copy-variables-used",
    ];
    /// Within a section relocations are applied in reverse, so that of two on one site the first
    /// wins.
    FIRST_ROW_WINS = "first-row-wins", shown by ["relocate-fields"];
    /// A relocation without addend whose target's section has moved becomes one with an addend, and
    /// loses what its field holds.
    MOVED_REL_LOSES_ADDEND = "moved-rel-loses-addend", shown by [
        "preserve-relocs",
        "preserve-relocs-relocatable",
        "plan-relocations-runs-in-place",
    ];
    /// With `--force-rela` a relocation without addend gets what its field holds, as a number of
    /// the field's width, and the number of the constant bank on top.
    FIELD_AS_ADDEND = "field-as-addend", shown by [
        "force-rela",
        "force-rela-descriptors",
        "preserve-relocs-force-rela",
    ];
    /// Line tables and frames, known by their names, lose rows against copies that never were part of the
    /// link; other debug sections keep theirs. Rows against a copy that was replaced go too, but
    /// only those with addends, or all where the first of the link for such a section has one, and
    /// only if its code, or that of another replaced copy, had relocations.
    LINES_OF_DISCARDED_COPIES = "lines-of-discarded-copies" since (12, 8), shown by [
        "toolkit-12-weak-registers",
        "debug-weak-copies",
        "line-table-of-copies-inlined",
        "line-table-of-copies-inlined-before",
        "line-table-of-copies-inlined-after",
        "line-table-of-copies-replaced-twice",
        "line-table-of-first-replaced-copy",
        "weak-kernel-dead-replaced",
        "debug-rows-of-dead-copies",
        "debug-rows-of-dropped-variables",
    ];
    /// Relocatable output keeps references to weak definitions of constants and shared memory, as a
    /// later link may replace them.
    WEAK_LEFT_OPEN = "weak-left-open", shown by ["relocatable-weak-shared"];
    /// Rows against `__UFT_OFFSET` always go in a link without a table of unified functions,
    /// whatever their type.
    UNIFIED_OFFSET_GOES = "unified-offset-goes", shown by [
        "relocatable-unified-indirect-call",
        "relocatable-unified-variable-indirect-call",
        "virtual-functions",
    ];
    /// An executable with unified functions or variables needs an index file. Without one the link
    /// ends after what is said of symbols and stacks, before what does not fit or is undefined.
    UNIFIED_NEEDS_INDEX = "unified-needs-index", shown by ["unified-tables"];
    /// The rows of tables of unified addresses have 32 bytes, get the symbols of the output with
    /// the values that they had when the row's object was merged, and the flags 7; objects of ptxas
    /// have 1.
    UNIFIED_ROWS = "unified-rows", shown by [
        "relocatable-unified",
        "relocatable-unified-again",
        "relocatable-unified-weak-variables",
    ];
    /// `-preserve-relocs` records rows that are applied, found by the name of their section. Not
    /// recorded are references to the size of constants, to textures, samplers and surfaces unless
    /// `-r`, to dynamic shared memory unless `-g` or `-r` gives it symbols, to shared variables that
    /// no code refers to unless `-r`, and to constants whose section became part of banks.
    PRESERVED_ROWS = "preserved-rows", shown by [
        "preserve-relocs-debug-unreferenced",
        "preserve-relocs",
        "preserve-relocs-debug",
        "preserve-relocs-relocatable",
        "preserve-relocs-constants-size",
        "preserve-relocs-relocatable-constants-size",
        "relocatable-textures-preserve-relocs",
    ];
    /// Beside Mercury, `-preserve-relocs` records, in both views, only rows of code that refer to
    /// shared memory. Constants of a function that have rows leave the name of a section, also
    /// where they are part of the banks of kernels.
    PRESERVED_MERCURY_ROWS = "preserved-mercury-rows", shown by [
        "preserve-relocs-mercury",
        "preserve-relocs-mercury-relocatable",
        "preserve-relocs-mercury-debug",
        "preserve-relocs-mercury-local-names",
    ];
    /// `-preserve-relocs` gives symbols to shared variables as `-g` does, and shows `_param` and
    /// compiler constants, with 1 in `st_other` where `-g` is not given. The name that `-r` gave to
    /// the dynamic shared memory of kernels is one where a variable lies in a slot, with `-g` or a
    /// reserved block. With both it is one without such a variable, too, and rows that refer to it
    /// are not recorded.
    PRESERVED_SYMBOLS = "preserved-symbols", shown by [
        "preserve-relocs",
        "preserve-relocs-debug",
        "preserve-relocs-dynamic-instance",
        "preserve-relocs-dynamic-instance-alone",
        "preserve-relocs-dynamic-instance-reserve",
        "preserve-relocs-undefined-shared",
    ];
    /// References to dynamic shared memory that no kernel reaches name a symbol with
    /// `-preserve-relocs`, which is not there without a reserved block, as in the Mercury view: an
    /// internal error.
    PRESERVED_WITHOUT_RESERVE = "preserved-without-reserve", shown by [
        "preserve-relocs-dynamic-shared-without-reserve",
        "preserve-relocs-debug-dynamic",
        "preserve-relocs-mercury-dynamic-unreached",
    ];
    /// With `-preserve-relocs` debug information that names a shared variable to which no code of an
    /// executable refers ends the link in an internal error where other variables belong to no
    /// kernel alone.
    PRESERVED_UNREFERENCED_SHARED = "preserved-unreferenced-shared", shown by [
        "preserve-relocs-debug-unreferenced-slots",
    ];
    /// What `-r -preserve-relocs` recorded is nothing in a later link.
    PRESERVED_ROWS_IGNORED = "preserved-rows-ignored", shown by [
        "preserve-relocs-again",
        "preserve-relocs-mercury-again",
    ];
    /// The bank number of a reference to dynamic shared memory is that of a section of its own with
    /// `-g` and with `-r`.
    DYNAMIC_SHARED_BANK = "dynamic-shared-bank", shown by [
        "debug-shared-dynamic",
        "relocatable-dynamic-shared-bank",
    ];
}
