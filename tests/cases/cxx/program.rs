//! Programs of CUDA C++: units that define and refer to the entities of `tests/language/cxx.toml`.

use std::collections::BTreeMap;
use std::error::Error;

use serde::Deserialize;

use crate::mutate::mutation::Numbers;

/// Something that a unit can define and refer to; see the table for what each text is.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Entity {
    #[serde(skip)]
    pub name: String,
    header: String,
    home: String,
    second: String,
    user: String,
    #[serde(rename = "use")]
    statement: String,
    host: String,
    runtime: bool,
}

/// Reads the table, entities sorted by name.
pub fn entities() -> Result<Vec<Entity>, Box<dyn Error>> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/language/cxx.toml");
    let groups: BTreeMap<String, BTreeMap<String, Entity>> =
        toml::from_str(&std::fs::read_to_string(file)?)?;
    let entities = groups.into_iter().flat_map(|(group, rows)| {
        rows.into_iter().map(move |(row, entity)| Entity {
            name: format!("{group}/{row}"),
            ..entity
        })
    });
    Ok(entities.collect())
}

/// What a unit is compiled to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Cubin,
    Fatbin,
    /// A host object.
    Object,
    /// A host object in an archive with those of the other units that are in one.
    Member,
}

/// A unit and how it is compiled.
pub struct Unit {
    pub text: String,
    pub options: Vec<String>,
    pub form: Form,
}

/// A program and how it is linked.
pub struct Program {
    pub target: &'static str,
    pub header: String,
    pub units: Vec<Unit>,
    /// The entities: the first two are the pair that the seed is about.
    pub entities: Vec<usize>,
    /// Whether the device runtime is linked.
    pub runtime: bool,
    /// Options of the first link.
    pub options: Vec<&'static str>,
}

/// Targets, the more usual ones more than once.
const TARGETS: [&str; 28] = [
    "sm_75", "sm_80", "sm_80", "sm_80", "sm_86", "sm_86", "sm_87", "sm_88", "sm_89", "sm_89",
    "sm_90", "sm_90", "sm_90", "sm_90", "sm_90a", "sm_100", "sm_100", "sm_100a", "sm_100f",
    "sm_103", "sm_103a", "sm_110", "sm_110a", "sm_120", "sm_120", "sm_120a", "sm_121", "sm_121a",
];

/// Options of the compiler; most units have none.
const COMPILER: [&str; 17] = [
    "",
    "",
    "",
    "",
    "",
    "",
    "-lineinfo",
    "-lineinfo",
    "-G",
    "-maxrregcount=32",
    "-Xptxas=-O1",
    "-Xptxas=-O0",
    "-Xptxas=-pic=true",
    "-O0",
    "-use_fast_math",
    "-std=c++20",
    "-extra-device-vectorization",
];

/// Options of the linker.
const LINKER: [&[&str]; 10] = [
    &[],
    &[],
    &[],
    &[],
    &["-g"],
    &["-use-host-info"],
    &["-ignore-host-info"],
    &["-keep-system-libraries"],
    &["-suppress-debug-info"],
    &["-kernels-used=_Z5main0Pi"],
];

/// Returns the two entities that a seed is about: in as many seeds as there are pairs each has its turn.
pub fn pair(seed: u32, count: usize) -> (usize, usize) {
    // A prime, so that neighbours are about different entities.
    let number = (seed as usize).wrapping_mul(7919) % (count * count);
    (number / count, number % count)
}

/// Makes the program of a seed.
pub fn program(seed: u32, table: &[Entity]) -> Program {
    let mut numbers = Numbers::new(seed);
    let (first, second) = pair(seed, table.len());
    let mut entities = vec![first, second];
    for _ in 0..numbers.below(4) {
        entities.push(numbers.below(table.len()));
    }
    let target = numbers.one_of(&TARGETS).unwrap_or("sm_90");
    let count = 2 + numbers.below(3);
    let forms = [Form::Cubin, Form::Fatbin, Form::Object, Form::Member];
    // Most programs are of one form.
    let form = numbers.one_of(&forms).unwrap_or(Form::Object);
    let is_mixed = numbers.below(4) == 0;
    let mut header = "#pragma once\n".to_owned();
    let mut units: Vec<_> = (0..count)
        .map(|_| Body {
            file: "#include <new>\n#include \"all.h\"\n".to_owned(),
            ..Body::default()
        })
        .collect();
    for (number, &index) in entities.iter().enumerate() {
        let Some(entity) = table.get(index) else {
            continue;
        };
        let of = |text: &str| format!("{}\n", text.replace('@', &number.to_string()));
        header += &of(&entity.header);
        let home = numbers.below(count);
        for (at, unit) in units.iter_mut().enumerate() {
            // Nobody, a function, the kernel, or both.
            let place = numbers.below(5);
            if place != 0 {
                unit.file += &of(&entity.user);
            }
            if at == home {
                unit.file += &of(&entity.home);
            }
            if at == (home + 1) % count {
                unit.file += &of(&entity.second);
            }
            if place == 1 || place >= 3 {
                unit.function += &of(&entity.statement);
            }
            if place == 2 || place >= 3 {
                unit.kernel += &of(&entity.statement);
            }
            if place != 0 && numbers.below(2) == 0 {
                unit.host += &format!("{{ {} }}\n", of(&entity.host).trim_end());
            }
        }
    }
    for at in 0..count {
        header += &format!("extern __device__ int unit{at}(int v, int *p);\n");
        header += &format!("extern __global__ void main{at}(int *p);\n");
    }
    let units = units.into_iter().enumerate().map(|(at, mut unit)| {
        for other in 0..count {
            // Calls go to later units, rarely round in a circle.
            let calls = other > at && numbers.below(3) > 0 || numbers.below(12) == 0;
            if calls && numbers.below(2) == 0 {
                unit.kernel += &format!("v += unit{other}(v, p);\n");
            } else if calls {
                unit.function += &format!("v -= unit{other}(v, p + 1);\n");
            }
        }
        if numbers.below(4) > 0 {
            unit.host += &format!("main{at}<<<1, 32>>>(p);\n");
        }
        Unit {
            text: unit.text(at),
            options: options(&mut numbers, target),
            form: match is_mixed {
                true => numbers.one_of(&forms).unwrap_or(form),
                false => form,
            },
        }
    });
    let units = units.collect();
    Program {
        target,
        header,
        units,
        runtime: entities
            .iter()
            .any(|&index| table.get(index).is_some_and(|entity| entity.runtime)),
        entities,
        options: numbers.one_of(&LINKER).unwrap_or_default().to_vec(),
    }
}

/// What a unit has, in pieces.
#[derive(Default)]
struct Body {
    file: String,
    function: String,
    kernel: String,
    host: String,
}

impl Body {
    fn text(&self, at: usize) -> String {
        format!(
            "{}__device__ __noinline__ int unit{at}(int v, int *p) {{\n{}return v;\n}}\n\
             __global__ void main{at}(int *p) {{\nint v = p[threadIdx.x];\n{}p[threadIdx.x] = v;\n}}\n\
             void host{at}(int *p) {{\n{}}}\n",
            self.file, self.function, self.kernel, self.host
        )
    }
}

/// Draws the options that a unit is compiled with.
fn options(numbers: &mut Numbers, target: &str) -> Vec<String> {
    let older = ["compute_75", "compute_80"];
    let is_older = numbers.below(6) == 0 && !target.ends_with(['a', 'f']) && target != "sm_75";
    let mut options = match is_older {
        true => {
            let from = numbers.one_of(&older).unwrap_or("compute_75");
            vec![format!("-gencode=arch={from},code={target}")]
        }
        false => vec![format!("-arch={target}")],
    };
    let option = numbers.one_of(&COMPILER).unwrap_or_default();
    options.extend((!option.is_empty()).then(|| option.to_owned()));
    options
}
