//! What makes two functions the same.

use std::borrow::Cow;

use cuweld_elf::target::relocs::RelocClass;
use cuweld_elf::target::relocs::reloc_type;
use cuweld_ir::CallKind;
use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolRef;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// What a reference in a function is to, whichever object it stands in.
#[derive(PartialEq, Eq, Hash)]
enum Target {
    Nothing,
    /// The function itself, by its symbol.
    Own,
    /// The function itself, by its section.
    OwnSection,
    Link(LinkSymbolId),
    Section(SectionId),
}

/// All of a function that the output shows or the linker uses.
#[derive(PartialEq, Eq, Hash)]
struct Identity<'data> {
    code: Cow<'data, [u8]>,
    header: (u64, u64, u32, u8),
    relocs: Vec<(u64, u32, i64, Target)>,
    records: Vec<Record<'data>>,
    calls: Vec<(CallKind, Target, &'data [u8])>,
}

/// An attribute record.
#[derive(PartialEq, Eq, Hash)]
struct Record<'data> {
    header: (u8, u8, u16),
    targets: Vec<Target>,
    rest: &'data [u8],
}

/// The functions that were seen, by what they are.
pub(super) struct Identities<'data> {
    seen: HashMap<Identity<'data>, LinkSymbolId, FixedState>,
    /// Functions that may not be folded, by resolved symbol.
    apart: Vec<bool>,
    /// Sections with rows for each function's code.
    relocs: Vec<Vec<SectionId>>,
    /// Records of `.nv.info` that name each function.
    records: Vec<Vec<cuweld_ir::AttributeId>>,
    /// Rows of `.nv.callgraph` of each function.
    calls: Vec<Vec<cuweld_ir::CallId>>,
}

impl<'data> Identities<'data> {
    pub(super) fn new(module: &Module<'data>) -> Self {
        let functions = module.functions.len();
        let mut identities = Identities {
            seen: HashMap::default(),
            apart: kept_apart(module),
            relocs: vec![Vec::new(); functions],
            records: vec![Vec::new(); functions],
            calls: vec![Vec::new(); functions],
        };
        let function = |symbol: SymbolRef| module.symbols[symbol.symbol()?].function;
        for (id, section) in module.sections.iter() {
            match (section.kind, section.owner) {
                (SectionKind::Relocs, Some(owner)) => identities.relocs[owner.index()].push(id),
                (SectionKind::Info, _) => {
                    for record in section.attributes.iter() {
                        let refs = module.refs(&module.attributes[record]);
                        if let Some(owner) = refs.first().copied().and_then(function) {
                            identities.records[owner.index()].push(record);
                        }
                    }
                }
                _ => {}
            }
        }
        for (id, call) in module.calls.iter() {
            if let Some(owner) = function(call.from) {
                identities.calls[owner.index()].push(id);
            }
        }
        identities
    }

    /// Takes a function whose callees were taken. Returns the first that does the same, which may
    /// be itself.
    pub(super) fn insert(
        &mut self,
        module: &Module<'data>,
        link: LinkSymbolId,
        class: &[LinkSymbolId],
    ) -> LinkSymbolId {
        match module.link_function(link) {
            Some(function) if !self.apart[link.index()] => {
                let identity = self.identity(module, function, class);
                *self.seen.entry(identity).or_insert(link)
            }
            _ => link,
        }
    }

    fn identity(
        &self,
        module: &Module<'data>,
        id: FunctionId,
        class: &[LinkSymbolId],
    ) -> Identity<'data> {
        let function = &module.functions[id];
        let text = &module.sections[function.views.sass.text];
        let high = match text.info {
            SectionInfo::Symbol { high, .. } => high,
            _ => 0,
        };
        let own = module.symbols[function.symbol].link;
        let target = |reference: SymbolRef| match reference {
            SymbolRef::None => Target::Nothing,
            SymbolRef::Symbol(symbol) => match module.symbols[symbol].link {
                link if link == own => Target::Own,
                Some(link) => Target::Link(class[link.index()]),
                None => Target::Nothing,
            },
            SymbolRef::Section(section) if module.sections[section].owner == Some(id) => {
                Target::OwnSection
            }
            SymbolRef::Section(section) => Target::Section(section),
        };
        let mut relocs: Vec<_> = Vec::new();
        for section in &self.relocs[id.index()] {
            for row in &module.relocs[module.sections[*section].relocs] {
                relocs.push((row.offset, row.ty, row.addend, target(row.target)));
            }
        }
        let own_info = function.views.sass.info;
        let of_function = own_info
            .into_iter()
            .flat_map(|info| module.sections[info].attributes.iter());
        let records = of_function.chain(self.records[id.index()].iter().copied());
        let records = records.map(|record| {
            let record = &module.attributes[record];
            let refs = module.refs(record).iter();
            Record {
                header: (record.format, record.code, record.value),
                targets: refs.map(|row| target(*row)).collect(),
                rest: record.rest,
            }
        });
        let calls = self.calls[id.index()].iter().map(|call| {
            let call = &module.calls[*call];
            (call.kind, target(call.to), call.prototype)
        });
        Identity {
            code: module.patched_bytes(function.views.sass.text),
            header: (text.align, text.flags.into(), function.registers, high),
            relocs,
            records: records.collect(),
            calls: calls.collect(),
        }
    }
}

/// Returns `true` for each resolved symbol that is not a function that may be folded.
fn kept_apart(module: &Module<'_>) -> Vec<bool> {
    let mut apart: Vec<bool> = module
        .link_symbols
        .ids()
        .map(|link| {
            let function = module.link_function(link);
            function.is_none_or(|id| module.symbols[module.functions[id].symbol].is_entry())
        })
        .collect();
    let mut keep = |target: SymbolRef| {
        let symbol = match target {
            SymbolRef::None => None,
            SymbolRef::Symbol(symbol) => Some(symbol),
            SymbolRef::Section(section) => module.sections[section]
                .owner
                .map(|owner| module.functions[owner].symbol),
        };
        if let Some(link) = symbol.and_then(|symbol| module.symbols[symbol].link) {
            apart[link.index()] = true;
        }
    };
    for call in module.calls.values() {
        match call.kind {
            CallKind::AddressTaken => keep(call.from),
            CallKind::TakesAddress => keep(call.to),
            CallKind::Direct | CallKind::Indirect => {}
        }
    }
    for row in module.relocs.values() {
        let SectionInfo::Section(patched) = module.sections[row.section].info else {
            continue;
        };
        let is_descriptor = reloc_type(row.ty)
            .is_some_and(|row| matches!(row.class, RelocClass::FunctionDescriptor));
        let patched = &module.sections[patched];
        // Code of others cannot name a function's section; frames and line tables may.
        let by_section = matches!(row.target, SymbolRef::Section(section)
            if module.sections[section].owner != patched.owner);
        let keeps = match patched.kind {
            SectionKind::Text => is_descriptor || by_section,
            SectionKind::Debug | SectionKind::Stripped => false,
            _ => true,
        };
        if keeps {
            keep(row.target);
        }
    }
    for (id, section) in module.sections.iter() {
        let Some(owner) = section.owner else { continue };
        let is_plain = match section.kind {
            SectionKind::Text => module.functions[owner].views.sass.text == id,
            SectionKind::FunctionInfo | SectionKind::Relocs | SectionKind::Stripped => true,
            _ => false,
        };
        if !is_plain {
            keep(SymbolRef::Symbol(module.functions[owner].symbol));
        }
    }
    // The calls of a copy that was replaced stay in the call graph.
    for (replaced, _) in module.replaced_functions() {
        keep(SymbolRef::Symbol(module.functions[replaced].symbol));
    }
    apart
}
