//! Checks of a device ELF as it is written, without the module that it came of.
//!
//! [`check_image`] reads the file with nothing but its headers and proves that it is sound: every
//! byte has an owner, tables refer to what exists, and in files with Mercury both views say the
//! same (`docs/formats/mercury.md`). Each rule is a variant of [`Rule`]. The pass `self-check` adds
//! what can be proved with the module at hand; `cuweld check` runs the rules of this module alone.
//!
//! All files that ptxas and nvlink wrote into `tests/links` pass.

mod debug;
mod file;
mod frames;
mod lists;
mod mercury;
mod places;
mod relocs;
mod rule;
mod symbols;
mod tail;
mod view;
mod views;

pub use self::rule::Part;
pub use self::rule::Rule;
pub use self::view::View;
pub use self::view::ViewSection;
pub use self::view::rows;
pub use self::view::section_of;
pub use self::views::Views;
pub use self::views::ViewsPart;

use std::fmt;

use crate::raw::EM_CUDA;
use crate::validate::validate_structure;
use crate::validate::validate_tables;

/// How many findings of one file are collected; damaged tables can have one for each row.
const MOST: usize = 100;

/// A rule that a file breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// The section in which it is broken, by name; empty for the file as a whole.
    pub section: String,
    /// Offset in bytes in that section, or in the file if there is no section.
    pub offset: Option<u64>,
    /// What is wrong.
    pub detail: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.section.is_empty() {
            "file"
        } else {
            &self.section
        };
        f.write_str(place)?;
        if let Some(offset) = self.offset {
            write!(f, "+{offset:#x}")?;
        }
        write!(f, ": {} [{}]", self.detail, self.rule.name())
    }
}

/// Findings in the order in which they were made.
#[derive(Debug, Default)]
pub struct Findings {
    list: Vec<Finding>,
}

impl Findings {
    /// Adds a finding, unless there are too many already.
    pub fn report(
        &mut self,
        rule: Rule,
        section: &[u8],
        offset: impl Into<Option<u64>>,
        detail: impl Into<String>,
    ) {
        if self.list.len() < MOST {
            self.list.push(Finding {
                rule,
                section: String::from_utf8_lossy(section).into_owned(),
                offset: offset.into(),
                detail: detail.into(),
            });
        }
    }

    /// Returns all findings.
    pub fn into_list(self) -> Vec<Finding> {
        self.list
    }
}

/// Checks a device ELF; nothing if it is sound.
pub fn check_image(image: &[u8]) -> Vec<Finding> {
    let mut findings = Findings::default();
    if let Some(view) = read(image, &mut findings) {
        let twins = symbols::twins(&view);
        file::check(&view, &mut findings);
        symbols::check(&view, &twins, &mut findings);
        relocs::check(&view, &twins, 0..view.sections.len(), &mut findings);
        mercury::sizes(&view, &mut findings);
        mercury::check(&view, &twins, 0..view.sections.len(), &mut findings);
        debug::check(&view, &twins, &mut findings);
        frames::check(&view, &mut findings);
        lists::check(&view, &twins, &mut findings);
        if file::has_mercury(&view) {
            places::check(&view, &mut findings);
        }
    }
    findings.into_list()
}

/// Returns `true` if a file holds Mercury beside SASS.
pub fn is_mercury_image(image: &[u8]) -> bool {
    let view = read(image, &mut Findings::default());
    view.is_some_and(|view| file::has_mercury(&view))
}

/// Reads the headers of a file, which all other rules need.
pub fn read<'data>(image: &'data [u8], findings: &mut Findings) -> Option<View<'data>> {
    let headers = validate_structure(image).and_then(|headers| {
        validate_tables(&headers, image.len() as u64)?;
        Ok(headers)
    });
    let headers = match headers {
        Ok(headers) => headers,
        Err(error) => {
            findings.report(Rule::Structure, b"", None, error.to_string());
            return None;
        }
    };
    let machine = headers.file.machine.get();
    if machine != EM_CUDA {
        let what = format!("the machine is {machine}, not CUDA's {EM_CUDA}");
        findings.report(Rule::Structure, b"", 18, what);
        return None;
    }
    View::new(image, headers, findings)
}
