//! The rows of objects while some of them get their kinds.

use cuweld_elf::target::Target;
use cuweld_elf::toolkit::Toolkit;
use cuweld_ir::Attribute;
use cuweld_ir::AttributeId;
use cuweld_ir::CallId;
use cuweld_ir::Function;
use cuweld_ir::FunctionId;
use cuweld_ir::PrototypeId;
use cuweld_ir::Reloc;
use cuweld_ir::RelocId;
use cuweld_ir::Section;
use cuweld_ir::SectionId;
use cuweld_ir::Symbol;
use cuweld_ir::SymbolId;
use cuweld_ir::SymbolRef;
use cuweld_ir::callgraph_record::CallRecord;
use cuweld_ir::callgraph_record::PrototypeRecord;
use cuweld_ir::table::Part;
use cuweld_ir::table::PrimaryMap;

/// The tables that `classify` only reads.
#[derive(Clone, Copy)]
pub(super) struct Shared<'m, 'data> {
    /// [`cuweld_ir::Module::is_capmerc`], which looks at every object.
    pub(super) capmerc: bool,
    pub(super) is_mercury: bool,
    /// The output is relocatable.
    pub(super) relocatable: bool,
    pub(super) toolkit: &'static Toolkit,
    pub(super) target: &'m Target,
    pub(super) symbols: &'m PrimaryMap<SymbolId, Symbol<'data>>,
    pub(super) relocs: &'m PrimaryMap<RelocId, Reloc>,
    pub(super) attributes: &'m PrimaryMap<AttributeId, Attribute<'data>>,
    pub(super) attribute_refs: &'m [SymbolRef],
    pub(super) calls: &'m PrimaryMap<CallId, CallRecord<'data>>,
    pub(super) prototypes: &'m PrimaryMap<PrototypeId, PrototypeRecord<'data>>,
}

impl<'m> Shared<'m, '_> {
    /// Returns the references of an attribute.
    pub(super) fn refs(&self, attribute: &Attribute<'_>) -> &'m [SymbolRef] {
        let range = attribute.refs.start as usize..attribute.refs.end as usize;
        self.attribute_refs.get(range).unwrap_or(&[])
    }
}

/// The rows of some objects that have their kinds.
#[derive(Clone, Copy)]
pub(super) struct Rows<'m, 'data> {
    pub(super) sections: Part<'m, SectionId, Section<'data>>,
    pub(super) functions: Part<'m, FunctionId, Function>,
    pub(super) shared: Shared<'m, 'data>,
}

impl<'data> Rows<'_, 'data> {
    /// Returns the name of a function.
    pub(super) fn function_name(&self, function: FunctionId) -> &'data [u8] {
        self.shared.symbols[self.functions[function].symbol].name
    }
}
