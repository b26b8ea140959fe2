//! Verifies the module, and what a pass says of itself, around every pass.

use std::collections::BTreeSet;
use std::fmt::Display;

use cuweld_ir::Module;
use cuweld_ir::text;
use cuweld_ir::text::DumpBytes;

use super::Instrument;
use super::InstrumentError;
use super::PassReport;
use super::RunInfo;
use super::StepInfo;
use crate::pass::Changed;

/// Returns everything that is wrong with a module.
type Verifier<'a> = dyn Fn(&Module<'_>) -> Vec<String> + 'a;

/// Ends the link after the first pass that leaves a broken module, with all that is broken.
///
/// The module is verified before the first pass as well, so that no pass is blamed for its input.
/// A pass that says that it changed nothing has left the rows of the text form as they were, and the
/// analyses that it says to preserve are those that are computed anew.
pub struct VerifyEach<'a> {
    verifier: Box<Verifier<'a>>,
    /// The rows before the pass.
    before: String,
    /// The analyses that could not be compared.
    not_compared: BTreeSet<&'static str>,
}

impl<'a> VerifyEach<'a> {
    /// Verifies with this function: it returns everything that is wrong.
    pub fn new<E: Display>(verifier: impl Fn(&Module<'_>) -> Vec<E> + 'a) -> Self {
        let verifier = move |module: &Module<'_>| {
            verifier(module)
                .iter()
                .map(E::to_string)
                .collect::<Vec<String>>()
        };
        VerifyEach {
            verifier: Box::new(verifier),
            before: String::new(),
            not_compared: BTreeSet::new(),
        }
    }

    /// Names the analyses that passes say to preserve and that could not be compared.
    pub fn not_compared(&self) -> impl Iterator<Item = &'static str> {
        self.not_compared.iter().copied()
    }

    fn verify(&self, module: &Module<'_>) -> Result<(), InstrumentError> {
        match (self.verifier)(module) {
            errors if errors.is_empty() => Ok(()),
            errors => Err(InstrumentError::Broken(errors)),
        }
    }
}

impl Instrument for VerifyEach<'_> {
    fn before_run(&mut self, _: &RunInfo<'_>, module: &Module<'_>) -> Result<(), InstrumentError> {
        self.before = text::print(module, DumpBytes::Ref);
        self.verify(module)
    }

    fn after_pass(
        &mut self,
        _: &StepInfo<'_>,
        module: &Module<'_>,
        report: &PassReport<'_>,
    ) -> Result<(), InstrumentError> {
        self.verify(module)?;
        let before = std::mem::replace(&mut self.before, text::print(module, DumpBytes::Ref));
        if report.changed == Changed::No
            && let Some(difference) = difference(&before, &self.before)
        {
            let what = format!("it says that it changed nothing, but {difference}");
            return Err(InstrumentError::Claim(what));
        }
        for (name, holds) in report.analyses.compare(module) {
            match holds {
                Some(true) => {}
                Some(false) => {
                    let what = format!(
                        "it says that analysis '{name}' stays valid, but computed anew it is another"
                    );
                    return Err(InstrumentError::Claim(what));
                }
                None => {
                    self.not_compared.insert(name);
                }
            }
        }
        Ok(())
    }
}

/// Returns the first row of a module that differs from those of the module before, as text. The
/// phase is the pass manager's, and what a pass found is no change.
fn difference(before: &str, after: &str) -> Option<String> {
    let rows = |text: &'_ str| -> Vec<String> {
        let end = text.rfind("\nfindings\n").unwrap_or(text.len());
        let lines = text.get(..end).unwrap_or(text).lines();
        let lines = lines.filter(|line| !line.is_empty() && *line != "end");
        lines
            .map(|line| match line.strip_prefix("module phase=") {
                Some(rest) => rest
                    .split_once(' ')
                    .map_or(rest, |(_, rest)| rest)
                    .to_owned(),
                None => line.trim().to_owned(),
            })
            .collect()
    };
    if before == after {
        return None;
    }
    let (before, after) = (rows(before), rows(after));
    let at = before.iter().zip(&after).position(|(old, new)| old != new);
    let at = at.unwrap_or(before.len().min(after.len()));
    match (before.get(at), after.get(at)) {
        (None, None) => None,
        (Some(old), Some(new)) => Some(format!("row '{}' is '{}' now", short(old), short(new))),
        (Some(old), None) => Some(format!("row '{}' is gone", short(old))),
        (None, Some(new)) => Some(format!("row '{}' is new", short(new))),
    }
}

/// Cuts a row, which may have bytes, to what a message can show. It is ASCII but for damage.
fn short(row: &str) -> String {
    const SHOWN: usize = 240;
    match row.get(..SHOWN) {
        Some(start) if row.len() > SHOWN => format!("{start}…"),
        _ => row.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manager::tests::Bench;

    #[test]
    fn the_pass_that_breaks_the_module_is_named() {
        let mut verify = VerifyEach::new(|module: &Module<'_>| {
            let run = str::from_utf8(&module.options.record.output_name).unwrap();
            let broken = run.contains("select-objects");
            if broken {
                vec!["first", "second"]
            } else {
                vec![]
            }
        });
        let error = Bench::new("classify,select-objects,symbol-resolve")
            .run(&mut [&mut verify])
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "after pass 'select-objects' (step 2): the module is broken: first; second"
        );
    }

    #[test]
    fn what_a_pass_says_of_itself_is_checked() {
        let nothing_is_broken = |_: &Module<'_>| Vec::<String>::new();
        let said = |passes| {
            let mut verify = VerifyEach::new(nothing_is_broken);
            let result = Bench::new(passes).run(&mut [&mut verify]);
            let not_compared: Vec<_> = verify.not_compared().collect();
            (result.err().map(|error| error.to_string()), not_compared)
        };
        assert_eq!(said("classify,nothing"), (None, vec![]));
        assert_eq!(
            said("classify,silent-change").0.unwrap(),
            "after pass 'silent-change' (step 2): it says that it changed nothing, but row \
             'option output-name \"classify \"' is 'option output-name \"classify silent-change \"' now"
        );
        assert_eq!(
            said("classify,ask,nothing,keep-written").0.unwrap(),
            "after pass 'keep-written' (step 4): it says that analysis 'Written' stays valid, but \
             computed anew it is another"
        );
        // The pass manager drops what a pass does not preserve.
        assert_eq!(said("classify,ask,select-objects"), (None, vec!["Opaque"]));
    }

    #[test]
    fn a_module_broken_before_is_nobodys_fault() {
        let mut verify = VerifyEach::new(|_: &Module<'_>| vec!["bad"]);
        let error = Bench::new("classify").run(&mut [&mut verify]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "before the first pass: the module is broken: bad"
        );
    }
}
