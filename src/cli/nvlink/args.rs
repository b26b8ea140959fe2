//! The options of a link, with plain fields.

use cuweld_elf::Target;
use cuweld_elf::toolkit::Toolkit;
use cuweld_ir::HostReferences;
use cuweld_ir::LinkOptions;
use cuweld_ir::LinkRecord;
use cuweld_ir::MemoryOptions;
use cuweld_ir::MercuryOptions;
use cuweld_ir::Reports;
use cuweld_ir::text::DumpBytes;

use super::check::Arch;
use super::check::names_used;
use super::options::OptionId;
use super::parse::LowArgs;
use super::path_of;
use super::recorded::recorded_object_name;
use super::recorded::recorded_options;
use super::value::Value;
use super::value::lossy;
use crate::compile::CompileOptions;
use crate::compile::LtoOptions;
use crate::compile::NvvmOptions;
use crate::compile::PtxasOptions;
use crate::compile::ToolPaths;
use crate::controls::Controls;
use crate::controls::Dumping;
use crate::controls::PassSelection;
use crate::controls::Watching;
use crate::extend::Extensions;
use crate::input::CpuArch;

/// A resolved command line.
#[derive(Clone, Debug)]
pub struct NvlinkArgs {
    /// The toolkit whose linker it stands in for.
    pub toolkit: &'static Toolkit,
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
    pub fn new(low: &LowArgs, arch: Arch) -> Self {
        use OptionId as Id;
        let Arch { target, is_virtual } = arch;
        let list = |id| -> Vec<String> { low.list(id).iter().map(|text| lossy(text)).collect() };
        let given_list = |id| low.given(id).then(|| list(id));
        let text = |id| low.text(id).map(lossy);
        let stamped = text(Id::CuweldStamp).and_then(|name| Toolkit::by_stamp(&name));
        let toolkit = stamped.unwrap_or_default();
        let replaced = names_used(low);
        let with_mercury = [(
            Id::PreserveRelocs,
            "-preserve-relocs for targets with Mercury",
        )]
        .into_iter()
        .filter(|_| target.is_mercury());
        let with_suppression = [(
            Id::SuppressDebugInfo,
            "-preserve-relocs with -suppress-debug-info",
        )]
        .into_iter()
        .filter(|_| low.given(Id::PreserveRelocs));
        let lto = low.given(Id::LinkTimeOpt) || low.given(Id::Dlto);
        let with_lto = [(Id::SplitCompileExtended, "-split-compile-extended")]
            .into_iter()
            .filter(|_| lto);
        let fast_compile = text(Id::OfastCompile).filter(|level| level != "0");
        let debug = low.given(Id::Debug) && !low.given(Id::SuppressDebugInfo);
        let virtual_target = is_virtual.then_some("-arch=compute_*");
        let unsupported = with_mercury
            .chain(with_suppression)
            .chain(with_lto)
            .filter(|(id, _)| low.given(*id))
            .map(|(_, name)| name)
            .chain(virtual_target)
            .collect();
        NvlinkArgs {
            toolkit,
            target,
            inputs: low.inputs.iter().map(|input| lossy(input)).collect(),
            output: text(Id::OutputFile).unwrap_or_default(),
            libraries: list(Id::Library),
            library_paths: list(Id::LibraryPath),
            cpu_arch: text(Id::CpuArch)
                .and_then(|name| CpuArch::parse(&name))
                .unwrap_or_default(),
            ignore_host_info: replaced || low.given(Id::IgnoreHostInfo),
            register_link_binaries: text(Id::RegisterLinkBinaries),
            tool_name: text(Id::ToolName).unwrap_or_else(|| "nvlink".to_owned()),
            jobs: low
                .number(Id::CuweldJobs)
                .map(|count| usize::try_from(count).unwrap_or(0)),
            waits: low.given(Id::CuweldWait),
            compile: CompileOptions {
                toolkit,
                tools: ToolPaths {
                    ptxas: low.text(Id::CuweldPtxas).map(path_of),
                    ..Default::default()
                },
                ptxas: PtxasOptions {
                    debug,
                    extra: list(Id::Xptxas),
                    max_registers: low.number(Id::MaxRegisterCount),
                    stack_protector: low.boolean(Id::DeviceStackProtector),
                    split_compile: low.number(Id::SplitCompile),
                    fast_compile: fast_compile.clone(),
                },
                lto: LtoOptions {
                    library: low.text(Id::CuweldNvjitlink).map(path_of),
                    nvvm_path: low.text(Id::NvvmPath).map(path_of),
                    emit_ptx: low.given(Id::EmitPtx),
                    partial: low.given(Id::ForcePartialLto) || low.given(Id::RelocatableLink),
                    nvvm: NvvmOptions {
                        debug,
                        split_compile: low.number(Id::SplitCompile),
                        fast_compile,
                        max_registers: low.number(Id::MaxRegisterCount),
                        extra: list(Id::Xnvvm),
                        kernels_used: list(Id::KernelsUsed),
                        variables_used: list(Id::VariablesUsed),
                    },
                },
            },
            lto,
            time: text(Id::Time),
            index_file: text(Id::UidxFile),
            link: LinkOptions {
                relocatable: low.given(Id::RelocatableLink),
                debug: low.given(Id::Debug),
                preserve_relocs: low.given(Id::PreserveRelocs),
                keep_system_libraries: low.given(Id::KeepSystemLibraries),
                suppress_debug_info: low.given(Id::SuppressDebugInfo),
                force_rela: low.given(Id::ForceRela),
                allow_undefined_globals: low.given(Id::AllowUndefinedGlobals),
                strict: low.given(Id::CuweldStrict),
                whole_program: false,
                host: HostReferences {
                    kernels_used: given_list(Id::KernelsUsed),
                    variables_used: given_list(Id::VariablesUsed),
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
                    options: lossy(&recorded_options(low)),
                    output_name: lossy(recorded_object_name(low)),
                    stamp_nvlink: stamped.is_some(),
                    tool_name: text(Id::ToolName),
                },
                reports: Reports {
                    suppress_stack_size_warning: low.given(Id::SuppressStackSizeWarning),
                    extra_warnings: low.given(Id::ExtraWarnings),
                    resources: low.given(Id::Verbose),
                    call_graph: low.given(Id::DumpCallgraph)
                        || low.given(Id::DumpCallgraphNoDemangle),
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
                    strict: false,
                },
            },
            unsupported,
            controls: Controls {
                strict: low.given(Id::CuweldStrict),
                strict_finalize: low.given(Id::CuweldStrictFinalize),
                selection: PassSelection {
                    pipeline: text(Id::CuweldPipeline),
                    passes: text(Id::CuweldPasses),
                    stop_after: text(Id::CuweldStopAfter),
                    ..PassSelection::default()
                },
                watching: Watching {
                    verify_each: low.given(Id::CuweldVerifyEach),
                    time_passes: low.given(Id::CuweldTimePasses),
                    ..Watching::default()
                },
                dumping: Dumping {
                    before: list(Id::CuweldDumpBefore),
                    after: list(Id::CuweldDumpAfter),
                    dir: text(Id::CuweldDumpDir),
                    bytes: text(Id::CuweldDumpBytes)
                        .and_then(|name| DumpBytes::from_name(&name))
                        .unwrap_or_default(),
                    ..Dumping::default()
                },
                repro: text(Id::CuweldRepro),
                extensions: Extensions {
                    plugins: list(Id::CuweldLoadPassPlugin),
                    ..Extensions::default()
                },
                ..Controls::default()
            },
        }
    }
}
