//! Images on their way into the module: each is checked against the target, or named as damaged.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::input;
use cuweld_diagnostics::codes::unsupported;
use cuweld_elf::Target;
use cuweld_elf::class32::is_sound_class32;
use cuweld_elf::raw::ET_EWP;
use cuweld_elf::raw::ET_EXEC;
use cuweld_elf::raw::FileHeader;
use cuweld_elf::raw::OSABI_CUDA;
use cuweld_elf::target::finalize::can_finalize;
use cuweld_elf::toolkit::Toolkit;
use cuweld_elf::validate::ArchitectureError;
use cuweld_elf::validate::MERCURY_BITS;
use cuweld_elf::validate::ObjectFacts;
use cuweld_elf::validate::StructureError;
use cuweld_elf::validate::lacks_64bit_flag;
use cuweld_elf::validate::validate_architecture;
use cuweld_ir::Arena;
use cuweld_ir::LinkOptions;
use cuweld_ir::ObjectOrigin;
use cuweld_ir::elf;
use zerocopy::FromBytes;

use crate::input::DeviceInput;
use crate::input::Image;

/// A device image with its name, ready to be lowered.
#[derive(Clone, Copy, Debug, Eq)]
pub struct NamedImage<'data> {
    /// The input as given.
    pub name: &'data str,
    /// The archive member, or empty.
    pub member: &'data str,
    /// The device ELF.
    pub image: &'data [u8],
    /// It belongs to the device runtime library.
    pub system_library: bool,
    /// In what it stood, or what made it.
    pub origin: ObjectOrigin,
}

/// Of the same file: the bytes lie in the same place.
impl PartialEq for NamedImage<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.image, other.image)
            && (self.name, self.member) == (other.name, other.member)
            && (self.system_library, self.origin) == (other.system_library, other.origin)
    }
}

impl NamedImage<'_> {
    fn display(&self) -> String {
        if self.member.is_empty() {
            self.name.to_owned()
        } else {
            format!("{}:{}", self.name, self.member)
        }
    }
}

/// The image to lower of an input that was discovered and compiled, if it has one. LTO-IR needs NVIDIA's
/// compiler, which is not called here: a typed refusal.
pub(super) fn image<'data>(
    input: &DeviceInput<'data>,
    arena: &'data Arena,
) -> Result<Option<NamedImage<'data>>, Diagnostic> {
    if input.skip.is_some() {
        return Ok(None);
    }
    let what = match &input.image {
        None => return Ok(None),
        Some(Image::Cubin(image)) => {
            return Ok(Some(NamedImage {
                name: arena.string(&input.path),
                member: arena.string(input.member.as_deref().unwrap_or("")),
                image,
                system_library: input.system_library,
                origin: input.origin,
            }));
        }
        Some(Image::Ptx(_)) => "PTX, which has to be compiled",
        Some(Image::Nvvm(_)) => "LTO-IR, which has to be compiled",
    };
    Err(
        Diagnostic::fatal(unsupported::UNCOMPILED, format!("'{input}' holds {what}"))
            .help("compile it to a relocatable cubin first (ptxas -c)"),
    )
}

/// What images have to be, given those before them in link order.
pub(super) struct Lowering {
    pub(super) toolkit: &'static Toolkit,
    pub(super) target: Target,
    pub(super) options: LinkOptions,
    /// Whether an EWP object has come.
    pub(super) after_ewp: bool,
    /// Whether an object with Mercury has come.
    pub(super) after_mercury: bool,
    /// Whether an object without Mercury has come.
    pub(super) after_sass: bool,
    /// Whether decisions about architectures are shown.
    pub(super) trace_compatibility: bool,
}

impl Lowering {
    pub(super) fn new((toolkit, target): (&'static Toolkit, Target), options: LinkOptions) -> Self {
        Lowering {
            toolkit,
            target,
            options,
            after_ewp: false,
            after_mercury: false,
            after_sass: false,
            trace_compatibility: false,
        }
    }

    /// What is decided of an image's architecture, if that is to be shown.
    fn compatibility(
        &self,
        image: &NamedImage<'_>,
        facts: &ObjectFacts,
        file: &FileHeader,
    ) -> Option<Diagnostic> {
        if !self.trace_compatibility {
            return None;
        }
        let (source, target) = ((file.flags.get() >> 8 & 0xffff) as u16, self.target.sm);
        let decided = can_finalize(self.toolkit, facts.profile.as_ref(), source, target);
        let (code, why) = match decided {
            Ok(()) => (0, String::new()),
            Err(error) => (error.code(), format!(": {error}")),
        };
        let name = image.display();
        let line = format!("can_finalize: '{name}': sm_{source} for sm_{target}: {code}{why}");
        Some(Diagnostic::report(line))
    }

    /// Checks an image that was read. What is said of it comes into `findings`; a fatal finding ends the link.
    ///
    /// With `strict`, damaged objects are left out without a message where nvlink does so (deviation D01).
    pub(super) fn check(
        &mut self,
        image: &NamedImage<'_>,
        read: Result<ObjectFacts, elf::ReadError>,
        findings: &mut Vec<Diagnostic>,
    ) {
        let (target, strict) = (self.target, self.options.strict);
        let mut facts = match read {
            Ok(facts) => facts,
            Err(error) => {
                return findings.extend(damaged(image, &error, (self.toolkit, target), strict));
            }
        };
        let Ok((file, _)) = FileHeader::ref_from_prefix(image.image) else {
            return;
        };
        if file.e_type.get() == ET_EXEC {
            return;
        }
        if lacks_64bit_flag(file) {
            let name = image.display();
            findings.push(Diagnostic::warning(
                input::ADDRESS_FLAG,
                format!("expected 64bit object '{name}' to have EF_CUDA_64BIT_ADDRESS set"),
            ));
        }
        if target.is_mercury() {
            facts.after_mercury = self.after_mercury;
            findings.extend(self.compatibility(image, &facts, file));
        }
        if let Err(error) =
            validate_architecture(file, facts, (self.toolkit, target), self.after_ewp)
        {
            return findings.extend(misfit(image, error, file, target));
        }
        let is_sass = is_sass_alone(file);
        if target.is_mercury() && is_sass && !self.after_sass {
            findings.push(limited(image, target));
        }
        self.after_sass |= is_sass;
        self.after_mercury |= !is_sass;
        self.after_ewp |= file.e_type.get() == ET_EWP;
    }
}

pub(super) fn damaged(
    image: &NamedImage<'_>,
    error: &elf::ReadError,
    (toolkit, target): (&Toolkit, Target),
    strict: bool,
) -> Option<Diagnostic> {
    let file = image.display();
    if is_sound_class32(image.image) {
        return Some(Diagnostic::fatal(
            input::WORD_SIZE,
            format!("Input file '{file}' size does not match target '-m64'"),
        ));
    }
    // nvlink crashes without the table of section names, and from sm_100 on.
    let is_lost = !target.is_mercury()
        && matches!(error, elf::ReadError::Structure(error) if !matches!(error, StructureError::NameTable(_)));
    if strict && is_lost {
        return None;
    }
    let mut diagnostic = Diagnostic::fatal(
        input::DAMAGED_OBJECT,
        format!("cuweld: '{file}' is damaged: {error}"),
    );
    if is_lost {
        let linker = toolkit.linker();
        let note = format!("{linker} ignores this input without a message, and its code is lost");
        diagnostic = diagnostic.note(note);
    }
    diagnostic.deviation = Some("D01");
    Some(diagnostic)
}

/// Whether a file holds no Mercury, so that its link is one of SASS alone.
pub(super) fn is_sass_alone(file: &FileHeader) -> bool {
    file.ident[7] != OSABI_CUDA || file.flags.get() & MERCURY_BITS == 0
}

/// nvlink's warning about the first file without Mercury.
pub(super) fn limited(image: &NamedImage<'_>, target: Target) -> Diagnostic {
    Diagnostic::warning(
        input::SASS_ALONE,
        format!(
            "Output is limited to run on SM Arch '{}' only due to limitations in input file {}",
            target.sm,
            image.display()
        ),
    )
}

pub(super) fn misfit(
    image: &NamedImage<'_>,
    error: ArchitectureError,
    file: &FileHeader,
    target: Target,
) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    if target.is_mercury() && is_sass_alone(file) && matches!(error, ArchitectureError::Sm { .. }) {
        findings.push(limited(image, target));
    }
    let code = match error {
        ArchitectureError::WordSize => input::WORD_SIZE,
        ArchitectureError::Abi { .. } => input::ABI,
        ArchitectureError::Sm { .. } => input::ARCHITECTURE,
        ArchitectureError::TooOld => input::OLD_TOOLKIT,
        ArchitectureError::TooNew { .. } => input::NEW_TOOLKIT,
        ArchitectureError::EwpToolkit => input::EWP_TOOLKIT,
        ArchitectureError::MercuryFlags { .. } => input::MERCURY_FLAGS,
    };
    let diagnostic = Diagnostic::fatal(code, error.message(&image.display()));
    findings.push(match error {
        ArchitectureError::Sm { found, .. } => diagnostic
            .note(format!("'{}' was compiled for sm_{found}", image.display()))
            .help(format!(
                "compile it for {target}, or link with -arch=sm_{found}"
            )),
        ArchitectureError::Abi { osabi, version } => diagnostic.note(format!(
            "OSABI {osabi:#x}, ABI version {version}, e_flags {:#x}",
            file.flags.get()
        )),
        ArchitectureError::TooNew { found, .. } => diagnostic.note(format!(
            "it was made by toolkit {}.{}",
            found / 10,
            found % 10
        )),
        ArchitectureError::MercuryFlags { flags } => diagnostic.note(format!(
            "'{}' says in e_flags {flags:#x} that it holds Mercury",
            image.display()
        )),
        _ => diagnostic,
    });
    findings
}
