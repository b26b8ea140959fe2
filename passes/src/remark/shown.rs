//! Remarks with names, for people and for programs that do not have the module.

use std::borrow::Cow;

use cuweld_demangle::explained;
use cuweld_demangle::inner_name;
use cuweld_elf::target::relocs::reloc_type;
use cuweld_ir::Module;
use cuweld_ir::SectionInfo;
use serde::Serialize;
use serde::Serializer;
use serde::ser::SerializeMap;

use super::DISCOVER;
use super::Entity;
use super::Part;
use super::Remark;
use super::RemarkInfo;
use super::Value;

/// A remark with the names of what it speaks of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Shown {
    /// The pass that made the decision, or [`DISCOVER`].
    pub pass: &'static str,
    /// Its step in the pipeline, counted from 1; 0 for the discovery of inputs.
    pub step: usize,
    /// The kind of remark, one of those that the pass declares.
    pub kind: &'static str,
    /// The object that holds what the remark is about, as messages name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// What the remark is about; `None` for the whole link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<ShownEntity>,
    /// The arguments, in the order of the sentence.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "as_map")]
    pub arguments: Vec<(&'static str, ShownValue)>,
    /// The sentence, with names as in the source.
    pub message: String,
}

/// A row of the module with its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ShownEntity {
    /// The kind of row, such as `function`.
    #[serde(rename = "type")]
    pub ty: &'static str,
    /// Its id in the text form of the module, such as `fn3`.
    pub id: String,
    /// Its name, mangled if it is a symbol of C++; of a relocation the name of its type.
    pub name: String,
    /// The name as in the source, of a mangled one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub demangled: Option<String>,
    /// Of a relocation, the section that it changes and the offset in bytes in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<(String, u64)>,
}

/// The value of an argument, with names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum ShownValue {
    /// A row.
    Entity(ShownEntity),
    /// A number.
    Number(u64),
    /// A word or a clause.
    Text(Cow<'static, str>),
}

fn as_map<S: Serializer>(
    arguments: &[(&'static str, ShownValue)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(arguments.len()))?;
    for (key, value) in arguments {
        map.serialize_entry(key, value)?;
    }
    map.end()
}

impl Shown {
    /// Adds names to a remark of a pass, which is a step of a pipeline.
    pub fn new(module: &Module<'_>, pass: &'static str, step: usize, remark: &Remark) -> Self {
        let shown = |entity| ShownEntity::new(module, entity);
        let value = |value: &Value| match value {
            Value::Entity(entity) => ShownValue::Entity(shown(*entity)),
            Value::Number(number) | Value::Address(number) => ShownValue::Number(*number),
            Value::Text(text) => ShownValue::Text(text.clone()),
        };
        let object = remark.subject().map(|subject| subject.object(module));
        Shown {
            pass,
            step,
            kind: remark.kind(),
            object: object.map(|object| module.objects[object].display()),
            subject: remark.subject().map(shown),
            arguments: remark
                .arguments()
                .map(|(key, argument)| (key, value(argument)))
                .collect(),
            message: remark.message(module),
        }
    }

    /// Makes a remark on an input that is no part of a module, as its discovery makes it.
    pub fn of_input(kind: &RemarkInfo, input: String, message: String) -> Self {
        Shown {
            pass: DISCOVER,
            step: 0,
            kind: kind.name,
            object: Some(input),
            subject: None,
            arguments: Vec::new(),
            message,
        }
    }

    /// Returns the remark as a line of text: `a.o: remark: symbol-resolve: 'f(int)' prevails ...`.
    pub fn line(&self) -> String {
        let place = self
            .object
            .as_ref()
            .map_or(String::new(), |object| format!("{object}: "));
        format!("{place}remark: {}: {}", self.pass, self.message)
    }
}

impl Remark {
    /// Returns the sentence, with names as in the source.
    pub fn message(&self, module: &Module<'_>) -> String {
        let name = |entity| ShownEntity::new(module, entity).text();
        let mut message = self.subject().map_or(String::new(), name);
        for part in &self.parts {
            match part {
                Part::Words(words) => message += words,
                Part::Argument(_, Value::Entity(entity)) => message += &name(*entity),
                Part::Argument(_, Value::Number(number)) => message += &number.to_string(),
                Part::Argument(_, Value::Address(address)) => message += &format!("{address:#x}"),
                Part::Argument(_, Value::Text(text)) => message += text,
                Part::Silent(..) => {}
            }
        }
        message
    }
}

impl ShownEntity {
    /// Adds names to a row.
    pub fn new(module: &Module<'_>, entity: Entity) -> Self {
        let mut place = None;
        let name = match entity {
            Entity::Object(id) => module.objects[id].display(),
            Entity::Section(id) => String::from_utf8_lossy(module.sections[id].name).into_owned(),
            Entity::Reloc(id) => {
                let row = &module.relocs[id];
                if let SectionInfo::Section(section) = module.sections[row.section].info {
                    let name = String::from_utf8_lossy(module.sections[section].name);
                    place = Some((name.into_owned(), row.offset));
                }
                match reloc_type(row.ty) {
                    Some(ty) => format!("R_CUDA_{}", ty.name),
                    None => format!("{:#x}", row.ty),
                }
            }
            Entity::Symbol(_) | Entity::LinkSymbol(_) | Entity::Function(_) => {
                let name = entity.symbol_name(module).unwrap_or_default();
                String::from_utf8_lossy(name).into_owned()
            }
        };
        ShownEntity {
            ty: entity.kind(),
            id: entity.to_string(),
            demangled: entity.symbol_name(module).and_then(source_name),
            name,
            place,
        }
    }

    /// Returns the row as a sentence names it: in quotes, as in the source.
    fn text(&self) -> String {
        match &self.place {
            Some((section, offset)) => format!("{} at {offset:#x} of '{section}'", self.name),
            None if self.name.is_empty() => format!("{} without a name", self.ty),
            None => format!("'{}'", self.demangled.as_ref().unwrap_or(&self.name)),
        }
    }
}

/// Returns the name of a symbol as in the source; `None` for one that is not mangled.
pub(super) fn source_name(name: &[u8]) -> Option<String> {
    explained(inner_name(name))
}
