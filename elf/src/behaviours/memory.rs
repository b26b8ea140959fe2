//! Places of variables in global and shared memory.

super::behaviours! {
    "Memory": "Places of variables in global and shared memory.";

    /// Sections of one name follow each other in the order of the link, each at its alignment.
    /// Nothing is dropped from inside: a variable whose memory was taken at its turn keeps it, also
    /// if another definition replaces it later.
    TAKEN_MEMORY_STAYS = "taken-memory-stays", shown by [
        "common-and-definitions",
        "weak-variable",
        "place-memory-concatenation",
    ];
    /// Tentative definitions lie at the end of `.nv.global`, the one that became common last first;
    /// an earlier reference does not count.
    TENTATIVE_LAST_FIRST = "tentative-last-first", shown by ["common-symbols"];
    /// A list sort that deals elements alternately onto the fronts of two lists, sorts both and
    /// merges them orders variables and slots. It permutes equal elements, which shows in
    /// addresses.
    LIST_SORT = "list-sort", shown by ["shared-slots", "textures"];
    /// Shared variables of device functions and of the module that several kernels, or only dead
    /// code, use are put into slots, largest first, so that variables of kernels that have none in
    /// common overlap. Those that no code refers to take no room.
    SHARED_SLOTS = "shared-slots", shown by ["shared-slots", "shared-module-scope"];
    /// A kernel has the shared variables of all its copies, of those that are discarded too.
    SHARED_OF_ALL_COPIES = "shared-of-all-copies", shown by [
        "weak-kernels-shared",
        "weak-kernels-shared-debug",
        "weak-kernels-shared-relocatable",
    ];
    /// That a kernel without shared variables uses dynamic shared memory is seen from the alignment
    /// of its section: 16, and from sm_90 on also more. An empty section of the module's variables
    /// stays as the mark of dynamic shared memory under the same condition.
    DYNAMIC_SHARED_BY_ALIGNMENT = "dynamic-shared-by-alignment", shown by [
        "shared-dynamic-aligned",
        "dynamic-shared-no-kernel",
        "relocatable-dynamic-shared-aligned",
    ];
    /// With `--reserve-null-pointer` no shared variable is at address 0: slots, a kernel's own
    /// variables and dynamic shared memory begin at byte 1, aligned.
    NULL_POINTER_RESERVED = "null-pointer-reserved", shown by [
        "reserve-null-pointer",
        "reserve-null-pointer-debug",
    ];
    /// A device function has one address for dynamic shared memory, so the kernels that reach it
    /// move to the largest of theirs. With `-g` each name of it is a symbol with one value, so that
    /// all kernels that use the name move.
    DYNAMIC_SHARED_MOVES = "dynamic-shared-moves", shown by [
        "shared-dynamic",
        "debug-shared-dynamic",
    ];
    /// With `-g` dynamic shared memory that no kernel reaches is at the first address there is.
    DYNAMIC_SHARED_UNREACHED = "dynamic-shared-unreached", shown by [
        "debug-shared-slots",
        "reserve-null-pointer-debug-dynamic",
        "relocatable-dynamic-shared-unused",
    ];
    /// A shared variable without a place, because no kernel reaches it, is at -1, and so is dynamic
    /// shared memory in such a function.
    UNPLACED_SHARED = "unplaced-shared", shown by [
        "shared-unsized-before-sized",
        "preserve-relocs-dynamic-shared-unreached",
    ];
    /// Names of dynamic shared memory have a symbol only with `-g`, or with `-preserve-relocs`
    /// where there are slots and a reserved block. The block is added to its value once for each
    /// definition that had a place, and once more for a name that began without a size, if a
    /// variable lies in a slot.
    DYNAMIC_SHARED_SYMBOLS = "dynamic-shared-symbols", shown by [
        "debug-shared-dynamic",
        "debug-shared-unsized-before-twice",
        "preserve-relocs-dynamic-shared-unreached",
    ];
    /// In relocatable output a shared variable's value stays its alignment. A section of shared
    /// memory has the sum of its variables' sizes, and at least the alignment of the variables that
    /// are in no kernel.
    RELOCATABLE_SHARED_SUMS = "relocatable-shared-sums", shown by [
        "relocatable-shared",
        "relocatable-shared-strong-over-weak",
        "relocatable-dynamic-shared-aligned",
    ];
    /// In relocatable output a name of shared memory that nothing defines is one of dynamic shared
    /// memory if the first that names it gives no size, whatever others give.
    DYNAMIC_BY_FIRST_NAME = "dynamic-by-first-name", shown by [
        "relocatable-dynamic-shared-sized-later",
        "relocatable-dynamic-shared-sized-before",
    ];
    /// In relocatable output code that refers to a shared variable has the variable's alignment
    /// filled in for its address, and no relocation.
    RELOCATABLE_SHARED_FILLED_IN = "relocatable-shared-filled-in" until (13, 2), shown by [
        "toolkit-13-dynamic-shared-relocatable",
        "toolkit-13-declared-shared-relocatable",
        "relocatable-shared",
        "relocatable-shared-declared-before",
    ];
    /// A variable after dynamic shared memory of its name has the alignment 0 in relocatable output,
    /// which counts as 1 when that is linked again.
    VARIABLE_AFTER_DYNAMIC = "variable-after-dynamic", shown by [
        "dynamic-shared-again-sized",
        "dynamic-shared-again-sized-relocatable",
    ];
    /// In relocatable output the section of shared memory of a kernel that options leave out is
    /// made too late for the alignment of others, unless it has variables, or an object before the
    /// kernel's own refers to the kernel.
    LEFT_OUT_SHARED_LAST = "left-out-shared-last", shown by [
        "relocatable-kernels-used-again",
        "relocatable-kernel-by-address-dynamic-shared",
    ];
    /// In executables the section of shared memory of a kernel that options leave out, and that
    /// stays, is made after the call graph and before banks of constants, unless a variable of the
    /// kernel made it: when a variable that the kernel uses is laid out, or dynamic shared memory.
    /// The functions that refer to it come in the order of their references, of each the kernels
    /// that reach it, last created first. What only dynamic shared memory makes is not aligned as
    /// slots are.
    LEFT_OUT_SHARED_LATE = "left-out-shared-late", shown by [
        "kernel-by-address-shared-order",
        "kernel-by-address-dynamic-shared",
        "kernel-by-address-dynamic-shared-linked-again",
    ];
    /// In relocatable output a kernel's references to dynamic shared memory are to a weak undefined
    /// symbol `externsharedinstance` of its own; these come in the order of the first references.
    /// What else refers to the name takes the value of its symbol.
    DYNAMIC_SHARED_INSTANCE = "dynamic-shared-instance", shown by [
        "relocatable-dynamic-shared",
        "relocatable-dynamic-shared-weak",
    ];
    /// The shared memory of a whole program (`-ewp`) keeps its place from 0 on, and dynamic shared
    /// memory follows. There is no room for variables of functions that it calls: an error for each
    /// reference to one.
    WHOLE_KERNEL_SHARED = "whole-kernel-shared", shown by ["ewp-shared", "ewp-shared-of-function"];
    /// Dynamic shared memory is at a multiple of the alignment that the name's first object says, in
    /// its symbol's value, and of 16; the size of what a kernel has before it is a multiple of the
    /// alignment of all its shared memory, and so is the address of a symbol (`-g`). With `-r` it is
    /// not at 0 if its alignment is said.
    DYNAMIC_SHARED_ALIGNED = "dynamic-shared-aligned" since (13, 1), shown by [
        "toolkit-13-dynamic-shared",
        "toolkit-13-dynamic-shared-alignment",
        "toolkit-13-dynamic-shared-alignment-debug",
        "toolkit-13-dynamic-shared-alignment-relocatable",
        "toolkit-13-dynamic-shared-alignment-relocatable-debug",
    ];
    /// A section of shared memory for a kernel without variables, as `-r` writes it for dynamic
    /// shared memory, is memory of its own when it is linked again: it lies among the variables of the
    /// kernel, the first of its alignment and size. The null symbol has the place of that of the first
    /// kernel. How `-r`, `-g` and `--reserve-null-pointer` count it is not known.
    EMPTY_KERNEL_SHARED = "empty-kernel-shared" since (13, 4), shown by [
        "toolkit-13-dynamic-shared-again",
        "toolkit-13-dynamic-shared-again-variables",
        "toolkit-13-dynamic-shared-again-kernels",
        "place-memory-dynamic-shared-again",
    ];
    /// A kernel may have 48 KiB of shared memory without asking for more at its launch, which is the
    /// limit of links; links for targets with an `a` take all that the processor has.
    SHARED_LIMIT_SPECIFIC = "shared-limit-specific", shown by [
        "specific-more-shared-data",
        "specific-too-much-shared-data",
        "specific-too-much-shared-data-120a",
        "too-much-shared-data",
    ];
    /// With `-disable-smem-reservation` symbols of shared variables for sm_100 and up have the values
    /// that they would have behind the reserved block. Nothing else has.
    RESERVED_IN_SYMBOLS = "reserved-in-symbols", shown by ["mercury-unreserved-debug"];
    /// `.nv.reservedSmem.cap`, which nothing defines, has the address 0x400 also where its object,
    /// of a compiler before 12.8, says 0.
    RESERVED_END_NAMED = "reserved-end-named", shown by [
        "toolkit-12-0-reserved-end",
        "toolkit-12-0-reserved-end-relocatable",
    ];
    /// Code with `tcgen05.alloc` of compilers before 13.0, whose variables in reserved shared memory
    /// are others, is not linked with later code. The link ends after the object that comes later,
    /// with an error for each variable that it meets: two where that is the later compiler's, else
    /// three.
    TENSOR_MEMORY_VERSIONS = "tensor-memory-versions", shown by [
        "mercury-tensor-memory-versions",
        "mercury-tensor-memory-versions-older-last",
    ];
    /// Relocatable output, and the Mercury view, leave references to reserved shared memory to a
    /// later link or the driver.
    RESERVED_SHARED_LEFT_OPEN = "reserved-shared-left-open", shown by [
        "relocatable-names-of-the-linker",
        "mercury-tensor-memory",
        "mercury-tensor-memory-relocatable",
    ];
    /// A shared variable without an alignment, which output of `-r` has for a name that began as
    /// dynamic shared memory, lies at a multiple of its size or of 8 bytes, if that is less, among
    /// those of one kernel, and anywhere in a slot.
    UNALIGNED_SHARED = "unaligned-shared", shown by ["shared-unaligned-again"];
    /// The Mercury form of reserved shared memory has bytes in the file.
    RESERVED_SHARED_BYTES = "reserved-shared-bytes" until (13, 5), shown by [
        "mercury-reserved-shared",
        "toolkit-13-mercury-reserved",
    ];
}
