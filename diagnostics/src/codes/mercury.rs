//! Objects with Mercury that cuweld does not link.

use crate::code::codes;

codes! {
    Unsupported "unsupported/mercury-";

    NEEDS_FINALIZER "needs-finalizer":
        "code that needs NVIDIA's finalizer"
        when "nvlink's finalizer would compile the Mercury of an object anew: for another SM, for an option, or because the compiler was older than 13.0. cuweld has no code generator."
        advice "Compile for the target itself with CUDA 13.0, or leave PTX in the object.";
    TWO_VIEWS "two-views":
        "the two views of an object do not stand for each other"
        when "The Mercury of an object is not that of its SASS, so that one of them was changed.";
    SECTION "section":
        "an unknown section of the Mercury view"
        when "A section with the flag of Mercury is not one that compilers write.";
    CONSTANT_BANK "constant-bank":
        "constant banks but 2, 3 and 4 for sm_100 and up"
        when "An object has a constant bank that compilers for sm_100 and up do not write.";
    FUNCTION_BANK "function-bank":
        "constants of functions in banks but 2 for sm_100 and up"
        when "A function has constants in a bank that compilers for sm_100 and up do not use.";
    DEBUG_SECTION "debug-section":
        "debug information of an unknown kind for sm_100 and up"
        when "A section of debug information is not one that is known to be linked exactly.";
    UNOWNED "unowned":
        "Mercury that no function has"
        when "A section of Mercury belongs to no function.";
    UNIFIED_TABLE "unified-table":
        "a unified table of another kind for sm_100 and up"
        when "A unified table is not one that compilers write.";
    EMPTY_RELOCATIONS "empty-relocations":
        "a relocation section of the Mercury view without rows"
        when "A relocation section of the Mercury view is empty.";
    LOCAL_FUNCTIONS "local-functions":
        "local functions of one name with other relocations or attributes in an object of a link with -r"
        when "Local functions of one name share a relocation section and a list of attributes, and these differ.";
    MISSING "missing":
        "a function without Mercury"
        when "A function of an object with Mercury has SASS alone.";
    FORM "form":
        "Mercury of another form"
        when "The Mercury of a function does not have the form that compilers write.";
    LINE_TABLE "line-table":
        "a line table of another form"
        when "A line table cannot be taken apart into functions, or has lines of a replaced definition, and where they lie in the code that is linked is not known. With `--cuweld-strict` also where nvlink may repeat a line (deviation D26).";
    LINE_VALUE "line-value":
        "a value in the lines of a function"
        when "A relocation of a line table refers to something else than an address.";
    LINE_VIEWS "line-views":
        "lines of functions in two views that differ"
        when "The line tables of the two views name other functions.";
    PARAMETERS "parameters":
        "a kernel without a section of parameters"
        when "A kernel has no section of parameters that could be derived.";
    CONSTANTS_WITHOUT_MERCURY "constants-without-mercury":
        "constants of a function without Mercury"
        when "A section of constants has no counterpart in the other view.";
    CONSTANTS_SIZE "constants-size":
        "constants of a function of two sizes"
        when "The constants of a function differ in size between the views.";
    RESERVED_SHARED "reserved-shared":
        "sections with bytes after reserved shared memory"
        when "A section with bytes comes after that of reserved shared memory, whose place would change.";
    ATTRIBUTE_LENGTH "attribute-length":
        "an attribute list of another length"
        when "The list of records of a function has another size than its records.";
    ATTRIBUTE_SYMBOL "attribute-symbol":
        "an attribute that names another symbol"
        when "A record names another symbol in the SASS view than in the Mercury view.";
    MISSING_ATTRIBUTES "missing-attributes":
        "a function without attributes in a view"
        when "A function has a list of records in one view only.";
    ATTRIBUTE_VIEWS "attribute-views":
        "attributes of a function in two views that differ"
        when "The lists of records of a function differ in more than what the views are known to differ in.";
    DOUBLE_PRECISION "double-precision":
        "double precision arithmetic of a form that no compiler writes"
        when "Whether code runs on other SMs cannot be told from its instructions.";
    FAST_PATH "fast-path":
        "a record of fast path targets against the code"
        when "An object says that its code runs on SMs that the code does not run on.";
    REPLACED_FRAMES "replaced-frames":
        "frames of a copy that is replaced"
        when "A frame belongs to a definition that another replaced, and its place in the code that is linked is not known.";
    FRAMES "frames":
        "frames of another form"
        when "`.debug_frame` cannot be taken apart into frames, or its relocations are unusual.";
    SYMBOL_SECTION "symbol-section":
        "a symbol in the section of number 0xfff2, with -r for sm_100 and up"
        when "The number of a section has a meaning of its own in a symbol."
        advice "Link fewer objects at once.";
    REGISTER_RANGES "register-ranges":
        "ranges of registers of another form"
        when "Debug information of registers cannot be taken apart into functions.";
    UNIFIED_LINKS "unified-links":
        "a unified table of -r for a toolkit since 13.5"
        when "With `--cuweld-strict`: nvlink since CUDA 13.5 gives unified tables of relocatable output another section than their symbols'."
        advice "Link without `--cuweld-strict`: the tables name their symbols, and the link says so (D29).";
    RANGES_AFTER_CODE "ranges-after-code":
        "ranges of registers of a copy that is not linked"
        when "With `--cuweld-strict`: the first copy of a function has a range of registers whose end is not in the code that is linked; nvlink writes what its memory holds (deviation D25)."
        advice "Without strict mode such ranges are empty.";
    RELOCATION_VIEWS "relocation-views":
        "relocations in two views that differ"
        when "The relocations of a section do not stand for each other in the two views.";
    APPLIED_TOGETHER "applied-together":
        "applied relocations of local functions of one name"
        when "With `-preserve-relocs` and `--cuweld-strict`: nvlink looks up the places of all in the code of the first, and writes what its memory holds where there is none (deviation D22)."
        advice "Without strict mode each keeps its own places.";
    DISCARDED_DEBUG "discarded-debug":
        "debug information of a copy that is not linked, with other code"
        when "A discarded definition has other code than the prevailing one, whose instructions in Mercury are not known, and debug information that refers to it.";
    RELOCATION_PLACE "relocation-place":
        "a relocation of Mercury at an unknown place"
        when "A relocation of Mercury lies outside of code, at a site that was cleared, or has no value.";
}
