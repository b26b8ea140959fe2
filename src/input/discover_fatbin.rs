//! Fatbins of a walk: the member that fits, and what is said if none can be linked.

use super::decompress::Codec;
use super::decompress::DecompressError;
use super::device_input::Image;
use super::diagnostic::DiagnosticKind;
use super::diagnostic::IgnoredReason;
use super::discover::Source;
use super::discover::Walk;
use super::error::InputError;
use super::fatbin::FatbinError;
use super::fatbin_match::FatbinMatchError;
use super::fatbin_match::held;
use super::fatbin_match::match_fatbin;
use super::mapped::Files;

impl<'data, F> Walk<'_, 'data, F>
where
    F: Files<'data>,
{
    /// Chooses and unpacks the member of a fatbin that fits the target; `base` is where the fatbin
    /// begins in its file.
    pub(super) fn fatbin(
        &mut self,
        source: Source<'_>,
        bytes: &'data [u8],
        base: u64,
    ) -> Result<Option<Image<'data>>, InputError> {
        // The device runtime is linked, and not optimised with the program.
        let takes_ir = self.options.lto && !source.is_system();
        let link = (self.options.toolkit, self.options.target);
        match match_fatbin(bytes, link, takes_ir, self.arena) {
            Ok(image) => Ok(Some(image)),
            Err(error) => self.mismatch(source, base, bytes, error).map(|()| None),
        }
    }

    /// Reports a fatbin of which nothing can be linked.
    fn mismatch(
        &mut self,
        source: Source<'_>,
        base: u64,
        bytes: &[u8],
        error: FatbinMatchError,
    ) -> Result<(), InputError> {
        let file = source.display();
        match error {
            FatbinMatchError::NoMember {
                only_ir: false,
                held,
            } => {
                self.not_found(source, held);
                Ok(())
            }
            FatbinMatchError::NoMember { only_ir: true, .. } => {
                Err(InputError::LtoObjects { file })
            }
            FatbinMatchError::Unpack {
                member,
                offset,
                error: DecompressError::Obfuscated,
                ..
            } => Err(InputError::Obfuscated {
                file,
                member,
                offset: base.saturating_add(offset),
            }),
            FatbinMatchError::Unpack {
                error: DecompressError::Limit(error),
                ..
            } => Err(InputError::Limit { file, error }),
            FatbinMatchError::Unpack {
                member,
                is_elf,
                offset,
                error,
            } => {
                let offset = base.saturating_add(offset);
                let is_lost = is_elf && is_lz4(&error);
                if is_lost && self.options.strict {
                    self.diagnose(DiagnosticKind::Uncompress {
                        file,
                        member,
                        offset,
                        error,
                    });
                    self.not_found(source, held(bytes));
                    return Ok(());
                }
                if is_lost {
                    self.deviate(
                        "D09",
                        format!(
                            "'{file}' is refused; {} goes on without its code",
                            self.options.toolkit.linker()
                        ),
                    );
                }
                Err(InputError::Decompress {
                    file,
                    member,
                    offset,
                    error,
                })
            }
            FatbinMatchError::WordSize { member, offset } => Err(InputError::WordSize {
                file,
                member,
                offset: base.saturating_add(offset),
            }),
            FatbinMatchError::UnknownArch { offset } => Err(InputError::UnknownArch {
                file,
                offset: base.saturating_add(offset),
            }),
            FatbinMatchError::Fatbin(FatbinError::Version(version)) => {
                Err(InputError::FatbinVersion {
                    file,
                    base,
                    version,
                })
            }
            FatbinMatchError::Fatbin(error) => {
                Err(InputError::MalformedFatbin { file, base, error })
            }
            FatbinMatchError::NotFatbin => Err(InputError::FatbinWrongFormat { file }),
        }
    }

    /// Reports that a fatbin has no code for the target. Archive members without any are passed
    /// over in silence.
    fn not_found(&mut self, source: Source<'_>, held: Vec<String>) {
        if source.member.is_some() {
            return self.ignore(source, IgnoredReason::MemberArchNotFound);
        }
        self.diagnose(DiagnosticKind::SmArchNotFound {
            file: source.display(),
            target: self.options.target,
            found: held,
        });
    }
}

fn is_lz4(error: &DecompressError) -> bool {
    matches!(
        error,
        DecompressError::Damaged {
            codec: Codec::Lz4,
            ..
        } | DecompressError::Size {
            codec: Codec::Lz4,
            ..
        } | DecompressError::Absurd {
            codec: Codec::Lz4,
            ..
        }
    )
}
