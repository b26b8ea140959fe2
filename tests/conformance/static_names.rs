//! Links that nvlink cannot do because of static functions of one name (deviation D11).

use std::collections::BTreeSet;
use std::path::Path;

use super::harness::link::Outcome;
use super::object::Object;

/// What nvlink says then, if it says anything.
const DELETED: &str = "nvlink fatal   : Internal error: reference to deleted section";

/// Whether nvlink gave a link up that cuweld did, and cubins among the inputs hold static functions of one name.
pub fn are_to_blame(theirs: &Outcome, ours: &Outcome, folder: &Path, inputs: &[String]) -> bool {
    let crashed = theirs.exit.is_none();
    let only_deleted = theirs.exit == Some(1) && {
        let mut rest = theirs.lines.iter().filter(|line| *line != DELETED);
        rest.all(|line| ours.lines.contains(line))
            && theirs.lines.iter().any(|line| line == DELETED)
    };
    ours.exit == Some(0) && (crashed || only_deleted) && share_names(folder, inputs)
}

fn share_names(folder: &Path, inputs: &[String]) -> bool {
    let mut names = BTreeSet::new();
    for input in inputs {
        let Some(object) = std::fs::read(folder.join(input)).ok().and_then(Object::new) else {
            continue;
        };
        for symbol in 0..object.symbol_count() {
            if let Some(name) = object.static_function(symbol)
                && !names.insert(name.to_vec())
            {
                return true;
            }
        }
    }
    false
}
