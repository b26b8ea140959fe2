//! What nvlink reads, says and reports, and in which order.

super::behaviours! {
    "Inputs, messages and reports": "What nvlink reads, says and reports, and in which order.";

    /// Below sm_90, each parameter of a kernel with more than 4,352 bytes of them is an error if an
    /// object of the link is of a toolkit before 12.1; with `-r` none is.
    LARGE_PARAMETERS = "large-parameters", shown by [
        "parameters-beside-older-object",
        "parameters-beside-older-object-left-out",
    ];
    /// An error that is not fatal does not end a link: warnings about stacks, errors about memory,
    /// undefined names, the call graph with limits, and resources follow each other, and the output
    /// is dropped in the end. Each undefined name is reported once, for the first object that names
    /// it. Internal errors about relocations come after all of them.
    ERRORS_IN_ORDER = "errors-in-order", shown by [
        "reports-after-errors",
        "memory-errors-before-undefined",
        "check-undefined-several-names",
        "preserve-relocs-debug-dynamic-undefined",
    ];
    /// A kernel that reaches a recursion is shown with its own frame.
    REPORTED_FRAME = "reported-frame", shown by ["report-resources-recursion", "recursion"];
    /// The banks 1, 3, 4, 5 and 6 are listed with the module and all others with kernels; one that
    /// lies in the other place is in no line, though it is in the output.
    REPORTED_BANKS = "reported-banks", shown by ["constant-banks-report"];
    /// The slots that a kernel has are counted by kind, whichever of them it uses.
    REPORTED_SLOTS = "reported-slots", shown by ["textures-report", "textures-report-mercury"];
    /// An error while inputs are read does not end the walk over them, but the next input that is
    /// more than a cubin does.
    ERRORS_WHILE_READING = "errors-while-reading", shown by [
        "arch-not-found-werror",
        "arch-not-found-werror-cubin",
        "arch-not-found-werror-fatbin",
    ];
    /// A 32-bit ELF file does not fit any target; a damaged one is ignored.
    ELF32_FILES = "elf32-files", shown by ["elf32-object"];
    /// Any OSABI but that of CUDA means what toolkits up to 12.9 write: the toolkit in `e_version`,
    /// the virtual architecture in `e_flags`. Other objects say it in a note that `e_flags` names,
    /// or that is found by its name.
    TOOLKIT_OF_OBJECT = "toolkit-of-object", shown by [
        "toolkit-12-0",
        "toolkit-12-8-with-13-0",
        "note-cuver",
    ];
    /// Code for an `a` architecture is linked for that target alone: of fatbins nothing else takes
    /// it, and an object of it ends any link for a target without an `a` before its architecture is
    /// looked at.
    SPECIFIC_FOR_ITSELF = "specific-for-itself" since (13, 1), shown by [
        "toolkit-13-specific-objects",
        "toolkit-13-specific-members",
    ];
    /// Code for sm_80 to sm_88 is linked for every later target up to sm_89, not only for sm_86 and
    /// sm_89.
    ALL_BEFORE_IN_FAMILY = "all-before-in-family" since (13, 2), shown by [
        "toolkit-13-older-architectures",
    ];
    /// After a whole program (`-ewp`) all objects have to be of the linker's own toolkit, and all
    /// but the device runtime are warned of.
    WHOLE_PROGRAM_LOCK = "whole-program-lock", shown by ["ewp", "ewp-toolkit"];
}
