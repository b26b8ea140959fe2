//! Arguments of every command that reads inputs and runs passes.

use std::io;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use cuweld_diagnostics::Diagnostic;
use cuweld_elf::Target;
use cuweld_ir::Finalize;
use cuweld_ir::LinkOptions;
use cuweld_ir::LinkRecord;
use cuweld_ir::Phase;
use cuweld_ir::Reports;
use cuweld_ir::text::DumpBytes;
use cuweld_passes::instrument::Questions;
use cuweld_passes::pipeline::Facts;
use cuweld_passes::pipeline::text_form;

use super::finalizer_args::traces_compatibility;
use crate::chosen_toolkit::ChosenToolkit;
use crate::compile::CompileOptions;
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
use crate::diagnostics::Reporter;
use crate::driver::Hooks;
use crate::driver::Request;
use crate::extend::Extensions;
use crate::extend::Register;
use crate::file_name;
use crate::input::CpuArch;
use crate::input::DiscoverOptions;
use crate::input::EarlyErrors;
use crate::jobs;
use crate::limits::Limits;
use crate::linker::recorded_options;

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
    /// The tool that the output names as its linker: `nvlink`, or a version of it such as
    /// `nvlink-13.0.88`, writes the record that nvlink would write.
    #[arg(long, value_name = "NAME")]
    stamp: Option<String>,
    /// The toolkit whose nvlink is stood in for, such as 13.5 or 13.0.88, or `auto`: the newest that
    /// made an input, which is the default.
    #[arg(long, value_name = "VERSION")]
    toolkit: Option<String>,
    /// Keep kernels that no host code references.
    #[arg(long)]
    ignore_host_info: bool,
    /// Use N threads, at most 256; else what make's jobserver allows, or all of the machine's.
    #[arg(short = 'j', long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// How much the link may unpack, write and look for, such as unpacked=8G,output=none.
    #[arg(long, value_name = "NAME=N", value_delimiter = ',')]
    limit: Vec<String>,
    /// The program that compiles PTX; else that of $CUDA_HOME/bin, or the first ptxas on $PATH.
    #[arg(long, value_name = "FILE")]
    ptxas: Option<PathBuf>,
}

impl InputArgs {
    /// Returns whether the output is to be linked again.
    pub fn is_relocatable(&self) -> bool {
        self.relocatable
    }

    /// Returns whether the output is for a debugger.
    pub fn is_debug(&self) -> bool {
        self.debug
    }

    /// Returns the number of threads that was asked for.
    pub fn asked_jobs(&self) -> Option<usize> {
        let given = std::env::var_os("CUWELD_JOBS");
        let given = given.and_then(|text| text.to_str()?.parse().ok());
        self.jobs.map(NonZeroUsize::get).or(given)
    }

    /// Returns the arguments with which nvlink is told to do a link of these inputs, if it can be.
    pub fn nvlink_words(&self, inputs: &[String], target: Target, output: &str) -> Vec<String> {
        let mut words = vec![format!("-arch={target}")];
        words.extend(self.debug.then(|| "-g".to_owned()));
        words.extend(
            self.ignore_host_info
                .then(|| "-ignore-host-info".to_owned()),
        );
        words.extend(self.library_paths.iter().map(|path| format!("-L{path}")));
        words.extend(inputs.iter().cloned());
        words.extend(self.libraries.iter().map(|name| format!("-l{name}")));
        words.extend(["-o".to_owned(), output.to_owned()]);
        words
    }

    /// Returns the link of these inputs, whose output has this base name.
    pub fn request<'a>(
        &'a self,
        inputs: &'a [String],
        target: Target,
        output_name: Vec<u8>,
        controls: &'a Controls,
    ) -> Result<Request<'a>, Diagnostic> {
        let chosen = ChosenToolkit::parse(self.toolkit.as_deref(), self.stamp.as_deref(), None)?;
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let given = variable("CUWELD_LIMIT").map(|text| text.to_string_lossy().into_owned());
        let given = given.iter().flat_map(|text| text.split(','));
        let limits = Limits::parse(given.chain(self.limit.iter().map(String::as_str)))?;
        let ptxas = self.ptxas.clone();
        let compile = CompileOptions {
            any_toolkit: chosen.fixed.is_none(),
            tools: ToolPaths {
                ptxas: ptxas.or_else(|| variable("CUWELD_PTXAS").map(PathBuf::from)),
                cuda_home: variable("CUDA_HOME").map(PathBuf::from),
                path: variable("PATH"),
                toolkit: None,
            },
            ptxas: PtxasOptions {
                debug: self.debug,
                ..Default::default()
            },
            lto: Default::default(),
        };
        Ok(Request {
            as_text: None,
            toolkit: chosen.fixed,
            threads: jobs::threads(self.asked_jobs()),
            compile,
            discover: DiscoverOptions {
                toolkit: chosen.before_inputs(),
                target,
                inputs,
                libraries: &self.libraries,
                library_paths: &self.library_paths,
                env_library_path: None,
                cpu_arch: CpuArch::default(),
                lto: false,
                registers: false,
                strict: controls.strict,
                errors: EarlyErrors::default(),
                limits,
            },
            options: LinkOptions {
                relocatable: self.relocatable,
                debug: self.debug,
                record: LinkRecord {
                    options: recorded_options(target, self.relocatable),
                    output_name: if self.debug { output_name } else { Vec::new() },
                    stamp_nvlink: chosen.stamp_nvlink,
                    ..Default::default()
                },
                reports: Reports {
                    trace_compatibility: traces_compatibility(
                        std::env::var("CAN_FINALIZE_DEBUG").ok().as_deref(),
                    ),
                    ..Default::default()
                },
                ..Default::default()
            },
            ignore_host_info: self.ignore_host_info,
            hooks: Hooks::default(),
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
    /// Refuse kernels for sm_100 and later that only NVIDIA's finalizer links as nvlink does; by
    /// default their code is kept.
    #[arg(long)]
    strict_finalize: bool,
    /// Which code for sm_100 and later is made anew as by NVIDIA's finalizer: that for which the rules
    /// give what its object has, none, or all.
    #[arg(long, value_name = "CODE", value_parser = ["certified", "keep", "trust"], default_value = "certified")]
    finalize: String,
    /// Whether note: and help: lines follow a message; all: what a message counts is listed, too.
    #[arg(long, value_name = "FORM", default_value = "on", value_parser = ["on", "off", "all"])]
    explain: String,
    /// How messages are written: as text, or as JSON, an object a line.
    #[arg(long, value_name = "FORM", value_parser = ["text", "json"], default_value = "text")]
    message_format: String,
    /// The pipeline to run: a predefined one, or a file.
    #[arg(long, value_name = "NAME|FILE")]
    pipeline: Option<String>,
    /// The passes to run, such as `classify,select-objects,...`.
    #[arg(long, value_name = "PASSES", conflicts_with = "pipeline")]
    passes: Option<String>,
    /// Print the passes that would run, with everything decided, as `--passes` takes them; run
    /// none.
    #[arg(long)]
    pub print_pipeline: bool,
    /// Load passes from this library; docs/framework/writing-passes.md says how one is written.
    #[arg(long, value_name = "LIBRARY")]
    load_pass_plugin: Vec<String>,
    /// Say why these functions or variables are in the output, or are not: the definition, and the
    /// calls from a kernel.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    why_live: Vec<String>,
    /// Say why these objects, or members of libraries, take part in the link, or do not.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    why_extract: Vec<String>,
    /// Say which calls make up the stack of these kernels.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    why_stack: Vec<String>,
    /// Say which calls give these kernels their number of registers.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    why_regs: Vec<String>,
    /// Check the invariants of the IR after every pass.
    #[arg(long)]
    verify_each: bool,
    /// Report wall and CPU time of every pass, and the most memory that was resident.
    #[arg(long)]
    time_passes: bool,
    /// Write these times into this file, and not as a message.
    #[arg(long, value_name = "FILE", value_parser = file_name::parse)]
    time_passes_output: Option<PathBuf>,
    /// Report what every pass counted, as a table or as JSON.
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "table", value_parser = ["table", "json"])]
    stats: Option<String>,
    /// Write what passes counted into this file, and not as a message; JSON if its name ends in .json
    /// and no form is given.
    #[arg(long, value_name = "FILE", value_parser = file_name::parse)]
    stats_output: Option<PathBuf>,
    /// Write a trace of the whole process that chrome://tracing and ui.perfetto.dev open.
    #[arg(long, value_name = "chrome:FILE", value_parser = parse_trace)]
    trace: Option<String>,
    /// Say what passes decide, and why: everything, or what these passes say of these functions and
    /// variables, mangled or as in the source.
    #[arg(long, value_name = "PASS|SYMBOL,..", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    remarks: Option<String>,
    /// Write remarks into this file, as JSON, an object a line, and not as messages.
    #[arg(long, value_name = "FILE", value_parser = file_name::parse)]
    remarks_output: Option<PathBuf>,
    /// Dump the IR before these passes, or `all`.
    #[arg(long, value_name = "PASS", value_delimiter = ',')]
    dump_before: Vec<String>,
    /// Dump the IR after these passes, or `all`.
    #[arg(long, value_name = "PASS", value_delimiter = ',')]
    dump_after: Vec<String>,
    /// Dump the IR after passes that changed it; with `diff`, only the lines that changed.
    #[arg(long, value_name = "diff", num_args = 0..=1, require_equals = true, default_missing_value = "module", value_parser = ["module", "diff"])]
    dump_changed: Option<String>,
    /// Dump only rows whose name, or a name that they refer to, contains one of these.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    dump_filter: Vec<String>,
    /// What dumps are: the text form, JSON, or the call graph as DOT.
    #[arg(long, value_name = "FORM", default_value = "lir", value_parser = ["lir", "json", "dot"])]
    dump_format: String,
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
    /// Write a file that holds this run: inputs, options, pipeline; `cuweld replay` runs it again.
    #[arg(long, value_name = "FILE.tar")]
    repro: Option<String>,
    /// Add a step to the pipeline: `PASS{OPTIONS} after PASS`, or `before` or `replace`; without that
    /// at its end. Several times in turn.
    #[arg(long, value_name = "STEP")]
    insert: Vec<String>,
    /// Leave these passes out.
    #[arg(long, value_name = "PASS", value_delimiter = ',')]
    skip: Vec<String>,
    /// Run only the first N of the passes that a link is right without, and name them.
    #[arg(long, value_name = "N")]
    bisect_limit: Option<usize>,
    /// After every pass that changed the IR, run this shell command on its text; end if it fails.
    #[arg(long, value_name = "CMD")]
    exec_on_change: Option<String>,
}

impl PipelineArgs {
    /// Returns the form in which contents stand in a text that is the output; such a text by itself
    /// is no use if it names inputs.
    pub fn output_bytes(&self) -> DumpBytes {
        self.dump_bytes.unwrap_or(DumpBytes::Full)
    }

    /// Sets up what messages explain.
    pub fn set_up(&self, reporter: &mut Reporter<'_>) {
        reporter.explain = self.explain != "off";
        reporter.explain_all = self.explain == "all";
        reporter.json = self.message_format == "json";
    }

    /// Builds the driver's controls from these arguments, with passes of the embedder.
    pub fn controls(&self, register: &[Register]) -> Controls {
        Controls {
            extensions: Extensions {
                register: register.to_vec(),
                plugins: self.load_pass_plugin.clone(),
                added: Vec::new(),
            },
            strict: self.strict,
            strict_finalize: self.strict_finalize,
            finalize: Finalize::from_word(&self.finalize).unwrap_or_default(),
            selection: self.selection(),
            watching: self.watching(),
            dumping: self.dumping(),
            explaining: Questions {
                live: split_names(&self.why_live.join(",")),
                extract: self.why_extract.clone(),
                stack: split_names(&self.why_stack.join(",")),
                registers: split_names(&self.why_regs.join(",")),
            },
            map: false,
            print_gc_sections: false,
            report: false,
            repro: self.repro.clone(),
        }
    }

    /// Returns the file of the trace, if there is to be one.
    pub fn trace(&self) -> Option<&str> {
        self.trace.as_deref()
    }

    fn selection(&self) -> PassSelection {
        PassSelection {
            pipeline: self.pipeline.clone(),
            passes: self.passes.clone(),
            start_after: None,
            stop_after: self.stop_after.clone(),
            insert: self.insert.clone(),
            skip: self.skip.clone(),
            bisect_limit: self.bisect_limit,
        }
    }

    fn watching(&self) -> Watching {
        Watching {
            progress: None,
            verify_each: self.verify_each,
            time_passes: self.time_passes || self.time_passes_output.is_some(),
            time_output: self.time_passes_output.as_deref().map(file_name::of_path),
            statistics: StatisticsForm::parse(
                self.stats.as_deref(),
                self.stats_output
                    .as_deref()
                    .map(file_name::of_path)
                    .as_deref(),
            ),
            statistics_output: self.stats_output.as_deref().map(file_name::of_path),
            remarks: RemarkOptions::parse(
                self.remarks.as_deref(),
                self.remarks_output
                    .as_deref()
                    .map(file_name::of_path)
                    .as_deref(),
            ),
            exec_on_change: self.exec_on_change.clone(),
            crashes: Crashes::Reproduced,
        }
    }

    fn dumping(&self) -> Dumping {
        Dumping {
            before: self.dump_before.clone(),
            after: self.dump_after.clone(),
            changed: self.dump_changed.as_deref().map(|word| match word {
                "diff" => DumpChanged::Diff,
                _ => DumpChanged::Module,
            }),
            filter: self.dump_filter.clone(),
            format: match &*self.dump_format {
                "json" => DumpFormat::Json,
                "dot" => DumpFormat::Dot,
                _ => DumpFormat::Lir,
            },
            dir: self.dump_dir.clone(),
            bytes: self.dump_bytes.unwrap_or_default(),
        }
    }
}

/// Prints the passes of a run, without includes and conditions.
pub fn print_pipeline(
    controls: &Controls,
    facts: Facts,
    start: Phase,
    stdout: &mut dyn Write,
    reporter: &mut Reporter<'_>,
) -> io::Result<()> {
    match controls.manager(facts, start) {
        Ok(manager) => {
            let pipeline = manager.pipeline().to_pipeline();
            writeln!(stdout, "{}", text_form::print(&pipeline))
        }
        Err(diagnostic) => reporter.report(&diagnostic),
    }
}

/// Returns the arguments without an option and its value.
pub fn without_option(words: &[String], option: &str) -> Vec<String> {
    let mut left = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == option {
            words.next();
        } else if !word
            .strip_prefix(option)
            .is_some_and(|rest| rest.starts_with('='))
        {
            left.push(word.clone());
        }
    }
    left
}

/// Reads the form of a trace and its file.
pub fn parse_trace(text: &str) -> Result<String, String> {
    match text.strip_prefix("chrome:") {
        Some(file) if !file.is_empty() => Ok(file.to_owned()),
        _ => Err("expected chrome:FILE".to_owned()),
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
