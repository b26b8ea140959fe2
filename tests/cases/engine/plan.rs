//! From a seed to a link. Ten seeds in a row are links of one program for one target, so that its modules are compiled once; the target goes round
//! with the programs.

use super::fixtures::Fixture;
use super::link::{Code, Input, Link, Mode, Source, Step, Wrap};
use super::packaging::Codec;
use super::pool::Program;
use crate::mutate::mutation::{Kind, Numbers};

/// Links of one program.
const LINKS_OF_PROGRAM: u32 = 10;

/// Targets by the number of the program: each at least every tenth.
const TURNS: [&str; 20] = [
    "sm_90", "sm_75", "sm_80", "sm_86", "sm_90", "sm_87", "sm_88", "sm_89", "sm_90a", "sm_90",
    "sm_80", "sm_75", "sm_86", "sm_90", "sm_87", "sm_88", "sm_80", "sm_89", "sm_90a", "sm_90",
];

/// The program that a seed links.
pub fn family(seed: u32) -> u32 {
    seed / LINKS_OF_PROGRAM
}

/// Programs from here on are for targets with Mercury: seeds from 1,000,000.
pub const MERCURY: u32 = 100_000;

/// These targets, in turns.
pub const MERCURY_TURNS: [&str; 15] = [
    "sm_100", "sm_120", "sm_103", "sm_110", "sm_121", "sm_100a", "sm_120a", "sm_103a", "sm_110a",
    "sm_121a", "sm_100f", "sm_120f", "sm_103f", "sm_110f", "sm_121f",
];

/// The target that a program is made for.
pub fn arch(family: u32) -> &'static str {
    let (turns, number): (&[&str], u32) = match family.checked_sub(MERCURY) {
        Some(number) => (&MERCURY_TURNS, number),
        None => (&TURNS, family),
    };
    let turn = number as usize % turns.len();
    turns.get(turn).copied().unwrap_or("sm_90")
}

/// Options that stand alone, with their chance in a hundred.
const FLAGS: [(&str, usize); 23] = [
    ("-g", 12),
    ("-v", 25),
    ("-dump-callgraph", 8),
    ("-dump-callgraph-no-demangle", 5),
    ("-report-arch", 6),
    ("-Werror", 5),
    ("-w", 5),
    ("-disable-infos", 5),
    ("-extrawarn", 6),
    ("-suppress-debug-info", 5),
    ("-suppress-stack-size-warning", 5),
    ("-suppress-arch-warning", 3),
    ("--force-rela", 6),
    ("--reserve-null-pointer", 6),
    ("-allow-undefined-globals", 6),
    ("-syscall-const-offset=64", 4),
    ("-disable-smem-reservation=true", 5),
    ("-disable-smem-reservation=false", 1),
    ("--verbose-tkinfo=true", 4),
    ("--verbose-tkinfo=false", 2),
    ("-tool-name=mylink", 4),
    ("-ignore-host-info", 6),
    ("-use-host-info", 6),
];

/// Options that only stand in the record.
const RECORDED: [&str; 5] = [
    "-maxrregcount=32",
    "-Xptxas=-v",
    "-device-stack-protector=true",
    "-keep-system-libraries",
    "-cpu-arch=X86_64",
];

/// Other compiler options than the program's own, for PTX and for C++.
const PTXAS: [&[&str]; 9] = [
    &[],
    &["-O0"],
    &["-O1"],
    &["-O2"],
    &["--generate-line-info"],
    &["-g"],
    &["-maxrregcount=24"],
    &["-maxrregcount=40", "-O2"],
    &["-O1", "--generate-line-info"],
];
const NVCC: [&[&str]; 5] = [
    &[],
    &["-lineinfo"],
    &["-G"],
    &["-Xptxas=-O1"],
    &["-maxrregcount=40"],
];

/// The link of a seed.
pub fn plan(seed: u32, program: &Program, fixtures: &[Fixture]) -> Link {
    let mut numbers = Numbers::new(seed);
    let mode = match numbers.below(100) {
        0..14 => Mode::Relocatable,
        14..23 => Mode::MutatedProgram,
        23..30 => Mode::MutatedFixture,
        30..42 => Mode::Packaged,
        _ => Mode::Executable,
    };
    if mode == Mode::MutatedFixture
        && let Some(fixture) = fixture(seed, fixtures)
    {
        return mutated_fixture(fixture, &mut numbers);
    }
    let inputs = inputs(program, family(seed), &mut numbers);
    let mut steps = vec![Step {
        options: options(&mut numbers),
        inputs,
        archive_from: None,
    }];
    match mode {
        Mode::Relocatable => split(&mut steps, &mut numbers),
        Mode::Packaged => {
            for step in &mut steps {
                pack(step, &mut numbers);
            }
        }
        Mode::MutatedProgram => {
            change(&mut steps, &mut numbers);
            if numbers.below(8) == 0 {
                split(&mut steps, &mut numbers);
            }
        }
        _ => {}
    }
    Link {
        arch: arch(family(seed)).to_owned(),
        mode,
        steps,
    }
}

fn chance(numbers: &mut Numbers, percent: usize) -> bool {
    numbers.below(100) < percent
}

/// Modules of a program: mostly all in their order, sometimes in another, without one, or one twice.
fn inputs(program: &Program, family: u32, numbers: &mut Numbers) -> Vec<Input> {
    let mut inputs: Vec<Input> = program
        .modules
        .iter()
        .map(|source| Input {
            name: source.file.split('.').next().unwrap_or_default().to_owned(),
            code: Code::Source(variant(source, family, numbers)),
            change: None,
            wrap: Wrap::Cubin,
        })
        .collect();
    if chance(numbers, 25) {
        shuffle(&mut inputs, numbers);
    }
    if chance(numbers, 10) && inputs.len() > 1 {
        inputs.remove(numbers.below(inputs.len()));
    }
    if chance(numbers, 4) {
        let mut again = inputs[numbers.below(inputs.len())].clone();
        again.name += "again";
        let at = numbers.below(inputs.len() + 1);
        inputs.insert(at, again);
    }
    inputs
}

/// The module under the program's own options, or one of two others that belong to the program: so the pool has few variants of each.
fn variant(source: &Source, family: u32, numbers: &mut Numbers) -> Source {
    let mut source = source.clone();
    let which = numbers.below(4);
    if which < 2 {
        let mut of_family = Numbers::new(family * 2 + which as u32);
        let all: &[&[&str]] = if source.is_cxx() { &NVCC } else { &PTXAS };
        let options = of_family.one_of(all).unwrap_or_default();
        source.options = options.iter().map(|option| (*option).to_owned()).collect();
    }
    source
}

fn shuffle<T>(list: &mut [T], numbers: &mut Numbers) {
    for at in (1..list.len()).rev() {
        list.swap(at, numbers.below(at + 1));
    }
}

fn options(numbers: &mut Numbers) -> Vec<String> {
    let mut options = Vec::new();
    // A third of the links has none: what happens then is what most users see.
    if chance(numbers, 33) {
        return options;
    }
    for (flag, percent) in FLAGS {
        if chance(numbers, percent) {
            options.push(flag.to_owned());
        }
    }
    if chance(numbers, 6) {
        let pattern = numbers.one_of(&["k0_0", "k1", "_1", "k0_0,k2", "nothing", "k"]);
        options.push(format!("-kernels-used={}", pattern.unwrap_or_default()));
    }
    if chance(numbers, 3) {
        let pattern = numbers.one_of(&["v0", "v", "table", "nothing"]);
        options.push(format!("-variables-used={}", pattern.unwrap_or_default()));
    }
    if chance(numbers, 6) {
        options.extend(numbers.one_of(&RECORDED).map(str::to_owned));
    }
    options
}

/// Some of the inputs are linked with `-r` first.
fn split(steps: &mut Vec<Step>, numbers: &mut Numbers) {
    let Some(whole) = steps.pop() else { return };
    let count = whole.inputs.len();
    let first = if chance(numbers, 50) {
        count
    } else {
        1 + numbers.below(count)
    };
    let mut options = vec!["-r".to_owned()];
    for (flag, percent) in FLAGS {
        let fits = !matches!(flag, "-use-host-info" | "-ignore-host-info");
        if fits && chance(numbers, percent / 3) {
            options.push(flag.to_owned());
        }
    }
    let mut inputs = whole.inputs;
    let mut rest = inputs.split_off(first);
    let previous = Input {
        name: "r".to_owned(),
        code: Code::Previous,
        change: None,
        wrap: Wrap::Cubin,
    };
    rest.insert(numbers.below(rest.len() + 1), previous);
    steps.push(Step {
        options,
        inputs,
        archive_from: None,
    });
    steps.push(Step {
        options: whole.options,
        inputs: rest,
        archive_from: None,
    });
}

/// Packs inputs into fatbins, host objects, and host objects into an archive.
fn pack(step: &mut Step, numbers: &mut Numbers) {
    let all_host = chance(numbers, 60);
    for input in &mut step.inputs {
        let codec = numbers.one_of(&Codec::ALL).unwrap_or(Codec::Plain);
        input.wrap = match numbers.below(4) {
            _ if all_host => host(codec, numbers),
            0 | 1 => host(codec, numbers),
            2 => Wrap::Fatbin(codec),
            _ => Wrap::Cubin,
        };
    }
    // In an archive only host objects count.
    let count = step.inputs.len();
    if all_host && count > 1 && chance(numbers, 30) {
        step.archive_from = Some(1 + numbers.below(count - 1));
    }
}

fn host(codec: Codec, numbers: &mut Numbers) -> Wrap {
    if chance(numbers, 10) {
        return Wrap::Host(codec, None);
    }
    let list = |numbers: &mut Numbers, words: &[&str]| -> Vec<u8> {
        let mut list = Vec::new();
        for word in words {
            if chance(numbers, 40) {
                list.extend(word.bytes());
                list.push(0);
            }
        }
        list
    };
    let kernels = list(
        numbers,
        &["k0_0", "*k0_1*", "k1_*", "*k2*", "nothing", "*_0", "k1_0"],
    );
    let kernels = if chance(numbers, 20) {
        Vec::new()
    } else {
        kernels
    };
    let mut lists = [
        kernels,
        list(numbers, &["nothing"]),
        list(numbers, &["v0", "v1"]),
        Vec::new(),
        list(numbers, &["v2"]),
        Vec::new(),
    ];
    for list in &mut lists {
        // nvcc writes one NUL for none; nothing at all has another meaning.
        if list.is_empty() && !chance(numbers, 4) {
            list.push(0);
        }
    }
    Wrap::Host(codec, Some(lists))
}

fn change(steps: &mut [Step], numbers: &mut Numbers) {
    let kind = Kind::ALL[numbers.below(Kind::ALL.len())].1;
    let seed = numbers.below(1 << 30) as u32;
    if let Some(step) = steps.first_mut() {
        let at = numbers.below(step.inputs.len());
        if let Some(input) = step.inputs.get_mut(at) {
            input.change = Some((kind, seed));
        }
    }
}

/// A committed link by seed. Which one does not depend on how many there are, so that a seed mostly stays the same link when cases are added.
fn fixture(seed: u32, fixtures: &[Fixture]) -> Option<&Fixture> {
    fixtures.iter().max_by_key(|fixture| {
        let names = fixture.inputs.iter().map(|(name, _)| name.as_bytes());
        names.flatten().fold(u64::from(seed) << 32, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
        })
    })
}

fn mutated_fixture(fixture: &Fixture, numbers: &mut Numbers) -> Link {
    let inputs = fixture.inputs.iter().enumerate();
    let inputs = inputs
        .map(|(index, (origin, bytes))| Input {
            name: index.to_string(),
            code: Code::File {
                origin: origin.clone(),
                bytes: bytes.clone(),
            },
            change: None,
            wrap: Wrap::Cubin,
        })
        .collect();
    let mut steps = vec![Step {
        options: fixture.options.clone(),
        inputs,
        archive_from: None,
    }];
    change(&mut steps, numbers);
    Link {
        arch: fixture.arch.clone(),
        mode: Mode::MutatedFixture,
        steps,
    }
}
