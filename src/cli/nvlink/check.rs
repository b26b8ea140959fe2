//! Options checked against each other, in nvlink's order: the first mistake that nvlink would name
//! is the one that is named.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::usage;
use cuweld_elf::Target;

use super::error::ArgError;
use super::options::OptionId as Id;
use super::parse::LowArgs;
use super::value::lossy;

/// The target that `-arch` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arch {
    /// The GPU.
    pub target: Target,
    /// Named as `compute_*`. nvlink accepts that, and without link-time optimisation writes
    /// nothing.
    pub is_virtual: bool,
}

/// Checks the options of a link. What is to be said about a valid command line is added to
/// `notices`, also when a mistake is found after it.
pub fn check(low: &LowArgs, notices: &mut Vec<Diagnostic>) -> Result<Arch, ArgError> {
    let name = low.text(Id::Arch).map(lossy).ok_or(ArgError::NoArch)?;
    if name.starts_with("sm_") && !low.given(Id::OutputFile) {
        return Err(ArgError::NoOutput);
    }
    if low.inputs.is_empty() {
        return Err(ArgError::NoInputs);
    }
    check_conflicts(low)?;
    if low.given(Id::UseHostInfo) && names_used(low) {
        notices.push(Diagnostic::info(
            usage::IGNORED_OPTION,
            "ignore -use-host-info because -kernels-used or -variables-used is specified",
        ));
    }
    let arch = parse_arch(&name)?;
    check_lto(low)?;
    // Measured: not said for targets below sm_90.
    if low.given(Id::PreserveRelocs) && arch.target.has_compat() {
        notices.push(Diagnostic::warning(usage::PRESERVE_RELOCS, format!(
            "Option '--preserve-relocs' is not fully implemented for gpu archtecture '{name}' and may not work as expected"
        )));
    }
    Ok(arch)
}

/// Returns `true` if options say which kernels or variables are used, instead of host objects.
pub fn names_used(low: &LowArgs) -> bool {
    low.given(Id::KernelsUsed) || low.given(Id::VariablesUsed)
}

fn conflict(first: &'static str, second: &'static str) -> Result<(), ArgError> {
    Err(ArgError::Conflict { first, second })
}

fn check_conflicts(low: &LowArgs) -> Result<(), ArgError> {
    if low.given(Id::SuppressDebugInfo) && !low.given(Id::Debug) {
        return conflict("-suppress-debug-info", "no -g");
    }
    if low.given(Id::DumpCallgraph) && low.given(Id::DumpCallgraphNoDemangle) {
        return conflict("-dump-callgraph", "-dump-callgraph-no-demangle");
    }
    if low.given(Id::UseHostInfo) && low.given(Id::IgnoreHostInfo) {
        return conflict("-use-host-info", "-ignore-host-info");
    }
    Ok(())
}

fn parse_arch(name: &str) -> Result<Arch, ArgError> {
    let (number, is_virtual) = match (name.strip_prefix("sm_"), name.strip_prefix("compute_")) {
        (Some(number), _) => (number, false),
        (None, Some(number)) => (number, true),
        (None, None) => {
            return Err(ArgError::VirtualTarget {
                arch: name.to_owned(),
            });
        }
    };
    // The option table lets only names through that `Target` knows.
    let target =
        Target::parse(&format!("sm_{number}")).ok_or_else(|| ArgError::UndefinedValue {
            value: name.to_owned(),
            option: "arch",
        })?;
    Ok(Arch { target, is_virtual })
}

fn check_lto(low: &LowArgs) -> Result<(), ArgError> {
    if !low.given(Id::LinkTimeOpt) && !low.given(Id::Dlto) {
        for (id, first) in [
            (Id::ForcePartialLto, "-force-partial-lto"),
            (Id::ForceWholeLto, "-force-whole-lto"),
            (Id::EmitPtx, "-emit-ptx"),
            (Id::OfastCompile, "--Ofast-compile"),
        ] {
            if low.given(id) {
                return conflict(first, "no -dlto");
            }
        }
        return Ok(());
    }
    if !low.given(Id::NvvmPath) {
        return Err(ArgError::NoNvvmPath);
    }
    // A relocatable link optimises in parts.
    let partial = low.given(Id::ForcePartialLto) || low.given(Id::RelocatableLink);
    if partial && low.given(Id::ForceWholeLto) {
        return conflict("-force-partial-lto", "-force-whole-lto");
    }
    match low.text(Id::OfastCompile) {
        None | Some(b"0" | b"min" | b"mid" | b"max") => Ok(()),
        Some(_) => Err(ArgError::InvalidArgument {
            option: "--Ofast-compile",
        }),
    }
}
