//! Names as their authors wrote them.

/// Length limit in bytes of names that are demangled: longer ones are left alone, as demangling can
/// grow them without bound.
const LIMIT: usize = 4096;

/// The C++ name that a symbol stands for; `None` if it is not mangled.
///
/// nvcc's names of internal symbols, `__nv_static_..._Z1fv` and `_INTERNAL_...`, are understood as
/// far as they hold a mangled name.
pub fn demangle(name: &[u8]) -> Option<String> {
    if name.len() > LIMIT {
        return None;
    }
    let text = std::str::from_utf8(name).ok()?;
    let mangled = match text.strip_prefix("__nv_static_") {
        Some(rest) => &rest[rest.find("_Z")?..],
        None => text,
    };
    if !mangled.starts_with("_Z") {
        return None;
    }
    let symbol = cpp_demangle::Symbol::new(mangled).ok()?;
    symbol.demangle().ok().filter(|demangled| demangled != mangled)
}

/// Adds the demangled form behind every mangled name that stands in single quotes.
pub fn explain_names(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for quoted in text.split('\'').skip(1).step_by(2) {
        if let Some(demangled) = demangle(quoted.as_bytes())
            && !found.iter().any(|(name, _)| name == quoted)
        {
            found.push((quoted.to_owned(), demangled));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mangled_names_are_understood() {
        assert_eq!(demangle(b"_Z3fooi").as_deref(), Some("foo(int)"));
        assert_eq!(demangle(b"foo"), None);
        assert_eq!(demangle(b"_Z"), None);
        assert_eq!(
            demangle(b"__nv_static_24__5c_5_h3_cu__Z2ekv").as_deref(),
            Some("ek()")
        );
        assert_eq!(demangle(&[0xff, 0xfe]), None);
    }

    #[test]
    fn names_in_messages_are_found() {
        let found = explain_names("Undefined reference to '_Z3fooi' in 'a.o'");
        assert_eq!(found, [("_Z3fooi".to_owned(), "foo(int)".to_owned())]);
    }
}
