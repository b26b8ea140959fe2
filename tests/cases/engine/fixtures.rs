//! The committed links that the engine and `mutate.rs` change: all that are of plain cubins and succeed.

use std::error::Error;
use std::sync::Arc;

use crate::harness::case::{Case, Expect};
use crate::mutate::object::Object;

/// Larger objects take time and have no new kinds of rows.
const LARGEST: usize = 40_000;

/// A link whose inputs are changed.
pub struct Fixture {
    /// The target.
    pub arch: String,
    /// Options, without the target.
    pub options: Vec<String>,
    /// The inputs in link order, with their paths in `tests/links`.
    pub inputs: Vec<(String, Arc<Vec<u8>>)>,
}

/// The links of cubins that succeed, for each target without Mercury.
pub fn fixtures() -> Result<Vec<Fixture>, Box<dyn Error>> {
    let mut fixtures = Vec::new();
    for case in Case::all()? {
        let plain = case.expect == Expect::Identical
            && !case.strict
            && case.libraries.is_empty()
            && case.inputs.iter().all(|input| input.ends_with(".cubin"));
        if !plain {
            continue;
        }
        for arch in &case.arch {
            let mut inputs = Vec::new();
            for (name, file) in case.inputs.iter().zip(case.files(arch)) {
                let origin = format!("{}/{}", case.path, name.replace("{arch}", arch));
                inputs.push((origin, Arc::new(std::fs::read(file)?)));
            }
            // Of objects with Mercury nvlink takes the Mercury view, which is not what is changed here.
            let is_mercury = |image: &[u8]| image.get(48) == Some(&2);
            if inputs.iter().any(|(_, image)| is_mercury(image)) {
                continue;
            }
            let fits =
                |image: &Vec<u8>| image.len() < LARGEST && Object::new(image.clone()).is_some();
            if inputs.is_empty() || !inputs.iter().all(|(_, image)| fits(image)) {
                continue;
            }
            fixtures.push(Fixture {
                arch: arch.clone(),
                options: case
                    .options
                    .iter()
                    .map(|option| option.replace("{arch}", arch))
                    .collect(),
                inputs,
            });
        }
    }
    Ok(fixtures)
}
