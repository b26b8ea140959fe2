//! The tables of `tests/language`, read: what the language has, as dimensions with values, and the rules that say which values never go together.

use std::collections::BTreeMap;
use std::error::Error;

use serde::Deserialize;

/// What rows of a schema describe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// How files are compiled, packed and linked.
    Link,
    /// A variable.
    Variable,
    /// A device function.
    Function,
    /// A kernel.
    Kernel,
}

/// A table's dimensions and rules.
pub struct Schema {
    /// What its rows describe.
    pub kind: Kind,
    /// Its name in reports.
    pub name: &'static str,
    /// Its dimensions, sorted by name.
    pub dimensions: Vec<Dimension>,
    /// What never goes together.
    pub rules: Vec<Rule>,
}

/// A dimension.
pub struct Dimension {
    /// Its name.
    pub name: String,
    /// Its values.
    pub values: Vec<String>,
    /// Those that are drawn only where a pair asks for them.
    pub rare: Vec<String>,
    /// The number of its first value among all values of all tables.
    pub base: usize,
}

/// Values that never go together.
pub struct Rule {
    /// Dimension (or `sm`, `version`, or `link.` and a dimension of the link) and what it is then.
    pub conditions: Vec<(String, Condition)>,
    /// The reason.
    pub why: String,
}

/// What a dimension is for a rule to hold.
pub enum Condition {
    /// One of some values.
    One(Vec<String>),
    /// None of some values.
    Other(Vec<String>),
    /// A number below another.
    Below(Version),
}

/// Major and minor number.
pub type Version = (u32, u32);

/// A statement of a body.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Statement {
    /// Its text.
    pub ptx: String,
    /// What stands once in a file that has it.
    pub module: String,
    /// The first architecture that has it.
    pub sm: u32,
    /// The first version of PTX that has it.
    pub version: String,
    /// The architectures that have it, if not all.
    pub only: Vec<String>,
    /// `entry` if functions have it not.
    #[serde(rename = "where")]
    pub place: String,
}

/// A table as it is written.
#[derive(Deserialize)]
struct Written {
    dimensions: BTreeMap<String, Values>,
    #[serde(default)]
    rare: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    never: Vec<BTreeMap<String, String>>,
    #[serde(default)]
    also: BTreeMap<String, String>,
    #[serde(default)]
    since: BTreeMap<String, String>,
    #[serde(default)]
    text: BTreeMap<String, String>,
}

/// Values of a dimension: a list, or the name of a table.
#[derive(Deserialize)]
#[serde(untagged)]
enum Values {
    List(Vec<String>),
    /// The names of statements, whatever stands there.
    Statements(serde::de::IgnoredAny),
}

/// All tables.
pub struct Tables {
    /// The schemas, that of the link first.
    pub schemas: Vec<Schema>,
    /// The statements.
    pub statements: BTreeMap<String, Statement>,
    /// An older architecture whose objects are linked for one.
    pub also: BTreeMap<String, String>,
    /// The version of PTX that has an architecture.
    pub since: BTreeMap<String, Version>,
    /// PTX of the performance directives of kernels.
    pub directives: BTreeMap<String, String>,
    /// The number of values in all.
    pub values: usize,
}

/// `9.0` as numbers.
pub fn version(text: &str) -> Version {
    let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
    let number = |text: &str| text.parse().unwrap_or(0);
    (number(major), number(minor))
}

impl Tables {
    /// Reads the tables.
    pub fn read() -> Result<Self, Box<dyn Error>> {
        let read = |name: &str| -> Result<String, Box<dyn Error>> {
            let file = format!("{}/tests/language/{name}.toml", env!("CARGO_MANIFEST_DIR"));
            Ok(std::fs::read_to_string(file)?)
        };
        let statements: BTreeMap<String, Statement> = toml::from_str(&read("statements")?)?;
        let mut tables = Tables {
            schemas: Vec::new(),
            statements,
            also: BTreeMap::new(),
            since: BTreeMap::new(),
            directives: BTreeMap::new(),
            values: 0,
        };
        for (kind, name) in [
            (Kind::Link, "links"),
            (Kind::Variable, "variables"),
            (Kind::Function, "functions"),
            (Kind::Kernel, "kernels"),
        ] {
            let written: Written = toml::from_str(&read(name)?)?;
            tables.also.extend(written.also);
            let since = written.since.into_iter();
            tables
                .since
                .extend(since.map(|(name, v)| (name, version(&v))));
            tables.directives.extend(written.text);
            let mut dimensions = Vec::new();
            for (dimension, values) in written.dimensions {
                let values = match values {
                    Values::List(values) => values,
                    Values::Statements(_) => tables.statements.keys().cloned().collect(),
                };
                let rare = written.rare.get(&dimension).cloned().unwrap_or_default();
                let base = tables.values;
                tables.values += values.len();
                dimensions.push(Dimension {
                    name: dimension,
                    values,
                    rare,
                    base,
                });
            }
            let rules = written.never.into_iter().map(rule).collect();
            tables.schemas.push(Schema {
                kind,
                name,
                dimensions,
                rules,
            });
        }
        Ok(tables)
    }

    /// What a schema describes.
    pub fn kind_of(&self, schema: usize) -> Option<Kind> {
        self.schemas.get(schema).map(|schema| schema.kind)
    }

    /// The schema of a kind.
    pub fn schema(&self, kind: Kind) -> Result<&Schema, String> {
        let found = self.schemas.iter().find(|schema| schema.kind == kind);
        found.ok_or_else(|| format!("no table of {kind:?}"))
    }
}

fn rule(mut written: BTreeMap<String, String>) -> Rule {
    let why = written.remove("why").unwrap_or_default();
    let conditions = written.into_iter().map(|(key, text)| {
        let words = |text: &str| match text.is_empty() {
            true => vec![String::new()],
            false => text.split(' ').map(str::to_owned).collect(),
        };
        let condition = match (text.strip_prefix('!'), text.strip_prefix('<')) {
            (Some(others), _) => Condition::Other(words(others)),
            (None, Some(limit)) => Condition::Below(version(limit)),
            (None, None) => Condition::One(words(&text)),
        };
        (key, condition)
    });
    Rule {
        conditions: conditions.collect(),
        why,
    }
}
