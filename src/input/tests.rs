//! Whole walks over inputs given as bytes, the objects of nvcc among them, and over damaged ones.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::Severity;
use sha2::Digest;
use sha2::Sha256;

use super::decompress::Codec;
use super::discover::discover;
use super::test_files::*;
use super::*;

const ZSTD_OBJECT: &[u8] = include_bytes!("../../tests/fixtures/input/axpy-zstd.o");
const LZ4_OBJECT: &[u8] = include_bytes!("../../tests/fixtures/input/axpy-lz4.o");

/// Returns options for links that follow nvlink's own rules, which the tests here are of; those of
/// the deviations are in tests/inputs.
fn strict_options(target: Target, inputs: &[String]) -> DiscoverOptions<'_> {
    DiscoverOptions {
        strict: true,
        ..DiscoverOptions::new(target, inputs)
    }
}

fn walk_with(
    files: &[(&str, &[u8])],
    target: &str,
    change: impl Fn(&mut DiscoverOptions<'_>),
) -> Vec<String> {
    let inputs: Vec<String> = files.iter().map(|(name, _)| (*name).to_owned()).collect();
    let mut options = strict_options(Target::parse(target).unwrap(), &inputs);
    change(&mut options);
    let arena = InputArena::of_files(files.iter().copied());
    let result = discover(&options, &arena);
    let mut out = Vec::new();
    let line = |finding: &Diagnostic| format!("{:?}: {finding}", finding.severity);
    let (diagnostics, error) = match &result {
        Ok(found) => {
            out.extend(found.inputs.iter().map(describe));
            (&found.diagnostics, None)
        }
        Err(failure) => (&failure.found.diagnostics, Some(&failure.error)),
    };
    for diagnostic in diagnostics {
        match diagnostic.finding() {
            Some(finding) if finding.severity == Severity::Note => {
                out.push(format!("note: {finding}"));
            }
            Some(finding) => out.push(line(&finding)),
            None => out.push(format!("note: {}", diagnostic.why_ignored().unwrap())),
        }
    }
    if let Some(error) = error {
        out.extend(error.findings().iter().map(line));
    }
    out
}

fn walk(files: &[(&str, &[u8])], target: &str) -> Vec<String> {
    walk_with(files, target, |_| ())
}

fn describe(input: &DeviceInput<'_>) -> String {
    let image = match input.image {
        None => "nothing".to_owned(),
        Some(Image::Cubin(bytes)) => format!("cubin {}", bytes.last().unwrap()),
        Some(Image::Ptx(ptx)) => {
            let options = String::from_utf8_lossy(ptx.options);
            format!("PTX '{}'", options.trim())
        }
        Some(Image::Nvvm(_)) => "NVVM".to_owned(),
    };
    let ids: Vec<_> = input
        .module_ids
        .ids
        .iter()
        .map(|id| String::from_utf8_lossy(id))
        .collect();
    let skip = input
        .skip
        .map(|skip| format!(" {skip:?}"))
        .unwrap_or_default();
    let system = if input.system_library { " system" } else { "" };
    format!("{input}: {image} [{}]{skip}{system}", ids.join(","))
}

fn member(arch: &str, mark: u8) -> Member {
    Member::elf(arch, &cubin(1, mark))
}

fn object(arch: &str, mark: u8, id: &[u8]) -> Vec<u8> {
    cuda_object(&fatbin(&[member(arch, mark)]), id, b"k\0")
}

#[test]
fn kinds_of_inputs_in_order() {
    let files: &[(&str, &[u8])] = &[
        ("a.cubin", &cubin(1, 1)),
        (
            "b.fatbin",
            &fatbin(&[member("sm_80", 2), member("sm_90", 3)]),
        ),
        ("c.o", &object("sm_90", 4, b"_c\0_d\0\0")),
        ("d.ptx", &b".version 9.0\n".repeat(8)),
        (
            "e.a",
            &archive(&[
                ("1.o", &object("sm_90", 5, b"_e")),
                ("2.o", &object("sm_80", 6, b"_f")),
            ]),
        ),
        ("f.o", &object("sm_80", 7, b"_g")),
        ("g", &cubin(1, 1)),
    ];
    assert_eq!(
        walk(files, "sm_90"),
        [
            "a.cubin: cubin 1 []",
            "b.fatbin: cubin 3 []",
            "c.o: cubin 4 [_c,_d]",
            "d.ptx: PTX '' []",
            "e.a:1.o: cubin 5 [_e]",
            "e.a:2.o: nothing [_f]",
            "f.o: nothing [_g]",
            "note: 'e.a:2.o' is ignored: it has no device code for the target",
            "Warning: SM Arch ('sm_90') not found in 'f.o'",
            "note: 'g' is ignored: its name has no extension",
        ]
    );
}

#[test]
fn errors_come_after_the_warnings_before_them() {
    let sm_80 = fatbin(&[member("sm_80", 1)]);
    let files: &[(&str, &[u8])] = &[("a.fatbin", &sm_80), ("b.cubin", &[b'x'; 56])];
    assert_eq!(
        walk(files, "sm_90"),
        [
            "Warning: SM Arch ('sm_90') not found in 'a.fatbin'",
            "Fatal: cubin not an elf?"
        ]
    );
}

#[test]
fn broken_fatbins_have_nvlinks_messages() {
    let data = cubin(1, 9).repeat(4);
    let good = fatbin(&[Member::elf("sm_90", &data)]);
    let bad = |codec| {
        let mut bytes = fatbin(&[Member::elf("sm_90", &data).packed(codec)]);
        bytes[16 + 64..].fill(0xff);
        bytes
    };
    let file = |bytes: &[u8]| walk(&[("f.fatbin", bytes)], "sm_90");
    let in_object = |bytes: &[u8]| walk(&[("f.o", &cuda_object(bytes, b"", b""))], "sm_90");
    let not_found = [
        "Fatal: Could not find fatbin in 'f.o'",
        "Fatal: elfLink internal error",
    ];
    let mut magic = good.clone();
    magic[0] = 0;
    assert_eq!(file(&magic), ["Fatal: fatbin wrong format?"]);
    assert_eq!(in_object(&magic), not_found);
    assert_eq!(in_object(b""), not_found);
    let mut version = good.clone();
    version[4] = 2;
    let unrecognized = "Error: Binary format for key='0', ident='' is not recognized";
    let fatbinary = "Fatal: elfLink fatbinary error";
    assert_eq!(file(&version), [unrecognized, fatbinary]);
    let failed = "Error: Uncompress failed";
    assert_eq!(file(&bad(Codec::Zlib)), [failed, fatbinary]);
    assert_eq!(file(&bad(Codec::Zstd)), [failed, failed, fatbinary]);
    assert_eq!(
        file(&bad(Codec::Lz4)),
        [
            "f.fatbin: nothing [] NoCode",
            "ErrorLine: Uncompress failed",
            "Warning: SM Arch ('sm_90') not found in 'f.fatbin'"
        ]
    );
    let mut label = good.clone();
    label[16 + 0x1c] = 0;
    assert_eq!(file(&label), ["Fatal: Unknown arch name ''", fatbinary]);
    assert_eq!(
        file(&fatbin(&[Member::elf("sm_90", b"no ELF at all")])),
        ["Fatal: Input file 'f.fatbin' size does not match target '-m64'"]
    );
    assert_eq!(
        file(&fatbin(&[Member::new(8, "sm_90", b"lto")])),
        ["Fatal: LTO objects found, use -dlto"]
    );
    assert_eq!(file(&good[..good.len() - 1]), [fatbinary]);
}

#[test]
fn linked_cubins_are_dropped() {
    let linked = Member::elf("sm_90", &cubin(2, 1));
    let files: &[(&str, &[u8])] = &[
        ("a.cubin", &cubin(2, 1)),
        ("b.fatbin", &fatbin(std::slice::from_ref(&linked))),
        (
            "c.o",
            &cuda_object(&fatbin(&[linked, member("sm_90", 2)]), b"_c", b"k"),
        ),
    ];
    let notes = walk(files, "sm_90");
    assert_eq!(notes.len(), 3);
    assert!(
        notes
            .iter()
            .all(|note| note.ends_with("its device code is linked already"))
    );
}

#[test]
fn ptx_files_count_from_sm_90_on() {
    let files: &[(&str, &[u8])] = &[
        ("a.ptx", &b".version 9.0\n".repeat(8)),
        ("b.ptx", &cubin(1, 2)),
        (
            "c.fatbin",
            &fatbin(&[Member::ptx("sm_75", b".version 9.0").options(b"-g --x ")]),
        ),
    ];
    assert_eq!(
        walk(files, "sm_90"),
        [
            "a.ptx: PTX '' []",
            "b.ptx: cubin 2 []",
            "c.fatbin: PTX '-g --x' []"
        ]
    );
    let old = walk(files, "sm_89");
    assert_eq!(
        old[..2],
        ["a.ptx: PTX '' [] RawPtx", "b.ptx: cubin 2 [] RawPtx"]
    );
    assert_eq!(old[2], "c.fatbin: PTX '-g --x' []");
}

#[test]
fn archives_are_read_once_and_up_to_the_first_foreign_member() {
    let one = object("sm_90", 1, b"_1");
    let lib = archive(&[
        ("1.o", &one),
        ("x.cubin", &cubin(1, 2)),
        ("t.txt", b"text"),
        ("2.o", &one),
    ]);
    let files: &[(&str, &[u8])] = &[("l.a", &lib), ("l.a", &lib), ("copy.a", &lib)];
    assert_eq!(
        walk(files, "sm_90"),
        [
            "l.a:1.o: cubin 1 [_1]",
            "copy.a:1.o: cubin 1 [_1]",
            "note: 'l.a:x.cubin' is ignored: cubins in archives are not linked",
            "note: 'l.a' is ignored: the archive is read only up to its first damaged or non-ELF member",
            "note: 'l.a' is ignored: this archive is an input already",
            "note: 'copy.a:x.cubin' is ignored: cubins in archives are not linked",
            "note: 'copy.a' is ignored: the archive is read only up to its first damaged or non-ELF member",
        ]
    );
}

#[test]
fn thin_archives_lead_to_their_members() {
    let thin = thin_archive("dir/a.o");
    let one = object("sm_90", 1, b"_1");
    let files: &[(&str, &[u8])] = &[("t.a", &thin), ("dir/a.o", &one)];
    assert_eq!(walk(files, "sm_90")[0], "t.a:dir/a.o: cubin 1 [_1]");
    assert_eq!(
        walk(&files[..1], "sm_90"),
        [
            "Fatal: Could not open input file 'dir/a.o'",
            "Fatal: elfLink internal error"
        ]
    );
}

#[test]
fn libraries_come_after_inputs_and_their_warnings_first() {
    let lib = archive(&[("1.o", &object("sm_90", 1, b"_1"))]);
    let files: &[(&str, &[u8])] = &[
        ("d/libx.a", b"hello"),
        ("e/libx.a", &lib),
        ("a.cubin", &cubin(1, 2)),
    ];
    let inputs = ["a.cubin".to_owned()];
    let libraries = ["x".to_owned(), "nowhere".to_owned()];
    let folders = ["d".to_owned()];
    let options = DiscoverOptions {
        libraries: &libraries,
        library_paths: &folders,
        env_library_path: Some("e"),
        ..strict_options(Target::parse("sm_90").unwrap(), &inputs)
    };
    let arena = InputArena::of_files(files.iter().copied());
    let found = discover(&options, &arena).unwrap();
    let names: Vec<_> = found
        .inputs
        .iter()
        .map(|i| (i.ordinal, i.to_string()))
        .collect();
    assert_eq!(
        names,
        [(0, "a.cubin".to_owned()), (1, "e/libx.a:1.o".to_owned())]
    );
    assert_eq!(
        &*found.diagnostics[0].finding().unwrap().message,
        "Skipping incompatible 'd/libx.a' when searching for -lx"
    );
}

#[test]
fn stubs_hide_what_they_have_linked() {
    let one = object("sm_90", 1, b"_1\0_x");
    let files: &[(&str, &[u8])] = &[
        ("1.o", &one),
        (
            "stub.o",
            &host_object(&[("__nv_module_id", b"def _1\0def _2")]),
        ),
        ("l.a", &archive(&[("2.o", &object("sm_90", 3, b"_2"))])),
        ("3.o", &object("sm_90", 4, b"_3\0_1")),
    ];
    assert_eq!(
        walk(files, "sm_90"),
        [
            "1.o: cubin 1 [_1,_x] AlreadyLinked",
            "stub.o: nothing [] Stub",
            "l.a:2.o: cubin 3 [_2] AlreadyLinked",
            "3.o: cubin 4 [_3,_1]",
        ]
    );
}

#[test]
fn the_device_runtime_is_marked() {
    let program = object("sm_90", 2, b"_2");
    let library = archive(&[("r.o", &object("sm_90", 1, b"_1"))]);
    let files: &[(&str, &[u8])] = &[("2.o", &program), ("x/libcudadevrt.a", &library)];
    let linked = "x/libcudadevrt.a:r.o: cubin 1 [_1] system";
    assert_eq!(walk(files, "sm_90"), ["2.o: cubin 2 [_2]", linked]);
}

#[test]
fn pruning_ends_with_the_first_input_that_tells_nothing() {
    let cuda = object("sm_90", 1, b"_1");
    let plain = host_object(&[(".text", b"x")]);
    let linked = cubin(2, 1);
    let prunes = |files: &[(&str, &[u8])]| {
        let inputs: Vec<String> = files.iter().map(|(name, _)| (*name).to_owned()).collect();
        let arena = InputArena::of_files(files.iter().copied());
        let options = strict_options(Target::parse("sm_86").unwrap(), &inputs);
        discover(&options, &arena)
            .unwrap()
            .host_info
            .prunes_kernels()
    };
    let shared = [&plain[..16], b"\x03", &plain[17..]].concat();
    assert!(prunes(&[("a.o", &cuda)]));
    assert!(prunes(&[
        ("a.o", &cuda),
        ("s.so", &shared),
        ("t.o", &shared)
    ]));
    assert!(prunes(&[("a.o", &cuda), ("l.cubin", &linked)]));
    assert!(prunes(&[
        ("a.o", &cuda),
        ("p.ptx", &b".version 9.0\n".repeat(8))
    ]));
    assert!(!prunes(&[("a.o", &cuda), ("plain.o", &plain)]));
    assert!(!prunes(&[("a.o", &cuda), ("c.cubin", &cubin(1, 1))]));
    assert!(!prunes(&[
        ("a.o", &cuda),
        ("l.a", &archive(&[("s", &shared)]))
    ]));
    assert!(!prunes(&[
        ("a.o", &cuda),
        ("l.a", &archive(&[("c", &linked)]))
    ]));
}

#[test]
fn lto_takes_nvvm() {
    let both = fatbin(&[member("sm_90", 1), Member::new(8, "sm_90", b"lto")]);
    let files: &[(&str, &[u8])] = &[("a.fatbin", &both), ("b.ltoir", &[1; 64])];
    let lto = walk_with(files, "sm_90", |options| options.lto = true);
    assert_eq!(lto, ["a.fatbin: NVVM []", "b.ltoir: NVVM []"]);
}

/// Returns the SHA-256 of the image chosen from a real object.
fn chosen(object: &[u8], target: &str) -> String {
    let inputs = ["a.o".to_owned()];
    let arena = InputArena::of_files([("a.o", object)]);
    let options = strict_options(Target::parse(target).unwrap(), &inputs);
    let found = discover(&options, &arena).unwrap();
    assert_eq!(found.inputs[0].module_ids.ids.len(), 1);
    assert!(String::from_utf8_lossy(found.inputs[0].module_ids.ids[0]).contains("_7_axpy_cu_"));
    match found.inputs[0].image {
        Some(Image::Cubin(bytes)) => Sha256::digest(bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect(),
        Some(Image::Ptx(ptx)) => format!("PTX for {}", ptx.arch.unwrap()),
        other => format!("{other:?}"),
    }
}

#[test]
fn nvccs_objects_give_what_cuobjdump_extracts() {
    let sm_80 = "ac025263bf64a0ab5b3b41df655cefe39e284f578a026c801da4f9c0590f8ea4";
    let sm_90 = "c7a5681a034078c5a5f251ca045059bbfc8ec93842b0865588badb2702da27ba";
    let sm_100a = "60d0ae3e3ea4844a58d125fdce0189bed2b6f062262dcf7d723a2aa1da2012c4";
    assert_eq!(chosen(ZSTD_OBJECT, "sm_80"), sm_80);
    assert_eq!(chosen(ZSTD_OBJECT, "sm_89"), sm_80);
    assert_eq!(chosen(ZSTD_OBJECT, "sm_90a"), sm_90);
    assert_eq!(chosen(ZSTD_OBJECT, "sm_120"), "PTX for sm_90");
    assert_eq!(chosen(LZ4_OBJECT, "sm_86"), sm_80);
    assert_eq!(chosen(LZ4_OBJECT, "sm_100"), sm_100a);
    assert_eq!(chosen(LZ4_OBJECT, "sm_103"), "None");
}

/// A deterministic generator (xorshift); the seed is part of the test.
struct Random(u64);

impl Random {
    fn next(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

/// Returns inputs of each kind, which are walked truncated and altered.
fn victims() -> Vec<(&'static str, Vec<u8>)> {
    let data = cubin(1, 9).repeat(4);
    let packed = |codec| Member::elf("sm_90", &data).packed(codec).name(b"a.cu");
    let mut files = vec![
        (
            "ptx.fatbin",
            fatbin(&[Member::ptx("sm_90", b".version 9.0").options(b"-g ")]),
        ),
        (
            "zlib.fatbin",
            fatbin(&[packed(Codec::Zlib), member("sm_80", 1)]),
        ),
        ("lz4.fatbin", fatbin(&[packed(Codec::Lz4)])),
        ("zstd.fatbin", fatbin(&[packed(Codec::Zstd)])),
        ("host.o", object("sm_90", 2, b"_1\0_2")),
        ("stub.o", object("sm_90", 2, b"def _1\0def _2")),
    ];
    let small = object("sm_90", 3, b"_3");
    files.push((
        "lib.a",
        archive(&[("a.o", &small), ("a_long_member_name.o", &small)]),
    ));
    files
}

#[test]
fn every_prefix_is_walked_without_panic() {
    for (name, bytes) in victims() {
        let whole = walk(&[(name, &bytes)], "sm_90");
        let mut differing = 0;
        for length in 0..bytes.len() {
            differing += usize::from(walk(&[(name, &bytes[..length])], "sm_90") != whole);
        }
        // A cut always shows, but for the padding after the last archive member.
        assert!(
            differing + 1 >= bytes.len(),
            "{name}: {differing} of {}",
            bytes.len()
        );
    }
    for object in [ZSTD_OBJECT, LZ4_OBJECT] {
        for length in (0..object.len()).step_by(7) {
            let out = walk(&[("real.o", &object[..length])], "sm_90");
            assert!(
                !out.iter().any(|line| line.contains("cubin")),
                "{length}: {out:?}"
            );
        }
    }
}

#[test]
fn altered_bytes_are_walked_without_panic() {
    let mut random = Random(0x5eed_c0de);
    for (name, bytes) in victims() {
        for at in 0..bytes.len() {
            let mut altered = bytes.clone();
            altered[at] ^= 1 + random.next(255) as u8;
            walk(&[(name, &altered)], "sm_90");
            altered[at] = 0xff;
            walk(&[(name, &altered)], "sm_90");
        }
    }
    for object in [ZSTD_OBJECT, LZ4_OBJECT] {
        let mut errors = 0;
        for _ in 0..4000 {
            let mut altered = object.to_vec();
            for _ in 0..1 + random.next(3) {
                let at = random.next(altered.len());
                altered[at] ^= 1 + random.next(255) as u8;
            }
            let target = ["sm_80", "sm_90", "sm_100"][random.next(3)];
            let out = walk(&[("real.o", &altered)], target);
            errors += usize::from(out.iter().any(|line| line.starts_with("Fatal")));
        }
        assert!(errors > 100, "alterations miss: {errors}");
    }
}
