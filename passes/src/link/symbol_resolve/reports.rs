//! What is reported while objects are merged.

use super::*;

impl Resolver<'_, '_> {
    /// Refuses an object after one of the device runtime that was passed over, as nvlink does.
    pub(super) fn refuse_behind_runtime(&mut self, object: ObjectId, runtime: &str) {
        self.ended = true;
        let file = self.module.objects[object].display();
        self.find(
            Diagnostic::fatal(link::AFTER_RUNTIME, "unexpected object after cudadevrt")
                .note(format!(
                    "'{file}' comes after '{runtime}', which nothing needed at its turn"
                ))
                .help("give the device runtime last")
                .at(object.index_u32(), 0),
        );
    }

    /// Warns of an object beside an EWP object. EWP objects are whole programs that the device
    /// runtime may be added to; nvlink says so of every other object, and goes on.
    pub(super) fn warn_beside_ewp(&mut self, object: ObjectId) {
        let row = &self.module.objects[object];
        if row.e_type == ET_EWP || row.system_library {
            return;
        }
        let message = format!(
            "'{}': -ewp compiled objects should only link with libcudadevrt",
            row.display()
        );
        self.find(Diagnostic::warning(link::BESIDE_EWP, message).at(object.index_u32(), 0));
    }

    /// Warns of a `.nv.compat` without the ISA class, which counts as one of class 0.
    pub(super) fn warn_of_isa_class(&mut self, object: ObjectId, kinds: &Kinds) {
        if !self.module.target.has_compat() {
            return;
        }
        let row = &self.module.objects[object];
        let sm = self.module.target.sm;
        let Some(section) = kinds.find(row.sections, SectionKind::Compat) else {
            return;
        };
        let records = &self.module.attributes[self.module.sections[section].attributes];
        if records
            .iter()
            .any(|record| record.code == compat::ISA_CLASS)
        {
            return;
        }
        let message = format!(
            "Output is limited to run on SM Arch '{sm}' only, due to missing attribute 'ISA_CLASS' in input file '{}'",
            row.display()
        );
        self.find(Diagnostic::warning(input::ISA_CLASS, message).at(object.index_u32(), u32::MAX));
    }

    /// Adds a finding. An error ends the link after the object, and so does a warning that is one.
    /// Reports code that keeps its columns of tensor memory otherwise than that of an earlier object
    /// [tensor-memory-versions].
    pub(super) fn compare_tensor_memory(&mut self, id: SymbolId, symbol: &Symbol<'_>) {
        for other in known_symbols::other_tensor_memory(symbol.name) {
            if self.named(NameHash::of(other), other).is_some() {
                let message = format!(
                    "Object '{}' cannot be linked due to version mismatch. Objects using tcgen05 in \
                     12.x cannot be linked with 13.0 or later, they must be rebuilt with latest \
                     compiler",
                    self.file(id)
                );
                self.push(id, Diagnostic::error(link::TENSOR_MEMORY, message));
            }
        }
    }

    pub(super) fn find(&mut self, diagnostic: Diagnostic) {
        self.failed |= diagnostic.severity >= Severity::Error
            || diagnostic.severity == Severity::Warning
                && self.module.options.reports.warnings_are_errors;
        self.diagnostics.push(diagnostic);
    }

    pub(super) fn file(&self, symbol: SymbolId) -> String {
        self.module.objects[self.module.symbols[symbol].object].display()
    }

    /// Reports two definitions that cannot both prevail.
    pub(super) fn duplicate(&mut self, id: SymbolId, other: SymbolId) {
        let code = link::DUPLICATE_DEFINITION;
        self.conflict(
            code,
            "Multiple definition of",
            "first defined in",
            id,
            other,
        );
    }

    /// Reports two symbols that cannot be one.
    pub(super) fn conflict(
        &mut self,
        code: Code,
        what: &str,
        first: &str,
        id: SymbolId,
        other: SymbolId,
    ) {
        let (new, old) = (self.module.symbols[id], self.module.symbols[other]);
        let file = self.file(id);
        // nvlink does not know where a texture comes from.
        let first_file = match old.ty.is_header() {
            true => "<input>".to_owned(),
            false => self.file(other),
        };
        if self.module.options.relocatable && old.ty.is_header() {
            self.push(id, Diagnostic::refusal(unsupported::REPEATED_TEXTURE));
            return;
        }
        let message = format!(
            "{what} '{}' in '{file}', {first} '{first_file}'",
            text(new.name)
        );
        let error = Diagnostic::error(code, message)
            .note(format!("'{first_file}' has {}", describe(&old)))
            .note(format!("'{file}' has {}", describe(&new)));
        let error = match code {
            _ if code == link::DUPLICATE_DEFINITION => self.explain_duplicate(error, &old, &new),
            _ if code == link::SIZE_MISMATCH => error.help(how_sizes_agree(&new)),
            _ => error,
        };
        self.push(id, error);
    }

    /// Adds whether two definitions are equal, and how one of them goes.
    fn explain_duplicate(
        &self,
        error: Diagnostic,
        old: &Symbol<'_>,
        new: &Symbol<'_>,
    ) -> Diagnostic {
        let error = match self.contents(old).zip(self.contents(new)) {
            Some((old, new)) if old == new => error.note("both are the same"),
            Some(_) => error.note("they differ"),
            None => error,
        };
        error.help(match new.is_function() {
            true => "define it in one file alone, or make it `static`, `inline` or a template",
            false => {
                "define it in one file and declare it `extern` in the others, or make it `static`"
            }
        })
    }

    /// Returns the bytes of a definition; `None` for memory without any.
    fn contents(&self, symbol: &Symbol<'_>) -> Option<&[u8]> {
        let SymbolPlace::Section(section) = symbol.place else {
            return None;
        };
        let bytes = self.module.sections[section].bytes();
        let start = usize::try_from(symbol.value).ok()?;
        let end = start.checked_add(usize::try_from(symbol.size).ok()?)?;
        bytes.get(start..end).filter(|bytes| !bytes.is_empty())
    }

    pub(super) fn push(&mut self, id: SymbolId, diagnostic: Diagnostic) {
        let symbol = &self.module.symbols[id];
        let ordinal = id.index_u32();
        let second = u32::from(!symbol.is_function()) << 31;
        self.find(diagnostic.at(symbol.object.index_u32(), second | ordinal));
    }
}

/// Returns what makes the sizes of two definitions of a variable agree.
fn how_sizes_agree(symbol: &Symbol<'_>) -> &'static str {
    // Compilers name what is inside a function after it, with a dollar sign.
    match symbol.name.contains(&b'$') {
        true => {
            "it belongs to a function that the two files have compiled differently: build both from the same header, with the same compiler and options"
        }
        false => "build all files from the same declaration, with the same compiler and options",
    }
}

/// Returns a description of a symbol, for notes.
fn describe(symbol: &Symbol<'_>) -> String {
    let binding = match symbol.bind {
        Binding::WEAK => "weak ",
        Binding::LOCAL => "local ",
        _ => "",
    };
    let what = match (
        symbol.is_function(),
        symbol.is_entry(),
        symbol.other.space(),
    ) {
        (_, true, _) => "kernel",
        (true, ..) => "device function",
        (_, _, SymbolOther::GLOBAL) => "variable in global memory",
        (_, _, SymbolOther::SHARED) => "shared variable",
        (_, _, SymbolOther::CONSTANT) => "constant",
        _ => "variable",
    };
    match symbol.place {
        SymbolPlace::Undefined => format!("a reference to a {what} of {} bytes", symbol.size),
        SymbolPlace::Common => {
            format!("a tentative definition of a {what}, {} bytes", symbol.size)
        }
        _ => format!("a {binding}{what} of {} bytes", symbol.size),
    }
}

pub(super) fn text(name: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(name)
}
