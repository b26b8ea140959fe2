//! `cuweld passes`: what passes and pipelines there are.

use std::io;
use std::io::Write;

use cuweld_passes::PassInfo;
use cuweld_passes::pipeline::Embedded;
use cuweld_passes::pipeline::PipelineSource;
use cuweld_passes::pipeline::text_form;
use cuweld_passes::pipeline::toml_form;
use cuweld_passes::registry::Registry;

use crate::extend::Extensions;
use crate::extend::Register;
use crate::pipeline_files::pipeline_source;

/// Arguments of `cuweld passes`.
#[derive(clap::Args, Debug)]
pub struct PassesArgs {
    /// Describe this pass or predefined pipeline.
    name: Option<String>,
    /// Print this pipeline in its one-line form.
    #[arg(long, value_name = "NAME|FILE")]
    pipeline: Option<String>,
    /// Load passes from this library.
    #[arg(long, value_name = "LIBRARY")]
    load_pass_plugin: Vec<String>,
}

/// Runs the command.
pub fn run(
    args: &PassesArgs,
    register: &[Register],
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> io::Result<u8> {
    let extensions = Extensions {
        register: register.to_vec(),
        plugins: args.load_pass_plugin.clone(),
        added: Vec::new(),
    };
    let registry = match extensions.registry() {
        Ok(registry) => registry,
        Err(diagnostic) => {
            writeln!(stderr, "error: {}", diagnostic)?;
            return Ok(1);
        }
    };
    if let Some(name) = &args.pipeline {
        return print_pipeline(name, stdout, stderr);
    }
    match &args.name {
        None => list(&registry, stdout),
        Some(name) => match registry.get(name) {
            Some(pass) => describe(&pass.info, stdout),
            None if Embedded.find(name, None).is_some() => {
                if let Some(Ok(pipeline)) = Embedded.pipeline(name) {
                    writeln!(stdout, "{name}: {}\n", pipeline.summary)?;
                }
                print_pipeline(name, stdout, stderr)
            }
            None => {
                let meant = registry
                    .suggest(name)
                    .map_or(String::new(), |word| format!("; did you mean '{word}'?"));
                writeln!(stderr, "error: no pass or pipeline '{name}'{meant}")?;
                Ok(1)
            }
        },
    }
}

/// Prints every pass and predefined pipeline, a line each.
fn list(registry: &Registry, stdout: &mut dyn Write) -> io::Result<u8> {
    for info in registry.iter() {
        writeln!(stdout, "{:22} {}", info.name, info.summary)?;
    }
    writeln!(stdout, "\npipelines:")?;
    for name in Embedded.names() {
        let summary = match Embedded.pipeline(&name) {
            Some(Ok(pipeline)) => pipeline.summary,
            _ => String::new(),
        };
        writeln!(stdout, "{name:22} {summary}")?;
    }
    Ok(0)
}

/// Prints what docs/framework/passes.md says of a pass.
fn describe(info: &PassInfo, stdout: &mut dyn Write) -> io::Result<u8> {
    writeln!(
        stdout,
        "{}: {}\n\n{}",
        info.name,
        info.summary,
        info.documentation()
    )?;
    writeln!(stdout, "\nrequires: {}", info.requires.name())?;
    if let Some(phase) = info.establishes {
        writeln!(stdout, "establishes: {}", phase.name())?;
    }
    for option in info.options {
        writeln!(stdout, "\n{} = {}", option.name, option.default)?;
        writeln!(stdout, "    {}: {}", option.ty, option.doc)?;
    }
    if !info.remarks.is_empty() {
        writeln!(stdout, "\nremarks:")?;
    }
    for remark in info.remarks {
        writeln!(stdout, "{:22} {}", remark.name, remark.doc)?;
    }
    Ok(0)
}

fn print_pipeline(name: &str, stdout: &mut dyn Write, stderr: &mut dyn Write) -> io::Result<u8> {
    let source = match pipeline_source(name) {
        Ok(source) => source,
        Err(diagnostic) => {
            writeln!(stderr, "error: {}", diagnostic)?;
            return Ok(1);
        }
    };
    match toml_form::parse(source) {
        Ok(pipeline) => {
            writeln!(stdout, "{}", text_form::print(&pipeline))?;
            Ok(0)
        }
        Err(error) => {
            writeln!(stderr, "{}", error.render())?;
            Ok(1)
        }
    }
}
