//! The table of declarations (`tests/language/declarations.toml`), read, and the links of every pair of them by number.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt;

use serde::Deserialize;

use crate::engine::link::{Code, Input, Link, Mode, Source, Step, Wrap};

/// Targets that pairs are compiled and linked for, in turn: two before unified addresses, one with SASS alone, two with Mercury.
const TARGETS: [(&str, u32); 5] = [
    ("sm_75", 75),
    ("sm_80", 80),
    ("sm_90", 90),
    ("sm_100", 100),
    ("sm_120", 120),
];

/// Ways of linking, in turn: an executable, `-r` and its output linked again, and `-g`. Each by its word in reports.
const WAYS: [&str; 3] = ["none", "-r", "-g"];

/// What two units declare of the name, for which target they are linked, and how.
pub struct Pair<'a> {
    /// The target.
    pub target: &'static str,
    /// One of [`WAYS`].
    pub way: &'static str,
    /// The declarations, in the order of the link.
    pub declarations: [&'a Declaration; 2],
}

/// A row of the table.
pub struct Declaration {
    /// Its word.
    pub word: String,
    /// The text of a unit with it; `{target}` and `{kernel}` are to be filled in.
    unit: String,
    /// The first architecture that has it.
    sm: u32,
}

/// All rows.
pub struct Table {
    /// Sorted by group, then by word.
    pub declarations: Vec<Declaration>,
}

/// The table as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    unit: String,
    parts: BTreeMap<String, String>,
    group: Vec<Group>,
}

/// Declarations that are used in one way.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    #[serde(default, rename = "use")]
    by_kernel: String,
    #[serde(default)]
    sm: u32,
    declarations: BTreeMap<String, String>,
}

impl Table {
    /// Reads the table.
    pub fn read() -> Result<Self, Box<dyn Error>> {
        let root = env!("CARGO_MANIFEST_DIR");
        let text = std::fs::read_to_string(format!("{root}/tests/language/declarations.toml"))?;
        let written: Written = toml::from_str(&text)?;
        let mut declarations = Vec::new();
        let mut words = BTreeSet::new();
        for group in &written.group {
            for (word, text) in &group.declarations {
                if !words.insert(word) {
                    return Err(format!("two declarations are called {word}").into());
                }
                let mut unit = written.unit.replace("{declaration}", text);
                for (name, part) in &written.parts {
                    unit = unit.replace(&format!("{{{name}}}"), part.trim());
                }
                declarations.push(Declaration {
                    word: word.clone(),
                    unit: unit.replace("{use}", &group.by_kernel),
                    sm: group.sm,
                });
            }
        }
        Ok(Table { declarations })
    }

    /// Returns the number of links: pairs, targets and ways.
    pub fn links(&self) -> usize {
        self.declarations.len().pow(2) * TARGETS.len() * WAYS.len()
    }

    /// Returns the pair of a link, or `None` if its target does not have one of the declarations. Numbers in a row are far apart in the
    /// table, so that a few hundred of them have every declaration; as many as there are links have every link once.
    pub fn pair(&self, number: usize) -> Option<Pair<'_>> {
        let place = (number * stride(self.links())) % self.links();
        let (pair, kind) = (
            place / (TARGETS.len() * WAYS.len()),
            place % (TARGETS.len() * WAYS.len()),
        );
        let (target, sm) = TARGETS[kind % TARGETS.len()];
        let count = self.declarations.len();
        let declarations = [pair / count, pair % count].map(|index| &self.declarations[index]);
        let are_there = declarations.iter().all(|declaration| declaration.sm <= sm);
        are_there.then_some(Pair {
            target,
            way: WAYS[kind / TARGETS.len()],
            declarations,
        })
    }

    /// Returns the numbers of the links that words describe ([`Pair::is_like`]).
    pub fn numbers(&self, words: &str) -> Vec<u32> {
        let is_like = |number: &u32| {
            let pair = self.pair(*number as usize);
            pair.is_some_and(|pair| pair.is_like(words))
        };
        let links = u32::try_from(self.links()).unwrap_or(u32::MAX);
        (0..links).filter(is_like).collect()
    }
}

/// Returns the step between numbers that follow each other: the golden section of all links, or the next number without a common divisor.
fn stride(links: usize) -> usize {
    let divisor = |mut a: usize, mut b: usize| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let golden = links * 618 / 1000;
    let mut numbers = golden..;
    numbers
        .find(|number| divisor(*number, links) == 1)
        .unwrap_or(1)
}

impl Pair<'_> {
    /// Returns `true` if words describe the link: target, way and both declarations, as reports and the list of known differences have
    /// them. Of each a `*` may stand for the end, or for all of it.
    pub fn is_like(&self, words: &str) -> bool {
        let [first, second] = self.declarations;
        let own = [self.target, self.way, &first.word, &second.word];
        let is_like = |(own, word): (&str, &str)| match word.strip_suffix('*') {
            Some(beginning) => own.starts_with(beginning),
            None => own == word,
        };
        words.split(' ').count() == own.len() && own.into_iter().zip(words.split(' ')).all(is_like)
    }

    /// Builds the link.
    pub fn link(&self) -> Link {
        let [first, second] = self.declarations;
        let inputs = vec![self.input(first, "a"), self.input(second, "b")];
        let step = |options: &[&str], inputs| Step {
            options: options.iter().map(|option| (*option).to_owned()).collect(),
            inputs,
            archive_from: None,
        };
        let (mode, steps) = match self.way {
            "-r" => {
                let again = Input {
                    name: "r".to_owned(),
                    code: Code::Previous,
                    change: None,
                    wrap: Wrap::Cubin,
                };
                let steps = vec![step(&["-r"], inputs), step(&[], vec![again])];
                (Mode::Relocatable, steps)
            }
            "-g" => (Mode::Executable, vec![step(&["-g"], inputs)]),
            _ => (Mode::Executable, vec![step(&[], inputs)]),
        };
        Link {
            arch: self.target.to_owned(),
            mode,
            steps,
        }
    }

    /// Makes an input of a unit with a declaration, for a place in the link.
    fn input(&self, declaration: &Declaration, place: &str) -> Input {
        let text = declaration.unit.replace("{target}", self.target);
        Input {
            name: place.to_owned(),
            code: Code::Source(Source {
                file: format!("{place}.ptx"),
                text: text.replace("{kernel}", &format!("kernel_{place}")).into(),
                header: None,
                options: Vec::new(),
            }),
            change: None,
            wrap: Wrap::Cubin,
        }
    }
}

impl fmt::Display for Pair<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = self.declarations;
        let (target, way) = (self.target, self.way);
        write!(f, "{target} {way} {} {}", first.word, second.word)
    }
}
