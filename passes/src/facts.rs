//! Facts of a link that conditions of pipelines can name.
//!
//! They follow from the target and the options alone, so that a pipeline is resolved before any
//! input is read.

use cuweld_elf::Target;
use cuweld_ir::LinkOptions;

use crate::suggest;

/// A fact and where it comes from.
pub struct FactInfo {
    /// Its name in conditions.
    pub name: &'static str,
    /// When it holds.
    pub doc: &'static str,
    holds: fn(Target, &LinkOptions) -> bool,
}

/// Which facts hold for a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts(u32);

impl Facts {
    /// All facts there are.
    pub const ALL: &'static [FactInfo] = &[
        FactInfo {
            name: "debug",
            doc: "the link keeps debug information (`-g`)",
            holds: |_, options| options.debug,
        },
        FactInfo {
            name: "relocatable",
            doc: "the output is relocatable (`-r`)",
            holds: |_, options| options.relocatable,
        },
        FactInfo {
            name: "mercury",
            doc: "objects of the target hold Mercury beside SASS (sm_100 and later)",
            holds: |target, _| target.is_mercury(),
        },
        FactInfo {
            name: "compat",
            doc: "files of the target have a `.nv.compat` section (sm_90 and later)",
            holds: |target, _| target.has_compat(),
        },
        FactInfo {
            name: "kernels-used",
            doc: "the kernels to keep are named (`-kernels-used`)",
            holds: |_, options| options.host.kernels_used.is_some(),
        },
        FactInfo {
            name: "variables-used",
            doc: "the variables to keep are named (`-variables-used`)",
            holds: |_, options| options.host.variables_used.is_some(),
        },
        FactInfo {
            name: "preserve-relocs",
            doc: "relocations stay in the output (`-preserve-relocs`)",
            holds: |_, options| options.preserve_relocs,
        },
        FactInfo {
            name: "self-check",
            doc: "the file is read again (`--self-check`)",
            holds: |_, options| options.reports.self_check,
        },
        FactInfo {
            name: "keep-system-libraries",
            doc: "the device runtime library is always linked (`-keep-system-libraries`)",
            holds: |_, options| options.keep_system_libraries,
        },
    ];

    /// Returns the facts of a link.
    pub fn new(target: Target, options: &LinkOptions) -> Self {
        let holding = Self::ALL
            .iter()
            .enumerate()
            .filter(|(_, info)| (info.holds)(target, options));
        Facts(holding.fold(0, |bits, (index, _)| bits | 1 << index))
    }

    /// Returns the facts of a link that is the same but for this one; the same if there is none of
    /// this name.
    pub fn with(self, name: &str, holds: bool) -> Self {
        let index = Self::ALL.iter().position(|info| info.name == name);
        let bit = index.map_or(0, |index| 1 << index);
        Facts(if holds { self.0 | bit } else { self.0 & !bit })
    }

    /// Returns whether a fact holds; `None` if there is no such fact.
    pub fn holds(self, name: &str) -> Option<bool> {
        let index = Self::ALL.iter().position(|info| info.name == name)?;
        Some(self.0 >> index & 1 != 0)
    }

    /// Returns when a fact holds; nothing if there is no such fact.
    pub(crate) fn doc(name: &str) -> &'static str {
        let info = Self::ALL.iter().find(|info| info.name == name);
        info.map_or("", |info| info.doc)
    }

    /// Returns the fact that a mistyped name was meant to be.
    pub fn suggest(name: &str) -> Option<&'static str> {
        suggest::nearest(name, Self::ALL.iter().map(|info| info.name))
    }
}

#[cfg(test)]
mod tests {
    use cuweld_ir::HostReferences;
    use cuweld_ir::Reports;

    use super::*;

    #[test]
    fn facts_follow_from_target_and_options() {
        let plain = Facts::new(Target::parse("sm_80").unwrap(), &LinkOptions::default());
        for info in Facts::ALL {
            assert_eq!(plain.holds(info.name), Some(false), "{}", info.name);
        }
        let options = LinkOptions {
            debug: true,
            relocatable: true,
            preserve_relocs: true,
            keep_system_libraries: true,
            host: HostReferences {
                kernels_used: Some(Vec::new()),
                variables_used: Some(Vec::new()),
                ..Default::default()
            },
            reports: Reports {
                self_check: true,
                ..Default::default()
            },
            ..Default::default()
        };
        let all = Facts::new(Target::parse("sm_100").unwrap(), &options);
        for info in Facts::ALL {
            assert_eq!(all.holds(info.name), Some(true), "{}", info.name);
        }
        let not = all.with("debug", false);
        assert_eq!(not.holds("debug"), Some(false));
        assert_eq!(
            (not.with("debug", true), not.with("debgu", true)),
            (all, not)
        );
        assert_eq!(all.holds("debgu"), None);
        assert_eq!(Facts::suggest("debgu"), Some("debug"));
        let hopper = Facts::new(Target::parse("sm_90").unwrap(), &LinkOptions::default());
        assert_eq!(
            (hopper.holds("compat"), hopper.holds("mercury")),
            (Some(true), Some(false))
        );
    }

    #[test]
    fn every_fact_is_documented() {
        let page = include_str!("../../docs/using/pipelines.md");
        for info in Facts::ALL {
            let row = format!("| `{}` | {} |", info.name, info.doc);
            assert!(page.contains(&row), "docs/using/pipelines.md lacks: {row}");
        }
    }
}
