//! What is found between objects, and what a program needs more of than there is.

use crate::code::codes;

codes! {
    Link "link/";

    UNDEFINED "undefined":
        "a reference to what no object defines"
        when "Code or data that stays names a function or variable that no input defines and the driver does not provide."
        advice "Add the object or library that defines the name. The notes say who refers to it.";
    DUPLICATE_DEFINITION "duplicate-definition":
        "several definitions of one name"
        when "Two objects define a name, neither of them as weak."
        advice "Leave one of the definitions out, or make it `static` or `inline`.";
    REPEATED_MODULE_ID "repeated-module-id":
        "a module id that several inputs have"
        when "Objects for the host have the same `__nv_module_id`, such as those of two sources of one name and contents: the functions that register them have one name."
        advice "Compile one of them from a source of another name, or in another folder.";
    SIZE_MISMATCH "size-mismatch":
        "one name with several sizes"
        when "Two objects give a variable different sizes."
        advice "Compile all objects against the same declaration.";
    SPACE_MISMATCH "space-mismatch":
        "one name in several memory spaces"
        when "Two objects put a name into different memory spaces, such as `__device__` and `__constant__`."
        advice "Compile all objects against the same declaration.";
    MANAGED_MISMATCH "managed-mismatch":
        "a variable that is managed in one object and not in another"
        when "One object has a variable as `__managed__`, another as `__device__` or `extern __device__`."
        advice "Compile all objects against the same declaration.";
    NOT_GLOBAL "not-global":
        "a kernel that is a function elsewhere"
        when "One object has a name as a kernel, another as a function."
        advice "Declare it `__global__` everywhere.";
    COMMON_SIZE "common-size":
        "a common symbol that is larger than its definition"
        when "An object declares a variable larger than the object that initialises it."
        advice "Compile all objects against the same declaration.";
    PARAMETER_SIZE "parameter-size":
        "weak kernels of one name with parameters of several sizes"
        when "Two weak definitions of a kernel take parameters of different sizes."
        advice "Compile all objects against the same definition.";
    PROTOTYPE "prototype":
        "one function with several prototypes"
        when "Two objects record different prototypes of a function."
        advice "Compile all objects against the same declaration.";
    AFTER_RUNTIME "after-runtime":
        "an object after the device runtime"
        when "The device runtime was not needed in its turn, and another object comes after it."
        advice "Give the device runtime last.";
    BESIDE_EWP "beside-ewp":
        "an object beside those compiled with -ewp"
        when "Objects compiled with `-ewp` are whole programs, which only the device runtime may be added to."
        advice "Compile all objects without `-ewp`.";
    MERGE_FAILED "merge-failed":
        "symbols that cannot be merged"
        when "The errors before this one end the link after the object that they are about."
        advice "Correct the errors before this one.";
    STACK_UNKNOWN "stack-unknown":
        "a kernel whose stack depth is unknown"
        when "A kernel reaches recursion, or calls through pointers that may reach it."
        advice "Set the stack size at run time (`cudaDeviceSetLimit`), or silence the warning with `-suppress-stack-size-warning`.";
    CTA_GRANULARITY "cta-granularity":
        "a kernel that uses single CTAs and pairs of CTAs"
        when "A kernel reaches instructions of `tcgen05` with `.cta_group::1` and with `.cta_group::2`."
        advice "Use one of the two in all functions that a kernel reaches.";
    TENSOR_MEMORY "tensor-memory":
        "code of toolkits that keep tensor memory in different ways"
        when "Code with `tcgen05.alloc` of a compiler before 13.0 is linked with that of a later one."
        advice "Compile all objects with CUDA 13.0 or later.";
    NO_REGISTER_COUNT "no-register-count":
        "a function without a register count"
        when "No `REGCOUNT` record says how many registers a function needs, and the link needs the number."
        advice "Build the object with NVIDIA's compilers.";
    NO_CALLS "no-calls":
        "a function whose address is taken, but not called"
        when "With `-extrawarn`, no call through a pointer has the prototype of a function whose address is taken.";
    NO_UNIFIED_INDEX "no-unified-index":
        "unified symbols without an index file"
        when "An object has unified tables, which an executable needs an index file for."
        advice "Link with `-r`.";
    GLOBAL_CONSTANTS "global-constants":
        "too much constant memory"
        when "The `__constant__` variables of all objects take more than 64 KiB."
        advice "Use less `__constant__` memory.";
    KERNEL_CONSTANTS "kernel-constants":
        "too many constants of a kernel"
        when "The constants of a kernel take more than 64 KiB."
        advice "Use fewer constants in what the kernel reaches.";
    COMPILER_CONSTANTS "compiler-constants":
        "too many compiler constants of a kernel"
        when "The constants that the compiler made for what a kernel reaches take more than 64 KiB."
        advice "Recompile with `-Xptxas --disable-optimizer-constants`.";
    SHARED_MEMORY "shared-memory":
        "too much shared memory of a kernel"
        when "What a kernel reaches uses more static shared memory than a block may have."
        advice "Use less shared memory, or dynamic shared memory.";
    EWP_SHARED "ewp-shared":
        "a shared variable of a kernel compiled with -ewp"
        when "A kernel compiled with `-ewp`, which fixes its shared memory, reaches a variable of another object."
        advice "Compile without `-ewp`.";
    STACK_LIMIT "stack-limit":
        "a kernel that uses more stack than it may"
        when "What a kernel reaches needs more stack than the limit it was compiled with."
        advice "Compile with a larger limit.";
    REGISTER_LIMIT "register-limit":
        "a kernel that calls a function with more registers than it may have"
        when "The kernel was compiled with a limit of registers (`-maxrregcount`), and the function needs more."
        advice "Compile both with the same `-maxrregcount`, or without.";
    LARGE_PARAMETERS "large-parameters":
        "more parameters of a kernel than an older object leaves room for"
        when "A kernel for sm_75 to sm_89 has more than 4 KiB of parameters, and an object of the link was compiled before CUDA 12.1, which placed constants after 4 KiB. nvlink says it for each parameter."
        advice "Compile all objects with CUDA 12.1 or later.";
    RESERVED_SHARED_USE "reserved-shared-use":
        "a kernel that uses reserved shared memory when not allowed"
        when "With `--disable-smem-reservation`, a kernel reaches code that uses reserved shared memory."
        advice "Link without `--disable-smem-reservation`.";
    UNREACHED_BY_KERNEL "unreached-by-kernel":
        "a kernel that stays without what it calls"
        when "Host code refers to one kernel, and another stays only because its address is taken."
        advice "Name the kernel in `-kernels-used`, or leave the option out.";
    LTO_MISMATCH "lto-mismatch":
        "LTO-IR compiled with options that do not match"
        when "Two inputs of LTO-IR were compiled with different options for floating point, registers or threads."
        advice "Compile all inputs with the same `-ftz`, `-prec-div`, `-prec-sqrt`, `-fmad`, `-maxrregcount` and `-split-compile`.";
    LTO_OPTION_MISSING "lto-option-missing":
        "LTO-IR that an option was not given for"
        when "Some inputs of LTO-IR were compiled with `-lineinfo` or `-maxrregcount`, others were not; all are made one program."
        advice "Compile all inputs with the option, or give `-maxrregcount` to the link.";
    LTO_RUNTIME "lto-runtime":
        "a whole program of LTO-IR without the device runtime"
        when "`-lto` makes one program of all inputs, which needs the device runtime library."
        advice "Add `-lcudadevrt`, and `-L` with the libraries of the toolkit.";
    LTO_PARTIAL "lto-partial":
        "an input that is not optimised with the others"
        when "With `-lto`, an input holds machine code or PTX."
        advice "Compile it for `lto_XX` too, if it is to be optimised.";
    LTO_NOTHING "lto-nothing":
        "-lto without LTO-IR"
        when "No input holds LTO-IR."
        advice "Link without `-lto`, or compile for `lto_XX`.";
}
