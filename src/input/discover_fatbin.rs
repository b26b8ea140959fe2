//! Fatbins of a walk: the member that fits, and what is said if none can be linked.

use super::container::InputContainer;
use super::container::Match;
use super::container::MatchType;
use super::container::match_fatbin;
use super::container_error::ContainerError;
use super::decompress::Codec;
use super::decompress::DecompressError;
use super::device_input::Image;
use super::device_input::NvvmImage;
use super::device_input::PtxImage;
use super::diagnostic::DiagnosticKind;
use super::diagnostic::IgnoredReason;
use super::discover::Source;
use super::discover::Walk;
use super::error::InputError;
use super::fatbin::FatbinError;
use super::mapped::Files;

impl<'data, F> Walk<'_, 'data, F>
where
    F: Files<'data>,
{
    /// Chooses and unpacks the member of a fatbin that fits the target; `base` is where the fatbin begins in its file.
    pub(super) fn fatbin(
        &mut self,
        source: Source<'_>,
        bytes: &'data [u8],
        base: u64,
    ) -> Result<Option<Image<'data>>, InputError> {
        let mut container = InputContainer::for_target(self.options.target);
        // The device runtime is linked, and not optimised with the program (measured).
        container.take_ir(self.options.lto && !source.is_system());
        match match_fatbin(&mut container, bytes, self.arena) {
            Ok(found) => Ok(Some(image(found, bytes))),
            Err(error) => self
                .mismatch(source, base, &container, error)
                .map(|()| None),
        }
    }

    /// What is said of a fatbin of which nothing can be linked.
    fn mismatch(
        &mut self,
        source: Source<'_>,
        base: u64,
        container: &InputContainer<'data>,
        error: ContainerError,
    ) -> Result<(), InputError> {
        let file = source.display();
        match error {
            ContainerError::NoMember { only_ir: false } => {
                self.not_found(source, container);
                Ok(())
            }
            ContainerError::NoMember { only_ir: true } => Err(InputError::LtoObjects { file }),
            ContainerError::Unpack {
                member,
                offset,
                error: DecompressError::Obfuscated,
                ..
            } => Err(InputError::Obfuscated {
                file,
                member,
                offset: base.saturating_add(offset),
            }),
            ContainerError::Unpack {
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
                    self.not_found(source, container);
                    return Ok(());
                }
                if is_lost {
                    self.deviate(
                        "D09",
                        format!("'{file}' is refused; nvlink 13.0.88 goes on without its code"),
                    );
                }
                Err(InputError::Decompress {
                    file,
                    member,
                    offset,
                    error,
                })
            }
            ContainerError::WordSize { member, offset } => Err(InputError::WordSize {
                file,
                member,
                offset: base.saturating_add(offset),
            }),
            ContainerError::UnknownArch { offset } => Err(InputError::UnknownArch {
                file,
                offset: base.saturating_add(offset),
            }),
            ContainerError::Fatbin(FatbinError::Version(version)) => {
                Err(InputError::FatbinVersion {
                    file,
                    base,
                    version,
                })
            }
            ContainerError::Fatbin(error) => Err(InputError::MalformedFatbin { file, base, error }),
            ContainerError::Missing(_)
            | ContainerError::Invalid(_)
            | ContainerError::Order { .. }
            | ContainerError::Compiler => Err(InputError::FatbinWrongFormat { file }),
        }
    }

    /// Archive members without code for the target are passed over in silence.
    fn not_found(&mut self, source: Source<'_>, container: &InputContainer<'_>) {
        if source.member.is_some() {
            return self.ignore(source, IgnoredReason::MemberArchNotFound);
        }
        self.diagnose(DiagnosticKind::SmArchNotFound {
            file: source.display(),
            target: self.options.target,
            found: container.held(),
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

/// The image that a fatbin's match is.
fn image<'data>(found: Match<'data>, fatbin: &'data [u8]) -> Image<'data> {
    match found.ty {
        MatchType::DeviceElf | MatchType::Mercury => Image::Cubin(found.data),
        MatchType::Ptx => Image::Ptx(PtxImage {
            text: found.data,
            options: found.options,
            arch: found.arch,
        }),
        MatchType::Nvvm => Image::Nvvm(NvvmImage {
            stored: found.data,
            container: fatbin,
            options: found.options,
            obfuscated: found.obfuscated,
            arch: found.arch,
        }),
    }
}
