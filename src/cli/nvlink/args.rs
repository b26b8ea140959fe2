//! Options checked against each other, with plain fields.

use cuweld_ir::LinkOptions;
use cuweld_ir::Target;

use super::error::ArgError;
use super::options;
use super::options::OptionId;
use super::parse::LowArgs;
use super::recorded::recorded_object_name;
use super::recorded::recorded_options;
use super::value::Value;
use super::value::convert;
use super::value::lossy;
use crate::driver::Controls;
use crate::input::CpuArch;

/// Looks up an environment variable.
pub type Environment<'a> = dyn Fn(&str) -> Option<Vec<u8>> + 'a;

/// A resolved command line.
#[derive(Clone, Debug)]
pub struct NvlinkArgs {
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
    /// `-cpu-arch`.
    pub cpu_arch: CpuArch,
    /// `-ignore-host-info`, or options that replace host information.
    pub ignore_host_info: bool,
    /// `-use-host-info` was given although other options replace it.
    pub host_info_replaced: bool,
    /// `-Werror`.
    pub werror: bool,
    /// `-w` or `-suppress-arch-warning`.
    pub silence_arch_warnings: bool,
    /// `-report-arch`.
    pub report_arch: bool,
    /// `--register-link-binaries`.
    pub register_link_binaries: Option<String>,
    /// The name in messages.
    pub tool_name: String,
    /// Options that change bytes.
    pub link: LinkOptions,
    /// Options that this version does not support, as typed in the sheet.
    pub unsupported: Vec<&'static str>,
    /// How the pipeline runs and what is shown of it.
    pub controls: Controls,
}

/// Gives our own options the values of their environment variables, unless the command line has them.
pub fn apply_environment(low: &mut LowArgs, environment: &Environment<'_>) -> Result<(), ArgError> {
    for option in options::own() {
        if low.given(option.id) {
            continue;
        }
        let Some(text) = environment(option.environment) else {
            continue;
        };
        let value = if matches!(option.kind, options::ValueKind::Flag) {
            match text.as_slice() {
                b"" | b"0" | b"off" | b"false" => continue,
                _ => Value::Flag,
            }
        } else {
            convert(option, &text).map_err(|error| ArgError::Environment {
                variable: option.environment,
                reason: error.to_string(),
            })?
        };
        low.set(option.id, value);
    }
    Ok(())
}

impl NvlinkArgs {
    /// Checks options against each other, in nvlink's order.
    pub fn resolve(low: &LowArgs) -> Result<Self, ArgError> {
        use OptionId as Id;
        let arch = low.text(Id::Arch).map(lossy).ok_or(ArgError::NoArch)?;
        if low.given(Id::LinkTimeOpt) || low.given(Id::Dlto) {
            if !low.given(Id::NvvmPath) {
                return Err(ArgError::NoNvvmPath);
            }
        } else if low.inputs.is_empty() && low.given(Id::OutputFile) {
            return Err(ArgError::NoInputs);
        }
        let output = low
            .text(Id::OutputFile)
            .map(lossy)
            .ok_or(ArgError::NoOutput)?;
        if low.inputs.is_empty() {
            return Err(ArgError::NoInputs);
        }
        conflicts(low)?;
        let target = Target::parse(&arch).ok_or(ArgError::VirtualTarget { arch })?;
        let list = |id| -> Vec<String> { low.list(id).iter().map(|text| lossy(text)).collect() };
        let given_list = |id| low.given(id).then(|| list(id));
        let text = |id| low.text(id).map(lossy);
        let replaced = low.given(Id::KernelsUsed) || low.given(Id::VariablesUsed);
        let flags: [(Id, &'static str); 14] = [
            (Id::RelocatableLink, "-r"),
            (Id::Verbose, "-v"),
            (Id::PreserveRelocs, "-preserve-relocs"),
            (Id::DumpCallgraph, "-dump-callgraph"),
            (Id::DumpCallgraphNoDemangle, "-dump-callgraph-no-demangle"),
            (Id::LinkTimeOpt, "-lto"),
            (Id::Dlto, "-dlto"),
            (Id::EmitPtx, "-emit-ptx"),
            (Id::GenHostLinkerScript, "-ghls"),
            (Id::UidxFile, "--uidx-file"),
            (Id::ForceRela, "--force-rela"),
            (Id::AllowUndefinedGlobals, "-allow-undefined-globals"),
            (Id::ReserveNullPointer, "--reserve-null-pointer"),
            (Id::Time, "-time"),
        ];
        let unsupported = flags
            .into_iter()
            .filter(|(id, _)| low.given(*id))
            .map(|(_, name)| name)
            .collect();
        Ok(NvlinkArgs {
            target,
            inputs: low.inputs.iter().map(|input| lossy(input)).collect(),
            output,
            libraries: list(Id::Library),
            library_paths: list(Id::LibraryPath),
            cpu_arch: text(Id::CpuArch)
                .and_then(|name| CpuArch::parse(&name))
                .unwrap_or_default(),
            ignore_host_info: replaced || low.given(Id::IgnoreHostInfo),
            host_info_replaced: replaced && low.given(Id::UseHostInfo),
            werror: low.given(Id::WarningAsError),
            silence_arch_warnings: low.given(Id::DisableWarnings)
                || low.given(Id::SuppressArchWarning),
            report_arch: low.given(Id::ReportArch),
            register_link_binaries: text(Id::RegisterLinkBinaries),
            tool_name: text(Id::ToolName).unwrap_or_else(|| "nvlink".to_owned()),
            link: LinkOptions {
                relocatable: low.given(Id::RelocatableLink),
                debug: low.given(Id::Debug),
                recorded_options: lossy(&recorded_options(low)),
                output_name: lossy(recorded_object_name(low)),
                stamp_nvlink: low.text(Id::CuweldStamp) == Some(b"nvlink-13.0.88"),
                kernels_used: given_list(Id::KernelsUsed),
                variables_used: given_list(Id::VariablesUsed),
                host_kernels_external: None,
                host_kernels_internal: None,
                suppress_stack_size_warning: low.given(Id::SuppressStackSizeWarning),
                preserve_relocs: low.given(Id::PreserveRelocs),
                keep_system_libraries: low.given(Id::KeepSystemLibraries),
            },
            unsupported,
            controls: Controls {
                strict: low.given(Id::CuweldStrict),
                pipeline: text(Id::CuweldPipeline),
                passes: text(Id::CuweldPasses),
                verify_each: low.given(Id::CuweldVerifyEach),
                time_passes: low.given(Id::CuweldTimePasses),
                dump_before: list(Id::CuweldDumpBefore),
                dump_after: list(Id::CuweldDumpAfter),
                dump_dir: text(Id::CuweldDumpDir),
                stop_after: text(Id::CuweldStopAfter),
            },
        })
    }
}

fn conflicts(low: &LowArgs) -> Result<(), ArgError> {
    use OptionId as Id;
    let both = |a, b| low.given(a) && low.given(b);
    let conflict = |first, second| Err(ArgError::Conflict { first, second });
    if both(Id::DumpCallgraph, Id::DumpCallgraphNoDemangle) {
        return conflict("-dump-callgraph", "-dump-callgraph-no-demangle");
    }
    if low.given(Id::SuppressDebugInfo) && !low.given(Id::Debug) {
        return conflict("-suppress-debug-info", "no -g");
    }
    if both(Id::UseHostInfo, Id::IgnoreHostInfo) {
        return conflict("-use-host-info", "-ignore-host-info");
    }
    Ok(())
}
