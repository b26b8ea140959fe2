//! Names as in the source, in nvlink's spelling.
//!
//! Some of nvlink's messages show a function as its source declares it: `f(const int *, T1...)`.
//! This is a demangler for the names of the Itanium C++ ABI that writes them like that, byte for
//! byte: its blanks, `T1` for the first template parameter, `[lambda() (instance 1)]`, `<unnamed>`.
//! What nvlink does not understand, such as names with internal linkage (`_ZL…`), stays as it is.
//!
//! `Parser` reads a name into a tree (`ast`), in which a substitution is the node that it stands
//! for; [`print`] writes the tree. Reading takes time linear in the name; depth and length of the
//! result are bounded, and a name beyond the bounds stays mangled.
//!
//! The spelling is nvlink's: `tests.rs` holds names with what nvlink 13.0.88 made of them.

mod ast;
mod expressions;
mod float;
mod names;
mod operators;
mod parser;
mod print;
#[cfg(test)]
mod tests;
mod types;

use std::borrow::Cow;

use parser::Parser;
use print::Extent;

/// Longer names are left alone.
const MAX_LENGTH: usize = 1 << 16;

/// What nvcc puts in front of the name of a symbol of internal linkage that host code refers to.
const STATIC_PREFIX: &[u8] = b"__nv_static_";

/// Returns the name as in the source; None for one that is not mangled, or in a way that nvlink
/// does not know.
pub fn demangle(name: &[u8]) -> Option<String> {
    print_to(name, Extent::Whole)
}

/// Demangles a name, and prints this much of it.
fn print_to(name: &[u8], extent: Extent) -> Option<String> {
    let mangled = without_module(name).unwrap_or(name).strip_prefix(b"_Z")?;
    if mangled.len() > MAX_LENGTH {
        return None;
    }
    let mut parser = Parser::new(mangled);
    let root = parser.encoding(true)?;
    if !parser.rest().is_empty() {
        return None;
    }
    print::print(&parser.ast, root, extent)
}

/// Returns the name after `__nv_static_`, the length of a module's id, `_`, the id and `_`.
fn without_module(name: &[u8]) -> Option<&[u8]> {
    let rest = name.strip_prefix(STATIC_PREFIX)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (length, rest) = rest.split_at_checked(digits)?;
    let length: usize = std::str::from_utf8(length).ok()?.parse().ok()?;
    let (_, rest) = rest.strip_prefix(b"_")?.split_at_checked(length)?;
    rest.strip_prefix(b"_")
}

/// Longer results are no use in an explanation.
const MAX_EXPLANATION: usize = 16 * 1024;

/// Demangles a name for a reader: what [`demangle`] knows, and names of internal linkage, without
/// what nvcc adds to make them unique. `__nv_static_23__..._Z2skPi` is `sk(int *)`, and `_ZL1fv` is
/// `f()`.
///
/// Returns None for a name that is as in the source already.
pub fn explained(name: &[u8]) -> Option<String> {
    explained_to(name, Extent::Whole)
}

/// Returns the name that all instances of a template have: `clamp_to<...>` of
/// `_Z8clamp_toIfET_S0_S0_S0_`. Functions come without parameters and results, and those of internal
/// linkage as [`explained`] has them.
///
/// Returns None for a name that is as in the source already.
pub fn family(name: &[u8]) -> Option<String> {
    explained_to(name, Extent::Family)
}

/// Explains a name, and prints this much of it.
fn explained_to(name: &[u8], extent: Extent) -> Option<String> {
    let inner = without_module(name).filter(|inner| !inner.is_empty());
    let mangled = inner.unwrap_or(name);
    let text = match mangled.strip_prefix(b"_ZL") {
        Some(rest) => print_to(&[b"_Z", rest].concat(), extent),
        None => print_to(mangled, extent),
    };
    let text = text.filter(|text| text.len() <= MAX_EXPLANATION);
    text.or_else(|| std::str::from_utf8(inner?).ok().map(str::to_owned))
}

/// Returns the mangled name within that of a variable of a function, which compilers write as
/// `$___ZZ1fiE1a__29`; other names as they are.
pub fn inner_name(name: &[u8]) -> &[u8] {
    let rest = name.strip_prefix(b"$__");
    let place = rest.and_then(|rest| rest.windows(2).rposition(|pair| pair == b"__"));
    match rest.and_then(|rest| rest.split_at_checked(place?)) {
        Some((inner, number)) if number.iter().skip(2).all(u8::is_ascii_digit) => inner,
        _ => name,
    }
}

/// Returns the name as nvlink shows it where it demangles: as in the source, or as it is.
pub fn displayed(name: &[u8]) -> Cow<'_, str> {
    match demangle(name) {
        Some(text) => Cow::Owned(text),
        None => String::from_utf8_lossy(name),
    }
}
