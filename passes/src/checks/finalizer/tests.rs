//! Every error of the finalizer with what makes it, modes and their traces, copies, the SASS view.

use std::path::Path;

use cuweld_diagnostics::Diagnostic;
use cuweld_elf::check::check_image;
use cuweld_elf::finalize::Incompatible;

use super::*;
use cuweld_elf::Target;

fn fixture(name: &str) -> Vec<u8> {
    let links = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/links");
    std::fs::read(links.join(name)).unwrap()
}

/// Builds an object with Mercury for sm_120.
fn object() -> Vec<u8> {
    fixture("mercury/mercury-targets/sm_120/b.cubin")
}

/// Builds an object for sm_100, without a variant.
fn object_100() -> Vec<u8> {
    fixture("shared-memory/shared-static/sm_100/a.cubin")
}

fn config(target: &str, entry: EntryPoint) -> FinalizerConfig {
    FinalizerConfig::new(Target::parse(target).unwrap(), entry).named("a.cubin")
}

fn pre(target: &str) -> FinalizerConfig {
    config(target, EntryPoint::InputCubin)
}

fn error(bytes: &[u8], config: &FinalizerConfig) -> FinalizerError {
    Finalizer::run(bytes, config).unwrap_err()
}

/// Returns the error's text and code.
/// An error as users see it.
fn said(error: &FinalizerError) -> String {
    Diagnostic::fatal(error.diagnostic_code(), error.to_string()).to_string()
}

fn refusal(bytes: &[u8], config: &FinalizerConfig) -> (String, Option<u32>) {
    let error = error(bytes, config);
    (said(&error), error.code())
}

/// Returns the place of the value of a record of `.nv.compat`.
fn record(image: &[u8], code: u8) -> usize {
    let view = cuweld_elf::check::read(image, &mut Default::default()).unwrap();
    let section = view
        .sections
        .iter()
        .find(|section| section.name == b".nv.compat")
        .unwrap();
    let mut at = 0;
    while section.bytes[at + 1] != code {
        let is_payload = section.bytes[at] == 4;
        at += 4 + if is_payload {
            usize::from(section.bytes[at + 2])
        } else {
            0
        };
    }
    section.header.offset.get() as usize + at + 2
}

#[test]
fn a_file_for_its_own_sm_goes_through_unchanged() {
    let bytes = object();
    let finalized = Finalizer::run(&bytes, &pre("sm_120a")).unwrap();
    assert_eq!(
        (finalized.action, finalized.already_linked),
        (Action::Same, false)
    );
    assert!(matches!(finalized.image, Cow::Borrowed(image) if image == bytes));
}

#[test]
fn files_of_linkers_are_known_by_their_notes() {
    let linked = fixture("mercury/mercury-targets/expected/sm_120.cubin");
    let finalized = Finalizer::run(&linked, &config("sm_120", EntryPoint::PostLink)).unwrap();
    assert!(finalized.already_linked);
    let at = linked
        .windows(7)
        .position(|name| name == b"nvlink\0")
        .unwrap();
    let mut other = linked.clone();
    other[at] = b'x';
    assert!(!is_linked(&other) && is_linked(&linked));
    // Programs that link in memory have another name; the strings of a note are found by their
    // places.
    let jit = b"nvJIT API\0";
    other[at..at + jit.len()].copy_from_slice(jit);
    assert!(is_linked(&other));
    other[at + 8] = b'J';
    assert!(!is_linked(&other));
    // Of objects ptxas is the tool.
    assert!(!is_linked(&object()));
    assert!(!is_linked(b"no file"));
}

#[test]
fn sm_120_runs_on_sm_121() {
    let bytes = object();
    let finalized = Finalizer::run(&bytes, &pre("sm_121")).unwrap();
    assert_eq!(finalized.action, Action::Bypass);
    let differs: Vec<usize> = (0..bytes.len())
        .filter(|at| finalized.image[*at] != bytes[*at])
        .collect();
    assert_eq!(differs, [49]);
    assert_eq!(finalized.image[49], 121);
}

#[test]
fn another_sm_of_the_family_needs_a_compiler_or_a_copy() {
    let bytes = object_100();
    let mut config = pre("sm_103");
    assert_eq!(
        refusal(&bytes, &config),
        (
            "cuweld: unsupported: code of sm_100 for sm_103 needs NVIDIA's finalizer".into(),
            None
        )
    );
    config.options.opportunistic_level = 2;
    let mut trace = Vec::new();
    let finalized = Finalizer::run_traced(&bytes, &config, &mut trace).unwrap();
    assert_eq!(finalized.action, Action::Copy);
    assert_eq!(finalized.image[49..51], [103, 0]);
    assert_eq!(
        trace,
        ["[Finalizer] fastpath optimization applied for off-target 100 -> 103 finalization"]
    );
    // The SASS does not run there.
    let mut own = bytes.clone();
    let mask = record(&own, 0x0b) + 2;
    own[mask] = 1;
    assert!(matches!(
        error(&own, &config),
        FinalizerError::NeedsCompiler { .. }
    ));
    // Beyond the family the class decides first.
    config.target = Target::parse("sm_110").unwrap();
    config.options.opportunistic_level = 4;
    let (text, code) = refusal(&bytes, &config);
    assert_eq!(code, Some(26));
    assert!(
        text.starts_with("the elf arch is not compatible with finalizer arch: sm_100 for sm_110")
    );
    let mut wide = bytes.clone();
    let (class, mask) = (record(&wide, 6), record(&wide, 0x0b) + 2);
    wide[class] = 4;
    wide[mask] = 3;
    assert_eq!(Finalizer::run(&wide, &config).unwrap().image[49], 110);
    config.options.opportunistic_level = 2;
    assert!(matches!(
        error(&wide, &config),
        FinalizerError::NeedsCompiler { .. }
    ));
}

#[test]
fn every_code_has_a_cause() {
    let bytes = object();
    let with = |change: fn(&mut Vec<u8>)| {
        let mut bytes = bytes.clone();
        change(&mut bytes);
        bytes
    };
    // 4 and 5: SASS, before and after the link.
    let sass = with(|bytes| bytes[48] = 4);
    assert_eq!(error(&sass, &pre("sm_120")).code(), Some(4));
    assert_eq!(
        error(&sass, &config("sm_120", EntryPoint::PostLink)).code(),
        Some(5)
    );
    // 6: no file of ours, finalized already, neither object nor executable, an SM without code.
    assert_eq!(
        refusal(b"text", &pre("sm_120")),
        ("cubin not an elf?".into(), Some(6))
    );
    let host = with(|bytes| bytes[18] = 62);
    assert_eq!(
        refusal(&host, &pre("sm_120")),
        ("cubin not a device elf?".into(), Some(6))
    );
    let finalized = error(&with(|bytes| bytes[48] = 6), &pre("sm_120"));
    assert_eq!(
        (finalized.code(), finalized.nvlinks_message("x")),
        (Some(6), "Internal error".into())
    );
    let shared = error(&with(|bytes| bytes[16] = 3), &pre("sm_120"));
    assert_eq!(shared.nvlinks_message("x"), "Internal FNLZR error 'x'");
    assert_eq!(shared.code(), Some(6));
    let unknown = with(|bytes| bytes[49] = 104);
    assert_eq!(
        error(&unknown, &pre("sm_120")),
        FinalizerError::UnknownSm(104)
    );
    let mercury = refusal(&with(|bytes| bytes[48] = 1), &pre("sm_120"));
    assert!(mercury.0.starts_with("SASS generation failed") && mercury.1 == Some(6));
    let cut = with(|bytes| bytes.truncate(1000));
    assert!(matches!(
        error(&cut, &pre("sm_120")),
        FinalizerError::Damaged(_)
    ));
    let version = [1, 0, 0, 0xc0];
    let place = bytes.windows(4).position(|word| word == version).unwrap();
    let mut other = bytes.clone();
    other[place] = 2;
    assert!(matches!(
        error(&other, &pre("sm_120")),
        FinalizerError::Mercury { .. }
    ));
    // 7.
    assert_eq!(
        error(&with(|bytes| bytes[8] = 9), &pre("sm_120")).code(),
        Some(7)
    );
    // 11 is a failed allocation of the copy.
    assert_eq!(FinalizerError::Memory(1).code(), Some(11));
    // 17, 18 and 19.
    let mut checked = pre("sm_120");
    checked.options.self_check = true;
    assert!(Finalizer::run(&bytes, &checked).is_ok());
    let view = cuweld_elf::check::read(&bytes, &mut Default::default()).unwrap();
    let place = |name: &[u8]| {
        let section = view
            .sections
            .iter()
            .find(|section| section.name == name)
            .unwrap();
        section.header.offset.get() as usize
    };
    for (name, at, code, part) in [
        (&b".debug_frame"[..], 4, 17, "debug"),
        (b".nv.merc.rela.text._Z5twicei", 12, 18, "relocation"),
        (b".nv.merc.symtab", 24 + 6, 19, "symbol"),
    ] {
        let mut broken = bytes.clone();
        broken[place(name) + at] ^= 1;
        let error = error(&broken, &checked);
        assert_eq!(error.code(), Some(code), "{error}");
        assert_eq!(
            error.to_string(),
            format!("Self check for capsule mercury {part} section failed")
        );
        let name = String::from_utf8_lossy(name);
        let failure = format!("Failure of '{name}' section in self-check for capsule mercury.");
        assert!(error.notes().contains(&failure), "{:?}", error.notes());
    }
    // The tail of the code does something.
    let mut broken = bytes.clone();
    broken[place(b".text._Z5twicei") + 0x170] ^= 1;
    let text = error(&broken, &checked);
    assert_eq!(text.code(), Some(17));
    assert_eq!(
        text.to_string(),
        "Self check for capsule mercury text section failed"
    );
    // 25.
    let mut newer = bytes.clone();
    let at = record(&newer, 7);
    newer[at] = 2;
    let error = error(&newer, &pre("sm_120"));
    assert_eq!(
        (error.code(), error.nvlinks_message("x")),
        (Some(25), "Internal FNLZR error 'x'".into())
    );
    for code in [0, 4, 5, 6, 7, 11, 17, 18, 19, 25] {
        assert!(FinalizerError::meaning(code).is_some());
    }
}

#[test]
fn files_of_sass_get_no_mercury() {
    let mut sass = object();
    sass[48] = 4;
    let mut config = pre("sm_120");
    config.options.cap_merc = true;
    assert_eq!(
        error(&sass, &config).to_string(),
        "Cannot target sm_120 when input 'a.cubin' is SASS"
    );
    sass.truncate(1000);
    assert_eq!(
        error(&sass, &config).to_string(),
        "Invalid elf provided for mercury uplift."
    );
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let conflict = |target: &str, change: fn(&mut FinalizerOptions)| {
        let mut options = FinalizerOptions::default();
        change(&mut options);
        match options.check(Target::parse(target).unwrap()) {
            Err(FinalizerError::Conflict(conflict)) => conflict,
            other => panic!("{other:?}"),
        }
    };
    let kinds = conflict("sm_100", |it| {
        (it.cap_merc, it.binary_kind) = (true, Some(BinaryKind::Sass));
    });
    assert_eq!(kinds, Conflict::Kinds);
    assert_eq!(conflict("sm_90", |it| it.cap_merc = true), Conflict::Target);
    assert_eq!(
        conflict("sm_100", |it| it.out_sass = true),
        Conflict::OutSass
    );
    let out = conflict("sm_100", |it| {
        (it.out_sass, it.self_check, it.cap_merc) = (true, true, true)
    });
    assert_eq!(out, Conflict::OutSassKind);
    let off = conflict("sm_100", |it| {
        (it.fast_path_off, it.opportunistic_level) = (true, 2)
    });
    assert_eq!(off, Conflict::FastPath);
    assert_eq!(
        conflict("sm_100", |it| it.opportunistic_level = 5),
        Conflict::Level(5)
    );
    let text = FinalizerError::Conflict(off).to_string();
    assert!(text.starts_with("conflicting options provided for finalizer: --fastpath-off"));
}

#[test]
fn options_for_the_code_generator_are_refused() {
    let refused = |change: fn(&mut FinalizerOptions)| {
        let mut options = FinalizerOptions::default();
        change(&mut options);
        let error = options.check(Target::parse("sm_100").unwrap());
        said(&error.unwrap_err())
    };
    for (text, option) in [
        (
            refused(|it| it.binary_kind = Some(BinaryKind::Mercury)),
            "--binary-kind mercury",
        ),
        (refused(|it| it.opt_level = 2), "--opt-level"),
        (
            refused(|it| it.generate_line_info = true),
            "--generate-line-info",
        ),
        (
            refused(|it| it.at_entry_patch = true),
            "--compile-as-at-entry-patch",
        ),
        (
            refused(|it| it.trap_into_debugger = true),
            "--trap-into-debugger",
        ),
    ] {
        assert_eq!(
            text,
            format!(
                "cuweld: unsupported: {option} needs NVIDIA's finalizer, which has a code generator"
            )
        );
    }
}

#[test]
fn calls_are_traced_in_their_mode() {
    let bytes = object();
    let trace = |entry| {
        let mut config = config("sm_120", entry);
        config.options.edbg = 1;
        let mut trace = Vec::new();
        Finalizer::run_traced(&bytes, &config, &mut trace).unwrap();
        trace
    };
    for (entry, name) in [
        (EntryPoint::InputCubin, "input cubin"),
        (EntryPoint::FatbinMember, "fatbin member"),
        (EntryPoint::CompiledOutput, "compiled output"),
        (EntryPoint::PreMerge, "pre-merge"),
    ] {
        let place = format!("FNLZR: Entry point: {name}");
        let lines = [
            "FNLZR: Input ELF: a.cubin",
            "FNLZR: Pre-Link Mode",
            "FNLZR: Flags [ 0 | 1 ]",
            place.as_str(),
            "FNLZR: Starting a.cubin",
            "FNLZR: Ending a.cubin",
        ];
        assert_eq!(trace(entry), lines);
    }
    assert_eq!(
        trace(EntryPoint::PostLink)[1..3],
        ["FNLZR: Post-Link Mode", "FNLZR: Flags [ 1 | 1 ]"]
    );
    assert_eq!(
        trace(EntryPoint::JitPreLink),
        [
            "FNLZR: JIT Path",
            "FNLZR: preLink Mode",
            "FNLZR: Flags [ 0 | 1 ]",
            "FNLZR: Entry point: JIT, pre-link",
            "FNLZR: Starting JIT",
            "FNLZR: Ending JIT",
        ]
    );
    assert_eq!(trace(EntryPoint::JitPostLink)[1], "FNLZR: postLink Mode");
    // A file without a name; nothing ends after an error.
    let mut config = FinalizerConfig::new(Target::parse("sm_90").unwrap(), EntryPoint::InputCubin);
    config.options.edbg = 1;
    config.trace_compatibility = true;
    let mut lines = Vec::new();
    let refused = Finalizer::run_traced(&bytes, &config, &mut lines).unwrap_err();
    let why = Incompatible::Class(1);
    assert_eq!(
        refused,
        FinalizerError::Incompatible {
            from: 120,
            to: 90,
            why
        }
    );
    assert_eq!(lines[0], "FNLZR: Input ELF: in-memory-ELF-image");
    assert_eq!(lines.last().unwrap(), "can_finalize: sm_120 for sm_90: 26");
}

#[test]
fn the_configuration_of_a_link() {
    let options = cuweld_ir::LinkOptions {
        debug: true,
        mercury: cuweld_ir::MercuryOptions {
            copy_within_family: true,
            ..Default::default()
        },
        ..Default::default()
    };
    let target = Target::parse("sm_100").unwrap();
    let config =
        FinalizerConfig::of_link((Default::default(), target), EntryPoint::PostLink, &options);
    assert_eq!((config.mode_selector, config.fallback_opt_level), (5, 0));
    assert!(config.debug && config.enabled && config.mercury_mode && config.capmerc_mode);
    assert_eq!(config.options.opportunistic_level, 2);
    let plain = FinalizerConfig::new(Target::parse("sm_75").unwrap(), EntryPoint::PreMerge);
    assert_eq!((plain.mode_selector, plain.fallback_opt_level), (4, 3));
    assert!(!plain.capmerc_mode && !plain.mercury_mode && plain.extended_debug);
}

#[test]
fn outputs_have_names() {
    let of = |target: &str, kind| default_output_name(Target::parse(target).unwrap(), kind);
    assert_eq!(of("sm_90", None), "cubin");
    assert_eq!(of("sm_100", None), "capmerc.cubin");
    assert_eq!(of("sm_100", Some(BinaryKind::Sass)), "sass.cubin");
    assert_eq!(of("sm_100", Some(BinaryKind::Mercury)), "merc.cubin");
    assert_eq!(BinaryKind::from_name("capmerc"), Some(BinaryKind::Capmerc));
}

#[test]
fn the_sass_view_stands_alone() {
    for name in [
        "mercury/mercury-targets/expected/sm_120.cubin",
        "mercury/mercury-targets/sm_120/a.cubin",
    ] {
        let bytes = fixture(name);
        let mut config = config("sm_120", EntryPoint::PostLink);
        (config.options.self_check, config.options.out_sass) = (true, true);
        let sass = Finalizer::run(&bytes, &config).unwrap().image;
        assert_eq!(check_image(&sass), [], "{name}");
        let view = cuweld_elf::check::read(&sass, &mut Default::default()).unwrap();
        assert!(view.sections.iter().all(|section| !section.is_mercury()));
        assert_eq!(view.headers.file.flags.get() & 7, 4);
        let whole = cuweld_elf::check::read(&bytes, &mut Default::default()).unwrap();
        for (section, before) in view.sections.iter().zip(&whole.sections) {
            assert_eq!(section.name, before.name);
            if section.name != b".nv.compat" {
                assert_eq!(section.bytes, before.bytes);
            }
        }
        let mut trace = Vec::new();
        config.options.edbg = 1;
        Finalizer::run_traced(&bytes, &config, &mut trace).unwrap();
        let first = view.sections.len();
        assert!(trace.contains(&format!("skip mercury section {first}")));
        // SASS stays as it is.
        config.options.binary_kind = Some(BinaryKind::Sass);
        let again = Finalizer::run(&sass, &config).unwrap().image;
        assert_eq!(again, sass);
    }
}
