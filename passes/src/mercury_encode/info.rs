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

/// What a function's list of the object has in the SASS view.
struct Twins {
    /// Record of the Mercury view, record of the SASS view, in order.
    pairs: Vec<(AttributeId, AttributeId)>,
    /// Records that only the SASS view has.
    tail: Vec<AttributeId>,
}

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
            match self.derived(function, records, merged, symbol) {
                Ok(bytes) => {
                    let section = &mut self.plan.sections[index];
                    section.size = bytes.len() as u64;
                    section.content = PlanContent::Bytes(self.arena.bytes(&bytes));
                }
                Err(refusal) => self.refusals.push(refusal),
            }
        }
    }

    /// The list of the SASS view of a function: `merged` holds the records as they were written for the
    /// Mercury view, `parameters` is the symbol of the kernel's parameters.
    fn derived(
        &self,
        function: FunctionId,
        records: &[AttributeId],
        merged: &'data [u8],
        parameters: u32,
    ) -> Result<Vec<u8>, Refusal> {
        let twins = self.twins(function)?;
        let mut out = Vec::with_capacity(merged.len());
        let mut rest = merged;
        for id in records {
            let record = &self.module.attributes[*id];
            let Some((bytes, after)) = rest.split_at_checked(length(record)) else {
                return Err(Refusal::new("an attribute list of another length", None));
            };
            rest = after;
            if record.code == attributes::MERCURY_FINALIZER_OPTIONS {
                continue;
            }
            let place = twins.pairs.binary_search_by_key(id, |(merc, _)| *merc);
            match place.ok().and_then(|place| twins.pairs.get(place)) {
                Some((_, sass)) if record.refs.is_empty() => {
                    append_attribute(&mut out, &self.module.attributes[*sass], &[]);
                }
                _ => out.extend_from_slice(bytes),
            }
        }
        for id in twins.tail {
            let record = &self.module.attributes[id];
            let refs = if record.code == attributes::PARAM_CBANK {
                vec![parameters]
            } else {
                Vec::new()
            };
            if refs.len() != record.refs.len() {
                return Err(Refusal::new("an attribute that names another symbol", None));
            }
            append_attribute(&mut out, record, &refs);
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
        Ok(out)
    }

    /// Pairs the records of a function's lists in the two views of its object.
    fn twins(&self, function: FunctionId) -> Result<Twins, Refusal> {
        let views = self.module.functions[function].views;
        let text = views.sass.text;
        let (Some(sass), Some(Some(merc))) = (views.sass.info, views.merc.map(|view| view.info))
        else {
            return Err(Refusal::new(
                "a function without attributes in a view",
                text,
            ));
        };
        let of = |section: SectionId| self.module.sections[section].attributes.iter();
        let code = |id: &AttributeId| self.module.attributes[*id].code;
        let (tail, shared): (Vec<_>, Vec<_>) = of(sass).partition(|id| is_sass_only(code(id)));
        let merc: Vec<_> = of(merc)
            .filter(|id| code(id) != attributes::MERCURY_FINALIZER_OPTIONS)
            .collect();
        // nvlink adds the record.
        if !merc
            .iter()
            .any(|id| code(id) == attributes::MERCURY_ISA_VERSION)
        {
            let what = "code of a compiler before 13.0";
            return Err(Refusal::new(what, text));
        }
        let same = |(a, b): (&AttributeId, &AttributeId)| {
            let (a, b) = (&self.module.attributes[*a], &self.module.attributes[*b]);
            (a.code, a.format, a.refs.len()) == (b.code, b.format, b.refs.len())
                && (attributes::holds_places(a.code) || (a.value, a.rest) == (b.value, b.rest))
        };
        if merc.len() != shared.len() || !merc.iter().zip(&shared).all(same) {
            let what = "attributes of a function in two views that differ";
            return Err(Refusal::new(what, text));
        }
        Ok(Twins {
            pairs: merc.into_iter().zip(shared).collect(),
            tail,
        })
    }
}

/// Bytes of a record in a file.
fn length(record: &Attribute<'_>) -> usize {
    if record.format == format::SVAL {
        4 + record.refs.len() * 4 + record.rest.len()
    } else {
        4
    }
}
