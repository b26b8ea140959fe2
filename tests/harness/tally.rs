//! How links of programs by nvlink and by cuweld compare, counted.

use std::fmt;
use std::path::Path;

use super::kept_schedule;
use super::link::{Linker, Outcome};
use super::own_names;
use super::verdict::{Verdict, judge};

/// Links that fell short, and how many there were.
#[derive(Default)]
pub struct Tally {
    /// The same bytes, messages and exit code.
    pub identical: usize,
    /// Those of them that are so but for kernels that keep their code.
    pub kept: usize,
    /// Those of them that strict mode made, as nvlink's output is wrong.
    pub deviations: usize,
    /// What we said that we do not support.
    pub refused: Vec<String>,
    /// What differs.
    pub different: Vec<String>,
}

impl Tally {
    /// Links with both; what nvlink left if there is an output, and the same.
    pub fn link(
        &mut self,
        tools: &Path,
        folder: &Path,
        arguments: &[String],
        name: &str,
    ) -> Option<Outcome> {
        let link = |linker: Linker| linker.link(folder, arguments).unwrap();
        let mut theirs = link(Linker::nvlink(tools.join("nvlink")));
        let mut ours = link(Linker::ours());
        let mut verdict = judge(&theirs, &ours, false);
        // Where nvlink's output is wrong and ours says so, strict mode makes nvlink's.
        if matches!(verdict, Verdict::Differs(_)) {
            let said = link(Linker::ours_explaining()).stderr;
            if said.replace("deviation D12", "").contains("deviation D") {
                self.deviations += 1;
                let strictly = link(Linker::ours().strict(true));
                let own = own_names::are_refused(&strictly)
                    .then(|| own_names::renamed_inputs(folder, arguments).unwrap());
                // Or it cannot: nvlink's output is right where functions have names of their own.
                let own = own.map(|renamed| {
                    let nvlink = Linker::nvlink(tools.join("nvlink"));
                    (
                        nvlink.link(folder, &renamed).unwrap(),
                        Linker::ours().link(folder, &renamed).unwrap(),
                    )
                });
                match own.filter(|(_, named)| own_names::are_alike(&ours, named)) {
                    Some(own) => (theirs, ours) = own,
                    None => ours = strictly,
                }
                verdict = judge(&theirs, &ours, false);
            }
        }
        if matches!(verdict, Verdict::Differs(_)) && theirs.output.is_some() {
            let arguments = [&["--cuweld-strict-finalize".to_owned()], arguments].concat();
            let strictly = Linker::ours().link(folder, &arguments).unwrap();
            if kept_schedule::mask(&mut theirs, &mut ours, &strictly, |_| false).is_some() {
                self.kept += 1;
                verdict = judge(&theirs, &ours, false);
            }
        }
        match verdict {
            Verdict::Identical | Verdict::SameError => {
                self.identical += 1;
                return theirs.output.is_some().then_some(theirs);
            }
            Verdict::Refused(why) => self.refused.push(format!("{name}: {why}")),
            verdict => self.different.push(format!("{name}: {verdict:?}")),
        }
        None
    }

    /// Adds those of another.
    pub fn add(&mut self, other: Self) {
        self.identical += other.identical;
        self.kept += other.kept;
        self.deviations += other.deviations;
        self.refused.extend(other.refused);
        self.different.extend(other.different);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} links identical, {} of them but for kernels that keep their code, {} by strict mode, {} refused, {} different",
            self.identical,
            self.kept,
            self.deviations,
            self.refused.len(),
            self.different.len(),
        )?;
        for refused in &self.refused {
            writeln!(f, "refused: {refused}")?;
        }
        for different in &self.different {
            writeln!(f, "different: {different}")?;
        }
        Ok(())
    }
}
