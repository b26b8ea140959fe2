//! Files, compilers and libraries of the machine.

use crate::code::codes;

codes! {
    System "system/";

    CANNOT_READ "cannot-read":
        "a file that cannot be read"
        when "The system refuses to open or read the file; the message has its words.";
    CANNOT_WRITE "cannot-write":
        "a file that cannot be written"
        when "The system refuses to make or write the file, or the disk is full.";
    INPUT_CHANGED "input-changed":
        "an input that changes"
        when "An input was written while it was linked: there is no output."
        advice "Link when the file is whole.";
    LIMIT "limit":
        "a link beyond a limit of cuweld"
        when "The link would unpack, write or look for more than the inputs give reason to; the message names the limit."
        advice "If the inputs are what they should be, allow more with `--cuweld-limit=NAME=N`.";
    NO_COMPILER "no-compiler":
        "PTX without a compiler"
        when "An input holds PTX, and no ptxas is found."
        advice "Install the toolkit's ptxas, or name it with `--cuweld-ptxas` or `CUWELD_PTXAS`; or give cubins.";
    COMPILER_FAILED "compiler-failed":
        "PTX that is not compiled"
        when "ptxas refuses the PTX, or cannot be run."
        advice "The messages of the compiler say what is wrong.";
    OTHER_COMPILER "other-compiler":
        "PTX compiled by another release"
        when "ptxas is not of the release whose nvlink is reproduced, so that the code may differ."
        advice "Name the ptxas of CUDA 13.0 with `--cuweld-ptxas`, if the code has to be the same.";
    NO_OPTIMISER "no-optimiser":
        "link-time optimisation without its library"
        when "libnvJitLink is not found, cannot be loaded, or the program is a static one."
        advice "Name the library with `--cuweld-nvjitlink` or `CUWELD_NVJITLINK`.";
    OPTIMISER_FAILED "optimiser-failed":
        "link-time optimisation that fails"
        when "libnvJitLink refuses the inputs; the message has its words.";
    NO_LINKER_SCRIPT "no-linker-script":
        "a host linker that prints no script"
        when "`-gen-host-linker-script` asks the host's linker for its default script."
        advice "Install a GNU linker for the host.";
}
