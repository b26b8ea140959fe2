//! Round trips: object → module → text → module, and object → module → object → module.
//!
//! With nvlink on PATH, objects that were written again are also linked and compared with what
//! nvlink makes of the originals.

mod random_module;

use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use cuweld_elf::Target;
use cuweld_ir::Arena;
use cuweld_ir::LinkOptions;
use cuweld_ir::Module;
use cuweld_ir::elf;
use cuweld_ir::elf::ReadError;
use cuweld_ir::text;
use cuweld_ir::text::DumpBytes;
use cuweld_ir::text::ImageKey;
use proptest::prelude::*;

use random_module::random_module;

/// Returns the relocatable objects that the repository holds: our fixtures, and the inputs of the
/// link cases.
fn objects() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for folder in ["tests/fixtures", "../tests/links"] {
        collect(&root.join(folder), &mut found);
    }
    found.sort();
    found
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if path.file_name().is_none_or(|name| name != "expected") {
                collect(&path, found);
            }
        } else if path
            .extension()
            .is_some_and(|extension| extension == "cubin")
        {
            found.push(path);
        }
    }
}

fn lower<'data>(image: &'data [u8], name: &'data [u8]) -> Result<Module<'data>, ReadError> {
    let part = elf::read_object(image, name, b"")?;
    let mut module = Module::new(Target::parse("sm_90").unwrap(), LinkOptions::default());
    module.append(part)?;
    Ok(module)
}

/// Calls `check` with every object that can be read, and says how many there were.
fn each_object(mut check: impl FnMut(&Path, &[u8], &Module<'_>)) -> usize {
    let paths = objects();
    let mut read = 0;
    for path in &paths {
        let image = fs::read(path).unwrap();
        let name = path.to_string_lossy();
        match lower(&image, name.as_bytes()) {
            Ok(module) => {
                check(path, &image, &module);
                read += 1;
            }
            // Some link cases are about inputs that are no objects.
            Err(error) => {
                assert!(
                    !path.to_string_lossy().contains("ir/tests/fixtures"),
                    "{name}: {error}"
                );
            }
        }
    }
    assert!(
        read * 4 > paths.len() * 3,
        "only {read} of {} objects can be read",
        paths.len()
    );
    read
}

fn no_input<'data>(_: &ImageKey<'_>) -> Option<&'data [u8]> {
    None
}

/// Prints and parses in both forms that hold everything.
fn check_text(module: &Module<'_>, resolve: &dyn Fn(&ImageKey<'_>) -> Option<Vec<u8>>) {
    let full = text::print(module, DumpBytes::Full);
    let arena = Arena::new();
    match text::parse(&full, &arena, &no_input) {
        Ok(parsed) => assert!(parsed == *module, "the module changed:\n{full}"),
        Err(error) => panic!("{error}\n{full}"),
    }
    let by_reference = text::print(module, DumpBytes::Ref);
    let arena = Arena::new();
    let resolve = |key: &ImageKey<'_>| resolve(key).map(|bytes| arena.bytes(&bytes));
    match text::parse(&by_reference, &arena, &resolve) {
        Ok(parsed) => {
            assert!(parsed == *module, "the module changed:\n{by_reference}");
            assert_eq!(text::print(&parsed, DumpBytes::Ref), by_reference);
        }
        Err(error) => panic!("{error}\n{by_reference}"),
    }
}

#[test]
fn objects_come_back_from_text() {
    let read = each_object(|path, image, module| {
        let name = path.to_string_lossy();
        check_text(module, &|key| {
            (key.name == name.as_bytes()).then(|| image.to_vec())
        });
    });
    assert!(read >= 4);
}

#[test]
fn all_objects_in_one_module_come_back_from_text() {
    let images: Vec<_> = objects()
        .iter()
        .map(|path| fs::read(path).unwrap())
        .collect();
    let mut module = Module::new(Target::parse("sm_90").unwrap(), LinkOptions::default());
    for image in &images {
        if let Ok(part) = elf::read_object(image, b"same name", b"member") {
            module.append(part).unwrap();
        }
    }
    check_text(&module, &|key| {
        let size = key.size as usize;
        // Found by what it is, as a dump may be read elsewhere.
        images
            .iter()
            .find(|image| image.len() == size && sha256(image) == key.sha256)
            .cloned()
    });
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    use sha2::Digest;
    sha2::Sha256::digest(bytes).into()
}

/// Returns the module without the images that its slices come from.
fn without_images<'data>(module: &Module<'data>) -> Module<'data> {
    let mut module = module.clone();
    for object in module.objects.values_mut() {
        object.image = b"";
    }
    module
}

fn write_again(module: &Module<'_>) -> Vec<u8> {
    let arena = Arena::new();
    let object = module.objects.ids().next().unwrap();
    let plan = elf::plan_object(module, object, &arena);
    let whole = elf::write(module, &plan).unwrap();
    let mut parts = Vec::new();
    elf::write_in_order(module, &plan, |mut block| {
        parts.append(&mut block);
        Ok::<_, std::convert::Infallible>(block)
    })
    .unwrap();
    assert!(parts == whole, "a file in parts is another");
    whole
}

#[test]
fn objects_come_back_from_objects() {
    each_object(|path, _, module| {
        let before = without_images(module);
        // A module that was parsed from an edited text may have no image to go by.
        // `.nv.merc.symtab` is bytes with the rows of `.symtab` in the same places, which only the image
        // tells.
        let has_mercury = module
            .functions
            .values()
            .any(|row| row.views.merc.is_some());
        let without = (!has_mercury).then(|| write_again(&before));
        for image in [Some(write_again(module)), without].into_iter().flatten() {
            let name = path.to_string_lossy();
            let again = lower(&image, name.as_bytes()).unwrap_or_else(|e| panic!("{name}: {e}"));
            let after = without_images(&again);
            if before != after {
                // As text, so that the first difference shows.
                let before = text::print(&before, DumpBytes::Full);
                let after = text::print(&after, DumpBytes::Full);
                let mut lines = before.lines().zip(after.lines());
                panic!(
                    "{name}: {:?}",
                    lines.find(|(before, after)| before != after)
                );
            }
        }
    });
}

/// Runs nvlink in a folder of its own that holds `in.cubin`: exit code, messages, output.
fn nvlink(image: &[u8], options: &[&str]) -> (Option<i32>, String, Option<Vec<u8>>) {
    let folder = std::env::temp_dir().join(format!("cuweld-round-trip-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("in.cubin"), image).unwrap();
    let done = Command::new("nvlink")
        .current_dir(&folder)
        .args(options)
        .args(["in.cubin", "-o", "out.cubin"])
        .output()
        .unwrap();
    let output = fs::read(folder.join("out.cubin")).ok();
    fs::remove_dir_all(&folder).unwrap();
    let messages = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
    (done.status.code(), messages.into_owned(), output)
}

/// Returns the architecture that an object is linked for: that of its folder, or of the fixture.
fn arch(path: &Path, module: &Module<'_>) -> String {
    let folder = path
        .parent()
        .and_then(Path::file_name)
        .map(|name| name.to_string_lossy());
    match folder {
        Some(folder) if folder.starts_with("sm_") => folder.into_owned(),
        _ => {
            let suffix = if path.ends_with("mercury.cubin") {
                "a"
            } else {
                ""
            };
            let sm = module
                .objects
                .values()
                .next()
                .map_or(0, |object| object.sm());
            format!("sm_{sm}{suffix}")
        }
    }
}

#[test]
fn nvlink_makes_the_same_of_objects_that_were_written_again() {
    if Command::new("nvlink").arg("--version").output().is_err() {
        return;
    }
    let mut linked = 0;
    each_object(|path, image, module| {
        let mut written = vec![write_again(module)];
        // The Mercury view is bytes that need the file's own order.
        if module.objects.values().all(|object| object.sm() < 100) {
            written.push(write_again(&without_images(module)));
        }
        let (arch, name) = (format!("-arch={}", arch(path, module)), path.display());
        for options in [&[arch.as_str(), "-r"][..], &[arch.as_str()]] {
            let expected = nvlink(image, options);
            for again in &written {
                let found = nvlink(again, options);
                assert_eq!(
                    (expected.0, &expected.1),
                    (found.0, &found.1),
                    "{name} {options:?}"
                );
                assert!(
                    expected.2 == found.2,
                    "{name} {options:?}: the outputs differ"
                );
            }
            linked += usize::from(expected.2.is_some());
        }
    });
    assert!(linked >= 8, "{linked}");
}

#[test]
fn the_example_of_the_documentation_is_what_is_printed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/framework/lir.md");
    let document = fs::read_to_string(path).unwrap();
    let (_, rest) = document.split_once("```lir\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let arena = Arena::new();
    let module = text::parse(example, &arena, &no_input).unwrap();
    assert_eq!(text::print(&module, DumpBytes::Full), example);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..Default::default() })]

    #[test]
    fn random_modules_come_back_from_text(seed in any::<u64>(), rows in 0usize..8) {
        let arena = Arena::new();
        let module = random_module(seed, rows, &arena);
        let find = |key: &ImageKey<'_>| {
            let found = module.objects.values().find(|object| {
                object.image.len() as u64 == key.size && sha256(object.image) == key.sha256
            });
            found.map(|object| object.image.to_vec())
        };
        check_text(&module, &find);
    }
}
