//! Sections of the objects that the SASS view is made of, found in one walk.

use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::Reloc;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// What is asked for of the objects' sections.
pub(super) struct Inputs {
    /// The parameters of each kernel, by function.
    pub(super) parameters: Vec<Option<SectionId>>,
    /// The relocations of each function's Mercury code, by function.
    pub(super) mercury_relocs: Vec<Option<SectionId>>,
    /// The relocations of each function's SASS, by function.
    pub(super) sass_relocs: Vec<Option<SectionId>>,
    /// The constants of each function in the Mercury view of its object.
    pub(super) constant_twins: HashMap<FunctionId, SectionId, FixedState>,
    /// Debug sections of the Mercury view of included objects that have a place.
    pub(super) mercury_debug: Vec<SectionId>,
    /// Relocations of the SASS view of included objects, each with what it applies to.
    pub(super) sass_rows: Vec<(SectionId, SectionId)>,
    /// Debug sections of the SASS view of included objects.
    debug: Vec<SectionId>,
    /// Debug sections of the SASS view with their relocations, sorted.
    debug_relocs: Vec<(SectionId, SectionId)>,
}

impl Inputs {
    pub(super) fn new(module: &Module<'_>) -> Self {
        let functions = module.functions.len();
        let mut found = Inputs {
            parameters: vec![None; functions],
            mercury_relocs: vec![None; functions],
            sass_relocs: vec![None; functions],
            constant_twins: HashMap::default(),
            mercury_debug: Vec::new(),
            sass_rows: Vec::new(),
            debug: Vec::new(),
            debug_relocs: Vec::new(),
        };
        for (_, object) in module.objects.iter() {
            let is_included = object.state.is_included();
            for id in object.sections.iter() {
                found.add(module, id, is_included);
            }
        }
        found.debug_relocs.sort_unstable();
        found
    }

    fn add(&mut self, module: &Module<'_>, id: SectionId, is_included: bool) {
        let section = &module.sections[id];
        let patched = || match section.info {
            SectionInfo::Section(patched) => Some((patched, module.sections[patched].kind)),
            _ => None,
        };
        match section.kind {
            SectionKind::MercuryTwin => {
                if let Some(owner) = section.owner {
                    self.constant_twins.insert(owner, id);
                }
            }
            SectionKind::SassParameters => {
                if let Some(owner) = section.owner {
                    self.parameters[owner.index()] = Some(id);
                }
            }
            SectionKind::Relocs => {
                if let (Some(owner), Some((_, SectionKind::MercuryText))) =
                    (section.owner, patched())
                {
                    self.mercury_relocs[owner.index()] = Some(id);
                }
            }
            SectionKind::SassRelocs => {
                let Some((patched, kind)) = patched() else {
                    return;
                };
                if is_included {
                    self.sass_rows.push((id, patched));
                }
                match (section.owner, kind) {
                    (Some(owner), SectionKind::Text) => {
                        self.sass_relocs[owner.index()] = Some(id);
                    }
                    (_, SectionKind::Debug) if is_included => {
                        self.debug_relocs.push((patched, id));
                    }
                    _ => {}
                }
            }
            SectionKind::Debug if is_included => self.debug.push(id),
            SectionKind::MercuryDebug if is_included && section.place.is_some() => {
                self.mercury_debug.push(id);
            }
            _ => {}
        }
    }

    /// Returns the debug sections of the SASS view of a name, each with its rows.
    pub(super) fn debug_sections<'m>(
        &self,
        module: &'m Module<'_>,
        name: &[u8],
    ) -> Vec<(SectionId, &'m [Reloc])> {
        let rows_of = |id: SectionId| {
            let after = self
                .debug_relocs
                .partition_point(|(patched, _)| *patched <= id);
            match after.checked_sub(1).map(|last| self.debug_relocs[last]) {
                Some((patched, relocs)) if patched == id => {
                    &module.relocs[module.sections[relocs].relocs]
                }
                _ => &[],
            }
        };
        let named = self.debug.iter().copied();
        let named = named.filter(|id| module.sections[*id].name == name);
        named.map(|id| (id, rows_of(id))).collect()
    }
}
