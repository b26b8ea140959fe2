//! Arguments of every command that reads inputs and runs passes.

use std::path::PathBuf;

use clap::Args;
use cuweld_ir::LinkOptions;
use cuweld_ir::Target;
use cuweld_ir::text::DumpBytes;
use cuweld_passes::Diagnostic;

use crate::compile::CompileOptions;
use crate::compile::PtxasOptions;
use crate::compile::ToolPaths;
use crate::driver::Request;
use crate::input::CpuArch;
use crate::input::DiscoverOptions;
use crate::input::EarlyErrors;
use crate::run::Controls;

/// How inputs are found and what of them is kept.
#[derive(Args, Debug)]
pub struct InputArgs {
    /// Link against this library.
    #[arg(short = 'l', value_name = "NAME")]
    libraries: Vec<String>,
    /// Search libraries here.
    #[arg(short = 'L', value_name = "DIR")]
    library_paths: Vec<String>,
    /// Keep all code, record file names.
    #[arg(short = 'g', long)]
    debug: bool,
    /// Write a relocatable object, which can be linked again.
    #[arg(short = 'r', long)]
    relocatable: bool,
    /// The tool that the output names as its linker: `nvlink-13.0.88` writes the record that nvlink
    /// would write.
    #[arg(long, value_name = "NAME")]
    stamp: Option<String>,
    /// Keep kernels that no host code references.
    #[arg(long)]
    ignore_host_info: bool,
    /// The program that compiles PTX; else that of $CUDA_HOME/bin, or the first ptxas on $PATH.
    #[arg(long, value_name = "FILE")]
    ptxas: Option<PathBuf>,
}

impl InputArgs {
    /// The link of these inputs, whose output has this base name.
    pub fn request<'a>(
        &'a self,
        inputs: &'a [String],
        target: Target,
        output_name: String,
        controls: &'a Controls,
    ) -> Result<Request<'a>, Diagnostic> {
        let stamp_nvlink = match self.stamp.as_deref() {
            None | Some("cuweld") => false,
            Some("nvlink-13.0.88") => true,
            Some(other) => {
                return Err(Diagnostic::fatal(format!("unknown stamp '{other}'"))
                    .help("known are cuweld and nvlink-13.0.88"));
            }
        };
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let ptxas = self.ptxas.clone();
        let compile = CompileOptions {
            tools: ToolPaths {
                ptxas: ptxas.or_else(|| variable("CUWELD_PTXAS").map(PathBuf::from)),
                cuda_home: variable("CUDA_HOME").map(PathBuf::from),
                path: variable("PATH"),
            },
            ptxas: PtxasOptions {
                debug: self.debug,
                ..Default::default()
            },
            lto: Default::default(),
        };
        Ok(Request {
            compile,
            discover: DiscoverOptions {
                target,
                inputs,
                libraries: &self.libraries,
                library_paths: &self.library_paths,
                env_library_path: None,
                cpu_arch: CpuArch::default(),
                lto: false,
                strict: controls.strict,
                errors: EarlyErrors::default(),
            },
            options: LinkOptions {
                relocatable: self.relocatable,
                debug: self.debug,
                recorded_options: format!(
                    "-arch {target} {}",
                    if self.relocatable { "-r  " } else { "" }
                ),
                output_name: if self.debug {
                    output_name
                } else {
                    String::new()
                },
                stamp_nvlink,
                ..Default::default()
            },
            ignore_host_info: self.ignore_host_info,
            controls,
        })
    }
}

/// Which passes run, and what is shown of them.
#[derive(Args, Debug)]
pub struct PipelineArgs {
    /// Reproduce nvlink even where docs/deviations.md lists a deviation.
    #[arg(long)]
    strict: bool,
    /// The pipeline to run: a predefined one, or a file.
    #[arg(long, value_name = "NAME|FILE")]
    pipeline: Option<String>,
    /// The passes to run, such as `classify,select-objects,...`.
    #[arg(long, value_name = "PASSES", conflicts_with = "pipeline")]
    passes: Option<String>,
    /// Check the invariants of the IR after every pass.
    #[arg(long)]
    verify_each: bool,
    /// Report the time of every pass.
    #[arg(long)]
    time_passes: bool,
    /// Dump the IR before these passes, or `all`.
    #[arg(long, value_name = "PASS", value_delimiter = ',')]
    dump_before: Vec<String>,
    /// Dump the IR after these passes, or `all`.
    #[arg(long, value_name = "PASS", value_delimiter = ',')]
    dump_after: Vec<String>,
    /// Put dumps into files of this folder.
    #[arg(long, value_name = "DIR")]
    dump_dir: Option<String>,
    /// How contents stand in text: ref (parses back with the inputs at hand), full (parses back
    /// alone), hash (does not parse back).
    #[arg(long, value_name = "FORM", value_parser = parse_form)]
    dump_bytes: Option<DumpBytes>,
    /// Stop after this pass.
    #[arg(long, value_name = "PASS")]
    stop_after: Option<String>,
}

impl PipelineArgs {
    /// How contents stand in a text that is the output; alone it is no use if it names inputs.
    pub fn output_bytes(&self) -> DumpBytes {
        self.dump_bytes.unwrap_or(DumpBytes::Full)
    }

    /// These arguments as what the driver takes.
    pub fn controls(&self) -> Controls {
        Controls {
            strict: self.strict,
            pipeline: self.pipeline.clone(),
            passes: self.passes.clone(),
            verify_each: self.verify_each,
            time_passes: self.time_passes,
            dump_before: self.dump_before.clone(),
            dump_after: self.dump_after.clone(),
            dump_dir: self.dump_dir.clone(),
            dump_bytes: self.dump_bytes.unwrap_or_default(),
            start_after: None,
            stop_after: self.stop_after.clone(),
        }
    }
}

fn parse_form(name: &str) -> Result<DumpBytes, String> {
    DumpBytes::from_name(name).ok_or_else(|| "expected ref, full or hash".to_owned())
}

/// Reads the name of an architecture.
pub fn parse_target(name: &str) -> Result<Target, String> {
    Target::parse(name).ok_or_else(|| {
        let known: Vec<String> = Target::ALL
            .iter()
            .map(|(sm, _)| format!("sm_{sm}"))
            .collect();
        format!(
            "no such architecture; known are {} and their variants",
            known.join(" ")
        )
    })
}
