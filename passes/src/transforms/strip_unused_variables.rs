//! `strip-unused-variables`: variables in global and constant memory that nothing uses stay out of
//! the output.
//!
//! Opt-in: nvlink keeps every variable of every object that takes part. A variable is used if code
//! that is linked refers to it, if another variable that is used holds its address, if debug
//! information or an attribute names it, or if host code can name it: what that is follows from
//! `-variables-used`, or else from host information (`.nvHRDE`, `.nvHRDI`, `.nvHRCE`, `.nvHRCI`);
//! where neither is known, all variables count as named, but those that `unnamed` lists. Of
//! sections that lose variables the rest moves up, each variable as aligned as before. Relocations
//! in what goes, go.
//!
//! Whole stay: sections that something refers to as a whole; those with bytes of which no variable
//! is known, but zeros; those with a definition that lost to another; banks but 3. So do managed
//! variables, textures and tentative definitions.
//!
//! Runs between `callgraph-dce` and `merge-metadata`. Refused: `-r`, whose names a later link may
//! use, and objects with Mercury.

mod compact;

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use cuweld_elf::symbol::SymbolOther;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Liveness;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::RelocId;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolId;
use cuweld_ir::SymbolPlace;
use cuweld_ir::SymbolRef;
use cuweld_ir::table::EntityId;
use serde::Deserialize;

use crate::analyses::host_names::HostNames;
use crate::analyses::name_patterns::NamePatterns;
use crate::options::OptionInfo;
use crate::options::OptionType;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::PassInfo;
use crate::remark::Remark;
use crate::remark::RemarkInfo;

/// What is known of the options.
const OPTIONS: &[OptionInfo] = &[OptionInfo {
    name: "unnamed",
    ty: OptionType::Strings,
    default: "[]",
    doc: "Names of variables that host code does not name; `*` stands for any run of characters.",
}];

const UNUSED: RemarkInfo = RemarkInfo {
    name: "unused",
    doc: "A variable is left out",
};

/// The `strip-unused-variables` pass.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StripUnusedVariables {
    unnamed: Vec<String>,
}

impl Pass for StripUnusedVariables {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "strip-unused-variables",
            summary: "Leave out variables that neither live code nor host code names",
            doc: include_str!("strip_unused_variables.rs"),
            options: OPTIONS,
            requires: Phase::Live,
            before: Some(Phase::Merged),
            refuses: &["mercury", "relocatable"],
            remarks: &[UNUSED],
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        let mut variables = Variables::new(module);
        variables.use_named(module, &NamePatterns::new(&self.unnamed));
        variables.use_referenced(module);
        let rows = variables.rows(module);
        let mut changed = false;
        for (section, symbols) in variables.by_section(module) {
            if variables.whole[section.index()] {
                continue;
            }
            let is_used = |symbol: SymbolId| {
                let link = module.symbols[symbol].link;
                link.is_none_or(|link| variables.used[link.index()])
            };
            let (used, unused): (Vec<_>, Vec<_>) =
                symbols.into_iter().partition(|symbol| is_used(*symbol));
            if unused.is_empty() {
                continue;
            }
            let before = module.sections[section].size();
            let rows = rows.get(&section).map_or(&[][..], Vec::as_slice);
            if !compact::compact(module, section, rows, &used, &unused, cx.arena) {
                continue;
            }
            changed = true;
            for symbol in &unused {
                if let Some(link) = module.symbols[*symbol].link {
                    module.link_symbols[link].live = Liveness::Unreferenced;
                    cx.remarks.emit(|| {
                        Remark::about(&UNUSED, link)
                            .words(" is left out: no code that stays and no host code names its ")
                            .argument("size", module.symbols[*symbol].size)
                            .words(" bytes")
                    });
                }
            }
            let after = match module.sections[section].kind {
                SectionKind::Stripped => 0,
                _ => module.sections[section].size(),
            };
            cx.statistics.add("variables", unused.len() as u64);
            cx.statistics.add("bytes", before.saturating_sub(after));
        }
        Ok(Changed::from(changed))
    }
}

/// Which variables are used.
struct Variables {
    /// By resolved symbol.
    used: Vec<bool>,
    /// Sections that stay as they are.
    whole: Vec<bool>,
}

impl Variables {
    fn new(module: &Module<'_>) -> Self {
        let mut whole: Vec<bool> = module
            .sections
            .iter()
            .map(|(id, section)| {
                let can_shrink = matches!(
                    section.kind,
                    SectionKind::Global | SectionKind::GlobalInit | SectionKind::ConstantBank(3)
                );
                !can_shrink || !module.is_section_linked(id)
            })
            .collect();
        // Patches name places in bytes that would move.
        for fixup in &module.fixups {
            whole[fixup.section.index()] = true;
        }
        for (id, symbol) in module.symbols.iter() {
            let (SymbolPlace::Section(section), Some(link)) = (symbol.place, symbol.link) else {
                continue;
            };
            // Bytes of a definition that lost stay where they are, as nvlink has them.
            whole[section.index()] |= module.link_symbols[link].definition != Some(id);
        }
        Variables {
            used: vec![false; module.link_symbols.len()],
            whole,
        }
    }

    /// Returns the resolved symbol of a variable that the pass may leave out.
    fn variable(&self, module: &Module<'_>, link: LinkSymbolId) -> Option<SectionId> {
        let definition = module.link_symbols[link].definition?;
        match module.symbols[definition].place {
            SymbolPlace::Section(section) => Some(section).filter(|id| !self.whole[id.index()]),
            _ => None,
        }
    }

    /// Marks as used what host code can name, and everything that is not a plain variable.
    fn use_named(&mut self, module: &Module<'_>, unnamed: &NamePatterns<'_>) {
        let host = HostNames::variables(&module.options);
        for (id, row) in module.link_symbols.iter() {
            let symbol = &module.symbols[row.definition.unwrap_or(row.first)];
            let named = match host {
                HostNames::All => !unnamed.match_name(symbol.name),
                _ => host.hold(symbol),
            };
            self.used[id.index()] = self.variable(module, id).is_none()
                || named
                || symbol.other.contains(SymbolOther::MANAGED);
        }
    }

    /// Marks as used what the sections and variables that stay refer to.
    fn use_referenced(&mut self, module: &Module<'_>) {
        // References from variables count once these are used.
        let mut held: Vec<Vec<SymbolRef>> = vec![Vec::new(); module.link_symbols.len()];
        let mut work: Vec<SymbolRef> = Vec::new();
        let places = self.by_section(module);
        for (id, section) in module.sections.iter() {
            if !module.is_section_linked(id) || section.relocs.is_empty() {
                continue;
            }
            let SectionInfo::Section(patched) = section.info else {
                continue;
            };
            let of_section = places
                .get(&patched)
                .filter(|_| !self.whole[patched.index()]);
            for row in &module.relocs[section.relocs] {
                match of_section.and_then(|symbols| holder(module, symbols, row.offset)) {
                    Some(link) => held[link.index()].push(row.target),
                    None => work.push(row.target),
                }
            }
        }
        let lists = module
            .sections
            .iter()
            .filter(|(id, _)| module.is_section_linked(*id));
        for (_, section) in lists {
            for record in &module.attributes[section.attributes] {
                work.extend(module.refs(record));
            }
        }
        for id in module.link_symbols.ids() {
            if self.used[id.index()] {
                work.append(&mut held[id.index()]);
            }
        }
        while let Some(target) = work.pop() {
            let links: Vec<LinkSymbolId> = match target {
                SymbolRef::None => continue,
                SymbolRef::Symbol(symbol) => module.symbols[symbol].link.into_iter().collect(),
                SymbolRef::Section(section) => {
                    if std::mem::replace(&mut self.whole[section.index()], true) {
                        continue;
                    }
                    let symbols = places.get(&section).into_iter().flatten();
                    symbols.filter_map(|id| module.symbols[*id].link).collect()
                }
            };
            for link in links {
                self.used[link.index()] = true;
                work.append(&mut held[link.index()]);
            }
        }
    }

    /// Returns the relocation rows of each section that may shrink.
    fn rows(&self, module: &Module<'_>) -> BTreeMap<SectionId, Vec<RelocId>> {
        let mut found = BTreeMap::<_, Vec<_>>::new();
        for section in module.sections.values() {
            if let SectionInfo::Section(patched) = section.info
                && !section.relocs.is_empty()
                && !self.whole[patched.index()]
            {
                found
                    .entry(patched)
                    .or_default()
                    .extend(section.relocs.iter());
            }
        }
        found
    }

    /// Returns the variables of each section that may shrink, by place.
    fn by_section(&self, module: &Module<'_>) -> BTreeMap<SectionId, Vec<SymbolId>> {
        let mut sorted: BTreeSet<(SectionId, u64, SymbolId)> = BTreeSet::new();
        for (id, symbol) in module.symbols.iter() {
            if let SymbolPlace::Section(section) = symbol.place
                && symbol.link.is_some()
                && !self.whole[section.index()]
            {
                sorted.insert((section, symbol.value, id));
            }
        }
        let mut found = BTreeMap::<_, Vec<_>>::new();
        for (section, _, id) in sorted {
            found.entry(section).or_default().push(id);
        }
        found
    }
}

/// Returns the last variable that begins at an offset or before it, if the offset lies in it.
fn holder(module: &Module<'_>, symbols: &[SymbolId], offset: u64) -> Option<LinkSymbolId> {
    let after = symbols.partition_point(|id| module.symbols[*id].value <= offset);
    let symbol = &module.symbols[*symbols.get(after.checked_sub(1)?)?];
    let inside = offset - symbol.value < symbol.size;
    symbol.link.filter(|_| inside)
}
