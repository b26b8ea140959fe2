//! Objects and files with Mercury: what of the two views is merged, derived and copied.

super::behaviours! {
    "Mercury": "Objects and files with Mercury: what of the two views is merged, derived and copied.";

    /// nvlink merges the Mercury view of the objects as it merges any objects, derives the SASS
    /// view from the result, and writes both: sections that differ stand a second time after all
    /// others.
    SASS_DERIVED_FROM_MERCURY = "sass-derived-from-mercury", shown by [
        "mercury-targets",
        "mercury-encode-kernel",
        "mercury-encode-call",
    ];
    /// One object of SASS alone makes the link one of SASS: the Mercury view of all other objects
    /// is left out, and of an object whose kind bits say SASS what only that view has.
    SASS_LINK = "sass-link", shown by [
        "sass-only",
        "sass-only-before-mercury",
        "sass-only-behind-mercury",
        "sass-only-with-view",
    ];
    /// Objects with Mercury before the first of SASS alone lose `.nv.reservedSmem.cap`, and their
    /// compiler constants keep the names of the Mercury view.
    MERCURY_BEFORE_SASS = "mercury-before-sass", shown by [
        "sass-only-behind-mercury",
        "sass-only-constants-relocatable",
    ];
    /// Where an object is of PTX before sm_70, an instruction that yields becomes one that does nothing
    /// if the output has a section of relocations for its code, be it an empty one.
    MERCURY_YIELDS_WITH_ROWS = "mercury-yields-with-rows", shown by [
        "yield-without-rows",
        "yield-without-rows-relocatable",
    ];
    /// Bit 1 of `e_flags` says that an object has Mercury; bit 0 beside it is of no effect.
    KIND_BITS = "kind-bits", shown by ["mercury-kind-bits"];
    /// The list of a function that names no version of Mercury, as compilers before 13.0 make them,
    /// gets a record of version 1.0 after all others.
    MERCURY_VERSION_ADDED = "mercury-version-added", shown by [
        "mercury-toolkit-12-9",
        "mercury-toolkit-12-9-relocatable",
    ];
    /// The finalizer refuses Mercury of a later major version than its own.
    MERCURY_VERSION = "mercury-version", shown by ["finalize-inputs-version"];
    /// In executables, kernels that call nothing are scheduled anew if a run of their code has
    /// certain memory barriers, or if their first load of R1 has a write barrier and no read
    /// barrier; links for the debugger compile all code for it, and others take its barriers out
    /// (deviation D12: we keep the code).
    SCHEDULED_ANEW = "scheduled-anew", shown by [
        "mercury-kept-schedule",
        "mercury-debugger-barriers-taken-out",
        "mercury-debug-kept-code",
        "mercury-encode-scheduled-anew",
    ];
    /// The finalizer allocates six scoreboards block by block, in reverse postorder of a search whose
    /// sets of blocks have eight buckets, by the FNV-1a hash of a block's number: to an entry that
    /// the instruction waits for which another entry waits for, too, else the first that is free, the
    /// last one for loads that outlive their block, else the one that costs the fewest cycles. What is
    /// over by its count of cycles is waited for at the end of a block, uniform registers where
    /// threads meet again or end, and all that is pending where threads that have parted work
    /// together. Measured with CUDA 13.0 alone.
    SCOREBOARD_ALLOCATION = "scoreboard-allocation" since (13, 0), shown by [
        "mercury-scheduled",
        "mercury-scheduled-unrolled",
        "mercury-scheduled-atomics",
        "mercury-scheduled-branches",
        "mercury-scheduled-fences",
        "mercury-scheduled-operands",
        "mercury-scheduled-sides",
        "mercury-scheduled-late",
        "mercury-scheduled-carried",
        "mercury-first-load-alone",
    ];
    /// Code in a link for the debugger, with `-r` too, has `MEMBAR.SC.VC`, `ERRBAR` and `CGAERRBAR` in
    /// front of each `EXIT`, with its guard: one Mercury instruction that is four in SASS. What leads
    /// to the end leads to them. They take six cycles, after which more of what the block set is over,
    /// so that an `EXIT` that not all threads take waits for it, but for what only the others set.
    /// An object that asks for error barriers at ends does the same to all code. Kernels that call
    /// nothing, in executables that are not linked with `-g`, have no `MEMBAR.SC.VC` there, unless
    /// they write to surfaces. Measured with CUDA 13.0 alone.
    DEBUGGER_ENDS = "debugger-ends" since (13, 0), shown by [
        "mercury-debugger-ends",
        "mercury-debugger-ends-relocatable",
        "mercury-debugger-ends-lines",
        "mercury-debugger-ends-unoptimised",
        "mercury-debugger-ends-opposite",
        "mercury-debugger-ends-release",
        "mercury-debugger-ends-surface",
        "mercury-debugger-code-alone",
        "mercury-error-barriers",
        "mercury-error-barriers-relocatable",
        "mercury-suppress-debug-info-ends",
        "mercury-mbarrier-places-debugger",
    ];
    /// Memory barriers of kernels that call nothing, in executables, lose the loads from shared
    /// memory in front of them that ptxas writes for code that may be linked with other code, and
    /// `MEMBAR.ALL.CTA` in front of one of the GPU or of the system. The loads stay in kernels that
    /// copy to shared memory while threads go on (`LDGSTS`), the barriers in kernels that use
    /// barriers in shared memory (`mbarrier`). Measured with CUDA 13.0 alone.
    FENCES_ALONE = "fences-alone" since (13, 0), shown by [
        "mercury-fences",
        "mercury-fences-lines",
        "mercury-fences-copies",
        "mercury-release-ends",
        "mercury-mbarrier-places",
    ];
    /// Code for sm_100 has a record of the other targets on which its SASS would run (`.nv.compat`
    /// 0b). A bit goes if a linked function has an instruction that the other target does in
    /// another way: double precision arithmetic, `IMMA`, `DMMA`, `UTCIMMA`. One form of comparison
    /// is taken for another.
    FAST_PATH_RECORD = "fast-path-record" until (13, 3), shown by [
        "mercury-fast-path",
        "mercury-fast-path-own",
        "mercury-fast-path-immediate",
        "mercury-fast-path-comparison",
        "mercury-fast-path-forms",
    ];
    /// Functions for a target with an `a` have no other one in the record of those on which their SASS
    /// would run, unless each object has a record of tensor cores.
    FAST_PATH_SPECIFIC = "fast-path-specific" since (13, 1), shown by [
        "toolkit-13-fast-path",
        "toolkit-13-fast-path-13-2",
    ];
    /// No instruction takes a target out of the record of those on which the SASS would run, which a
    /// file without functions has, too.
    FAST_PATH_WHOLE = "fast-path-whole" since (13, 3), shown by ["toolkit-13-fast-path"];
    /// The Mercury view keeps the frames of all objects; the SASS view has those of linked
    /// functions, each after its CIE. Rows by which an entry names its CIE have the place in the
    /// frames of each view.
    FRAMES_OF_LINKED_FUNCTIONS = "frames-of-linked-functions", shown by [
        "mercury-targets",
        "mercury-debug-copies",
    ];
    /// The Mercury view keeps the lines of all functions; the SASS view has those of linked ones,
    /// so that what refers to a line table finds it at another place.
    LINES_OF_LINKED_FUNCTIONS = "lines-of-linked-functions", shown by [
        "line-info",
        "mercury-debug-and-plain",
        "mercury-debug-copies",
    ];
    /// Ranges of registers of the SASS view are 0 for functions that are not linked, and for all
    /// but the first of one name.
    RANGES_OF_FIRST_FUNCTION = "ranges-of-first-function", shown by [
        "mercury-debug-copies",
        "mercury-debug-local-names",
    ];
    /// The Mercury view keeps the frames of all copies of a function that replaced each other, for
    /// the code that is linked. In the SASS view the first has the rules of all, each where the
    /// Mercury instruction begins at whose offset it stands, if one does; of the rules at one
    /// offset those of the last copy stay. The later ones have the CIE and the range of the Mercury
    /// view and no rules.
    MERCURY_FRAMES_OF_REPLACED_COPIES = "mercury-frames-of-replaced-copies", shown by [
        "mercury-replaced-copy-of-errors-at-exit",
        "mercury-replaced-frames",
        "mercury-replaced-frames-relocatable",
        "mercury-replaced-frames-after-padding",
    ];
    /// The lines of a copy that another replaced are those of its Mercury code: each instruction of
    /// the linked code has the line of the last row that does not lie after it in Mercury code. A
    /// line that is that of the instruction before has no row, but for some of the first rows.
    LINES_OF_REPLACED_COPIES = "lines-of-replaced-copies", shown by [
        "mercury-replaced-lines",
        "mercury-replaced-lines-double",
        "relocatable-mercury-lines-for-inlining-code",
        "relocatable-mercury-lines-of-conversions",
    ];
    /// nvlink makes the SASS view by the first symbol of each piece of code. If that is an alias,
    /// called before the function has a symbol, it has the size of the code, and the debug
    /// information of the function is not made: the frame is that of the Mercury view without rules,
    /// lines have their addresses in Mercury code, addresses in the function and ranges of registers
    /// are 0. Where `-r` wrote the file, they are made when it is linked again.
    MERCURY_EARLY_ALIASES = "mercury-early-aliases" until (13, 5), shown by [
        "mercury-early-alias",
        "mercury-early-alias-linked-again",
        "mercury-early-alias-debug",
        "toolkit-13-mercury-aliases",
    ];
    /// Where another copy than the first of its name is linked, the ranges of registers of the first
    /// are those of its Mercury code: they end where the instruction does its work that begins there,
    /// and begin one before that of the next instruction.
    RANGES_OF_REPLACED_COPIES = "ranges-of-replaced-copies", shown by [
        "mercury-replaced-ranges",
    ];
    /// Such ranges begin before the instruction that does the work of the next one where that became
    /// several, and at barriers of some lanes where the barrier does, or after it.
    RANGES_AROUND_RUNS = "ranges-around-runs" until (13, 1), shown by [
        "mercury-replaced-ranges-barriers",
        "mercury-replaced-ranges-collectives",
        "toolkit-13-replaced-ranges",
    ];
    /// Ranges of registers are those of the first linked function of the name in the table of symbols,
    /// looked up in its Mercury code, and those of later ones of the name are empty.
    RANGES_BY_FIRST_NAME = "ranges-by-first-name", shown by [
        "mercury-debug-local-and-global-name",
        "mercury-debug-local-names",
        "mercury-debug-local-names-first-without",
    ];
    /// Addresses that debug information has of a copy that is not linked are looked up in the Mercury
    /// code of the linked one: the next instruction, the size of the SASS after the end, and 0
    /// within the last instruction.
    ADDRESSES_IN_REPLACED_COPIES = "addresses-in-replaced-copies", shown by [
        "mercury-discarded-debug",
        "mercury-discarded-debug-destructor",
        "mercury-discarded-debug-plain",
        "mercury-replaced-ranges",
    ];
    /// Tables of switches have a relocation in Mercury for each bank that they are part of, and
    /// offsets in their place in SASS. Constants that move do so one by one, the last first, each
    /// with its rows reversed.
    MERCURY_SWITCH_TABLES = "mercury-switch-tables", shown by ["mercury-switch-tables"];
    /// The constants of a copy that is not linked stay, with rows that name the function: an entry
    /// to which a branch by a table of the linked copy leads has its offset there, any other 0.
    TABLES_OF_REPLACED_COPIES = "tables-of-replaced-copies", shown by [
        "losing-copy-table-without-own-mercury",
        "relocatable-losing-copy-table-without-own-mercury",
        "losing-copy-table-mercury",
        "relocatable-losing-copy-table-mercury",
    ];
    /// Of the variables in reserved shared memory that of the largest alignment comes first.
    RESERVED_SHARED_VARIABLES_ORDER = "reserved-shared-variables-order", shown by [
        "mercury-reserved-shared-two-variables",
        "mercury-reserved-shared-two-variables-relocatable",
        "relocatable-mercury-tensor-memory-12-9",
    ];
    /// In relocatable output an instruction that refers to a constant variable that no object defines
    /// has an address from -1 on, and keeps its bank.
    MERCURY_UNDEFINED_CONSTANTS = "mercury-undefined-constants", shown by [
        "relocatable-undefined-constants-mercury",
    ];
    /// Compiler constants of functions are named in relocatable output by their section and their
    /// number in the object. Addresses that position-independent code loads keep their names, and
    /// do not count.
    MERCURY_CONSTANT_NAMES = "mercury-constant-names" until (13, 5), shown by [
        "mercury-relocatable-again",
        "sass-only-constants-relocatable",
        "relocatable-position-independent",
        "toolkit-13-mercury-constants",
    ];
    /// The name of the constants of local functions of one name is renamed once for each function,
    /// as if it still were the old one: that of the function is cut (deviation D19).
    RENAMED_AGAIN = "renamed-again" until (13, 5), shown by [
        "relocatable-mercury-constants-local-names",
    ];
    /// A tentative definition has no counterpart in the symbol table of the Mercury view.
    MERCURY_TENTATIVE = "mercury-tentative", shown by ["mercury-targets-relocatable"];
    /// With the names of kernels or variables that are kept, nvlink fails to link Mercury whose
    /// code with relocations a later copy replaced, whatever is named.
    NAMED_KERNELS_LOSE_CODE = "named-kernels-lose-code" until (13, 5), shown by [
        "kernels-used-replaced-code-mercury",
        "variables-used-replaced-code-mercury",
        "toolkit-13-mercury-named-kernels",
    ];
    /// Kernels whose attributes say that they use reserved shared memory are named with
    /// `--disable-smem-reservation`, in order of creation, as `(null)` if they are left out; after
    /// the call graph and before what kernels need.
    RESERVED_USE_NAMED = "reserved-use-named", shown by [
        "disable-smem-reservation-mercury",
        "relocatable-disable-smem-reservation-mercury",
    ];
    /// In links of SASS the frames of copies that were replaced stay.
    FRAMES_OF_REPLACED_COPIES = "frames-of-replaced-copies", shown by [
        "weak-fewer-registers-later",
    ];
    /// The Mercury view has a call graph and prototypes of its own, with the rows of the others.
    MERCURY_CALL_GRAPH = "mercury-call-graph" since (13, 4), shown by [
        "toolkit-13-mercury-own",
        "toolkit-13-mercury-own-13-4",
        "toolkit-13-mercury-own-relocatable",
    ];
    /// The sections of the Mercury view are sorted: its symbols come first, as in the SASS view, and
    /// constants, code and memory last. The headers of sections follow without alignment.
    MERCURY_VIEW_SORTED = "mercury-view-sorted" since (13, 5), shown by [
        "toolkit-13-mercury-own",
        "toolkit-13-mercury-own-relocatable",
        "toolkit-13-unified-relocatable",
    ];
    /// The tables of names hold those of the sections and symbols of the file, in their order, and
    /// prototypes after the names of symbols. That of sections ends with room for the names of both
    /// tables of section indices.
    NAMES_OF_THE_FILE = "names-of-the-file" since (13, 5), shown by [
        "toolkit-13-mercury-own",
        "toolkit-13-mercury-own-relocatable",
    ];
    /// Code of an older compiler, which has no record of work-arounds of maths, has one.
    MATHS_RECORD_ADDED = "maths-record-added" since (13, 2, 86), shown by [
        "toolkit-13-mercury-older",
    ];
    /// Code of an older compiler, which has no record of early exits, has one that says whether it
    /// has some.
    EXITS_RECORD_ADDED = "exits-record-added" since (13, 4), shown by ["toolkit-13-mercury-older"];
    /// SECTION symbols of compiler constants have the name of the Mercury view in both tables of
    /// symbols.
    COMPILER_CONSTANT_SECTIONS = "compiler-constant-sections" since (13, 5), shown by [
        "toolkit-13-mercury-constants",
        "toolkit-13-mercury-constants-executable",
    ];
    /// In the SASS view a unit of a line table that has no lines ends as one with lines does; the
    /// table of the Mercury view has none of that, and has bytes of its own.
    EMPTY_LINE_TABLES_END = "empty-line-tables-end" since (13, 5), shown by [
        "toolkit-13-mercury-lines",
        "toolkit-13-mercury-lines-relocatable",
    ];
    /// Both views have abbreviations, ranges, locations, macros, names and strings in one place of the
    /// file; of other debug information, of an unknown name too, each has a copy.
    SHARED_DEBUG = "shared-debug", shown by [
        "mercury-debug-macros",
        "mercury-debug-ranges",
        "mercury-sections-of-any-name",
        "relocatable-mercury-debug-ranges",
        "relocatable-mercury-sections-of-any-name",
    ];
    /// Where code is made anew, or another copy is linked, places in `.debug_info`, `.debug_loc`, frames
    /// and line tables follow it; other debug information has those of the object's code.
    LABELS_STAY = "labels-stay", shown by [
        "mercury-labels-of-scheduled-code",
        "relocatable-mercury-labels-of-replaced-copies",
    ];
    /// Debug information but `.debug_info` that names a line table has its place in that of the Mercury
    /// view, in both views.
    LINE_TABLES_ELSEWHERE = "line-tables-elsewhere", shown by [
        "mercury-line-tables-elsewhere",
        "relocatable-mercury-line-tables-elsewhere",
    ];
    /// Both views have one `.debug_info`.
    ONE_DEBUG_INFO = "one-debug-info" since (13, 5), shown by ["toolkit-13-mercury-debug"];
    /// Functions for sm_107 have a record 0x67 of 0, which compilers do not write.
    SM_107_RECORD = "sm-107-record" since (13, 4), shown by [
        "toolkit-13-sm-107",
        "toolkit-13-sm-107-newest",
    ];
    /// In executables the record of early exits of a kernel is that of the functions that it calls by
    /// name or whose address it takes, too.
    EXITS_OF_KERNELS = "exits-of-kernels" since (13, 4), shown by ["toolkit-13-mercury-exits"];
    /// Debug sections that differ between the views in general have one contents for both where
    /// their bytes are equal: the ranges and types of registers, and `.debug_info` if none of an
    /// object refers to a line table.
    MERCURY_DEBUG_SHARED = "mercury-debug-shared", shown by [
        "mercury-debug-info-shared",
        "relocatable-mercury-debug-info-shared",
        "mercury-register-types-shared",
        "mercury-registers-without-variables",
    ];
}
