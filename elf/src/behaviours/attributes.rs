//! Attribute lists, compatibility records and notes of the output, and what kernels take over from
//! what they reach.

super::behaviours! {
    "Attributes": "Attribute lists, compatibility records and notes of the output, and what kernels take over from what they reach.";

    /// A kernel whose object says that its stack is not known (MIN_STACK_SIZE of -1, in `-ewp`
    /// objects) has neither a size of its stack nor one of its call-return stack, as kernels that
    /// reach recursion, without their warning; the record of the object goes.
    WHOLE_KERNEL_UNKNOWN_STACK = "whole-kernel-unknown-stack", shown by ["ewp-unknown-stack"];
    /// Each list of `.nv.info` and `.nv.info.F` is the reverse of the lists of the inputs, without
    /// the records of what is not linked.
    ATTRIBUTES_REVERSED = "attributes-reversed", shown by [
        "functions-across-units",
        "merge-metadata-records",
        "merge-metadata-two-kernels",
    ];
    /// An executable has HAS_PRE_V10_OBJECT after the records of the module if an
    /// object is of a toolkit before 10.0, or does not say of which.
    PRE_V10_OBJECT = "pre-v10-object", shown by ["merge-metadata-records", "note-of-other-index"];
    /// Barrier counts in the flags of code, as compilers before 13.0 write them, count like records
    /// where neither the function nor what it reaches has a record: the function gets a record at
    /// the end of its list, and its flags are cleared. Where there is a record, the function's own
    /// flags do not count, and stay.
    BARRIERS_IN_FLAGS = "barriers-in-flags" since (13, 0), shown by [
        "toolkit-12-0-barriers",
        "aliases-barriers-in-flags",
    ];
    /// The flags of a kernel's code count the barriers that it uses and those of what it reaches:
    /// there are no records of them.
    BARRIERS_STAY_IN_FLAGS = "barriers-stay-in-flags" until (13, 0), shown by [
        "toolkit-12-executable",
    ];
    /// If device functions add to the externs of the only kernel of a link, all of them are listed
    /// in a new record at the end.
    ONLY_KERNEL_EXTERNS = "only-kernel-externs", shown by [
        "only-kernel-attributes",
        "mercury-only-kernel-externs",
    ];
    /// In that record the extern that is first named last comes first.
    ONLY_KERNEL_EXTERNS_BACKWARDS = "only-kernel-externs-backwards" until (13, 2), shown by [
        "only-kernel-attributes",
        "toolkit-13-externs",
    ];
    /// The only kernel of a link gets the records of all device functions, reached or not, in a
    /// fixed order of codes; registers and stacks still follow the call graph.
    ONLY_KERNEL_TAKES_ALL = "only-kernel-takes-all", shown by [
        "only-kernel-attributes",
        "mercury-only-kernel-fragments",
    ];
    /// The only kernel of a link takes the masks of sparse matrices of device functions if a function
    /// of the link is left out, defined by no object (`malloc`), or has none; else it keeps its own.
    ONLY_KERNEL_MASKS = "only-kernel-masks", shown by [
        "only-kernel-masks",
        "only-kernel-masks-left-out",
        "only-kernel-masks-undefined",
    ];
    /// The only kernel of a link takes over no NUM_MBARRIERS if that of all functions is 0.
    ONLY_KERNEL_NO_BARRIERS = "only-kernel-no-barriers", shown by ["only-kernel-no-barriers"];
    /// The only kernel of a link takes over no VRC_CTA_INIT_COUNT.
    ONLY_KERNEL_CTA_INIT = "only-kernel-cta-init", shown by ["mercury-tensor-memory-only-kernel"];
    /// Where the order of device functions matters for what kernels take over, it is that of the
    /// sections of the prevailing copies: a copy that replaced another stands at its own place.
    PREVAILING_COPIES_ORDER = "prevailing-copies-order", shown by [
        "externs-order",
        "call-graph-replaced-copy",
    ];
    /// What device functions add to a kernel's list is appended in the order in which its codes are
    /// first seen. EXTERNS count for that even if the output keeps nothing of the record.
    FIRST_SIGHT_ORDER = "first-sight-order", shown by ["externs-order", "printf-assert"];
    /// A kernel's list of source languages has those of the device functions that it reaches, too,
    /// each once.
    LANGUAGES_OF_CALLEES = "languages-of-callees" since (13, 2), shown by ["toolkit-13-languages"];
    /// A kernel's mask of accesses to multimem addresses (68) has those of the device functions that
    /// it reaches, too.
    MULTIMEM_OF_CALLEES = "multimem-of-callees" since (13, 3), shown by ["toolkit-13-multimem"];
    /// Records of `.nv.compat` are merged pairwise in the order of the inputs, each code by a rule
    /// of its own, and stand in the order in which they are first seen.
    COMPAT_MERGED = "compat-merged", shown by ["toolkit-12-8-with-13-0", "merge-metadata-records"];
    /// The finalization class of the inputs (`.nv.compat` 06) is part of the output.
    COMPAT_FINALIZATION_CLASS = "compat-finalization-class" until (13, 1), shown by [
        "functions-across-units",
        "mercury-targets",
    ];
    /// The class of tensor core instructions of the inputs (`.nv.compat` 05) is no part of the output
    /// where it is 0, as it is if an input has none.
    COMPAT_NO_EMPTY_CLASS = "compat-no-empty-class" since (13, 1), shown by [
        "toolkit-13-compat",
        "toolkit-13-compat-with-13-0",
    ];
    /// What the finalizer may do with the inputs without looking (`.nv.compat` 0b) is part of the
    /// output below sm_100, too: what all inputs that say something say.
    COMPAT_FAST_PATH_EVERYWHERE = "compat-fast-path-everywhere" since (13, 2), shown by [
        "toolkit-13-compat",
        "toolkit-13-compat-with-13-0",
    ];
    /// A newer record of the Mercury ISA's version (`.nv.compat` 0d) is part of the output, 1.0 for
    /// inputs that have none; that of before (07) is it only where an input has one.
    COMPAT_MERCURY_VERSION = "compat-mercury-version" since (13, 3), shown by [
        "toolkit-13-compat",
        "toolkit-13-compat-with-13-0",
    ];
    /// `.nv.compat` 0c of the inputs is part of the output, 2 for those that have none: at their
    /// turn, or after all others for those that have 0d.
    COMPAT_INTERNAL_TARGET = "compat-internal-target" since (13, 4), shown by [
        "toolkit-13-compat",
        "toolkit-13-compat-with-13-0",
    ];
    /// Below sm_100 the version of the finalizer (`.nv.compat` 0e) is part of the output if all
    /// inputs have one: the newest. From sm_100 on it is that of the linker.
    COMPAT_FINALIZER_VERSION = "compat-finalizer-version" since (13, 4), shown by [
        "toolkit-13-compat",
        "toolkit-13-compat-with-13-0",
    ];
    /// The note of the tool is followed by those of all inputs; the note of the toolkit carries the
    /// smallest virtual architecture.
    NOTES_OF_INPUTS = "notes-of-inputs", shown by [
        "toolkit-12-8-with-13-0",
        "merge-metadata-notes",
    ];
    /// Below sm_100 there are no notes and no `.nv.compat`. The header says the toolkit in
    /// `e_version` and the smallest virtual architecture in `e_flags`, with another OSABI.
    LEGACY_HEADER_WRITTEN = "legacy-header-written" until (13, 0), shown by [
        "toolkit-12-executable",
    ];
    /// A note `.note.nv.cuver` is one `.note.nv.cuinfo` under another name, found by its name; the
    /// output has the linker's own.
    NOTE_OF_EITHER_NAME = "note-of-either-name", shown by ["note-cuver"];
}
