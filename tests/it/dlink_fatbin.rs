//! The fatbin of linked images, held against fatbinary: against files that it made, and live where NVIDIA's tools are.

use std::fs;
use std::mem::offset_of;
use std::ops::Range;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use cuweld::InputArena;
use cuweld::Target;
use cuweld::internals::decompress::decompress;
use cuweld::internals::fatbin;
use cuweld::internals::fatbin::FatbinMember;
use cuweld::internals::fatbin_writer::Compression;
use cuweld::internals::fatbin_writer::FatbinImage;
use cuweld::internals::fatbin_writer::FatbinOptions;
use cuweld::internals::fatbin_writer::WriteError;
use cuweld::internals::fatbin_writer::write_fatbin;
use cuweld_elf::raw::FileHeader;
use cuweld_elf::raw::SectionHeader;
use cuweld_elf::raw::is_at;
use cuweld_elf::target::compat;
use cuweld_elf::validate::validate_structure;

use crate::harness::command::cuweld;
use crate::harness::command::said;
use crate::harness::oracle;

const MODES: [(Compression, &str); 5] = [
    (Compression::Default, "default"),
    (Compression::Balance, "balance"),
    (Compression::Size, "size"),
    (Compression::Speed, "speed"),
    (Compression::None, "none"),
];

/// A target, and the case of `tests/links` that has an image for it.
const IMAGES: [(&str, &str); 14] = [
    ("sm_75", "shared-memory/dynamic-shared-no-kernel"),
    ("sm_80", "symbols/common-after-weak-before-strong"),
    ("sm_89", "debug/line-table-of-losing-copy-force-rela"),
    ("sm_90", "inputs/empty-result"),
    ("sm_90a", "shared-memory/specific-more-shared-data"),
    ("sm_90a", "inputs/toolkit-12-8-with-13-0"),
    ("sm_100", "inputs/empty-result"),
    ("sm_100a", "mercury/mercury-fast-path-comparison"),
    ("sm_100f", "mercury/mercury-targets"),
    ("sm_103", "inputs/note-of-other-index"),
    ("sm_110f", "mercury/mercury-targets"),
    ("sm_120", "mercury/mercury-lines-of-replaced-copy-again"),
    ("sm_120a", "mercury/mercury-targets-relocatable"),
    ("sm_121a", "mercury/mercury-targets"),
];

/// An image that outlives its file.
struct Image {
    target: Target,
    cubin: Vec<u8>,
}

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn image(target: &str, case: &str) -> Image {
    let path = tests().join(format!("links/{case}/expected/{target}.cubin"));
    Image {
        target: Target::parse(target).unwrap(),
        cubin: fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())),
    }
}

fn images() -> Vec<Image> {
    IMAGES.map(|(target, case)| image(target, case)).into()
}

/// Returns fatbinary's command line for options.
fn words(options: &FatbinOptions<'_>) -> Vec<String> {
    let mode = MODES
        .iter()
        .find(|(mode, _)| *mode == options.compression)
        .map(|(_, word)| format!("--compress-mode={word}"));
    let ident = String::from_utf8_lossy(options.ident);
    let words = [
        Some("-64".to_owned()),
        Some(if options.relocatable { "-c" } else { "-link" }.to_owned()),
        (!ident.is_empty()).then(|| format!("--ident={ident}")),
        options.compress_all.then(|| "-compress-all".to_owned()),
        options.debug.then(|| "-g".to_owned()),
        mode,
    ];
    words.into_iter().flatten().collect()
}

/// Has fatbinary write a fatbin. The error is what it says.
fn by_fatbinary(
    tools: &Path,
    images: &[Image],
    options: &FatbinOptions<'_>,
) -> Result<Vec<u8>, String> {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(tools.join("fatbinary"));
    command.current_dir(folder.path()).args(words(options));
    for (index, image) in images.iter().enumerate() {
        fs::write(folder.path().join(format!("{index}.cubin")), &image.cubin).unwrap();
        let sm = image.target.to_string().replace("sm_", "");
        command.arg(format!("--image3=kind=elf,sm={sm},file={index}.cubin"));
    }
    let output = command.arg("--create=x.fatbin").output().unwrap();
    match output.status.success() {
        true => Ok(fs::read(folder.path().join("x.fatbin")).unwrap()),
        false => Err(said(&output)),
    }
}

fn by_us(images: &[Image], options: &FatbinOptions<'_>) -> Result<Vec<u8>, WriteError> {
    let images: Vec<_> = images
        .iter()
        .map(|image| FatbinImage {
            target: image.target,
            cubin: &image.cubin,
        })
        .collect();
    write_fatbin(&images, options)
}

/// Returns a member's header with its tails, and 0 in the place of its sizes that depend on how tightly it is packed.
fn header(bytes: &[u8], member: &FatbinMember<'_>) -> Vec<u8> {
    const SIZES: Range<usize> = 8..20;
    let start = member.offset as usize;
    let mut header = bytes[start..][..member.header.header_size.get() as usize].to_vec();
    if member.header.compressed_size.get() != 0 {
        header[SIZES].fill(0);
    }
    header
}

/// Compares two fatbins: all bytes, or what they unpack to where the packers differ.
fn compare(what: &str, ours: &[u8], theirs: &[u8], options: &FatbinOptions<'_>) {
    let same_packer = cfg!(feature = "libzstd") && options.compression != Compression::Speed;
    if same_packer {
        assert!(ours == theirs, "{what}: other bytes");
        return;
    }
    let arena = InputArena::new();
    let [our_members, their_members] = [ours, theirs]
        .map(|bytes| fatbin::parse(bytes).unwrap_or_else(|error| panic!("{what}: {error}")));
    assert_eq!(our_members.len(), their_members.len(), "{what}");
    for (our, their) in our_members.iter().zip(&their_members) {
        assert_eq!(header(ours, our), header(theirs, their), "{what}");
        let [our, their] = [our, their].map(|member| decompress(member, &arena).unwrap());
        assert!(our == their, "{what}: other data");
    }
}

/// The committed fatbins: name, members, options.
fn fixtures() -> Vec<(&'static str, Vec<Image>, FatbinOptions<'static>)> {
    let small = || {
        vec![
            image("sm_80", "symbols/common-after-weak-before-strong"),
            image("sm_100", "inputs/empty-result"),
        ]
    };
    let plain = FatbinOptions::default();
    let of_objects = FatbinOptions {
        ident: b"a.o b.o ",
        ..plain
    };
    vec![
        ("none", Vec::new(), plain),
        ("plain", small(), plain),
        (
            "suffixes",
            vec![
                image("sm_90a", "shared-memory/specific-more-shared-data"),
                image("sm_100f", "mercury/mercury-targets"),
            ],
            FatbinOptions {
                ident: b"lto",
                ..plain
            },
        ),
        (
            "debug",
            small(),
            FatbinOptions {
                debug: true,
                ..of_objects
            },
        ),
        (
            "size",
            small(),
            FatbinOptions {
                compression: Compression::Size,
                ..plain
            },
        ),
        (
            "speed",
            small(),
            FatbinOptions {
                compression: Compression::Speed,
                compress_all: true,
                ..of_objects
            },
        ),
    ]
}

#[test]
fn committed_fatbins_are_written_alike() {
    let bless = std::env::var_os("BLESS").is_some_and(|value| value == "1");
    for (name, images, options) in fixtures() {
        let path = tests().join(format!("fixtures/fatbin/{name}.fatbin"));
        if bless {
            let tools = oracle::tools().expect("BLESS=1 needs NVIDIA's tools");
            fs::write(&path, by_fatbinary(&tools, &images, &options).unwrap()).unwrap();
        }
        let theirs = fs::read(&path).unwrap();
        compare(name, &by_us(&images, &options).unwrap(), &theirs, &options);
    }
}

#[test]
fn every_mode_writes_what_fatbinary_does() {
    let Some(tools) = oracle::tools() else {
        return;
    };
    let images = images();
    for (compression, mode) in MODES {
        for bits in 0..16u8 {
            let options = FatbinOptions {
                compression,
                compress_all: bits & 1 != 0,
                debug: bits & 2 != 0,
                relocatable: bits & 4 != 0,
                ident: if bits & 8 != 0 { b"a.o sub/b.o " } else { b"" },
            };
            let theirs = by_fatbinary(&tools, &images, &options).unwrap();
            let ours = by_us(&images, &options).unwrap();
            compare(&format!("{mode} {bits:#06b}"), &ours, &theirs, &options);
        }
    }
}

/// Returns the offset of the header of `.nv.compat`.
fn compat_header(cubin: &[u8]) -> usize {
    let headers = validate_structure(cubin).unwrap();
    let names = &cubin[headers.sections[headers.section_names].offset.get() as usize..];
    let is_compat = |section: &SectionHeader| is_at(names, section.name.get(), compat::SECTION);
    let index = headers.sections.iter().position(is_compat).unwrap();
    headers.file.shoff.get() as usize + index * size_of::<SectionHeader>()
}

/// Images that no linker writes: names of all lengths, sizes that are no multiple of 8, other sizes of `.nv.compat`, each low bit of
/// `e_flags`, another ABI version, data that packing makes longer.
#[test]
fn odd_images_are_written_alike() {
    let Some(tools) = oracle::tools() else {
        return;
    };
    let plain = FatbinOptions::default();
    let check = |what: &str, image: Image, options: &FatbinOptions<'_>| {
        let images = [image];
        let theirs = by_fatbinary(&tools, &images, options).unwrap();
        compare(what, &by_us(&images, options).unwrap(), &theirs, options);
    };
    let mercury = || image("sm_100", "inputs/empty-result");
    for length in [1, 7, 8, 9] {
        let ident = vec![b'x'; length];
        let options = FatbinOptions {
            ident: &ident,
            ..plain
        };
        check(&format!("{length} bytes of name"), mercury(), &options);
    }
    for more in [1, 7] {
        let mut image = mercury();
        image.cubin.resize(image.cubin.len() + more, b'x');
        check(&format!("{more} bytes more"), image, &plain);
    }
    // Large ones are packed where nothing is asked for.
    for size in [9_999_999, 10_000_000, 10_000_001, 10_000_008, 20_000_000] {
        let mut image = mercury();
        image.cubin.resize(size, b'x');
        check(&format!("{size} bytes"), image, &plain);
    }
    for size in [0u64, 4, 0x1f, 0x20, 0x27, 0x28] {
        let mut image = mercury();
        let at = compat_header(&image.cubin) + offset_of!(SectionHeader, size);
        image.cubin[at..at + 8].copy_from_slice(&size.to_le_bytes());
        check(&format!("{size:#x} bytes of .nv.compat"), image, &plain);
    }
    let mut nameless = mercury();
    let at = compat_header(&nameless.cubin);
    nameless.cubin[at..at + 4].fill(0);
    check("no .nv.compat", nameless, &plain);
    const FLAGS: usize = offset_of!(FileHeader, flags);
    for bit in 0..8 {
        for (target, case) in [
            ("sm_90", "inputs/empty-result"),
            ("sm_100", "inputs/empty-result"),
        ] {
            let mut image = image(target, case);
            image.cubin[FLAGS] ^= 1 << bit;
            check(&format!("{target} bit {bit} of e_flags"), image, &plain);
        }
    }
    let mut older = mercury();
    older.cubin[8] = 7;
    check("ABI version 7", older, &plain);
    let mut random = mercury();
    let mut state = 1u32;
    random.cubin.extend((0..40_000).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    }));
    for compression in [Compression::Default, Compression::Speed] {
        let options = FatbinOptions {
            compression,
            compress_all: true,
            ..plain
        };
        let random = Image {
            target: random.target,
            cubin: random.cubin.clone(),
        };
        check("random data", random, &options);
    }
}

#[test]
fn what_fatbinary_refuses_is_an_error() {
    let tools = oracle::tools();
    let sound = image("sm_90", "inputs/empty-result").cubin;
    let mut narrow = sound.clone();
    narrow[4] = 1;
    let refused = [
        ("sm_80", sound.clone(), "the image for sm_80 is of sm_90"),
        ("sm_90a", Vec::new(), "the image for sm_90a is no cubin: "),
        (
            "sm_90",
            b"some text".to_vec(),
            "the image for sm_90 is no cubin: ",
        ),
        ("sm_90", narrow, "the image for sm_90 is no cubin: "),
    ];
    for (target, cubin, message) in refused {
        let images = [Image {
            target: Target::parse(target).unwrap(),
            cubin,
        }];
        let options = FatbinOptions::default();
        let error = by_us(&images, &options).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
        if let Some(tools) = &tools {
            let said = by_fatbinary(tools, &images, &options).unwrap_err();
            assert!(said.contains("nvFatbin error"), "{message}: {said}");
        }
    }
    // fatbinary reads past the end of such a file.
    let truncated = [Image {
        target: Target::parse("sm_90").unwrap(),
        cubin: sound[..sound.len() - 1].to_vec(),
    }];
    assert!(by_us(&truncated, &FatbinOptions::default()).is_err());
}

/// Reads what we write with `cuweld inspect`, and with cuobjdump where it is.
#[test]
fn written_fatbins_read_back() {
    let images = images();
    let folder = tempfile::tempdir().unwrap();
    for (compression, mode) in MODES {
        let options = FatbinOptions {
            compression,
            compress_all: true,
            ident: b"a.o ",
            ..FatbinOptions::default()
        };
        let name = format!("{mode}.fatbin");
        let bytes = by_us(&images, &options).unwrap();
        fs::write(folder.path().join(&name), &bytes).unwrap();
        let arena = InputArena::new();
        let members = fatbin::parse(&bytes).unwrap();
        assert_eq!(members.len(), images.len());
        for (member, image) in members.iter().zip(&images) {
            assert_eq!(member.arch(), Some(image.target));
            assert_eq!(member.name(), b"a.o ");
            assert!(decompress(member, &arena).unwrap() == image.cubin, "{mode}");
        }
        let output = cuweld(folder.path(), &["inspect", &name]);
        let text = said(&output);
        assert!(output.status.success(), "{text}");
        for (target, _) in IMAGES {
            assert!(text.contains(target), "{mode}, {target}: {text}");
        }
        let Some(tools) = oracle::tools() else {
            continue;
        };
        let listed = Command::new(tools.join("cuobjdump"))
            .current_dir(folder.path())
            .args(["-lelf", &name])
            .output()
            .unwrap();
        let listed = said(&listed);
        assert_eq!(
            listed.matches(".cubin").count(),
            images.len(),
            "{mode}: {listed}"
        );
    }
}
