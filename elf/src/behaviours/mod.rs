//! Rules of nvlink that no standard explains, each with a name, a sentence, the toolkits it holds
//! for, and the cases of `tests/links` and `tests/passes` that show it.
//!
//! Code that follows such a rule cites it in a comment, as `[replaced-alignment]`. Where another
//! toolkit has another rule the code asks [`Toolkit::has`](crate::toolkit::Toolkit::has).
//! `docs/formats/behaviours.md` is made from these tables, and `tests/it/behaviours.rs` checks that
//! each rule has a case, that each is cited, and that each citation has a rule.

pub mod attributes;
pub mod call_graph;
pub mod constants;
pub mod layout;
pub mod memory;
pub mod mercury;
pub mod messages;
pub mod relocations;
pub mod symbols;
pub mod textures;

/// A minor release of the toolkit. Patch releases of one minor release link alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    /// As in CUDA 13.0: 13.
    pub major: u8,
    /// As in CUDA 13.0: 0.
    pub minor: u8,
}

impl std::fmt::Display for Release {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The first release whose rules are known.
pub const FIRST: Release = Release {
    major: 12,
    minor: 6,
};

/// A rule of nvlink.
#[derive(Debug)]
pub struct Behaviour {
    /// Its name, which comments cite in brackets.
    pub name: &'static str,
    /// The rule as a sentence or two.
    pub doc: &'static str,
    /// The first release that has it, as far as is known.
    pub since: Release,
    /// The first patch release of that release that has it; most often all have.
    pub since_patch: u16,
    /// The first release that has it no more.
    pub until: Option<Release>,
    /// The cases that show it: folders of `tests/links` and files of `tests/passes`.
    pub cases: &'static [&'static str],
}

impl Behaviour {
    /// Returns `true` if nvlink of a patch release behaves so.
    pub fn holds_for(&self, release: Release, patch: u16) -> bool {
        (self.since, self.since_patch) <= (release, patch)
            && self.until.is_none_or(|until| release < until)
    }
}

/// Rules about one thing.
#[derive(Debug)]
pub struct Subject {
    /// Heading of the rules in the list.
    pub title: &'static str,
    /// What they are about, in a sentence.
    pub doc: &'static str,
    /// The rules, in the order of the list.
    pub behaviours: &'static [&'static Behaviour],
}

/// Declares the rules of a subject.
macro_rules! behaviours {
    (
        $title:literal: $about:literal;
        $(
            $(#[doc = $doc:literal])+
            $rule:ident = $name:literal $(since ($since_major:literal, $since_minor:literal $(, $since_patch:literal)?))?
                $(until ($major:literal, $minor:literal))?, shown by [$($case:literal),+ $(,)?];
        )*
    ) => {
        $(
            $(#[doc = $doc])+
            pub static $rule: $crate::behaviours::Behaviour = $crate::behaviours::Behaviour {
                name: $name,
                doc: concat!($($doc),+).trim_ascii(),
                since: $crate::behaviours::behaviours!(@since $(($since_major, $since_minor))?),
                since_patch: 0 $($(+ $since_patch)?)?,
                until: $crate::behaviours::behaviours!(@until $(($major, $minor))?),
                cases: &[$($case),+],
            };
        )*

        #[doc = $about]
        pub static SUBJECT: $crate::behaviours::Subject = $crate::behaviours::Subject {
            title: $title,
            doc: $about,
            behaviours: &[$(&$rule),*],
        };
    };
    (@since) => { $crate::behaviours::FIRST };
    (@since ($major:literal, $minor:literal)) => {
        $crate::behaviours::Release { major: $major, minor: $minor }
    };
    (@until) => { None };
    (@until ($major:literal, $minor:literal)) => {
        Some($crate::behaviours::Release { major: $major, minor: $minor })
    };
}
pub(crate) use behaviours;

/// All rules, by subject.
pub static SUBJECTS: &[&Subject] = &[
    &symbols::SUBJECT,
    &call_graph::SUBJECT,
    &attributes::SUBJECT,
    &memory::SUBJECT,
    &constants::SUBJECT,
    &textures::SUBJECT,
    &relocations::SUBJECT,
    &layout::SUBJECT,
    &mercury::SUBJECT,
    &messages::SUBJECT,
];

/// Goes through all rules.
pub fn all() -> impl Iterator<Item = &'static Behaviour> {
    let subjects = SUBJECTS.iter();
    subjects.flat_map(|subject| subject.behaviours.iter().copied())
}
