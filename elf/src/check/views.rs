//! The two views of an object of a link, one beside the other.
//!
//! nvlink reads the Mercury view and derives the other one from it, so that what only the SASS view
//! says is of no effect.

use std::ops::Range;

use super::Finding;
use super::Findings;
use super::View;
use super::debug;
use super::frames;
use super::lists;
use super::mercury;
use super::places;
use super::read;
use super::relocs;
use super::symbols;
use crate::validate::headers_of_sound;

/// An object with Mercury whose views are compared.
#[derive(Debug)]
pub struct Views<'data> {
    view: View<'data>,
    twins: Vec<Option<usize>>,
    /// What was found when the object was read.
    found: Option<Finding>,
}

/// A part of the comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViewsPart {
    /// Sections and symbols.
    Symbols,
    /// Relocations, by the sections that hold them.
    Relocs(Range<usize>),
    /// Sizes of code.
    Sizes,
    /// Mercury code, by its sections.
    Code(Range<usize>),
    /// Bytes that both views have, frames of functions, lists of the file, and records that name
    /// instructions.
    Places,
}

impl<'data> Views<'data> {
    /// Reads an object that was read before: `names` are those of its sections. `None` if it is
    /// damaged.
    pub fn read(
        image: &'data [u8],
        names: impl ExactSizeIterator<Item = &'data [u8]>,
    ) -> Option<Self> {
        let mut findings = Findings::default();
        let view = match headers_of_sound(image) {
            Ok(headers) if headers.sections.len() == names.len() => {
                View::with_names(image, headers, names)
            }
            _ => read(image, &mut findings)?,
        };
        Some(Views {
            twins: symbols::twins(&view),
            view,
            found: findings.list.into_iter().next(),
        })
    }

    /// Returns the whole comparison, in parts of `sections` sections each.
    pub fn parts(&self, sections: usize) -> Vec<ViewsPart> {
        let all = self.view.sections.len();
        let starts = (0..all).step_by(sections.max(1));
        let ranges = starts.map(|start| start..all.min(start.saturating_add(sections)));
        let relocs = ranges.clone().map(ViewsPart::Relocs);
        let code = ranges.map(ViewsPart::Code);
        let mut parts = vec![ViewsPart::Symbols, ViewsPart::Places];
        parts.extend(relocs.chain([ViewsPart::Sizes]).chain(code));
        parts
    }

    /// Returns the first reason why the views do not stand for each other in a part.
    pub fn check(&self, part: &ViewsPart) -> Option<Finding> {
        if self.found.is_some() {
            return self.found.clone();
        }
        let (view, twins) = (&self.view, &self.twins[..]);
        let mut findings = Findings::default();
        match part {
            ViewsPart::Symbols => symbols::check(view, twins, &mut findings),
            ViewsPart::Relocs(range) => relocs::check(view, twins, range.clone(), &mut findings),
            ViewsPart::Sizes => mercury::sizes(view, &mut findings),
            ViewsPart::Places => {
                debug::aliases(view, twins, &mut findings);
                frames::check(view, &mut findings);
                lists::check(view, twins, &mut findings);
                places::check(view, &mut findings);
            }
            ViewsPart::Code(range) => mercury::check(view, twins, range.clone(), &mut findings),
        }
        findings.list.into_iter().next()
    }

    /// Returns the first reason why the views do not stand for each other.
    pub fn check_all(&self) -> Option<Finding> {
        let all = 0..self.view.sections.len();
        let parts = [
            ViewsPart::Symbols,
            ViewsPart::Relocs(all.clone()),
            ViewsPart::Sizes,
            ViewsPart::Code(all),
            ViewsPart::Places,
        ];
        parts.iter().find_map(|part| self.check(part))
    }
}
