//! Which functions are kept, and the tables and reports that follow from calls.

super::behaviours! {
    "Call graph": "Which functions are kept, and the tables and reports that follow from calls.";

    /// A kernel whose address device code takes is kept although options or host code leave it out,
    /// as if it were a device function; what it calls only if these leave more than one kernel.
    KERNEL_KEPT_BY_ADDRESS = "kernel-kept-by-address", shown by [
        "kernel-by-address",
        "kernel-by-address-one-kernel",
        "kernel-by-address-kernels-used",
        "kernel-by-address-kernels-used-one",
        "callgraph-dce-address-taken",
    ];
    /// The calls of a copy that was part of the link at its turn keep their callees, also when
    /// another copy replaced it later; those of a copy that was passed over do not.
    EDGES_OF_REPLACED_COPIES = "edges-of-replaced-copies", shown by [
        "weak-replaced-callees",
        "symbol-resolve-fewer-registers",
    ];
    /// That an address is taken counts for a copy that was passed over too, if a row of the same
    /// object that counts names the function that takes it; a function has one such row, its first.
    /// The prototype in it then has no string.
    ADDRESS_OF_PASSED_COPY = "address-of-passed-copy", shown by [
        "address-of-passed-kernel",
        "prototypes-of-passed-copy",
        "relocatable-address-of-passed-kernel",
    ];
    /// That the address of a kernel is taken counts for a copy that was passed over if a variable in
    /// global memory of its object names it, but for a weak one that came after another weak
    /// definition. Constants do not count, whose rows go (deviation D14).
    PASSED_KERNEL_IN_DATA = "passed-kernel-in-data", shown by [
        "kernel-by-address-of-discarded-copy",
        "kernel-by-address-of-discarded-copy-relocatable",
        "kernel-by-address-of-discarded-copy-weak-table",
        "kernel-by-address-of-discarded-copy-constants",
    ];
    /// Functions are numbered, listed and reported in the order of their creation: object after
    /// object, in each first the functions in the order of its symbols. The rows of one caller in
    /// `.nv.callgraph` stand in reverse.
    CREATION_ORDER = "creation-order", shown by [
        "functions-across-units",
        "function-pointers",
        "report-call-graph-two-kernels",
    ];
    /// What is made for each kernel (parameters, slots of textures, shared memory and its symbols,
    /// lines of `-v`) is made in the order of their first definitions; that an object before refers
    /// to one does not count.
    KERNELS_IN_ORDER_OF_DEFINITION = "kernels-in-order-of-definition", shown by [
        "report-resources-kernel-referenced-first",
        "report-resources-kernel-referenced-first-mercury",
        "mercury-texture-slots-kernel-referenced-first",
        "relocatable-dynamic-shared-kernel-referenced-first",
    ];
    /// Relocatable output lists each call with a target once; executables repeat it for each row of
    /// the inputs.
    RELOCATABLE_CALLS_ONCE = "relocatable-calls-once", shown by [
        "relocatable-address-taken-again",
    ];
    /// The empty prototype of a kernel whose address is taken is a string of its own in the string
    /// table.
    EMPTY_PROTOTYPE = "empty-prototype", shown by ["address-of-kernel"];
    /// Lists of a host object count only if it has `.nvHRKE` with at least one byte; the other
    /// lists may be missing. An object without lists, or a fatbin even without code for the target,
    /// makes them count for nothing; one without code does not where a register file is asked for.
    HOST_LISTS_COUNT = "host-lists-count", shown by [
        "host-objects",
        "host-lists-beside-fatbin-without-code",
        "host-lists-registered-fatbin-without-code",
        "host-lists-of-plain-object",
        "host-lists-of-whole-program-object",
    ];
    /// Host information of the device runtime says which of its own kernels stay, but does not make
    /// pruning start.
    RUNTIME_STARTS_NO_PRUNING = "runtime-starts-no-pruning", shown by [
        "device-runtime-alone-prunes-nothing",
        "device-runtime-is-pruned-too",
    ];
    /// Device code without host information makes all kernels of the link stay, as they may be
    /// launched from anywhere; with `cudadevrt` in its path only if it is linked, because something
    /// is undefined at its turn. Host objects without device code do so whatever their path, and
    /// cubins in archives.
    RUNTIME_SILENT_IF_LINKED = "runtime-silent-if-linked", shown by [
        "device-runtime-without-lists",
        "device-runtime-without-lists-linked",
        "device-runtime-without-lists-beside-linked",
        "cudadevrt-in-path-cubin",
        "cudadevrt-in-path-fatbin",
        "cudadevrt-in-path-without-device-code",
    ];
    /// Relocatable output keeps kernels that `-kernels-used` leaves out, and executables those that
    /// are kept by their address; but their sections are made where those of device functions are.
    LEFT_OUT_KERNELS_LATE = "left-out-kernels-late", shown by [
        "relocatable-kernels-used",
        "kernel-by-address-kernels-used",
    ];
    /// With `-g -suppress-debug-info` kernels that names leave out keep their code. They have what
    /// they reach only if their address is taken, and the names do not hold exactly one kernel.
    SUPPRESSED_KERNELS = "suppressed-kernels", shown by [
        "suppress-debug-info-left-out",
        "report-resources-left-out",
    ];
    /// A kernel that an object before its definition refers to is not left out in this sense.
    REFERENCED_KERNELS_EARLY = "referenced-kernels-early", shown by [
        "relocatable-variables-used-kernel-referenced-before",
        "kernels-used-kernel-referenced-before",
    ];
    /// The call graph of `-dump-callgraph` has names as in the source, also with
    /// `-dump-callgraph-no-demangle`; it numbers functions in the order of creation, dead ones too.
    CALL_GRAPH_NAMES = "call-graph-names", shown by ["call-graph", "call-graph-no-demangle"];
    /// Registers of kernels are raised function by function in the order of the first definitions,
    /// for each of them in the kernels last created first; only raises are shown, and only those of
    /// kernels over their limit are errors.
    RAISES_BY_FUNCTION = "raises-by-function", shown by [
        "call-graph",
        "call-graph-replaced-copy",
        "register-limit-exceeded",
        "check-limits-in-the-call-graph",
    ];
    /// A kernel whose need of stack is not known because of a recursion needs more than any
    /// MAX_STACK_SIZE; limits of device functions do not count.
    UNKNOWN_STACK_EXCEEDS = "unknown-stack-exceeds", shown by ["stack-limit"];
    /// The warning that the stack of a kernel is not known comes once for each direct call that
    /// leads to a recursion, and once for each candidate of an indirect one.
    RECURSION_WARNING_PER_CALL = "recursion-warning-per-call", shown by [
        "recursion",
        "propagate-resources-recursion",
    ];
}
