//! `classify`: sections and symbols get their kinds.
//!
//! A section's kind comes from its type and name; the function that owns it from its header: code
//! from the symbol defined in it, other per-function sections and relocation
//! sections from the section that `sh_info` names. A function's register count comes from its
//! REGCOUNT record.
//!
//! Refused: what this linker would otherwise drop unseen.

mod headers;
mod records;
mod refused;
mod rows;
mod section_names;
mod shadowed;
mod shared_rows;
mod symbols;

use std::any::TypeId;

use cuweld_elf::target::attributes;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::constant_bank;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::Function;
use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::Object;
use cuweld_ir::Phase;
use cuweld_ir::Section;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolRef;
use cuweld_ir::Views;
use cuweld_ir::table::PartMut;

pub(crate) mod mercury;

use crate::analyses::Kinds;
use crate::analyses::Preserved;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::PassInfo;
use crate::threads::Work;
use refused::Found;
use rows::Rows;
use rows::Shared;

/// The `classify` pass.
#[derive(Debug, Default)]
pub struct Classify;

impl Pass for Classify {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "classify",
            summary: "Give every section its kind and its owner, and every function its register count",
            doc: include_str!("classify.rs"),
            requires: Phase::Lowered,
            establishes: Some(Phase::Classified),
            preserves: Preserved::Only(&[TypeId::of::<Kinds>]),
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        let found = kinds(module, cx);
        refused::refuse(module, found, cx)?;
        if module.is_capmerc()
            && let Some(note) = shared_rows::share_rows(module)
        {
            cx.diagnostics.emit(note);
        }
        cx.statistics.add("sections", module.sections.len() as u64);
        cx.statistics
            .add("functions", module.functions.len() as u64);
        Ok(Changed::Yes)
    }
}

/// Returns the kind of a section, from its type, flags and name.
fn kind(section: &Section<'_>) -> SectionKind {
    let name = section.name;
    let is_owned = section.flags.contains(SectionFlags::INFO_LINK)
        || matches!(section.info, SectionInfo::Section(_));
    match section.ty {
        sht::NULL => SectionKind::Null,
        sht::SYMTAB => SectionKind::Symbols,
        sht::SYMTAB_SHNDX => SectionKind::SymbolSectionIndices,
        sht::STRTAB if name == b".shstrtab" => SectionKind::SectionNames,
        sht::STRTAB => SectionKind::SymbolNames,
        sht::REL | sht::RELA => SectionKind::Relocs,
        sht::NOTE if name == b".note.nv.tkinfo" => SectionKind::ToolInfo,
        // [note-of-either-name]
        sht::NOTE if matches!(name, b".note.nv.cuinfo" | b".note.nv.cuver") => {
            SectionKind::CudaInfo
        }
        sht::CUDA_INFO if is_owned => SectionKind::FunctionInfo,
        sht::CUDA_INFO => SectionKind::Info,
        sht::CUDA_COMPAT => SectionKind::Compat,
        sht::CUDA_CALLGRAPH => SectionKind::CallGraph,
        sht::CUDA_PROTOTYPE => SectionKind::Prototypes,
        sht::CUDA_RELOCINFO => SectionKind::RelAction,
        // [preserved-rows-ignored]
        sht::CUDA_RESOLVED_RELA => SectionKind::Stripped,
        sht::CUDA_GLOBAL => SectionKind::Global,
        sht::CUDA_GLOBAL_INIT => SectionKind::GlobalInit,
        sht::CUDA_LOCAL => SectionKind::Local,
        sht::CUDA_SHARED_RESERVED => SectionKind::ReservedShared,
        sht::CUDA_SHARED if is_owned => SectionKind::KernelShared,
        sht::CUDA_SHARED => SectionKind::ModuleShared,
        // The stub of a function in the unified table.
        sht::CUDA_UNIFIED_FUNCTION if section.flags.contains(SectionFlags::EXECINSTR) => {
            SectionKind::Text
        }
        _ if name.starts_with(b".nv.uft") || name.starts_with(b".nv.udt") => SectionKind::Unified,
        _ if section.flags.contains(SectionFlags::EXECINSTR) => SectionKind::Text,
        ty => match constant_bank(ty) {
            Some(bank) if is_owned => SectionKind::FunctionConstants(bank),
            Some(bank) => SectionKind::ConstantBank(bank),
            None if ty == sht::PROGBITS
                && (name.starts_with(b".debug_") || name.starts_with(b".nv_debug_")) =>
            {
                SectionKind::Debug
            }
            None => SectionKind::Other,
        },
    }
}

/// Some objects with the rows that are theirs alone.
struct Part<'p, 'data> {
    objects: &'p [Object<'data>],
    sections: PartMut<'p, SectionId, Section<'data>>,
    functions: PartMut<'p, FunctionId, Function>,
    /// The findings about unsupported rows.
    found: Found,
    /// The kinds that the sections have got.
    kinds: Vec<SectionKind>,
    /// The relocation sections of an object.
    second: Vec<SectionId>,
    /// The functions of an object that the headers of their code do not name.
    unnamed: Vec<(FunctionId, Views)>,
}

/// Gives sections kinds and owners and functions what their records say, object by object: no row
/// of one refers to another. Unsupported rows of an object are looked for while its rows are at
/// hand.
fn kinds(module: &mut Module<'_>, cx: &mut PassCx<'_, '_>) -> Vec<Found> {
    let rows = module.sections.len() + module.symbols.len();
    let rows = rows + module.relocs.len() + module.attributes.len();
    let work = Work::Rows(rows);
    let capmerc = module.is_capmerc();
    let Module {
        objects,
        sections,
        symbols,
        functions,
        relocs,
        attributes,
        attribute_refs,
        calls,
        prototypes,
        toolkit,
        target,
        options,
        ..
    } = module;
    let shared = Shared {
        capmerc,
        relocatable: options.relocatable,
        is_mercury: target.is_mercury(),
        toolkit,
        target,
        symbols,
        relocs,
        attributes,
        attribute_refs,
        calls,
        prototypes,
    };
    let objects = objects.values().as_slice();
    let size = objects.len().div_ceil(cx.threads.tasks(work)).max(1);
    let chunks = || objects.chunks(size);
    let ends = |end: fn(&Object<'_>) -> usize| {
        // An object without rows has a range anywhere.
        chunks().map(move |objects| objects.iter().map(end).max().unwrap_or(0))
    };
    let of_sections = sections.parts_mut(ends(|object| object.sections.end()));
    let of_functions = functions.parts_mut(ends(|object| object.functions.end()));
    let parts = chunks().zip(of_sections).zip(of_functions);
    let mut parts: Vec<Part<'_, '_>> = parts
        .map(|((objects, sections), functions)| Part {
            objects,
            sections,
            functions,
            found: Found::default(),
            kinds: Vec::new(),
            second: Vec::new(),
            unnamed: Vec::new(),
        })
        .collect();
    match &mut parts[..] {
        [part] if part.objects.len() == 1 => part.classify(&shared, |found, rows, object| {
            found.large_object(rows, object, cx.threads, work);
        }),
        parts => {
            let classify = |part: &mut Part<'_, '_>| part.classify(&shared, Found::object);
            cx.threads.for_each(work, parts, classify);
        }
    }
    let mut found = Vec::with_capacity(parts.len());
    let mut kinds = Vec::with_capacity(parts.len());
    for part in parts {
        kinds.push((part.kinds, part.found.has_shared()));
        found.push(part.found);
    }
    cx.analyses.set(Kinds::of_parts(kinds));
    found
}

impl Part<'_, '_> {
    /// Classifies the sections and functions of each object, and calls `look` for the object.
    fn classify(
        &mut self,
        shared: &Shared<'_, '_>,
        look: impl Fn(&mut Found, &Rows<'_, '_>, &Object<'_>),
    ) {
        self.kinds.reserve(self.sections.len());
        for object in self.objects {
            self.kinds(object, shared);
            let rows = Rows {
                sections: self.sections.as_part(),
                functions: self.functions.as_part(),
                shared: *shared,
            };
            look(&mut self.found, &rows, object);
        }
    }

    /// Gives the rows of an object what they are.
    fn kinds(&mut self, object: &Object<'_>, shared: &Shared<'_, '_>) {
        let sections = self.sections.range_mut(object.sections);
        for section in &mut *sections {
            section.kind = match shared.capmerc.then(|| mercury::kind(section)).flatten() {
                Some(kind) => kind,
                None if mercury::is_left_out(object, section) => SectionKind::Stripped,
                None => kind(section),
            };
        }
        let kinds = sections.iter().map(|section| section.kind);
        self.kinds.extend(kinds);
        self.functions(object, shared);
        self.owners(object);
        for attribute in &shared.attributes[object.attributes] {
            let is_limit = match attribute.code {
                attributes::REGCOUNT => false,
                attributes::MAX_STACK_SIZE => true,
                _ => continue,
            };
            if let Some(SymbolRef::Symbol(symbol)) = shared.refs(attribute).first()
                && let Some(function) = shared.symbols[*symbol].function
                && let Some(function) = self.functions.get_mut(function)
                && let Some(count) = attribute.word(0)
            {
                match is_limit {
                    true => function.stack_limit = count,
                    false => function.registers = count,
                }
            }
        }
    }

    /// Gives the functions of an object their code.
    fn functions(&mut self, object: &Object<'_>, shared: &Shared<'_, '_>) {
        for id in object.functions.iter() {
            let Some(function) = self.functions.get_mut(id) else {
                continue;
            };
            if shared.is_mercury && !shared.capmerc {
                // nvlink warns of it; what is linked is the SASS of all objects.
                function.views.merc = None;
            }
            let Some(section) = self.sections.get(function.views.sass.text) else {
                continue;
            };
            function.flag_barriers = section.flags.barriers();
            // The function is the one that the header of the code names, others are aliases of it
            // [function-aliases].
            let own = function.symbol;
            let is_named =
                matches!(section.info, SectionInfo::Symbol { symbol, .. } if symbol == own);
            let views = function.views;
            match is_named {
                true => self.own_code(id, views),
                false => self.unnamed.push((id, views)),
            }
        }
        let mut unnamed = std::mem::take(&mut self.unnamed);
        for (id, views) in unnamed.drain(..) {
            self.own_code(id, views);
        }
        self.unnamed = unnamed;
    }

    /// Makes a function the owner of its code, if that has none yet.
    fn own_code(&mut self, id: FunctionId, views: Views) {
        if let Some(merc) = views.merc
            && let Some(section) = self.sections.get_mut(merc.text)
            && section.kind == SectionKind::MercuryText
        {
            section.owner.get_or_insert(id);
        }
        if let Some(section) = self.sections.get_mut(views.sass.text)
            && section.kind == SectionKind::Text
        {
            section.owner.get_or_insert(id);
        }
    }

    /// Gives the sections of an object, whose code has its functions, those of what they belong to.
    fn owners(&mut self, object: &Object<'_>) {
        // Relocation sections come second: their target may be owned only since the first round.
        let mut second = std::mem::take(&mut self.second);
        for id in object.sections.iter() {
            match self.sections.get(id).map(|section| section.kind) {
                Some(SectionKind::Relocs | SectionKind::SassRelocs) => second.push(id),
                Some(SectionKind::CudaInfo) | None => {}
                Some(_) => self.owner(id),
            }
        }
        second.drain(..).for_each(|id| self.owner(id));
        self.second = second;
    }

    /// Gives a section the owner of what it belongs to.
    fn owner(&mut self, id: SectionId) {
        let Some(section) = self.sections.get(id) else {
            return;
        };
        let SectionInfo::Section(target) = section.info else {
            return;
        };
        let owner = self.sections.get(target).and_then(|target| target.owner);
        let Some(section) = self.sections.get_mut(id) else {
            return;
        };
        section.owner = owner;
        let Some(function) = owner.and_then(|owner| self.functions.get_mut(owner)) else {
            return;
        };
        let views = &mut function.views;
        match section.kind {
            SectionKind::FunctionInfo if section.flags.contains(SectionFlags::MERCURY) => {
                if let Some(merc) = &mut views.merc {
                    merc.info = Some(id);
                }
            }
            SectionKind::FunctionInfo | SectionKind::SassFunctionInfo => {
                views.sass.info = Some(id);
            }
            _ => {}
        }
    }
}
