//! What became of relocations.

use std::cell::OnceCell;
use std::ops::Range;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::unsupported;
use cuweld_elf::known_symbols;
use cuweld_elf::mercury::Bank;
use cuweld_elf::mercury::relocs::counterparts;
use cuweld_elf::target::relocs::RelocClass;
use cuweld_elf::target::relocs::reloc_type;
use cuweld_ir::Fate;
use cuweld_ir::Function;
use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::Reloc;
use cuweld_ir::RelocAction;
use cuweld_ir::RelocId;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::Symbol;
use cuweld_ir::SymbolId;
use cuweld_ir::SymbolPlace;
use cuweld_ir::SymbolRef;
use cuweld_ir::section::ADDRESS_BANK;
use cuweld_ir::section::view_name;
use cuweld_ir::table::EntityId;

use super::Check;
use super::Link;
use crate::threads::Threads;
use crate::threads::Work;

/// The section whose rows are looked at.
struct Holder {
    /// The section that the rows apply to, with its kind.
    patched: (SectionId, SectionKind),
    /// Whether the code that the rows apply to can run.
    runs: bool,
    /// The function that the rows apply to.
    function: Option<LinkSymbolId>,
    /// The bytes in it of definitions in whose place others are linked, if a row has asked.
    discarded: OnceCell<Discarded>,
}

/// Checks `relocation-fate` and `relocation-target`.
pub(super) fn check(link: &Link<'_, '_>, threads: &Threads) -> Check {
    let rows = link.module.relocs.len();
    let work = Work::Rows(rows);
    let size = rows.div_ceil(threads.tasks(work)).max(1);
    let parts = (0..rows).step_by(size);
    let parts: Vec<_> = parts.map(|start| start..rows.min(start + size)).collect();
    let found = threads.map(work, &parts, |part| check_rows(link, part.clone()));
    let mut check = Check::default();
    found.into_iter().for_each(|part| check.add(part));
    check
}

/// Checks some of the rows.
fn check_rows(link: &Link<'_, '_>, part: Range<usize>) -> Check {
    let mut check = Check::default();
    let is_kept = |reloc: &Reloc| matches!(reloc.plan, RelocAction::Keep { .. });
    let rows = &link.module.relocs.values().as_slice()[part.clone()];
    // What the rows apply to is of interest for the few that need proof: sections lie anywhere in
    // memory.
    let (mut held, mut holder) = (None, None);
    let mut rest = rows.iter();
    while let Some(reloc) = rest.next() {
        let is_sound = match reloc.plan {
            RelocAction::Keep { .. } => {
                let is_symbol = matches!(reloc.target, SymbolRef::Symbol(_));
                is_symbol && link.dead(reloc.target).is_none()
            }
            RelocAction::Apply { .. } => !link.is_unplaced(reloc.target),
            _ => false,
        };
        if is_sound {
            if is_kept(reloc) {
                // Rows of tables have one target.
                let is_like = |other: &Reloc| is_kept(other) && other.target == reloc.target;
                let others = rest.as_slice();
                let alike = others.iter().position(|other| !is_like(other));
                rest = others[alike.unwrap_or(others.len())..].iter();
            }
            continue;
        }
        let section = reloc.section;
        if held != Some(section) {
            held = Some(section);
            holder = Holder::new(link, section);
        }
        let Some(holder) = &holder else {
            let next = rows.len() - rest.len();
            let end = link.module.sections[section].relocs.indices().end;
            let end = end.min(part.end).saturating_sub(part.start);
            rest = rows[next.max(end)..].iter();
            continue;
        };
        let row = Row {
            link,
            id: RelocId::new(part.end - rest.len() - 1),
            reloc,
            holder,
        };
        row.check(&mut check);
    }
    check
}

impl Holder {
    /// Returns what rows of a section apply to; `None` if they need no proof.
    fn new(link: &Link<'_, '_>, id: SectionId) -> Option<Self> {
        let module = link.module;
        let section = &module.sections[id];
        let owner = section.owner.map(|owner| &module.functions[owner]);
        let function = owner.and_then(|owner| link.meanings.link(owner.symbol));
        let stays = |owner: &Function| {
            owner.fate == Fate::Prevailing
                && function.is_some_and(|function| link.is_live(function))
        };
        let is_linked = section.kind != SectionKind::Stripped
            && module.objects[section.object].state.is_included()
            && owner.is_none_or(stays);
        let SectionInfo::Section(patched) = section.info else {
            return None;
        };
        if !is_linked {
            return None;
        }
        let kind = link.kinds.kind(patched);
        // Debug information, in either view, may speak of what is gone.
        let is_debug = matches!(kind, SectionKind::Debug | SectionKind::MercuryDebug);
        (!is_debug).then(|| Holder {
            patched: (patched, kind),
            runs: function.is_some_and(|function| link.running[function.index()]),
            function,
            discarded: OnceCell::new(),
        })
    }
}

/// Ranges of bytes by where they begin, each with the largest end up to it.
struct Discarded(Vec<(u64, u64)>);

impl Discarded {
    /// Returns the definitions in a section in whose place others are linked. Symbols lie in the
    /// SASS view, of whose sections those of the Mercury view are twins.
    fn in_section(module: &Module<'_>, id: SectionId) -> Self {
        let patched = &module.sections[id];
        let view = Bank::of_name(view_name(patched));
        let lies_there = |place| match place {
            SymbolPlace::Section(section) => {
                let name = module.sections[section].name;
                let is_bank =
                    || view.is_some_and(|(bank, rest)| name.strip_prefix(bank.sass) == Some(rest));
                section == id || name == view_name(patched) || is_bank()
            }
            _ => false,
        };
        let symbols = module.objects[patched.object].symbols.iter();
        let discarded = symbols.filter_map(|id| {
            let symbol = &module.symbols[id];
            let prevails = module.link_symbols[symbol.link?].definition == Some(id);
            let end = symbol.value.saturating_add(symbol.size);
            (!prevails && lies_there(symbol.place)).then_some((symbol.value, end))
        });
        let mut ranges: Vec<(u64, u64)> = discarded.collect();
        ranges.sort_unstable();
        let mut most = 0;
        for (_, end) in &mut ranges {
            most = most.max(*end);
            *end = most;
        }
        Discarded(ranges)
    }

    fn holds(&self, offset: u64) -> bool {
        let behind = self.0.partition_point(|(start, _)| *start <= offset);
        let last = behind.checked_sub(1).and_then(|last| self.0.get(last));
        last.is_some_and(|(_, end)| offset < *end)
    }
}

/// A row of a section that is linked.
struct Row<'a, 'data> {
    link: &'a Link<'a, 'data>,
    id: RelocId,
    reloc: &'a Reloc,
    holder: &'a Holder,
}

impl Row<'_, '_> {
    fn check(&self, check: &mut Check) {
        match self.reloc.plan {
            RelocAction::Keep { .. } => self.target(check),
            RelocAction::Apply { .. } => self.place(check),
            RelocAction::Unplanned => self.fate(check, "nothing was decided on it"),
            RelocAction::Gone if self.holder.patched.1.is_code() => {
                self.fate(check, "it is left out of code that stays");
            }
            RelocAction::Gone
                if !self.discarded().holds(self.reloc.offset)
                    && !self.goes_if_strict()
                    && !self.is_outside() =>
            {
                self.fate(check, "it is left out of data that stays");
            }
            RelocAction::Gone => {}
            RelocAction::Clear | RelocAction::Drop
                if self.goes_if_strict() || self.is_of_discarded_address() => {}
            RelocAction::Clear | RelocAction::Drop => {
                if let Some(what) = self.lost() {
                    if check.refused.is_none() {
                        check.refused = self.unnamed();
                    }
                    if check.refused.is_some() {
                        return;
                    }
                    self.fate(check, what);
                }
            }
        }
    }

    /// Returns `true` if the row lies in the module's constants where nvlink's own losses are asked
    /// for (deviation D14).
    fn goes_if_strict(&self) -> bool {
        let section = &self.link.module.sections[self.holder.patched.0];
        let is_view = || Bank::of_name(view_name(section)).is_some_and(|(_, rest)| rest.is_empty());
        let is_constants = matches!(self.holder.patched.1, SectionKind::ConstantBank(_));
        (is_constants || is_view()) && self.link.module.options.strict
    }

    /// Returns `true` if the row lies in a bank of addresses, where a discarded definition was: all
    /// code loads the address of the one that prevails.
    fn is_of_discarded_address(&self) -> bool {
        let section = &self.link.module.sections[self.holder.patched.0];
        let is_view =
            || Bank::numbered(ADDRESS_BANK).is_some_and(|bank| view_name(section) == bank.name);
        let is_bank = self.holder.patched.1 == SectionKind::ConstantBank(ADDRESS_BANK);
        (is_bank || is_view()) && self.discarded().holds(self.reloc.offset)
    }

    /// Returns `true` if the row applies to nothing that stays: to a variable that was left out.
    fn is_outside(&self) -> bool {
        let section = &self.link.module.sections[self.holder.patched.0];
        self.reloc.offset >= section.size()
    }

    fn discarded(&self) -> &Discarded {
        let find = || Discarded::in_section(self.link.module, self.holder.patched.0);
        self.holder.discarded.get_or_init(find)
    }

    /// Returns the symbol that the row refers to, if it refers to one.
    fn symbol(&self) -> Option<(SymbolId, &Symbol<'_>)> {
        let symbol = self.reloc.target.symbol()?;
        Some((symbol, &self.link.module.symbols[symbol]))
    }

    /// Checks what a row that stays refers to.
    fn target(&self, check: &mut Check) {
        match self.reloc.target {
            SymbolRef::None => {}
            target @ SymbolRef::Symbol(_) => {
                if self.link.dead(target).is_some() {
                    self.refers(check);
                }
            }
            SymbolRef::Section(section) => {
                // The section of a copy that is replaced stands for that of the prevailing one.
                let module = self.link.module;
                let is_gone = |owner: FunctionId| {
                    let symbol = SymbolRef::Symbol(module.functions[owner].symbol);
                    !module.is_function_live(owner) && self.link.dead(symbol).is_some()
                };
                if module.sections[section].owner.is_some_and(is_gone) {
                    self.refers(check);
                }
            }
        }
    }

    /// Checks that a variable in shared memory has an address where code that can run uses it.
    fn place(&self, check: &mut Check) {
        if !self.holder.runs {
            return;
        }
        let Some((symbol, row)) = self.symbol() else {
            return;
        };
        let Some(link) = self.link.meanings.link(symbol) else {
            return;
        };
        let link = &self.link.module.link_symbols[link];
        if !self.link.module.options.relocatable
            && row.is_shared()
            && !self.link.module.symbols[link.first].is_dynamic_shared()
        {
            self.report(check, "relocation-target", "its target has no address");
        }
    }

    /// Returns the reason why a row that is dropped should have stayed; `None` if it may go.
    fn lost(&self) -> Option<&'static str> {
        let ty = counterparts(
            self.reloc.ty,
            self.holder.patched.1 == SectionKind::MercuryText,
        );
        let ty = ty.first().copied().unwrap_or(self.reloc.ty);
        // What only says how code may be changed, or is there to clear a field.
        let class = reloc_type(ty).map(|row| row.class);
        if matches!(
            class,
            Some(
                RelocClass::None
                    | RelocClass::Yield
                    | RelocClass::YieldPredicate
                    | RelocClass::Clear
            )
        ) {
            return None;
        }
        let Some((id, symbol)) = self.symbol() else {
            return Some("it is dropped, and refers to no symbol");
        };
        // The linker's own names, in a link without unified functions.
        if known_symbols::is_unified_table_symbol(symbol.name) {
            return None;
        }
        let function = self.link.meanings.link(id)?;
        let link = &self.link.module.link_symbols[function];
        if link.definition.is_none() && symbol.is_function() {
            // A weak function that nobody defines is at 0.
            return None;
        }
        let is_live = link.live.is_live();
        match self.holder.patched.1.is_code() {
            true if !self.holder.runs && !is_live => None,
            true => Some("it is dropped from code that can run"),
            // Tables have 0 for functions that nobody calls [dead-functions-in-data].
            false if symbol.is_function() && !is_live && self.is_uncalled(function) => None,
            false => Some("it is dropped from data that stays"),
        }
    }

    /// Returns `true` if no code that can run calls a function, by its name or its address, or if
    /// what nvlink does is asked for even where it loses functions that are called.
    fn is_uncalled(&self, function: LinkSymbolId) -> bool {
        !self.link.running[function.index()]
            && (self.link.module.options.strict || !self.link.is_called_by_address(function))
    }

    /// Reports code that refers to a function which its call graph does not name.
    #[cold]
    fn unnamed(&self) -> Option<Diagnostic> {
        let (from, to) = (self.holder.function?, self.link.dead(self.reloc.target)?);
        if self.link.names(from, to) {
            return None;
        }
        let names = (self.link.quoted(from), self.link.quoted(to));
        Some(
            Diagnostic::refusal(unsupported::CALL_GRAPH_GAP)
                .note(format!("{} refers to {}", names.0, names.1)),
        )
    }

    #[cold]
    fn fate(&self, check: &mut Check, what: &str) {
        self.report(check, "relocation-fate", what);
    }

    #[cold]
    fn refers(&self, check: &mut Check) {
        let what = "it refers to what is not in the output";
        self.report(check, "relocation-target", what);
    }

    #[cold]
    fn report(&self, check: &mut Check, rule: &'static str, what: &str) {
        let module = self.link.module;
        let section = &module.sections[self.holder.patched.0];
        let target = match self.symbol().and_then(|(_, symbol)| symbol.link) {
            Some(link) => format!(" against {}", self.link.quoted(link)),
            None => String::new(),
        };
        check.report(
            rule,
            format_args!(
                "{} at {:#x} of '{}' in '{}'{target}: {what}",
                self.id,
                self.reloc.offset,
                String::from_utf8_lossy(section.name),
                module.objects[section.object].display()
            ),
        );
    }
}
