//! Reports that were asked for.

use crate::code::codes;

codes! {
    Report "report/";

    TEXT "text":
        "part of a report"
        when "An option asks for a report.";
    RESOURCES "resources":
        "what functions and the program need"
        when "`-v` or `-report-resources` asks what registers, memory and stack are needed.";
    PTXAS "ptxas":
        "what the PTX compiler says"
        when "The PTX of an input was compiled for the link.";
    FINALIZER "finalizer":
        "what the finalizer does"
        when "`-trace-finalizer` and options like it ask for it.";
}
