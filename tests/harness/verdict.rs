//! How a link by nvlink and the same link by cuweld compare.

use super::link::{Expected, Outcome, compare};

/// How a link ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The same bytes, messages and exit code.
    Identical,
    /// Identical with `--cuweld-strict`: one of the deviations.
    Deviation,
    /// Different, as the link says: these deviations, whose bytes were not compared.
    Reported(String),
    /// Both say the same error.
    SameError,
    /// We say that we do not support it, or that the changed input is damaged.
    Refused(String),
    /// nvlink crashed, ran too long, or ended in an internal error, and we said an error.
    Crash,
    /// Anything else: a fault.
    Differs(String),
}

/// Judges a pair of links; `changed` inputs we may call damaged.
pub fn judge(theirs: &Outcome, ours: &Outcome, changed: bool) -> Verdict {
    if ours.exit.is_none() || ours.exit == Some(101) {
        return Verdict::Differs(format!("we crash or run too long:\n{}", ours.stderr));
    }
    let refusal = ours.lines.iter().find(|line| {
        line.contains("cuweld: unsupported: ") || (changed && line.contains("' is damaged: "))
    });
    if let Some(line) = refusal.filter(|_| ours.exit != Some(0) && ours.output.is_none()) {
        // Numbers and names differ from object to object.
        let said = line.rsplit(": ").next().unwrap_or(line);
        return Verdict::Refused(message_template(said));
    }
    if theirs.exit.is_none() {
        return if ours.exit == Some(0) {
            Verdict::Differs("nvlink crashes or runs too long, we link".to_owned())
        } else {
            Verdict::Crash
        };
    }
    let expected = Expected {
        exit: theirs.exit,
        lines: Some(theirs.lines.clone()),
        output: theirs.output.clone(),
    };
    match compare(ours, &expected) {
        Err(_) if is_internal_error(theirs) && ours.exit != Some(0) && ours.output.is_none() => {
            Verdict::Crash
        }
        Err(report) => Verdict::Differs(report),
        Ok(()) if theirs.exit == Some(0) => Verdict::Identical,
        Ok(()) => Verdict::SameError,
    }
}

/// Whether nvlink found a fault of its own.
fn is_internal_error(theirs: &Outcome) -> bool {
    theirs.exit != Some(0)
        && theirs
            .lines
            .iter()
            .any(|line| line.contains(" fatal   : Internal error: "))
}

/// A message without what differs from program to program: quoted names, numbers, file names.
pub fn message_template(line: &str) -> String {
    let mut out = String::new();
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            out += "'_'";
            continue;
        }
        let mut digits = false;
        for c in part.chars() {
            if c.is_ascii_digit() {
                if !digits {
                    out.push('#');
                }
                digits = true;
            } else {
                digits = false;
                out.push(c);
            }
        }
    }
    out
}
