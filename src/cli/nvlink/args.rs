//! The options of a link, with plain fields.

use crate::file_name;
use cuweld_elf::Target;
use cuweld_ir::Finalize;
use cuweld_ir::HostReferences;
use cuweld_ir::LinkOptions;
use cuweld_ir::LinkRecord;
use cuweld_ir::MemoryOptions;
use cuweld_ir::MercuryOptions;
use cuweld_ir::Reports;
use cuweld_ir::text::DumpBytes;
use cuweld_passes::instrument::Questions;

use super::check::Arch;
use super::options::OptionId;
use super::parse::LowArgs;
use super::path_of;
use super::recorded::recorded_object_name;
use super::recorded::recorded_options;
use super::value::Value;
use crate::chosen_toolkit::ChosenToolkit;
use crate::cli::pipeline_args::parse_trace;
use crate::compile::CompileOptions;
use crate::compile::LtoOptions;
use crate::compile::NvvmOptions;
use crate::compile::PtxasOptions;
use crate::compile::ToolPaths;
use crate::controls::Controls;
use crate::controls::Crashes;
use crate::controls::DumpChanged;
use crate::controls::DumpFormat;
use crate::controls::Dumping;
use crate::controls::PassSelection;
use crate::controls::RemarkOptions;
use crate::controls::StatisticsForm;
use crate::controls::Watching;
use crate::controls::split_names;
use crate::extend::Extensions;
use crate::input::CpuArch;
use crate::limits::Limits;

/// A resolved command line.
#[derive(Clone, Debug)]
pub struct NvlinkArgs {
    /// The toolkit whose linker it stands in for.
    pub toolkit: ChosenToolkit,
    /// What is linked for.
    pub target: Target,
    /// Positional inputs.
    pub inputs: Vec<String>,
    /// The output file.
    pub output: String,
    /// `-l`.
    pub libraries: Vec<String>,
    /// `-L`.
    pub library_paths: Vec<String>,
    /// `--cuweld-jobs`.
    pub jobs: Option<usize>,
    /// `--cuweld-limit`.
    pub limits: Limits,
    /// `--cuweld-map`.
    pub map: Option<String>,
    /// `--cuweld-report`.
    pub report: Option<String>,
    /// `--cuweld-print-search-dirs`.
    pub prints_search_dirs: bool,
    /// `--cuweld-print-pipeline`.
    pub prints_pipeline: bool,
    /// The file of `--cuweld-trace`.
    pub trace: Option<String>,
    /// `--cuweld-wait`.
    pub waits: bool,
    /// `-cpu-arch`.
    pub cpu_arch: CpuArch,
    /// `-ignore-host-info`, or options that replace host information.
    pub ignore_host_info: bool,
    /// `--register-link-binaries`.
    pub register_link_binaries: Option<String>,
    /// `-lto`, `-dlto`.
    pub lto: bool,
    /// `-time`: where the table of compiler runs goes.
    pub time: Option<String>,
    /// The name in messages.
    pub tool_name: String,
    /// Options for the compilers that the link runs; where they are is not filled in.
    pub compile: CompileOptions,
    /// `--uidx-file`.
    pub index_file: Option<String>,
    /// Options that change bytes.
    pub link: LinkOptions,
    /// Options that this version does not support, as typed in the sheet.
    pub unsupported: Vec<&'static str>,
    /// How the pipeline runs and what is shown of it.
    pub controls: Controls,
}

impl NvlinkArgs {
    /// Takes over the options of a command line that [`check`](super::check::check) found right.
    pub fn new(low: &LowArgs, arch: Arch, toolkit: ChosenToolkit, limits: Limits) -> Self {
        let trace = text(low, OptionId::CuweldTrace).and_then(|text| parse_trace(&text).ok());
        use OptionId as Id;
        NvlinkArgs {
            toolkit,
            target: arch.target,
            inputs: low
                .inputs
                .iter()
                .map(|input| file_name::text(input))
                .collect(),
            output: text(low, Id::OutputFile).unwrap_or_default(),
            libraries: list(low, Id::Library),
            library_paths: list(low, Id::LibraryPath),
            cpu_arch: text(low, Id::CpuArch)
                .and_then(|name| CpuArch::parse(&name))
                .unwrap_or_default(),
            ignore_host_info: low.given(Id::IgnoreHostInfo)
                || [Id::KernelsUsed, Id::VariablesUsed]
                    .into_iter()
                    .any(|id| !low.list(id).is_empty()),
            register_link_binaries: text(low, Id::RegisterLinkBinaries),
            tool_name: text(low, Id::ToolName).unwrap_or_else(|| "nvlink".to_owned()),
            jobs: low
                .number(Id::CuweldJobs)
                .map(|count| usize::try_from(count).unwrap_or(0)),
            limits,
            map: text(low, Id::CuweldMap),
            report: text(low, Id::CuweldReport),
            prints_search_dirs: low.given(Id::CuweldPrintSearchDirs),
            prints_pipeline: low.given(Id::CuweldPrintPipeline),
            trace,
            waits: low.given(Id::CuweldWait),
            compile: compile_options(low, toolkit),
            lto: wants_lto(low),
            time: text(low, Id::Time),
            index_file: text(low, Id::UidxFile),
            link: link_options(low, toolkit.stamp_nvlink),
            unsupported: unsupported(arch),
            controls: controls(low),
        }
    }
}

/// Returns the given options that this version does not support, as typed in the sheet.
fn unsupported(arch: Arch) -> Vec<&'static str> {
    let virtual_target = arch.is_virtual.then_some("-arch=compute_*");
    virtual_target.into_iter().collect()
}

/// Takes over the options for the compilers that the link runs.
fn compile_options(low: &LowArgs, toolkit: ChosenToolkit) -> CompileOptions {
    use OptionId as Id;
    let fast_compile = text(low, Id::OfastCompile).filter(|level| level != "0");
    let debug = low.given(Id::Debug) && !low.given(Id::SuppressDebugInfo);
    // What nvlink takes for no limit, and for one thread.
    let max_registers = low.number(Id::MaxRegisterCount).filter(|count| *count > 0);
    let split_compile = low.number(Id::SplitCompile).filter(|count| *count != 1);
    CompileOptions {
        any_toolkit: toolkit.fixed.is_none(),
        tools: ToolPaths {
            ptxas: low.text(Id::CuweldPtxas).map(path_of),
            ..Default::default()
        },
        ptxas: PtxasOptions {
            debug,
            extra: list(low, Id::Xptxas),
            max_registers,
            stack_protector: low.boolean(Id::DeviceStackProtector),
            split_compile,
            fast_compile: fast_compile.clone(),
            family: false,
        },
        lto: LtoOptions {
            library: low.text(Id::CuweldNvjitlink).map(path_of),
            nvvm_path: low.text(Id::NvvmPath).map(path_of),
            emit_ptx: low.given(Id::EmitPtx),
            partial: low.given(Id::ForcePartialLto) || low.given(Id::RelocatableLink),
            // One part is what a link without the option compiles.
            in_parts: low.given(Id::SplitCompileExtended)
                && low.number(Id::SplitCompileExtended) != Some(1),
            nvvm: NvvmOptions {
                debug,
                split_compile,
                fast_compile,
                max_registers,
                extra: list(low, Id::Xnvvm),
                kernels_used: list(low, Id::KernelsUsed),
                variables_used: list(low, Id::VariablesUsed),
            },
        },
    }
}

/// Takes over the options that change bytes.
fn link_options(low: &LowArgs, stamp_nvlink: bool) -> LinkOptions {
    use OptionId as Id;
    LinkOptions {
        relocatable: low.given(Id::RelocatableLink),
        debug: low.given(Id::Debug),
        preserve_relocs: low.given(Id::PreserveRelocs),
        keep_system_libraries: low.given(Id::KeepSystemLibraries),
        suppress_debug_info: low.given(Id::SuppressDebugInfo),
        force_rela: low.given(Id::ForceRela),
        allow_undefined_globals: low.given(Id::AllowUndefinedGlobals),
        strict: low.given(Id::CuweldStrict),
        whole_program: false,
        accept_newer: false,
        host: HostReferences {
            kernels_used: given_list(low, Id::KernelsUsed),
            variables_used: given_list(low, Id::VariablesUsed),
            kernels_external: None,
            kernels_internal: None,
            variables_external: None,
            variables_internal: None,
        },
        memory: MemoryOptions {
            reserve_null_pointer: low.given(Id::ReserveNullPointer),
            disable_shared_reservation: low.value(Id::DisableSmemReservation)
                == Some(&Value::Boolean(true)),
        },
        record: LinkRecord {
            options: recorded_options(low),
            output_name: recorded_object_name(low).to_vec(),
            stamp_nvlink,
            tool_name: low.text(Id::ToolName).map(<[u8]>::to_vec),
            tool_branch: Vec::new(),
        },
        reports: Reports {
            suppress_stack_size_warning: low.given(Id::SuppressStackSizeWarning),
            extra_warnings: low.given(Id::ExtraWarnings),
            resources: low.given(Id::Verbose),
            call_graph: low.given(Id::DumpCallgraph) || low.given(Id::DumpCallgraphNoDemangle),
            // The driver decides, when all silencing is known.
            warnings_are_errors: false,
            self_check: low.given(Id::CuweldSelfCheck),
            trace_finalizer: false,
            trace_compatibility: false,
        },
        mercury: MercuryOptions {
            // Where the record of SMs says that the code runs there (deviation D15).
            copy_within_family: !low.given(Id::CuweldStrict)
                && !low.given(Id::CuweldStrictFinalize),
            copy_across_families: false,
            cap_merc: false,
            finalize: Finalize::default(),
            strict: false,
        },
    }
}

/// Takes over how the pipeline runs and what is shown of it.
fn controls(low: &LowArgs) -> Controls {
    use OptionId as Id;
    Controls {
        strict: low.given(Id::CuweldStrict),
        strict_finalize: low.given(Id::CuweldStrictFinalize),
        finalize: text(low, Id::CuweldFinalize)
            .and_then(|word| Finalize::from_word(&word))
            .unwrap_or_default(),
        selection: PassSelection {
            pipeline: text(low, Id::CuweldPipeline),
            passes: text(low, Id::CuweldPasses),
            insert: text(low, Id::CuweldInsert).into_iter().collect(),
            stop_after: text(low, Id::CuweldStopAfter),
            skip: list(low, Id::CuweldSkip),
            bisect_limit: low
                .number(Id::CuweldBisectLimit)
                .map(|count| usize::try_from(count).unwrap_or(0)),
            ..PassSelection::default()
        },
        watching: Watching {
            verify_each: low.given(Id::CuweldVerifyEach),
            time_passes: low.given(Id::CuweldTimePasses) || low.given(Id::CuweldTimePassesOutput),
            time_output: text(low, Id::CuweldTimePassesOutput),
            statistics: StatisticsForm::parse(
                text(low, Id::CuweldStats).as_deref(),
                text(low, Id::CuweldStatsOutput).as_deref(),
            ),
            statistics_output: text(low, Id::CuweldStatsOutput),
            remarks: RemarkOptions::parse(
                text(low, Id::CuweldRemarks).as_deref(),
                text(low, Id::CuweldRemarksOutput).as_deref(),
            ),
            exec_on_change: text(low, Id::CuweldExecOnChange),
            progress: None,
            crashes: Crashes::Reproduced,
        },
        explaining: Questions {
            live: split_names(&list(low, Id::CuweldWhyLive).join(",")),
            extract: list(low, Id::CuweldWhyExtract),
            stack: split_names(&list(low, Id::CuweldWhyStack).join(",")),
            registers: split_names(&list(low, Id::CuweldWhyRegs).join(",")),
        },
        dumping: Dumping {
            before: list(low, Id::CuweldDumpBefore),
            after: list(low, Id::CuweldDumpAfter),
            changed: low.text(Id::CuweldDumpChanged).map(|what| match what {
                b"diff" => DumpChanged::Diff,
                _ => DumpChanged::Module,
            }),
            filter: list(low, Id::CuweldDumpFilter),
            format: match low.text(Id::CuweldDumpFormat) {
                Some(b"json") => DumpFormat::Json,
                Some(b"dot") => DumpFormat::Dot,
                _ => DumpFormat::Lir,
            },
            dir: text(low, Id::CuweldDumpDir),
            bytes: text(low, Id::CuweldDumpBytes)
                .and_then(|name| DumpBytes::from_name(&name))
                .unwrap_or_default(),
        },
        map: low.text(Id::CuweldMap).is_some(),
        report: low.text(Id::CuweldReport).is_some(),
        print_gc_sections: low.given(Id::CuweldPrintGcSections),
        repro: text(low, Id::CuweldRepro),
        extensions: Extensions {
            plugins: list(low, Id::CuweldLoadPassPlugin),
            ..Extensions::default()
        },
    }
}

pub(super) fn list(low: &LowArgs, id: OptionId) -> Vec<String> {
    low.list(id)
        .iter()
        .map(|text| file_name::text(text))
        .collect()
}

/// Returns the names of an option that was given. Without a name it is as if it was not.
fn given_list(low: &LowArgs, id: OptionId) -> Option<Vec<String>> {
    Some(list(low, id)).filter(|names| !names.is_empty())
}

fn text(low: &LowArgs, id: OptionId) -> Option<String> {
    low.text(id).map(file_name::text)
}

fn wants_lto(low: &LowArgs) -> bool {
    low.given(OptionId::LinkTimeOpt) || low.given(OptionId::Dlto)
}
