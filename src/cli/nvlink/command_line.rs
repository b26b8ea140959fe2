//! The whole way from arguments to a [`Command`], with everything that is to be said about them
//! reported.

use crate::file_name;
use std::io;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::deviation;
use cuweld_diagnostics::codes::usage;
use cuweld_elf::toolkit::Toolkit;

use super::args::NvlinkArgs;
use super::args::list;
use super::check::check;
use super::check::check_release;
use super::environment::Surroundings;
use super::environment::apply_environment;
use super::environment::explains;
use super::environment::explains_all;
use super::environment::wants_json;
use super::error::ArgError;
use super::options::OptionId as Id;
use super::parse::LowArgs;
use super::parse::ReadFile;
use super::parse::parse;
use crate::chosen_toolkit::ChosenToolkit;
use crate::cli::pipeline_args::parse_trace;
use crate::diagnostics::Reporter;
use crate::limits::Limits;
use crate::toolkit::shadow::Shadowed;

/// What the command line asks for.
#[derive(Clone, Debug)]
pub enum Command {
    /// Print the help.
    Help,
    /// Print the version of the linker that cuweld stands in for.
    Version(&'static Toolkit),
    /// Write a script for the host's linker.
    HostLinkerScript {
        /// Whether the script is complete (`lcs-abs`) or is added to the linker's own (`lcs-aug`).
        complete: bool,
        /// The host compiler (`--host-ccbin`).
        host_compiler: Option<String>,
        /// What the host compiler would link: `-shared`, `-r`, or else a program.
        kind: Option<&'static str>,
        /// Where it goes; standard output if absent.
        output: Option<String>,
    },
    /// Link.
    Link(Box<NvlinkArgs>),
}

/// Reads the arguments after the program's name and sets up `reporter` as they ask. None means that
/// they are wrong, and that this was reported; an error is one of the reporter's writer.
///
/// Messages of the parse carry nvlink's own name; those of the checks after it already the name of
/// `-tool-name` and the target of `-report-arch`.
pub fn read_command_line(
    arguments: &[&[u8]],
    surroundings: Surroundings<'_>,
    read_file: &mut ReadFile<'_>,
    reporter: &mut Reporter<'_>,
) -> io::Result<Option<Command>> {
    let environment = surroundings.environment;
    let mut low = LowArgs::default();
    let mut redefinitions = Vec::new();
    let parsed = parse(arguments, read_file, &mut low, &mut redefinitions);
    reporter.explain = explains(&low, environment);
    reporter.explain_all = explains_all(&low, environment);
    reporter.json = wants_json(&low, environment);
    for redefinition in redefinitions {
        reporter.report_as_is(&Diagnostic::warning(
            usage::REDEFINED,
            format!(
                "incompatible redefinition for option '{}', the last value of this option was used",
                redefinition.option
            ),
        ))?;
    }
    for file in &low.response_files {
        let text = format!(
            "options are read from '{}'; {} takes '@' and a name for an input",
            file_name::text(file),
            <&Toolkit>::default().linker()
        );
        let diagnostic = Diagnostic::remark(deviation::RESPONSE_FILE, text).deviates("D10");
        reporter.report(&diagnostic)?;
    }
    if let Err(error) = parsed.and_then(|()| apply_environment(&mut low, environment)) {
        return refuse(reporter, &error);
    }
    if low.given(Id::Help) {
        return Ok(Some(Command::Help));
    }
    let text = |id| low.text(id).map(file_name::text);
    let (asked, stamp) = (text(Id::CuweldToolkit), text(Id::CuweldStamp));
    let shadowed = surroundings.shadowed.and_then(Shadowed::profile);
    let settings = list(&low, Id::CuweldLimit);
    let parsed = ChosenToolkit::parse(asked.as_deref(), stamp.as_deref(), shadowed)
        .and_then(|chosen| Ok((chosen, Limits::parse(settings.iter().map(String::as_str))?)));
    let (chosen, limits) = match parsed {
        Ok(parsed) => parsed,
        Err(diagnostic) => {
            reporter.report(&diagnostic)?;
            return Ok(None);
        }
    };
    if low.given(Id::Version) {
        return Ok(Some(Command::Version(chosen.before_inputs())));
    }
    set_up(reporter, &low);
    if let Err(error) = check_release(&low, chosen.fixed) {
        return refuse(reporter, &error);
    }
    if let Some(kind) = low.text(Id::GenHostLinkerScript) {
        if !low.inputs.is_empty() {
            return refuse(reporter, &ArgError::InputsWithHostLinkerScript);
        }
        return Ok(Some(Command::HostLinkerScript {
            complete: kind == b"lcs-abs",
            host_compiler: low.text(Id::HostCcbin).map(file_name::text),
            kind: match (low.given(Id::Shared), low.given(Id::RelocatableLink)) {
                (true, _) => Some("-shared"),
                (false, true) => Some("-r"),
                (false, false) => None,
            },
            output: low.text(Id::OutputFile).map(file_name::text),
        }));
    }
    if let Some(value) = text(Id::CuweldTrace)
        && parse_trace(&value).is_err()
    {
        let option = "cuweld-trace";
        return refuse(reporter, &ArgError::UndefinedValue { value, option });
    }
    let mut notices = Vec::new();
    let checked = check(&low, &mut notices);
    for notice in &notices {
        reporter.report(notice)?;
    }
    match checked {
        Ok(arch) => Ok(Some(Command::Link(Box::new(NvlinkArgs::new(
            &low, arch, chosen, limits,
        ))))),
        Err(error) => refuse(reporter, &error),
    }
}

fn set_up(reporter: &mut Reporter<'_>, low: &LowArgs) {
    if let Some(name) = low.text(Id::ToolName) {
        reporter.tool_name = file_name::text(name);
    }
    if low.given(Id::ReportArch) {
        reporter.report_arch = low.text(Id::Arch).map(file_name::text);
    }
    reporter.werror = low.given(Id::WarningAsError);
    // nvlink 13.0 mixes two names up: -disable-infos silences warnings, before -Werror sees them,
    // and
    // -w does nothing.
    reporter.silence_warnings = low.given(Id::DisableInfos);
    // What nvlink does not say is silenced by either.
    reporter.silence_deviations = low.given(Id::DisableInfos) || low.given(Id::DisableWarnings);
    reporter.silence_arch_warnings = low.given(Id::SuppressArchWarning);
}

fn refuse(reporter: &mut Reporter<'_>, error: &ArgError) -> io::Result<Option<Command>> {
    let mut diagnostic = Diagnostic::fatal(usage::COMMAND_LINE, error.to_string());
    diagnostic.helps = error.helps();
    reporter.report(&diagnostic)?;
    Ok(None)
}
