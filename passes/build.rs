//! Writes the table of the pipelines that are part of cuweld, from `pipelines/*.toml`.

#![allow(clippy::print_stdout)] // cargo reads it

use std::env;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::path::PathBuf;

use toml::de::DeTable;
use toml::de::DeValue;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=pipelines");
    let mut files: Vec<PathBuf> = fs::read_dir("pipelines")?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_, std::io::Error>>()?;
    files.sort();
    let mut table = String::from("&[\n");
    for file in files {
        write_row(&mut table, &file).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    table.push_str("]\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("pipelines.rs"), table)?;
    Ok(())
}

/// Writes the row of a file. Its steps are part of it if they are all passes without options.
fn write_row(table: &mut String, file: &Path) -> Result<(), Box<dyn Error>> {
    let text = fs::read_to_string(file)?;
    let pipeline = DeTable::parse(&text)?;
    let pipeline = pipeline.get_ref();
    let word = |key: &str| pipeline.get(key).and_then(|value| value.get_ref().as_str());
    let (name, summary) = (
        word("name").ok_or("no name")?,
        word("summary").unwrap_or(""),
    );
    let steps = match pipeline.get("pass").map(|value| value.get_ref()) {
        Some(DeValue::Array(steps)) => steps
            .iter()
            .map(|step| self::step(step.get_ref()))
            .collect(),
        _ => None,
    };
    let steps: Option<Vec<(&str, Vec<&str>)>> = steps;
    write!(
        table,
        "File {{ name: {name:?}, summary: {summary:?}, text: {text:?}, when: &{:?}, steps: ",
        conditions(pipeline).ok_or("conditions that are no texts")?
    )?;
    match steps {
        None => table.push_str("None"),
        Some(steps) => {
            table.push_str("Some(&[");
            for (pass, when) in steps {
                write!(table, "({pass:?}, &{when:?}), ")?;
            }
            table.push_str("])");
        }
    }
    table.push_str(" },\n");
    Ok(())
}

/// Returns the conditions of a step or file, if they are texts.
fn conditions<'text>(table: &'text DeTable<'_>) -> Option<Vec<&'text str>> {
    match table.get("when").map(|value| value.get_ref()) {
        None => Some(Vec::new()),
        Some(DeValue::Array(facts)) => facts.iter().map(|fact| fact.get_ref().as_str()).collect(),
        Some(_) => None,
    }
}

/// Returns the pass of a step and its conditions, if it has nothing else.
fn step<'text>(step: &'text DeValue<'_>) -> Option<(&'text str, Vec<&'text str>)> {
    let DeValue::Table(step) = step else {
        return None;
    };
    let pass = step.get("use")?.get_ref().as_str()?;
    let when = conditions(step)?;
    let known = 1 + usize::from(step.get("when").is_some());
    (step.len() == known).then_some((pass, when))
}
