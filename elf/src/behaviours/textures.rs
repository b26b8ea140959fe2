//! Slots of textures, samplers and surfaces in constant bank 0.

super::behaviours! {
    "Textures": "Slots of textures, samplers and surfaces in constant bank 0.";

    /// Every texture, sampler and surface of a link has a slot of four bytes, used or not, after
    /// the largest bank 0 of all live kernels; the bank of a kernel that reaches code with a
    /// reference that needs a slot holds all of them.
    HEADER_SLOTS = "header-slots", shown by ["textures", "textures-across-units"];
    /// The driver fills slots of textures if the kernel reaches a reference to a texture or a
    /// surface, slots of samplers if it reaches one to a sampler or a surface, and slots of
    /// surfaces always.
    SLOTS_BY_KIND = "slots-by-kind", shown by ["texture-kinds"];
    /// The only kernel of a link has the slots of all functions that prevail, reached or not.
    ONLY_KERNEL_SLOTS = "only-kernel-slots", shown by [
        "textures-one-kernel",
        "only-kernel-texture-copies",
    ];
    /// A kernel that stays beside those that have what they reach has slots if its own code refers
    /// to a texture, sampler or surface; none with Mercury beside the only kernel that is named.
    LEFT_OUT_SLOTS = "left-out-slots", shown by ["kernel-by-address-textures"];
    /// Relocatable output has no slots: code has the addend alone and bank 28 filled in, as of an
    /// undefined symbol. Rows of the types that executables keep, and of the ABS32 types of
    /// instructions, stay.
    RELOCATABLE_WITHOUT_SLOTS = "relocatable-without-slots", shown by [
        "relocatable-textures",
        "relocatable-textures-again-executable",
        "relocatable-textures-preserve-relocs",
    ];
    /// Mercury counts slots from the first one, which begins at a multiple of 16. So does SASS, but
    /// for operands in the bank: those of loads by an index in a register are made anew.
    MERCURY_SLOTS = "mercury-slots", shown by ["textures-by-index", "relocatable-textures-by-index"];
    /// The SASS view of a kernel with slots has records of the banks of textures and of surfaces at
    /// the end of its list.
    MERCURY_SLOT_BANKS = "mercury-slot-banks", shown by ["textures-report-mercury"];
    /// A texture, sampler or surface that is a parameter of a kernel (`.param .texref` of PTX) is a
    /// local symbol in the kernel's code. It has a slot as others have, but the driver fills it for
    /// the kernel whose code the symbol is in alone, whoever else refers to it. Where that kernel is
    /// not linked, the link ends with `reference to deleted section`.
    HEADER_PARAMETERS = "header-parameters", shown by [
        "texture-parameters",
        "texture-parameters-shared",
        "texture-parameters-again-executable",
        "texture-parameter-of-dead-kernel",
    ];
}
