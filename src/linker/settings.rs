//! Settings of a link by their words, for callers that have them as text.

use std::path::PathBuf;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::usage;
use cuweld_ir::Finalize;
use cuweld_ir::text::OptionPlace;
use cuweld_ir::text::option_places;
use cuweld_passes::suggest::nearest;

use super::Linker;
use crate::chosen_toolkit::ChosenToolkit;
use crate::controls::RemarkOptions;
use crate::controls::StatisticsForm;
use crate::limits::Limits;

/// Settings that are no options of the module.
const WORDS: [&str; 23] = [
    "cuda-home",
    "input-limit",
    "finalize",
    "insert",
    "jobs",
    "limit",
    "lto",
    "map",
    "pipeline",
    "ptxas",
    "remarks",
    "skip",
    "stamp",
    "stats",
    "strict",
    "strict-finalize",
    "time-passes",
    "toolkit",
    "verify-each",
    "why-extract",
    "why-live",
    "why-regs",
    "why-stack",
];

/// Options that the link decides for itself.
const DECIDED: [&str; 2] = ["accept-newer", "whole-program"];

impl Linker {
    /// Sets what a word names, in place of what it was. Words are those of `cuweld link`
    /// (`toolkit`, `stamp`, `pipeline`, `insert`, `skip`, `verify-each`, `stats`, `time-passes`,
    /// `remarks`, `why-live` and its like, `jobs`, `limit`, `ptxas`, `strict`, `strict-finalize`, `finalize`), of
    /// this link (`input-limit`, `cuda-home`, `lto`, `map`), and of the options in the text form of the IR
    /// (`debug`, `relocatable`, `kernels-used`, ...). One that is set or not takes no value, `true`
    /// or `false`; one with names, any number; the others, one.
    ///
    /// # Errors
    ///
    /// Words that stand for nothing, and values that the word does not take.
    pub fn set(&mut self, word: &str, values: &[&str]) -> Result<(), Diagnostic> {
        if !WORDS.contains(&word) {
            return self.set_option(word, values);
        }
        let explaining = &mut self.controls.explaining;
        match word {
            "insert" => self.controls.selection.insert = list(values),
            "skip" => self.controls.selection.skip = list(values),
            "verify-each" => self.controls.watching.verify_each = flag(word, values)?,
            "time-passes" => self.controls.watching.time_passes = flag(word, values)?,
            "stats" => {
                self.controls.watching.statistics = match values {
                    ["json"] => Some(StatisticsForm::Json),
                    _ => flag(word, values)?.then_some(StatisticsForm::Table),
                };
            }
            "remarks" => {
                self.controls.watching.remarks = match values {
                    ["false"] => None,
                    ["true"] => Some(RemarkOptions::default()),
                    names => Some(RemarkOptions {
                        names: list(names),
                        output: None,
                    }),
                };
            }
            "why-extract" => explaining.extract = list(values),
            "why-live" => explaining.live = list(values),
            "why-regs" => explaining.registers = list(values),
            "why-stack" => explaining.stack = list(values),
            "cuda-home" => self.compile.tools.cuda_home = Some(PathBuf::from(one(word, values)?)),
            "ptxas" => self.compile.tools.ptxas = Some(PathBuf::from(one(word, values)?)),
            "input-limit" => self.input_limit = number(word, values)?,
            "jobs" => self.jobs = number(word, values)?.try_into().unwrap_or(usize::MAX),
            "limit" => self.limits = Limits::parse(values.iter().copied())?,
            "lto" => self.lto = flag(word, values)?,
            "map" => self.controls.map = flag(word, values)?,
            "pipeline" => self.controls.selection.passes = Some(one(word, values)?.to_owned()),
            "strict" => self.controls.strict = flag(word, values)?,
            "finalize" => self.controls.finalize = finalize(word, values)?,
            "strict-finalize" => self.controls.strict_finalize = flag(word, values)?,
            "stamp" => {
                let before = self.toolkit.map(|toolkit| toolkit.version);
                let chosen = ChosenToolkit::parse(before, Some(one(word, values)?), None)?;
                self.toolkit = chosen.fixed;
                self.options.record.stamp_nvlink = chosen.stamp_nvlink;
            }
            _ => {
                let chosen = ChosenToolkit::parse(Some(one(word, values)?), None, None)?;
                self.toolkit = chosen.fixed;
            }
        }
        Ok(())
    }

    /// Lists the words that [`Self::set`] takes.
    pub fn words() -> impl Iterator<Item = &'static str> {
        let options = option_places(&mut Default::default()).map(|(word, _)| word);
        let options = options.into_iter().filter(|word| {
            // Those of the same name are settings of the link as a whole.
            !DECIDED.contains(word) && !WORDS.contains(word)
        });
        WORDS.into_iter().chain(options)
    }

    fn set_option(&mut self, word: &str, values: &[&str]) -> Result<(), Diagnostic> {
        let mut places = option_places(&mut self.options).into_iter();
        let place = places.find(|(known, _)| *known == word && !DECIDED.contains(known));
        match place {
            Some((_, OptionPlace::Flag(is_set))) => *is_set = flag(word, values)?,
            Some((_, OptionPlace::Text(text))) => *text = one(word, values)?.into(),
            Some((_, OptionPlace::Name(name))) => *name = Some(one(word, values)?.into()),
            Some((_, OptionPlace::Finalize(mode))) => *mode = finalize(word, values)?,
            Some((_, OptionPlace::List(list))) => {
                *list = Some(self::list(values));
            }
            None => return Err(unknown(word)),
        }
        Ok(())
    }
}

fn unknown(word: &str) -> Diagnostic {
    // Callers show the message alone.
    let nearest = nearest(word, Linker::words()).map(|nearest| format!(": '{nearest}' is one"));
    let message = format!(
        "there is no setting '{word}'{}",
        nearest.unwrap_or_default()
    );
    Diagnostic::fatal(usage::COMMAND_LINE, message)
}

fn wrong(word: &str, what: &str) -> Diagnostic {
    Diagnostic::fatal(usage::COMMAND_LINE, format!("the setting '{word}' {what}"))
}

fn list(values: &[&str]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}

fn one<'v>(word: &str, values: &[&'v str]) -> Result<&'v str, Diagnostic> {
    match values {
        [value] => Ok(value),
        _ => Err(wrong(word, "takes one value")),
    }
}

fn number(word: &str, values: &[&str]) -> Result<u64, Diagnostic> {
    let value = one(word, values)?;
    value
        .parse()
        .map_err(|_| wrong(word, "takes a number that is not negative"))
}

fn finalize(word: &str, values: &[&str]) -> Result<Finalize, Diagnostic> {
    let mode = Finalize::from_word(one(word, values)?);
    mode.ok_or_else(|| wrong(word, "takes certified, keep or trust"))
}

fn flag(word: &str, values: &[&str]) -> Result<bool, Diagnostic> {
    match values {
        [] | ["true"] => Ok(true),
        ["false"] => Ok(false),
        _ => Err(wrong(word, "takes no value, true or false")),
    }
}
