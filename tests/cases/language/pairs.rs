//! Pairs of values of the tables: each seed leads with one, and a run says which were linked.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::program::Program;
use super::rows::{Context, draw};
use super::tables::{Kind, Schema, Tables};
use crate::mutate::mutation::Numbers;

/// The pair that a seed leads with: values that its rows have.
#[derive(Default)]
pub struct Lead {
    /// Of the link: dimension and value.
    pub link: Vec<(usize, usize)>,
    /// Of the first entity.
    pub entity: Option<(Kind, Vec<(usize, usize)>)>,
}

/// A place in the tables.
#[derive(Clone, Copy)]
struct Place {
    schema: usize,
    dimension: usize,
}

/// Two dimensions whose values go together: of one row, or of a row and its link.
struct Couple {
    one: Place,
    other: Place,
    first: usize,
    columns: usize,
    cells: usize,
}

/// All pairs, and how often each was linked.
pub struct Pairs {
    couples: Vec<Couple>,
    kinds: Vec<Kind>,
    total: usize,
    values: usize,
    counts: Vec<u32>,
}

impl Pairs {
    /// Those of the tables.
    pub fn new(tables: &Tables) -> Self {
        let mut couples = Vec::new();
        let mut total = 0;
        let mut places = Vec::new();
        for (schema, table) in tables.schemas.iter().enumerate() {
            for dimension in 0..table.dimensions.len() {
                places.push(Place { schema, dimension });
            }
        }
        let size = |place: &Place| {
            let schema = tables.schemas.get(place.schema);
            let dimension = schema.and_then(|schema| schema.dimensions.get(place.dimension));
            dimension.map_or(0, |dimension| dimension.values.len())
        };
        for (index, one) in places.iter().enumerate() {
            for other in places.iter().skip(index + 1) {
                let is_link = tables.schemas.get(one.schema).map(|s| s.kind) == Some(Kind::Link);
                if one.schema != other.schema && !is_link {
                    continue;
                }
                let cells = size(one) * size(other);
                couples.push(Couple {
                    one: *one,
                    other: *other,
                    first: total,
                    columns: size(other),
                    cells,
                });
                total += cells;
            }
        }
        Pairs {
            couples,
            kinds: tables.schemas.iter().map(|schema| schema.kind).collect(),
            total,
            values: tables.values,
            counts: vec![0; tables.values * tables.values],
        }
    }

    /// The pair of a seed: each has its turn once in as many seeds as there are pairs.
    pub fn lead(&self, seed: u32) -> Lead {
        // A prime that divides no such number: neighbours are of different tables.
        let number = (seed as usize).wrapping_mul(1_000_003) % self.total.max(1);
        let couple = self
            .couples
            .partition_point(|couple| couple.first <= number);
        let Some(couple) = self.couples.get(couple.saturating_sub(1)) else {
            return Lead::default();
        };
        let cell = number - couple.first;
        let mut lead = Lead::default();
        for (place, value) in [
            (couple.one, cell / couple.columns.max(1)),
            (couple.other, cell % couple.columns.max(1)),
        ] {
            match self.kinds.get(place.schema) {
                Some(Kind::Link) | None => lead.link.push((place.dimension, value)),
                Some(kind) => {
                    let (_, forced) = lead.entity.get_or_insert((*kind, Vec::new()));
                    forced.push((place.dimension, value));
                }
            }
        }
        lead
    }

    /// Counts the pairs of a program that was linked.
    pub fn add(&mut self, program: &Program<'_>) {
        let link: Vec<usize> = program.link.numbers().collect();
        let mut seen = BTreeSet::new();
        seen.extend(couples(&link));
        for entity in &program.entities {
            let own: Vec<usize> = entity.row.numbers().collect();
            seen.extend(couples(&own));
            for one in &link {
                seen.extend(own.iter().map(|other| (*one, *other)));
            }
        }
        for (one, other) in seen {
            if let Some(count) = self.counts.get_mut(one * self.values + other) {
                *count += 1;
            }
        }
    }

    /// A line for each couple of dimensions with pairs that did not occur, and the sums; with `full` each such pair with its reason.
    pub fn report(&self, tables: &Tables, full: bool) -> String {
        let mut out = String::new();
        let (mut hit, mut never, mut missed) = (0, 0, 0);
        for couple in &self.couples {
            let (Some((table, one)), Some((other_table, other))) =
                (find(tables, couple.one), find(tables, couple.other))
            else {
                continue;
            };
            let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
            let mut open = Vec::new();
            let mut here = 0;
            for (row, value) in one.values.iter().enumerate() {
                for (column, other_value) in other.values.iter().enumerate() {
                    let at = (one.base + row) * self.values + other.base + column;
                    if self.counts.get(at).is_some_and(|count| *count > 0) {
                        here += 1;
                        continue;
                    }
                    let cell = format!("{value:?} x {other_value:?}");
                    match impossible(tables, couple, row, column) {
                        Some(why) => reasons.entry(why).or_default().push(cell),
                        None => open.push(cell),
                    }
                }
            }
            let out_of = couple.cells;
            let apart = out_of - here - open.len();
            hit += here;
            never += apart;
            missed += open.len();
            if full || !open.is_empty() {
                let _ = writeln!(
                    out,
                    "{}.{} x {}.{}: {here} of {out_of} pairs, {apart} that cannot be, {} open",
                    table.name,
                    one.name,
                    other_table.name,
                    other.name,
                    open.len()
                );
            }
            if full {
                for (why, cells) in reasons {
                    let _ = writeln!(out, "    never ({why}): {}", cells.join(", "));
                }
                if !open.is_empty() {
                    let _ = writeln!(out, "    OPEN: {}", open.join(", "));
                }
            }
        }
        let _ = writeln!(
            out,
            "pairs: {} in all, {hit} linked, {never} that cannot be, {missed} open",
            self.total
        );
        out
    }
}

/// Every number with every later one.
fn couples(numbers: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    numbers.iter().enumerate().flat_map(|(index, one)| {
        let later = numbers.iter().skip(index + 1);
        later.map(|other| (*one, *other))
    })
}

fn find(tables: &Tables, place: Place) -> Option<(&Schema, &super::tables::Dimension)> {
    let schema = tables.schemas.get(place.schema)?;
    Some((schema, schema.dimensions.get(place.dimension)?))
}

/// Why two values never go together.
fn impossible(tables: &Tables, couple: &Couple, row: usize, column: usize) -> Option<String> {
    let mut numbers = Numbers::new(1);
    let (one, other) = (couple.one, couple.other);
    let link = tables.schema(Kind::Link).ok()?;
    let of_link = |place: Place| tables.kind_of(place.schema) == Some(Kind::Link);
    let free = Context { tables, link: None };
    let mut reason = None;
    for _ in 0..60 {
        let mut forced = Vec::new();
        let mut own = Vec::new();
        for (place, value) in [(one, row), (other, column)] {
            let list = if of_link(place) {
                &mut forced
            } else {
                &mut own
            };
            list.push((place.dimension, value));
        }
        let result = draw(link, &forced, &mut numbers, &free).and_then(|link| {
            let context = Context {
                tables,
                link: Some(&link),
            };
            let place = if of_link(one) { other } else { one };
            match tables.schemas.get(place.schema) {
                Some(schema) if !own.is_empty() => {
                    draw(schema, &own, &mut numbers, &context).map(|_| ())
                }
                _ => Ok(()),
            }
        });
        match result {
            Ok(()) => return None,
            Err(why) => reason = Some(why),
        }
    }
    reason
}
