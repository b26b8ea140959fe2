//! The attribute list of a kernel, and what it takes from the functions that the kernel reaches.

use super::*;
use cuweld_elf::behaviours::attributes;

/// The output list of one kernel's `.nv.info.K`.
pub(super) struct KernelList<'m, 'data> {
    module: &'m mut Module<'data>,
    index: usize,
    cx_arena: &'data cuweld_ir::Arena,
    /// The codes of its records, a bit each; those of removed ones too.
    codes: [u64; 4],
}

impl<'m, 'data> KernelList<'m, 'data> {
    pub(super) fn new(
        module: &'m mut Module<'data>,
        index: usize,
        cx_arena: &'data cuweld_ir::Arena,
    ) -> Self {
        let mut codes = [0; 4];
        for id in &module.merged_info[index].records {
            let code = module.attributes[*id].code;
            codes[usize::from(code >> 6)] |= 1 << (code & 63);
        }
        KernelList {
            module,
            index,
            cx_arena,
            codes,
        }
    }

    fn find(&self, code: u8) -> Option<usize> {
        if self.codes[usize::from(code >> 6)] >> (code & 63) & 1 == 0 {
            return None;
        }
        let records = &self.module.merged_info[self.index].records;
        records
            .iter()
            .position(|id| self.module.attributes[*id].code == code)
    }

    fn at(&self, place: usize) -> &Attribute<'data> {
        &self.module.attributes[self.module.merged_info[self.index].records[place]]
    }

    /// Rewrites the record of this code in place, or appends one.
    fn set(&mut self, record: Attribute<'data>, refs: &[SymbolRef]) {
        let place = self.find(record.code);
        self.codes[usize::from(record.code >> 6)] |= 1 << (record.code & 63);
        let id = self.module.push_attribute(record, refs);
        let records = &mut self.module.merged_info[self.index].records;
        match place {
            Some(place) => records[place] = id,
            None => records.push(id),
        }
    }

    /// Builds a record with this code and these further bytes.
    fn record(&self, code: u8, rest: &[u8]) -> Attribute<'data> {
        Attribute {
            section: None,
            format: format::SVAL,
            code,
            value: 0,
            refs: 0..0,
            rest: self.cx_arena.bytes(rest),
        }
    }

    fn words(&self, code: u8, words: &[u32]) -> Attribute<'data> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.record(code, &bytes)
    }

    /// Sets the kernel's EXTERNS: its own, then those of device functions that it lacks.
    fn externs(&mut self, summary: &Summary) {
        let place = self.find(code::EXTERNS);
        let mut externs: Vec<SymbolRef> = place
            .map(|place| self.module.refs(self.at(place)).to_vec())
            .unwrap_or_default();
        for link in summary.externs() {
            if !externs
                .iter()
                .any(|target| self.link_of(*target) == Some(link))
            {
                externs.push(SymbolRef::Symbol(self.module.link_symbols[link].first));
            }
        }
        if !externs.is_empty() {
            let record = self.record(code::EXTERNS, &[]);
            self.set(record, &externs);
        } else if let Some(place) = place {
            self.module.merged_info[self.index].records.remove(place);
        }
    }

    /// Lists the externs of the only kernel of a link: if device functions add to its own, all of
    /// them are in a new record at the end [only-kernel-externs], before 13.2 backwards
    /// [only-kernel-externs-backwards].
    fn externs_of_only_kernel(&mut self, summaries: &Summaries) {
        let place = self.find(code::EXTERNS);
        let own = place.map_or(0, |place| self.module.refs(self.at(place)).len());
        let externs: Vec<SymbolRef> = summaries
            .externs_of_all(
                self.module
                    .toolkit
                    .has(&attributes::ONLY_KERNEL_EXTERNS_BACKWARDS),
            )
            .into_iter()
            .map(|link| SymbolRef::Symbol(self.module.link_symbols[link].first))
            .collect();
        if own > 0 && externs.len() == own {
            return;
        }
        if let Some(place) = place {
            self.module.merged_info[self.index].records.remove(place);
        }
        if !externs.is_empty() {
            let record = self.record(code::EXTERNS, &[]);
            self.set(record, &externs);
        }
    }

    fn link_of(&self, target: SymbolRef) -> Option<LinkSymbolId> {
        self.module.symbols[target.symbol()?].link
    }

    /// Adds what the functions need that the kernel reaches.
    pub(super) fn add(&mut self, summaries: &Summaries, summary: &Summary) {
        self.add_stack(summary.crs.unwrap_or(u32::MAX));
        if summaries.link.any_sparse_mma && !summaries.keeps_own_mask(summary) {
            let record = value_record(format::HVAL, code::SPARSE_MMA_MASK, summary.sparse_mma);
            self.set(record, &[]);
        }
        for code in sights(summaries, summary) {
            self.add_code(code, summaries, summary);
        }
        if summary.explicit_caching {
            self.set(value_record(format::NVAL, code::EXPLICIT_CACHING, 0), &[]);
        }
    }

    /// Adds the call-return stack.
    fn add_stack(&mut self, crs: u32) {
        let own = self
            .find(code::CRS_STACK_SIZE)
            .or_else(|| self.find(code::SYNC_STACK));
        match own {
            Some(place) => {
                let record = self.record(self.at(place).code, &crs.to_le_bytes());
                let id = self.module.push_attribute(record, &[]);
                self.module.merged_info[self.index].records[place] = id;
            }
            None if crs != 0 => {
                let record = self.record(code::CRS_STACK_SIZE, &crs.to_le_bytes());
                self.set(record, &[]);
            }
            None => {}
        }
    }

    /// Adds what a code of [`sights`] says.
    fn add_code(&mut self, code: u8, summaries: &Summaries, summary: &Summary) {
        let own = self.find(code).map(|place| self.at(place));
        let is_new = own.is_none();
        let own_value = own.map_or(0, |record| record.value);
        let is_only = summaries.has_only_kernel();
        let most = |value: u8| u16::from(value).max(own_value & 0xff);
        let record = match code {
            code::EXTERNS if is_only => return self.externs_of_only_kernel(summaries),
            code::EXTERNS => return self.externs(summary),
            code::AT_ENTRY_FRAGMENTS | code::LANGUAGE => {
                return self.add_words(code, summary, is_only);
            }
            code::NUM_MBARRIERS => {
                let sum = add_mbarriers(summary.mbarriers(&summaries.link), own_value);
                // [only-kernel-no-barriers]
                if is_only && is_new && sum == 0 {
                    return;
                }
                value_record(format::HVAL, code, sum)
            }
            // [only-kernel-cta-init]
            code::VRC_CTA_INIT_COUNT if is_only => {
                value_record(format::BVAL, code, own_value & 0xff)
            }
            code::VRC_CTA_INIT_COUNT => {
                value_record(format::BVAL, code, most(summary.cta_init_count))
            }
            code::MULTIMEM_USED => value_record(format::HVAL, code, own_value | summary.multimem),
            code::NUM_BARRIERS => value_record(format::BVAL, code, most(summary.barriers)),
            // As above.
            code::REG_RECONFIG if is_only => value_record(format::NVAL, code, own_value),
            code::REG_RECONFIG => {
                let value = summary.reg_reconfig.map_or(0, |(_, value)| value);
                value_record(format::NVAL, code, value)
            }
            _ if is_new => value_record(format::NVAL, code, 0),
            _ => return,
        };
        self.set(record, &[]);
    }

    /// Adds fragments at the entry or languages, each once. The only kernel's record moves to the end, after
    /// what is added to it, if anything is.
    fn add_words(&mut self, code: u8, summary: &Summary, is_only: bool) {
        let place = self.find(code);
        let own = place.map(|place| {
            let record = self.at(place);
            let words = 0..record.rest.len() / 4;
            words
                .filter_map(|index| record.word(index))
                .collect::<Vec<u32>>()
        });
        let known = own.as_deref().unwrap_or_default().iter().copied();
        let added = summary.words(code);
        let all: Vec<u32> = if is_only {
            if let Some(own) = &own
                && added.clone().all(|word| own.contains(&word))
            {
                return;
            }
            if let Some(place) = place {
                self.module.merged_info[self.index].records.remove(place);
            }
            added.chain(known).collect()
        } else {
            known.chain(added).collect()
        };
        let mut words: Vec<u32> = Vec::new();
        for word in all {
            if !words.contains(&word) {
                words.push(word);
            }
        }
        let record = self.words(code, &words);
        self.set(record, &[]);
    }
}

/// Returns the codes of flags, counts and lists of device functions, and of externs: in order of
/// first sight, or in the order of the table for the only kernel of a link. A list of externs of
/// the kernel's own is filtered even if nobody adds to it.
fn sights(summaries: &Summaries, summary: &Summary) -> impl Iterator<Item = u8> + use<> {
    const MOST: usize = FIRST_SIGHT_CODES.len() + 1;
    let mut sights = [(NEVER, 0); MOST];
    let mut count = 0;
    let mut push = |sight| {
        sights[count] = sight;
        count += 1;
    };
    let mut has_externs = false;
    if summary.sees {
        for (sight, code) in summary.first_sight.iter().zip(FIRST_SIGHT_CODES) {
            // The only kernel's externs have their place in the table whichever function names
            // them.
            let is_due = code == code::EXTERNS && summaries.has_only_kernel();
            if *sight != NEVER || is_due {
                push((*sight, code));
                has_externs |= code == code::EXTERNS;
            }
        }
    }
    if !has_externs {
        push((NEVER, code::EXTERNS));
    }
    if !summaries.has_only_kernel() {
        sights[..count].sort_unstable();
    }
    sights.into_iter().take(count).map(|(_, code)| code)
}
