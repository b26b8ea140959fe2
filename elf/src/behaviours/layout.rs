//! Sections, names and program headers of the output.

super::behaviours! {
    "Layout": "Sections, names and program headers of the output.";

    /// Sections are made in the order in which objects need them, also those that are removed
    /// again, and sorted into the file by what they are.
    SECTIONS_BY_CLASS = "sections-by-class", shown by [
        "layout-output-one-kernel",
        "layout-output-variables",
        "functions-across-units",
    ];
    /// Every section lies at a multiple of its alignment; those without bytes take no room in the
    /// file, and the data segment ends at the offset of the last of them.
    SEGMENTS_OF_EMPTY_SECTIONS = "segments-of-empty-sections", shown by [
        "data-without-code",
        "empty-result",
    ];
    /// Each row of a section with addends that has none makes a section of rows without addends
    /// too, unless it is the first; that section stays empty and leaves its name.
    EMPTY_REL_NAMES = "empty-rel-names" until (13, 5), shown by [
        "global-variables",
        "line-info",
    ];
    /// The relocations of constants of discarded copies stay with them.
    ROWS_OF_DISCARDED_CONSTANTS = "rows-of-discarded-constants", shown by [
        "losing-copy-table-mercury",
        "relocatable-losing-copy-table-mercury",
    ];
    /// If a function of the link, called or not, has relocations of its constants, each bank that
    /// constants of functions move to leaves the name of its relocation section.
    ROWS_OF_ANY_CONSTANTS = "rows-of-any-constants", shown by ["table-without-rows-mercury"];
    /// Sections of constants of functions and of a kernel's shared memory get SHF_INFO_LINK, which
    /// compilers before 12.8 leave out; banks of parameters, and relocation sections of slots
    /// without addends, do not.
    INFO_LINK_ADDED = "info-link-added", shown by ["toolkit-12-0", "toolkit-12-0-relocatable"];
    /// SHF_COMPRESSED means nothing: contents are taken as they are. Code and shared memory lose
    /// the flag; sections whose bytes are the inputs' keep it.
    COMPRESSED_FLAG_KEPT = "compressed-flag-kept", shown by [
        "packed-sections",
        "packed-sections-relocatable",
    ];
    /// `.nv.rel.action` of an object is left out if it has no symbols: the output has the linker's
    /// own.
    OWN_REL_ACTION = "own-rel-action", shown by [
        "rel-action-in-object",
        "rel-action-in-object-relocatable",
    ];
    /// The symbol of a row's section is looked up by the name of the section, which local functions
    /// of one name share. With Mercury their relocations, their attributes and the options that they
    /// were compiled with are looked up so, too (deviation D12).
    SECTION_FOUND_BY_NAME = "section-found-by-name", shown by [
        "static-same-names",
        "mercury-local-names-linked-again",
        "relocatable-mercury-local-names-linked-again",
    ];
    /// Sections are numbered as they are made, those of dead functions too, where a copy was taken
    /// at its turn. A file has a `.symtab_shndx` if any number is 0xff00 or more; its rows hold the
    /// number where `st_shndx` holds the index.
    NUMBERS_OF_DEAD_SECTIONS = "numbers-of-dead-sections", shown by ["weak-dead-copies"];
    /// A section with the index 0xfff2, which means tentative definitions, has it as it is in
    /// `st_shndx`, and so has one with that number in relocatable output; compilers write it so
    /// too.
    INDEX_OF_TENTATIVE = "index-of-tentative", shown by ["weak-dead-copies"];
    /// Strings stand in the order of first use, without duplicates and without sharing suffixes;
    /// names that nothing uses in the end stay.
    NAMES_STAY = "names-stay", shown by [
        "kernels-used-shared",
        "weak-constants-removed-relocatable",
        "layout-output-one-kernel",
    ];
    /// An uninitialised section counts only if a definition of it is taken; it is made with the
    /// first one.
    DISCARDED_MAKES_NO_SECTION = "discarded-makes-no-section", shown by [
        "losing-variable-section-order",
        "losing-initialised-variable-section-order",
    ];
}
