//! Codes: the stable names of findings, and what there is to say of each.

use std::fmt;

/// The area that a finding belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A file cannot be linked: it is damaged, or does not fit the link.
    Input,
    /// What the objects say of each other or need together.
    Link,
    /// The command line, a pipeline, or another text that a user writes.
    Usage,
    /// nvlink links it or may do so, and cuweld does not.
    Unsupported,
    /// cuweld does what nvlink does not, on purpose.
    Deviation,
    /// Files, compilers and libraries of the machine.
    System,
    /// A pass from elsewhere, or a program that is run as one.
    Extension,
    /// A fault of cuweld.
    Internal,
    /// Part of a report that was asked for.
    Report,
}

impl Kind {
    /// All kinds, in the order in which lists show them.
    pub const ALL: &'static [Kind] = &[
        Kind::Input,
        Kind::Link,
        Kind::Usage,
        Kind::Unsupported,
        Kind::Deviation,
        Kind::System,
        Kind::Extension,
        Kind::Internal,
        Kind::Report,
    ];

    /// Returns the word that names of its codes begin with.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Input => "input",
            Kind::Link => "link",
            Kind::Usage => "usage",
            Kind::Unsupported => "unsupported",
            Kind::Deviation => "deviation",
            Kind::System => "system",
            Kind::Extension => "extension",
            Kind::Internal => "internal",
            Kind::Report => "report",
        }
    }

    /// Returns a sentence about what findings of the kind have in common.
    pub fn doc(self) -> &'static str {
        match self {
            Kind::Input => "A file cannot be linked: it is damaged, or does not fit the link.",
            Kind::Link => "The objects contradict each other, or need more than the device has.",
            Kind::Usage => "The command line or another text that a user wrote is wrong.",
            Kind::Unsupported => {
                "nvlink links it or may do so, and cuweld does not: it refuses what it could not link \
                 exactly. The message begins with `cuweld: unsupported:`."
            }
            Kind::Deviation => {
                "cuweld does on purpose what nvlink does not. `docs/deviations.md` has each with its reason."
            }
            Kind::System => "A file, compiler or library of the machine is missing or fails.",
            Kind::Extension => "A plugin or a program that is run as a pass fails.",
            Kind::Internal => "A fault of cuweld.",
            Kind::Report => "Part of a report that was asked for.",
        }
    }

    /// Returns the advice for findings whose code has none of its own.
    pub fn advice(self) -> &'static str {
        match self {
            Kind::Input => "Build the file again, for the target of the link.",
            Kind::Link => "Change the program, or what is linked with it.",
            Kind::Usage => "Correct what the message names.",
            Kind::Unsupported => {
                "If another tool than NVIDIA's compilers wrote or changed the object, build it with \
                 CUDA 13.0. Otherwise please report the input; NVIDIA's nvlink may link it."
            }
            Kind::Deviation => "Nothing has to be done.",
            Kind::System => "Make the file or tool that the message names available.",
            Kind::Extension => "Correct the extension, or run the link without it.",
            Kind::Internal => "Please report it, with the reproducer that the link names.",
            Kind::Report => "Nothing has to be done.",
        }
    }

    /// Returns the prefix of the text of findings of the kind.
    pub fn prefix(self) -> &'static str {
        match self {
            Kind::Unsupported => "cuweld: unsupported: ",
            _ => "",
        }
    }
}

/// What there is to say of a code.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct CodeRow {
    /// Its name, `KIND/WORDS`, which stays the same from version to version.
    pub name: &'static str,
    /// The kind of its findings.
    pub kind: Kind,
    /// What is found, as a phrase; the message of findings that have no other.
    pub title: &'static str,
    /// When it comes, in sentences.
    pub when: &'static str,
    /// What to do about it, if that is not what its kind says.
    pub advice: Option<&'static str>,
}

/// The stable name of a finding. Extensions may have codes of their own, made from a [`CodeRow`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Code(&'static CodeRow);

impl Code {
    /// Makes a code.
    pub const fn new(row: &'static CodeRow) -> Self {
        Code(row)
    }

    /// Returns the code's name, such as `unsupported/section-header`.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns the kind of the code's findings.
    pub fn kind(self) -> Kind {
        self.0.kind
    }

    /// Returns a phrase for what is found.
    pub const fn title(self) -> &'static str {
        self.0.title
    }

    /// Returns a sentence that says when the finding is reported.
    pub fn when(self) -> &'static str {
        self.0.when
    }

    /// Returns the advice on what to do about the finding.
    pub fn advice(self) -> &'static str {
        self.0.advice.unwrap_or(self.kind().advice())
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Makes codes of one kind, and the list of them: for each the constant, the end of its name, what
/// is found, when it comes, and what to do.
macro_rules! codes {
    (
        $kind:ident $prefix:literal;
        $($code:ident $name:literal: $title:literal
            when $when:literal $(advice $advice:literal)?;)*
    ) => {
        $(
            #[doc = concat!("`", $prefix, $name, "`: ", $title)]
            pub const $code: $crate::Code = $crate::Code::new(&$crate::CodeRow {
                name: concat!($prefix, $name),
                kind: $crate::Kind::$kind,
                title: $title,
                when: $when,
                advice: codes!(@advice $($advice)?),
            });
        )*

        /// All codes of this file.
        pub(super) const ALL: &[$crate::Code] = &[$($code,)*];
    };
    (@advice) => { None };
    (@advice $advice:literal) => { Some($advice) };
}

pub(crate) use codes;
