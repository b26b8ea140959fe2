//! Zstandard frames, by libzstd or by ruzstd.
//!
//! The feature `libzstd` (on by default) takes the C library, which is the faster one (docs/BENCHMARKS.md); without it no C compiler is needed.
//! Either writes into a buffer of the declared size, so that a frame cannot make it grow.

use ruzstd::decoding::FrameDecoder;

/// Largest window that ruzstd keeps whatever the data's size. libzstd unpacks in place and needs none.
const LARGEST_WINDOW: u64 = 128 << 20;

/// Unpacks all frames to at most `size` bytes; the error says what is wrong with them.
pub fn unpack(packed: &[u8], size: usize) -> Result<Vec<u8>, String> {
    #[cfg(feature = "libzstd")]
    return by_libzstd(packed, size);
    #[cfg(not(feature = "libzstd"))]
    by_ruzstd(packed, size)
}

/// [`unpack`] by the C library.
#[cfg(feature = "libzstd")]
pub fn by_libzstd(packed: &[u8], size: usize) -> Result<Vec<u8>, String> {
    let mut unpacked = vec![0; size];
    let length = zstd::bulk::decompress_to_buffer(packed, unpacked.as_mut_slice())
        .map_err(|error| error.to_string())?;
    unpacked.truncate(length);
    Ok(unpacked)
}

/// [`unpack`] by the Rust library.
pub fn by_ruzstd(packed: &[u8], size: usize) -> Result<Vec<u8>, String> {
    let mut unpacked = vec![0; size];
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(LARGEST_WINDOW.max(size as u64));
    let length = decoder
        .decode_all(packed, &mut unpacked)
        .map_err(|error| error.to_string())?;
    unpacked.truncate(length);
    Ok(unpacked)
}

#[cfg(all(test, feature = "libzstd"))]
mod tests {
    use ruzstd::encoding::CompressionLevel;
    use ruzstd::encoding::compress_to_vec;

    use super::*;

    #[test]
    fn both_libraries_agree_and_keep_to_the_size() {
        let contents: Vec<u8> = (0..40_000u32).map(|i| (i * i / 977 % 251) as u8).collect();
        let frame = compress_to_vec(contents.as_slice(), CompressionLevel::Fastest);
        let two = [frame.as_slice(), &frame].concat();
        for unpack in [by_libzstd, by_ruzstd] {
            assert_eq!(unpack(&frame, contents.len()), Ok(contents.clone()));
            assert_eq!(unpack(&frame, 50_000), Ok(contents.clone()));
            assert_eq!(unpack(&two, 80_000).map(|bytes| bytes.len()), Ok(80_000));
            assert!(unpack(&frame, contents.len() - 1).is_err());
            assert!(unpack(&frame[..frame.len() / 2], contents.len()).is_err());
            assert!(unpack(b"no frame at all", 100).is_err());
        }
    }
}
