//! The fields of a row, declared once for the printer, the parser and the checks of ids.
//!
//! A row names its fields in [`Row::fields`], in the order in which they are printed. A [`Visitor`]
//! is what is done with them: [`Printer`] writes them, [`Reading`](super::reading::Reading) reads
//! them, an [`IdVisitor`] looks the ids in them up ([`Ids`]) or gives them other numbers, and
//! [`Keys`] lists them for messages.
//!
//! A value that is written in one token has a [`Spelling`]. What stands after one or several keys
//! is a [`Part`]; [`Visitor::field`] and its siblings make one of a key and a spelling.

use std::fmt::Debug;

use super::lexer::Parsed;
use super::parse::Parser;
use super::print::Printer;
use crate::ids::ObjectId;
use crate::module::Module;
use crate::symbol::SymbolRef;
use crate::table::EntityId;
use crate::table::IdRange;

/// A row of the text form.
pub(crate) trait Row<'data>: Clone + Default {
    /// Visits every field, in the order in which they are printed.
    fn fields(&mut self, v: &mut impl Visitor<'data>);
}

/// Does something with every field of a row.
pub(crate) trait Visitor<'data>: Sized {
    /// Visits a leading word, which has no key.
    fn word<T>(&mut self, value: &mut T, spelling: impl Spelling<'data, T>);

    /// Visits what stands after the keys of a part.
    fn part<T>(&mut self, value: &mut T, part: impl Part<'data, T>);

    /// Visits the object of a row. The text names it only where it is not the one whose block the
    /// row stands in.
    fn owner(&mut self, object: &mut ObjectId);

    /// Visits words that are ids, up to the end of the row.
    fn list<K: EntityId>(&mut self, _ids: &mut Vec<K>) {}

    /// Visits the rows that an object owns in one table.
    fn owned<K: EntityId>(&mut self, _range: &mut IdRange<K>) {}

    /// Visits an id that the heading above the row gives.
    fn heading<T>(&mut self, _value: &mut T, _spelling: impl Spelling<'data, T>) {}

    /// Visits `key=value`, which is always printed.
    fn field<T>(&mut self, key: &'static str, value: &mut T, spelling: impl Spelling<'data, T>) {
        self.part(value, Always(key, spelling));
    }

    /// Visits `key=value`, without which there is no row.
    fn required<T>(&mut self, key: &'static str, value: &mut T, spelling: impl Spelling<'data, T>) {
        self.part(value, Required(key, spelling));
    }

    /// Visits `key=value`, left out where the value is the default one.
    fn sparse<T>(&mut self, key: &'static str, value: &mut T, spelling: impl Spelling<'data, T>)
    where
        T: Default + PartialEq,
    {
        self.part(value, Sparse(key, spelling));
    }

    /// Visits `key=value`, left out where there is none.
    fn optional<T>(
        &mut self,
        key: &'static str,
        value: &mut Option<T>,
        spelling: impl Spelling<'data, T>,
    ) {
        self.part(value, Optional(key, spelling));
    }

    /// Visits a key without a value, left out where it does not hold.
    fn flag(&mut self, key: &'static str, value: &mut bool) {
        self.part(value, Flag(key));
    }
}

/// How a value is written in one token.
pub(crate) trait Spelling<'data, T> {
    /// Appends the value.
    fn print(&self, value: &T, out: &mut Printer<'_, 'data>);
    /// Reads a value.
    fn parse(&self, parser: &mut Parser<'_, 'data, '_>) -> Parsed<T>;
    /// Shows the ids in the value.
    fn ids(&self, _value: &mut T, _ids: &mut impl IdVisitor) {}
}

/// Fields of a row that give one value.
pub(crate) trait Part<'data, T> {
    /// Returns the keys of the fields.
    fn keys(&self) -> &[&'static str];
    /// Returns `true` if a row has one of the keys.
    fn is_required(&self) -> bool {
        false
    }
    /// Appends the fields that the value has.
    fn print(&self, value: &T, out: &mut Printer<'_, 'data>);
    /// Reads the value of a field with this key.
    fn parse(&self, key: &str, value: &mut T, parser: &mut Parser<'_, 'data, '_>) -> Parsed<()>;
    /// Shows the ids in the value.
    fn ids(&self, _value: &mut T, _ids: &mut impl IdVisitor) {}
}

/// Implements [`Part`] for a key with a spelling: `$shown` says which values are printed, and how
/// one is unwrapped; `$changed` unwraps one whose ids may be changed.
macro_rules! keyed {
    ($name:ident, $value:ty $(where $bound:path)?, |$it:ident| $shown:expr, $changed:expr, $wrap:expr, $required:literal) => {
        struct $name<S>(&'static str, S);

        impl<'data, T $(: $bound + PartialEq)?, S: Spelling<'data, T>> Part<'data, $value> for $name<S> {
            fn keys(&self) -> &[&'static str] {
                std::slice::from_ref(&self.0)
            }
            fn is_required(&self) -> bool {
                $required
            }
            fn print(&self, $it: &$value, out: &mut Printer<'_, 'data>) {
                if let Some(value) = $shown {
                    out.key(self.0);
                    out.out.push('=');
                    self.1.print(value, out);
                }
            }
            fn parse(
                &self,
                _: &str,
                value: &mut $value,
                parser: &mut Parser<'_, 'data, '_>,
            ) -> Parsed<()> {
                parser.cursor.expect("=")?;
                *value = $wrap(self.1.parse(parser)?);
                Ok(())
            }
            fn ids(&self, $it: &mut $value, ids: &mut impl IdVisitor) {
                if let Some(value) = $changed {
                    self.1.ids(value, ids);
                }
            }
        }
    };
}

keyed!(
    Always,
    T,
    |value| Some(value),
    Some(value),
    std::convert::identity,
    false
);
keyed!(
    Required,
    T,
    |value| Some(value),
    Some(value),
    std::convert::identity,
    true
);
keyed!(Sparse, T where Default, |value| Some(value).filter(|value| **value != T::default()), Some(value).filter(|value| **value != T::default()), std::convert::identity, false);
keyed!(
    Optional,
    Option<T>,
    |value| value.as_ref(),
    value.as_mut(),
    Some,
    false
);

struct Flag(&'static str);

impl<'data> Part<'data, bool> for Flag {
    fn keys(&self) -> &[&'static str] {
        std::slice::from_ref(&self.0)
    }
    fn print(&self, value: &bool, out: &mut Printer<'_, 'data>) {
        if *value {
            out.key(self.0);
        }
    }
    fn parse(&self, _: &str, value: &mut bool, _: &mut Parser<'_, 'data, '_>) -> Parsed<()> {
        *value = true;
        Ok(())
    }
}

/// Defines a part of a row that has the key of one variant of an enumeration: `"key" => Variant`
/// or, with a value, `"key" => Variant(name: spelling)`.
macro_rules! keyed_variants {
    ($(#[$doc:meta])* $part:ident: $enum:ident $(<$data:lifetime>)?,
     $($key:literal => $variant:ident $(($value:ident: $spelling:expr))?,)+) => {
        $(#[$doc])*
        struct $part;

        impl<'data> Part<'data, $enum $(<$data>)?> for $part {
            fn keys(&self) -> &[&'static str] {
                &[$($key),+]
            }
            fn is_required(&self) -> bool {
                true
            }
            fn print(&self, variant: &$enum $(<$data>)?, out: &mut Printer<'_, 'data>) {
                match variant {
                    $($enum::$variant $(($value))? => {
                        out.key($key);
                        $(out.out.push('=');
                        $spelling.print($value, out);)?
                    })+
                }
            }
            fn parse(
                &self,
                key: &str,
                variant: &mut $enum $(<$data>)?,
                parser: &mut Parser<'_, 'data, '_>,
            ) -> Parsed<()> {
                $(if key == $key {
                    *variant = $enum::$variant $((parser.value($spelling)?))?;
                })+
                Ok(())
            }
            fn ids(&self, variant: &mut $enum $(<$data>)?, ids: &mut impl IdVisitor) {
                match variant {
                    $($enum::$variant $(($value))? => {
                        $($spelling.ids($value, ids);)?
                    })+
                }
            }
        }
    };
}
pub(super) use keyed_variants;

/// Collects ids that name no row.
pub(crate) struct Ids<'m, 'data> {
    module: &'m Module<'data>,
    /// What each of them is.
    pub(crate) missing: Vec<String>,
}

impl<'m, 'data> Ids<'m, 'data> {
    pub(crate) fn new(module: &'m Module<'data>) -> Self {
        Ids {
            module,
            missing: Vec::new(),
        }
    }

    /// Notes ids that name no row.
    pub(crate) fn missing(&mut self, what: impl Debug) {
        self.missing.push(format!("{what:?} names no row"));
    }
}

impl IdVisitor for Ids<'_, '_> {
    fn id<K: EntityId>(&mut self, id: &mut K) {
        if id.index() >= self.module.rows_of(K::PREFIX) {
            self.missing(id);
        }
    }

    fn range<K: EntityId>(&mut self, range: &mut IdRange<K>) {
        if range.end() > self.module.rows_of(K::PREFIX) || range.start() > range.end() {
            self.missing(range);
        }
    }
}

/// Is shown the ids of a row, and may change them.
pub(crate) trait IdVisitor {
    /// Visits an id.
    fn id<K: EntityId>(&mut self, id: &mut K);

    /// Visits the rows that an object or a section has in one table.
    fn range<K: EntityId>(&mut self, range: &mut IdRange<K>);

    /// Visits what a relocation, an attribute or a call graph row refers to.
    fn target(&mut self, target: &mut SymbolRef) {
        match target {
            SymbolRef::None => {}
            SymbolRef::Symbol(id) => self.id(id),
            SymbolRef::Section(id) => self.id(id),
        }
    }
}

impl<'data, V: IdVisitor> Visitor<'data> for V {
    fn word<T>(&mut self, value: &mut T, spelling: impl Spelling<'data, T>) {
        spelling.ids(value, self);
    }
    fn part<T>(&mut self, value: &mut T, part: impl Part<'data, T>) {
        part.ids(value, self);
    }
    fn owner(&mut self, object: &mut ObjectId) {
        self.id(object);
    }
    fn list<K: EntityId>(&mut self, ids: &mut Vec<K>) {
        ids.iter_mut().for_each(|id| self.id(id));
    }
    fn owned<K: EntityId>(&mut self, range: &mut IdRange<K>) {
        self.range(range);
    }
    fn heading<T>(&mut self, value: &mut T, spelling: impl Spelling<'data, T>) {
        spelling.ids(value, self);
    }
}

/// The keys of a row.
#[derive(Default)]
pub(super) struct Keys(pub(super) Vec<&'static str>);

impl<'data> Visitor<'data> for Keys {
    fn word<T>(&mut self, _: &mut T, _: impl Spelling<'data, T>) {}
    fn part<T>(&mut self, _: &mut T, part: impl Part<'data, T>) {
        self.0.extend(part.keys());
    }
    fn owner(&mut self, _: &mut ObjectId) {
        self.0.push("object");
    }
}
