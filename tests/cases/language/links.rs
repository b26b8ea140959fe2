//! From a program to a link: how its files are compiled, packed, ordered, and what the linker is told.

use super::module;
use super::program::{Entity, Program};
use super::rows::stated_target;
use super::tables::{Kind, Tables};
use crate::engine::link::{Code, Input, Link, Mode, Source, Step, Wrap};
use crate::engine::packaging::Codec;

/// The link of a program.
pub fn link(program: &Program<'_>, tables: &Tables, seed: u32) -> Link {
    let row = &program.link;
    let mut inputs: Vec<Input> = (0..program.files)
        .map(|file| input(program, tables, file, seed))
        .collect();
    match row.of("order") {
        "backward" => inputs.reverse(),
        "rotated" => inputs.rotate_left(1),
        _ => {}
    }
    let archive_from = match row.of("package") {
        "archive" => Some(1),
        _ => None,
    };
    let words = |name: &str| -> Vec<String> {
        let words = row.of(name).split(' ').filter(|word| !word.is_empty());
        words.map(str::to_owned).collect()
    };
    let second = words("second-option");
    let last = [words("option"), second.clone()].concat();
    let mut first = vec!["-r".to_owned()];
    // These are about what an executable keeps.
    first.extend(
        second
            .into_iter()
            .filter(|word| !word.contains("host-info")),
    );
    let previous = || Input {
        name: "r".to_owned(),
        code: Code::Previous,
        change: None,
        wrap: Wrap::Cubin,
    };
    let step = |options: &[String], inputs: Vec<Input>, archive_from: Option<usize>| Step {
        options: options.to_vec(),
        archive_from: archive_from.filter(|from| *from < inputs.len()),
        inputs,
    };
    let steps = match row.of("mode") {
        "relocatable" => vec![
            step(&first, inputs, archive_from),
            step(&last, vec![previous()], None),
        ],
        "relocatable-debug" => {
            first.push("-g".to_owned());
            vec![
                step(&first, inputs, archive_from),
                step(&last, vec![previous()], None),
            ]
        }
        "relocatable-part" => {
            let mut rest = inputs.split_off(inputs.len().saturating_sub(1));
            rest.push(previous());
            vec![step(&first, inputs, archive_from), step(&last, rest, None)]
        }
        "relocatable-thrice" => vec![
            step(&first, inputs, archive_from),
            step(&first, vec![previous()], None),
            step(&last, vec![previous()], None),
        ],
        _ => vec![step(&last, inputs, archive_from)],
    };
    let mode = match (row.of("mode"), row.of("package")) {
        ("executable", "cubin") => Mode::Executable,
        ("executable", _) => Mode::Packaged,
        _ => Mode::Relocatable,
    };
    Link {
        arch: row.of("target").to_owned(),
        mode,
        steps,
    }
}

fn input(program: &Program<'_>, tables: &Tables, file: usize, seed: u32) -> Input {
    let row = &program.link;
    let mut arch = row.of("target");
    let mut compile = row.of("compile");
    if file + 1 == program.files {
        match row.of("other") {
            "plain" => compile = "",
            "unoptimised" => compile = "-O0",
            "architecture" => arch = tables.also.get(arch).map_or(arch, String::as_str),
            _ => {}
        }
    }
    let stated = stated_target(row, arch);
    let text = module::text(program, tables, file, stated, seed);
    let mut options = vec![format!("-arch={arch}")];
    options.extend(
        compile
            .split(' ')
            .filter(|word| !word.is_empty())
            .map(str::to_owned),
    );
    let name = format!("m{file}");
    let codec = Codec::ALL.get(file % 4).copied().unwrap_or(Codec::Plain);
    let host = |lists| Wrap::Host(codec, Some(lists));
    let wrap = match (row.of("package"), file) {
        ("fatbin", _) | ("mixed", 1) => Wrap::Fatbin(codec),
        ("host", _) => host(std::array::from_fn(|_| vec![0])),
        ("host-lists" | "archive", _) | ("mixed", 0 | 3) => host(lists(program, file)),
        _ => Wrap::Cubin,
    };
    Input {
        code: Code::Source(Source {
            file: format!("{name}.ptx"),
            text: text.into(),
            header: None,
            options,
        }),
        name,
        change: None,
        wrap,
    }
}

/// What host code of a file refers to: its kernel, and every other entity that it defines.
fn lists(program: &Program<'_>, file: usize) -> [Vec<u8>; 6] {
    let mut lists: [Vec<u8>; 6] = Default::default();
    let mut add = |list: usize, name: &str| {
        if let Some(list) = lists.get_mut(list) {
            list.extend(name.bytes());
            list.push(0);
        }
    };
    add(0, &format!("main{file}"));
    let of_file = |entity: &&Entity<'_>| entity.home == file && entity.is_in(file);
    for (number, entity) in program.entities.iter().filter(of_file).enumerate() {
        let external = !entity.row.is("linkage", "none");
        let list = match (entity.kind, entity.row.of("space")) {
            (Kind::Kernel, _) => 0,
            (Kind::Variable, "global") => 2,
            (Kind::Variable, "const") => 4,
            _ => continue,
        };
        if number % 2 == 0 {
            add(list + usize::from(!external), &entity.name);
        }
    }
    // nvcc writes one NUL for none.
    for list in &mut lists {
        if list.is_empty() {
            list.push(0);
        }
    }
    lists
}
