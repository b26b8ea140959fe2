//! Faults of cuweld.

use crate::code::codes;

codes! {
    Internal "internal/";

    FAULT "fault":
        "an internal error"
        when "A pass meets what cannot be, or panics.";
    BROKEN_MODULE "broken-module":
        "a pass that breaks the IR"
        when "With `--verify-each`, the verifier finds that the module breaks invariants of the IR before the first pass or after one.";
    WRONG_CLAIM "wrong-claim":
        "a pass that does what it says not to do"
        when "With `--verify-each`, a pass says that it changed nothing and did, or that an analysis stays valid which has another value after it."
        advice "Correct what the pass returns or declares; if it is a pass of cuweld, please report it.";
    NO_INSTRUMENTS "no-instruments":
        "a build without instruments"
        when "The program was built with the feature `uninstrumented`, and an option that watches passes is given."
        advice "Build without that feature.";
}
