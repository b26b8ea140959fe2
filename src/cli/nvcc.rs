//! nvcc's place in a shadow toolkit: `nvcc -dlink` is done in this process, everything else by nvcc.

use std::ffi::OsStr;
use std::ffi::OsString;
use std::io;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::process::Stdio;
use std::sync::Arc;

use thiserror::Error;

use super::Program;
use super::nvlink::args::NvlinkArgs;
use super::nvlink::command_line::Command as NvlinkCommand;
use super::nvlink::command_line::read_command_line;
use super::nvlink::environment::Surroundings;
use super::nvlink::run::library_path;
use super::nvlink::run::read_options;
use super::nvlink::run::request_of;
use super::nvlink::split_words;
use super::output_file::write;
use crate::diagnostics::Reporter;
use crate::diagnostics::Style;
use crate::dlink::Collected;
use crate::dlink::Form;
use crate::dlink::fatbin::FatbinOptions;
use crate::dlink::links::LinkJob;
use crate::dlink::links::link_all;
use crate::dlink::nvcc::Steps;
use crate::dlink::nvcc::Unknown;
use crate::file_name;
use crate::toolkit::installed;
use crate::toolkit::shadow::Shadowed;

/// Words that ask nvcc for a device link.
const DEVICE_LINK: [&[u8]; 4] = [
    b"-dlink",
    b"--device-link",
    b"-dlink=true",
    b"--device-link=true",
];

/// Names of options that have nvcc print its steps, which are its own.
const PRINTED: [&[u8]; 3] = [b"dryrun", b"verbose", b"v"];

/// Returns `true` if a command line asks for a device link and not for the steps of one.
fn is_device_link(words: &[&[u8]]) -> bool {
    let prints = |(index, word): (usize, &&[u8])| {
        // The value of an option such as -Xnvlink is for another program.
        let before = index.checked_sub(1).and_then(|index| words.get(index));
        let is_value = before.is_some_and(|word| word.starts_with(b"-X"));
        let name = word.strip_prefix(b"--").or_else(|| word.strip_prefix(b"-"));
        let name = name.map(|name| name.strip_suffix(b"=true").unwrap_or(name));
        !is_value && name.is_some_and(|name| PRINTED.contains(&name))
    };
    words.iter().any(|word| DEVICE_LINK.contains(word)) && !words.iter().enumerate().any(prints)
}

/// The variable by which cuweld in nvlink's place is asked to write its arguments into a folder, and
/// to link nothing.
const TELL_LINKS: &str = "CUWELD_TELL_LINKS";

/// Does what nvcc in a shadow toolkit asks of nvlink beside it: `None` if it asks nothing.
pub fn tell_links(words: &[&[u8]]) -> Option<io::Result<()>> {
    let folder = std::env::var_os(TELL_LINKS)?;
    let write = || {
        let mut all = Vec::new();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let file = words.as_slice().first().filter(|_| *word == b"-optf");
            let Some(file) = file else {
                all.push(word.to_vec());
                continue;
            };
            words.next();
            let contents = read_options(Path::new(OsStr::from_bytes(file)))?;
            all.extend(split_words(&contents).map_err(io::Error::other)?);
        }
        let mut told = tempfile::NamedTempFile::new_in(folder)?;
        told.write_all(&all.join(&0))?;
        told.keep().map(drop).map_err(|error| error.error)
    };
    Some(write())
}

/// Returns the arguments of nvlink in a run of nvcc in which it links nothing, and which ends with the
/// first step after it.
fn told_links(nvcc: &mut Command) -> io::Result<Vec<Vec<String>>> {
    let folder = tempfile::tempdir()?;
    nvcc.env(TELL_LINKS, folder.path()).output()?;
    let mut links = Vec::new();
    for file in std::fs::read_dir(folder.path())? {
        let words = std::fs::read(file?.path())?;
        links.push(
            words
                .split(|byte| *byte == 0)
                .map(file_name::text)
                .collect(),
        );
    }
    Ok(links)
}

/// Why nvcc does a device link itself.
#[derive(Debug, Error)]
enum Left {
    #[error("nvcc cannot be asked what it would do: {0}")]
    System(#[from] io::Error),
    #[error("nvcc refuses it")]
    Refused,
    #[error(transparent)]
    Unknown(#[from] Unknown),
    #[error("options of nvlink that are for a link alone")]
    Options,
}

/// Runs nvcc's command line, in a shadow toolkit; `name` is the path by which it was called.
pub fn run(
    (name, words): (&Path, &[&[u8]]),
    toolkit: Option<&Shadowed>,
    program: Program<'_>,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> io::Result<u8> {
    let nvcc = toolkit.and_then(|toolkit| {
        let nvcc = installed::program(&toolkit.root, "nvcc")?;
        Some((toolkit, nvcc))
    });
    let Some((toolkit, nvcc)) = nvcc else {
        writeln!(
            stderr,
            "error: there is no toolkit behind '{}'",
            name.display()
        )?;
        return Ok(1);
    };
    let nvcc = || {
        let mut command = Command::new(&nvcc);
        // Its folder counts, not where links lead.
        command.arg0(name);
        command
    };
    if is_device_link(words) {
        match device_link(&nvcc, words, toolkit, program, stderr) {
            Ok(code) => return Ok(code),
            Err(left) => tracing::info!(%left, "nvcc does the device link"),
        }
    }
    stdout.flush()?;
    stderr.flush()?;
    // Returns only if it fails.
    Err(nvcc()
        .args(words.iter().map(|word| OsStr::from_bytes(word)))
        .exec())
}

/// Does a device link. Where it returns an error nothing was written.
fn device_link(
    nvcc: &dyn Fn() -> Command,
    words: &[&[u8]],
    toolkit: &Shadowed,
    program: Program<'_>,
    stderr: &mut dyn Write,
) -> Result<u8, Left> {
    let run = |more: &[&str]| {
        let mut nvcc = nvcc();
        nvcc.args(more).stdin(Stdio::null());
        nvcc.args(words.iter().map(|word| OsStr::from_bytes(word)));
        nvcc
    };
    let asked = run(&["--dryrun"]).output()?;
    if !asked.status.success() {
        return Err(Left::Refused);
    }
    let mut steps = Steps::parse(&file_name::text(&asked.stderr))?;
    if steps.links_are_in_files() {
        steps.take_links(told_links(&mut run(&[]))?)?;
    }
    let environment = variable;
    let surroundings = Surroundings {
        environment: &environment,
        shadowed: Some(toolkit),
    };
    let mut links = Vec::new();
    for (_, file) in &steps.images {
        let words = steps.link_of(file).and_then(|index| steps.links.get(index));
        let words = words.map_or(&[][..], Vec::as_slice);
        let mut said = Vec::new();
        let mut reporter = Reporter::new(&mut said, Style::Nvlink);
        let command = read(words, surroundings, &mut reporter)?;
        let Some(NvlinkCommand::Link(mut args)) = command.filter(|_| !reporter.failed()) else {
            return Err(Left::Options);
        };
        if !is_of_a_step(&args, steps.links.len()) {
            return Err(Left::Options);
        }
        args.controls.extensions.register = program.register.to_vec();
        links.push((words, args, reporter.early_errors()));
    }
    let library_path = library_path(surroundings);
    let jobs = links.iter().map(|(words, args, errors)| {
        let path = library_path.as_deref();
        LinkJob {
            request: request_of(args, path, surroundings, *errors),
            style: Style::Nvlink,
            // The command line is read once more for what there is to say of it, in its turn.
            set_up: Box::new(move |reporter| {
                let surroundings = Surroundings {
                    environment: &variable,
                    shadowed: Some(toolkit),
                };
                // A buffer takes all that is written, and the words were right before.
                let _ = read(words, surroundings, reporter);
            }),
        }
    });
    let jobs: Vec<_> = jobs.collect();
    let asked_jobs = links.first().and_then(|(_, args, _)| args.jobs);
    let ident = file_name::bytes(&steps.ident);
    let options = FatbinOptions {
        compression: steps.compression,
        compress_all: steps.compress_all,
        debug: steps.debug,
        relocatable: false,
        ident: &ident,
    };
    let mut made = Collected::new(Form::Object(steps.host), options);
    let how = (asked_jobs, false);
    link_all(&jobs, &Arc::default(), how, &mut |link| made.add(link));
    let mut reporter = Reporter::new(stderr, Style::Native);
    reporter.append(&file_name::bytes(&steps.messages))?;
    let output = file_name::path(&steps.output);
    Ok(made.finish(&mut reporter, |bytes| write(&output, bytes))?)
}

/// Reads the command line of a link.
fn read(
    words: &[String],
    surroundings: Surroundings<'_>,
    reporter: &mut Reporter<'_>,
) -> io::Result<Option<NvlinkCommand>> {
    let words: Vec<_> = words.iter().map(|word| file_name::bytes(word)).collect();
    let words: Vec<&[u8]> = words.iter().map(|word| &**word).collect();
    read_command_line(&words, surroundings, &mut read_options, reporter)
}

/// Returns `true` for a link that is all that its step does: what else it may be asked to write is
/// not written here.
fn is_of_a_step(args: &NvlinkArgs, links: usize) -> bool {
    let writes = args.time.is_some()
        || args.map.is_some()
        || args.trace.is_some()
        || args.controls.repro.is_some();
    let is_other = args.prints_search_dirs
        || args.prints_pipeline
        || args.index_file.is_some()
        || args.compile.lto.emit_ptx;
    let is_watched = links > 1 && args.controls.observe();
    args.register_link_binaries.is_some()
        && args.unsupported.is_empty()
        && !(writes || is_other || is_watched || args.link.relocatable)
}

fn variable(name: &str) -> Option<Vec<u8>> {
    std::env::var_os(name).map(OsString::into_vec)
}
