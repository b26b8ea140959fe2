//! Links that nvlink cannot do because of static functions of one name (deviation D11).

use std::collections::BTreeSet;

use crate::harness::link::Outcome;
use crate::mutate::object::Object;

/// What nvlink says then, if it says anything; `-report-arch` adds the target.
const DELETED: &str = "nvlink fatal   : Internal error: reference to deleted section";

/// Whether nvlink gave a link up that cuweld did, and its device code holds static functions of one name.
pub fn are_to_blame(theirs: &Outcome, ours: &Outcome, images: Vec<Vec<u8>>) -> bool {
    let crashed = theirs.exit.is_none();
    let is_deleted = |line: &String| line.starts_with(DELETED);
    let only_deleted = theirs.exit == Some(1) && {
        let mut rest = theirs.lines.iter().filter(|line| !is_deleted(line));
        rest.all(|line| ours.lines.contains(line)) && theirs.lines.iter().any(is_deleted)
    };
    // Errors of the program itself, which nvlink did not come to.
    let has_errors = ours.exit == Some(255) && ours.output.is_none();
    (ours.exit == Some(0) || has_errors) && (crashed || only_deleted) && share_names(images)
}

fn share_names(images: Vec<Vec<u8>>) -> bool {
    let mut names = BTreeSet::new();
    for object in images.into_iter().filter_map(Object::new) {
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
