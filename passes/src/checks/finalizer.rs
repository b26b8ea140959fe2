//! The front end of NVIDIA's finalizer: what it asks of a file before and after a link, without its
//! code generator.
//!
//! nvlink calls its finalizer for every file with Mercury before the link and for the linked file
//! after it. Here the same questions are asked in the same order (`docs/formats/mercury.md`):
//! whether the file can be finalized at that stage, for that target, with those options. Code is
//! never compiled: where NVIDIA's would be, the answer is a typed error. What remains is to take a
//! file as it is, to copy it for another SM on which its SASS runs, or to write its SASS view
//! alone.
//!
//! [`Finalizer::run`] works on bytes, without files and without a link. In a link the passes
//! `finalize-inputs` and `finalize-output` ask.

mod config;
mod error;
mod inputs;
mod output;
mod read;
mod sass_view;
mod tool_notes;

pub use self::config::BinaryKind;
pub use self::config::EntryPoint;
pub use self::config::FinalizerConfig;
pub use self::config::FinalizerOptions;
pub use self::config::Stage;
pub use self::config::default_output_name;
pub use self::error::Conflict;
pub use self::error::FinalizerError;
pub use self::inputs::FinalizeInputs;
pub use self::output::FinalizeOutput;
pub use self::sass_view::sass_view;
pub use self::tool_notes::is_linked;

use std::borrow::Cow;

use cuweld_elf::check;
use cuweld_elf::check::Findings;
use cuweld_elf::check::View;
use cuweld_elf::check::check_image;
use cuweld_elf::finalize::Action;
use cuweld_elf::finalize::action;
use cuweld_elf::finalize::can_finalize;
use cuweld_elf::mercury::capmerc::Capmerc;
use cuweld_elf::raw::ET_EWP;
use cuweld_elf::raw::ET_EXEC;
use cuweld_elf::raw::ET_REL;
use cuweld_elf::target::section_types::sht;
use cuweld_elf::toolkit::Toolkit;
use cuweld_elf::validate::FinalizerStage;
use cuweld_elf::validate::validate_finalizer;

use self::read::Input;
use crate::checks::self_check::SelfCheckError;

/// Files go through it one by one; it keeps nothing.
#[derive(Clone, Copy, Debug)]
pub struct Finalizer;

/// A file that went through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finalized<'data> {
    /// The file: the input itself if nothing changed.
    pub image: Cow<'data, [u8]>,
    /// What became of its code.
    pub action: Action,
    /// A linker of NVIDIA's has written it, by its notes.
    pub already_linked: bool,
}

/// What is known of a file that may go through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission {
    /// The SM of the file.
    pub source: u16,
    /// What becomes of its code.
    pub action: Action,
    /// A linker of NVIDIA's has written it, by its notes.
    pub already_linked: bool,
    /// It holds SASS alone.
    pub is_sass: bool,
}

impl Finalizer {
    /// Finalizes a file.
    pub fn run<'data>(
        bytes: &'data [u8],
        config: &FinalizerConfig,
    ) -> Result<Finalized<'data>, FinalizerError> {
        Self::run_traced(bytes, config, &mut Vec::new())
    }

    /// Finalizes a file, and says what is done: lines for `--edbg`, then what is of interest
    /// without it.
    pub fn run_traced<'data>(
        bytes: &'data [u8],
        config: &FinalizerConfig,
        trace: &mut Vec<String>,
    ) -> Result<Finalized<'data>, FinalizerError> {
        let admission = Self::admit(bytes, config, trace)?;
        let view = check::read(bytes, &mut Findings::default()).ok_or(FinalizerError::NotElf)?;
        mercury_code(&view)?;
        let mut image = match admission.action {
            Action::Bypass | Action::Copy => Cow::Owned(copy(bytes, config.target.sm)?),
            Action::Same | Action::Compile => Cow::Borrowed(bytes),
        };
        let options = &config.options;
        if options.self_check {
            let findings = check_image(&image);
            if let Some(error) = SelfCheckError::new(findings, !admission.is_sass) {
                return Err(error.into());
            }
        }
        let wants_sass = options.out_sass || options.binary_kind == Some(BinaryKind::Sass);
        if wants_sass && !admission.is_sass {
            config.trace_skipped(&view, trace);
            image = Cow::Owned(sass_view(&image)?);
        }
        config.trace_linked(|| admission.already_linked, trace);
        config.trace_end(trace);
        Ok(Finalized {
            image,
            action: admission.action,
            already_linked: admission.already_linked,
        })
    }

    /// Asks whether a file may go through, and what becomes of its code.
    pub fn admit(
        bytes: &[u8],
        config: &FinalizerConfig,
        trace: &mut Vec<String>,
    ) -> Result<Admission, FinalizerError> {
        let (input, action) = Self::decide(Input::read(bytes), config, trace)?;
        Ok(Admission {
            source: input.sm,
            action,
            already_linked: is_linked(bytes),
            is_sass: input.is_sass(),
        })
    }

    /// Decides whether a file may go through, and what becomes of its code.
    fn decide(
        input: Result<Input, FinalizerError>,
        config: &FinalizerConfig,
        trace: &mut Vec<String>,
    ) -> Result<(Input, Action), FinalizerError> {
        config.options.check(config.target)?;
        config.trace_start(trace);
        let wants_mercury = config.options.wants_mercury();
        let input = match input {
            Err(FinalizerError::Damaged(_)) if wants_mercury => {
                return Err(FinalizerError::InvalidUplift);
            }
            input => input?,
        };
        if !matches!(input.e_type, ET_REL | ET_EXEC | ET_EWP) {
            return Err(FinalizerError::FileType(input.e_type));
        }
        if !input.has_known_header() {
            return Err(FinalizerError::UnknownElf {
                osabi: input.osabi,
                version: input.abi_version,
            });
        }
        if input.is_bare_mercury() {
            return Err(FinalizerError::BareMercury);
        }
        let is_sass = input.is_sass();
        if is_sass && wants_mercury {
            return Err(FinalizerError::SassInput {
                target: config.target,
                input: config.name.clone(),
            });
        }
        let keeps_sass = is_sass && config.options.binary_kind == Some(BinaryKind::Sass);
        if !keeps_sass {
            guard(input.flags, input.is_legacy(), config.entry.stage())?;
        }
        if input
            .profile
            .is_some_and(|profile| profile.version > config.toolkit.mercury_version)
        {
            let version = input.profile.map_or(0, |profile| profile.version);
            return Err(FinalizerError::Version(version));
        }
        if !has_code_generator(config.toolkit, input.sm) {
            return Err(FinalizerError::UnknownSm(input.sm));
        }
        let (source, target) = (input.sm, config.target.sm);
        let profile = input.profile.as_ref();
        let fits = can_finalize(config.toolkit, profile, source, target);
        if config.trace_compatibility {
            let code = fits.map_or_else(|why| why.code(), |()| 0);
            trace.push(format!("can_finalize: sm_{source} for sm_{target}: {code}"));
        }
        fits.map_err(|why| FinalizerError::Incompatible {
            from: source,
            to: target,
            why,
        })?;
        let action = action(profile, source, target, config.options.copies());
        match action {
            Action::Compile => {
                return Err(FinalizerError::NeedsCompiler {
                    from: source,
                    to: target,
                });
            }
            Action::Copy => trace.push(off_target_message(source, target)),
            Action::Same | Action::Bypass => {}
        }
        Ok((input, action))
    }
}

/// Returns the message about a copy for another SM.
pub fn off_target_message(source: u16, target: u16) -> String {
    format!(
        "[Finalizer] fastpath optimization applied for off-target {source} -> {target} finalization"
    )
}

/// Returns `true` if there is code for an SM: 101 is an older name of 110.
fn has_code_generator(toolkit: &Toolkit, sm: u16) -> bool {
    sm == 101 || toolkit.has_target(sm)
}

/// Checks the guard of a stage: a file is finalized once, and only if it has Mercury.
fn guard(flags: u32, legacy: bool, stage: Stage) -> Result<(), FinalizerError> {
    let is_sass = legacy || flags & 3 == 0;
    let as_validated = match stage {
        // Objects of SASS alone take no part: the link is one of SASS.
        Stage::PreLink if is_sass => return Err(FinalizerError::NotEligible(flags)),
        Stage::PostLink if is_sass => return Err(FinalizerError::NotMercury(flags)),
        Stage::PreLink => FinalizerStage::PreLink,
        Stage::PostLink => FinalizerStage::PostLink,
    };
    validate_finalizer(flags, as_validated).map_err(FinalizerError::Stage)
}

/// Checks that Mercury code has the known form and stands for the SASS.
fn mercury_code(view: &View<'_>) -> Result<(), FinalizerError> {
    let sections = &view.sections;
    for section in sections
        .iter()
        .filter(|section| section.ty() == sht::CUDA_CAPMERC)
    {
        let parsed = Capmerc::parse(section.bytes).and_then(|code| {
            let text = sections.get(code.text as usize);
            code.covers(text.map_or(0, |text| text.bytes.len() as u64))
        });
        parsed.map_err(|error| FinalizerError::Mercury {
            section: String::from_utf8_lossy(section.name).into_owned(),
            error,
        })?;
    }
    Ok(())
}

/// Copies a file and changes nothing but its SM.
fn copy(bytes: &[u8], sm: u16) -> Result<Vec<u8>, FinalizerError> {
    let mut image = Vec::new();
    image
        .try_reserve_exact(bytes.len())
        .map_err(|_| FinalizerError::Memory(bytes.len()))?;
    image.extend_from_slice(bytes);
    // `e_flags` is at 48; the SM has its bits 8 to 23.
    if let Some(field) = image.get_mut(49..51) {
        field.copy_from_slice(&sm.to_le_bytes());
    }
    Ok(image)
}

#[cfg(test)]
mod tests;
