//! Damaged inputs of every kind: an error or another image, never a panic or an end without end.

use super::DiscoverOptions;
use super::InputArena;
use super::Target;
use super::decompress::Codec;
use super::discover_bytes;
use super::test_files::Member;
use super::test_files::archive;
use super::test_files::cubin;
use super::test_files::cuda_object;
use super::test_files::fatbin;
use super::test_files::thin_archive;

/// Files of every kind, with every codec.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    let image = cubin(1, 7);
    let packed = |codec| Member::elf("sm_90", &image).packed(codec);
    let all = fatbin(&[
        packed(Codec::Zstd),
        packed(Codec::Lz4).flags(0),
        packed(Codec::Zlib),
        Member::ptx("sm_75", b".version 9.0\n.target sm_75\0").options(b"--compile-only "),
    ]);
    let object = cuda_object(&all, b"_id_a\0_id_b\0", b"k*\0");
    let mut two = fatbin(&[packed(Codec::Lz4)]);
    two.extend_from_slice(&fatbin(&[packed(Codec::Zstd)]));
    vec![
        ("a.cubin", image),
        ("all.fatbin", all),
        ("two.fatbin", two),
        (
            "lib.a",
            archive(&[("a.o", &object), ("a_name_of_more_than_fifteen.o", &object)]),
        ),
        ("a.o", object),
        ("thin.a", thin_archive("a.o")),
    ]
}

fn read(name: &str, bytes: &[u8]) {
    for strict in [false, true] {
        let inputs = [name.to_owned()];
        let options = DiscoverOptions {
            strict,
            lto: strict,
            ..DiscoverOptions::new(Target::parse("sm_90").unwrap(), &inputs)
        };
        let arena = InputArena::new();
        if let Err(failure) = discover_bytes(&options, &[(name, bytes)], &arena) {
            assert!(!failure.error.lines().is_empty());
            assert!(!failure.error.to_string().is_empty());
        }
    }
}

#[test]
fn cut_off_files() {
    for (name, bytes) in files() {
        for length in 0..bytes.len() {
            read(name, &bytes[..length]);
        }
    }
}

#[test]
fn flipped_bits_and_extreme_fields() {
    // A fixed sequence: xorshift.
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut next = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % bound as u64) as usize
    };
    for (name, bytes) in files() {
        for round in 0..3000 {
            let mut changed = bytes.clone();
            for _ in 0..=next(3) {
                let at = next(changed.len());
                if round % 3 == 0 {
                    let end = (at + 1 + next(8)).min(changed.len());
                    changed[at..end].fill(if next(2) == 0 { 0xff } else { 0 });
                } else {
                    changed[at] ^= 1 << next(8);
                }
            }
            read(name, &changed);
        }
    }
}
