//! The options that `nvlink --help` names, in the order of the recorded option string; those that
//! never are recorded come last.

use super::Choices;
use super::OptionId;
use super::OptionSpec;
use super::Recorded;
use super::Section;
use super::ValueKind;

/// SM numbers and suffixes. 107 is of toolkit 13.4 and later.
const ARCHITECTURES: Choices = Choices {
    prefixes: &["sm_", "compute_", "lto_"],
    names: &[
        "75", "80", "86", "87", "88", "89", "90", "90a", "100", "100a", "100f", "103", "103a",
        "103f", "107", "107a", "107f", "110", "110a", "110f", "120", "120a", "120f", "121", "121a",
        "121f",
    ],
};

/// `RISCV64` since 13.3.
const HOST_ARCHITECTURES: Choices = Choices::plain(&[
    "AARCH64", "ARMv7", "PPC64LE", "RISCV64", "X86", "X86_64", "unknown",
]);

const HOST_LINKER_SCRIPTS: Choices = Choices::plain(&["lcs-abs", "lcs-aug"]);

pub(super) const OPTIONS: [OptionSpec; 46] = [
    OptionSpec::new(
        OptionId::SuppressStackSizeWarning,
        Section::Messages,
        ValueKind::Flag,
        "Say nothing about kernels whose stack depth is unknown (recursion, calls by pointer).",
    )
    .names("suppress-stack-size-warning", "suppress-stack-size-warning"),
    OptionSpec::new(
        OptionId::SuppressArchWarning,
        Section::Messages,
        ValueKind::Flag,
        "Say nothing about inputs that hold no code for the target.",
    )
    .names("suppress-arch-warning", "suppress-arch-warning"),
    OptionSpec::new(
        OptionId::OutputFile,
        Section::Files,
        ValueKind::Text,
        "Where the linked cubin goes.",
    )
    .names("output-file", "o")
    .metavar("FILE")
    .recorded(Recorded::FileInDebug),
    OptionSpec::new(
        OptionId::Debug,
        Section::Target,
        ValueKind::Flag,
        "Link debug code: sizes and layout follow the rules for debug builds, and file names are recorded.",
    )
    .names("debug", "g"),
    OptionSpec::new(
        OptionId::Arch,
        Section::Target,
        ValueKind::Choice(ARCHITECTURES),
        "The GPU to link for, such as sm_90 or sm_100a. Required.",
    )
    .names("arch", "arch")
    .metavar("ARCH"),
    OptionSpec::new(
        OptionId::Machine,
        Section::Target,
        ValueKind::Number(Some(&[64])),
        "Width of a pointer in bits. Only 64 exists.",
    )
    .names("machine", "m")
    .metavar("BITS")
    .glued(),
    OptionSpec::new(
        OptionId::Library,
        Section::Files,
        ValueKind::List,
        "Link libNAME.a, looked for in the directories of -L. Libraries follow all other inputs.",
    )
    .names("library", "l")
    .metavar("NAME,...")
    .glued(),
    OptionSpec::new(
        OptionId::LibraryPath,
        Section::Files,
        ValueKind::List,
        "Directories in which -l looks, in order.",
    )
    .names("library-path", "L")
    .metavar("DIR,...")
    .glued(),
    OptionSpec::new(
        OptionId::RegisterLinkBinaries,
        Section::Files,
        ValueKind::Text,
        "Write the registration macros of the linked modules to FILE, for the host's link stub.",
    )
    .names("register-link-binaries", "")
    .metavar("FILE")
    .recorded(Recorded::FileInDebug),
    OptionSpec::new(
        OptionId::Verbose,
        Section::Messages,
        ValueKind::Flag,
        "Report memory and the registers, stack and barriers of each kernel.",
    )
    .names("verbose", "v"),
    OptionSpec::new(
        OptionId::Verbose2,
        Section::Messages,
        ValueKind::Flag,
        "Accepted and recorded; tells of link-time optimisation only (CUDA 13.2).",
    )
    .names("verbose2", "v2")
    .since(2),
    OptionSpec::new(
        OptionId::PreserveRelocs,
        Section::Target,
        ValueKind::Flag,
        "Keep the relocations that were applied in an executable output.",
    )
    .names("preserve-relocs", "preserve-relocs"),
    OptionSpec::new(
        OptionId::DisableWarnings,
        Section::Messages,
        ValueKind::Flag,
        "Accepted and recorded; as in nvlink 13.0 it silences none of its messages, which -disable-infos does. Both silence the info that code is kept (deviation D12).",
    )
    .names("disable-warnings", "w"),
    OptionSpec::new(
        OptionId::WarningAsError,
        Section::Messages,
        ValueKind::Flag,
        "Treat warnings as errors.",
    )
    .names("warning-as-error", "Werror"),
    OptionSpec::new(
        OptionId::DisableInfos,
        Section::Messages,
        ValueKind::Flag,
        "Silence warnings, even under -Werror (that is what nvlink 13.0 makes of this name).",
    )
    .names("disable-infos", "disable-infos"),
    OptionSpec::new(
        OptionId::KeepSystemLibraries,
        Section::Selection,
        ValueKind::Flag,
        "Link members of libcudadevrt even when nothing asks for them.",
    )
    .names("keep-system-libraries", "keep-system-libraries"),
    OptionSpec::new(
        OptionId::KernelsUsed,
        Section::Selection,
        ValueKind::List,
        "Keep only kernels whose name contains one of these texts.",
    )
    .names("kernels-used", "kernels-used")
    .metavar("TEXT,..."),
    OptionSpec::new(
        OptionId::VariablesUsed,
        Section::Selection,
        ValueKind::List,
        "Keep variables whose name contains one of these texts; others stay only if code uses them.",
    )
    .names("variables-used", "variables-used")
    .metavar("TEXT,..."),
    OptionSpec::new(
        OptionId::CpuArch,
        Section::Files,
        ValueKind::Choice(HOST_ARCHITECTURES),
        "The host's architecture; libraries for another one are passed over.",
    )
    .names("cpu-arch", "cpu-arch")
    .metavar("CPU"),
    OptionSpec::new(
        OptionId::ReportArch,
        Section::Messages,
        ValueKind::Flag,
        "Add the target to every message.",
    )
    .names("report-arch", "report-arch"),
    OptionSpec::new(
        OptionId::Time,
        Section::Messages,
        ValueKind::Text,
        "Append a table of times, as comma separated values, to FILE; - means standard output.",
    )
    .names("time", "time")
    .metavar("FILE")
    .recorded(Recorded::FileInDebug),
    OptionSpec::new(
        OptionId::EmitPtx,
        Section::LinkTimeOptimisation,
        ValueKind::Flag,
        "Write the optimised program as PTX.",
    )
    .names("emit-ptx", "emit-ptx"),
    OptionSpec::new(
        OptionId::ExtraWarnings,
        Section::Messages,
        ValueKind::Flag,
        "Warn about more things.",
    )
    .names("extra-warnings", "extrawarn"),
    OptionSpec::new(
        OptionId::LinkAsToolsPatch,
        Section::Target,
        ValueKind::Flag,
        "Link code for NVIDIA's tools, which cuweld does not (CUDA 13.3).",
    )
    .names("link-as-tools-patch", "astoolspatch")
    .since(3),
    OptionSpec::new(
        OptionId::LinkTimeOpt,
        Section::LinkTimeOptimisation,
        ValueKind::Flag,
        "Optimise inputs that hold intermediate code as one program.",
    )
    .names("link-time-opt", "lto"),
    OptionSpec::new(
        OptionId::Dlto,
        Section::LinkTimeOptimisation,
        ValueKind::Flag,
        "The same as -lto.",
    )
    .names("dlto", "dlto"),
    OptionSpec::new(
        OptionId::NvvmPath,
        Section::LinkTimeOptimisation,
        ValueKind::Text,
        "The directory of libNVVM.",
    )
    .names("nvvmpath", "nvvmpath")
    .metavar("DIR"),
    OptionSpec::new(
        OptionId::SplitCompile,
        Section::LinkTimeOptimisation,
        ValueKind::Number(None),
        "Threads for the optimiser.",
    )
    .names("split-compile", "split-compile")
    .metavar("N"),
    OptionSpec::new(
        OptionId::SplitCompileExtended,
        Section::LinkTimeOptimisation,
        ValueKind::Number(None),
        "Threads for the optimiser and the code generator.",
    )
    .names("split-compile-extended", "split-compile-extended")
    .metavar("N"),
    OptionSpec::new(
        OptionId::OfastCompile,
        Section::LinkTimeOptimisation,
        ValueKind::Text,
        "Trade run time for compile time: 0, min, mid or max.",
    )
    .names("Ofast-compile", "Ofc")
    .metavar("LEVEL"),
    OptionSpec::new(
        OptionId::NvvmLatest,
        Section::LinkTimeOptimisation,
        ValueKind::Flag,
        "Optimise by a preview of libNVVM, which cuweld does not (CUDA 13.5).",
    )
    .names("nvvm-latest", "nvvm-latest")
    .since(5),
    OptionSpec::new(
        OptionId::SuppressDebugInfo,
        Section::Target,
        ValueKind::Flag,
        "Leave debug sections out of the output of a debug link.",
    )
    .names("suppress-debug-info", "suppress-debug-info"),
    OptionSpec::new(
        OptionId::Xptxas,
        Section::LinkTimeOptimisation,
        ValueKind::List,
        "Options for ptxas, where it is run.",
    )
    .names("Xptxas", "Xptxas")
    .metavar("OPTION,..."),
    OptionSpec::new(
        OptionId::Xnvvm,
        Section::LinkTimeOptimisation,
        ValueKind::List,
        "Options for libNVVM.",
    )
    .names("Xnvvm", "Xnvvm")
    .metavar("OPTION,..."),
    OptionSpec::new(
        OptionId::MaxRegisterCount,
        Section::LinkTimeOptimisation,
        ValueKind::Number(None),
        "Most registers a thread may use, where code is generated.",
    )
    .names("maxrregcount", "maxrregcount")
    .metavar("N"),
    OptionSpec::new(
        OptionId::DumpCallgraph,
        Section::Messages,
        ValueKind::Flag,
        "Print the call graph, with names as in the source.",
    )
    .names("dump-callgraph", "dump-callgraph"),
    OptionSpec::new(
        OptionId::DumpCallgraphNoDemangle,
        Section::Messages,
        ValueKind::Flag,
        "Print the call graph, with names as in the object.",
    )
    .names("dump-callgraph-no-demangle", "dump-callgraph-no-demangle"),
    OptionSpec::new(
        OptionId::UseHostInfo,
        Section::Selection,
        ValueKind::Flag,
        "Remove code that host code does not refer to. The default where all inputs tell.",
    )
    .names("use-host-info", "use-host-info"),
    OptionSpec::new(
        OptionId::IgnoreHostInfo,
        Section::Selection,
        ValueKind::Flag,
        "Keep code whether or not host code refers to it.",
    )
    .names("ignore-host-info", "ignore-host-info"),
    OptionSpec::new(
        OptionId::RelocatableLink,
        Section::Target,
        ValueKind::Flag,
        "Link into an object that can be linked again.",
    )
    .names("relocatable-link", "r"),
    OptionSpec::new(
        OptionId::DeviceStackProtector,
        Section::Target,
        ValueKind::Boolean,
        "Whether generated code guards its stack.",
    )
    .names("device-stack-protector", "device-stack-protector")
    .metavar("true|false"),
    OptionSpec::new(
        OptionId::OptionsFile,
        Section::Files,
        ValueKind::OptionsFiles,
        "Read more options from these files, in this option's place.",
    )
    .names("options-file", "optf")
    .metavar("FILE,...")
    .recorded(Recorded::FileInDebug),
    OptionSpec::new(
        OptionId::GenHostLinkerScript,
        Section::Files,
        ValueKind::OptionalChoice(HOST_LINKER_SCRIPTS, "lcs-abs"),
        "Write a script for the host's linker instead of linking: complete (lcs-abs) or to be added to its own (lcs-aug).",
    )
    .names("gen-host-linker-script", "ghls")
    .metavar("KIND")
    .recorded(Recorded::Never),
    OptionSpec::new(
        OptionId::UidxFile,
        Section::Files,
        ValueKind::Text,
        "The index file of unused code.",
    )
    .names("uidx-file", "uidx")
    .metavar("FILE")
    .recorded(Recorded::Never),
    OptionSpec::new(OptionId::Help, Section::Messages, ValueKind::Flag, "Print this text.")
        .names("help", "h")
        .recorded(Recorded::Never),
    OptionSpec::new(OptionId::Version, Section::Messages, ValueKind::Flag, "Print the version.")
        .names("version", "V")
        .recorded(Recorded::Never),
];
