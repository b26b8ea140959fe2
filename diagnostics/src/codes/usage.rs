//! The command line, pipelines, and modules in text form.

use crate::code::codes;

codes! {
    Usage "usage/";

    COMMAND_LINE "command-line":
        "a command line that contradicts itself or the tool"
        when "An option is unknown, lacks a value, has one that it does not take, or contradicts another.";
    REDEFINED "redefined":
        "an option that is given twice"
        when "An option that takes one value has several: the last one counts.";
    IGNORED_OPTION "ignored-option":
        "an option that another one overrides"
        when "Options that both say which kernels are used are given.";
    PRESERVE_RELOCS "preserve-relocs":
        "-preserve-relocs for a target where it is not complete"
        when "nvlink warns of `-preserve-relocs` for sm_90 and up.";
    PIPELINE "pipeline":
        "a pipeline that cannot run"
        when "A pipeline cannot be read, names an unknown pass or option, or has passes in an order that cannot be.";
    UNKNOWN_NAME "unknown-name":
        "a name in an option that nothing has"
        when "An option, of a pass or of the link, names a function or variable that is not in the link.";
    MODULE "module":
        "a module in text form that cannot be taken"
        when "A `.lir` file cannot be read, breaks invariants of the IR, or is for another target.";
    OUTPUT "output":
        "an output that the command does not make"
        when "No output is named, the passes end before there is one, or it has no map.";
    CHECK "check":
        "a check that finds nothing to look for"
        when "The check of `cuweld bisect` or `cuweld reduce` does not tell good from bad.";
    REPRODUCER "reproducer":
        "a reproducer that cannot be run"
        when "The archive is damaged, or is not one that `--repro` wrote.";
}
