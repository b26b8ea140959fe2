//! Unpacking the data of fatbin members.

use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;

use super::arena::InputArena;
use super::fatbin::FatbinMember;
use super::zstd;

pub use super::codec::Codec;
pub use super::codec::DecompressError;

/// Declared sizes above this are refused: no device image comes near.
const LARGEST_IMAGE: u64 = 2 << 30;

/// Returns the data of a member: a slice of the input if it is not packed, else a buffer of the
/// arena.
pub fn decompress<'data>(
    member: &FatbinMember<'data>,
    arena: &'data InputArena,
) -> Result<&'data [u8], DecompressError> {
    let Some(size) = unpacked_size(member)? else {
        return Ok(member.stored);
    };
    arena.count_unpacked(member.stored.len() as u64, size as u64)?;
    arena.unpacked(member.stored, || match arena.take_unpacked(member.stored) {
        Some(unpacked) => Ok(unpacked),
        None => Ok(unpack(member)?.unwrap_or_default()),
    })
}

/// Returns the number of bytes to which a member unpacks, as its header says and as is possible;
/// `None` if it is not packed.
fn unpacked_size(member: &FatbinMember<'_>) -> Result<Option<usize>, DecompressError> {
    if member.is_obfuscated() {
        return Err(DecompressError::Obfuscated);
    }
    let codec = Codec::of(member);
    let declared = member.header.uncompressed_size.get();
    match codec {
        Codec::None => return Ok(None),
        Codec::Unknown => return Err(DecompressError::UnknownCodec),
        Codec::Zlib | Codec::Lz4 | Codec::Zstd => (),
    }
    let stored = member.stored.len() as u64;
    let absurd = DecompressError::Absurd {
        codec,
        stored,
        declared,
    };
    let possible = stored
        .saturating_mul(codec.largest_ratio())
        .min(LARGEST_IMAGE);
    match usize::try_from(declared) {
        Ok(size) if declared <= possible => Ok(Some(size)),
        _ => Err(absurd),
    }
}

/// Returns the data of a member; `None` if it is not packed.
pub(super) fn unpack(member: &FatbinMember<'_>) -> Result<Option<Vec<u8>>, DecompressError> {
    let Some(size) = unpacked_size(member)? else {
        return Ok(None);
    };
    let codec = Codec::of(member);
    let _span = tracing::debug_span!("unpack", bytes = size, codec = %codec).entered();
    let mut unpacked = vec![0; size];
    let found = unpack_into(codec, member.stored, &mut unpacked)
        .map_err(|detail| DecompressError::Damaged { codec, detail })?;
    if found != size {
        return Err(DecompressError::Size {
            codec,
            found: found as u64,
            declared: size as u64,
        });
    }
    Ok(Some(unpacked))
}

/// Unpacks data into memory of a fixed size, which it must not exceed. Returns the number of bytes;
/// the error says what is wrong with them.
pub fn unpack_into(codec: Codec, packed: &[u8], unpacked: &mut [u8]) -> Result<usize, String> {
    match codec {
        Codec::Lz4 => {
            lz4_flex::block::decompress_into(packed, unpacked).map_err(|error| error.to_string())
        }
        Codec::Zlib => {
            let bytes = decompress_to_vec_zlib_with_limit(packed, unpacked.len())
                .map_err(|error| error.to_string())?;
            let room = unpacked.get_mut(..bytes.len()).ok_or("too long")?;
            room.copy_from_slice(&bytes);
            Ok(bytes.len())
        }
        Codec::Zstd => zstd::unpack_into(packed, unpacked),
        Codec::None | Codec::Unknown => Err(DecompressError::UnknownCodec.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fatbin;
    use super::super::test_files::Member;
    use super::super::test_files::fatbin;
    use super::*;

    fn contents() -> Vec<u8> {
        (0..3000u32).map(|i| (i / 7 % 50) as u8).collect()
    }

    fn unpack(bytes: &[u8]) -> Result<Vec<u8>, DecompressError> {
        let arena = InputArena::new();
        let members = fatbin::parse(bytes).unwrap();
        decompress(&members[0], &arena).map(<[u8]>::to_vec)
    }

    const PACKED: [Codec; 3] = [Codec::Zlib, Codec::Lz4, Codec::Zstd];

    #[test]
    fn every_codec_unpacks() {
        for codec in PACKED {
            let bytes = fatbin(&[Member::elf("sm_90", &contents()).packed(codec)]);
            assert!(bytes.len() < 2500, "{codec} does not pack");
            assert_eq!(unpack(&bytes).unwrap(), contents(), "{codec}");
        }
        let plain = fatbin(&[Member::elf("sm_90", &contents())]);
        assert_eq!(unpack(&plain).unwrap(), contents());
    }

    #[test]
    fn sizes_must_agree() {
        for codec in PACKED {
            let member = Member::elf("sm_90", &contents()).packed(codec);
            let longer = unpack(&fatbin(&[member.clone().declared_size(3001)])).unwrap_err();
            let expected = DecompressError::Size {
                codec,
                found: 3000,
                declared: 3001,
            };
            assert_eq!(longer, expected, "{codec}");
            assert_eq!(longer.nvlink_repeats(), 1);
            assert!(
                unpack(&fatbin(&[member.declared_size(2999)])).is_err(),
                "{codec}"
            );
        }
    }

    #[test]
    fn absurd_sizes_are_refused_before_allocating() {
        for codec in PACKED {
            for size in [1 << 31 | 1, u64::MAX, 100_000_000] {
                let member = Member::elf("sm_90", &contents())
                    .packed(codec)
                    .declared_size(size);
                let result = unpack(&fatbin(&[member]));
                assert!(
                    matches!(result, Err(DecompressError::Absurd { .. }))
                        || codec == Codec::Zstd && size == 100_000_000 && result.is_err(),
                    "{codec} {size}: {result:?}"
                );
            }
        }
    }

    #[test]
    fn flags_have_an_order() {
        let zstd = Member::elf("sm_90", &contents()).packed(Codec::Zstd);
        let other = zstd.clone().flags(fatbin::FLAG_OTHER_CODEC);
        assert_eq!(
            unpack(&fatbin(&[other])),
            Err(DecompressError::UnknownCodec)
        );
        let lz4 = Member::elf("sm_90", &contents()).packed(Codec::Lz4);
        let both = lz4.flags(fatbin::FLAG_OTHER_CODEC | fatbin::FLAG_ZSTD);
        assert_eq!(unpack(&fatbin(&[both])).unwrap(), contents());
        let hidden = zstd.flags(fatbin::FLAG_OBFUSCATED);
        assert_eq!(unpack(&fatbin(&[hidden])), Err(DecompressError::Obfuscated));
    }
}
