//! One input on its way from bytes to a device object: what it is to be compiled for and with, what it
//! holds, what of it matches.
//!
//! This is the control block that nvlink passes through its input stages, as a type. Its order rules are
//! checked, and its status codes are errors with a [`status`](ContainerError::status). Three things that
//! could go wrong there cannot here: a block that is none (there is no magic number to check, it is a
//! type), an `f` suffix that no setter sets ([`set_family`](InputContainer::set_family) does), and the use
//! of a block after its end (it is owned).
//!
//! The four ways in are [`match_fatbin`], [`compile_or_copy`], [`compile_relocatable`] and
//! [`compile_program`]. Who compiles is up to the caller.
//!
//! A link takes every fatbin through [`match_fatbin`] and tells contents with [`classify`]. Two things it does itself: files that are
//! one image are taken as they are, for nvlink goes by their names; and PTX is compiled for all inputs at once, after the last of them is
//! read (`compile_ptx`), where a container compiles its own. LTO-IR is never compiled alone.

use cuweld_elf::raw::EM_CUDA;
use cuweld_elf::target::arch::Suffix;

use super::Target;
use super::arena::InputArena;
use super::container_error::ContainerError;
use super::decompress::decompress;
use super::fatbin;
use super::fatbin::FatbinMember;
use super::fatbin::MemberKind;
use super::identify;
use super::select::Selection;
use super::select::select;

/// Magic number of LTO-IR in its wrapper; four zero bytes may stand before it.
pub const WRAPPED_IR_MAGIC: u32 = 0x1ee5_5a01;
/// Magic number of the LTO-IR that toolkit 13.0 writes (measured).
pub const LTO_IR_MAGIC: u32 = 0x7f4e_43ed;
/// The flag of 64-bit code.
pub const FLAG_64BIT: u64 = 1;
/// The flag that asks for Mercury.
pub const FLAG_MERCURY: u64 = 2;

/// What an input holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ContentType {
    /// NVVM or LTO-IR.
    Ir = 1,
    /// A fatbin.
    Fatbin = 2,
    /// A device ELF.
    DeviceElf = 3,
    /// PTX text.
    Ptx = 4,
}

/// What of an input matches. The numbers are those of fatbin members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum MatchType {
    /// PTX text.
    Ptx = 1,
    /// A device ELF.
    DeviceElf = 2,
    /// NVVM or LTO-IR.
    Nvvm = 8,
    /// What the finalizer has to see: a device ELF for a Mercury target.
    Mercury = 16,
}

/// What matches, all of it at once: the bytes are never seen without their type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match<'data> {
    /// What the bytes are.
    pub ty: MatchType,
    /// The bytes, unpacked; their length is the match's size. LTO-IR of a fatbin is as it is stored: packed and obfuscated.
    pub data: &'data [u8],
    /// Options that the fatbin member carries for its compiler.
    pub options: &'data [u8],
    /// What the fatbin member was compiled for; `None` if the content itself matches.
    pub arch: Option<Target>,
    /// Whether the bytes are obfuscated; LTO-IR alone can be.
    pub obfuscated: bool,
}

/// What a compiler is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileRequest<'a> {
    /// The text.
    pub ptx: &'a [u8],
    /// What it is compiled for.
    pub target: Target,
    /// Options, those of the fatbin member first.
    pub options: String,
}

/// A compiler: the object, or what it has to say.
pub type Compiler<'a> = dyn Fn(&CompileRequest<'_>) -> Result<Vec<u8>, String> + 'a;

/// An input and all that is known of it.
#[derive(Debug, Default)]
pub struct InputContainer<'data> {
    version: u32,
    suffix: Option<Suffix>,
    target: Option<Target>,
    flags: u64,
    options: Vec<String>,
    takes_ir: bool,
    content: Option<(ContentType, &'data [u8])>,
    members: Vec<FatbinMember<'data>>,
    matched: Option<Match<'data>>,
    member_options: &'data [u8],
    obfuscation_key: u64,
    messages: Option<String>,
}

impl<'data> InputContainer<'data> {
    /// An empty container.
    pub fn new() -> Self {
        Self::default()
    }

    /// A container for 64-bit code of a target.
    pub fn for_target(target: Target) -> Self {
        InputContainer {
            version: 1,
            suffix: Some(target.suffix),
            target: Some(target),
            flags: FLAG_64BIT,
            ..Self::default()
        }
    }

    /// Sets the fatbin version that the input is read for.
    pub fn set_version(&mut self, version: u32) -> Result<(), ContainerError> {
        self.version = version;
        self.before_arch("the version")
    }

    /// The version.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The target has the suffix `a`.
    pub fn set_accelerated(&mut self) -> Result<(), ContainerError> {
        self.before_arch("the suffix")?;
        self.suffix = Some(Suffix::Specific);
        Ok(())
    }

    /// The target has the suffix `f`.
    pub fn set_family(&mut self) -> Result<(), ContainerError> {
        self.before_arch("the suffix")?;
        self.suffix = Some(Suffix::Family);
        Ok(())
    }

    /// Sets the SM number. Version and suffix come before it, since they are checked with it.
    pub fn set_arch(&mut self, sm: u16) -> Result<(), ContainerError> {
        let suffix = match self.suffix {
            Some(Suffix::Specific) => "a",
            Some(Suffix::Family) => "f",
            Some(Suffix::None) | None => "",
        };
        let name = format!("sm_{sm}{suffix}");
        let target = Target::parse(&name);
        self.target =
            Some(target.ok_or_else(|| ContainerError::Invalid(format!("unknown target {name}")))?);
        Ok(())
    }

    /// Sets [`FLAG_64BIT`] and [`FLAG_MERCURY`].
    pub fn set_flags(&mut self, flags: u64) {
        self.flags = flags;
    }

    /// LTO-IR that fits comes before device ELF and PTX (`-lto`).
    pub fn take_ir(&mut self, takes_ir: bool) {
        self.takes_ir = takes_ir;
    }

    /// Whether the code is 64-bit.
    pub fn is_64bit(&self) -> bool {
        self.flags & FLAG_64BIT != 0
    }

    /// Adds an option for the compiler.
    pub fn append_option(&mut self, option: &str) {
        self.options.push(option.to_owned());
    }

    /// Options for the compiler: those of the matched member, then those that were added.
    pub fn options(&self) -> String {
        let member = String::from_utf8_lossy(self.member_options);
        let mut words: Vec<&str> = member.split_ascii_whitespace().collect();
        words.extend(self.options.iter().map(String::as_str));
        words.join(" ")
    }

    /// The number behind `-threads` in the options, if there is one.
    pub fn threads(&self) -> Option<u32> {
        let options = self.options();
        let (_, behind) = options.split_once("-threads")?;
        let digits = behind.trim_start_matches(['=', ' ']);
        digits.split_ascii_whitespace().next()?.parse().ok()
    }

    /// Sets the bytes and says what they are.
    pub fn set_content(&mut self, content: &'data [u8]) -> Result<ContentType, ContainerError> {
        if content.is_empty() {
            return Err(ContainerError::Missing("content"));
        }
        let ty = match classify(content) {
            Some(ty) => ty,
            // A fatbin of another version.
            None if fatbin::has_magic(content) => {
                fatbin::parse(content)?;
                ContentType::Fatbin
            }
            None => return Err(ContainerError::Invalid("unknown content".to_owned())),
        };
        self.content = Some((ty, content));
        self.members.clear();
        self.matched = None;
        Ok(ty)
    }

    /// What a fatbin was found to hold for 64-bit programs, such as `ELF sm_90`, in its order.
    pub fn held(&self) -> Vec<String> {
        let visible = self.members.iter().filter(|member| member.is_visible());
        visible.map(FatbinMember::describe).collect()
    }

    /// What the content is.
    pub fn content_type(&self) -> Option<ContentType> {
        self.content.map(|(ty, _)| ty)
    }

    /// Finds what of the content fits the target.
    pub fn find_match(&mut self, arena: &'data InputArena) -> Result<(), ContainerError> {
        let target = self.target.ok_or(ContainerError::Missing("target"))?;
        let (ty, content) = self.content.ok_or(ContainerError::Missing("content"))?;
        let elf = if target.is_mercury() {
            MatchType::Mercury
        } else {
            MatchType::DeviceElf
        };
        let whole = |ty| Match {
            ty,
            data: content,
            options: b"",
            arch: None,
            obfuscated: false,
        };
        self.matched = Some(match ty {
            ContentType::Ir => whole(MatchType::Nvvm),
            ContentType::Ptx => whole(MatchType::Ptx),
            ContentType::DeviceElf => whole(elf),
            ContentType::Fatbin => {
                self.members = fatbin::parse(content)?;
                self.match_member(target, arena)?
            }
        });
        Ok(())
    }

    /// The member that fits the target, unpacked; LTO-IR stays as it is.
    fn match_member(
        &mut self,
        target: Target,
        arena: &'data InputArena,
    ) -> Result<Match<'data>, ContainerError> {
        let nameless =
            |member: &&FatbinMember<'_>| member.is_visible() && member.header.sm.get() == 0;
        if let Some(member) = self.members.iter().find(nameless) {
            let offset = member.offset;
            return Err(ContainerError::UnknownArch { offset });
        }
        let member = match select(&self.members, target, self.takes_ir) {
            Selection::Member(member) => member,
            Selection::OnlyLto => return Err(ContainerError::NoMember { only_ir: true }),
            Selection::NotFound => return Err(ContainerError::NoMember { only_ir: false }),
        };
        let offset = member.offset;
        self.obfuscation_key = member.header.key.get();
        let kind = member.kind();
        let data = if kind == MemberKind::Nvvm {
            member.stored
        } else {
            decompress(&member, arena).map_err(|error| ContainerError::Unpack {
                member: member.describe(),
                is_elf: kind == MemberKind::Elf,
                offset,
                error,
            })?
        };
        let ty = match kind {
            MemberKind::Ptx => MatchType::Ptx,
            MemberKind::Nvvm => MatchType::Nvvm,
            MemberKind::Elf if !target.is_mercury() => MatchType::DeviceElf,
            MemberKind::Elf | MemberKind::Mercury | MemberKind::Other(_) => MatchType::Mercury,
        };
        let is_elf = matches!(ty, MatchType::DeviceElf | MatchType::Mercury);
        if is_elf && identify::elf_kind(data).is_none_or(|kind| kind.class != 2) {
            let member = member.describe();
            return Err(ContainerError::WordSize { member, offset });
        }
        // Device ELF is not compiled: its record is something else.
        self.member_options = if is_elf { b"" } else { member.options()? };
        Ok(Match {
            ty,
            data,
            options: self.member_options,
            arch: member.arch(),
            obfuscated: member.is_obfuscated(),
        })
    }

    /// Takes the match out; there is only one.
    pub fn take_match(&mut self) -> Result<Match<'data>, ContainerError> {
        self.matched.take().ok_or(ContainerError::Missing("match"))
    }

    /// The compiler's option for obfuscated PTX, and the warning that goes with it.
    pub fn obfuscation(&self) -> Option<(String, &'static str)> {
        let key = self.obfuscation_key;
        (key != 0).then(|| (format!("-ok {key:#x}"), "PTX Obfuscation"))
    }

    /// What the compiler wrote when it failed; gone from the container then.
    pub fn take_messages(&mut self) -> Option<String> {
        self.messages.take()
    }

    fn before_arch(&self, step: &'static str) -> Result<(), ContainerError> {
        match self.target {
            None => Ok(()),
            Some(_) => Err(ContainerError::Order {
                step,
                later: "the target",
            }),
        }
    }

    fn compile(&mut self, ptx: &[u8], compiler: &Compiler<'_>) -> Result<Vec<u8>, ContainerError> {
        let request = CompileRequest {
            ptx,
            target: self.target.ok_or(ContainerError::Missing("target"))?,
            options: self.options(),
        };
        compiler(&request).map_err(|messages| {
            self.messages = Some(messages);
            ContainerError::Compiler
        })
    }
}

/// What bytes are, by their beginning.
pub fn classify(content: &[u8]) -> Option<ContentType> {
    let word = |at: usize| {
        let bytes = content.get(at..)?.first_chunk::<4>()?;
        Some(u32::from_le_bytes(*bytes))
    };
    if fatbin::has_magic(content) && content.get(4..6) == Some(&[1, 0]) {
        return Some(ContentType::Fatbin);
    }
    if identify::elf_kind(content).is_some_and(|kind| kind.machine == EM_CUDA) {
        return Some(ContentType::DeviceElf);
    }
    let first = word(0)?;
    let padded = first == 0 && word(4) == Some(WRAPPED_IR_MAGIC);
    if first == WRAPPED_IR_MAGIC || first == LTO_IR_MAGIC || padded {
        return Some(ContentType::Ir);
    }
    identify::is_ptx_text(content).then_some(ContentType::Ptx)
}

/// What of a fatbin fits the container's target.
pub fn match_fatbin<'data>(
    container: &mut InputContainer<'data>,
    content: &'data [u8],
    arena: &'data InputArena,
) -> Result<Match<'data>, ContainerError> {
    if container.set_content(content)? != ContentType::Fatbin {
        return Err(ContainerError::Missing("fatbin"));
    }
    container.find_match(arena)?;
    container.take_match()
}

/// The device object that a fatbin gives for the container's target: a member as it is, or compiled.
pub fn compile_or_copy<'data>(
    container: &mut InputContainer<'data>,
    content: &'data [u8],
    compiler: &Compiler<'_>,
    arena: &'data InputArena,
) -> Result<&'data [u8], ContainerError> {
    let found = match_fatbin(container, content, arena)?;
    match found.ty {
        MatchType::DeviceElf | MatchType::Mercury => Ok(found.data),
        MatchType::Ptx => {
            container.append_option("-c");
            Ok(arena.keep_buffer(container.compile(found.data, compiler)?))
        }
        MatchType::Nvvm => Err(ContainerError::Invalid(
            "LTO-IR is not compiled by itself".to_owned(),
        )),
    }
}

/// Compiles PTX to an object that is to be linked.
pub fn compile_relocatable<'data>(
    container: &mut InputContainer<'data>,
    ptx: &'data [u8],
    compiler: &Compiler<'_>,
) -> Result<Vec<u8>, ContainerError> {
    container.append_option("-c");
    compile_program(container, ptx, compiler)
}

/// Compiles PTX that is a whole program.
pub fn compile_program<'data>(
    container: &mut InputContainer<'data>,
    ptx: &'data [u8],
    compiler: &Compiler<'_>,
) -> Result<Vec<u8>, ContainerError> {
    match container.set_content(ptx)? {
        ContentType::Ptx => container.compile(ptx, compiler),
        _ => Err(ContainerError::Invalid("no PTX".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fatbin::FatbinError;
    use super::super::test_files::Member;
    use super::super::test_files::fatbin as build;
    use super::*;

    fn container<'data>(sm: u16) -> InputContainer<'data> {
        let mut container = InputContainer::new();
        container.set_version(1).unwrap();
        container.set_arch(sm).unwrap();
        container.set_flags(FLAG_64BIT);
        container
    }

    #[test]
    fn version_and_suffix_come_before_the_target() {
        let mut first = InputContainer::new();
        first.set_family().unwrap();
        first.set_arch(100).unwrap();
        assert_eq!(first.target, Target::parse("sm_100f"));
        for error in [
            first.set_accelerated().unwrap_err(),
            first.set_version(2).unwrap_err(),
        ] {
            assert!(matches!(error, ContainerError::Order { .. }));
            assert_eq!(error.status(), 2);
        }
        let mut unknown = InputContainer::new();
        assert_eq!(unknown.set_arch(70).unwrap_err().status(), 2);
        let mut none = InputContainer::new();
        none.set_accelerated().unwrap();
        assert!(none.set_arch(80).is_err(), "there is no sm_80a");
    }

    #[test]
    fn contents_are_told_by_their_beginning() {
        let elf = super::super::test_files::cubin(1, 2);
        for (bytes, expected) in [
            (build(&[]), Some(ContentType::Fatbin)),
            (elf, Some(ContentType::DeviceElf)),
            (vec![1, 0x5a, 0xe5, 0x1e], Some(ContentType::Ir)),
            (vec![0, 0, 0, 0, 1, 0x5a, 0xe5, 0x1e], Some(ContentType::Ir)),
            (vec![0xed, 0x43, 0x4e, 0x7f], Some(ContentType::Ir)),
            (b"// c\n.version 9.0".to_vec(), Some(ContentType::Ptx)),
            (b"text".to_vec(), None),
            (vec![0, 0], None),
        ] {
            assert_eq!(classify(&bytes), expected, "{bytes:?}");
        }
        assert_eq!(container(90).set_content(b"").unwrap_err().status(), 1);
        assert_eq!(container(90).set_content(b"text").unwrap_err().status(), 2);
        let mut later = build(&[]);
        later[4] = 2;
        assert_eq!(
            container(90).set_content(&later).unwrap_err(),
            ContainerError::Fatbin(FatbinError::Version(2))
        );
    }

    #[test]
    fn faults_of_members_name_member_and_offset() {
        let fault = |member: Member| {
            let arena = InputArena::new();
            let bytes = build(&[Member::ptx("sm_80", b".version 9.0"), member]);
            let mut container = InputContainer::for_target(Target::parse("sm_90").unwrap());
            match_fatbin(&mut container, &bytes, &arena)
                .unwrap_err()
                .to_string()
        };
        let elf = super::super::test_files::cubin(1, 2);
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
        let target = Target::parse("sm_90").unwrap();
        for (takes_ir, ty) in [(false, MatchType::Ptx), (true, MatchType::Nvvm)] {
            let mut container = InputContainer::for_target(target);
            container.take_ir(takes_ir);
            let found = match_fatbin(&mut container, &bytes, &arena).unwrap();
            assert_eq!((found.ty, found.obfuscated), (ty, takes_ir));
            assert_eq!(container.held(), ["PTX sm_90", "LTO-IR sm_90"]);
        }
        let alone = build(&[ir]);
        let error = match_fatbin(&mut InputContainer::for_target(target), &alone, &arena);
        assert_eq!(
            error.unwrap_err(),
            ContainerError::NoMember { only_ir: true }
        );
    }

    #[test]
    fn a_match_is_taken_once_and_whole() {
        let arena = InputArena::new();
        let image = super::super::test_files::cubin(1, 2);
        let bytes = build(&[Member::elf("sm_90", &image)]);
        let mut container = container(90);
        assert_eq!(container.take_match().unwrap_err().status(), 1);
        let found = match_fatbin(&mut container, &bytes, &arena).unwrap();
        assert_eq!(found.ty, MatchType::DeviceElf);
        assert!(found.data.starts_with(&image));
        assert_eq!(found.arch, Target::parse("sm_90"));
        assert_eq!(container.take_match().unwrap_err().status(), 1);
        let other = match_fatbin(&mut super::tests::container(80), &bytes, &arena);
        assert_eq!(other.unwrap_err().status(), 1);
    }

    #[test]
    fn compilers_get_options_and_leave_messages() {
        let ptx = b".version 9.0\n";
        let mut relocatable = container(90);
        relocatable.append_option("-g");
        relocatable.append_option("-threads 4");
        assert_eq!(relocatable.threads(), Some(4));
        let echo = |request: &CompileRequest<'_>| {
            Ok(format!("{} {}", request.target, request.options).into_bytes())
        };
        let object = compile_relocatable(&mut relocatable, ptx, &echo).unwrap();
        assert_eq!(object, b"sm_90 -g -threads 4 -c");
        assert_eq!(
            compile_program(&mut container(90), ptx, &echo).unwrap(),
            b"sm_90 "
        );
        let mut failing = container(90);
        let fail = |_: &CompileRequest<'_>| Err("no".to_owned());
        let error = compile_program(&mut failing, ptx, &fail).unwrap_err();
        assert_eq!(error.status(), 5);
        assert_eq!(failing.take_messages().as_deref(), Some("no"));
        assert_eq!(failing.take_messages(), None);
        assert_eq!(failing.obfuscation(), None);
    }
}
