//! Which remarks are of interest: those of some passes, about some symbols.

use cuweld_ir::Module;
use thiserror::Error;

use super::Entity;
use super::Remark;
use super::shown::source_name;
use crate::suggest;

/// The word for all remarks.
const ALL: &str = "all";

/// Chooses remarks by pass and by symbol; by default all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemarkFilter {
    /// Names of passes; all passes if there is none.
    passes: Vec<String>,
    /// Names of symbols, mangled or as in the source; all remarks if there is none.
    symbols: Vec<String>,
}

/// A word that names no pass and no symbol of the link.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("no pass and no symbol of the link is named '{name}'{}", .suggestion.as_ref().map_or(String::new(), |word| format!("; did you mean '{word}'?")))]
pub struct UnknownName {
    /// The word.
    pub name: String,
    /// What was probably meant.
    pub suggestion: Option<String>,
}

impl RemarkFilter {
    /// Reads words, each the name of one of the `passes`, or of a symbol; `all` and no word at all
    /// stand for everything. Where passes and symbols are named, a remark has to be of one of these
    /// passes and speak of one of these symbols.
    pub fn new<'w>(words: impl IntoIterator<Item = &'w str>, passes: &[&str]) -> Self {
        let mut filter = RemarkFilter::default();
        for word in words.into_iter().filter(|word| *word != ALL) {
            match passes.contains(&word) {
                true => filter.passes.push(word.to_owned()),
                false => filter.symbols.push(word.to_owned()),
            }
        }
        filter
    }

    /// Returns `true` if remarks of a pass can be of interest.
    pub fn takes_pass(&self, pass: &str) -> bool {
        self.passes.is_empty() || self.passes.iter().any(|name| name == pass)
    }

    /// Returns `true` if a remark of a pass is of interest.
    pub fn takes(&self, module: &Module<'_>, pass: &str, remark: &Remark) -> bool {
        let is_named = |entity: Entity| {
            let name = entity.symbol_name(module);
            name.is_some_and(|name| self.symbols.iter().any(|word| is_name(word, name)))
        };
        self.takes_pass(pass) && (self.symbols.is_empty() || remark.entities().any(is_named))
    }

    /// Checks that every word names something. `passes` are the known passes, from which a
    /// suggestion may come. Linear in the symbols of the module for each word.
    pub fn check(&self, module: &Module<'_>, passes: &[&str]) -> Result<(), UnknownName> {
        let names = || module.symbols.values().map(|symbol| symbol.name);
        let is_unknown = |word: &&String| !names().any(|name| is_name(word, name));
        let Some(word) = self.symbols.iter().find(is_unknown) else {
            return Ok(());
        };
        Err(UnknownName {
            name: word.clone(),
            suggestion: nearest_name(word, passes, names()),
        })
    }
}

/// Returns what a word was probably meant to be: one of some other words, or the name of a symbol in
/// one of the forms of [`is_name`].
pub(crate) fn nearest_name<'n>(
    word: &str,
    others: &[&str],
    names: impl Iterator<Item = &'n [u8]>,
) -> Option<String> {
    let names: Vec<&[u8]> = names.collect();
    let sources: Vec<String> = names.iter().copied().filter_map(source_name).collect();
    let mangled = names
        .iter()
        .filter_map(|name| std::str::from_utf8(name).ok());
    let of_source = sources.iter().flat_map(|source| {
        let short = without_parameters(source);
        [source, short, without_arguments(short)]
    });
    let known = others.iter().copied().chain(mangled).chain(of_source);
    suggest::nearest(word, known).map(str::to_owned)
}

/// Returns `true` if a word is the name of a symbol: mangled, as in the source, or as in the source
/// without parameters, with or without the arguments of a template.
pub(crate) fn is_name(word: &str, name: &[u8]) -> bool {
    if word.as_bytes() == name {
        return true;
    }
    let source = source_name(name);
    source.is_some_and(|source| {
        let short = without_parameters(&source);
        source == word || short == word || without_arguments(short) == word
    })
}

/// Returns a name of the source up to its parameters, without the type that a template returns.
fn without_parameters(source: &str) -> &str {
    let mut depth = 0_usize;
    let mut start = 0;
    for (index, letter) in source.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '(' if depth == 0 => return source.get(start..index).unwrap_or(source),
            ' ' if depth == 0 => start = index + 1,
            _ => {}
        }
    }
    source.get(start..).unwrap_or(source)
}

/// Returns a name without the arguments of a template at its end.
fn without_arguments(name: &str) -> &str {
    match name.strip_suffix('>') {
        Some(_) => name.split('<').next().unwrap_or(name),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSES: [&str; 2] = ["classify", "callgraph-dce"];

    #[test]
    fn words_are_passes_or_symbols() {
        let filter = RemarkFilter::new(["classify", "f", "all"], &PASSES);
        assert!(filter.takes_pass("classify") && !filter.takes_pass("callgraph-dce"));
        assert_eq!(filter.symbols, ["f"]);
        let all = RemarkFilter::new([], &PASSES);
        assert_eq!(all, RemarkFilter::default());
    }

    #[test]
    fn a_symbol_has_several_names() {
        for word in ["_Z3fooi", "foo(int)", "foo"] {
            assert!(is_name(word, b"_Z3fooi"), "{word}");
        }
        assert!(!is_name("fo", b"_Z3fooi") && !is_name("int", b"_Z3fooi"));
        for word in ["clamp_to", "clamp_to<float>"] {
            assert!(is_name(word, b"_Z8clamp_toIfET_S0_S0_S0_"), "{word}");
        }
        let template = "T1 heavy<void (*)(int)>(const T1 *, int)";
        assert_eq!(without_parameters(template), "heavy<void (*)(int)>");
        assert_eq!(without_parameters("f(int)::tab"), "f");
    }
}
