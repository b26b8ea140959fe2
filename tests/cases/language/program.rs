//! A program: a row of the link, rows of variables, functions and kernels, and which file defines and refers to which.

use super::pairs::{Lead, Pairs};
use super::rows::{Context, Row, draw};
use super::tables::{Kind, Tables};
use crate::mutate::mutation::Numbers;

/// How often the row of the link is drawn anew to make a lead fit.
const ATTEMPTS: usize = 40;

/// A variable, function or kernel.
pub struct Entity<'tables> {
    /// What it is.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// Its number, which no other has.
    pub number: usize,
    /// Its row.
    pub row: Row<'tables>,
    /// The file that defines it.
    pub home: usize,
    /// Another file that defines it as well.
    pub copy: Option<usize>,
    /// The files whose code refers to it.
    pub users: Vec<usize>,
    /// What its initialiser holds the address of, as the number of an entity.
    pub pointee: Option<usize>,
}

impl Entity<'_> {
    /// Whether a file defines it.
    pub fn is_in(&self, file: usize) -> bool {
        !self.row.is("copies", "missing") && (self.home == file || self.copy == Some(file))
    }

    /// Whether a file can name it.
    pub fn is_seen_in(&self, file: usize) -> bool {
        self.is_in(file) || !self.row.is("linkage", "none")
    }
}

/// A program.
pub struct Program<'tables> {
    /// How it is linked.
    pub link: Row<'tables>,
    /// How many files it has.
    pub files: usize,
    /// What is in them.
    pub entities: Vec<Entity<'tables>>,
}

/// The program of a seed; where the pair of values that leads it cannot be, the reason.
pub fn program<'tables>(
    seed: u32,
    tables: &'tables Tables,
    pairs: &Pairs,
) -> Result<Program<'tables>, String> {
    let mut numbers = Numbers::new(seed);
    let lead = pairs.lead(seed);
    let mut reason = String::new();
    for _ in 0..ATTEMPTS {
        match attempt(&lead, tables, &mut numbers) {
            Ok(program) => return Ok(program),
            Err(why) => reason = why,
        }
    }
    Err(reason)
}

fn attempt<'tables>(
    lead: &Lead,
    tables: &'tables Tables,
    numbers: &mut Numbers,
) -> Result<Program<'tables>, String> {
    let free = Context { tables, link: None };
    let link = draw(tables.schema(Kind::Link)?, &lead.link, numbers, &free)?;
    let context = Context {
        tables,
        link: Some(&link),
    };
    let files = link.of("files").parse().unwrap_or(1);
    let mut kinds = Vec::new();
    for (kind, most) in [(Kind::Variable, 4), (Kind::Function, 4), (Kind::Kernel, 3)] {
        kinds.extend(vec![kind; numbers.below(most)]);
    }
    let mut entities = Vec::new();
    // The lead comes last: it can refer to all others.
    let lead_kind = lead.entity.iter().map(|(kind, _)| (*kind, true));
    let kinds = kinds.into_iter().map(|kind| (kind, false));
    for (kind, leads) in kinds.chain(lead_kind) {
        let forced = match (&lead.entity, leads) {
            (Some((_, forced)), true) => &forced[..],
            _ => &[],
        };
        let row = match draw(tables.schema(kind)?, forced, numbers, &context) {
            Ok(row) => row,
            Err(why) if leads => return Err(why),
            Err(_) => continue,
        };
        let number = entities.len();
        let name = name(kind, number, link.of("names"));
        entities.push(entity((kind, number, name), row, files, numbers));
    }
    give_pointees(&mut entities, numbers)?;
    Ok(Program {
        link,
        files,
        entities,
    })
}

fn name(kind: Kind, number: usize, style: &str) -> String {
    // Statements have registers `f0` and so on.
    let letter = match kind {
        Kind::Variable => "v",
        Kind::Function => "g",
        _ => "k",
    };
    match style {
        "mangled" => format!("_Z{}{letter}{number}i", 1 + number.to_string().len()),
        "long" => format!("{letter}{number}_{}", "of_a_long_name".repeat(9)),
        "dollar" => format!("${letter}{number}$x"),
        _ => format!("{letter}{number}"),
    }
}

fn entity<'tables>(
    (kind, number, name): (Kind, usize, String),
    row: Row<'tables>,
    files: usize,
    numbers: &mut Numbers,
) -> Entity<'tables> {
    let home = numbers.below(files);
    let other = (home + 1 + numbers.below(files.max(2) - 1)) % files;
    let has_copy = !matches!(row.of("copies"), "one" | "missing") && other != home;
    let far = (0..files).find(|file| *file != home && *file != other);
    let users = match row.of("reference") {
        "same" => vec![home],
        "other" => vec![far.unwrap_or(other)],
        "both" => vec![home, other],
        _ => Vec::new(),
    };
    Entity {
        kind,
        name,
        number,
        row,
        home,
        copy: has_copy.then_some(other),
        users,
        pointee: None,
    }
}

/// Has initialisers hold addresses; entities that find none go, and where the last is one, there is no program.
fn give_pointees(entities: &mut Vec<Entity<'_>>, numbers: &mut Numbers) -> Result<(), String> {
    loop {
        let mut lonely = None;
        for at in 0..entities.len() {
            let pointee = pointee(entities, at, numbers);
            let Some(entity) = entities.get_mut(at) else {
                continue;
            };
            entity.pointee = pointee;
            if pointee.is_none() && kind_of_pointee(entity).is_some() {
                lonely = Some(at);
            }
        }
        match lonely {
            None => return Ok(()),
            Some(at) if at + 1 == entities.len() => {
                return Err("nothing has a fitting address".to_owned());
            }
            Some(at) => entities.remove(at),
        };
    }
}

/// What an initialiser holds addresses of.
fn kind_of_pointee(entity: &Entity<'_>) -> Option<Kind> {
    match entity.row.of("initialiser") {
        "address" | "generic" | "offset" | "generic-offset" | "mask" | "mixed" => {
            Some(Kind::Variable)
        }
        "function" => Some(Kind::Function),
        "kernel" => Some(Kind::Kernel),
        _ => None,
    }
}

/// An entity that an initialiser can hold the address of.
fn pointee(entities: &[Entity<'_>], at: usize, numbers: &mut Numbers) -> Option<usize> {
    let entity = entities.get(at)?;
    let kind = kind_of_pointee(entity)?;
    let fits = |other: &Entity<'_>| {
        let visible =
            other.is_seen_in(entity.home) && entity.copy.is_none_or(|copy| other.is_seen_in(copy));
        let here = other.is_in(entity.home) && entity.copy.is_none_or(|copy| other.is_in(copy));
        let constant = !other.row.is("space", "shared") && !other.row.is("attribute", "managed");
        other.kind == kind
            && other.name != entity.name
            && constant
            && match kind {
                Kind::Kernel => here,
                _ => visible,
            }
    };
    // Those that only an initialiser refers to come first.
    let of_initialisers = |other: &Entity<'_>| other.row.is("reference", "initialiser");
    let numbered = || entities.iter().enumerate();
    // An earlier one, so that there are no circles.
    let some: Vec<usize> = numbered()
        .filter(|(index, other)| (*index < at || kind != Kind::Variable) && fits(other))
        .map(|(index, _)| index)
        .collect();
    let wanted = some
        .iter()
        .copied()
        .find(|index| entities.get(*index).is_some_and(of_initialisers));
    wanted.or_else(|| numbers.one_of(&some))
}
