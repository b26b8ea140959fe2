//! Names in findings that were written down: which code or deviation is meant.
//!
//! Findings hold names that live as long as the program. A name that is not one of cuweld's own, such
//! as the code of another program's pass, is kept once and never given back.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::PoisonError;

use crate::Code;
use crate::CodeRow;
use crate::Kind;
use crate::codes;

/// The longest name, in bytes, that a code has which is not cuweld's own.
const LONGEST: usize = 100;

static OTHERS: Mutex<Option<HashMap<String, Code>>> = Mutex::new(None);
static DEVIATIONS: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

/// Returns the code of this name: one of cuweld's own, or that of an extension, of which nothing but
/// its name is known. `None` if it is no name of a code: `KIND/WORDS`.
pub fn code(name: &str) -> Option<Code> {
    if let Some(known) = codes::find(name) {
        return Some(known);
    }
    let (kind, words) = name.split_once('/')?;
    let kind = *Kind::ALL.iter().find(|known| known.name() == kind)?;
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if words.is_empty() || name.len() > LONGEST || !words.bytes().all(is_word) {
        return None;
    }
    let mut others = OTHERS.lock().unwrap_or_else(PoisonError::into_inner);
    let others = others.get_or_insert_with(HashMap::new);
    let row = || -> &'static CodeRow {
        Box::leak(Box::new(CodeRow {
            name: name.to_owned().leak(),
            kind,
            title: "a finding of an extension",
            when: "A pass from elsewhere says so.",
            advice: None,
        }))
    };
    Some(
        *others
            .entry(name.to_owned())
            .or_insert_with(|| Code::new(row())),
    )
}

/// Returns the name of an entry of `docs/deviations.md`, `D` and two or three digits, as findings have
/// it.
pub fn deviation(name: &str) -> Option<&'static str> {
    let digits = name.strip_prefix('D')?;
    if !matches!(digits.len(), 2 | 3) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut known = DEVIATIONS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = known.iter().find(|known| **known == name) {
        return Some(known);
    }
    let name: &'static str = name.to_owned().leak();
    known.push(name);
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::link;

    #[test]
    fn codes_are_found_by_name() {
        assert_eq!(code("link/undefined"), Some(link::UNDEFINED));
        let own = code("link/of-my-pass").unwrap();
        assert_eq!((own.name(), own.kind()), ("link/of-my-pass", Kind::Link));
        assert_eq!(code("link/of-my-pass"), Some(own));
        assert!(std::ptr::eq(
            own.name(),
            code("link/of-my-pass").unwrap().name()
        ));
        let long = format!("link/{}", "x".repeat(LONGEST));
        for wrong in ["link", "link/", "links/x", "link/X", "link/a b", &*long, ""] {
            assert_eq!(code(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn deviations_have_numbers() {
        assert_eq!(deviation("D07"), Some("D07"));
        assert_eq!(deviation("D107"), Some("D107"));
        for wrong in ["", "D", "D7", "D1234", "X07", "D0x"] {
            assert_eq!(deviation(wrong), None, "{wrong}");
        }
    }
}
