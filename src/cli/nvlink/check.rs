//! Options checked against each other, in nvlink's order: the first mistake that nvlink would name
//! is the one that is named.

use crate::file_name;
use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::usage;
use cuweld_elf::Target;
use cuweld_elf::behaviours::Release;
use cuweld_elf::toolkit::Toolkit;

use super::error::ArgError;
use super::options;
use super::options::OptionId as Id;
use super::parse::LowArgs;

/// The release that added `-cpu-arch RISCV64`.
const RISCV_HOSTS: Release = Release {
    major: 13,
    minor: 3,
};

/// The target that `-arch` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arch {
    /// The GPU.
    pub target: Target,
    /// Named as `compute_*`. nvlink accepts that, and without link-time optimisation writes
    /// nothing.
    pub is_virtual: bool,
}

/// Checks that options and values are those of a release.
///
/// # Errors
///
/// The first option or value that is not, and those that are but that cuweld does not follow.
pub fn check_release(low: &LowArgs, toolkit: Option<&Toolkit>) -> Result<(), ArgError> {
    let release = toolkit.map(|toolkit| toolkit.release);
    if let (Some(toolkit), Some(arch)) = (toolkit, low.text(Id::Arch).map(file_name::text))
        && let Ok(Arch { target, .. }) = parse_arch(&arch)
        && !toolkit.has_target(target.sm)
    {
        return Err(ArgError::UndefinedValue {
            value: arch,
            option: "arch",
        });
    }
    let is_later = |since: Release| release.is_some_and(|release| since > release);
    let mut given = options::all().filter(|option| low.given(option.id));
    if let Some(option) = given.find(|option| is_later(option.since)) {
        return Err(ArgError::UnknownOption {
            name: option.short.to_owned(),
        });
    }
    let value = low.text(Id::CpuArch).unwrap_or_default();
    if value == b"RISCV64" && is_later(RISCV_HOSTS) {
        return Err(ArgError::UndefinedValue {
            value: file_name::text(value),
            option: "cpu-arch",
        });
    }
    match low.given(Id::LinkAsToolsPatch) {
        true => Err(ArgError::NotSupported {
            option: "-astoolspatch",
        }),
        false => Ok(()),
    }
}

/// Checks the options of a link. What is to be said about a valid command line is added to
/// `notices`, also when a mistake is found after it.
pub fn check(low: &LowArgs, notices: &mut Vec<Diagnostic>) -> Result<Arch, ArgError> {
    let name = low
        .text(Id::Arch)
        .map(file_name::text)
        .ok_or(ArgError::NoArch)?;
    if name.starts_with("sm_") && !low.given(Id::OutputFile) {
        return Err(ArgError::NoOutput);
    }
    if low.inputs.is_empty() {
        return Err(ArgError::NoInputs);
    }
    check_conflicts(low)?;
    let names_used = low.given(Id::KernelsUsed) || low.given(Id::VariablesUsed);
    if low.given(Id::UseHostInfo) && names_used {
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
            (Id::NvvmLatest, "-nvvm-latest"),
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
    if low.given(Id::NvvmLatest) {
        return Err(ArgError::NotSupported {
            option: "-nvvm-latest",
        });
    }
    match low.text(Id::OfastCompile) {
        None | Some(b"0" | b"min" | b"mid" | b"max") => Ok(()),
        Some(_) => Err(ArgError::InvalidArgument {
            option: "--Ofast-compile",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::value::Value;
    use super::*;

    #[test]
    fn options_are_those_of_the_release() {
        let release = |minor| Toolkit::by_version(&Release { major: 13, minor }.to_string());
        let mut low = LowArgs::default();
        low.set(Id::CpuArch, Value::Text(b"RISCV64".to_vec()));
        assert!(check_release(&low, release(2)).is_err());
        assert_eq!(check_release(&low, release(3)), Ok(()));
        assert_eq!(check_release(&low, None), Ok(()));
        low.set(Id::Arch, Value::Text(b"sm_107a".to_vec()));
        assert!(check_release(&low, release(3)).is_err());
        assert_eq!(check_release(&low, release(4)), Ok(()));
        assert_eq!(check_release(&low, None), Ok(()));
        low.set(Id::Arch, Value::Text(b"sm_90".to_vec()));
        assert_eq!(
            check_release(&LowArgs::default(), Toolkit::by_version("12.6")),
            Ok(())
        );
        low.set(Id::LinkAsToolsPatch, Value::Flag);
        let said = |minor| check_release(&low, release(minor)).map_err(|error| error.to_string());
        assert_eq!(said(2), Err("Unknown option 'astoolspatch'".to_owned()));
        assert_eq!(
            said(3),
            Err("option '-astoolspatch' is not supported by cuweld".to_owned())
        );
    }
}
