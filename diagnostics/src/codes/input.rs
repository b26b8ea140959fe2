//! Files that cannot be linked, and what is left out of them.

use crate::code::codes;

codes! {
    Input "input/";

    // Files and containers.
    CANNOT_OPEN "cannot-open":
        "an input that cannot be opened"
        when "The file is missing, unreadable, a folder, or too short for any input."
        advice "Check the path, and what the note says.";
    THIN_ARCHIVE_MEMBER "thin-archive-member":
        "a member of a thin archive that cannot be opened"
        when "A thin archive names files, which are looked up from the current folder."
        advice "Link from where `ar` ran, or make a regular archive.";
    TRUNCATED_ARCHIVE "truncated-archive":
        "an archive that is damaged or cut off"
        when "An archive ends in the middle of a member, or the header of a member is damaged."
        advice "Make the archive again.";
    NOT_AN_ARCHIVE "not-an-archive":
        "a library that is no archive"
        when "A file that `-l` found does not begin as archives do."
        advice "Make the library again.";
    LIBRARY_IS_FOLDER "library-is-folder":
        "a folder with the name of a library"
        when "A folder that `-L` names holds a folder with the name of the library."
        advice "Correct `-L` or `-l`.";
    SKIPPED_LIBRARY "skipped-library":
        "a library that is passed over"
        when "A library that `-l` found is for another host architecture, or has no members."
        advice "Correct `-L`, or install the library for this machine.";
    NOT_ELF "not-elf":
        "a cubin that is no ELF file"
        when "A file named `.cubin` does not begin as ELF files do.";
    NOT_DEVICE_ELF "not-device-elf":
        "a cubin for another machine"
        when "A file named `.cubin` is an ELF file of the host."
        advice "Give host objects the extension `.o`.";
    NOT_FATBIN "not-fatbin":
        "a fatbin without its magic number"
        when "A file named `.fatbin` does not begin as fatbins do."
        advice "The file seems damaged or cut off: build it again.";
    MISSING_FATBIN "missing-fatbin":
        "a host object without the fatbin that it speaks of"
        when "The section that points to the device code of a host object is damaged."
        advice "The file seems damaged or cut off: build it again.";
    UNKNOWN_FORMAT "unknown-format":
        "a .ptx that holds something else"
        when "A file named `.ptx` holds neither PTX, nor a cubin, nor a fatbin.";
    FATBIN_VERSION "fatbin-version":
        "a fatbin of another format version"
        when "The version of a fatbin is not 1.";
    DAMAGED_FATBIN "damaged-fatbin":
        "a fatbin that contradicts itself"
        when "The headers of a fatbin contradict each other or its size."
        advice "The file seems damaged or cut off: build it again.";
    DECOMPRESSION "decompression":
        "a member of a fatbin that cannot be decompressed"
        when "The compressed bytes are damaged."
        advice "The file seems damaged or cut off: build it again.";
    UNKNOWN_ARCH "unknown-arch":
        "a member of a fatbin without an architecture"
        when "The number of the SM of a member is 0.";
    WORD_SIZE "word-size":
        "32-bit device code"
        when "An object is an ELF32 file, and all targets have 64 bits."
        advice "Compile it for 64 bits.";
    ONLY_LTO_IR "only-lto-ir":
        "LTO-IR without -lto"
        when "For the target, an input holds LTO-IR alone."
        advice "Link with `-dlto`, or compile with `code=sm_XX` beside `code=lto_XX`.";
    BITCODE "bitcode":
        "LLVM bitcode"
        when "A file named `.bc` is given."
        advice "Compile it to PTX or to a relocatable object first.";
    AFTER_ERROR "after-error":
        "an input that is not looked at after an error"
        when "A warning became an error (`-Werror`), and a fatbin, PTX, a host object or an archive comes after it."
        advice "Correct the error before it.";
    MODULE_IDS "module-ids":
        "module ids of several kinds in one section, or one that is no name"
        when "`__nv_module_id` of a host object mixes ids of linked modules and of modules to link, or, for `cuweld dlink --host-source`, has an id that is no name in C.";
    NO_CODE_FOR_TARGET "no-code-for-target":
        "an input without code for the target"
        when "A fatbin or host object holds code for other architectures only."
        advice "Compile it for the target too, or leave PTX in it.";

    // Objects.
    DAMAGED_OBJECT "damaged-object":
        "a damaged device object"
        when "The tables of a device ELF file contradict each other or its size. nvlink ignores many such files without a word (deviation D01).";
    ABI "abi":
        "an object of another ABI"
        when "The OSABI or ABI version of an object is not that of the generation of the target."
        advice "Compile it with a toolkit of the same generation.";
    ARCHITECTURE "architecture":
        "an object for another architecture"
        when "The SM of an object is not the target, and its code does not run there."
        advice "Compile it for the target, or link with the `-arch` of the object.";
    OLD_TOOLKIT "old-toolkit":
        "an object of a toolkit that is too old"
        when "The object was compiled before CUDA 12.0."
        advice "Compile it again.";
    NEW_TOOLKIT "new-toolkit":
        "an object of a toolkit that is too new"
        when "The object was compiled with a later release than 13.0."
        advice "Compile it with CUDA 13.0.";
    EWP_TOOLKIT "ewp-toolkit":
        "-ewp objects of another toolkit"
        when "An object compiled with `-ewp`, or one after it, is not of the current toolkit."
        advice "Compile all objects with CUDA 13.0.";
    MERCURY_FLAGS "mercury-flags":
        "flags of Mercury on an object that cannot have it"
        when "The flags of the ELF header contradict the target or the kind of the object.";
    ADDRESS_FLAG "address-flag":
        "an object without the flag of 64-bit addresses"
        when "The ELF header lacks `EF_CUDA_64BIT_ADDRESS`.";
    SASS_ALONE "sass-alone":
        "an object that limits the output to one SM"
        when "The target is sm_100 or up, and an object has SASS without Mercury."
        advice "Nothing, if the output is for that SM; else compile the object with CUDA 13.0.";
    ISA_CLASS "isa-class":
        "an object without its class of instructions"
        when "`.nv.compat` of an object has no record `ISA_CLASS`, so that the output is for one SM alone.";
    MERCURY_VERSION "mercury-version":
        "Mercury of a later version"
        when "The major version of the Mercury of an object is more than 1."
        advice "Compile it with CUDA 13.0.";
    FINALIZER "finalizer":
        "an object that the finalizer does not take"
        when "nvlink's finalizer refuses the object; the note has its return code and what it means.";
    SELF_CHECK "self-check":
        "code whose two views contradict each other"
        when "The finalizer's self-check compares the two views of the output, and finds a difference.";

    // What nvlink calls internal errors.
    RELOCATED_METADATA "relocated-metadata":
        "unexpected reloc section"
        when "A relocation section is for a section that none may be for.";
    UNMAPPED_SECTION "unmapped-section":
        "section not mapped"
        when "A texture, sampler or surface stands in a section that is not part of the output.";
    PAST_END "past-end":
        "relocation is past end of offset"
        when "A relocation that stays lies after the end of its section.";
    NO_ADDRESS "no-address":
        "reloc address not found"
        when "A relocation lies after the end of its section.";
    DELETED_SYMBOL "deleted-symbol":
        "reference to deleted symbol"
        when "A relocation that stays refers to what does not.";
    DELETED_SECTION "deleted-section":
        "reference to deleted section"
        when "A definition without constants replaced one that has some, and symbols of that one stay; or a texture, sampler or surface is a parameter of a kernel that is left out.";
    BRANCH "branch":
        "PC relative branch address should be in the same section"
        when "A relative branch refers to another function.";
    RESERVED_SHARED "reserved-shared":
        "unexpected NVRS"
        when "A relocation for reserved shared memory has another target.";
    PRUNED_RELOCATION "pruned-relocation":
        "unexpected reloc"
        when "Kernels are left out, and a definition with relocations was replaced by another.";
    CONSTANT_CHUNKS "constant-chunks":
        "constants that overlap in an unknown way"
        when "Symbols of compiler constants overlap in a way that nvlink does not take.";
    UNIFIED_INDEX "unified-index":
        "a file of unified indices that cannot be used"
        when "The file that `--uidx-file` names cannot be read, or is not of that format.";
}
