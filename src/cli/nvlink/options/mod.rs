//! The option table: one [`OptionSpec`] an option, from which the parser, `--help` and the recorded
//! option string all come.
//!
//! The documented options stand in the order in which nvlink records them in `.note.nv.tkinfo`, so
//! that walking the table writes the record.

mod documented;
mod hidden;
mod own;

use cuweld_elf::behaviours::FIRST;
use cuweld_elf::behaviours::Release;

/// Names every option. The order is that of the tables; [`OptionSpec::id`] of entry `n` is the
/// `n`th variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(
    missing_docs,
    reason = "each variant is documented by its entry in the table"
)]
pub enum OptionId {
    SuppressStackSizeWarning,
    SuppressArchWarning,
    OutputFile,
    Debug,
    Arch,
    Machine,
    Library,
    LibraryPath,
    RegisterLinkBinaries,
    Verbose,
    Verbose2,
    PreserveRelocs,
    DisableWarnings,
    WarningAsError,
    DisableInfos,
    KeepSystemLibraries,
    KernelsUsed,
    VariablesUsed,
    CpuArch,
    ReportArch,
    Time,
    EmitPtx,
    ExtraWarnings,
    LinkAsToolsPatch,
    LinkTimeOpt,
    Dlto,
    NvvmPath,
    SplitCompile,
    SplitCompileExtended,
    OfastCompile,
    NvvmLatest,
    SuppressDebugInfo,
    Xptxas,
    Xnvvm,
    MaxRegisterCount,
    DumpCallgraph,
    DumpCallgraphNoDemangle,
    UseHostInfo,
    IgnoreHostInfo,
    RelocatableLink,
    DeviceStackProtector,
    OptionsFile,
    GenHostLinkerScript,
    UidxFile,
    Help,
    Version,
    Shared,
    HostCcbin,
    Xlinker,
    ForceRela,
    AllowUndefinedGlobals,
    ReserveNullPointer,
    DisableSmemReservation,
    SyscallConstOffset,
    ForcePartialLto,
    ForceWholeLto,
    VerboseTkinfo,
    ToolName,
    CuweldStamp,
    CuweldToolkit,
    CuweldExplain,
    CuweldStrict,
    CuweldStrictFinalize,
    CuweldFinalize,
    CuweldPipeline,
    CuweldPasses,
    CuweldInsert,
    CuweldVerifyEach,
    CuweldSelfCheck,
    CuweldTimePasses,
    CuweldDumpBefore,
    CuweldDumpAfter,
    CuweldDumpDir,
    CuweldDumpBytes,
    CuweldStopAfter,
    CuweldPtxas,
    CuweldNvjitlink,
    CuweldRepro,
    CuweldLoadPassPlugin,
    CuweldJobs,
    CuweldLimit,
    CuweldMap,
    CuweldReport,
    CuweldPrintGcSections,
    CuweldMessageFormat,
    CuweldPrintSearchDirs,
    CuweldWait,
    CuweldDumpChanged,
    CuweldDumpFilter,
    CuweldDumpFormat,
    CuweldSkip,
    CuweldBisectLimit,
    CuweldExecOnChange,
    CuweldPrintPipeline,
    CuweldStats,
    CuweldStatsOutput,
    CuweldTimePassesOutput,
    CuweldTrace,
    CuweldRemarks,
    CuweldRemarksOutput,
    CuweldWhyLive,
    CuweldWhyExtract,
    CuweldWhyStack,
    CuweldWhyRegs,
}

/// The number of options.
pub const OPTION_COUNT: usize = OptionId::CuweldWhyRegs as usize + 1;

/// The values that an option accepts: every prefix with every name.
#[derive(Clone, Copy, Debug)]
pub struct Choices {
    /// What a value begins with; one empty prefix for plain names.
    pub prefixes: &'static [&'static str],
    /// What follows the prefix.
    pub names: &'static [&'static str],
}

impl Choices {
    /// Builds choices of these values, without prefixes.
    pub const fn plain(names: &'static [&'static str]) -> Self {
        Choices {
            prefixes: &[""],
            names,
        }
    }

    /// Returns `true` if `value` is one of them.
    pub fn allow(&self, value: &[u8]) -> bool {
        self.prefixes.iter().any(|prefix| {
            value
                .strip_prefix(prefix.as_bytes())
                .is_some_and(|rest| self.names.iter().any(|name| name.as_bytes() == rest))
        })
    }
}

/// What an option takes.
#[derive(Clone, Copy, Debug)]
pub enum ValueKind {
    /// Nothing.
    Flag,
    /// A text, taken as it is, quotes included.
    Text,
    /// One of a fixed set.
    Choice(Choices),
    /// One of a fixed set, or nothing, which means the given value.
    OptionalChoice(Choices, &'static str),
    /// A signed 32-bit number, possibly of a fixed set.
    Number(Option<&'static [i32]>),
    /// `true` or `false`.
    Boolean,
    /// Texts, split at commas, accumulated over repetitions.
    List,
    /// A list of files whose contents take the option's place.
    OptionsFiles,
}

/// When an option that was given appears in the recorded option string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// Never.
    Never,
    /// Always, value verbatim.
    Always,
    /// In debug links only, and then without the directories of its value.
    FileInDebug,
}

/// The part of `--help` that lists an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Input and output files.
    Files,
    /// What is linked for.
    Target,
    /// What is kept or removed.
    Selection,
    /// Link-time optimisation.
    LinkTimeOptimisation,
    /// Messages and reports.
    Messages,
    /// Our own additions.
    Cuweld,
    /// Accepted, and not listed.
    Hidden,
}

impl Section {
    /// The listed sections, in order, with their titles.
    pub const LISTED: [(Section, &'static str); 6] = [
        (Section::Files, "Files and libraries"),
        (Section::Target, "Target and kind of link"),
        (Section::Selection, "Selection of code"),
        (Section::LinkTimeOptimisation, "Link-time optimisation"),
        (Section::Messages, "Messages and reports"),
        (
            Section::Cuweld,
            "cuweld's own (also from the environment, as CUWELD_STAMP and so on)",
        ),
    ];
}

/// One option.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// Which one it is.
    pub id: OptionId,
    /// The name after two dashes; empty when there is none.
    pub long: &'static str,
    /// The name after one dash; empty when there is none.
    pub short: &'static str,
    /// Whether the value may follow the short name without a separator, as in `-lfoo`.
    pub glued: bool,
    /// What it takes.
    pub kind: ValueKind,
    /// What the value is called in `--help`.
    pub metavar: &'static str,
    /// Whether it is recorded.
    pub recorded: Recorded,
    /// Where `--help` lists it.
    pub section: Section,
    /// The environment variable that stands in for it; empty when there is none.
    pub environment: &'static str,
    /// What `--help` says.
    pub help: &'static str,
    /// The first release of CUDA whose linker has it.
    pub since: Release,
}

impl OptionSpec {
    const fn new(id: OptionId, section: Section, kind: ValueKind, help: &'static str) -> Self {
        OptionSpec {
            id,
            long: "",
            short: "",
            glued: false,
            kind,
            metavar: "",
            recorded: Recorded::Always,
            section,
            environment: "",
            help,
            since: FIRST,
        }
    }

    const fn names(mut self, long: &'static str, short: &'static str) -> Self {
        self.long = long;
        self.short = short;
        self
    }

    const fn metavar(mut self, metavar: &'static str) -> Self {
        self.metavar = metavar;
        self
    }

    const fn glued(mut self) -> Self {
        self.glued = true;
        self
    }

    const fn recorded(mut self, recorded: Recorded) -> Self {
        self.recorded = recorded;
        self
    }

    const fn since(mut self, minor: u8) -> Self {
        self.since = Release { major: 13, minor };
        self
    }

    const fn environment(mut self, variable: &'static str) -> Self {
        self.environment = variable;
        self
    }
}

/// The tables, in the order of [`OptionId`].
const TABLES: [&[OptionSpec]; 3] = [&documented::OPTIONS, &hidden::OPTIONS, &own::OPTIONS];

/// Returns all options; those that are recorded are in the order of the record.
pub fn all() -> impl Iterator<Item = &'static OptionSpec> {
    TABLES.into_iter().flatten()
}

/// Returns our own options.
pub fn own() -> &'static [OptionSpec] {
    &own::OPTIONS
}

/// Returns the option `--name`.
pub fn find_long(name: &[u8]) -> Option<&'static OptionSpec> {
    all().find(|option| !name.is_empty() && option.long.as_bytes() == name)
}

/// Returns the option `-name`.
pub fn find_short(name: &[u8]) -> Option<&'static OptionSpec> {
    all().find(|option| !name.is_empty() && option.short.as_bytes() == name)
}

/// Returns the option whose short name is the first byte of `text` and takes the rest as its value.
pub fn find_glued(text: &[u8]) -> Option<&'static OptionSpec> {
    let first = text.get(..1)?;
    all().find(|option| option.glued && option.short.as_bytes() == first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_follow_the_order_of_the_ids() {
        assert_eq!(all().count(), OPTION_COUNT);
        for (position, option) in all().enumerate() {
            assert_eq!(option.id as usize, position, "{:?}", option.id);
        }
    }

    #[test]
    fn names_are_unique_and_every_option_has_one() {
        let mut names: Vec<String> = all()
            .flat_map(|option| [("--", option.long), ("-", option.short)])
            .filter(|(_, name)| !name.is_empty())
            .map(|(dashes, name)| format!("{dashes}{name}"))
            .collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(all().all(|option| !option.long.is_empty() || !option.short.is_empty()));
    }

    #[test]
    fn every_listed_option_explains_itself() {
        for option in all().filter(|option| option.section != Section::Hidden) {
            assert!(option.help.ends_with('.'), "--{}", option.long);
            let takes_value = !matches!(option.kind, ValueKind::Flag);
            assert_eq!(!option.metavar.is_empty(), takes_value, "--{}", option.long);
        }
    }

    #[test]
    fn own_options_are_never_recorded_and_have_a_variable() {
        for option in own() {
            assert_eq!(option.recorded, Recorded::Never);
            let expected = option.long.to_uppercase().replace('-', "_");
            assert_eq!(option.environment, expected);
        }
    }

    #[test]
    fn choices_combine_prefix_and_name() {
        let choices = Choices {
            prefixes: &["sm_", "lto_"],
            names: &["75", "90a"],
        };
        assert!(choices.allow(b"sm_90a"));
        assert!(choices.allow(b"lto_75"));
        assert!(!choices.allow(b"75"));
        assert!(!choices.allow(b"sm_90"));
    }
}
