//! Edited modules: rows of the objects of `tests/links` come and go before the link, and bytes are patched; then all passes run. Whatever the edits
//! were, no pass may panic, break the module or blame itself.

#[path = "../../ir/tests/random_edits/mod.rs"]
mod random_edits;

use std::path::{Path, PathBuf};

use cuweld::diagnostics::{Reporter, Style};
use cuweld::{Controls, Watching, run_pipeline};
use cuweld_elf::Target;
use cuweld_ir::edit::{EditError, Patch};
use cuweld_ir::{Arena, LinkOptions, Module, Phase, SectionId, SectionKind, elf, verify};
use cuweld_passes::manager::PassManager;
use cuweld_passes::pipeline::Facts;

use random_edits::{EDITS, Numbers, random_edits};

/// How many edited objects are linked.
const EDITED: usize = 3000;

/// Larger objects add time and no other rows.
const LARGEST: usize = 40_000;

/// Returns the inputs for sm_90 of the link cases.
fn images() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/links");
    let entries = |folder: PathBuf| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    };
    let cases = entries(root).into_iter().flat_map(entries);
    let files = cases.flat_map(|case| entries(case.join("sm_90")));
    let cubins = files.filter(|path| path.extension().is_some_and(|ending| ending == "cubin"));
    let images = cubins.map(|path| std::fs::read(path).unwrap());
    images.filter(|image| image.len() < LARGEST).collect()
}

struct Linker {
    controls: Controls,
    manager: PassManager,
    target: Target,
}

impl Linker {
    fn new(options: &LinkOptions) -> Self {
        let target = Target::parse("sm_90").unwrap();
        let controls = Controls {
            watching: Watching {
                verify_each: true,
                ..Watching::default()
            },
            ..Controls::default()
        };
        let facts = Facts::new(target, options);
        let manager = controls.manager(facts, Phase::Lowered).unwrap();
        Linker {
            controls,
            manager,
            target,
        }
    }

    fn read<'data>(&self, images: &[&'data [u8]]) -> Option<Module<'data>> {
        let mut module = Module::new(self.target, LinkOptions::default());
        module.options.reports.self_check = true;
        for image in images {
            let part = elf::read_object(image, b"a.cubin", b"").ok()?;
            module.append(part).unwrap();
        }
        Some(module)
    }

    /// Links a module. Returns the messages, and whether there is an output.
    fn link<'data>(&self, module: &mut Module<'data>, arena: &'data Arena) -> (String, bool) {
        let mut messages = Vec::new();
        let mut reporter = Reporter::new(&mut messages, Style::Native);
        // Messages name their codes.
        reporter.explain_all = true;
        let findings = Default::default();
        run_pipeline(
            &self.controls,
            &self.manager,
            module,
            arena,
            findings,
            &mut reporter,
        )
        .unwrap();
        let failed = reporter.failed();
        let messages = String::from_utf8_lossy(&messages).into_owned();
        // An object whose rows contradict each other, such as a relocation without its row of the call
        // graph, is refused by the proof of the link.
        let refused = messages.contains("pass 'check-link'");
        assert!(refused || !messages.contains("internal/"), "{messages}");
        (messages, !failed && module.image.is_some())
    }
}

#[test]
fn links_of_edited_objects_end_with_an_output_or_with_an_error_about_the_input() {
    let images = images();
    let linker = Linker::new(&LinkOptions {
        reports: cuweld_ir::Reports {
            self_check: true,
            ..Default::default()
        },
        ..Default::default()
    });
    let mut numbers = Numbers(7);
    let (mut edited, mut linked) = (0, 0);
    for _ in 0..EDITED {
        let arena = Arena::new();
        let count = 1 + numbers.below(2);
        let chosen: Vec<&[u8]> = (0..count)
            .map(|_| &images[numbers.below(images.len())][..])
            .collect();
        let Some(mut module) = linker.read(&chosen) else {
            continue;
        };
        let edits = random_edits(&module, &mut numbers, EDITS, &arena);
        match edits.apply(&mut module) {
            Ok(_) => edited += 1,
            Err(
                EditError::StillUsed { .. } | EditError::OtherObject(..) | EditError::Broken(_),
            ) => continue,
            Err(error) => panic!("{error}"),
        }
        let (_, is_linked) = linker.link(&mut module, &arena);
        linked += usize::from(is_linked);
    }
    // Both happen often.
    assert!(edited > EDITED / 4, "{edited} of {EDITED} were edited");
    assert!(linked > edited / 6, "{linked} of {edited} were linked");
}

/// Returns the sections whose bytes reach the output of a module that is linked.
fn copied(module: &Module<'_>) -> Vec<SectionId> {
    let is_copied = |id: &SectionId| {
        let section = &module.sections[*id];
        let kinds = [
            SectionKind::Text,
            SectionKind::GlobalInit,
            SectionKind::ConstantBank(3),
        ];
        let is_such = kinds.contains(&section.kind)
            || matches!(section.kind, SectionKind::FunctionConstants(_));
        is_such && module.is_section_linked(*id) && section.size() > 0
    };
    module.sections.ids().filter(is_copied).collect()
}

#[test]
fn a_patch_changes_its_bytes_of_the_output_and_no_others() {
    let images = images();
    let linker = Linker::new(&LinkOptions::default());
    let mut numbers = Numbers(3);
    let mut patched = 0;
    for image in &images {
        let arena = Arena::new();
        let Some(mut plain) = linker.read(&[image]) else {
            continue;
        };
        if !linker.link(&mut plain, &arena).1 {
            continue;
        }
        let sections = copied(&plain);
        if sections.is_empty() {
            continue;
        }
        let section = sections[numbers.below(sections.len())];
        let size = plain.sections[section].size() as usize;
        let (at, value) = (numbers.below(size), numbers.below(256) as u8);
        let mut module = linker.read(&[image]).unwrap();
        let new = plain.sections[section].bytes()[at] ^ value;
        if module
            .patch(&[Patch::bytes(section, at as u64, &[new])])
            .is_err()
        {
            continue;
        }
        assert_eq!(verify(&module), []);
        let (messages, is_linked) = linker.link(&mut module, &arena);
        assert!(is_linked, "{messages}");
        let (before, after) = (plain.image.unwrap(), module.image.unwrap());
        assert_eq!(before.len(), after.len());
        let differ: Vec<(u8, u8)> = before
            .iter()
            .zip(&after)
            .filter(|(old, new)| old != new)
            .map(|(old, new)| (*old, *new))
            .collect();
        // Constants of a function are in the bank of each kernel that reaches it: one, several or none.
        let is_such = differ.iter().all(|(old, new)| old ^ new == value);
        let may_be_none = matches!(
            plain.sections[section].kind,
            SectionKind::FunctionConstants(_)
        );
        let is_there = (differ.is_empty() == (value == 0)) || may_be_none;
        let what = String::from_utf8_lossy(plain.sections[section].name).into_owned();
        assert!(is_such && is_there, "{what} at {at:#x}: {differ:?}");
        patched += 1;
    }
    assert!(patched > 50, "{patched}");
}
