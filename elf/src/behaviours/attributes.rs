//! Attribute lists, compatibility records and notes of the output, and what kernels take over from
//! what they reach.

super::behaviours! {
    "Attributes": "Attribute lists, compatibility records and notes of the output, and what kernels take over from what they reach.";

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
    BARRIERS_IN_FLAGS = "barriers-in-flags", shown by ["toolkit-12-0-barriers"];
    /// If device functions add to the externs of the only kernel of a link, all of them are listed
    /// in a new record at the end, the one that is first named last first.
    ONLY_KERNEL_EXTERNS = "only-kernel-externs", shown by [
        "only-kernel-attributes",
        "mercury-only-kernel-externs",
    ];
    /// The only kernel of a link gets the records of all device functions, reached or not, in a
    /// fixed order of codes; registers and stacks still follow the call graph.
    ONLY_KERNEL_TAKES_ALL = "only-kernel-takes-all", shown by [
        "only-kernel-attributes",
        "mercury-only-kernel-fragments",
    ];
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
    /// Records of `.nv.compat` are merged pairwise in the order of the inputs, each code by a rule
    /// of its own, and stand in the order in which they are first seen.
    COMPAT_MERGED = "compat-merged", shown by ["toolkit-12-8-with-13-0", "merge-metadata-records"];
    /// The finalization class of the inputs (`.nv.compat` 06) is part of the output.
    COMPAT_FINALIZATION_CLASS = "compat-finalization-class" until (13, 1), shown by [
        "functions-across-units",
        "mercury-targets",
    ];
    /// The note of the tool is followed by those of all inputs; the note of the toolkit carries the
    /// smallest virtual architecture.
    NOTES_OF_INPUTS = "notes-of-inputs", shown by [
        "toolkit-12-8-with-13-0",
        "merge-metadata-notes",
    ];
    /// A note `.note.nv.cuver` is one `.note.nv.cuinfo` under another name, found by its name; the
    /// output has the linker's own.
    NOTE_OF_EITHER_NAME = "note-of-either-name", shown by ["note-cuver"];
}
