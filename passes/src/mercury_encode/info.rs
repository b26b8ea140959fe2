//! `.nv.info.F` of the SASS view, derived from the list of the Mercury view (`mercury.md` section 5).

use cuweld_ir::Attribute;
use cuweld_ir::AttributeId;
use cuweld_ir::FunctionId;
use cuweld_ir::SectionId;
use cuweld_ir::attribute::format;
use cuweld_ir::elf::encode::append_attribute;
use cuweld_ir::plan::PlanContent;
use cuweld_ir::table::EntityId;
use cuweld_ir::target::attributes;
use cuweld_ir::target::section_types::shf;
use cuweld_ir::target::section_types::sht;

use super::Encode;
use super::Refusal;

/// Records that only the SASS view has, at the end of its lists.
fn is_sass_only(code: u8) -> bool {
    matches!(
        code,
        attributes::CBANK_PARAM_SIZE
            | attributes::PARAM_CBANK
            | attributes::SW_WAR
            | attributes::AFTER_13_0_88
    )
}

/// Record of the Mercury view, record of the SASS view.
type Pair = (AttributeId, AttributeId);

impl<'data> Encode<'_, 'data> {
    /// Makes the lists of the SASS view: the records of the Mercury view but for the finalizer's options,
    /// with the offsets that count in SASS, then the records that only SASS has.
    pub(super) fn sass_infos(&mut self) {
        let mut lists = vec![None; self.module.functions.len()];
        for (index, list) in self.module.merged_info.iter().enumerate() {
            if let Some(function) = list.function {
                lists[function.index()] = Some(index);
            }
        }
        let parameters = self.parameter_symbols_by_function();
        let (mut pairs, mut bytes) = (Vec::new(), Vec::new());
        for index in 0..self.view {
            let section = &self.plan.sections[index];
            if section.ty != sht::CUDA_INFO || section.flags & shf::INFO_LINK == 0 {
                continue;
            }
            let (PlanContent::Bytes(merged), Some(Some(function))) = (
                section.content.clone(),
                self.functions.get(section.info as usize).copied(),
            ) else {
                continue;
            };
            let Some(list) = lists[function.index()] else {
                continue;
            };
            let symbol = parameters[function.index()];
            let records = &self.module.merged_info[list].records;
            let derived = self.twins(function, &mut pairs).and_then(|sass| {
                bytes.clear();
                self.derived(
                    (function, records, merged),
                    &pairs,
                    sass,
                    symbol,
                    &mut bytes,
                )
            });
            match derived {
                Ok(()) => {
                    let section = &mut self.plan.sections[index];
                    section.size = bytes.len() as u64;
                    section.content = PlanContent::Bytes(self.arena.bytes(&bytes));
                }
                Err(refusal) => self.refusals.push(refusal),
            }
        }
    }

    /// Appends the list of the SASS view of a function: `merged` holds the records as they were written for the
    /// Mercury view, `sass` is the list of the object, `parameters` is the symbol of the kernel's parameters.
    fn derived(
        &self,
        (function, records, merged): (FunctionId, &[AttributeId], &'data [u8]),
        pairs: &[Pair],
        sass: SectionId,
        parameters: u32,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let attributes = &self.module.attributes;
        let mut rest = merged;
        // Records mostly stand in the order of the object.
        let mut next = 0;
        for id in records {
            let record = &attributes[*id];
            let Some((bytes, after)) = rest.split_at_checked(length(record)) else {
                return Err(Refusal::new("an attribute list of another length", None));
            };
            rest = after;
            if record.code == attributes::MERCURY_FINALIZER_OPTIONS {
                continue;
            }
            let place = match pairs.get(next) {
                Some((merc, _)) if merc == id => Some(next),
                _ => pairs.binary_search_by_key(id, |(merc, _)| *merc).ok(),
            };
            if let Some(place) = place {
                next = place + 1;
            }
            match place.and_then(|place| pairs.get(place)) {
                Some((_, sass)) if record.refs.is_empty() => {
                    append_attribute(out, &attributes[*sass], &[]);
                }
                _ => out.extend_from_slice(bytes),
            }
        }
        let records = &attributes[self.module.sections[sass].attributes];
        for record in records.iter().filter(|record| is_sass_only(record.code)) {
            let refs: &[u32] = match record.code {
                attributes::PARAM_CBANK => &[parameters],
                _ => &[],
            };
            if refs.len() != record.refs.len() {
                return Err(Refusal::new("an attribute that names another symbol", None));
            }
            append_attribute(out, record, refs);
        }
        if self.module.functions[function].header_kinds != 0 {
            // The bank of slots of textures and of surfaces (measured).
            for code in [
                attributes::BINDLESS_TEXTURE_BANK,
                attributes::BINDLESS_SURFACE_BANK,
            ] {
                out.extend_from_slice(&[format::BVAL, code, 0, 0]);
            }
        }
        Ok(())
    }

    /// Pairs the records of a function's lists in the two views of its object, in order, but for those that one view has alone.
    /// Returns the list of the SASS view.
    fn twins(&self, function: FunctionId, pairs: &mut Vec<Pair>) -> Result<SectionId, Refusal> {
        pairs.clear();
        let views = self.module.functions[function].views;
        let text = views.sass.text;
        let (Some(sass), Some(Some(merc))) = (views.sass.info, views.merc.map(|view| view.info))
        else {
            return Err(Refusal::new(
                "a function without attributes in a view",
                text,
            ));
        };
        let of = |section: SectionId| {
            let range = self.module.sections[section].attributes;
            range.iter().zip(&self.module.attributes[range])
        };
        let is_version =
            |(_, record): (_, &Attribute<'_>)| record.code == attributes::MERCURY_ISA_VERSION;
        // nvlink adds the record.
        if !of(merc).any(is_version) {
            let what = "code of a compiler before 13.0";
            return Err(Refusal::new(what, text));
        }
        let mut shared = of(sass).filter(|(_, record)| !is_sass_only(record.code));
        let of_view = |code| code != attributes::MERCURY_FINALIZER_OPTIONS;
        for (id, a) in of(merc).filter(|(_, record)| of_view(record.code)) {
            let twin = shared.next().filter(|(_, b)| {
                (a.code, a.format, a.refs.len()) == (b.code, b.format, b.refs.len())
                    && (attributes::holds_places(a.code) || (a.value, a.rest) == (b.value, b.rest))
            });
            let Some((twin, _)) = twin else {
                return Err(Refusal::new(DIFFERENT, text));
            };
            pairs.push((id, twin));
        }
        match shared.next() {
            Some(_) => Err(Refusal::new(DIFFERENT, text)),
            None => Ok(sass),
        }
    }
}

/// The records of both views do not stand for each other.
const DIFFERENT: &str = "attributes of a function in two views that differ";

/// Bytes of a record in a file.
fn length(record: &Attribute<'_>) -> usize {
    if record.format == format::SVAL {
        4 + record.refs.len() * 4 + record.rest.len()
    } else {
        4
    }
}
