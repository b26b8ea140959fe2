//! Damaged inputs of every kind: an error or another image, never a panic or an end without end.

use std::collections::BTreeSet;

use super::DiscoverOptions;
use super::InputArena;
use super::InputError;
use super::Target;
use super::decompress::Codec;
use super::discover::discover;
use super::test_files::Member;
use super::test_files::archive;
use super::test_files::cubin;
use super::test_files::cuda_object;
use super::test_files::fatbin;
use super::test_files::thin_archive;

/// Returns files of every kind, with every codec.
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

/// Errors of what a file holds: of a member, if that is an archive.
const IN_MEMBER: [&str; 7] = [
    "Decompress",
    "FatbinNotFound",
    "FatbinVersion",
    "MalformedFatbin",
    "Obfuscated",
    "UnknownArch",
    "WordSize",
];

/// Reads a damaged file. Its error has to name the file, with the archive member if it is in one,
/// and where in it; its kind is added.
fn read(name: &str, bytes: &[u8], kinds: &mut BTreeSet<String>) {
    for strict in [false, true] {
        let inputs = [name.to_owned()];
        let options = DiscoverOptions {
            strict,
            lto: strict,
            ..DiscoverOptions::new(Target::parse("sm_90").unwrap(), &inputs)
        };
        let arena = InputArena::of_files([(name, bytes)]);
        if let Err(failure) = discover(&options, &arena) {
            let error = failure.error;
            assert!(!error.findings().is_empty());
            let text = error.to_string();
            assert!(text.contains(&format!("'{name}")), "no file: {text}");
            let debug = format!("{error:?}");
            let kind = debug
                .split_once(' ')
                .map_or(debug.as_str(), |(kind, _)| kind);
            let in_member = IN_MEMBER.contains(&kind) && name == "lib.a";
            assert!(!in_member || text.contains("'lib.a:"), "no member: {text}");
            let is_place = match &error {
                // The whole file is too short.
                InputError::CannotOpen { reason, .. } => reason.contains(" bytes"),
                // Nothing is damaged: a flag says that it is LTO-IR.
                InputError::LtoObjects { .. } => true,
                _ => text.contains(" 0x"),
            };
            assert!(is_place, "no offset: {text}");
            kinds.insert(kind.to_owned());
        }
    }
}

#[test]
fn cut_off_files() {
    let mut kinds = BTreeSet::new();
    for (name, bytes) in files() {
        for length in 0..bytes.len() {
            read(name, &bytes[..length], &mut kinds);
        }
    }
    for kind in [
        "CannotOpen",
        "DamagedArchive",
        "FatbinNotFound",
        "MalformedFatbin",
    ] {
        assert!(kinds.contains(kind), "{kind} is not among {kinds:?}");
    }
}

#[test]
fn flipped_bits_and_extreme_fields() {
    // A fixed sequence: xorshift.
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut kinds = BTreeSet::new();
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
            read(name, &changed, &mut kinds);
        }
    }
    for kind in IN_MEMBER.iter().chain(&[
        "CubinNotElf",
        "CubinNotDeviceElf",
        "DamagedArchive",
        "FatbinWrongFormat",
        "ThinMember",
    ]) {
        assert!(kinds.contains(*kind), "{kind} is not among {kinds:?}");
    }
}
