//! Cuts a link that differs down to what makes it differ: parts go away one after the other as long as the difference is of the same class.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

use super::execute::Engine;
use super::link::{Code, Input, Link, Source, Wrap};
use super::summary::class;
use crate::harness::verdict::Verdict;

/// Takes parts away.
pub struct Shrinker<'engine> {
    engine: &'engine Engine,
    class: String,
    /// Links run so far.
    pub runs: u32,
}

impl<'engine> Shrinker<'engine> {
    /// For a link that differs; nothing if it does not.
    pub fn new(engine: &'engine Engine, link: &Link) -> Result<Option<Self>, Box<dyn Error>> {
        Ok(difference(engine, link)?.map(|class| Shrinker {
            engine,
            class,
            runs: 1,
        }))
    }

    /// What differs.
    pub fn class(&self) -> &str {
        &self.class
    }

    /// The smallest link found.
    pub fn shrink(&mut self, mut link: Link) -> Link {
        loop {
            let before = self.runs;
            let mut smaller = self.structure(&mut link);
            for (step, input) in places(&link) {
                smaller |= self.source(&mut link, step, input);
            }
            if !smaller || self.runs == before {
                return link;
            }
        }
    }

    /// Replaces the link by a candidate if that differs in the same way.
    fn accept(&mut self, link: &mut Link, candidate: Link) -> bool {
        self.runs += 1;
        // A candidate that cannot be built is none.
        let same = difference(self.engine, &candidate)
            .ok()
            .flatten()
            .is_some_and(|class| class == self.class);
        if same {
            *link = candidate;
        }
        same
    }

    fn structure(&mut self, link: &mut Link) -> bool {
        let mut smaller = false;
        if link.steps.len() > 1 {
            let mut candidate = link.clone();
            candidate.steps.truncate(1);
            smaller |= self.accept(link, candidate);
        }
        for step in 0..link.steps.len() {
            for input in (0..link.steps[step].inputs.len()).rev() {
                if matches!(link.steps[step].inputs[input].code, Code::Previous) {
                    continue;
                }
                let mut candidate = link.clone();
                candidate.steps[step].inputs.remove(input);
                smaller |= self.accept(link, candidate);
            }
            for option in (0..link.steps[step].options.len()).rev() {
                if link.steps[step].options[option] == "-r" {
                    continue;
                }
                let mut candidate = link.clone();
                candidate.steps[step].options.remove(option);
                smaller |= self.accept(link, candidate);
            }
            if link.steps[step].archive_from.is_some() {
                let mut candidate = link.clone();
                candidate.steps[step].archive_from = None;
                smaller |= self.accept(link, candidate);
            }
        }
        for (step, input) in places(link) {
            let row = &link.steps[step].inputs[input];
            if row.wrap != Wrap::Cubin {
                let mut candidate = link.clone();
                candidate.steps[step].inputs[input].wrap = Wrap::Cubin;
                smaller |= self.accept(link, candidate);
            }
            if link.steps[step].inputs[input].change.is_some() {
                let mut candidate = link.clone();
                candidate.steps[step].inputs[input].change = None;
                smaller |= self.accept(link, candidate);
            }
            if let Code::Source(source) = &link.steps[step].inputs[input].code
                && !source.options.is_empty()
            {
                let mut without = source.clone();
                without.options.clear();
                let candidate = with_source(link, step, input, without);
                smaller |= self.accept(link, candidate);
            }
        }
        smaller
    }

    /// Takes functions and variables out of a source, then lines, many at a time first.
    fn source(&mut self, link: &mut Link, step: usize, input: usize) -> bool {
        let mut smaller = false;
        for split in [blocks, lines] {
            let parts_of = |link: &Link| match &link.steps[step].inputs[input].code {
                Code::Source(source) => Some((source.clone(), split(&source.text))),
                _ => None,
            };
            let Some((_, parts)) = parts_of(link) else {
                return false;
            };
            let mut chunk = (parts.len() / 2).max(1);
            loop {
                let mut at = 0;
                while let Some((source, parts)) = parts_of(link)
                    && at < parts.len()
                {
                    let end = (at + chunk).min(parts.len());
                    let text: String = parts[..at].iter().chain(&parts[end..]).cloned().collect();
                    let candidate = Source {
                        text: text.into(),
                        ..source
                    };
                    let candidate = with_source(link, step, input, candidate);
                    if self.accept(link, candidate) {
                        smaller = true;
                    } else {
                        at = end;
                    }
                }
                if chunk == 1 {
                    break;
                }
                chunk /= 2;
            }
        }
        smaller
    }
}

fn with_source(link: &Link, step: usize, input: usize, source: Source) -> Link {
    let mut candidate = link.clone();
    candidate.steps[step].inputs[input].code = Code::Source(source);
    candidate
}

fn places(link: &Link) -> Vec<(usize, usize)> {
    let steps = link.steps.iter().enumerate();
    steps
        .flat_map(|(step, row)| (0..row.inputs.len()).map(move |input| (step, input)))
        .collect()
}

/// The text in pieces that end where no brace is open: functions, variables, directives.
fn blocks(text: &str) -> Vec<String> {
    let mut blocks = vec![String::new()];
    let mut depth = 0i32;
    for line in text.split_inclusive('\n') {
        for c in line.chars() {
            depth += i32::from(c == '{') - i32::from(c == '}');
        }
        if let Some(last) = blocks.last_mut() {
            last.push_str(line);
        }
        if depth == 0 {
            blocks.push(String::new());
        }
    }
    blocks.retain(|block| !block.is_empty());
    blocks
}

fn lines(text: &str) -> Vec<String> {
    text.split_inclusive('\n').map(str::to_owned).collect()
}

/// The class of the difference, if there is one.
fn difference(engine: &Engine, link: &Link) -> Result<Option<String>, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    Ok(match engine.run(link, folder.path())?.verdict {
        Verdict::Differs(report) => Some(class(&report)),
        _ => None,
    })
}

/// Writes a link as a case for `tests/links`. What cannot be compiled anew (changed objects, packed ones) is a file of the case.
pub fn write_case(
    engine: &Engine,
    link: &Link,
    class: &str,
    to: &Path,
) -> Result<(), Box<dyn Error>> {
    if to.exists() {
        std::fs::remove_dir_all(to)?;
    }
    std::fs::create_dir_all(to)?;
    let built = tempfile::tempdir()?;
    engine.run(link, built.path())?;
    let mut builds = String::new();
    let mut last = (Vec::new(), Vec::new());
    for (number, step) in link.steps.iter().enumerate() {
        let mut names = Vec::new();
        for input in &step.inputs {
            let name = format!("{{arch}}/{}", input.file());
            build(&link.arch, input, &name, to, built.path(), &mut builds)?;
            names.push(name);
        }
        if number + 1 < link.steps.len() {
            let mut args = vec!["-arch={arch}".to_owned()];
            args.extend(step.options.iter().cloned());
            args.extend(names);
            write_build(&mut builds, "{arch}/r.cubin", "nvlink", &args);
        } else {
            last = (step.options.clone(), names);
        }
    }
    let text = format!(
        "summary = \"TODO: {}\"\narch = [\"{}\"]\ninputs = {:?}\noptions = {:?}\nexpect = \"identical\"\n{builds}",
        class.replace(['"', '\\'], "'"),
        link.arch,
        last.1,
        last.0
    );
    Ok(std::fs::write(to.join("case.toml"), text)?)
}

fn build(
    arch: &str,
    input: &Input,
    name: &str,
    to: &Path,
    built: &Path,
    builds: &mut String,
) -> Result<(), Box<dyn Error>> {
    let plain = input.change.is_none() && input.wrap == Wrap::Cubin;
    match &input.code {
        Code::Previous => {}
        Code::Source(source) => {
            // Two inputs may be one module under different options.
            let extension = source.file.rsplit('.').next().unwrap_or("ptx");
            let file = format!("{}.{extension}", input.name);
            std::fs::write(to.join(&file), source.text.as_bytes())?;
            if let Some(header) = &source.header {
                std::fs::write(to.join("program.h"), header.as_bytes())?;
            }
            if plain {
                let mut args = vec![format!("-arch={}", source.arch("{arch}"))];
                let (tool, fixed) = if source.is_cxx() {
                    ("nvcc", ["-rdc=true", "-cubin"])
                } else {
                    ("ptxas", ["-m64", "-c"])
                };
                args.extend(fixed.map(str::to_owned));
                args.push(file);
                let options = source.options.iter();
                args.extend(
                    options
                        .filter(|option| !option.starts_with("-arch="))
                        .cloned(),
                );
                write_build(builds, name, tool, &args);
                return Ok(());
            }
        }
        Code::File { origin, .. } => writeln!(builds, "# from tests/links/{origin}")?,
    }
    if !matches!(input.code, Code::Previous) {
        let file = input.file();
        let bytes = std::fs::read(built.join(&file))?;
        let kept = format!("{arch}-{file}");
        std::fs::write(to.join(&kept), bytes)?;
        write_build(builds, name, "copy", &[format!("{{arch}}-{file}")]);
    }
    Ok(())
}

fn write_build(builds: &mut String, output: &str, tool: &str, args: &[String]) {
    let _ = write!(
        builds,
        "\n[[build]]\noutput = \"{output}\"\ntool = \"{tool}\"\nargs = {args:?}\n"
    );
}
