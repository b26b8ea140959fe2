//! Code that has Mercury beside it: a driver that compiles the Mercury gets the same program.
//!
//! No pass from elsewhere can change one view as the other is changed, so that the code of the file is
//! that of the objects but for what relocations, yielding instructions and `mercury-schedule` change.
//! A function whose Mercury was changed, too, is passed over: what that means is not known.

use cuweld_elf::check::Findings;
use cuweld_elf::check::Rule;
use cuweld_elf::validate::validate_structure;
use cuweld_ir::Fixup;
use cuweld_ir::Function;
use cuweld_ir::Module;
use cuweld_ir::ObjectId;
use cuweld_ir::SectionId;
use cuweld_ir::SectionKind;
use cuweld_ir::table::EntityId;

use crate::link::mercury_schedule::is_schedule_of;
use crate::link::relocate;
use crate::threads::Threads;

pub(super) fn check(module: &Module<'_>, threads: &Threads, findings: &mut Findings) {
    if !module.is_capmerc() {
        return;
    }
    let mut originals = Originals::default();
    for (id, function) in module.functions.iter() {
        if module.is_function_live(id) && !module.is_alias(id) {
            code(module, function, &mut originals, findings);
        }
    }
    fixups(module, threads, findings);
}

/// Checks that the code of a function before it is relocated is that of its object.
fn code<'data>(
    module: &Module<'data>,
    function: &Function,
    originals: &mut Originals<'data>,
    findings: &mut Findings,
) {
    let text = function.views.sass.text;
    let now = module.sections[text].bytes();
    let Some(merc) = function.views.merc else {
        return;
    };
    let mut changed = |section: SectionId| {
        let original = originals.of(module, section)?;
        (original != module.sections[section].bytes()).then_some(original)
    };
    let Some(original) = changed(text) else {
        return;
    };
    if changed(merc.text).is_some() || is_schedule_of(module, now, original) {
        return;
    }
    let at = now.iter().zip(original).position(|(now, was)| now != was);
    let at = at.unwrap_or(now.len().min(original.len()));
    let what = "the code is changed, and its Mercury is that of the object";
    findings.report(Rule::TextKept, module.sections[text].name, at as u64, what);
}

/// The sections of an object's file: functions of an object follow each other.
#[derive(Default)]
struct Originals<'data> {
    object: Option<ObjectId>,
    sections: Vec<Option<&'data [u8]>>,
}

impl<'data> Originals<'data> {
    /// Returns the contents of a section in its object's file; `None` if the object has none.
    fn of(&mut self, module: &Module<'data>, section: SectionId) -> Option<&'data [u8]> {
        let object = module.sections[section].object;
        let row = &module.objects[object];
        if self.object != Some(object) {
            self.object = Some(object);
            let headers = validate_structure(row.image).ok();
            let contents = |offset: u64, size: u64| {
                let start = usize::try_from(offset).ok()?;
                let end = start.checked_add(usize::try_from(size).ok()?)?;
                row.image.get(start..end)
            };
            let headers = headers.iter().flat_map(|headers| headers.sections);
            self.sections = headers
                .map(|header| contents(header.offset.get(), header.size.get()))
                .collect();
        }
        let index = section.index().checked_sub(row.sections.start())?;
        self.sections.get(index).copied()?
    }
}

/// Checks that fixups of code are those that follow from the relocations, whose Mercury rows are
/// applied with them.
fn fixups(module: &Module<'_>, threads: &Threads, findings: &mut Findings) {
    let Ok((expected, _)) = relocate::fixups(module, Vec::new(), threads) else {
        return;
    };
    let of_code = |fixup: &&Fixup| module.sections[fixup.section].kind == SectionKind::Text;
    let mut expected = expected.iter().filter(of_code);
    let mut found = module.fixups.iter().filter(of_code);
    loop {
        let (found, expected) = (found.next(), expected.next());
        if found == expected {
            match found {
                Some(_) => continue,
                None => return,
            }
        }
        let Some(fixup) = found.or(expected) else {
            return;
        };
        let what = "a fixup of the code is none that the link makes, and its Mercury has none";
        let name = module.sections[fixup.section].name;
        findings.report(Rule::TextKept, name, fixup.offset, what);
        return;
    }
}
