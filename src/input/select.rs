//! Which member of a fatbin is linked for a target.
//!
//! Device ELF moves up within a family (80 → 86, 89; 100 → 103; 120 → 121) unless it was made for
//! an `a` variant; the target's own suffix plays no role. PTX and LTO-IR are compiled for the
//! target and so move further up: plain ones to every later SM, `f` within its family, `a` only to
//! its own name.
//!
//! Among LTO-IR that fits, the highest SM number wins, then `a`, then the first.
//!
//! Among the other members that fit, the highest SM number wins; then ELF before PTX; then `a` before `f`
//! before plain, whatever the target; then Mercury before ELF; then the first ELF, but the last PTX
//! or Mercury of the file.
//!
//! From sm_100 on that is so for ELF whose member carries a copy of the cubin's `.nv.compat`, as
//! fatbinary writes it. Without one (members packed by hand) ELF fits its own SM number only,
//! unless its suffix says otherwise, and plain 120 fits 121.

use std::cmp::Reverse;

use cuweld_elf::target::arch::Suffix;
use cuweld_elf::toolkit::Toolkit;

use super::Target;
use super::fatbin::FLAG_COMPAT;
use super::fatbin::FatbinMember;
use super::fatbin::MemberKind;

/// Returns `true` if a device ELF may be linked for a target by a toolkit's linker.
pub fn elf_fits(member: Target, (toolkit, target): (&Toolkit, Target)) -> bool {
    toolkit.accepts(target, member.sm, member.suffix == Suffix::Specific)
}

/// Returns `true` if a device ELF from sm_100 on may be linked for a target, if its member has no
/// `.nv.compat`.
fn unrecorded_elf_fits(member: Target, target: Target) -> bool {
    let is_other_sm = matches!((member.sm, target.sm), (120, 121)) && member.suffix == Suffix::None;
    let suffix_fits = match member.suffix {
        Suffix::None => true,
        Suffix::Specific => target.suffix == Suffix::Specific,
        Suffix::Family => target.suffix != Suffix::Specific,
    };
    is_other_sm || (member.sm == target.sm && suffix_fits)
}

/// Returns `true` if what a member holds may be linked or compiled for a target.
fn fits(member: &FatbinMember<'_>, arch: Target, link: (&Toolkit, Target)) -> bool {
    let (_, target) = link;
    match member.kind() {
        MemberKind::Elf if target.is_mercury() && !member.has(FLAG_COMPAT) => {
            unrecorded_elf_fits(arch, target)
        }
        MemberKind::Elf => elf_fits(arch, link),
        // nvlink crashes where it chooses one below sm_100.
        MemberKind::Mercury => target.is_mercury() && elf_fits(arch, link),
        MemberKind::Ptx => ptx_fits(arch, target),
        MemberKind::Nvvm | MemberKind::Other(_) => false,
    }
}

/// Returns `true` if PTX or LTO-IR may be compiled for a target.
pub fn ptx_fits(member: Target, target: Target) -> bool {
    match member.suffix {
        Suffix::None => member.sm <= target.sm,
        Suffix::Specific => member == target,
        Suffix::Family => member.sm <= target.sm && member.sm / 10 == target.sm / 10,
    }
}

/// The outcome of a choice.
#[derive(Clone, Copy, Debug)]
pub enum Selection<'data> {
    /// This member.
    Member(FatbinMember<'data>),
    /// Nothing fits but LTO-IR, which needs `-lto`.
    OnlyLto,
    /// Nothing fits.
    NotFound,
}

/// Chooses a member. With `lto`, LTO-IR that fits comes before everything else.
pub fn select<'data>(
    members: &[FatbinMember<'data>],
    link: (&Toolkit, Target),
    lto: bool,
) -> Selection<'data> {
    let visible = || {
        members
            .iter()
            .enumerate()
            .filter(|(_, member)| member.is_visible())
            .filter_map(|(index, member)| Some((index, member, member.arch()?)))
    };
    let (_, target) = link;
    let nvvm = visible()
        .filter(|(_, member, arch)| member.kind() == MemberKind::Nvvm && ptx_fits(*arch, target))
        .max_by_key(|(index, _, arch)| {
            let is_own = arch.suffix == Suffix::Specific;
            (arch.sm, is_own, Reverse(*index))
        });
    if let Some((_, member, _)) = nvvm.filter(|_| lto) {
        return Selection::Member(*member);
    }
    // With LTO-IR wanted, code for sm_90a is for that alone.
    let is_left =
        |arch: &Target| lto && arch.sm == 90 && *arch != target && arch.suffix != Suffix::None;
    let code = visible()
        .filter(|(_, member, arch)| fits(member, *arch, link) && !is_left(arch))
        .max_by_key(|(index, member, arch)| rank(*index, member.kind(), *arch));
    match (code, nvvm) {
        (Some((_, member, _)), _) => Selection::Member(*member),
        (None, Some(_)) => Selection::OnlyLto,
        (None, None) => Selection::NotFound,
    }
}

/// Returns the rank of a member; a greater one is better.
fn rank(index: usize, kind: MemberKind, arch: Target) -> (u16, bool, u8, bool, i64) {
    let suffix = match arch.suffix {
        Suffix::Specific => 2,
        Suffix::Family => 1,
        Suffix::None => 0,
    };
    let is_mercury = kind == MemberKind::Mercury;
    let position = if kind == MemberKind::Elf {
        -(index as i64)
    } else {
        index as i64
    };
    let is_compiled = kind != MemberKind::Ptx;
    (arch.sm, is_compiled, suffix, is_mercury, position)
}

#[cfg(test)]
mod tests {
    use super::super::fatbin;
    use super::super::test_files::Member;
    use super::super::test_files::fatbin as build;
    use super::*;

    const NAMES: [&str; 23] = [
        "sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_90a", "sm_100",
        "sm_100a", "sm_100f", "sm_103", "sm_103a", "sm_103f", "sm_110", "sm_110a", "sm_110f",
        "sm_120", "sm_120a", "sm_120f", "sm_121", "sm_121a", "sm_121f",
    ];

    fn arch(name: &str) -> Target {
        Target::parse(name).unwrap()
    }

    /// What nvlink takes: members, then the targets that take them.
    const ELF_TABLE: [(&str, &str); 14] = [
        ("75", "75"),
        ("80", "80 86 89"),
        ("86", "86 89"),
        ("87", "87"),
        ("88", "88"),
        ("89", "89"),
        ("90 90a", "90 90a"),
        ("100 100f", "100 100a 100f 103 103a 103f"),
        ("100a", "100 100a 100f"),
        ("103 103a 103f", "103 103a 103f"),
        ("110 110a 110f", "110 110a 110f"),
        ("120 120f", "120 120a 120f 121 121a 121f"),
        ("120a", "120 120a 120f"),
        ("121 121a 121f", "121 121a 121f"),
    ];

    #[test]
    fn elf_compatibility_is_the_measured_table() {
        let mut seen = 0;
        for (members, targets) in ELF_TABLE {
            for member in members.split_whitespace() {
                seen += 1;
                for target in NAMES {
                    let expected = targets
                        .split_whitespace()
                        .any(|t| format!("sm_{t}") == target);
                    let fits = elf_fits(
                        arch(&format!("sm_{member}")),
                        (Default::default(), arch(target)),
                    );
                    assert_eq!(fits, expected, "{member} for {target}");
                }
            }
        }
        assert_eq!(seen, NAMES.len());
    }

    #[test]
    fn ptx_compatibility() {
        let targets = |member: &str| {
            NAMES
                .into_iter()
                .filter(|t| ptx_fits(arch(member), arch(t)))
                .collect::<Vec<_>>()
        };
        assert_eq!(targets("sm_80"), NAMES[1..]);
        assert_eq!(targets("sm_110"), NAMES[14..]);
        assert_eq!(targets("sm_90a"), ["sm_90a"]);
        assert_eq!(targets("sm_120a"), ["sm_120a"]);
        assert_eq!(targets("sm_100f"), NAMES[8..14]);
        assert_eq!(targets("sm_103f"), NAMES[11..14]);
        assert_eq!(targets("sm_110f"), NAMES[14..17]);
        assert_eq!(targets("sm_120f"), NAMES[17..]);
        assert_eq!(targets("sm_121f"), NAMES[20..]);
    }

    /// Chooses among members such as `ELF 80`, and answers with the index.
    fn choose(members: &[&str], target: &str, lto: bool) -> Result<usize, &'static str> {
        let built: Vec<_> = members
            .iter()
            .map(|member| {
                let (kind, number) = member.split_once(' ').unwrap();
                let name = format!("sm_{number}");
                match kind {
                    "ELF" => Member::elf(&name, b"x").flags(FLAG_COMPAT),
                    "OLD" => Member::elf(&name, b"x"),
                    "PTX" => Member::ptx(&name, b"x"),
                    "LTO" => Member::new(8, &name, b"x"),
                    _ => Member::new(16, &name, b"x"),
                }
            })
            .collect();
        let bytes = build(&built);
        let parsed = fatbin::parse(&bytes).unwrap();
        match select(&parsed, (Default::default(), arch(target)), lto) {
            Selection::Member(chosen) => Ok(parsed
                .iter()
                .position(|member| member.offset == chosen.offset)
                .unwrap()),
            Selection::OnlyLto => Err("only LTO"),
            Selection::NotFound => Err("not found"),
        }
    }

    #[test]
    fn the_choice_is_the_measured_one() {
        for (members, target, expected) in [
            (&["ELF 80", "PTX 86"][..], "sm_86", Ok(1)),
            (&["ELF 100", "PTX 103a"], "sm_103a", Ok(1)),
            (&["PTX 90a", "ELF 90"], "sm_90a", Ok(1)),
            (&["ELF 90", "ELF 90a"], "sm_90", Ok(1)),
            (&["ELF 100", "ELF 100a", "ELF 100f"], "sm_100f", Ok(1)),
            (&["ELF 100", "ELF 100f"], "sm_100a", Ok(1)),
            (&["ELF 90", "ELF 90"], "sm_90", Ok(0)),
            (&["PTX 90", "PTX 90"], "sm_90", Ok(1)),
            (&["ELF 80", "PTX 90a", "MERC 90"], "sm_90", Err("not found")),
            (&["MERC 100", "ELF 100"], "sm_100", Ok(0)),
            (&["ELF 100", "MERC 100", "MERC 100"], "sm_100", Ok(2)),
            (&["MERC 100", "ELF 100a"], "sm_100", Ok(1)),
            (&["MERC 100", "PTX 100"], "sm_103", Ok(0)),
            (&["OLD 100"], "sm_103", Err("not found")),
            (&["OLD 120"], "sm_121a", Ok(0)),
            (&["OLD 120f"], "sm_121", Err("not found")),
            (&["OLD 100a", "ELF 100"], "sm_100f", Ok(1)),
            (&["OLD 100a", "ELF 100"], "sm_100a", Ok(0)),
            (&["OLD 100f"], "sm_100a", Err("not found")),
            (&["OLD 100f"], "sm_100", Ok(0)),
            (&["LTO 80"], "sm_90", Err("only LTO")),
            (&["LTO 100"], "sm_90", Err("not found")),
            (&["LTO 90", "PTX 80"], "sm_90", Ok(1)),
        ] {
            assert_eq!(
                choose(members, target, false),
                expected,
                "{members:?} for {target}"
            );
        }
    }

    #[test]
    fn lto_comes_first_when_asked_for() {
        assert_eq!(
            choose(&["ELF 90", "LTO 80", "LTO 90"], "sm_90", true),
            Ok(2)
        );
        for (members, target, expected) in [
            (&["ELF 90", "LTO 100"][..], "sm_90", Ok(0)),
            (&["LTO 90a"], "sm_90", Err("not found")),
            (&["ELF 90a"], "sm_90", Err("not found")),
            (&["ELF 90a", "PTX 80"], "sm_90", Ok(1)),
            (&["ELF 90a"], "sm_90a", Ok(0)),
            (&["ELF 100a"], "sm_100", Ok(0)),
            (&["LTO 90a"], "sm_100", Err("not found")),
            (&["LTO 100f"], "sm_103a", Ok(0)),
            (&["LTO 100f"], "sm_110", Err("not found")),
            (&["LTO 90", "LTO 90a"], "sm_90a", Ok(1)),
            (&["LTO 100f", "LTO 100", "LTO 100a"], "sm_100a", Ok(2)),
            (&["LTO 100f", "LTO 100"], "sm_100a", Ok(0)),
            (&["LTO 100", "LTO 100f"], "sm_100a", Ok(0)),
        ] {
            assert_eq!(choose(members, target, true), expected, "{members:?}");
        }
    }

    #[test]
    fn members_for_32_bit_are_invisible() {
        let bytes = build(&[Member::elf("sm_90", b"x").without_flags(fatbin::FLAG_64BIT)]);
        let members = fatbin::parse(&bytes).unwrap();
        assert!(matches!(
            select(&members, (Default::default(), arch("sm_90")), false),
            Selection::NotFound
        ));
    }
}
