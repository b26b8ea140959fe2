//! Pipelines in files, and the files that pipelines refer to.

use std::path::Path;
use std::path::PathBuf;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::usage;
use cuweld_passes::options::OptionType;
use cuweld_passes::pipeline::Action;
use cuweld_passes::pipeline::Embedded;
use cuweld_passes::pipeline::Pipeline;
use cuweld_passes::pipeline::PipelineError;
use cuweld_passes::pipeline::PipelineSource;
use cuweld_passes::pipeline::Setting;
use cuweld_passes::pipeline::Source;
use cuweld_passes::pipeline::toml_form;
use cuweld_passes::registry::Registry;
use cuweld_passes::suggest::nearest;

use crate::replay_root::replayed;

/// The predefined pipelines, then files: one that is included stands beside the file that includes
/// it.
#[derive(Clone, Copy, Debug, Default)]
pub struct PipelineFiles;

impl PipelineSource for PipelineFiles {
    fn find(&self, name: &str, within: Option<&Source>) -> Option<Source> {
        if let Some(source) = Embedded.find(name, within) {
            return Some(source);
        }
        let folder = within.and_then(|source| Path::new(&source.name).parent());
        let path = replayed(&folder.unwrap_or(Path::new("")).join(name));
        let text = std::fs::read_to_string(&path).ok()?;
        let name = path.to_string_lossy().into_owned();
        Some(Source { name, text })
    }

    fn names(&self) -> Vec<String> {
        Embedded.names()
    }
}

/// Returns a predefined pipeline, or one in a file.
pub fn pipeline_source(name: &str) -> Result<Source, Diagnostic> {
    if let Some(source) = Embedded.find(name, None) {
        return Ok(source);
    }
    let text = std::fs::read_to_string(name).map_err(|error| {
        let message = format!("cuweld: cannot read pipeline '{name}': {error}");
        let finding = Diagnostic::fatal(usage::PIPELINE, message);
        let known = Embedded.names();
        match nearest(name, known.iter().map(String::as_str)) {
            Some(near) => finding.help(format!("did you mean the predefined '{near}'?")),
            None => finding,
        }
    })?;
    Ok(Source {
        name: name.to_owned(),
        text,
    })
}

/// Makes the diagnostic of a pipeline that cannot run.
pub fn refused(error: PipelineError) -> Diagnostic {
    let rendered = error.render();
    // The message says what the title, the place and the help say.
    let is_excerpt = |line: &&str| !line.trim_start().starts_with("= help");
    let lines = rendered.lines().skip(2).take_while(is_excerpt);
    let mut notes: Vec<String> = lines.map(str::to_owned).collect();
    notes.truncate(EXCERPT);
    Diagnostic {
        notes,
        ..Diagnostic::fatal(usage::PIPELINE, format!("cuweld: {error}"))
    }
}

/// How many lines show a place: an empty one, the text, and a mark.
const EXCERPT: usize = 3;

/// Returns the files that a pipeline names: those it includes, and those that options of its passes
/// speak of. Of a command these are the words that are paths of files; programs of the system are
/// none of them.
pub fn files_of(pipeline: &Pipeline, registry: &Registry) -> Vec<PathBuf> {
    let mut files = Vec::new();
    walk(pipeline, registry, &mut files);
    files
}

fn walk(pipeline: &Pipeline, registry: &Registry, files: &mut Vec<PathBuf>) {
    for step in &pipeline.steps {
        match &step.action {
            Action::Include { pipeline: name } => {
                let Some(source) = PipelineFiles.find(name, pipeline.source.as_ref()) else {
                    continue;
                };
                let path = PathBuf::from(&source.name);
                // A file that was met already may include itself.
                if Embedded.find(name, None).is_some() || files.contains(&path) {
                    continue;
                }
                files.push(path);
                if let Ok(included) = toml_form::parse(source) {
                    walk(&included, registry, files);
                }
            }
            Action::Pass { name, options } => {
                let known = registry.get(name).map_or(&[][..], |pass| pass.info.options);
                for setting in options {
                    let info = known.iter().find(|info| info.name == setting.name);
                    files.extend(info.into_iter().flat_map(|info| named(info.ty, setting)));
                }
            }
        }
    }
}

/// Returns the files of one option.
fn named(ty: OptionType, setting: &Setting) -> Vec<PathBuf> {
    match ty {
        OptionType::File => setting
            .value
            .as_str()
            .map(PathBuf::from)
            .into_iter()
            .collect(),
        OptionType::Command => {
            let words = setting.value.as_array().into_iter().flatten();
            let paths = words.filter_map(|word| word.as_str().map(PathBuf::from));
            paths
                .filter(|path| path.is_file() && !is_of_system(path))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Returns `true` if a path is one of programs that every system has a copy of its own of.
fn is_of_system(path: &Path) -> bool {
    ["/bin", "/sbin", "/lib", "/lib64", "/usr"]
        .into_iter()
        .any(|folder| path.starts_with(folder))
}
