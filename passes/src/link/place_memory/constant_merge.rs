//! Equal contributions to `.nv.constant3` [equal-constants-merged] (deviation D02).
//!
//! While nvlink leaves kernels out because no host code refers to them, it stores whole input
//! sections of some sizes only once, but leaves the values of their variables and all code as if
//! each had its own place: what follows a merged section is read at the wrong address. We keep
//! every contribution (D02) unless `strict` asks for nvlink's bytes. Either way the last section
//! that was looked up shows in the null symbol.

use cuweld_elf::align::align_up;
use cuweld_elf::behaviours::constants;
use cuweld_ir::Module;
use cuweld_ir::ObjectId;
use cuweld_ir::SectionContent;
use cuweld_ir::SectionId;
use cuweld_ir::SectionKind;
use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::analyses::value_tables::has_table;
use crate::analyses::value_tables::is_empty_value;

/// The bank whose sections are merged [equal-constants-merged].
pub(crate) const BANK: u8 = 3;

/// What nvlink would do.
#[derive(Debug, Default)]
pub(crate) struct ConstantMerge {
    /// Size in bytes of what is stored.
    pub size: u64,
    /// The value of the null symbol, if a section is looked up.
    pub null_symbol: Option<u64>,
    /// Sections that are not stored, each with the one before it that has its bytes.
    pub merged: Vec<(SectionId, SectionId)>,
    /// Offset in bytes at which each section is stored, if that is not its place.
    pub moved: HashMap<SectionId, Option<u64>, FixedState>,
}

impl ConstantMerge {
    /// Looks up every contribution in link order. Linear in the sections and their bytes.
    pub fn new(module: &Module<'_>) -> Self {
        let mut merge = ConstantMerge::default();
        if !is_active(module) {
            return merge;
        }
        let mut known: HashMap<(u64, &[u8]), SectionId, FixedState> = HashMap::default();
        for (_, object) in module.included_objects() {
            for id in object.sections.iter() {
                let section = &module.sections[id];
                let (SectionKind::ConstantBank(BANK), SectionContent::Bytes(bytes)) =
                    (section.kind, &section.content)
                else {
                    continue;
                };
                if !module.is_section_linked(id) || bytes.is_empty() {
                    continue;
                }
                let looked_up = has_table(bytes.len() as u64, section.align);
                let zero = is_empty_value(bytes);
                if looked_up
                    && !zero
                    && let Some(first) = known.get(&(section.align, *bytes))
                {
                    merge.merged.push((id, *first));
                    merge.moved.insert(id, None);
                    continue;
                }
                let at = align_up(merge.size, section.align);
                merge.size = at.saturating_add(section.size());
                if section.place != Some(at) {
                    merge.moved.insert(id, Some(at));
                }
                if looked_up {
                    merge.null_symbol = Some(at);
                    known.entry((section.align, bytes)).or_insert(id);
                }
            }
        }
        merge
    }

    /// Returns the objects of a merged section and of the one that has its bytes.
    pub fn objects(&self, module: &Module<'_>) -> Option<(ObjectId, ObjectId)> {
        let (merged, first) = self.merged.first()?;
        Some((
            module.sections[*merged].object,
            module.sections[*first].object,
        ))
    }
}

/// Returns `true` if kernels are left out of this link, and the linker looks constants up.
pub(crate) fn is_active(module: &Module<'_>) -> bool {
    let options = &module.options;
    let named = |list: &Option<Vec<String>>| list.as_ref().is_some_and(|list| !list.is_empty());
    let shows_debug = options.debug && !options.suppress_debug_info;
    module.toolkit.has(&constants::EQUAL_CONSTANTS_MERGED)
        && !shows_debug
        && !options.relocatable
        && (options.host.kernels_external.is_some()
            || named(&options.host.kernels_used)
            || named(&options.host.variables_used))
}
