//! Measures the sources of cuweld: lines, unsafe blocks, circles of modules, and the longest and most
//! branched functions. `cargo xtask metrics` shows it with the size of the program.
//!
//! `cuweld-metrics [FOLDER]` measures the packages of the workspace of a folder. Tests are left out:
//! items with `#[cfg(test)]` or `#[test]`, and files that only tests declare as modules.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for people at a terminal"
)]

mod circles;
mod counts;
mod modules;
mod packages;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use counts::Counts;
use counts::Function;
use modules::Crate;
use packages::Package;

/// Functions that are listed of the longest and of the most branched ones.
const LISTED: usize = 5;

fn main() -> ExitCode {
    let folder = std::env::args_os().nth(1);
    match measure(Path::new(&folder.unwrap_or_else(|| ".".into()))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(folder: &Path) -> Result<(), Box<dyn Error>> {
    let folder = folder.canonicalize()?;
    let mut circles = Vec::new();
    let mut functions = Vec::new();
    let mut all = Counts::default();
    println!(
        "Lines of sources outside tests, empty ones and comments included; unsafe code in them.\n"
    );
    println!(
        "| crate | lines | unsafe blocks | functions | implementations |\n|---|--:|--:|--:|--:|"
    );
    for Package { name, roots } in packages::of(&folder)? {
        let mut counts = Counts::default();
        for root in &roots {
            let root = Crate::read(root)?;
            counts.add(&root);
            for circle in circles::of(&root) {
                circles.push(format!("{name}: {}", circle.join(", ")));
            }
        }
        row(&name, &counts);
        functions.append(&mut counts.functions);
        all.lines += counts.lines;
        all.blocks += counts.blocks;
        all.unsafe_functions += counts.unsafe_functions;
        all.implementations += counts.implementations;
    }
    row("all", &all);
    println!(
        "\nCircles of modules that lie side by side and import each other: {}",
        circles.len()
    );
    circles.iter().for_each(|circle| println!("  {circle}"));
    let shown = |function: &Function, value: usize, what: &str| {
        let file = function
            .file
            .strip_prefix(&folder)
            .unwrap_or(&function.file);
        println!(
            "  {value} {what}  {}:{}  {}",
            file.display(),
            function.line,
            function.name
        );
    };
    println!("\nLongest functions, of {}:", functions.len());
    functions.sort_by_key(|function| std::cmp::Reverse(function.lines));
    for function in functions.iter().take(LISTED) {
        shown(function, function.lines, "lines");
    }
    println!("\nMost branches (if, arms of match but one, loops, && and ||):");
    functions.sort_by_key(|function| std::cmp::Reverse(function.branches));
    for function in functions.iter().take(LISTED) {
        shown(function, function.branches, "branches");
    }
    Ok(())
}

fn row(name: &str, counts: &Counts) {
    let Counts {
        lines,
        blocks,
        unsafe_functions,
        implementations,
        ..
    } = counts;
    println!("| {name} | {lines} | {blocks} | {unsafe_functions} | {implementations} |");
}
