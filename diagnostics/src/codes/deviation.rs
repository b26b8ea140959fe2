//! What cuweld does otherwise than nvlink, on purpose.

use crate::code::codes;

codes! {
    Deviation "deviation/";

    EQUAL_CONSTANTS "equal-constants":
        "equal constants that keep their own places"
        when "nvlink merges the constants of two objects if they are equal as a whole, with what refers to them (D02).";
    INPUT "input":
        "an input that nvlink loses"
        when "nvlink passes over code for the target without a word, and cuweld links it; the message names the deviation.";
    RESPONSE_FILE "response-file":
        "options that are read from a file"
        when "cuweld reads options from a file after `@`; nvlink takes it for an input (D10).";
    KEPT_CODE "kept-code":
        "code that NVIDIA's finalizer would compile anew"
        when "Code for sm_100 and up runs as it is, and nvlink would make it anew (D12, D15)."
        advice "`--cuweld-explain=all` names each function and says why. `--cuweld-strict-finalize` makes it an error.";
    SCHEDULED "scheduled":
        "kernels that are scheduled anew by measured rules"
        when "The scoreboards of kernels for sm_100 and up are those that nvlink's finalizer gives them, by rules that were measured and gave the schedule of the object, too (D31)."
        advice "`--cuweld-strict-finalize` makes it an error, `--cuweld-skip mercury-schedule` keeps the code of the object.";
    KEPT_ADDRESS "kept-address":
        "an address in constants that stays"
        when "nvlink leaves the address out and writes 0 (D14).";
    KEPT_FUNCTION "kept-function":
        "a function that stays for its address in data"
        when "nvlink leaves the function out and writes 0 into the data, although code that can run may call it by that (D16).";
    UNUSED_ALIAS "unused-alias":
        "a function whose alias nobody uses"
        when "nvlink leaves out the code of the function with the alias, and ends with an internal error (D17).";
    OWN_ROWS "own-rows":
        "local functions of one name that keep their own relocations"
        when "In a file that `-r` wrote, nvlink takes the relocations of code by its name, those of another function (D18).";
    WHOLE_NAME "whole-name":
        "sections of constants that keep their name"
        when "Local functions of one name have constants, in output of `-r`; nvlink cuts the name of their sections, and cannot read the file (D19).";
    APPLIED_ROWS "applied-rows":
        "applied relocations that keep their own places"
        when "With `-preserve-relocs` nvlink looks up the places of a local function in the code of another one of its name (D22).";
    OWN_TABLE "own-table":
        "tables of switches that stay"
        when "A copy of a function with the table of a switch took the place of an earlier one with another table, for sm_100 and up; nvlink writes offsets of the earlier one over it (D23).";
    EMPTIED_RANGES "emptied-ranges":
        "ranges of registers that are empty"
        when "Debug information says in which registers a copy has its variables that another replaced, in ranges that the linked code does not have, for sm_100 and up; nvlink writes what its memory holds (D25).";
    LINES_ONCE "lines-once":
        "lines of a replaced copy that stand once"
        when "A line of a copy that another replaced comes back right after one that the linked code does not have, for sm_100 and up; nvlink sometimes writes it again (D26).";
    NEWER_FINALIZER "newer-finalizer":
        "SASS alone for sm_100 and later as CUDA 13.0 links it"
        when "The toolkit is newer than 13.0, and an object for sm_100 and later has no Mercury; what later linkers make of such is not known (D20)."
        advice "`--cuweld-strict` makes it an error.";
    NEWER_TOOLKIT "newer-toolkit":
        "objects of a toolkit that is not known yet"
        when "An object is of a later release of CUDA 13 than all that are known, whose newest rules it is linked by (D27)."
        advice "Look for a newer cuweld. `--cuweld-strict`, and a toolkit that is asked for by name, make it an error.";
    OLDER_TOOLKIT "older-toolkit":
        "a link of CUDA 12 that nothing can be compared with"
        when "The toolkit is older than 13.0, and the link has options or host information that libnvJitLink, the only linker of it to compare with, does not take (D28)."
        advice "`--cuweld-strict` makes it an error.";
    UNIFIED_LINKS "unified-links":
        "unified tables that name their symbols"
        when "The toolkit is 13.5 or later, and relocatable output for sm_100 and up has a unified table; nvlink gives it a number that is another section's (D29).";
    REGISTER_FILE "register-file":
        "a register file that is written anew"
        when "A link that leaves out the device runtime has to write a register file that exists with other contents; nvlink leaves it (D30).";
    DYNAMIC_SHARED_ALIGN "dynamic-shared-align":
        "dynamic shared memory at the largest alignment of its names"
        when "A kernel reaches names of dynamic shared memory with different alignments, which are one address; nvlink since CUDA 13.1 aligns it for one of them only (D21).";
}
