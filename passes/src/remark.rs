//! Remarks: what passes decided, and why, as data.
//!
//! A remark is about one row of the module, has a kind that its pass declares
//! ([`PassInfo::remarks`](crate::PassInfo::remarks)), and is a sentence with typed arguments, as in
//! LLVM: whoever shows it takes the sentence or the arguments. Names are not part of it, so that a
//! remark is cheap to make; [`Shown`] has them.
//!
//! A pass makes remarks in [`Pass::remarks`](crate::Pass::remarks), from the decisions that it left
//! in the module. Only what the module does not keep has to be told while the pass runs
//! ([`PassCx::remarks`](crate::PassCx::remarks)). Nothing is made unless somebody listens: a link
//! without a listener has one branch for each pass.

mod filter;
mod shown;

use std::borrow::Cow;
use std::fmt;

use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::ObjectId;
use cuweld_ir::RelocId;
use cuweld_ir::SectionId;
use cuweld_ir::SymbolId;
use cuweld_ir::table::EntityId;

pub use self::filter::RemarkFilter;
pub use self::filter::UnknownName;
pub(crate) use self::filter::is_name;
pub(crate) use self::filter::nearest_name;
pub use self::shown::Shown;
pub use self::shown::ShownEntity;
pub use self::shown::ShownValue;

use crate::INSTRUMENTED;

/// The target of the `tracing` events that remarks are, at level `TRACE`.
pub const TRACING_TARGET: &str = "cuweld_passes::remark";

/// The name that stands in the place of a pass in remarks on the discovery of inputs, before any pass
/// runs.
pub const DISCOVER: &str = "discover";

/// A kind of remark that a pass makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemarkInfo {
    /// Its name, such as `prevails`; unique within the pass.
    pub name: &'static str,
    /// One line that says when it is made.
    pub doc: &'static str,
}

/// A row of a module that a remark is about or speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Entity {
    /// An object.
    Object(ObjectId),
    /// A section of an object.
    Section(SectionId),
    /// A symbol of an object.
    Symbol(SymbolId),
    /// What a name stands for in the link.
    LinkSymbol(LinkSymbolId),
    /// A function of an object.
    Function(FunctionId),
    /// A relocation.
    Reloc(RelocId),
}

/// The id as in the text form: `%12`, `fn3`.
impl fmt::Display for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Entity::Object(id) => id.fmt(f),
            Entity::Section(id) => id.fmt(f),
            Entity::Symbol(id) => id.fmt(f),
            Entity::LinkSymbol(id) => id.fmt(f),
            Entity::Function(id) => id.fmt(f),
            Entity::Reloc(id) => id.fmt(f),
        }
    }
}

macro_rules! entities {
    ($($variant:ident: $id:ident)*) => {$(
        impl From<$id> for Entity {
            fn from(id: $id) -> Self {
                Entity::$variant(id)
            }
        }

        impl From<$id> for Value {
            fn from(id: $id) -> Self {
                Value::Entity(id.into())
            }
        }
    )*};
}

entities! {
    Object: ObjectId
    Section: SectionId
    Symbol: SymbolId
    LinkSymbol: LinkSymbolId
    Function: FunctionId
    Reloc: RelocId
}

impl Entity {
    /// Returns the kind of row, as JSON and traces have it.
    pub fn kind(self) -> &'static str {
        match self {
            Entity::Object(_) => "object",
            Entity::Section(_) => "section",
            Entity::Symbol(_) => "symbol",
            Entity::LinkSymbol(_) => "link-symbol",
            Entity::Function(_) => "function",
            Entity::Reloc(_) => "relocation",
        }
    }

    /// Returns the row of a module with an id in the text form, such as `fn3`.
    pub fn parse(id: &str, module: &Module<'_>) -> Option<Self> {
        let digits = id.find(|letter: char| letter.is_ascii_digit())?;
        let (prefix, number) = id.split_at_checked(digits)?;
        let index: usize = number.parse().ok()?;
        let (entity, rows) = match prefix {
            "@" => (Entity::Object(ObjectId::new(index)), module.objects.len()),
            "#" => (
                Entity::Section(SectionId::new(index)),
                module.sections.len(),
            ),
            "%" => (Entity::Symbol(SymbolId::new(index)), module.symbols.len()),
            "$" => (
                Entity::LinkSymbol(LinkSymbolId::new(index)),
                module.link_symbols.len(),
            ),
            "fn" => (
                Entity::Function(FunctionId::new(index)),
                module.functions.len(),
            ),
            "r" => (Entity::Reloc(RelocId::new(index)), module.relocs.len()),
            _ => return None,
        };
        (index < rows).then_some(entity)
    }

    /// Returns the index of the row in its table.
    pub fn index(self) -> usize {
        match self {
            Entity::Object(id) => id.index(),
            Entity::Section(id) => id.index(),
            Entity::Symbol(id) => id.index(),
            Entity::LinkSymbol(id) => id.index(),
            Entity::Function(id) => id.index(),
            Entity::Reloc(id) => id.index(),
        }
    }

    /// Returns the object that holds the row: of a name, the one that defines it or names it first.
    pub fn object(self, module: &Module<'_>) -> ObjectId {
        match self {
            Entity::Object(id) => id,
            Entity::Section(id) => module.sections[id].object,
            Entity::Symbol(id) => module.symbols[id].object,
            Entity::LinkSymbol(id) => {
                let row = &module.link_symbols[id];
                module.symbols[row.definition.unwrap_or(row.first)].object
            }
            Entity::Function(id) => module.functions[id].object,
            Entity::Reloc(id) => module.sections[module.relocs[id].section].object,
        }
    }

    /// Returns the name of the symbol that the row is or defines; `None` for other rows.
    pub fn symbol_name<'data>(self, module: &Module<'data>) -> Option<&'data [u8]> {
        let name = match self {
            Entity::Symbol(id) => module.symbols[id].name,
            Entity::LinkSymbol(id) => module.link_name(id),
            Entity::Function(id) => module.function_name(id),
            Entity::Object(_) | Entity::Section(_) | Entity::Reloc(_) => return None,
        };
        Some(name).filter(|name| !name.is_empty())
    }
}

/// The value of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A row; shown by name.
    Entity(Entity),
    /// A count or a size in bytes; shown as a decimal number.
    Number(u64),
    /// An offset or an address in bytes; shown as a hexadecimal number.
    Address(u64),
    /// A word or a clause.
    Text(Cow<'static, str>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Entity(entity) => entity.fmt(f),
            Value::Number(number) => number.fmt(f),
            Value::Address(address) => write!(f, "{address:#x}"),
            Value::Text(text) => write!(f, "{text:?}"),
        }
    }
}

impl From<Entity> for Value {
    fn from(entity: Entity) -> Self {
        Value::Entity(entity)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Value::Number(number)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Value::Number(number.into())
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Value::Number(number as u64)
    }
}

impl From<&'static str> for Value {
    fn from(text: &'static str) -> Self {
        Value::Text(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(text.into())
    }
}

/// A piece of a remark, in the order of its sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// Words between arguments.
    Words(Cow<'static, str>),
    /// An argument that stands in the sentence.
    Argument(&'static str, Value),
    /// An argument that the sentence does not show.
    Silent(&'static str, Value),
}

/// A decision of a pass. Its sentence begins with the row that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    kind: &'static str,
    subject: Option<Entity>,
    parts: Vec<Part>,
}

impl Remark {
    /// Makes a remark about a row.
    pub fn about(kind: &RemarkInfo, subject: impl Into<Entity>) -> Self {
        Remark {
            kind: kind.name,
            subject: Some(subject.into()),
            parts: Vec::new(),
        }
    }

    /// Makes a remark about the whole link.
    pub fn of_link(kind: &RemarkInfo) -> Self {
        Remark {
            kind: kind.name,
            subject: None,
            parts: Vec::new(),
        }
    }

    /// Adds words to the sentence.
    pub fn words(mut self, words: impl Into<Cow<'static, str>>) -> Self {
        self.parts.push(Part::Words(words.into()));
        self
    }

    /// Adds an argument to the sentence.
    pub fn argument(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        self.parts.push(Part::Argument(key, value.into()));
        self
    }

    /// Adds an argument that the sentence does not show.
    pub fn silent(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        self.parts.push(Part::Silent(key, value.into()));
        self
    }

    /// Returns the name of its kind.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Returns the row that it is about; `None` for the whole link.
    pub fn subject(&self) -> Option<Entity> {
        self.subject
    }

    /// Returns the arguments, in the order of the sentence.
    pub fn arguments(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.parts.iter().filter_map(|part| match part {
            Part::Words(_) => None,
            Part::Argument(key, value) | Part::Silent(key, value) => Some((*key, value)),
        })
    }

    /// Returns the rows that it is about or speaks of.
    pub fn entities(&self) -> impl Iterator<Item = Entity> {
        let arguments = self.arguments().filter_map(|(_, value)| match value {
            Value::Entity(entity) => Some(*entity),
            _ => None,
        });
        self.subject.into_iter().chain(arguments)
    }
}

/// Where passes put remarks.
#[derive(Debug, Default)]
pub struct Remarks {
    is_on: bool,
    list: Vec<Remark>,
}

impl Remarks {
    /// Makes a list that takes remarks if `is_on`, and otherwise has none made.
    pub fn new(is_on: bool) -> Self {
        Remarks {
            is_on: is_on && INSTRUMENTED,
            list: Vec::new(),
        }
    }

    /// Returns `true` if somebody listens.
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// Adds a remark, which is made only if somebody listens.
    pub fn emit(&mut self, make: impl FnOnce() -> Remark) {
        if self.is_on {
            self.list.push(make());
        }
    }

    /// Returns the remarks, in the order in which they were made.
    pub fn list(&self) -> &[Remark] {
        &self.list
    }
}
