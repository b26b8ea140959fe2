//! Damaged objects: bytes of the objects of `tests/links` are changed, and what can still be read goes through all passes. Nothing may panic, the link map included; what
//! is read has to pass the verifier, and no pass may leave a broken module.
//!
//! The damage is the same every time; `CUWELD_DAMAGES=1000000` does more of it.

use std::error::Error;
use std::path::{Path, PathBuf};

use cuweld::diagnostics::{Reporter, Style};
use cuweld::{Controls, LinkMap, Watching, run_pipeline};
use cuweld_diagnostics::codes::internal;
use cuweld_elf::Target;
use cuweld_ir::{Arena, LinkOptions, Module, Phase, elf, verify};
use cuweld_passes::manager::PassManager;
use cuweld_passes::pipeline::Facts;

/// How many damaged objects are linked by default.
const DAMAGES: usize = 22_000;

/// Larger objects add time and no new kinds of rows.
const LARGEST: usize = 40_000;

fn cubins(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "expected") {
                cubins(&path, found)?;
            }
        } else if path
            .extension()
            .is_some_and(|extension| extension == "cubin")
        {
            found.push(path);
        }
    }
    Ok(())
}

/// A sequence of numbers that is the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }

    /// Changes up to four bytes; the file header and the section headers at the end get their share.
    fn damage(&mut self, image: &mut [u8]) {
        for _ in 0..=self.below(4) {
            let at = match self.below(4) {
                0 => self.below(image.len().min(64)),
                1 => image.len() - 1 - self.below(image.len().min(64 * 30)),
                _ => self.below(image.len()),
            };
            image[at] = match self.below(4) {
                0 => 0xff,
                1 => 0,
                2 => image[at].wrapping_add(1),
                _ => self.below(256) as u8,
            };
        }
    }
}

/// What became of the damaged objects.
#[derive(Default)]
struct Outcome {
    read: usize,
    linked: usize,
    /// Messages about modules that broke between passes.
    broken: Vec<String>,
}

fn link_damaged() -> Result<Outcome, Box<dyn Error>> {
    let mut files = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/links");
    cubins(&root, &mut files)?;
    files.sort();
    let mut images = Vec::new();
    for file in files {
        let image = std::fs::read(file)?;
        if (64..LARGEST).contains(&image.len()) {
            images.push(image);
        }
    }
    let damages = match std::env::var("CUWELD_DAMAGES") {
        Ok(number) => number.parse()?,
        Err(_) => DAMAGES,
    };
    let target = Target::parse("sm_90").ok_or("no sm_90")?;
    let controls = Controls {
        watching: Watching {
            verify_each: true,
            ..Watching::default()
        },
        ..Controls::default()
    };
    let facts = Facts::new(target, &LinkOptions::default());
    let manager = controls
        .manager(facts, Phase::Lowered)
        .map_err(|diagnostic| diagnostic.to_string())?;
    let mut numbers = Numbers(0x1234_5678_9abc_def1);
    let mut outcome = Outcome::default();
    for _ in 0..damages {
        let mut image = images[numbers.below(images.len())].clone();
        numbers.damage(&mut image);
        link(&image, target, &controls, &manager, &mut outcome)?;
    }
    Ok(outcome)
}

fn link(
    image: &[u8],
    target: Target,
    controls: &Controls,
    manager: &PassManager,
    outcome: &mut Outcome,
) -> Result<(), Box<dyn Error>> {
    let Ok(part) = elf::read_object(image, b"a.cubin", b"") else {
        return Ok(());
    };
    let mut module = Module::new(target, LinkOptions::default());
    module.append(part)?;
    assert_eq!(verify(&module), [], "the reader made a broken module");
    outcome.read += 1;
    let arena = Arena::new();
    let mut messages = Vec::new();
    let mut reporter = Reporter::new(&mut messages, Style::Native);
    // Messages name their codes.
    reporter.explain_all = true;
    run_pipeline(
        controls,
        manager,
        &mut module,
        &arena,
        Default::default(),
        &mut reporter,
    )?;
    outcome.linked += usize::from(!reporter.failed());
    // A module that a pass refused after the layout has a map, too.
    let map = LinkMap::new(&module, |name| String::from_utf8_lossy(name).into_owned());
    assert_eq!(map.is_some(), module.plan.is_some());
    assert!(map.is_none_or(|map| map.to_string().trim_start().starts_with("Offset")));
    let messages = String::from_utf8_lossy(&messages);
    if messages.contains(internal::BROKEN_MODULE.name()) {
        outcome.broken.push(messages.into_owned());
    }
    Ok(())
}

#[test]
fn damaged_objects_make_nothing_panic_and_break_no_module() {
    let outcome = link_damaged().unwrap();
    assert_eq!(outcome.broken, Vec::<String>::new());
    // The damage is of all degrees: some objects are still right, some cannot be read.
    assert!(outcome.linked > 1000, "{}", outcome.linked);
    assert!(outcome.read > outcome.linked);
}
