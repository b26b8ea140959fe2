//! The words of values, as the text form spells them, for programs that show or set fields of rows.

use std::borrow::Cow;

use super::words;
use crate::callgraph_record::CallKind;
use crate::function::Fate;
use crate::link_symbol::Liveness;
use crate::object::ObjectState;
use crate::section::Section;
use crate::section::SectionKind;
use crate::symbol::Symbol;
use cuweld_elf::symbol::Binding;
use cuweld_elf::target::section_types::sht;

macro_rules! named {
    ($($type:ident: $words:ident)+) => {$(
        impl $type {
            /// Returns its name in text forms.
            pub fn name(self) -> &'static str {
                words::$words.word(self).unwrap_or_default()
            }

            /// Returns the value with this name in text forms.
            pub fn from_name(name: &str) -> Option<Self> {
                words::$words.value(name)
            }

            /// Lists the names of all values.
            pub fn names() -> impl Iterator<Item = &'static str> {
                words::$words.words()
            }
        }
    )+};
}

named! {
    Fate: FATES
    Liveness: LIVENESS
    ObjectState: OBJECT_STATES
    CallKind: CALL_KINDS
}

impl SectionKind {
    /// Returns its name in text forms, such as `text` or `constant-bank/3`.
    pub fn name(self) -> Cow<'static, str> {
        words::section_kind(self)
    }

    /// Returns the kind with this name in text forms.
    pub fn from_name(name: &str) -> Option<Self> {
        let Some((word, bank)) = name.split_once('/') else {
            return words::SECTION_KINDS.value(name);
        };
        let (_, kind) = words::BANK_KINDS.iter().find(|(known, _)| *known == word)?;
        bank.parse().ok().map(kind)
    }
}

impl Section<'_> {
    /// Returns the name of its type, such as `PROGBITS`; a number if it has none.
    pub fn type_name(&self) -> Cow<'static, str> {
        words::section_type(self.ty)
    }

    /// Returns the names of its flags, joined by `|`.
    pub fn flag_names(&self) -> String {
        words::flags(&words::SECTION_FLAGS, self.flags.bits())
    }

    /// Returns the name of the code of a record in this section; a number if it has none.
    pub fn attribute_name(&self, code: u8) -> Cow<'static, str> {
        words::attribute_code(code, self.ty == sht::CUDA_COMPAT)
    }
}

impl Symbol<'_> {
    /// Returns the name of its type, such as `FUNC`; a number if it has none.
    pub fn type_name(&self) -> Cow<'static, str> {
        let word = words::SYMBOL_TYPES.word(self.ty);
        word.map_or_else(|| format!("{:#x}", u64::from(self.ty)).into(), Cow::from)
    }

    /// Returns the name of its binding, such as `WEAK`; a number if it has none.
    pub fn binding_name(&self) -> Cow<'static, str> {
        let word = words::BINDINGS.word(self.bind);
        word.map_or_else(|| format!("{:#x}", u64::from(self.bind)).into(), Cow::from)
    }

    /// Returns the names of the flags in `st_other`, joined by `|`.
    pub fn other_names(&self) -> String {
        words::flags(&words::SYMBOL_OTHERS, u64::from(self.other.bits()))
    }
}

/// Returns the binding with this name.
pub fn binding_by_name(name: &str) -> Option<Binding> {
    words::BINDINGS.value(name)
}

/// Returns the name of a relocation type, such as `R_CUDA_32`; a number if it has none.
pub fn reloc_type_name(ty: u32) -> Cow<'static, str> {
    words::reloc_name(ty)
}

/// Returns the name of a record format, such as `SVAL`; a number if it has none.
pub fn format_name(format: u8) -> Cow<'static, str> {
    let word = words::FORMATS.word(format);
    word.map_or_else(|| format!("{format:#x}").into(), Cow::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_for_their_values() {
        for fate in [Fate::Candidate, Fate::Prevailing, Fate::Folded] {
            assert_eq!(Fate::from_name(fate.name()), Some(fate));
        }
        assert_eq!(Liveness::from_name("by-address"), Some(Liveness::ByAddress));
        assert_eq!(Fate::names().count(), 5);
        for kind in [SectionKind::Text, SectionKind::ConstantBank(3)] {
            assert_eq!(SectionKind::from_name(&kind.name()), Some(kind));
        }
        assert_eq!(SectionKind::from_name("constant-bank/x"), None);
        assert_eq!(SectionKind::from_name("text/1"), None);
        assert_eq!(reloc_type_name(0xffff), "0xffff");
        assert_eq!(format_name(4), "SVAL");
    }
}
