//! The compatibility records of the output, `.nv.compat` [compat-merged].

use cuweld_elf::behaviours::attributes;
use cuweld_elf::target::arch::Suffix;
use cuweld_elf::target::compat;
use cuweld_ir::Arena;
use cuweld_ir::Attribute;
use cuweld_ir::Module;
use cuweld_ir::SectionKind;
use cuweld_ir::attribute::format;

use super::value_record;
use crate::analyses::Kinds;

/// Records in the order in which their codes are first seen.
struct Merged {
    /// Formats, codes and values, the linker's own first.
    records: Vec<(u8, u8, u16)>,
    /// The place of each code; 0 for none.
    places: [usize; 256],
}

impl Merged {
    /// Merges a value into that of its code.
    fn add(&mut self, format: u8, code: u8, value: u16) {
        let place = &mut self.places[usize::from(code)];
        match self.records.get_mut(*place) {
            Some((_, _, old)) if *place != 0 => *old = compat::merge(code, *old, value),
            _ => {
                *place = self.records.len();
                self.records.push((format, code, value));
            }
        }
    }

    fn has(&self, code: u8) -> bool {
        self.places[usize::from(code)] != 0
    }
}

/// The codes of an input's records, a bit each.
#[derive(Default)]
struct Codes([u64; 4]);

impl Codes {
    fn add(&mut self, code: u8) {
        self.0[usize::from(code >> 6)] |= 1 << (code & 63);
    }

    fn has(&self, code: u8) -> bool {
        self.0[usize::from(code >> 6)] >> (code & 63) & 1 != 0
    }
}

/// Sets the records of `.nv.compat` of the output.
pub(super) fn merge_compat<'data>(module: &mut Module<'data>, kinds: &Kinds, arena: &'data Arena) {
    let toolkit = module.toolkit;
    if !toolkit.writes_compat(module.target) {
        return;
    }
    let capmerc = module.is_capmerc();
    // [compat-fast-path-everywhere]
    let keeps_fast_path = toolkit.has(&attributes::COMPAT_FAST_PATH_EVERYWHERE);
    let has_finalizer = toolkit.has(&attributes::COMPAT_FINALIZER_VERSION);
    let codes = toolkit.merged_compat();
    let is_merged = |code| {
        codes.iter().any(|known| known.code == code)
            || code == compat::CAN_FASTPATH_FINALIZE && keeps_fast_path
            || code == compat::FINALIZER_VERSION && has_finalizer && !capmerc
    };
    let specific = u16::from(module.target.suffix == Suffix::Specific);
    let own = (format::BVAL, compat::CUDA_ACCELERATOR_TARGET, specific);
    let mut merged = Merged {
        records: vec![own],
        places: [0; 256],
    };
    let mut fast_path = u64::MAX;
    let mut says_finalizer = true;
    // A default that is merged after the records of all inputs, with the values that came after it.
    let mut late = None;
    let mut held = Vec::new();
    for (_, object) in module.included_objects() {
        let Some(section) = kinds.find(object.sections, SectionKind::Compat) else {
            continue;
        };
        let mut seen = Codes::default();
        for record in &module.attributes[module.sections[section].attributes] {
            seen.add(record.code);
            if record.code == compat::CAN_FASTPATH_FINALIZE {
                fast_path &= record
                    .rest
                    .first_chunk()
                    .map_or(0, |word| u64::from_le_bytes(*word));
            }
            let is_held = late.is_some_and(|(code, _)| code == record.code);
            if is_held && !merged.has(record.code) {
                held.push(record.value);
            } else if is_merged(record.code) {
                merged.add(record.format, record.code, record.value);
            }
        }
        says_finalizer &= seen.has(compat::FINALIZER_VERSION);
        for known in codes.iter().filter(|known| !seen.has(known.code)) {
            // [compat-internal-target]
            let is_late =
                known.code == compat::CUDA_INTERNAL_TARGET && seen.has(compat::MERCURY_VERSION);
            match known.default {
                Some(default) if is_late => late = Some((known.code, default)),
                Some(default) => merged.add(compat::format(known.code), known.code, default),
                None => {}
            }
        }
    }
    if let Some((code, default)) = late {
        for value in held.into_iter().chain([default]) {
            merged.add(compat::format(code), code, value);
        }
    }
    if capmerc {
        // `mercury-encode` writes the value.
        fast_path = 0;
        if !merged.has(compat::CAN_FASTPATH_FINALIZE) {
            merged.add(format::SVAL, compat::CAN_FASTPATH_FINALIZE, 0);
        }
        if has_finalizer {
            let version = toolkit.finalizer_version;
            merged.add(format::HVAL, compat::FINALIZER_VERSION, version);
        }
    }
    // [compat-no-empty-class]
    let drops_class = toolkit.has(&attributes::COMPAT_NO_EMPTY_CLASS);
    let is_dropped = |code, value| match code {
        compat::INST_TCGEN05_MMA => drops_class && value == 0,
        compat::FINALIZER_VERSION => !capmerc && !says_finalizer,
        _ => false,
    };
    let fast_path = arena.bytes(&fast_path.to_le_bytes());
    let records = merged.records.into_iter();
    module.merged_compat = records
        .filter(|&(_, code, value)| !is_dropped(code, value))
        .map(|(format, code, value)| {
            let rest = match code {
                compat::CAN_FASTPATH_FINALIZE => fast_path,
                _ => &[],
            };
            let record = Attribute {
                rest,
                ..value_record(format, code, value)
            };
            module.push_attribute(record, &[])
        })
        .collect();
}
