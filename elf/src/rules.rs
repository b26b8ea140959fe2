//! Lists of rules: each has a name, a sentence, and a group that it belongs to.

/// Makes an enumeration of rules, with their names and sentences, and a function that gives the
/// group of each. Between name and group stands a word that reads well.
#[macro_export]
macro_rules! rules {
    (
        $(#[doc = $about:literal])+ enum $rule:ident;
        $(#[doc = $tells:literal])+ fn $accessor:ident -> $groups:ident;
        $($(#[doc = $doc:literal])+ $variant:ident = $name:literal $_word:ident $group:ident,)*
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $rule {
            $($(#[doc = $doc])+ $variant,)*
        }

        impl $rule {
            /// All of them.
            pub const ALL: &'static [$rule] = &[$($rule::$variant,)*];

            /// Returns the rule's name, which stays the same from version to version.
            pub fn name(self) -> &'static str {
                match self {
                    $($rule::$variant => $name,)*
                }
            }

            /// Returns the rule as a sentence.
            pub fn doc(self) -> &'static str {
                match self {
                    $($rule::$variant => concat!($($doc),+).trim_ascii(),)*
                }
            }

            $(#[doc = $tells])+
            pub fn $accessor(self) -> $groups {
                match self {
                    $($rule::$variant => $groups::$group,)*
                }
            }
        }
    };
}
