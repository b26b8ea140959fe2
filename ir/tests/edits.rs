//! Edits of rows: the module passes the verifier after them or is as it was, and what is not edited
//! stays what it was.

mod link_cases;
mod random_edits;

use cuweld_elf::Target;
use cuweld_ir::edit::EditError;
use cuweld_ir::edit::Edits;
use cuweld_ir::edit::Patch;
use cuweld_ir::edit::PatchError;
use cuweld_ir::edit::Renumbering;
use cuweld_ir::table::EntityId;
use cuweld_ir::text;
use cuweld_ir::text::DumpBytes;
use cuweld_ir::*;
use proptest::prelude::*;
use std::sync::OnceLock;

use random_edits::EDITS;
use random_edits::EDITS_OF_ROWS;
use random_edits::Numbers;
use random_edits::random_edits;

/// A kernel and a function that it calls.
const CLASSIFIED: &str = include_str!("fixtures/classified.lir");

fn classified(text: &str) -> Module<'static> {
    let arena: &'static Arena = Box::leak(Box::default());
    text::parse(text, arena, &|_| None).unwrap()
}

/// The most bytes of an object: larger ones add time and no other rows.
const LARGEST: usize = 20_000;

/// Returns objects of SASS of the link cases.
fn objects() -> &'static [Vec<u8>] {
    static OBJECTS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    OBJECTS.get_or_init(|| {
        let images = link_cases::cubins().map(|(_, image)| image);
        let is_relocatable = |image: &Vec<u8>| image.get(16..18) == Some(&[1, 0]);
        images
            .filter(|image| image.len() < LARGEST && is_relocatable(image))
            .collect()
    })
}

/// Builds a module of these objects, those with Mercury left out.
fn module_of<'data>(numbers: &mut Numbers, count: usize) -> Module<'data> {
    let mut module = Module::new(Target::parse("sm_90").unwrap(), LinkOptions::default());
    while module.objects.len() < count {
        let image = &objects()[numbers.below(objects().len())];
        let Ok(part) = elf::read_object(image, b"a.cubin", b"") else {
            continue;
        };
        if !part.objects[0].is_capmerc() {
            module.append(part).unwrap();
        }
    }
    module
}

/// Checks that a module is sound and comes back from text.
fn check(module: &Module<'_>) {
    let errors = verify(module);
    assert!(errors.is_empty(), "{}", errors[0]);
    let full = text::print(module, DumpBytes::Full);
    let arena = Arena::new();
    let parsed = text::parse(&full, &arena, &|_| None).unwrap_or_else(|e| panic!("{e}\n{full}"));
    assert!(parsed == *module, "the module changed:\n{full}");
}

/// Returns what a relocation, a record or a row of the call graph refers to, by name.
fn name<'data>(module: &Module<'data>, target: SymbolRef) -> &'data [u8] {
    match target {
        SymbolRef::None => b"",
        SymbolRef::Symbol(id) => module.symbols[id].name,
        SymbolRef::Section(id) => module.sections[id].name,
    }
}

/// Checks that rows that stay say what they said, by names.
fn check_rest(before: &Module<'_>, after: &Module<'_>, numbers: &Renumbering) {
    let same = |old: SymbolRef, new: SymbolRef| name(before, old) == name(after, new);
    for (id, old) in before.symbols.iter() {
        let Some(new) = numbers.get(id).map(|id| &after.symbols[id]) else {
            continue;
        };
        let place = |module: &Module<'_>, symbol: &Symbol<'_>| match symbol.place {
            SymbolPlace::Section(id) => module.sections[id].name.to_vec(),
            other => format!("{other:?}").into_bytes(),
        };
        assert_eq!(
            (old.name, old.value, old.object),
            (new.name, new.value, new.object)
        );
        assert_eq!(place(before, old), place(after, new));
    }
    for (id, old) in before.functions.iter() {
        if let Some(new) = numbers.get(id).map(|id| &after.functions[id]) {
            let code = |module: &Module<'_>, row: &Function| {
                module.sections[row.views.sass.text].bytes().to_vec()
            };
            let (old_name, new_name) = (
                before.symbols[old.symbol].name,
                after.symbols[new.symbol].name,
            );
            assert_eq!(old_name, new_name);
            assert!(code(before, old) == code(after, new));
        }
    }
    for (id, old) in before.relocs.iter() {
        if let Some(new) = numbers.get(id).map(|id| &after.relocs[id]) {
            assert!(same(old.target, new.target), "{id}");
            assert!(same(
                SymbolRef::Section(old.section),
                SymbolRef::Section(new.section)
            ));
            assert_eq!(
                (old.offset, old.ty, old.addend),
                (new.offset, new.ty, new.addend)
            );
        }
    }
    for (id, old) in before.attributes.iter() {
        if let Some(new) = numbers.get(id).map(|id| &after.attributes[id]) {
            let mut refs = before.refs(old).iter().zip(after.refs(new));
            assert!(refs.all(|(old, new)| same(*old, *new)), "{id}");
            assert_eq!(
                (old.code, old.value, old.rest),
                (new.code, new.value, new.rest)
            );
        }
    }
    for (id, old) in before.calls.iter() {
        if let Some(new) = numbers.get(id).map(|id| &after.calls[id]) {
            assert!(same(old.from, new.from) && same(old.to, new.to), "{id}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_module_is_sound_after_edits_or_as_it_was(seed in any::<u64>()) {
        let arena = Arena::new();
        let mut numbers = Numbers(seed);
        let count = 1 + numbers.below(3);
        let mut module = module_of(&mut numbers, count);
        for _ in 0..3 {
            let before = module.clone();
            let kinds = [EDITS, EDITS_OF_ROWS][numbers.below(2)];
            let edits = random_edits(&module, &mut numbers, kinds, &arena);
            match edits.apply(&mut module) {
                Ok(renumbering) => {
                    check(&module);
                    if kinds == EDITS_OF_ROWS {
                        check_rest(&before, &module, &renumbering);
                    }
                }
                Err(EditError::StillUsed { .. } | EditError::OtherObject(..)) => {
                    assert!(module == before, "a refused batch changed the module");
                }
                // A text section without its function, for one.
                Err(EditError::Broken(_)) => assert!(module == before),
                Err(error) => panic!("{error}"),
            }
        }
    }

    #[test]
    fn rows_that_come_and_go_leave_the_others_alone(seed in any::<u64>()) {
        let arena = Arena::new();
        let mut numbers = Numbers(seed);
        let count = 1 + numbers.below(3);
        let mut module = module_of(&mut numbers, count);
        let before = module.clone();
        let object = ObjectId::new(numbers.below(count));
        let mut edits = Edits::new(&module).unwrap();
        let section = edits.add_section(Section {
            object,
            name: b".added",
            ty: 1,
            content: SectionContent::Bytes(b"12345678"),
            ..Section::default()
        });
        let local = numbers.below(2) == 0;
        let symbol = edits.add_symbol(Symbol {
            object,
            name: b"added",
            bind: cuweld_elf::symbol::Binding(u8::from(!local)),
            place: SymbolPlace::Section(section),
            ..Symbol::default()
        });
        let rela = edits.rela_section(&module, section, &arena);
        let target = SymbolRef::Symbol(symbol);
        let reloc = edits.add_reloc(Reloc { section: rela, ty: 2, target, ..Reloc::default() });
        let added = edits.apply(&mut module).unwrap();
        check(&module);
        let [section, rela] = [section, rela].map(|id| added.get(id).unwrap());
        let symbol = added.get(symbol).unwrap();
        prop_assert_eq!(module.relocs[added.get(reloc).unwrap()].target, SymbolRef::Symbol(symbol));
        prop_assert_eq!(module.sections[rela].info, SectionInfo::Section(section));
        prop_assert_eq!(module.symbols[symbol].name, b"added");
        let object_row = &module.objects[object];
        let symbols = &module.symbols[object_row.symbols];
        prop_assert!(symbols.is_sorted_by_key(|row| !row.is_local()) || !before.symbols[before.objects[object].symbols].is_sorted_by_key(|row| !row.is_local()));

        let mut edits = Edits::new(&module).unwrap();
        edits.erase_symbol(symbol);
        edits.erase_section(section);
        edits.apply(&mut module).unwrap();
        // But for what the file of the object says.
        let mut expected = before;
        expected.objects[object].image = b"";
        for section in expected.objects[object].sections.iter() {
            if expected.sections[section].ty == 2 {
                expected.sections[section].info = module.sections[section].info;
            }
        }
        // An object without rows of a table may say in two ways that it has none.
        let rows = |module: &Module<'_>| {
            let text = text::print(module, DumpBytes::Full);
            let rows = text.lines().filter(|line| !line.starts_with("  owns"));
            rows.map(str::to_owned).collect::<Vec<_>>()
        };
        assert!(rows(&module) == rows(&expected), "rows are others");
    }
}

#[test]
fn edits_are_refused_where_they_would_break_something() {
    let mut module = classified(CLASSIFIED);
    let symbol = |module: &Module<'_>, name: &[u8]| {
        let mut found = module.symbols.iter().filter(|(_, row)| row.name == name);
        found.next().unwrap().0
    };
    let before = module.clone();
    let helper = symbol(&module, b"helper");
    let refused = |module: &mut Module<'static>, edit: &dyn Fn(&mut Edits<'static>)| {
        let mut edits = Edits::new(module).unwrap();
        edit(&mut edits);
        let error = edits.apply(module).unwrap_err().to_string();
        assert!(*module == before);
        error
    };
    let used = refused(&mut module, &|edits| {
        edits.erase_symbol(symbol(&before, b"table"))
    });
    assert_eq!(used, "%2 is erased, and r1 refers to it");
    let function = refused(&mut module, &|edits| {
        edits.erase_function(FunctionId::new(1))
    });
    assert_eq!(function, "%1 is erased, and r0 refers to it");
    let nothing = refused(&mut module, &|edits| {
        edits.replace_all_uses(helper, SymbolId::new(99))
    });
    assert_eq!(nothing, "%1 and %99 belong to different objects");
    let no_kind = refused(&mut module, &|edits| {
        edits.add_section(Section {
            object: ObjectId::new(0),
            name: b"x",
            ty: 1,
            content: SectionContent::Bytes(b""),
            ..Section::default()
        });
    });
    assert_eq!(
        no_kind,
        "the module would be broken: kind-set: #11:x: it has no kind"
    );
    let no_row = refused(&mut module, &|edits| {
        edits.add_reloc(Reloc {
            section: SectionId::new(5),
            target: SymbolRef::Symbol(SymbolId::new(99)),
            ..Reloc::default()
        });
    });
    assert_eq!(no_row, "r3 refers to %99, which does not exist");

    // What is not there is not erased.
    let mut edits = Edits::new(&module).unwrap();
    edits.erase_symbol(SymbolId::new(99));
    edits.apply(&mut module).unwrap();
    assert!(module == before);
    let edits = Edits::new(&module).unwrap();
    let mut other = Edits::new(&module).unwrap();
    other.erase_call(CallId::new(0));
    other.apply(&mut module).unwrap();
    assert_eq!(edits.apply(&mut module), Err(EditError::OtherModule));
    let resolved =
        classified("lir 1\nmodule phase=resolved toolkit=13.0.88 target=sm_90 bytes=full\nend\n");
    let too_late = Edits::new(&resolved).unwrap_err().to_string();
    assert_eq!(
        too_late,
        "rows of objects can be added and erased before 'resolved'; the module is 'resolved'"
    );
}

/// Returns why bytes of the section with this name cannot be patched; empty if they can.
fn patch(module: &mut Module<'_>, name: &[u8], offset: u64, bytes: &[u8]) -> String {
    let mut sections = module.sections.iter();
    let id = sections.find(|(_, row)| row.name == name).unwrap().0;
    drop(sections);
    let before = module.clone();
    match module.patch(&[Patch::bytes(id, offset, bytes)]) {
        Ok(()) => String::new(),
        Err(error) => {
            assert!(*module == before);
            error.to_string()
        }
    }
}

#[test]
fn patches_change_what_no_relocation_does() {
    let mut module = classified(CLASSIFIED);
    let module = &mut module;
    assert_eq!(patch(module, b".text.helper", 3, &[1, 2, 3]), "");
    assert_eq!(patch(module, b".text.helper", 14, &[9, 8]), "");
    check(module);
    let helper = SectionId::new(6);
    let expected = [0, 0, 0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 9, 8];
    assert_eq!(*module.patched_bytes(helper), expected);
    // A later one wins.
    assert_eq!(patch(module, b".text.helper", 4, &[7]), "");
    assert_eq!(module.patched_bytes(helper)[3..6], [1, 7, 3]);
    assert_eq!(module.sections[helper].bytes(), [0; 16]);

    // r0 fills bits 32 to 63, r1 those from 64 to 95, r2 clears the first 32.
    assert_eq!(patch(module, b".text.kernel", 12, &[1, 2, 3, 4]), "");
    let overlap = patch(module, b".text.kernel", 10, &[1, 2, 3]);
    assert_eq!(overlap, "r1 changes the bits of #3 at offset 0xa, too");
    for at in 0..12 {
        let overlap = patch(module, b".text.kernel", at, &[1]);
        assert!(overlap.contains("changes the bits"), "{at}: {overlap}");
    }
    let end = patch(module, b".nv.constant3", 1, &[0; 4]);
    assert_eq!(end, "offset 0x1 of #8 is out of bounds: it has 0x4 bytes");
    assert_eq!(patch(module, b".nv.constant3", 1, &[0; 3]), "");
    let far = patch(module, b".nv.constant3", u64::MAX, &[0]);
    assert!(far.contains("out of bounds"), "{far}");
    for table in [&b".nv.info"[..], b".nv.callgraph", b".nv.shared.kernel"] {
        let refused = patch(module, table, 0, &[0]);
        assert!(
            refused.ends_with("is neither code nor data with contents"),
            "{refused}"
        );
    }
    let nothing = module.patch(&[Patch::bytes(SectionId::new(99), 0, b"a")]);
    assert_eq!(nothing, Err(PatchError::NoSection(SectionId::new(99))));
    // A relocation that is gone changes nothing.
    for reloc in module.relocs.values_mut() {
        reloc.plan = RelocAction::Gone;
    }
    assert_eq!(patch(module, b".text.kernel", 0, &[1; 16]), "");
    check(module);
    module.phase = Phase::Emitted;
    let late = patch(module, b".text.kernel", 0, &[1]);
    assert_eq!(late, "the module is 'emitted': its file is written");
}
