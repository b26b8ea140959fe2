//! Mangled names in messages, explained. Messages themselves carry symbol names as they are.

use cuweld_demangle::explained;
use cuweld_demangle::inner_name;

/// Returns the mangled names that stand in single quotes in a message, with what they mean.
pub fn explain_names(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for quoted in text.split('\'').skip(1).step_by(2) {
        if let Some(demangled) = explained(inner_name(quoted.as_bytes()))
            && !found.iter().any(|(name, _)| name == quoted)
        {
            found.push((quoted.to_owned(), demangled));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::explain_names;

    #[test]
    fn names_in_messages_are_found() {
        let found = explain_names("Undefined reference to '_Z3fooi' in '_Z3fooi' or 'a.o'");
        assert_eq!(found, [("_Z3fooi".to_owned(), "foo(int)".to_owned())]);
        let found = explain_names("'$___ZZ6helperiE3tab__29' and '$plain__x'");
        assert_eq!(found[0].1, "helper(int)::tab");
        assert_eq!(found.len(), 1);
    }
}
