//! Passes from elsewhere.

use crate::code::codes;

codes! {
    Extension "extension/";

    PLUGIN "plugin":
        "a plugin that cannot be loaded"
        when "The library cannot be opened, is of another version, or describes a pass that cannot be.";
    PROGRAM "program":
        "a program that fails as a pass"
        when "The command of an `exec` pass cannot be run, or fails; the notes have what it wrote.";
    CRASH "crash":
        "a pass that does not come to its end"
        when "A pass of a plugin, or of the program that embeds cuweld, panics, raises a signal or exits."
        advice "Run what the help line names under a debugger: it begins with the pass.";
    RESULT "result":
        "a module that an extension may not give back"
        when "What a plugin or program wrote does not parse, breaks invariants of the IR, or is in another phase.";
    EXCEPTION "exception":
        "an exception of a pass in Python"
        when "A pass in Python raises it; the notes have the traceback.";
    FINDING "finding":
        "a finding of an extension"
        when "A pass from elsewhere reports it.";
}
