//! What the fields of rows mean.

use super::Meaning;

/// Fields, by the rows that have them, in the order in which they are printed.
pub(super) const FIELDS: &[(&[&str], &[Meaning])] = &[
    (
        &["module"],
        &[
            (
                "phase",
                "How far the link has come; each phase has invariants.",
            ),
            (
                "toolkit",
                "The version of the CUDA toolkit whose linker is stood in for.",
            ),
            ("target", "The GPU to link for."),
            ("bytes", "How contents are written."),
        ],
    ),
    (
        &["object"],
        &[
            (
                "member",
                "The member of the archive or fatbin that holds the object.",
            ),
            ("type", "`e_type`: REL, EXEC, or EWP."),
            ("flags", "`e_flags`, with the SM number."),
            (
                "legacy",
                "`e_version` of the header of toolkits up to 12.9: the toolkit that made the object.",
            ),
            (
                "abi",
                "OSABI and ABI version, if they are not the usual ones.",
            ),
            (
                "state",
                "Whether and why the object takes part in the link.",
            ),
            (
                "system-library",
                "The object is of NVIDIA's device runtime library.",
            ),
            (
                "silent",
                "Nothing says which of its kernels host code refers to.",
            ),
            ("origin", "In what the object stood, or what made it."),
            ("image", "The file of the object, by SHA-256 and size."),
        ],
    ),
    (
        &["section"],
        &[
            ("flags", "`sh_flags`."),
            ("align", "`sh_addralign` in bytes."),
            ("entsize", "`sh_entsize` in bytes."),
            ("link", "`sh_link`, a section of the same object."),
            (
                "info",
                "`sh_info`: a section, a function with bits 31:24, or a number.",
            ),
            ("bytes", "Its contents."),
            ("nobits", "Its size in bytes; it has none in the file."),
            ("decoded", "Its contents are rows of other tables."),
            ("relocs", "The relocations that it holds."),
            ("attributes", "The records that it holds."),
            ("kind", "What it is to the linker; set by `classify`."),
            (
                "owner",
                "The function whose code, attributes, constants or shared variables it holds; set by `classify`.",
            ),
            (
                "place",
                "Offset in bytes of this contribution in the output section; set by `place-memory`.",
            ),
            ("object", "The object that owns the row."),
        ],
    ),
    (
        &["symbol"],
        &[
            (
                "other",
                "`st_other`: kernels have ENTRY, variables their memory.",
            ),
            ("undefined", "It is defined elsewhere."),
            ("in", "The section in which it is defined."),
            ("common", "A tentative definition (SHN_COMMON)."),
            ("absolute", "An absolute value (SHN_ABS)."),
            ("reserved", "Another reserved section index."),
            (
                "value",
                "`st_value`: the offset in the section; the alignment of shared and common variables.",
            ),
            ("size", "Size in bytes."),
            ("function", "The function that it defines."),
            (
                "link",
                "The resolved symbol that it stands for; set by `symbol-resolve`.",
            ),
            ("object", "The object that owns the row."),
        ],
    ),
    (
        &["function"],
        &[
            ("sass", "The section of its code as SASS."),
            (
                "sass-info",
                "The section of its attributes; set by `classify`.",
            ),
            ("merc", "The section of its code as Mercury."),
            (
                "merc-info",
                "The section of the attributes of its Mercury view.",
            ),
            ("fate", "What the link made of this copy."),
            (
                "remade",
                "How its code was made anew, as NVIDIA's finalizer does; set by `mercury-schedule`.",
            ),
            (
                "registers",
                "Registers that its object says it needs (REGCOUNT).",
            ),
            (
                "shared",
                "Layout of a kernel's shared memory; set by `place-memory`.",
            ),
            (
                "dynamic-shared",
                "Address of dynamic shared memory as its code sees it; set by `place-memory`.",
            ),
            (
                "unnamed-shared",
                "Where shared memory of a kernel lies that no symbol names, in bytes.",
            ),
            (
                "headers",
                "Which headers the driver fills at the end of the kernel's constant bank 0.",
            ),
            (
                "stack-limit",
                "The most bytes of stack that it may use (MAX_STACK_SIZE).",
            ),
            (
                "flag-barriers",
                "The barrier count in the section flags of its code.",
            ),
            ("merc-size", "Size in bytes of its code as Mercury."),
            ("object", "The object that owns the row."),
            ("size", "In `shared`: size in bytes."),
            ("align", "In `shared`: alignment in bytes."),
            (
                "slots-align",
                "In `shared`: alignment in bytes of the slots that several kernels share.",
            ),
            ("present", "In `shared`: the output has the section."),
        ],
    ),
    (
        &["reloc"],
        &[
            (
                "addend",
                "The explicit addend, or what stands in place of one.",
            ),
            ("keep", "It stays in the output, with this type and addend."),
            (
                "apply",
                "The linker writes this value into the field of this type.",
            ),
            ("clear", "The linker clears the field."),
            ("drop", "It is left out: nothing has to be done."),
            ("gone", "Its section is not linked."),
            (
                "rela",
                "In `keep`: the output's row has an explicit addend.",
            ),
            ("value", "In `apply`: the value."),
            ("in-place", "In `apply`: it is added to what stands there."),
        ],
    ),
    (
        &["attribute"],
        &[
            ("value", "The value of a record that is no SVAL."),
            (
                "refs",
                "References that the record shares with another one.",
            ),
            ("bytes", "A payload that is not whole words."),
        ],
    ),
    (
        &["call", "prototype"],
        &[("prototype", "The prototype, such as `#ii`.")],
    ),
    (
        &["note"],
        &[
            ("type", "The type of the note."),
            ("desc", "Its descriptor."),
            (
                "cuinfo",
                "The descriptor of `.note.nv.cuinfo`: version, virtual SM and toolkit.",
            ),
            (
                "tkinfo",
                "The descriptor of `.note.nv.tkinfo`: object, tool, version, branch and options.",
            ),
            ("version", "In `cuinfo`: the version of the descriptor."),
            (
                "sm",
                "In `cuinfo`: the virtual architecture that the code was compiled for.",
            ),
            ("toolkit", "In `cuinfo`: major * 10 + minor."),
        ],
    ),
    (
        &["link-symbol"],
        &[
            ("definition", "The prevailing definition."),
            (
                "live",
                "Whether the output keeps it; set by `callgraph-dce`.",
            ),
            (
                "size",
                "Size in bytes: of the definition, or the largest of the tentative ones.",
            ),
            (
                "common-align",
                "Alignment in bytes of a tentative definition that prevails.",
            ),
            (
                "value",
                "Offset in its output section, or address in shared memory; set by `place-memory`.",
            ),
            (
                "kernel",
                "The kernel that has a shared variable for itself.",
            ),
            (
                "internal",
                "The output shows it as a local symbol; set by `internalize`.",
            ),
            (
                "order",
                "Place of its code among the functions of the output; set by `order-functions`.",
            ),
        ],
    ),
    (
        &["bank-piece"],
        &[
            ("bank", "The number of the constant bank."),
            ("section", "The input section that holds the constants."),
            ("offset", "Offset in bytes in the kernel's bank."),
            ("size", "Size in bytes; 0 if only the place is left."),
            (
                "align",
                "Alignment in bytes of the bank once this piece is in it.",
            ),
        ],
    ),
    (
        &["pool-part"],
        &[
            ("bank", "The number of the constant bank."),
            ("start", "Offset in bytes in the section."),
            ("size", "Size in bytes."),
            ("offset", "Offset in bytes in the pool."),
        ],
    ),
    (
        &["header-slot"],
        &[(
            "offset",
            "Offset in bytes in the bank, the same for all kernels.",
        )],
    ),
    (
        &["fixup"],
        &[
            ("offset", "Offset in bytes of a 64-bit word in the section."),
            ("bit", "The first bit of the field."),
            ("width", "The number of bits."),
            ("value", "What is written into the field."),
            ("add", "It is added to what stands there."),
            ("cause", "The relocation that it comes of."),
        ],
    ),
    (
        &["plan"],
        &[
            ("type", "`e_type`."),
            ("flags", "`e_flags`."),
            (
                "legacy",
                "`e_version` of a file with the header of toolkits up to 12.9.",
            ),
            ("shoff", "File offset in bytes of the section headers."),
            ("phoff", "File offset in bytes of the program headers."),
            ("shstrndx", "Index of the section name table."),
            ("file-size", "Size of the file in bytes."),
        ],
    ),
    (
        &["output-section"],
        &[
            ("name", "`sh_name`: an offset into the section names."),
            ("type", "`sh_type`."),
            ("flags", "`sh_flags`."),
            ("offset", "File offset in bytes."),
            ("size", "Size in bytes."),
            ("link", "`sh_link`."),
            ("info", "`sh_info`."),
            ("align", "`sh_addralign` in bytes."),
            ("entsize", "`sh_entsize` in bytes."),
            ("no-bytes", "It has no bytes in the file."),
            ("bytes", "Its bytes."),
            (
                "pieces",
                "The copies of input sections that it consists of.",
            ),
            ("relocs", "Its relocation rows."),
            ("alias", "The earlier output section whose bytes it has."),
            ("section-names", "It holds the section names."),
            ("symbol-names", "It holds the symbol names."),
            ("symbols", "It holds the symbols."),
        ],
    ),
    (
        &["piece"],
        &[
            ("offset", "Offset in bytes in the output section."),
            ("section", "The input section."),
            (
                "size",
                "The bytes that it copies, from the beginning; all if there is no number.",
            ),
        ],
    ),
    (
        &["output-symbol"],
        &[
            (
                "name",
                "`st_name`: an offset into the symbol names, with the name.",
            ),
            ("bind", "Its binding."),
            ("type", "Its type."),
            ("other", "`st_other`."),
            ("section", "`st_shndx`."),
            ("value", "`st_value`."),
            ("size", "`st_size`."),
        ],
    ),
    (
        &["output-reloc"],
        &[
            ("offset", "Offset in bytes in the output section."),
            ("type", "Its type."),
            ("symbol", "The output symbol, with its name."),
            ("addend", "The explicit addend."),
        ],
    ),
    (
        &["segment"],
        &[
            ("type", "`p_type`."),
            ("flags", "`p_flags`."),
            ("offset", "File offset in bytes."),
            ("file-size", "Size in bytes in the file."),
            ("mem-size", "Size in bytes in memory."),
        ],
    ),
];
