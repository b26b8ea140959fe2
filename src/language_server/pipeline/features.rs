//! What is asked at a place of a pipeline file.

use std::ops::Range;
use std::path::Path;
use std::path::PathBuf;

use cuweld_passes::options::OptionInfo;
use cuweld_passes::options::OptionType;
use cuweld_passes::pipeline::Facts;
use cuweld_passes::pipeline::PipelineSource;
use cuweld_passes::pipeline::Source;
use cuweld_passes::pipeline::toml_form;
use cuweld_passes::registry::Registry;

use super::sources::Sources;
use super::syntax::Item;
use super::syntax::Syntax;
use super::texts;
use crate::language_server::files::Folders;
use crate::language_server::proposal::Proposal;

/// A pipeline file, and what it can refer to.
pub struct Pipeline<'p> {
    /// The text, with the path of its file.
    pub text: &'p str,
    /// Its file, if it has one.
    pub path: &'p Path,
    /// What stands where.
    pub syntax: &'p Syntax,
    /// The passes.
    pub registry: &'p Registry,
    /// Other pipelines.
    pub sources: Sources<'p>,
    /// Where programs and files are looked for that options name.
    pub folders: &'p Folders,
}

/// Where a definition is.
pub enum Definition {
    /// In the same text.
    Here(Range<usize>),
    /// In another file, at its start.
    File(PathBuf),
}

impl Pipeline<'_> {
    /// Describes what stands at a byte, and returns where that begins and ends.
    pub fn hover(&self, offset: usize) -> Option<(String, Range<usize>)> {
        let item = self.syntax.at(offset)?;
        let value = item.value.as_deref();
        let text = match (words(&item.path).as_slice(), value) {
            (["pass", "use" | "before" | "after" | "replace"], Some(name)) => {
                texts::pass(&self.registry.get(name)?.info)
            }
            (["pass", "include"], Some(name)) => texts::pipeline(&self.parsed(name)?),
            (["when"] | ["pass", "when"], Some(condition)) => texts::condition(condition)?,
            (["pass", "options", option, ..], _) => texts::option(self.option(item, option)?),
            (["pass", key], None) => named(texts::STEP_KEYS, key)?,
            ([key], None) => named(texts::FILE_KEYS, key)?,
            _ => return None,
        };
        Some((text, item.place.clone()))
    }

    /// Returns where what stands at a byte is defined.
    pub fn definition(&self, offset: usize) -> Option<Definition> {
        let item = self.syntax.at(offset)?;
        let name = item.value.as_deref()?;
        match words(&item.path).as_slice() {
            ["pass", "include"] => {
                let path = self.sources.path(name, self.path)?;
                path.is_file().then_some(Definition::File(path))
            }
            ["pass", "before" | "after" | "replace"] => {
                let mut uses = self.syntax.values(&["pass", "use"]);
                let (found, _) = uses.find(|(_, pass)| *pass == name)?;
                Some(Definition::Here(found.place.clone()))
            }
            ["pass", "options", option] => match self.option(item, option)?.ty {
                OptionType::File | OptionType::Command => {
                    let path = self.folders.find(Path::new(name))?;
                    Some(Definition::File(path))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the steps, each with its name and place.
    pub fn steps(&self) -> Vec<(String, Range<usize>)> {
        let items = self.syntax.items();
        let named =
            items.filter(|item| item.is_at(&["pass", "use"]) || item.is_at(&["pass", "include"]));
        let steps = named.filter_map(|item| Some((item.value.clone()?, item.place.clone())));
        steps.collect()
    }

    /// Returns what can stand at a byte.
    pub fn complete(&self, offset: usize) -> Vec<Proposal> {
        let line_start = self.text.get(..offset).and_then(|text| text.rfind('\n'));
        let line_start = line_start.map_or(0, |at| at + 1);
        let before = self.text.get(line_start..offset).unwrap_or("").trim_end();
        let at = self
            .syntax
            .at(offset)
            .filter(|item| item.place.start < offset);
        if let Some(item) = at.filter(|item| item.value.is_some()) {
            let inner = inside(self.text, &item.place);
            return self.values(item, inner, false);
        }
        if before.ends_with('=') {
            let mut keys = self.syntax.items().rev();
            let key = keys.find(|item| item.value.is_none() && item.place.end <= offset);
            return key.map_or(Vec::new(), |item| self.values(item, offset..offset, true));
        }
        let place = at.map_or(offset..offset, |item| item.place.clone());
        self.keys(offset, place)
    }

    /// Returns the words that can be the value of an item.
    fn values(&self, item: &Item, place: Range<usize>, quotes: bool) -> Vec<Proposal> {
        let insert = |word: &str| match quotes {
            true => format!("\"{word}\""),
            false => word.to_owned(),
        };
        let proposal = |word: &str, detail: &str, text: String| Proposal {
            word: word.to_owned(),
            detail: detail.to_owned(),
            text,
            place: place.clone(),
            insert: insert(word),
        };
        match words(&item.path).as_slice() {
            ["pass", "use" | "before" | "after" | "replace"] => {
                let passes = self.registry.iter();
                passes
                    .map(|info| proposal(info.name, info.summary, texts::pass(info)))
                    .collect()
            }
            ["pass", "include"] => {
                let names = self.sources.names();
                let pipelines = names
                    .iter()
                    .filter_map(|name| Some((name, self.parsed(name)?)));
                pipelines
                    .map(|(name, it)| proposal(name, &it.summary, texts::pipeline(&it)))
                    .collect()
            }
            ["when"] | ["pass", "when"] => {
                let facts = Facts::ALL.iter();
                let both = facts.flat_map(|info| {
                    [info.name.to_owned(), format!("not {}", info.name)]
                        .map(|word| (word, info.doc))
                });
                both.map(|(word, doc)| proposal(&word, doc, String::new()))
                    .collect()
            }
            ["pass", "options", option] => match self.option(item, option).map(|info| info.ty) {
                Some(OptionType::Choice(words)) => words
                    .iter()
                    .map(|word| proposal(word, "", String::new()))
                    .collect(),
                Some(OptionType::Bool) => ["true", "false"]
                    .map(|word| Proposal {
                        insert: word.to_owned(),
                        ..proposal(word, "", String::new())
                    })
                    .into(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// Returns the keys of the table at a byte.
    fn keys(&self, offset: usize, place: Range<usize>) -> Vec<Proposal> {
        let proposal = |(word, detail): (&str, &str)| Proposal {
            word: word.to_owned(),
            detail: detail.to_owned(),
            text: String::new(),
            place: place.clone(),
            insert: format!("{word} = "),
        };
        let mut before = self.syntax.items().rev();
        let before = before.find(|item| item.place.start < offset);
        let step = before.and_then(|item| item.step);
        match words(self.syntax.table_at(offset)).as_slice() {
            ["pass", "options"] => {
                let options = step.map_or(&[][..], |step| self.options(step));
                options
                    .iter()
                    .map(|info| proposal((info.name, info.doc)))
                    .collect()
            }
            ["pass"] => texts::STEP_KEYS.iter().copied().map(proposal).collect(),
            [] => {
                let keys = texts::FILE_KEYS.iter().copied();
                keys.filter(|(key, _)| *key != "pass")
                    .map(proposal)
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the options of the pass of a step.
    fn options(&self, step: usize) -> &[OptionInfo] {
        let pass = self.syntax.of_step(step, "use");
        let pass = pass.and_then(|(_, name)| self.registry.get(name));
        pass.map_or(&[], |pass| pass.info.options)
    }

    /// Returns the option of this name of the pass that an item belongs to.
    fn option(&self, item: &Item, name: &str) -> Option<&OptionInfo> {
        let options = self.options(item.step?);
        options.iter().find(|info| info.name == name)
    }

    fn parsed(&self, name: &str) -> Option<cuweld_passes::pipeline::Pipeline> {
        let within = Source {
            name: self.path.to_string_lossy().into_owned(),
            text: String::new(),
        };
        toml_form::parse(self.sources.find(name, Some(&within))?).ok()
    }
}

/// Returns the keys of a path as words to compare.
fn words(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}

fn named(keys: &[(&str, &str)], key: &str) -> Option<String> {
    let (name, meaning) = keys.iter().find(|(name, _)| *name == key)?;
    Some(format!("`{name}`: {meaning}"))
}

/// Returns the bytes of a string without its quotes.
fn inside(text: &str, place: &Range<usize>) -> Range<usize> {
    let whole = text.get(place.clone()).unwrap_or("");
    match whole.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let closed = whole.len() > 1 && whole.ends_with(quote);
            place.start + 1..place.end - usize::from(closed)
        }
        _ => place.clone(),
    }
}
