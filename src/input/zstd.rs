//! Zstandard frames, by libzstd or by ruzstd.
//!
//! The feature `libzstd` (on by default) takes the C library, which is the faster one
//! (docs/contributing/benchmarks.md). With `--no-default-features --features ruzstd` no C compiler
//! is needed. Either writes into a buffer of the declared size, so that a frame cannot make it
//! grow.

#[cfg(feature = "libzstd")]
use std::cell::RefCell;

#[cfg(any(test, feature = "ruzstd"))]
use ruzstd::decoding::FrameDecoder;

#[cfg(not(any(feature = "libzstd", feature = "ruzstd")))]
compile_error!("one of the features libzstd and ruzstd is needed");

/// Largest window that ruzstd keeps whatever the data's size. libzstd unpacks in place and needs
/// none.
#[cfg(any(test, feature = "ruzstd"))]
const LARGEST_WINDOW: u64 = 128 << 20;

/// Unpacks all frames into memory of a fixed size, which they must not exceed. Returns the number
/// of bytes; the error says what is wrong with them.
pub fn unpack_into(packed: &[u8], unpacked: &mut [u8]) -> Result<usize, String> {
    #[cfg(feature = "libzstd")]
    return by_libzstd(packed, unpacked);
    #[cfg(not(feature = "libzstd"))]
    by_ruzstd(packed, unpacked)
}

/// Packs bytes into one frame that names their size and has no checksum. The level is libzstd's;
/// ruzstd has one level for all.
#[cfg_attr(not(feature = "libzstd"), expect(unused_variables))]
pub fn pack(bytes: &[u8], level: i32) -> Result<Vec<u8>, String> {
    #[cfg(feature = "libzstd")]
    return zstd::bulk::compress(bytes, level).map_err(|error| error.to_string());
    #[cfg(not(feature = "libzstd"))]
    Ok(ruzstd::encoding::compress_to_vec(
        bytes,
        ruzstd::encoding::CompressionLevel::Fastest,
    ))
}

/// Does the same as [`unpack_into`] with the C library.
#[cfg(feature = "libzstd")]
pub fn by_libzstd(packed: &[u8], unpacked: &mut [u8]) -> Result<usize, String> {
    use zstd::bulk::Decompressor;
    thread_local! {
        // The library's memory: making it for each of 160 frames takes 3 to 10 % of their link.
        static OF_THREAD: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
    }
    let unpacked = OF_THREAD.with_borrow_mut(|of_thread| {
        let decompressor = match of_thread {
            Some(decompressor) => decompressor,
            None => of_thread.insert(Decompressor::new()?),
        };
        decompressor.decompress_to_buffer(packed, unpacked)
    });
    unpacked.map_err(|error| error.to_string())
}

/// Does the same as [`unpack_into`] with the Rust library.
#[cfg(any(test, feature = "ruzstd"))]
pub fn by_ruzstd(packed: &[u8], unpacked: &mut [u8]) -> Result<usize, String> {
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(LARGEST_WINDOW.max(unpacked.len() as u64));
    decoder
        .decode_all(packed, unpacked)
        .map_err(|error| error.to_string())
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
            let mut room = vec![0; 90_000];
            assert_eq!(unpack(&frame, &mut room[..40_000]), Ok(40_000));
            assert_eq!(room[..40_000], contents);
            assert_eq!(unpack(&frame, &mut room[..50_000]), Ok(40_000));
            assert_eq!(unpack(&two, &mut room[..80_000]), Ok(80_000));
            assert!(unpack(&frame, &mut room[..39_999]).is_err());
            assert!(unpack(&frame[..frame.len() / 2], &mut room[..40_000]).is_err());
            assert!(unpack(b"no frame at all", &mut room[..100]).is_err());
        }
    }
}
