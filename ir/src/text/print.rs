//! Printing: the module header, object blocks, and how rows are written.

use memchr::memmem;

use super::DumpBytes;
use super::Filter;
use super::content::ImageIndex;
use super::content::put_block;
use super::fields::Part;
use super::fields::Row;
use super::fields::Spelling;
use super::fields::Visitor;
use super::quote::put;
use super::quote::put_name;
use super::quote::put_quoted;
use super::values::Id;
use crate::ids::*;
use crate::module::Module;
use crate::object::Object;
use crate::symbol::SymbolRef;
use crate::table::EntityId;
use crate::table::IdRange;

/// Prints a module at any phase.
pub fn print(module: &Module<'_>, bytes: DumpBytes) -> String {
    Printer::new(module, bytes, None).module()
}

/// Prints the entities of a module that a filter names, for reading only.
///
/// Contents are hashes, and rows keep the ids and the order of a whole dump.
pub fn print_filtered(module: &Module<'_>, filter: &Filter) -> String {
    Printer::new(module, DumpBytes::Hash, Some(filter)).module()
}

/// How many rows of each table are printed. Object blocks print the rows up to the end of the
/// object's ranges; what no object owns follows in a last block.
#[derive(Default)]
pub(super) struct Printed {
    pub(super) sections: usize,
    pub(super) symbols: usize,
    pub(super) functions: usize,
    pub(super) relocs: usize,
    pub(super) attributes: usize,
    pub(super) attribute_refs: usize,
    pub(super) calls: usize,
    pub(super) prototypes: usize,
    pub(super) notes: usize,
}

pub(crate) struct Printer<'m, 'data> {
    pub(super) module: &'m Module<'data>,
    pub(super) form: DumpBytes,
    pub(super) filter: Option<&'m Filter>,
    pub(super) images: ImageIndex,
    pub(super) printed: Printed,
    /// The object block that rows stand in.
    pub(super) object: Option<ObjectId>,
    /// The attributes that the linker made for `.nv.compat`, whose codes have names of their own.
    pub(super) merged_compat: Vec<AttributeId>,
    pub(super) out: String,
}

impl<'m, 'data> Printer<'m, 'data> {
    fn new(module: &'m Module<'data>, form: DumpBytes, filter: Option<&'m Filter>) -> Self {
        let mut merged_compat = module.merged_compat.clone();
        merged_compat.sort_unstable();
        Printer {
            module,
            form,
            filter,
            images: ImageIndex::new(module, form),
            printed: Printed::default(),
            object: None,
            merged_compat,
            out: String::new(),
        }
    }

    fn module(mut self) -> String {
        self.header();
        for (id, object) in self.module.objects.iter() {
            self.object(id, object);
        }
        self.unowned();
        self.link();
        self.plan();
        self.image();
        self.findings();
        self.out.push_str("end\n");
        self.out
    }

    fn header(&mut self) {
        let (module, out) = (self.module, &mut self.out);
        put!(out, "lir 1\n");
        if let Some(filter) = self.filter {
            out.push_str("; filtered:");
            for name in &filter.names {
                out.push(' ');
                put_quoted(out, name.as_bytes());
            }
            out.push('\n');
        }
        put!(
            out,
            "module phase={} toolkit={} target={}",
            module.phase.name(),
            module.toolkit.version,
            module.target
        );
        put!(out, " bytes={}\n", self.form.name());
        self.options();
    }

    fn object(&mut self, id: ObjectId, object: &Object<'data>) {
        let start = self.out.len();
        self.object_header(id, object);
        let body = self.out.len();
        self.object = Some(id);
        self.group("  sections\n", |p| p.sections(object.sections.end()));
        self.group("  symbols\n", |p| p.symbols(object.symbols.end()));
        self.group("  functions\n", |p| p.functions(object.functions.end()));
        self.relocs(object.relocs.end());
        self.attributes(object.attributes.end());
        self.group("  calls\n", |p| p.calls(object.calls.end()));
        self.group("  prototypes\n", |p| p.prototypes(object.prototypes.end()));
        self.notes(object.notes.end());
        self.object = None;
        if self.filter.is_some() && self.out.len() == body {
            self.out.truncate(start);
        }
    }

    fn object_header(&mut self, id: ObjectId, object: &Object<'data>) {
        self.row(format_args!("\nobject {id}"), object);
        let start = self.out.len();
        object.clone().owned(self);
        if self.out.len() > start {
            self.out.insert_str(start, "  owns");
            self.out.push('\n');
        }
        if self.form == DumpBytes::Full && !object.image.is_empty() {
            put_block(&mut self.out, object.image, "  ");
        }
    }

    /// Prints the rows that lie in no object's ranges.
    fn unowned(&mut self) {
        let module = self.module;
        self.group("\nunowned\n", |p| {
            p.sections(module.sections.len());
            p.symbols(module.symbols.len());
            p.functions(module.functions.len());
            p.relocs(module.relocs.len());
            p.attributes(module.attributes.len());
            p.calls(module.calls.len());
            p.prototypes(module.prototypes.len());
            p.notes(module.notes.len());
            p.unowned_refs();
        });
    }

    /// Returns `true` if a filter shows an entity with this name.
    pub(super) fn shows(&self, name: &[u8]) -> bool {
        let Some(filter) = self.filter else {
            return true;
        };
        let has = |part: &String| memmem::find(name, part.as_bytes()).is_some();
        filter.names.iter().any(has)
    }

    /// Returns `true` if a filter shows the name of an entity.
    pub(super) fn shows_id<K: EntityId>(&self, id: K) -> bool {
        self.filter.is_none() || self.shows(self.module.name_of(id))
    }

    pub(super) fn shows_target(&self, target: SymbolRef) -> bool {
        match target {
            SymbolRef::None => self.filter.is_none(),
            SymbolRef::Symbol(id) => self.shows_id(id),
            SymbolRef::Section(id) => self.shows_id(id),
        }
    }

    /// Appends an id with the name of what it refers to.
    pub(super) fn put_id<K: EntityId>(&mut self, id: K) {
        put!(self.out, "{id:?}");
        self.put_annotation(self.module.name_of(id));
    }

    /// Appends the name of what stands before it.
    pub(super) fn put_annotation(&mut self, name: &[u8]) {
        if !name.is_empty() {
            self.out.push(':');
            put_name(&mut self.out, name);
        }
    }

    /// Prints a row that begins with `head`.
    pub(super) fn row<R: Row<'data>>(&mut self, head: std::fmt::Arguments<'_>, row: &R) {
        put!(self.out, "{head}");
        row.clone().fields(self);
        self.out.push('\n');
    }

    /// Appends a blank, unless this is the first word in parentheses.
    fn blank(&mut self) {
        if !self.out.ends_with('(') {
            self.out.push(' ');
        }
    }

    /// Appends the key of a field.
    pub(super) fn key(&mut self, key: &str) {
        self.blank();
        self.out.push_str(key);
    }

    /// Appends a field.
    pub(super) fn field<T>(&mut self, key: &str, value: &T, spelling: impl Spelling<'data, T>) {
        self.key(key);
        self.out.push('=');
        spelling.print(value, self);
    }

    /// Prints rows below a heading, which is left out if there is no row.
    pub(super) fn group(&mut self, heading: &str, rows: impl FnOnce(&mut Self)) {
        let start = self.out.len();
        self.out.push_str(heading);
        let first = self.out.len();
        rows(self);
        if self.out.len() == first {
            self.out.truncate(start);
        }
    }
}

impl<'data> Visitor<'data> for Printer<'_, 'data> {
    fn word<T>(&mut self, value: &mut T, spelling: impl Spelling<'data, T>) {
        self.blank();
        spelling.print(value, self);
    }
    fn part<T>(&mut self, value: &mut T, part: impl Part<'data, T>) {
        part.print(value, self);
    }
    fn owner(&mut self, object: &mut ObjectId) {
        if Some(*object) != self.object {
            self.field("object", object, Id::Bare);
        }
    }
    fn list<K: EntityId>(&mut self, ids: &mut Vec<K>) {
        for id in ids {
            put!(self.out, " {id:?}");
        }
    }
    fn owned<K: EntityId>(&mut self, range: &mut IdRange<K>) {
        if *range != IdRange::default() {
            put!(self.out, " {range:?}");
        }
    }
}
