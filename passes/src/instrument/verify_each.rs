//! Verifies the module around every pass.

use std::fmt::Display;

use cuweld_ir::Module;

use super::Instrument;
use super::InstrumentError;
use super::PassReport;
use super::RunInfo;
use super::StepInfo;

/// Returns everything that is wrong with a module.
type Verifier<'a> = dyn Fn(&Module<'_>) -> Vec<String> + 'a;

/// Ends the link after the first pass that leaves a broken module, with all that is broken.
///
/// The module is verified before the first pass as well, so that no pass is blamed for its input.
pub struct VerifyEach<'a> {
    verifier: Box<Verifier<'a>>,
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
        }
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
        self.verify(module)
    }

    fn after_pass(
        &mut self,
        _: &StepInfo<'_>,
        module: &Module<'_>,
        _: &PassReport<'_>,
    ) -> Result<(), InstrumentError> {
        self.verify(module)
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
    fn a_module_broken_before_is_nobodys_fault() {
        let mut verify = VerifyEach::new(|_: &Module<'_>| vec!["bad"]);
        let error = Bench::new("classify").run(&mut [&mut verify]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "before the first pass: the module is broken: bad"
        );
    }
}
