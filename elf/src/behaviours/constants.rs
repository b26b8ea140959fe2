//! Constant banks of kernels, constants of copies that are discarded, and the null symbol.

super::behaviours! {
    "Constants": "Constant banks of kernels, constants of copies that are discarded, and the null symbol.";

    /// The constants of device functions become part of the bank of each kernel that reaches them,
    /// after its own: last section of the last object first. A function's constants have one
    /// offset, the largest that any kernel needs.
    CONSTANTS_JOIN_BANKS = "constants-join-banks", shown by [
        "switch-tables",
        "place-memory-constants",
    ];
    /// All banks that a function's constants go into take the largest alignment that one of them or
    /// the constants have, and their sizes are multiples of it. What is after a kernel's own
    /// constants is not padded. A section keeps the alignment of a discarded copy that joined it
    /// when a later copy replaces what was there.
    BANKS_SHARE_ALIGNMENT = "banks-share-alignment", shown by [
        "weak-constants-alignment",
        "joined-constants-alignment",
        "joined-constants-alignment-relocatable",
        "call-graph-sm80",
    ];
    /// The constants of discarded weak copies lie after those of the copy that prevails, dead
    /// weight, identical ones too. If that one has none they stay in a section of their own. A copy
    /// that replaces another drops what was there before.
    DISCARDED_CONSTANTS_STAY = "discarded-constants-stay", shown by [
        "weak-constants-removed",
        "weak-kernels-constants",
        "weak-kernel-losing-constants",
    ];
    /// The first copy that has constants makes the section that is found by the function's name. If it
    /// is discarded, copies that are taken after it have another section, which none of them empties:
    /// the constants of one that is replaced stay, and those of a second one end the link, unless they
    /// are equal. The first section is emptied by each copy that is taken, and gets those of the copies
    /// that are discarded, and in executables what the functions that a kernel calls need: code then
    /// reads both sections as one bank.
    DISCARDED_CONSTANTS_MADE_SECTION = "discarded-constants-made-section", shown by [
        "discarded-constants-section",
        "discarded-constants-section-stays",
        "discarded-constants-section-relocatable",
        "place-memory-second-constants",
    ];
    /// A bank of parameters of two weak kernels is one, but that of a strong kernel is kept apart
    /// from those of the weak copies that it met.
    PARAMETERS_OF_STRONG_KERNEL = "parameters-of-strong-kernel", shown by [
        "weak-and-strong-kernel",
        "weak-kernels",
    ];
    /// When a copy without constants replaces one that has some, a place of size 0 remains, up to
    /// which the banks of kernels are filled; it makes a bank that others fill, but none that stays
    /// empty.
    EMPTIED_PLACE_STAYS = "emptied-place-stays", shown by [
        "weak-replaced-constants",
        "weak-replaced-constants-none",
        "emptied-constants-order",
    ];
    /// The first copy of a kernel makes its bank, be it discarded or not. A bank that a replacement
    /// left empty is dropped, and so is what copies before the replacement put in.
    EMPTIED_BANK_DROPPED = "emptied-bank-dropped", shown by [
        "weak-kernel-emptied-constants",
        "weak-kernel-replaced-constants",
    ];
    /// Relocatable output keeps the symbols of a section of constants that a replacing copy without
    /// constants emptied, which ends the link with an internal error.
    DELETED_CONSTANTS_NAMED = "deleted-constants-named", shown by ["relocatable-constants-replaced"];
    /// Constants of a function are taken symbol by symbol. Bytes at the end of its section that no
    /// symbol covers are left out, such as constants of discarded copies from an earlier
    /// relocatable link; bytes in between are 0. A section that no symbol covers counts as one of a
    /// discarded copy. If a copy replaces its owner, its constants go, but the section stays: what
    /// later copies that are not taken bring joins it, and not the bank.
    UNNAMED_CONSTANTS_DROPPED = "unnamed-constants-dropped", shown by [
        "relocatable-constants-again",
        "relocatable-constants-again-executable",
        "left-over-constants-replaced",
        "left-over-constants-replaced-none",
        "left-over-constants-replaced-relocatable",
    ];
    /// In the Mercury view rows of bytes that are left out of a function's own bank stay, and end
    /// the link with an internal error unless the bank is large enough without these bytes. Rows
    /// of constants that move into the banks of kernels go, unless those of another copy of the
    /// function stand in their place.
    CONSTANTS_ROWS_IN_BANK = "constants-rows-in-bank", shown by [
        "mercury-rows-past-constants",
        "mercury-rows-past-constants-relocatable",
        "mercury-rows-past-constants-in-bank",
        "mercury-rows-past-constants-copy",
    ];
    /// A section of constants that no symbol made, such as one of a discarded copy, keeps the flags
    /// of its input.
    FLAGS_OF_FIRST_CONSTANTS = "flags-of-first-constants", shown by [
        "toolkit-12-0-constants-of-losing-copy-again",
        "toolkit-12-0-constants-of-losing-copy-again-relocatable",
        "toolkit-12-0-constants-of-losing-copy",
    ];
    /// Constant variables that are too large together are laid out again in executables, one by
    /// one, without those that are discarded and without bytes that have no name.
    VARIABLES_LAID_OUT_AGAIN = "variables-laid-out-again", shown by [
        "constants-laid-out-again",
        "constants-laid-out-again-bytes",
        "too-much-constant-data-by-variables",
    ];
    /// While every kernel's bank of compiler constants fits into 64 KiB nothing is merged. If one
    /// does not, all kernels that have such a bank get one pool of distinct values at the largest
    /// alignment of all; only a zero of at most 8 bytes is added each time.
    POOL_BEYOND_LIMIT = "pool-beyond-limit", shown by [
        "constant-bank-dedup-beyond-limit",
        "constant-bank-dedup-fits",
        "constant-bank-dedup-zero",
    ];
    /// A value is looked up only if there is a table for its size: 4 or 8 with that alignment, or
    /// 12, 16, 20, 24, 32, 48 or 64.
    VALUE_TABLES = "value-tables", shown by [
        "null-symbol-value",
        "constant-bank-dedup-other-size",
    ];
    /// While kernels are left out, whole input sections of `.nv.constant3` of some sizes are stored
    /// only once, but their variables and all code keep the addresses that they had before: what
    /// follows is read at wrong addresses (deviation D02), and a row that lies after the end of
    /// what is stored ends the link. Sections of other banks are not merged.
    EQUAL_CONSTANTS_MERGED = "equal-constants-merged" until (13, 5), shown by [
        "toolkit-13-equal-constants",
        "equal-constants",
        "equal-constants-rows",
        "equal-constants-preserved",
    ];
    /// While kernels are left out, the null symbol has the place of the last section of constants
    /// that was looked up, at offset 0 too, whatever else it would show.
    NULL_SYMBOL_OF_LOOKUP = "null-symbol-of-lookup" until (13, 5), shown by [
        "null-symbol-value",
        "null-symbol-kernels-used",
        "suppress-debug-info-kernels-used",
    ];
    /// The null symbol has the place of the constants of the discarded copy that are placed last
    /// after others, or in an emptied place, if a kernel reaches them. Constants that relocatable
    /// output kept of a discarded copy count as those of one.
    NULL_SYMBOL_OF_DISCARDED = "null-symbol-of-discarded", shown by [
        "weak-functions-null-symbol",
        "weak-kernels-constants",
        "weak-constants-alignment",
        "left-over-constants",
    ];
    /// The null symbol moves after the reserved block of shared memory once for each kernel of a
    /// whole program (`-ewp`), whose shared memory has no symbol.
    NULL_SYMBOL_OF_WHOLE_KERNELS = "null-symbol-of-whole-kernels", shown by ["ewp-shared"];
    /// `.nv.ptx.const0.size` of the device runtime is the size of the constant variables of this
    /// link, -1 without any (0 with `-allow-undefined-globals`); in relocatable output too, whatever
    /// a later link brings. It is one symbol in a link, although it is local.
    CONSTANTS_SIZE = "constants-size", shown by [
        "constants-size-of-two",
        "constants-size-undefined-globals",
        "relocatable-constants-size",
        "relocatable-no-constants-size",
    ];
    /// Relocations of what a weak variable holds go with it if it comes after another weak
    /// definition. After a strong one they stay, and so do those of a weak definition that a strong
    /// one replaces, and those of all variables with unified addresses.
    ROWS_OF_DISCARDED_VARIABLES = "rows-of-discarded-variables", shown by [
        "weak-variables-with-addresses",
        "relocatable-unified-weak-variables",
    ];
    /// Relocations of constant variables, and of the addresses that position-independent code loads,
    /// go if they refer to a weak definition of their object that was not taken at its turn, or,
    /// against a variable in global memory, that a later strong one replaces: the address is 0
    /// (deviation D14).
    ROWS_TO_DISCARDED_DEFINITIONS = "rows-to-discarded-definitions", shown by [
        "constant-table-losing-copy",
        "constant-table-relocatable",
        "constant-table-weak-variables",
        "position-independent",
        "position-independent-after-other",
    ];
}
