//! The member of a fatbin that fits the target, unpacked.

use cuweld_elf::target::arch::Suffix;
use cuweld_elf::toolkit::Toolkit;
use thiserror::Error;

use super::Image;
use super::NvvmImage;
use super::PtxImage;
use super::Target;
use super::arena::InputArena;
use super::decompress::DecompressError;
use super::decompress::decompress;
use super::fatbin;
use super::fatbin::FatbinError;
use super::fatbin::FatbinMember;
use super::fatbin::MemberKind;
use super::identify;
use super::select::Selection;
use super::select::select;

/// Why a fatbin gives nothing that can be linked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FatbinMatchError {
    /// The bytes do not begin like a fatbin.
    #[error("it is not a fatbin")]
    NotFatbin,
    /// The headers do not hold together.
    #[error(transparent)]
    Fatbin(#[from] FatbinError),
    /// A member has the SM number 0.
    #[error("the member at {offset:#x} has the SM number 0")]
    UnknownArch {
        /// Offset of the member in the fatbin.
        offset: u64,
    },
    /// No member fits the target.
    #[error("there is no member for the target")]
    NoMember {
        /// LTO-IR does, but was not asked for.
        only_ir: bool,
        /// What there is for 64-bit programs, such as `ELF sm_90`, in the order of the fatbin.
        held: Vec<String>,
    },
    /// The member that fits cannot be unpacked.
    #[error("the member {member} at {offset:#x}: {error}")]
    Unpack {
        /// Such as `ELF sm_90`.
        member: String,
        /// Whether it is a device ELF.
        is_elf: bool,
        /// Offset of the member in the fatbin.
        offset: u64,
        /// What is wrong.
        error: DecompressError,
    },
    /// The device ELF that fits is not an ELF64 file.
    #[error("the member {member} at {offset:#x} is not a 64-bit ELF file")]
    WordSize {
        /// Such as `ELF sm_90`.
        member: String,
        /// Offset of the member in the fatbin.
        offset: u64,
    },
}

/// Finds the member that fits the target and unpacks it; LTO-IR stays as it is stored. `takes_ir`
/// lets LTO-IR come before device ELF and PTX (`-lto`).
pub fn match_fatbin<'data>(
    bytes: &'data [u8],
    link: (&Toolkit, Target),
    takes_ir: bool,
    arena: &'data InputArena,
) -> Result<Image<'data>, FatbinMatchError> {
    if !fatbin::has_magic(bytes) {
        return Err(FatbinMatchError::NotFatbin);
    }
    let members = fatbin::parse(bytes)?;
    let is_nameless =
        |member: &&FatbinMember<'_>| member.is_visible() && member.header.sm.get() == 0;
    if let Some(member) = members.iter().find(is_nameless) {
        let offset = member.offset;
        return Err(FatbinMatchError::UnknownArch { offset });
    }
    let no_member = |only_ir| {
        let held = describe(&members);
        Err(FatbinMatchError::NoMember { only_ir, held })
    };
    match select(&members, link, takes_ir) {
        Selection::Member(member) => image(&member, bytes, arena),
        Selection::OnlyLto => no_member(true),
        Selection::NotFound => no_member(false),
    }
}

/// Lists what a fatbin holds for 64-bit programs, such as `ELF sm_90`, in its order.
pub fn held(bytes: &[u8]) -> Vec<String> {
    describe(&fatbin::parse(bytes).unwrap_or_default())
}

fn describe(members: &[FatbinMember<'_>]) -> Vec<String> {
    let visible = members.iter().filter(|member| member.is_visible());
    visible.map(FatbinMember::describe).collect()
}

/// Returns the image that a member holds.
fn image<'data>(
    member: &FatbinMember<'data>,
    container: &'data [u8],
    arena: &'data InputArena,
) -> Result<Image<'data>, FatbinMatchError> {
    let kind = member.kind();
    if kind == MemberKind::Nvvm {
        let arch = member.arch();
        // It is optimised for the SM without its suffix, which the library would refuse.
        let has_suffix = arch.is_some_and(|arch| arch.suffix != Suffix::None);
        return Ok(Image::Nvvm(NvvmImage {
            stored: member.stored,
            container: match has_suffix {
                true => arena.keep_buffer(member.alone_without_suffix()),
                false => container,
            },
            options: member.options()?,
            obfuscated: member.is_obfuscated(),
            arch,
        }));
    }
    let offset = member.offset;
    let data = decompress(member, arena).map_err(|error| FatbinMatchError::Unpack {
        member: member.describe(),
        is_elf: kind == MemberKind::Elf,
        offset,
        error,
    })?;
    if kind == MemberKind::Ptx {
        return Ok(Image::Ptx(PtxImage {
            text: data,
            options: member.options()?,
            arch: member.arch(),
        }));
    }
    // Device ELF is not compiled: what stands in place of options is something else.
    if identify::elf_kind(data).is_none_or(|kind| kind.class != 2) {
        let member = member.describe();
        return Err(FatbinMatchError::WordSize { member, offset });
    }
    Ok(Image::Cubin(data))
}

#[cfg(test)]
mod tests {
    use super::super::test_files::Member;
    use super::super::test_files::cubin;
    use super::super::test_files::fatbin as build;
    use super::*;

    fn sm_90() -> Target {
        Target::parse("sm_90").unwrap()
    }

    #[test]
    fn other_bytes_and_versions_are_refused() {
        let arena = InputArena::new();
        let fault =
            |bytes| match_fatbin(bytes, (Default::default(), sm_90()), false, &arena).unwrap_err();
        assert_eq!(fault(b""), FatbinMatchError::NotFatbin);
        assert_eq!(fault(b"text"), FatbinMatchError::NotFatbin);
        let mut later = build(&[]);
        later[4] = 2;
        assert_eq!(
            fault(&later),
            FatbinMatchError::Fatbin(FatbinError::Version(2))
        );
    }

    #[test]
    fn faults_of_members_name_member_and_offset() {
        let fault = |member: Member| {
            let arena = InputArena::new();
            let bytes = build(&[Member::ptx("sm_80", b".version 9.0"), member]);
            match_fatbin(&bytes, (Default::default(), sm_90()), false, &arena)
                .unwrap_err()
                .to_string()
        };
        let elf = cubin(1, 2);
        for (member, expected) in [
            (
                Member::elf("sm_90", b"\x7fELF\x01"),
                "the member ELF sm_90 at 0x70 is not a 64-bit ELF file",
            ),
            (
                Member::elf("sm_90", &elf).flags(fatbin::FLAG_OBFUSCATED),
                "the member ELF sm_90 at 0x70: the data is obfuscated",
            ),
            (
                Member::elf("sm_90", &elf).flags(fatbin::FLAG_OTHER_CODEC),
                "the member ELF sm_90 at 0x70: a codec that this linker does not know",
            ),
        ] {
            assert_eq!(fault(member), expected);
        }
    }

    #[test]
    fn lto_ir_stays_as_it_is_and_comes_first_when_asked_for() {
        let arena = InputArena::new();
        let ir = Member::new(8, "sm_90", b"packed ir").flags(fatbin::FLAG_OBFUSCATED);
        let bytes = build(&[Member::ptx("sm_90", b".version 9.0"), ir.clone()]);
        let found = |takes_ir| {
            match_fatbin(&bytes, (Default::default(), sm_90()), takes_ir, &arena).unwrap()
        };
        assert!(matches!(found(false), Image::Ptx(_)));
        assert!(matches!(found(true), Image::Nvvm(image) if image.obfuscated));
        assert_eq!(
            match_fatbin(&build(&[ir]), (Default::default(), sm_90()), false, &arena),
            Err(FatbinMatchError::NoMember {
                only_ir: true,
                held: vec!["LTO-IR sm_90".to_owned()],
            })
        );
    }

    #[test]
    fn a_match_is_whole_and_misses_say_what_there_is() {
        let arena = InputArena::new();
        let image = cubin(1, 2);
        let bytes = build(&[
            Member::ptx("sm_100", b".version 9.0"),
            Member::elf("sm_90", &image),
        ]);
        let found = match_fatbin(&bytes, (Default::default(), sm_90()), false, &arena);
        assert!(matches!(found, Ok(Image::Cubin(data)) if data.starts_with(&image)));
        let other = match_fatbin(
            &bytes,
            (Default::default(), Target::parse("sm_80").unwrap()),
            false,
            &arena,
        );
        let held = ["PTX sm_100", "ELF sm_90"].map(str::to_owned).to_vec();
        let only_ir = false;
        assert_eq!(other, Err(FatbinMatchError::NoMember { only_ir, held }));
    }
}
