//! Functions of one name: which definition prevails.

use cuweld_elf::behaviours::symbols::REGISTERS_OF_CODE_ALONE;

use super::*;

impl<'data> Resolver<'_, 'data> {
    /// Decides between a definition and the one that prevails.
    pub(super) fn merge_function(
        &mut self,
        link: LinkSymbolId,
        id: SymbolId,
        symbol: &Symbol<'data>,
        reference: SymbolId,
    ) {
        let other = self.module.symbols[reference];
        if other.is_entry() != symbol.is_entry() {
            self.not_declared_global(id, symbol);
            // nvlink goes on to report the second definition, if there are two.
        }
        let Some(function) = symbol.function else {
            return;
        };
        let Some(old) = other.function else {
            self.define(link, id, symbol);
            self.set_fate(function, Fate::Prevailing);
            return;
        };
        let is_weak = other.bind == Binding::WEAK;
        let is_alias = |id| self.module.is_alias(id);
        if is_weak && !other.is_entry() && is_alias(function) && !is_alias(old) {
            let message = format!("'{}' as an alias", displayed(symbol.name));
            let error = Diagnostic::error(unsupported::ALIAS_OF_WEAK, message);
            self.push(id, error);
            return;
        }
        let outcome = match (other.bind, symbol.bind) {
            (Binding::WEAK, Binding::WEAK) => {
                let outcome = self.between_weak(function, old, link);
                if other.is_entry() && symbol.is_entry() {
                    self.compare_parameters(id, function, old);
                }
                outcome
            }
            (Binding::WEAK, _) => MergeOutcome::ReplacesWeak,
            (_, Binding::WEAK) => MergeOutcome::YieldsToStrong,
            _ => {
                let first = self.first_definition[link.index()];
                self.duplicate(id, first.unwrap_or(reference));
                return;
            }
        };
        self.record(id, reference, outcome);
        if outcome.replaces() {
            self.set_fate(old, Fate::Replaced);
            self.set_fate(function, Fate::Prevailing);
            self.define(link, id, symbol);
        } else {
            self.set_fate(function, Fate::Discarded);
        }
    }

    /// Decides between a weak definition and the one before it: the new one replaces it if it needs
    /// fewer registers, or as many and comes of PTX for a higher virtual architecture than that of
    /// the first definition, which need not be the one before it [weak-higher-architecture].
    fn between_weak(&self, new: FunctionId, old: FunctionId, link: LinkSymbolId) -> MergeOutcome {
        let (new_registers, old_registers) = (self.registers(new), self.registers(old));
        match new_registers.cmp(&old_registers) {
            Ordering::Less => return MergeOutcome::ReplacesMoreRegisters,
            Ordering::Greater => return MergeOutcome::YieldsToFewerRegisters,
            Ordering::Equal => {}
        }
        let first = self.first_definition[link.index()];
        let first = first.and_then(|first| self.module.symbols[first].function);
        match self.virtual_sm(new) > self.virtual_sm(first.unwrap_or(old)) {
            true => MergeOutcome::ReplacesOlder,
            false => MergeOutcome::YieldsToFirst,
        }
    }

    /// Returns the number of registers that a function uses: that of the section of its code (below
    /// sm_90), else that of its record [registers-of-code].
    fn registers(&self, id: FunctionId) -> u32 {
        let function = &self.module.functions[id];
        match self.module.sections[function.views.sass.text].info {
            SectionInfo::Symbol { high, .. } if high != 0 => high.into(),
            // [registers-of-code-alone]
            _ if self.module.toolkit.has(&REGISTERS_OF_CODE_ALONE) => 0,
            _ => function.registers,
        }
    }

    /// Returns the virtual SM that a function was compiled for; 0 if its object does not say.
    fn virtual_sm(&self, id: FunctionId) -> u16 {
        let virtual_sms = self.virtual_sms.get_or_init(|| {
            let objects = self.module.objects.values();
            let read = |object: &Object<'_>| self.module.origin(object).virtual_sm;
            objects.map(|object| read(object).unwrap_or(0)).collect()
        });
        let symbol = self.module.functions[id].symbol;
        virtual_sms[self.module.symbols[symbol].object.index()]
    }

    /// Reports a function or kernel that has the name of a local kernel or function before it: nvlink
    /// takes it for another symbol of that [local-kernel-before-function], and a weak kernel for another
    /// copy of a kernel, whose parameters have the same size [parameters-of-local-kernels].
    pub(super) fn compare_local_functions(&mut self, id: SymbolId, symbol: &Symbol<'data>) {
        let local = self.local_functions.get(symbol.name);
        let Some(&local) = local.filter(|_| symbol.is_function()) else {
            return;
        };
        let is_kernel = |symbol: SymbolId| self.module.symbols[symbol].is_entry();
        let known = self.named(NameHash::of(symbol.name), symbol.name);
        let known = known.map(|link| self.module.link_symbols[link].first);
        if is_kernel(self.module.functions[local].symbol) != symbol.is_entry() {
            // A local variable before a local kernel stands for it.
            let first = self.first_locals().get(symbol.name).copied();
            if first.is_some_and(|first| is_kernel(first) == symbol.is_entry()) {
                return;
            }
            // Else it is reported for the global symbol.
            if known.is_none_or(|known| is_kernel(known) == symbol.is_entry()) {
                self.not_declared_global(id, symbol);
            }
        } else if let Some(function) = symbol.function
            && symbol.is_entry()
            && symbol.bind == Binding::WEAK
            && known.is_none()
        {
            self.compare_parameters(id, function, local);
        }
    }

    /// Returns the first local symbol of each name in the link, but for those without a type.
    pub(super) fn first_locals(&self) -> &HashMap<&'data [u8], SymbolId, FixedState> {
        self.first_locals.get_or_init(|| {
            let mut first = HashMap::default();
            for (_, object) in self.module.included_objects() {
                for id in object.symbols.iter() {
                    let symbol = &self.module.symbols[id];
                    if symbol.is_local() && !symbol.is_filler() {
                        first.entry(symbol.name).or_insert(id);
                    }
                }
            }
            first
        })
    }

    /// Compares the sizes of the parameters of two weak definitions of a kernel, which share one
    /// bank.
    fn compare_parameters(&mut self, id: SymbolId, new: FunctionId, old: FunctionId) {
        let parameters = self.parameters.get_or_init(|| {
            let mut sizes = vec![0; self.module.functions.len()];
            for section in self.module.sections.values() {
                if let (SectionKind::FunctionConstants(0), Some(owner)) =
                    (section.kind, section.owner)
                {
                    sizes[owner.index()] = section.size();
                }
            }
            sizes
        });
        let size = |function: FunctionId| parameters[function.index()];
        // A kernel without a bank of its own: its parameters lie in that of another of its name.
        if size(new) == size(old) || size(new) == 0 {
            return;
        }
        let symbol = &self.module.symbols[id];
        let message = format!(
            "Duplicate weak parameter bank for '{}' is not the same size",
            text(symbol.name)
        );
        let error = Diagnostic::error(link::PARAMETER_SIZE, message);
        // nvlink says it when it comes to the bank's symbol, among those of variables.
        let is_of_bank = |id: &SymbolId| match self.module.symbols[*id].place {
            SymbolPlace::Section(section) => {
                let section = &self.module.sections[section];
                section.kind == SectionKind::FunctionConstants(0) && section.owner == Some(new)
            }
            _ => false,
        };
        let object = symbol.object;
        match self.module.objects[object].symbols.iter().find(is_of_bank) {
            Some(parameter) => self.push(parameter, error),
            None => self.find(error.at(object.index_u32(), u32::MAX)),
        }
    }
}
