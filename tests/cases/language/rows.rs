//! Rows of the tables: one value for each dimension, drawn by seed so that no rule is broken.

use super::tables::{Condition, Kind, Rule, Schema, Tables, Version, version};
use crate::mutate::mutation::Numbers;

/// How often values are drawn anew before a row is given up.
const ATTEMPTS: usize = 400;

/// One value for each dimension of a schema.
#[derive(Clone)]
pub struct Row<'tables> {
    /// The schema.
    pub schema: &'tables Schema,
    /// Indices of values, by dimension.
    pub values: Vec<usize>,
}

impl<'tables> Row<'tables> {
    /// The value of a dimension.
    pub fn of(&self, name: &str) -> &'tables str {
        let mut dimensions = self.schema.dimensions.iter().zip(&self.values);
        let found = dimensions.find(|(dimension, _)| dimension.name == name);
        let value = found.and_then(|(dimension, index)| dimension.values.get(*index));
        value.map_or("", String::as_str)
    }

    /// Whether a dimension has a value.
    pub fn is(&self, name: &str, value: &str) -> bool {
        self.of(name) == value
    }

    /// The numbers of its values among all values of all tables.
    pub fn numbers(&self) -> impl Iterator<Item = usize> {
        let dimensions = self.schema.dimensions.iter().zip(&self.values);
        dimensions.map(|(dimension, value)| dimension.base + value)
    }
}

/// What rules look at beside the row itself.
pub struct Context<'a> {
    /// The tables.
    pub tables: &'a Tables,
    /// The link, for rows of other tables.
    pub link: Option<&'a Row<'a>>,
}

/// The architecture that PTX states.
pub fn stated_target<'a>(link: &Row<'a>, target: &'a str) -> &'a str {
    match link.of("virtual") {
        "plain" => target.trim_end_matches(['a', 'f']),
        "oldest" => "sm_75",
        _ => target,
    }
}

/// Its number.
pub fn sm(target: &str) -> u32 {
    let digits = target
        .trim_start_matches("sm_")
        .trim_end_matches(['a', 'f']);
    digits.parse().unwrap_or(0)
}

/// Draws a row; where that cannot be, says why.
pub fn draw<'tables>(
    schema: &'tables Schema,
    forced: &[(usize, usize)],
    numbers: &mut Numbers,
    context: &Context<'_>,
) -> Result<Row<'tables>, String> {
    let forced_value = |dimension: usize| {
        let found = forced.iter().find(|(at, _)| *at == dimension);
        found.map(|(_, value)| *value)
    };
    let any = |dimension: usize, numbers: &mut Numbers| {
        let Some(dimension) = schema.dimensions.get(dimension) else {
            return 0;
        };
        loop {
            let index = numbers.below(dimension.values.len());
            let value = dimension.values.get(index);
            if value.is_none_or(|value| !dimension.rare.contains(value)) {
                return index;
            }
        }
    };
    let count = schema.dimensions.len();
    let values = (0..count).map(|at| forced_value(at).unwrap_or_else(|| any(at, numbers)));
    let mut row = Row {
        schema,
        values: values.collect(),
    };
    let mut reason = String::new();
    for _ in 0..ATTEMPTS {
        let Some((names, why)) = broken(&row, context) else {
            return Ok(row);
        };
        reason = why;
        let free: Vec<usize> = (0..count)
            .filter(|at| {
                let name = schema.dimensions.get(*at).map(|dimension| &dimension.name);
                forced_value(*at).is_none() && name.is_some_and(|name| names.contains(name))
            })
            .collect();
        let Some(at) = numbers.one_of(&free) else {
            return Err(reason);
        };
        if let Some(value) = row.values.get_mut(at) {
            *value = any(at, numbers);
        }
    }
    Err(reason)
}

/// The dimensions of a rule that a row breaks, and its reason.
fn broken(row: &Row<'_>, context: &Context<'_>) -> Option<(Vec<String>, String)> {
    let holds = |rule: &&Rule| {
        let mut conditions = rule.conditions.iter();
        conditions.all(|(name, condition)| holds(row, context, name, condition))
    };
    if let Some(rule) = row.schema.rules.iter().find(holds) {
        let names = rule.conditions.iter().map(|(name, _)| name.clone());
        return Some((names.collect(), rule.why.clone()));
    }
    if row.schema.kind == Kind::Link {
        let of_link = Context {
            link: Some(row),
            ..*context
        };
        let since = targets(&of_link)
            .into_iter()
            .filter_map(|target| context.tables.since.get(target));
        let since = since.max().copied();
        let target = row.of("target");
        return (since > Some(version(row.of("version")))).then(|| {
            let names = ["version", "virtual", "target"].map(str::to_owned);
            (names.to_vec(), format!("{target} came with a later PTX"))
        });
    }
    ["first", "second"].into_iter().find_map(|name| {
        let why = misfit(row.of(name), row.schema.kind, context)?;
        Some((vec![name.to_owned()], why))
    })
}

/// Why a statement cannot stand in a body.
fn misfit(name: &str, kind: Kind, context: &Context<'_>) -> Option<String> {
    let statement = context.tables.statements.get(name)?;
    if statement.place == "entry" && kind != Kind::Kernel {
        return Some("it is for kernels".to_owned());
    }
    let only = &statement.only;
    let lacks = |target: &str| !only.is_empty() && !only.iter().any(|only| only == target);
    if targets(context).iter().any(|target| lacks(target)) {
        return Some(format!("only {} have it", only.join(" ")));
    }
    if statement.sm > oldest(context) {
        return Some(format!("it came with sm_{}", statement.sm));
    }
    let since = version(&statement.version);
    (since > stated_version(context)).then(|| format!("it came with PTX {}", statement.version))
}

/// The architectures that the files of a link state: a file may be for another than the rest.
fn targets<'a>(context: &Context<'a>) -> Vec<&'a str> {
    let Some(link) = context.link else {
        return Vec::new();
    };
    let target = link.of("target");
    let mut targets = vec![stated_target(link, target)];
    if let ("architecture", Some(other)) = (link.of("other"), context.tables.also.get(target)) {
        targets.push(stated_target(link, other));
    }
    targets
}

/// The number of the oldest.
fn oldest(context: &Context<'_>) -> u32 {
    let numbers = targets(context).into_iter().map(sm);
    numbers.min().unwrap_or(0)
}

/// The version of PTX that the files of a link state.
fn stated_version(context: &Context<'_>) -> Version {
    context
        .link
        .map_or((0, 0), |link| version(link.of("version")))
}

fn holds(row: &Row<'_>, context: &Context<'_>, name: &str, condition: &Condition) -> bool {
    let value = match name.strip_prefix("link.") {
        Some(name) => context.link.map_or("", |link| link.of(name)),
        None => row.of(name),
    };
    match condition {
        Condition::One(values) => values.iter().any(|one| one == value),
        Condition::Other(values) => !values.iter().any(|one| one == value),
        Condition::Below(limit) => match name {
            "sm" => (oldest(context), 0) < *limit,
            _ => stated_version(context) < *limit,
        },
    }
}
