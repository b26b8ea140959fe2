//! Objects with one field that no compiler writes (`tests/structure/refused.toml`), each refused with a message of its own.

use std::error::Error;
use std::sync::Arc;

use super::fields::{Place, number, swap, targets};
use crate::harness::link::Linker;
use crate::mutate::{Fixture, fixtures};
use libtest_mimic::{Failed, Trial};
use serde::Deserialize;

const TABLE: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/structure/refused.toml"
));

/// The rows of the table.
#[derive(Deserialize)]
struct Table {
    object: Vec<Row>,
}

/// An object that is changed.
#[derive(Deserialize)]
struct Row {
    /// A link of `tests/links`, with its target.
    link: String,
    /// Which of its inputs is changed.
    #[serde(default)]
    input: usize,
    /// The field or the rows, as the mutator names them.
    change: String,
    /// What the field gets; nothing where rows are swapped.
    value: Option<u64>,
    /// A part of the message.
    says: String,
}

/// Returns a trial for each row.
pub fn trials() -> Result<Vec<Trial>, Box<dyn Error>> {
    let table: Table = toml::from_str(TABLE)?;
    let fixtures = Arc::new(fixtures(|_| true)?);
    let trials = table.object.into_iter().map(|row| {
        let fixtures = Arc::clone(&fixtures);
        let name = format!("structure::refused/{} {}", row.link, row.change);
        Trial::test(name, move || refuse(&row, &fixtures))
    });
    Ok(trials.collect())
}

fn refuse(row: &Row, fixtures: &[Fixture]) -> Result<(), Failed> {
    let fixture = fixtures.iter().find(|fixture| fixture.name == row.link);
    let fixture = fixture.ok_or("no such link")?;
    let mut object = fixture
        .inputs
        .get(row.input)
        .ok_or("no such input")?
        .clone();
    let all = targets(&object);
    let target = all.iter().find(|target| target.name == row.change);
    match (&target.ok_or("no such field")?.place, row.value) {
        (&Place::Field { at, width }, Some(value)) => {
            if number(&object, at, width) == value {
                return Err("the field has this value already".into());
            }
            object[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
        }
        (Place::Rows(first, second), None) => swap(&mut object, first, second),
        _ => return Err("a field needs a value, swapped rows have none".into()),
    }
    let folder = tempfile::tempdir()?;
    let link = |object: &[u8]| {
        let arguments = fixture.write(folder.path(), row.input, object)?;
        Linker::ours().link(folder.path(), &arguments)
    };
    let before = link(&fixture.inputs[row.input])?;
    if before.exit != Some(0) {
        return Err(format!("without the change it is not linked:\n{}", before.stderr).into());
    }
    let done = link(&object)?;
    match done.exit == Some(1) && done.output.is_none() && done.stderr.contains(&row.says) {
        true => Ok(()),
        false => Err(format!("exit code {:?}:\n{}", done.exit, done.stderr).into()),
    }
}
