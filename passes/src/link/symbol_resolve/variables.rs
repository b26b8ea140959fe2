//! Variables of one name: which definition wins, and what has to agree.

use super::Resolver;
use super::text;
use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::link;
use cuweld_diagnostics::codes::unsupported;
use cuweld_elf::behaviours::symbols;
use cuweld_elf::symbol::Binding;
use cuweld_elf::symbol::SymbolOther;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::MergeOutcome;
use cuweld_ir::SectionKind;
use cuweld_ir::Symbol;
use cuweld_ir::SymbolId;
use cuweld_ir::SymbolPlace;
use cuweld_ir::table::EntityId;

impl<'data> Resolver<'_, 'data> {
    pub(super) fn merge_variable(
        &mut self,
        link: LinkSymbolId,
        id: SymbolId,
        symbol: &Symbol<'data>,
        reference: SymbolId,
    ) {
        let known = self.module.link_symbols[link];
        let is_common = |place| place == SymbolPlace::Common;
        let known_common = known.common_align != 0;
        // [size-zero-agrees]
        let has_size = |size: u64, is_common: bool| size != 0 || is_common;
        let sizes_differ = known.size != symbol.size
            && has_size(known.size, known_common)
            && has_size(symbol.size, is_common(symbol.place));
        let other = self.module.symbols[reference];
        let named = self.named_by[link.index()];
        let conflict = |resolver: &mut Self| {
            let (what, first) = ("Size doesn't match for", "first specified in");
            resolver.conflict(link::SIZE_MISMATCH, what, first, id, named);
        };
        let size_conflict = |resolver: &mut Self| {
            if sizes_differ {
                conflict(resolver);
            }
        };
        if symbol.is_dynamic_shared() {
            // The first reference counts as a definition, but none of the later ones. After a
            // variable with a size it is a reference to that.
            if symbol.bind != Binding::WEAK && !symbol.is_undefined() {
                // A name that `-r` defined has the size 0.
                if known.size != 0 {
                    conflict(self);
                }
                let is_strong = other.bind != Binding::WEAK;
                if is_strong && (known.size == 0 || known.definition.is_some()) {
                    self.duplicate(id, named);
                }
            }
            return;
        }
        match (known.definition.is_some(), symbol.place) {
            // [first-reference-size]
            (_, SymbolPlace::Undefined) => size_conflict(self),
            (false, place) => {
                size_conflict(self);
                self.define(link, id, symbol);
                if is_common(place) {
                    self.module.link_symbols[link].common_align = symbol.value;
                    self.named_by[link.index()] = id;
                }
            }
            (true, _) if self.common_is_taken[link.index()] => {
                size_conflict(self);
                if symbol.bind != Binding::WEAK {
                    self.duplicate(id, named);
                } else {
                    self.record(id, reference, MergeOutcome::YieldsToTentative);
                }
            }
            (true, SymbolPlace::Common) if known_common => {
                self.join_common(link, id, symbol, reference);
            }
            (true, SymbolPlace::Common) if self.is_initialised(&other) => {
                if symbol.size > known.size {
                    let file = self.file(id);
                    self.larger_than_initialisation(id, symbol, &file);
                }
                self.record(id, reference, MergeOutcome::YieldsToInitialised);
            }
            (true, SymbolPlace::Common) if self.replaces_tentative() => {
                size_conflict(self);
                self.record(id, reference, MergeOutcome::YieldsToInitialised);
            }
            (true, SymbolPlace::Common) => {
                size_conflict(self);
                if other.bind != Binding::WEAK {
                    self.duplicate(id, named);
                } else if !sizes_differ {
                    self.record(id, reference, MergeOutcome::ReplacesWeak);
                    self.define(link, id, symbol);
                    self.module.link_symbols[link].common_align = symbol.value;
                }
            }
            (true, _) if known_common && self.is_initialised(symbol) => {
                self.initialise_common(link, id, symbol, reference);
            }
            (true, _) if known_common && self.replaces_tentative() => {
                self.initialise_common(link, id, symbol, reference);
                size_conflict(self);
            }
            // Its memory is taken, but the variable stays a common one.
            (true, _) if known_common => {
                size_conflict(self);
                self.record(id, reference, MergeOutcome::YieldsToTentative);
                self.common_is_taken[link.index()] = symbol.bind != Binding::WEAK;
            }
            (true, _) => {
                size_conflict(self);
                match (other.bind, symbol.bind) {
                    (Binding::WEAK, Binding::WEAK) => {
                        self.record(id, reference, MergeOutcome::YieldsToFirst);
                    }
                    (_, Binding::WEAK) => self.record(id, reference, MergeOutcome::YieldsToStrong),
                    (Binding::WEAK, _) => {
                        self.record(id, reference, MergeOutcome::ReplacesWeak);
                        self.define(link, id, symbol);
                    }
                    _ => self.duplicate(id, named),
                }
            }
        }
    }

    /// Returns `true` if a definition without contents takes the place of a tentative one, as one
    /// with contents does [definition-over-tentative].
    fn replaces_tentative(&self) -> bool {
        let toolkit = self.module.toolkit;
        toolkit.has(&symbols::DEFINITION_OVER_TENTATIVE)
    }

    /// Merges a tentative definition with one before it: the larger size, and the first alignment
    /// [tentative-first-alignment].
    fn join_common(
        &mut self,
        link: LinkSymbolId,
        id: SymbolId,
        symbol: &Symbol<'data>,
        reference: SymbolId,
    ) {
        let row = &mut self.module.link_symbols[link];
        let outcome = match symbol.size > row.size {
            true => {
                row.size = symbol.size;
                self.named_by[link.index()] = id;
                MergeOutcome::Grows
            }
            false => MergeOutcome::Joins,
        };
        self.record(id, reference, outcome);
    }

    /// Lets an initialised definition take the place of a tentative one.
    fn initialise_common(
        &mut self,
        link: LinkSymbolId,
        id: SymbolId,
        symbol: &Symbol<'data>,
        reference: SymbolId,
    ) {
        let known = self.module.link_symbols[link];
        if are_managed_otherwise(symbol, &self.module.symbols[reference]) {
            // nvlink has said so, and does not go on.
            return;
        }
        if known.size > symbol.size {
            let largest = self.file(self.named_by[link.index()]);
            self.larger_than_initialisation(id, symbol, &largest);
        } else if symbol.bind == Binding::WEAK {
            // nvlink crashes.
            let name = text(symbol.name);
            let message = format!("weak definition of the common symbol '{name}'");
            self.push(id, Diagnostic::error(unsupported::WEAK_COMMON, message));
        }
        self.record(id, reference, MergeOutcome::ReplacesTentative);
        self.define(link, id, symbol);
        self.named_by[link.index()] = id;
    }

    /// Returns `true` if a variable stands in a section with contents.
    pub(super) fn is_initialised(&self, symbol: &Symbol<'data>) -> bool {
        match symbol.place {
            SymbolPlace::Section(section) => {
                let kind = self.module.sections[section].kind;
                // Unified memory counts as memory without contents.
                !matches!(kind, SectionKind::Global | SectionKind::Unified)
            }
            _ => false,
        }
    }

    pub(super) fn larger_than_initialisation(
        &mut self,
        id: SymbolId,
        symbol: &Symbol<'data>,
        file: &str,
    ) {
        self.push(
            id,
            Diagnostic::error(
                link::COMMON_SIZE,
                format!(
                    "Common symbol '{}' in file '{file}' has larger size than initialization",
                    text(symbol.name),
                ),
            ),
        );
    }
}

/// Returns `true` if of two variables one alone is managed memory.
pub(super) fn are_managed_otherwise(one: &Symbol<'_>, other: &Symbol<'_>) -> bool {
    one.other.contains(SymbolOther::MANAGED) != other.other.contains(SymbolOther::MANAGED)
}
