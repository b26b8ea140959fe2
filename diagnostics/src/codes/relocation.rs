//! Relocations that cuweld does not link.

use crate::code::codes;

codes! {
    Unsupported "unsupported/relocation-";

    DAMAGED_DUMP "dump-callgraph":
        "a damaged relocation with -dump-callgraph"
        when "nvlink finds such a relocation only when it writes, after it has shown a part of the call graph."
        advice "Link without `-dump-callgraph` to see what is wrong with the relocation.";
    METADATA "metadata":
        "a reference to a section of metadata"
        when "A relocation refers to the symbol of a section that the linker makes anew.";
    SHARED_SECTION "shared-section":
        "a reference to a section of shared memory"
        when "A relocation refers to the symbol of a section of shared memory, whose variables are placed one by one.";
    CONSTANTS_SECTION "constants-section":
        "a reference to a section of a function's constants"
        when "A relocation refers to the symbol of such a section.";
    DISCARDED_REL "discarded-rel":
        "REL rows of a discarded copy"
        when "A discarded definition has relocations without addends.";
    FRAME_VIEWS "frame-views":
        "frames of the two views that do not stand for each other"
        when "The frames of the Mercury view have other rows than those of the SASS view.";
    UNSLOTTED_TEXTURE "unslotted-texture":
        "a texture, sampler or surface without a slot"
        when "A relocation needs the slot of a texture that no kernel has.";
    DYNAMIC_SHARED_DATA "dynamic-shared-data":
        "dynamic shared memory in data"
        when "Initialised data holds the address of dynamic shared memory.";
    PRESERVED_DYNAMIC_SHARED "preserved-dynamic-shared":
        "-preserve-relocs with debug information of dynamic shared memory"
        when "The symbol that the kept relocation would name is not in the output."
        advice "Link without `-preserve-relocs` or without `-g`.";
    DISCARDED_CONSTANTS "discarded-constants":
        "a reference to constants of a discarded copy"
        when "A relocation refers to constants of a discarded definition.";
    LEGACY_DESCRIPTOR "legacy-descriptor":
        "a legacy function descriptor"
        when "The type of the relocation is one of old architectures.";
    LEGACY_SLOT "legacy-slot":
        "a legacy texture slot"
        when "The type of the relocation is one of old architectures.";
    OFFSET "offset":
        "a relocation after its object's part of a section"
        when "The offset of a relocation lies after the end of the object's own section, in that of another object.";
    KEPT_ADDEND "kept-addend":
        "--force-rela with an addend in the field of this type"
        when "The addend would have to move from the code into the relocation, which is not known for this type."
        advice "Link without `--force-rela`.";
    PARTIAL_ADDEND "partial-addend":
        "--force-rela with an addend in a field that has a part of the value"
        when "The field holds a part of the addend only."
        advice "Link without `--force-rela`.";
    FIELD_RANGE "field-range":
        "a field that goes over the end of its section"
        when "A relocation begins in its section and ends after it.";
    NO_BYTES "no-bytes":
        "a relocation of a section without bytes"
        when "The section that is relocated is of the type `SHT_NOBITS`.";
    MERCURY_TYPE "mercury-type":
        "a relocation type of the Mercury view that is not known"
        when "The type of the relocation is not one that compilers write in the Mercury view.";
    CLEARS_UNDEFINED "clears-undefined":
        "clearing the site of an undefined variable"
        when "A relocation that clears its field has an undefined variable as target.";
    CLEARS_RESERVED "clears-reserved":
        "clearing a reserved shared memory site"
        when "A relocation that clears its field has reserved shared memory as target.";
    CLEARS_TEXTURE "clears-texture":
        "clearing the site of a texture, sampler or surface"
        when "A relocation that clears its field has a texture, sampler or surface as target.";
    CLEARS_SHARED "clears-shared":
        "clearing a shared memory site with -g"
        when "A relocation that clears its field has shared memory as target, in a link for the debugger.";
    CLEARS_CONSTANT "clears-constant":
        "clearing the site of a compiler constant that is a symbol"
        when "A relocation that clears its field has a compiler constant as target.";
    CLEARS_UNLINKED "clears-unlinked":
        "clearing the site of a section that goes"
        when "A relocation that clears its field has a section as target that is not linked.";
    REPLACED_CONSTANTS "replaced-constants":
        "constants with relocations of a copy that is replaced"
        when "Constants of a definition that another replaced stay in the output, and have relocations.";
    TEXTURE_SLOT_CODE "texture-slot-code":
        "code of another form that reads slots of textures"
        when "The instructions before a reference to the slot of a texture are not those that compilers write.";
}
