//! What cuweld does not link: objects of a form that no compiler writes, options, and combinations
//! of these.

use crate::code::codes;

codes! {
    Unsupported "unsupported/";

    // Sections of an object.
    RESERVED_SHARED_VARIABLES "reserved-shared-variables":
        "variables in reserved shared memory"
        when "A section of reserved shared memory has bytes, but no symbol that names them.";
    REL_ACTION "rel-action":
        "an object whose .nv.rel.action has another name or symbols"
        when "The linker makes its own `.nv.rel.action`; that of an object is of another form than compilers write.";
    MISNAMED_SECTION "misnamed-section":
        "a section of another type than its name says"
        when "A section has a name that the linker gives to sections of its own, and another type.";
    REPEATED_SECTION "repeated-section":
        "two sections of one kind for a function"
        when "A function has two sections of constants of one bank, or two of shared memory.";
    CONSTANTS_NAME "constants-name":
        "a section of constants with an unusual name"
        when "The name of a section of constants is not that of its bank and function.";
    PACKED_CONSTANTS "packed-constants":
        "packed constants of a function"
        when "A section of constants of a function is compressed.";
    NOTE_ALIGNMENT "note-alignment":
        "a note that is not aligned to 4"
        when "The alignment of a note of CUDA is not 4.";
    NOTE_FLAG "note-flag":
        "a note without its section flag"
        when "The section of a note of CUDA lacks the flag of its kind, or has others.";
    NOTE_NAME "note-name":
        "a note of another name"
        when "A section of notes is not one of CUDA's.";
    PARAMETER_ALIGNMENT "parameter-alignment":
        "an alignment of parameters that no compiler writes"
        when "The section of the parameters of a kernel is aligned to something else than 4 or 8.";
    PARAMETER_BYTES "parameter-bytes":
        "parameters that are not zero"
        when "The section of the parameters of a kernel has bytes that are not zero, which nvlink writes in some outputs and not in others.";
    FUNCTION_NAME "function-name":
        "a section with the name of another function"
        when "A section `.text.NAME` or `.nv.info.NAME` belongs to a function of another name.";
    MISSING_ADDENDS "missing-addends":
        "relocations without addends for a target whose compilers write addends"
        when "An object for sm_90 and up has a section of the type `SHT_REL`.";
    SHARED_ALIGNMENT "shared-alignment":
        "shared variables without an alignment"
        when "With `-r`, no shared variable says its alignment: nvlink divides by it.";
    UNNAMED_CODE "unnamed-code":
        "code that no function symbol names"
        when "A section of code has no function symbol.";
    CODE_FLAGS "code-flags":
        "code with unusual section flags"
        when "A section of code has flags beside the usual ones and the number of barriers.";
    BANK_NAME "bank-name":
        "a constant bank whose name is not that of its type"
        when "The type of a section of constants names another bank than its name.";
    MODULE_COMPILER_CONSTANTS "module-compiler-constants":
        "a bank of compiler constants that is no function's"
        when "Bank 2 belongs to no function.";
    SECTION_HEADER "section-header":
        "a section header that no compiler writes"
        when "A field of a section header has a value that compilers do not give to sections of that kind.";

    // Relocations and records of an object.
    RESERVED_SHARED_REFERENCE "reserved-shared-reference":
        "a reference to reserved shared memory"
        when "A relocation refers to a symbol in reserved shared memory.";
    FRAME_REFERENCE "frame-reference":
        "a frame that refers to something else than code and frames"
        when "A relocation of `.debug_frame` has another target or another place than compilers write.";
    MISSING_RECORDS "missing-records":
        "a function without records that every function has"
        when "A list `.nv.info.NAME` has no record of the version of the CUDA API, or a function has no record of its frame or its stack.";
    SPARSE_MASKS "sparse-masks":
        "sparse matrices beside packed lists of records"
        when "One function uses sparse matrices, and the list of another is compressed.";
    COMPAT_RECORD "compat-record":
        "a record of .nv.compat of an unknown format"
        when "A record of `.nv.compat` has another format than compilers give it, or a value that the format cannot hold.";
    RECORD_FORMAT "record-format":
        "a record of a format that no compiler writes"
        when "A record of `.nv.info` has another format, size or list than compilers give it.";
    RECORD_PAYLOAD "record-payload":
        "a record that has to name a symbol and has no payload"
        when "A record of `.nv.info` that begins with a symbol is too short for one.";
    RESOURCE_RECORD "resource-record":
        "a record of registers or stack that does not name a function"
        when "The symbol of a record of registers or stack is no function.";
    REGISTER_RANGE "register-range":
        "a number of registers that no function has"
        when "A record gives a function more registers than there are.";
    TEXTURE_RECORD "texture-record":
        "a record of textures that does not name a symbol"
        when "A record of textures, samplers or surfaces of a kernel names none.";
    PARAMETER_RECORD "parameter-record":
        "a record of a parameter that names a symbol"
        when "A record of a parameter names a symbol that is not a texture, sampler or surface.";
    PARAMETER_SECTION "parameter-section":
        "a record of parameters that does not name their section"
        when "The symbol of a record of the bank of parameters is not that of their section.";
    UNIFIED_ROW "unified-row":
        "a row of a unified table that no compiler writes"
        when "A record of a unified table names something else than one symbol.";
    BARRIER_FORMAT "barrier-format":
        "a number of barriers of another format"
        when "The record of the number of barriers of a function has an unknown format.";
    MASK_FORMAT "mask-format":
        "a mask of sparse matrices of another format"
        when "The record of the mask of sparse matrices has an unknown format, or stands twice in a list.";
    ENTRY_FRAGMENTS "entry-fragments":
        "fragments at the entry of code for this target"
        when "A record speaks of fragments at the entry of a function, which targets below sm_100 do not have.";

    // Symbols of an object.
    SYMBOL_NAME "symbol-name":
        "a symbol with a name that no compiler writes"
        when "A symbol that stands for something has no name, or one that begins with a dot and is not known.";
    DRIVER_FUNCTION "driver-function":
        "the definition of a function that the driver provides"
        when "An object defines a function such as `vprintf`, which the linker leaves undefined.";
    FUNCTION_SIZE "function-size":
        "a function that is not the whole of its section"
        when "The value or the size of a function symbol is not that of its section, and it is no alias of another.";
    SYMBOL_SPACE "symbol-space":
        "a symbol whose section is of another memory space"
        when "The type or visibility of a symbol names another memory space than its section.";
    VARIABLE_RANGE "variable-range":
        "a variable that is not part of its section"
        when "A variable goes over the end of its section.";
    CONSTANT_PLACE "constant-place":
        "a compiler constant whose place is not that of its name"
        when "The name of a compiler constant has another offset than its symbol.";
    PRESERVED_EQUAL_CONSTANTS "preserved-equal-constants":
        "-preserve-relocs with the device runtime library and equal constants that are stored once"
        when "Strict mode stores equal constants once, as nvlink does (D02), and relocations stay beside code of the device runtime library: nvlink gives some of its addresses after that.";
    UNTYPED_MERCURY_SYMBOL "untyped-mercury-symbol":
        "a symbol without a type in an object with Mercury"
        when "An object with Mercury defines a symbol of the type `STT_NOTYPE`.";
    UNTYPED_CONSTANT "untyped-constant":
        "a symbol without a type among constants of a function"
        when "A symbol of the type `STT_NOTYPE` stands in the constants of a function.";
    UNTYPED_SHARED "untyped-shared":
        "a symbol without a type among shared variables"
        when "A symbol of the type `STT_NOTYPE` stands in a section of shared memory.";
    SYMBOL_WITHOUT_SECTION "symbol-without-section":
        "a symbol without a section that has a value"
        when "A symbol has a value or a size, and no section that could hold it.";
    UNDEFINED_SYMBOL "undefined-symbol":
        "an undefined symbol of an unusual kind"
        when "An undefined symbol has a type, a value or a size that compilers do not give it.";
    COMMON_SYMBOL "common-symbol":
        "an unusual tentative definition"
        when "A common symbol has a type, a size or an alignment that compilers do not give it.";
    RESERVED_SHARED_SYMBOL "reserved-shared-symbol":
        "an unknown variable in reserved shared memory"
        when "A symbol in reserved shared memory is not one of those that compilers define there.";
    SYMBOL_TYPE "symbol-type":
        "a defined symbol that is neither a function nor a variable"
        when "The type of a defined symbol is not one that compilers write.";
    SHADOWED_NAME "shadowed-name":
        "a kernel or texture with the name of a local symbol in another object"
        when "A local symbol has the name of a kernel or texture of another object that takes part. nvlink gives a local kernel (PTX without `.visible`) and another kernel of its name one constant bank; they are linked as nvlink links them if they can share nothing else, as no object of the link has shared variables, textures, or constants of functions, and no two definitions are of one global name. A global kernel after a local variable of its name nvlink refuses, too. A texture that is a parameter (`.param .texref` of PTX) is local, but nvlink looks it up by its name, and copies of its kernel share it."
        advice "Give one of the two another name.";
    UNTYPED_NAME "untyped-name":
        "a symbol without a type, of a name that an object before has"
        when "A symbol of the type `STT_NOTYPE` has a name that an earlier object gives to something.";
    LOCAL_PROTOTYPE "local-prototype":
        "the prototype of a local function"
        when "A row of `.nv.prototype` names a local function.";
    UNUSUAL_PROTOTYPE "unusual-prototype":
        "a prototype that no compiler writes"
        when "A row of `.nv.prototype` names something else than a function, or a string that is no prototype.";
    UNUSUAL_CALL "unusual-call":
        "a call graph that no compiler writes"
        when "A row of `.nv.callgraph` names something else than functions and prototypes, or says that a function takes the address of one whose address is not taken.";

    // Functions of an object.
    UNEXPECTED_MERCURY "unexpected-mercury":
        "Mercury in a link without Mercury"
        when "A function has Mercury, and the target is below sm_100.";
    KERNEL_PARAMETERS "kernel-parameters":
        "a kernel without parameter bank, or a bank without kernel"
        when "A kernel has no section of parameters, or another function has one.";
    SHARED_CODE_SECTION "shared-code-section":
        "two functions in one section"
        when "Two function symbols stand in one section of code, and one is no alias of the other, which has the size 0, or an alias of a kernel or of a weak function.";
    REFERENCED_ALIAS "referenced-alias":
        "an alias that comes before its function in its object, and after a reference to it in another"
        when "nvlink takes the alias for the function, whose sections get its name."
        advice "Give the object that defines the alias first.";
    CODE_WITHOUT_BYTES "code-without-bytes":
        "code without bytes in its file"
        when "A section of code has a size, and the type `SHT_NOBITS`: nvlink takes what lies in the file at its place.";

    // Names that several objects have.
    FUNCTION_AND_TEXTURE "function-and-texture":
        "a name as a function and as a texture, sampler or surface"
        when "Two objects give one name to such different things.";
    REPEATED_TEXTURE "repeated-texture":
        "the name of a texture twice in relocatable output"
        when "With `-r`, two objects define a texture, sampler or surface of one name.";
    WEAK_COMMON "weak-common":
        "weak definition of a common symbol"
        when "An object has a weak definition with contents of what an earlier one has as a common symbol: nvlink crashes.";
    UNIFIED_MISMATCH "unified-mismatch":
        "one name with a unified address in one object and without in another"
        when "With `-r`, two objects define a name of which one alone has `.attribute(.unified(a, b))`: nvlink writes the mark of one beside the section or the value of the other."
        advice "Compile all objects against the same declaration.";
    ALIAS_OF_WEAK "alias-of-weak":
        "an alias of the name of a weak function in another object"
        when "An object has as an alias (`.alias` of PTX) what an earlier one has as a weak function: nvlink crashes, or with `-r` writes a function without code."
        advice "Give the object with the alias first.";
    CALL_GRAPH_GAP "call-graph-gap":
        "code that refers to a function which its call graph lacks"
        when "Code that stays refers to a function that was dropped, as no row of `.nv.callgraph` says that it does."
        advice "Build the object with NVIDIA's compilers: other tools have to write a complete call graph.";

    // Memory.
    LARGE_CONSTANTS "large-constants":
        "constant variables beyond 64 KiB"
        when "nvlink lays the variables of `__constant__` memory that do not fit out anew, which is not known for this combination."
        advice "Use less `__constant__` memory.";
    TEXTURE_SLOTS "texture-slots":
        "slots of textures in a kernel without a section of parameters"
        when "A kernel uses textures, and no bank of parameters could hold their slots.";
    DYNAMIC_SHARED_AGAIN "dynamic-shared-again":
        "dynamic shared memory of an output of -r, for a toolkit since 13.4"
        when "An input has a section of shared memory for a kernel that has no variable in it, as `-r` writes it for dynamic shared memory. What nvlink makes of it since CUDA 13.4 with `-r`, `-g` and `--reserve-null-pointer`, of several copies, and beside variables of functions, is not known."
        advice "Link the objects in one link, or with `--cuweld-toolkit=13.3`.";
    MIXED_DYNAMIC_ALIGN "mixed-dynamic-align":
        "dynamic shared memory with names of different alignments"
        when "With `--cuweld-strict`, for a toolkit since 13.1: a kernel reaches names of dynamic shared memory with different alignments, and which of them nvlink takes is not known."
        advice "Link without `--cuweld-strict`: the address has the largest alignment, and the link says so.";
    NEWER_FINALIZER "newer-finalizer":
        "SASS alone for sm_100 and later, for a toolkit after 13.0"
        when "With `--cuweld-strict`: an object for sm_100 and later has no Mercury, and what linkers after 13.0 make of such is not known."
        advice "Link without `--cuweld-strict`: the link follows the rules of CUDA 13.0, and says so.";
    OLDER_TOOLKIT "older-toolkit":
        "a link of CUDA 12"
        when "The toolkit is older than 13.0, and the target is sm_100 or later; or, with `--cuweld-strict`, the link is one that nothing can be compared with (D28)."
        advice "Link as CUDA 13.0 or later does: `--cuweld-toolkit=13.0` takes the same objects.";
    KERNEL_BY_ADDRESS "kernel-by-address":
        "memory of a kernel that stays only because its address is taken"
        when "Kernels are left out in a link of toolkit 13.4 or later, and one that is named nowhere uses variables in shared memory."
        advice "Name the kernel in `-kernels-used`.";
    EWP_SHARED "ewp-shared":
        "shared memory of an -ewp object with -r, -g or -preserve-relocs, beside other copies of its kernel, or that no kernel uses"
        when "An object compiled with `-ewp` has fixed its shared memory."
        advice "Link without `-r` and `-g`, or compile without `-ewp`.";
    EWP_DEBUG "ewp-debug":
        "debug information of an -ewp object for sm_100 and up"
        when "An object compiled with `-ewp` and `-g` has debug information that its two views have in common."
        advice "Compile without `-ewp`, or without `-g`.";
    SHARED_LIMIT_DEBUG "shared-limit-debug":
        "-g with -disable-smem-reservation where a kernel uses too much shared data"
        when "The limit that nvlink compares with is not known for these options."
        advice "Use less shared memory.";
    RESERVED_SHARED_DISABLED "reserved-shared-disabled":
        "a variable in reserved shared memory with --disable-smem-reservation"
        when "The block is not reserved, and what lies in it has no place."
        advice "Link without `--disable-smem-reservation`.";
    DISCARDED_CONSTANTS "discarded-constants":
        "constants of a copy that is not linked, between one that has none and others"
        when "Of several definitions of a function, the first that has constants is discarded, and a later one that has some prevails for a time: nvlink writes two sections of one name. It puts constants of what a kernel calls at the beginning of the first, those of the kernel at the beginning of the other, and ends if two such definitions prevail one after the other."
        advice "Compile the definitions with the same options, so that the first one prevails.";
    CONSTANT_SYMBOL_RANGE "constant-symbol-range":
        "constants whose symbol goes over the end of their section"
        when "A symbol of compiler constants is larger than its section has room for.";
    CONSTANT_GAP "constant-gap":
        "constants between those that symbols name"
        when "A section of compiler constants has values that no symbol names.";
    BANK_LIMIT "bank-limit":
        "a function that needs a constant bank beyond 64 KiB"
        when "A constant bank of a function grew beyond what code can address.";
    EQUAL_CONSTANTS "equal-constants":
        "constants that only fit if equal values are merged"
        when "The compiler constants of a kernel are too large for their bank, and cannot be taken apart."
        advice "Recompile with `-Xptxas --disable-optimizer-constants`.";
    MISPLACED_CONSTANTS "misplaced-constants":
        "constants that only fit if equal values are merged, of a size that nvlink places wrongly"
        when "nvlink links such kernels wrong."
        advice "Give the pass `constant-bank-dedup` the option `below-limit`, or recompile with `-Xptxas --disable-optimizer-constants`.";

    // What is kept and written.
    REGISTER_COUNT "register-count":
        "a function without a register count"
        when "No `REGCOUNT` record says how many registers a function needs.";
    CONVERTED_COPIES "converted-copies":
        "copies of a function with Mercury before an object of SASS alone"
        when "The link becomes one of SASS, for which nvlink makes earlier code anew."
        advice "Give all objects with Mercury, or none.";
    CONVERTED_DEBUG "converted-debug":
        "code with Mercury before an object of SASS alone, with -g"
        when "The link becomes one of SASS, for which nvlink makes earlier code anew, for the debugger."
        advice "Give all objects with Mercury, or none, or compile them with `-G`.";
    MERCURY_LAYOUT "mercury-layout":
        "objects with Mercury as SASS alone"
        when "A pipeline lays objects with Mercury out with `layout-output`."
        advice "Use the pass `mercury-encode`, as the pipelines `mercury` and `mercury-relocatable` do.";
    MANY_SECTIONS "many-sections":
        "more than 65279 sections"
        when "The output has so many sections that symbols need an index table, and nvlink makes one whose number is not known.";

    // Passes and options.
    TRANSFORM "transform":
        "a transform whose conditions are not met"
        when "An opt-in pass cannot do its work soundly for this link. The message names the pass and the condition."
        advice "Leave the pass out of the pipeline.";
    OPTION "option":
        "an option that does nothing here"
        when "nvlink has the option, and this version of cuweld does not do what it says."
        advice "Leave the option out. The list of what links today names what is supported.";
    UNCOMPILED "uncompiled":
        "intermediate code that is not compiled"
        when "An input holds PTX or LTO-IR where only machine code can be linked."
        advice "Compile it to a relocatable cubin first (`ptxas -c`).";
    LTO_DEBUG "lto-debug":
        "-g for a large program of LTO-IR alone"
        when "The PTX of the program has more than 128 KiB. ptxas records the names of its files with `-g`, nvlink's own compiler has none, and so the program has to be an argument of ptxas."
        advice "Link without `-g`.";
    OBFUSCATED "obfuscated":
        "an obfuscated member of a fatbin"
        when "Only NVIDIA's tools can read it."
        advice "Build the file without obfuscation.";
}
