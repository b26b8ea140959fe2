//! Names as in the source, for explanations. Messages themselves carry symbol names as they are.

use cpp_demangle::DemangleOptions;
use cpp_demangle::ParseOptions;
use cpp_demangle::Symbol;

/// Bounds the depth of a mangled name; real ones stay far below.
const RECURSION_LIMIT: u32 = 96;
/// Longer names are left alone: a demangled name can be exponentially longer than its symbol.
const MAX_LENGTH: usize = 4096;
/// Longer results are no use in a message.
const MAX_RESULT: usize = 16 * 1024;

/// What nvcc puts before the name of a symbol of internal linkage, which is made global so that the
/// host can refer to it: this, the length of the module's id, `_`, the id, `_`.
const STATIC_PREFIX: &[u8] = b"__nv_static_";
/// How nvcc names the namespace of a module's internal functions.
const INTERNAL_NAMESPACE: &str = "_INTERNAL_";

/// The name as in the source; None for one that is not mangled.
///
/// Names of internal linkage lose what nvcc adds to make them unique: `__nv_static_23__..._Z2skPi`
/// is `sk(int*)`.
pub fn demangle(name: &[u8]) -> Option<String> {
    if name.len() > MAX_LENGTH {
        return None;
    }
    match strip_static_prefix(name) {
        Some(inner) => {
            demangle_itanium(inner).or_else(|| std::str::from_utf8(inner).ok().map(str::to_owned))
        }
        None => demangle_itanium(name),
    }
}

/// The mangled names that stand in single quotes in a message, with what they mean.
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

fn demangle_itanium(name: &[u8]) -> Option<String> {
    if !name.starts_with(b"_Z") {
        return None;
    }
    let parse = ParseOptions::default().recursion_limit(RECURSION_LIMIT);
    let symbol = Symbol::new_with_options(name, &parse).ok()?;
    let options = DemangleOptions::default().recursion_limit(RECURSION_LIMIT);
    let mut text = Bounded(String::new());
    // The callback form lets the writer end the work once the text is too long.
    symbol.structured_demangle(&mut text, &options).ok()?;
    Some(drop_internal_namespaces(&text.0))
}

/// Collects text, and refuses more than [`MAX_RESULT`].
struct Bounded(String);

impl cpp_demangle::DemangleWrite for Bounded {
    fn write_string(&mut self, text: &str) -> std::fmt::Result {
        if self.0.len().saturating_add(text.len()) > MAX_RESULT {
            return Err(std::fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// The name behind `__nv_static_`.
fn strip_static_prefix(name: &[u8]) -> Option<&[u8]> {
    let rest = name.strip_prefix(STATIC_PREFIX)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (length, rest) = rest.split_at_checked(digits)?;
    let length: usize = std::str::from_utf8(length).ok()?.parse().ok()?;
    let rest = rest.strip_prefix(b"_")?;
    let (_, rest) = rest.split_at_checked(length)?;
    rest.strip_prefix(b"_").filter(|name| !name.is_empty())
}

/// Removes `_INTERNAL_...::`.
fn drop_internal_namespaces(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(INTERNAL_NAMESPACE) {
        let identifier_starts =
            !before.ends_with(|character: char| character.is_alphanumeric() || character == '_');
        let end = after
            .find(|character: char| !character.is_alphanumeric() && character != '_')
            .unwrap_or(after.len());
        let (identifier, behind) = after.split_at(end);
        kept.push_str(before);
        match behind.strip_prefix("::") {
            Some(behind) if identifier_starts => rest = behind,
            _ => {
                kept.push_str(INTERNAL_NAMESPACE);
                kept.push_str(identifier);
                rest = behind;
            }
        }
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expected: Option<&str>) {
        assert_eq!(demangle(name.as_bytes()).as_deref(), expected, "{name}");
    }

    #[test]
    fn mangled_names() {
        check("_Z1kPi", Some("k(int*)"));
        check("_ZN2ns3fooEv", Some("ns::foo()"));
        check("_Z1fIfEvT_", Some("void f<float>(float)"));
    }

    #[test]
    fn other_names() {
        check("vprintf", None);
        check("", None);
        check("_Z", None);
        check("_Zgarbage", None);
        assert_eq!(demangle(b"_Z\xff\xfe"), None);
    }

    #[test]
    fn names_of_internal_linkage() {
        check(
            "__nv_static_23__4a5b99f3_4_s_cu__Z1kPi__Z2skPi",
            Some("sk(int*)"),
        );
        check("__nv_static_23__4a5b99f3_4_s_cu__Z1kPi_sv", Some("sv"));
        check(
            "__nv_static_23__4a5b99f3_4_s_cu__Z1kPi__ZN34_GLOBAL__N__4a5b99f3_4_s_cu__Z1kPi2akEPf",
            Some("(anonymous namespace)::ak(float*)"),
        );
        check(
            "_ZN32_INTERNAL_4a5b99f3_4_s_cu__Z1kPi2sfEi",
            Some("sf(int)"),
        );
        check(
            "_ZN32_INTERNAL_4a5b99f3_4_s_cu__Z1kPi34_GLOBAL__N__4a5b99f3_4_s_cu__Z1kPi1gEi",
            Some("(anonymous namespace)::g(int)"),
        );
    }

    #[test]
    fn broken_static_prefixes() {
        for name in [
            "__nv_static_",
            "__nv_static_23",
            "__nv_static_23_short",
            "__nv_static_99999999999999999999999_x_y",
            "__nv_static_1_x",
            "__nv_static_1_x_",
            "__nv_static__x_y",
        ] {
            check(name, None);
        }
    }

    #[test]
    fn names_in_messages_are_found() {
        let found = explain_names("Undefined reference to '_Z3fooi' in '_Z3fooi' or 'a.o'");
        assert_eq!(found, [("_Z3fooi".to_owned(), "foo(int)".to_owned())]);
    }

    #[test]
    fn names_that_grow_without_end_are_left_alone() {
        // Each argument list refers to the one before it twice.
        let mut name = "_Z1f".to_owned();
        for _ in 0..40 {
            name.push_str("P1aIS_S_E");
        }
        let bounded =
            |name: &str| demangle(name.as_bytes()).is_none_or(|text| text.len() <= MAX_RESULT);
        assert!(bounded(&name));
        assert!(bounded(&format!("_Z1f{}i", "P".repeat(4000))));
        check(&format!("_Z1f{}i", "P".repeat(5000)), None);
        assert_eq!(demangle(b"_Z1fPPPi").as_deref(), Some("f(int***)"));
    }

    #[test]
    fn internal_namespace_needs_a_whole_identifier() {
        assert_eq!(
            drop_internal_namespaces("my_INTERNAL_x::f"),
            "my_INTERNAL_x::f"
        );
        assert_eq!(drop_internal_namespaces("_INTERNAL_x"), "_INTERNAL_x");
        assert_eq!(
            drop_internal_namespaces("f(_INTERNAL_x::a, _INTERNAL_x::b)"),
            "f(a, b)"
        );
    }
}
