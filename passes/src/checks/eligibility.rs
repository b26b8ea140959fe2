//! Which objects may be linked for a target: sound, of its architecture and of a toolkit that this linker knows.
//!
//! nvlink reads input by input, and what is wrong with one is said before the next is looked at: the rules are asked while objects
//! are read, and hold no more of those before than what locks or limits the later ones.

use std::fmt::Display;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::input;
use cuweld_elf::Target;
use cuweld_elf::class32::is_sound_class32;
use cuweld_elf::finalize::can_finalize;
use cuweld_elf::raw::ET_EWP;
use cuweld_elf::raw::ET_EXEC;
use cuweld_elf::raw::FileHeader;
use cuweld_elf::raw::OSABI_CUDA;
use cuweld_elf::toolkit::Toolkit;
use cuweld_elf::validate::ArchitectureError;
use cuweld_elf::validate::MERCURY_BITS;
use cuweld_elf::validate::ObjectFacts;
use cuweld_elf::validate::StructureError;
use cuweld_elf::validate::lacks_64bit_flag;
use cuweld_elf::validate::validate_architecture;
use cuweld_ir::elf;
use zerocopy::FromBytes;

/// Which objects may be linked, given those before them in link order.
pub struct Eligibility {
    toolkit: &'static Toolkit,
    target: Target,
    /// Leave damaged objects out without a message where nvlink does so (deviation D01).
    strict: bool,
    /// Whether an EWP object has come.
    after_ewp: bool,
    /// Whether an object with Mercury has come.
    after_mercury: bool,
    /// Whether an object without Mercury has come.
    after_sass: bool,
    /// Whether decisions about architectures are shown.
    trace_compatibility: bool,
}

impl Eligibility {
    /// Begins a link, in which no image has come so far.
    pub fn new(
        (toolkit, target): (&'static Toolkit, Target),
        strict: bool,
        trace_compatibility: bool,
    ) -> Self {
        Eligibility {
            toolkit,
            target,
            strict,
            after_ewp: false,
            after_mercury: false,
            after_sass: false,
            trace_compatibility,
        }
    }

    /// What is decided of an image's architecture, if that is to be shown.
    fn compatibility(
        &self,
        name: &dyn Display,
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
        let line = format!("can_finalize: '{name}': sm_{source} for sm_{target}: {code}{why}");
        Some(Diagnostic::report(line))
    }

    /// Checks an image that was read. What is said of it comes into `findings`; a fatal finding ends the link.
    ///
    /// With `strict`, damaged objects are left out without a message where nvlink does so (deviation D01).
    pub fn check(
        &mut self,
        name: &dyn Display,
        image: &[u8],
        read: Result<ObjectFacts, elf::ReadError>,
        findings: &mut Vec<Diagnostic>,
    ) {
        let (target, strict) = (self.target, self.strict);
        let mut facts = match read {
            Ok(facts) => facts,
            Err(error) => {
                let of = (self.toolkit, target);
                return findings.extend(damaged(name, image, &error, of, strict));
            }
        };
        let Ok((file, _)) = FileHeader::ref_from_prefix(image) else {
            return;
        };
        if file.e_type.get() == ET_EXEC {
            return;
        }
        if lacks_64bit_flag(file) {
            findings.push(Diagnostic::warning(
                input::ADDRESS_FLAG,
                format!("expected 64bit object '{name}' to have EF_CUDA_64BIT_ADDRESS set"),
            ));
        }
        if target.is_mercury() {
            facts.after_mercury = self.after_mercury;
            findings.extend(self.compatibility(name, &facts, file));
        }
        let of = (self.toolkit, target);
        if let Err(error) = validate_architecture(file, facts, of, self.after_ewp) {
            return findings.extend(misfit(name, error, file, target));
        }
        let is_sass = is_sass_alone(file);
        if target.is_mercury() && is_sass && !self.after_sass {
            findings.push(limited(name, target));
        }
        self.after_sass |= is_sass;
        self.after_mercury |= !is_sass;
        self.after_ewp |= file.e_type.get() == ET_EWP;
    }
}

/// Returns what is said of an image that cannot be read.
fn damaged(
    name: &dyn Display,
    image: &[u8],
    error: &elf::ReadError,
    (toolkit, target): (&Toolkit, Target),
    strict: bool,
) -> Option<Diagnostic> {
    if is_sound_class32(image) {
        return Some(Diagnostic::fatal(
            input::WORD_SIZE,
            format!("Input file '{name}' size does not match target '-m64'"),
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
        format!("cuweld: '{name}' is damaged: {error}"),
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
fn is_sass_alone(file: &FileHeader) -> bool {
    file.ident[7] != OSABI_CUDA || file.flags.get() & MERCURY_BITS == 0
}

/// nvlink's warning about the first file without Mercury.
fn limited(name: &dyn Display, target: Target) -> Diagnostic {
    Diagnostic::warning(
        input::SASS_ALONE,
        format!(
            "Output is limited to run on SM Arch '{}' only due to limitations in input file {name}",
            target.sm
        ),
    )
}

/// Returns what is said of an image that does not fit the target.
fn misfit(
    name: &dyn Display,
    error: ArchitectureError,
    file: &FileHeader,
    target: Target,
) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    if target.is_mercury() && is_sass_alone(file) && matches!(error, ArchitectureError::Sm { .. }) {
        findings.push(limited(name, target));
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
    let diagnostic = Diagnostic::fatal(code, error.message(&name.to_string()));
    findings.push(match error {
        ArchitectureError::Sm { found, .. } => diagnostic
            .note(format!("'{name}' was compiled for sm_{found}"))
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
            "'{name}' says in e_flags {flags:#x} that it holds Mercury"
        )),
        _ => diagnostic,
    });
    findings
}
