//! Faults of cuweld.

use crate::code::codes;

codes! {
    Internal "internal/";

    FAULT "fault":
        "an internal error"
        when "A pass meets what cannot be, breaks an invariant of the IR, or panics.";
    NO_INSTRUMENTS "no-instruments":
        "a build without instruments"
        when "The program was built with the feature `uninstrumented`, and an option that watches passes is given."
        advice "Build without that feature.";
}
