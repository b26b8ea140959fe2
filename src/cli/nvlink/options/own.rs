//! cuweld's additions. Their names begin with `cuweld-`, so that no option of nvlink ever means
//! something else; none is recorded.

use super::Choices;
use super::OptionId;
use super::OptionSpec;
use super::Recorded;
use super::Section;
use super::ValueKind;

const fn own(id: OptionId, kind: ValueKind, help: &'static str) -> OptionSpec {
    OptionSpec::new(id, Section::Cuweld, kind, help).recorded(Recorded::Never)
}

pub(super) const OPTIONS: [OptionSpec; 46] = [
    own(
        OptionId::CuweldStamp,
        ValueKind::Text,
        "The tool that the output names as its linker: cuweld, nvlink, or a version of it such as nvlink-13.0.88.",
    )
    .names("cuweld-stamp", "")
    .metavar("NAME")
    .environment("CUWELD_STAMP"),
    own(
        OptionId::CuweldToolkit,
        ValueKind::Text,
        "The toolkit whose nvlink is stood in for, such as 13.5 or 13.0.88. Default: auto, that of the shadow toolkit or the newest that made an input.",
    )
    .names("cuweld-toolkit", "")
    .metavar("VERSION|auto")
    .environment("CUWELD_TOOLKIT"),
    own(
        OptionId::CuweldExplain,
        ValueKind::Choice(Choices::plain(&["on", "off", "all"])),
        "Whether note: and help: lines follow nvlink's wording of a message; all: what a message counts is listed, too. Default: on.",
    )
    .names("cuweld-explain", "")
    .metavar("on|off|all")
    .environment("CUWELD_EXPLAIN"),
    own(
        OptionId::CuweldStrict,
        ValueKind::Flag,
        "Refuse inputs that nvlink accepts without looking.",
    )
    .names("cuweld-strict", "")
    .environment("CUWELD_STRICT"),
    own(
        OptionId::CuweldStrictFinalize,
        ValueKind::Flag,
        "Refuse kernels that only NVIDIA's finalizer links as nvlink does; by default their code is kept.",
    )
    .names("cuweld-strict-finalize", "")
    .environment("CUWELD_STRICT_FINALIZE"),
    own(
        OptionId::CuweldFinalize,
        ValueKind::Choice(Choices::plain(&["certified", "keep", "trust"])),
        "Which code for sm_100 and later is made anew as by NVIDIA's finalizer: that for which the rules give what its object has, none, or all. Default: certified.",
    )
    .names("cuweld-finalize", "")
    .metavar("certified|keep|trust")
    .environment("CUWELD_FINALIZE"),
    own(
        OptionId::CuweldPipeline,
        ValueKind::Text,
        "Run the passes that this pipeline file names.",
    )
    .names("cuweld-pipeline", "")
    .metavar("FILE")
    .environment("CUWELD_PIPELINE"),
    own(
        OptionId::CuweldPasses,
        ValueKind::Text,
        "Run these passes, such as 'classify,callgraph-dce{roots=kernels}'.",
    )
    .names("cuweld-passes", "")
    .metavar("TEXT")
    .environment("CUWELD_PASSES"),
    own(
        OptionId::CuweldInsert,
        ValueKind::Text,
        "Add steps to the pipeline, such as 'my-pass after callgraph-dce'.",
    )
    .names("cuweld-insert", "")
    .metavar("TEXT")
    .environment("CUWELD_INSERT"),
    own(
        OptionId::CuweldVerifyEach,
        ValueKind::Flag,
        "Check the invariants of the linker IR after every pass.",
    )
    .names("cuweld-verify-each", "")
    .environment("CUWELD_VERIFY_EACH"),
    own(
        OptionId::CuweldSelfCheck,
        ValueKind::Flag,
        "Read the output again and prove it against the inputs.",
    )
    .names("cuweld-self-check", "")
    .environment("CUWELD_SELF_CHECK"),
    own(
        OptionId::CuweldTimePasses,
        ValueKind::Flag,
        "Report the time of every pass.",
    )
    .names("cuweld-time-passes", "")
    .environment("CUWELD_TIME_PASSES"),
    own(
        OptionId::CuweldDumpBefore,
        ValueKind::List,
        "Print the linker IR before these passes, or before all.",
    )
    .names("cuweld-dump-before", "")
    .metavar("PASS,...|all")
    .environment("CUWELD_DUMP_BEFORE"),
    own(
        OptionId::CuweldDumpAfter,
        ValueKind::List,
        "Print the linker IR after these passes, or after all.",
    )
    .names("cuweld-dump-after", "")
    .metavar("PASS,...|all")
    .environment("CUWELD_DUMP_AFTER"),
    own(
        OptionId::CuweldDumpDir,
        ValueKind::Text,
        "Put dumps into files in this directory.",
    )
    .names("cuweld-dump-dir", "")
    .metavar("DIR")
    .environment("CUWELD_DUMP_DIR"),
    own(
        OptionId::CuweldDumpBytes,
        ValueKind::Choice(Choices::plain(&["ref", "full", "hash"])),
        "How contents stand in dumps: as slices of the inputs, whole, or as hashes. Default: ref.",
    )
    .names("cuweld-dump-bytes", "")
    .metavar("ref|full|hash")
    .environment("CUWELD_DUMP_BYTES"),
    own(
        OptionId::CuweldStopAfter,
        ValueKind::Text,
        "End the link after this pass.",
    )
    .names("cuweld-stop-after", "")
    .metavar("PASS")
    .environment("CUWELD_STOP_AFTER"),
    own(
        OptionId::CuweldPtxas,
        ValueKind::Text,
        "The program that compiles PTX. Default: that of $CUDA_HOME/bin, then the first ptxas on $PATH.",
    )
    .names("cuweld-ptxas", "")
    .metavar("FILE")
    .environment("CUWELD_PTXAS"),
    own(
        OptionId::CuweldNvjitlink,
        ValueKind::Text,
        "The library for link-time optimisation. Default: libnvJitLink.so.13 beside -nvvmpath, in $CUDA_HOME or of the system.",
    )
    .names("cuweld-nvjitlink", "")
    .metavar("FILE")
    .environment("CUWELD_NVJITLINK"),
    own(
        OptionId::CuweldRepro,
        ValueKind::Text,
        "Write a file that holds this link, for `cuweld replay`.",
    )
    .names("cuweld-repro", "")
    .metavar("FILE.tar")
    .environment("CUWELD_REPRO"),
    own(
        OptionId::CuweldLoadPassPlugin,
        ValueKind::List,
        "Load passes from these libraries.",
    )
    .names("cuweld-load-pass-plugin", "")
    .metavar("LIBRARY")
    .environment("CUWELD_LOAD_PASS_PLUGIN"),
    own(
        OptionId::CuweldJobs,
        ValueKind::Number(None),
        "Use N threads, at most 256. Default: what make's jobserver allows, else all of the machine's.",
    )
    .names("cuweld-jobs", "")
    .metavar("N")
    .environment("CUWELD_JOBS"),
    own(
        OptionId::CuweldLimit,
        ValueKind::List,
        "How much the link may unpack (unpacked=N, bytes), write (output=N, bytes) and look for (lookups=N, files); none: any number.",
    )
    .names("cuweld-limit", "")
    .metavar("NAME=N,...")
    .environment("CUWELD_LIMIT"),
    own(
        OptionId::CuweldMap,
        ValueKind::Text,
        "Write a map of the output: what lies where, and which input it came from. JSON if the name ends in .json, otherwise text.",
    )
    .names("cuweld-map", "")
    .metavar("FILE")
    .environment("CUWELD_MAP"),
    own(
        OptionId::CuweldReport,
        ValueKind::Text,
        "Write a report of the link, an HTML file that needs nothing else; with --cuweld-time-passes it has times.",
    )
    .names("cuweld-report", "")
    .metavar("FILE.html")
    .environment("CUWELD_REPORT"),
    own(
        OptionId::CuweldPrintGcSections,
        ValueKind::Flag,
        "List the sections that are left out because nothing uses them, one a line.",
    )
    .names("cuweld-print-gc-sections", "")
    .environment("CUWELD_PRINT_GC_SECTIONS"),
    own(
        OptionId::CuweldMessageFormat,
        ValueKind::Choice(Choices::plain(&["text", "json"])),
        "How messages are written: as text, or as JSON, an object a line. Default: text.",
    )
    .names("cuweld-message-format", "")
    .metavar("text|json")
    .environment("CUWELD_MESSAGE_FORMAT"),
    own(
        OptionId::CuweldPrintSearchDirs,
        ValueKind::Flag,
        "Print where libraries, ptxas and libnvJitLink are looked for, and link nothing.",
    )
    .names("cuweld-print-search-dirs", "")
    .environment("CUWELD_PRINT_SEARCH_DIRS"),
    own(
        OptionId::CuweldWait,
        ValueKind::Flag,
        "End when memory is given back. By default another process ends after a large link, to do so.",
    )
    .names("cuweld-wait", "")
    .environment("CUWELD_WAIT"),
    own(
        OptionId::CuweldDumpChanged,
        ValueKind::Choice(Choices::plain(&["module", "diff"])),
        "Print the linker IR after passes that changed it, or only the lines that changed.",
    )
    .names("cuweld-dump-changed", "")
    .metavar("module|diff")
    .environment("CUWELD_DUMP_CHANGED"),
    own(
        OptionId::CuweldDumpFilter,
        ValueKind::List,
        "Print only rows of the linker IR whose name, or a name that they refer to, contains one of these.",
    )
    .names("cuweld-dump-filter", "")
    .metavar("NAME,...")
    .environment("CUWELD_DUMP_FILTER"),
    own(
        OptionId::CuweldDumpFormat,
        ValueKind::Choice(Choices::plain(&["lir", "json", "dot"])),
        "What dumps are: the text form, JSON, or the call graph as DOT. Default: lir.",
    )
    .names("cuweld-dump-format", "")
    .metavar("lir|json|dot")
    .environment("CUWELD_DUMP_FORMAT"),
    own(
        OptionId::CuweldSkip,
        ValueKind::List,
        "Leave these passes out.",
    )
    .names("cuweld-skip", "")
    .metavar("PASS,...")
    .environment("CUWELD_SKIP"),
    own(
        OptionId::CuweldBisectLimit,
        ValueKind::Number(None),
        "Run only the first N of the passes that a link is right without, and name them.",
    )
    .names("cuweld-bisect-limit", "")
    .metavar("N")
    .environment("CUWELD_BISECT_LIMIT"),
    own(
        OptionId::CuweldExecOnChange,
        ValueKind::Text,
        "Run this shell command on the text of the linker IR after every pass that changed it; end if it fails.",
    )
    .names("cuweld-exec-on-change", "")
    .metavar("CMD")
    .environment("CUWELD_EXEC_ON_CHANGE"),
    own(
        OptionId::CuweldPrintPipeline,
        ValueKind::Flag,
        "Print the passes that would run, with everything decided, and link nothing.",
    )
    .names("cuweld-print-pipeline", "")
    .environment("CUWELD_PRINT_PIPELINE"),
    own(
        OptionId::CuweldStats,
        ValueKind::Choice(Choices::plain(&["table", "json"])),
        "Report what every pass counted, as a table or as JSON.",
    )
    .names("cuweld-stats", "")
    .metavar("table|json")
    .environment("CUWELD_STATS"),
    own(
        OptionId::CuweldStatsOutput,
        ValueKind::Text,
        "Write what passes counted into this file, and not as a message; JSON if its name ends in .json and no form is given.",
    )
    .names("cuweld-stats-output", "")
    .metavar("FILE")
    .environment("CUWELD_STATS_OUTPUT"),
    own(
        OptionId::CuweldTimePassesOutput,
        ValueKind::Text,
        "Write the time of every pass into this file, and not as a message.",
    )
    .names("cuweld-time-passes-output", "")
    .metavar("FILE")
    .environment("CUWELD_TIME_PASSES_OUTPUT"),
    own(
        OptionId::CuweldTrace,
        ValueKind::Text,
        "Write a trace of the whole process that chrome://tracing and ui.perfetto.dev open.",
    )
    .names("cuweld-trace", "")
    .metavar("chrome:FILE")
    .environment("CUWELD_TRACE"),
    own(
        OptionId::CuweldRemarks,
        ValueKind::Text,
        "Say what passes decide, and why: all, or what these passes say of these functions and variables.",
    )
    .names("cuweld-remarks", "")
    .metavar("PASS|SYMBOL,...|all")
    .environment("CUWELD_REMARKS"),
    own(
        OptionId::CuweldRemarksOutput,
        ValueKind::Text,
        "Write remarks into this file, as JSON, an object a line, and not as messages.",
    )
    .names("cuweld-remarks-output", "")
    .metavar("FILE")
    .environment("CUWELD_REMARKS_OUTPUT"),
    own(
        OptionId::CuweldWhyLive,
        ValueKind::List,
        "Say why these functions or variables are in the output, or are not.",
    )
    .names("cuweld-why-live", "")
    .metavar("NAME,...")
    .environment("CUWELD_WHY_LIVE"),
    own(
        OptionId::CuweldWhyExtract,
        ValueKind::List,
        "Say why these objects, or members of libraries, take part in the link, or do not.",
    )
    .names("cuweld-why-extract", "")
    .metavar("NAME,...")
    .environment("CUWELD_WHY_EXTRACT"),
    own(
        OptionId::CuweldWhyStack,
        ValueKind::List,
        "Say which calls make up the stack of these kernels.",
    )
    .names("cuweld-why-stack", "")
    .metavar("NAME,...")
    .environment("CUWELD_WHY_STACK"),
    own(
        OptionId::CuweldWhyRegs,
        ValueKind::List,
        "Say which calls give these kernels their number of registers.",
    )
    .names("cuweld-why-regs", "")
    .metavar("NAME,...")
    .environment("CUWELD_WHY_REGS"),
];
