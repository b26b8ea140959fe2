//! Printing: the module header, object blocks, and how references are written.

use super::DumpBytes;
use super::Filter;
use super::content::ImageIndex;
use super::content::put_block;
use super::content::put_digest;
use super::quote::put;
use super::quote::put_name;
use super::quote::put_quoted;
use super::words;
use crate::ids::*;
use crate::module::Module;
use crate::object::Object;
use crate::object::ObjectOrigin;
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

pub(super) struct Printer<'m, 'data> {
    pub(super) module: &'m Module<'data>,
    pub(super) form: DumpBytes,
    pub(super) filter: Option<&'m Filter>,
    pub(super) images: ImageIndex,
    pub(super) printed: Printed,
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
        let options = &module.options;
        for (set, word) in [
            (options.relocatable, "relocatable"),
            (options.debug, "debug"),
            (options.stamp_nvlink, "stamp-nvlink"),
            (
                options.suppress_stack_size_warning,
                "suppress-stack-size-warning",
            ),
            (options.extra_warnings, "extra-warnings"),
            (options.report_resources, "report-resources"),
            (options.dump_callgraph, "dump-callgraph"),
            (options.preserve_relocs, "preserve-relocs"),
            (options.keep_system_libraries, "keep-system-libraries"),
            (options.suppress_debug_info, "suppress-debug-info"),
            (options.force_rela, "force-rela"),
            (options.reserve_null_pointer, "reserve-null-pointer"),
            (options.allow_undefined_globals, "allow-undefined-globals"),
            (
                options.disable_shared_reservation,
                "disable-shared-reservation",
            ),
            (options.warnings_are_errors, "warnings-are-errors"),
            (options.self_check, "self-check"),
            (options.trace_finalizer, "trace-finalizer"),
            (options.copy_within_family, "copy-within-family"),
            (options.copy_across_families, "copy-across-families"),
            (options.cap_merc, "cap-merc"),
            (options.strict, "strict"),
            (options.strict_finalize, "strict-finalize"),
            (options.whole_program, "whole-program"),
        ] {
            if set {
                put!(out, "  option {word}\n");
            }
        }
        for (text, word) in [
            (&options.recorded_options, "recorded-options"),
            (&options.output_name, "output-name"),
        ] {
            if !text.is_empty() {
                put!(out, "  option {word} ");
                put_quoted(out, text.as_bytes());
                out.push('\n');
            }
        }
        if let Some(name) = &options.tool_name {
            put!(out, "  option tool-name ");
            put_quoted(out, name.as_bytes());
            out.push('\n');
        }
        for (list, word) in [
            (&options.kernels_used, "kernels-used"),
            (&options.variables_used, "variables-used"),
            (&options.host_kernels_external, "host-kernels-external"),
            (&options.host_kernels_internal, "host-kernels-internal"),
            (&options.host_variables_external, "host-variables-external"),
            (&options.host_variables_internal, "host-variables-internal"),
        ] {
            let Some(list) = list else { continue };
            put!(out, "  option {word}");
            for text in list {
                out.push(' ');
                put_name(out, text.as_bytes());
            }
            out.push('\n');
        }
    }

    fn object(&mut self, id: ObjectId, object: &Object<'data>) {
        let start = self.out.len();
        self.object_header(id, object);
        let body = self.out.len();
        let mut headings = 0;
        let mut group = |printer: &mut Self, name: &str, rows: &mut dyn FnMut(&mut Self)| {
            let heading = printer.out.len();
            put!(printer.out, "  {name}\n");
            let first = printer.out.len();
            rows(printer);
            if printer.out.len() == first {
                printer.out.truncate(heading);
            } else {
                headings += 1;
            }
        };
        group(self, "sections", &mut |p| {
            p.sections(object.sections.end(), Some(id))
        });
        group(self, "symbols", &mut |p| {
            p.symbols(object.symbols.end(), Some(id))
        });
        group(self, "functions", &mut |p| {
            p.functions(object.functions.end(), Some(id))
        });
        self.relocs(object.relocs.end());
        self.attributes(object.attributes.end(), Some(id));
        group(self, "calls", &mut |p| p.calls(object.calls.end()));
        group(self, "prototypes", &mut |p| {
            p.prototypes(object.prototypes.end())
        });
        self.notes(object.notes.end(), Some(id));
        if self.filter.is_some() && self.out.len() == body {
            self.out.truncate(start);
        }
    }

    fn object_header(&mut self, id: ObjectId, object: &Object<'data>) {
        let out = &mut self.out;
        put!(out, "\nobject {id} ");
        put_name(out, object.name);
        if !object.member.is_empty() {
            out.push_str(" member=");
            put_name(out, object.member);
        }
        out.push_str(" type=");
        put_known(
            out,
            words::FILE_TYPES.word(object.e_type),
            object.e_type.into(),
        );
        put!(out, " flags={:#x}", object.e_flags);
        if let Some(toolkit) = object.legacy {
            put!(out, " legacy={toolkit}");
        }
        put!(
            out,
            " state={}",
            words::OBJECT_STATES.word(object.state).unwrap_or("?")
        );
        if object.system_library {
            out.push_str(" system-library");
        }
        if object.origin != ObjectOrigin::default() {
            let origin = words::OBJECT_ORIGINS.word(object.origin);
            put!(out, " origin={}", origin.unwrap_or("?"));
        }
        if !object.image.is_empty() {
            out.push_str(" image=");
            put_digest(out, object.image);
        }
        out.push('\n');
        let start = out.len();
        out.push_str("  owns");
        let words = out.len();
        put_range(out, " ", object.sections);
        put_range(out, " ", object.symbols);
        put_range(out, " ", object.functions);
        put_range(out, " ", object.relocs);
        put_range(out, " ", object.attributes);
        put_range(out, " ", object.calls);
        put_range(out, " ", object.prototypes);
        put_range(out, " ", object.notes);
        if out.len() == words {
            out.truncate(start);
        } else {
            out.push('\n');
        }
        if self.form == DumpBytes::Full && !object.image.is_empty() {
            put_block(out, object.image, "  ");
        }
    }

    /// Rows that lie in no object's ranges.
    fn unowned(&mut self) {
        let module = self.module;
        let heading = self.out.len();
        self.out.push_str("\nunowned\n");
        let start = self.out.len();
        self.sections(module.sections.len(), None);
        self.symbols(module.symbols.len(), None);
        self.functions(module.functions.len(), None);
        self.relocs(module.relocs.len());
        self.attributes(module.attributes.len(), None);
        self.calls(module.calls.len());
        self.prototypes(module.prototypes.len());
        self.notes(module.notes.len(), None);
        self.unowned_refs();
        if self.out.len() == start {
            self.out.truncate(heading);
        }
    }

    /// Whether a filter shows an entity with this name.
    pub(super) fn shows(&self, name: &[u8]) -> bool {
        let Some(filter) = self.filter else {
            return true;
        };
        filter.names.iter().any(|part| {
            part.is_empty()
                || name
                    .windows(part.len())
                    .any(|window| window == part.as_bytes())
        })
    }

    pub(super) fn shows_section(&self, id: SectionId) -> bool {
        self.filter.is_none() || self.shows(section_name(self.module, id))
    }

    pub(super) fn shows_symbol(&self, id: SymbolId) -> bool {
        self.filter.is_none() || self.shows(symbol_name(self.module, id))
    }

    pub(super) fn shows_function(&self, id: FunctionId) -> bool {
        self.filter.is_none() || self.shows(function_name(self.module, id))
    }

    pub(super) fn shows_target(&self, target: SymbolRef) -> bool {
        match target {
            SymbolRef::None => self.filter.is_none(),
            SymbolRef::Symbol(id) => self.shows_symbol(id),
            SymbolRef::Section(id) => self.shows_section(id),
        }
    }

    fn put_annotated(&mut self, id: impl std::fmt::Display, name: &[u8]) {
        put!(self.out, "{id}");
        if !name.is_empty() {
            self.out.push(':');
            put_name(&mut self.out, name);
        }
    }

    pub(super) fn put_section(&mut self, id: SectionId) {
        self.put_annotated(id, section_name(self.module, id));
    }

    pub(super) fn put_symbol(&mut self, id: SymbolId) {
        self.put_annotated(id, symbol_name(self.module, id));
    }

    pub(super) fn put_function(&mut self, id: FunctionId) {
        self.put_annotated(id, function_name(self.module, id));
    }

    pub(super) fn put_link(&mut self, id: LinkSymbolId) {
        self.put_annotated(id, link_name(self.module, id));
    }

    pub(super) fn put_target(&mut self, target: SymbolRef) {
        match target {
            SymbolRef::None => self.out.push_str("none"),
            SymbolRef::Symbol(id) => self.put_symbol(id),
            SymbolRef::Section(id) => self.put_section(id),
        }
    }
}

/// The name of a section; empty for an id that is none.
pub(super) fn section_name<'data>(module: &Module<'data>, id: SectionId) -> &'data [u8] {
    module.sections.get(id).map_or(b"", |row| row.name)
}

/// The name of a symbol; empty for an id that is none.
pub(super) fn symbol_name<'data>(module: &Module<'data>, id: SymbolId) -> &'data [u8] {
    module.symbols.get(id).map_or(b"", |row| row.name)
}

/// The name of a function; empty for an id that is none.
pub(super) fn function_name<'data>(module: &Module<'data>, id: FunctionId) -> &'data [u8] {
    module
        .functions
        .get(id)
        .map_or(b"", |row| symbol_name(module, row.symbol))
}

/// The name of a link symbol; empty for an id that is none.
pub(super) fn link_name<'data>(module: &Module<'data>, id: LinkSymbolId) -> &'data [u8] {
    module
        .link_symbols
        .get(id)
        .map_or(b"", |row| symbol_name(module, row.first))
}

/// Appends a word, or the number that has none.
pub(super) fn put_known(out: &mut String, word: Option<&str>, number: u64) {
    match word {
        Some(word) => out.push_str(word),
        None => put!(out, "{number:#x}"),
    }
}

/// Appends a range unless it is the default one.
pub(super) fn put_range<K: EntityId>(out: &mut String, key: &str, range: IdRange<K>) {
    if range != IdRange::default() {
        put!(out, "{key}{}{}..{}", K::PREFIX, range.start(), range.end());
    }
}

/// Appends a signed number in hex.
pub(super) fn put_signed(out: &mut String, value: i64) {
    let sign = if value < 0 { "-" } else { "" };
    put!(out, "{sign}{:#x}", value.unsigned_abs());
}
