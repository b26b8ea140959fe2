//! Which definition of a name prevails, and what the output and messages say of it.

super::behaviours! {
    "Symbols": "Which definition of a name prevails, and what the output and messages say of it.";

    /// Of weak copies of a function the one that needs the fewest registers prevails, of equals the
    /// first, whatever their sizes.
    WEAK_FEWEST_REGISTERS = "weak-fewest-registers", shown by [
        "weak-fewer-registers-first",
        "weak-fewer-registers-later",
        "weak-unoptimised-copy",
        "symbol-resolve-fewer-registers",
        "symbol-resolve-first-weak-copy",
    ];
    /// A weak copy that needs as many registers as the one before it replaces it if it was compiled
    /// for a higher virtual architecture than the *first* copy, which need not be the one before
    /// it.
    WEAK_HIGHER_ARCHITECTURE = "weak-higher-architecture", shown by [
        "weak-higher-virtual-architecture",
        "weak-higher-virtual-architecture-objects",
    ];
    /// An alias of a function is a symbol of size 0 in its code, without records. Relocations that
    /// refer to it refer to the function, rows of the call graph to the alias, which calls the
    /// function. Where other functions have a mask of sparse instructions, the function gets the
    /// mask of one that has none, for each alias. A function that comes after its alias in an object
    /// is created right before it.
    FUNCTION_ALIASES = "function-aliases", shown by [
        "alias-before-switch-table",
        "alias-before-switch-table-relocatable",
        "aliases",
        "aliases-relocatable",
        "aliases-debug",
        "alias-before-function",
    ];
    /// How many registers a function uses is what `sh_info` of its code says, which compilers fill
    /// below sm_90, and what its REGCOUNT record says only without that.
    REGISTERS_OF_CODE = "registers-of-code", shown by [
        "registers-in-code",
        "registers-in-code-and-record",
    ];
    /// The REGCOUNT record does not count: weak copies without registers in `sh_info` need as many,
    /// and the first prevails.
    REGISTERS_OF_CODE_ALONE = "registers-of-code-alone" until (13, 0), shown by [
        "toolkit-12-weak-registers",
    ];
    /// The largest alignment of the copies of a function that were replaced stays that of its
    /// section.
    REPLACED_ALIGNMENT = "replaced-alignment", shown by ["replaced-copy-alignment"];
    /// All conflicts of the first object that has any are reported; objects after it are not looked
    /// at.
    CONFLICTS_END_MERGE = "conflicts-end-merge", shown by [
        "multiple-functions",
        "size-mismatch-and-twice",
    ];
    /// Messages name as the first file of a variable that of its first symbol, a mere declaration
    /// too. A common symbol that is the first with memory or larger than those before, and an
    /// initialised variable over a common symbol, put theirs in its place; another definition does
    /// not.
    NAMED_BY_FIRST_SYMBOL = "named-by-first-symbol", shown by [
        "multiple-variables-named-before",
        "size-mismatch-named-before",
        "multiple-definitions-over-common",
    ];
    /// Of one name in two memory spaces nvlink says what else is wrong as well.
    SPACE_CONFLICT_GOES_ON = "space-conflict-goes-on", shown by [
        "variable-against-function",
        "memory-space-mismatch",
        "alias-before-variable",
        "alias-before-shared-variable",
        "dynamic-shared-before-tentative",
    ];
    /// A function that has the name of a weak variable ends the link at once: a weak one, and a
    /// strong one if another object contributes to the section of the variable.
    FUNCTION_OVER_WEAK_VARIABLE = "function-over-weak-variable", shown by [
        "function-over-weak-variable",
        "weak-function-over-weak-variable",
    ];
    /// The size 0 agrees with any size, but for that of a tentative definition.
    SIZE_ZERO_AGREES = "size-zero-agrees", shown by ["common-size-zero", "unknown-size-arrays"];
    /// The size of an undefined variable is that of its first reference, also where that says none
    /// (`extern int a[]`): later references and definitions of any size then fit.
    FIRST_REFERENCE_SIZE = "first-reference-size", shown by [
        "unknown-size-references",
        "relocatable-unknown-size-references",
    ];
    /// Tentative definitions of a name are one variable of the largest size and the first
    /// alignment.
    TENTATIVE_FIRST_ALIGNMENT = "tentative-first-alignment", shown by [
        "common-symbols",
        "symbol-resolve-tentative",
    ];
    /// A definition without contents takes the place of a tentative one, as one with contents does;
    /// the tentative one takes no room.
    DEFINITION_OVER_TENTATIVE = "definition-over-tentative" since (13, 3), shown by [
        "toolkit-13-tentative",
        "toolkit-13-tentative-errors",
    ];
    /// With `-g` a shared variable that one kernel alone uses is local, in its place among those that
    /// are not.
    PRIVATE_SHARED_LOCAL = "private-shared-local" since (13, 4), shown by [
        "toolkit-13-private-shared",
    ];
    /// From sm_100 on symbols of an object are created local ones first, which compilers before
    /// 13.4 leave between others.
    LOCALS_FIRST = "locals-first" since (13, 5), shown by ["toolkit-13-locals-first"];
    /// A tentative definition that replaces a weak uninitialised one stays weak.
    TENTATIVE_STAYS_WEAK = "tentative-stays-weak", shown by ["common-and-definitions"];
    /// A NOTYPE symbol has no part in a link, whatever its name, binding, section and value; a
    /// reference to one is a reference to symbol 0, but for [undeclared-names].
    UNTYPED_SYMBOLS = "untyped-symbols", shown by [
        "symbols-without-type",
        "symbols-without-type-relocatable",
    ];
    /// A local NOTYPE symbol that is undefined, as debug information has it for names that its unit
    /// does not declare, stands for the symbol of its name that an object before has, a global one
    /// first; in resolved relocations for the section of its object that has its name, too.
    UNDECLARED_NAMES = "undeclared-names", shown by [
        "debug-names-before-kernels",
        "relocatable-debug-names-before-kernels",
        "debug-names-undeclared",
        "debug-names-undeclared-twice",
        "preserve-relocs-later-section",
        "relocatable-debug-names-undeclared",
    ];
    /// In relocatable output a variable that nobody defines has the value -1 if a strong reference
    /// made its symbol.
    UNDEFINED_VALUE = "undefined-value", shown by ["relocatable-undefined"];
    /// What has a unified address is marked so if the symbol that came first is.
    UNIFIED_BY_FIRST_SYMBOL = "unified-by-first-symbol", shown by [
        "relocatable-unified-plain-reference",
        "unified-reference-before-plain-variable",
    ];
    /// A function or a reference to one that has the name of an earlier local kernel is an error, as
    /// if the kernel were global, and so is a kernel after a local function. Which of the two the name
    /// is, the first local symbol says. A local kernel after the first of such functions is no error.
    LOCAL_KERNEL_BEFORE_FUNCTION = "local-kernel-before-function", shown by [
        "local-kernel-before-function",
        "local-kernel-before-reference",
        "local-kernel-after-function",
        "kernel-after-local-function",
        "local-function-after-kernel",
        "local-variable-before-local-kernel",
    ];
    /// A local kernel and other kernels of its name have one bank, that of the first: the parameters of
    /// each are added to its end, while code and records have them at its beginning. Those of a weak
    /// kernel after a local one are not added, and have to have the size of the first.
    PARAMETERS_OF_LOCAL_KERNELS = "parameters-of-local-kernels", shown by [
        "local-kernels",
        "local-kernels-relocatable",
        "local-and-global-kernel",
        "local-and-global-kernel-relocatable",
        "local-kernels-linked-again",
        "local-and-weak-kernel",
        "local-and-weak-kernel-sizes",
        "local-and-weak-kernel-sizes-mercury",
    ];
    /// With `-g` the first function of an object that is undefined and new to the link leaves a local
    /// symbol without a name and section, which the object's records have in place of symbol 0.
    UNDEFINED_LEAVES_UNNAMED = "undefined-leaves-unnamed" until (13, 0), shown by [
        "toolkit-12-debug",
    ];
    /// Functions that the driver provides may stay undefined: those whose names begin with
    /// `__cuda_syscall`, and 33 others. A variable of such a name needs a definition.
    SYSTEM_FUNCTIONS = "system-functions", shown by [
        "system-functions",
        "system-functions-near-names",
        "system-functions-relocatable",
        "check-undefined-names",
    ];
    /// Only a member of the device runtime library at whose turn a function is undefined that the
    /// driver does not provide takes part in a link; undefined variables do not count.
    RUNTIME_WHEN_NEEDED = "runtime-when-needed", shown by [
        "select-objects-needed-member",
        "select-objects-system-library",
    ];
    /// What is undefined and was referred to weakly first is no error.
    WEAK_MAY_BE_UNDEFINED = "weak-may-be-undefined" until (13, 4), shown by [
        "weak-undefined-function",
        "toolkit-13-weak-undefined",
    ];
    /// A name whose first symbol is weak stands among the local symbols, in the order of creation,
    /// and all other global ones after them, also if a strong definition prevails.
    WEAK_BEFORE_GLOBAL = "weak-before-global" until (13, 4), shown by [
        "toolkit-13-symbol-order",
        "toolkit-13-constants-laid-out-again",
        "weak-templates",
        "weak-against-strong",
    ];
    /// The sizes of descriptors that `txq` and `suq` of a handle in a register refer to
    /// (`.nv.unified.texrefDescSize`, `.nv.surfrefDescSize` and those of the independent mode) are
    /// weak and undefined in objects, global and undefined in executables, with their relocations,
    /// for the driver. The type is OBJECT, with Mercury that of a variable in both views.
    DESCRIPTOR_SIZES = "descriptor-sizes", shown by [
        "descriptor-sizes",
        "relocatable-descriptor-sizes",
        "relocatable-descriptor-sizes-again-executable",
    ];
}
