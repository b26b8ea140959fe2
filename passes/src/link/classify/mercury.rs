//! Sections of objects that hold Mercury beside SASS, and the refusal of what is not known to be
//! linked exactly (`docs/formats/mercury.md`).

use cuweld_diagnostics::Code;
use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::input;
use cuweld_diagnostics::codes::mercury;
use cuweld_elf::check::Finding;
use cuweld_elf::check::Views;
use cuweld_elf::finalize::Action;
use cuweld_elf::finalize::OffTarget;
use cuweld_elf::finalize::action;
use cuweld_elf::mercury::capmerc::Capmerc;
use cuweld_elf::target::attributes;
use cuweld_elf::target::compat;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::sht;
use cuweld_elf::toolkit::Toolkit;
use cuweld_ir::Attribute;
use cuweld_ir::Module;
use cuweld_ir::Object;
use cuweld_ir::ObjectState;
use cuweld_ir::Section;
use cuweld_ir::SectionId;
use cuweld_ir::SectionKind;
use cuweld_ir::section::ADDRESS_BANK;
use cuweld_ir::section::view_name;
use cuweld_ir::table::EntityId;

use super::shared_rows::same_attributes;
use super::shared_rows::same_sites;
use super::shared_rows::shared;
use crate::analyses::code_changes::names_no_mercury_version;
use crate::analyses::finalizer_profile;
use crate::located::located;
use crate::threads::Threads;
use crate::threads::Work;

/// Returns the kind of a section in a link of such objects; `None` if both views share it.
///
/// Relocations and attributes of the Mercury view take the place of those of the SASS view, which
/// are derived from the result.
pub(super) fn kind(section: &Section<'_>) -> Option<SectionKind> {
    let of_function = section.flags.contains(SectionFlags::INFO_LINK);
    if !section.flags.contains(SectionFlags::MERCURY) {
        return match section.ty {
            sht::CUDA_INFO if of_function => Some(SectionKind::SassFunctionInfo),
            sht::CUDA_INFO => Some(SectionKind::SassInfo),
            sht::REL | sht::RELA => Some(SectionKind::SassRelocs),
            sht::CUDA_CONSTANT0 if of_function => Some(SectionKind::SassParameters),
            _ => None,
        };
    }
    Some(match section.ty {
        sht::CUDA_CAPMERC => SectionKind::MercuryText,
        sht::CUDA_MERCURY_SYMTAB => SectionKind::MercurySymbols,
        sht::SYMTAB_SHNDX => SectionKind::SymbolSectionIndices,
        sht::CUDA_MERCURY_RELA => SectionKind::Relocs,
        sht::CUDA_MERCURY_INFO if of_function => SectionKind::FunctionInfo,
        sht::CUDA_MERCURY_INFO => SectionKind::Info,
        // [preserved-rows-ignored]
        sht::CUDA_MERCURY_RESOLVED_RELA => SectionKind::Stripped,
        // What the link writes of them are the rows of the SASS view.
        sht::CUDA_MERCURY_CALLGRAPH | sht::CUDA_MERCURY_PROTOTYPE => SectionKind::Stripped,
        sht::CUDA_MERCURY_CONSTANT_USER
        | sht::CUDA_MERCURY_CONSTANT_PIC
        | sht::CUDA_MERCURY_CONSTANT_OPTIMIZER
        | sht::CUDA_GLOBAL_INIT
        | sht::CUDA_UNIFIED_FUNCTIONS
        | sht::CUDA_UNIFIED_DATA
        | sht::CUDA_UNIFIED_VARIABLES
        | sht::CUDA_SHARED_RESERVED => SectionKind::MercuryTwin,
        sht::PROGBITS if is_joined(view_name(section), section.flags) => SectionKind::MercuryDebug,
        _ => SectionKind::Other,
    })
}

/// Returns `true` if a section is left out of a link of SASS alone: all of the Mercury view of an
/// object with Mercury, and of another object the sections that only that view has [sass-link].
pub(super) fn is_left_out(object: &Object<'_>, section: &Section<'_>) -> bool {
    let is_of_view = matches!(
        section.ty,
        sht::CUDA_CAPMERC
            | sht::CUDA_MERCURY_RELA
            | sht::CUDA_MERCURY_INFO
            | sht::CUDA_MERCURY_CONSTANT_OPTIMIZER
            | sht::CUDA_MERCURY_SYMTAB
            | sht::CUDA_MERCURY_CALLGRAPH
            | sht::CUDA_MERCURY_PROTOTYPE
            | sht::CUDA_SHARED_RESERVED
    );
    section.flags.contains(SectionFlags::MERCURY) && (object.is_capmerc() || is_of_view)
}

/// Returns `true` if code for another SM than the target's is taken as it is, or there is none.
fn is_copied(module: &Module<'_>, object: &Object<'_>) -> bool {
    let copies = match (
        module.options.mercury.copy_within_family,
        module.options.mercury.copy_across_families,
    ) {
        (_, true) => OffTarget::All,
        (true, false) => OffTarget::Family,
        (false, false) => OffTarget::None,
    };
    let profile = finalizer_profile(module, object);
    let action = action(profile.as_ref(), object.sm(), module.target.sm, copies);
    action != Action::Compile || !module.has_code(object)
}

/// Refuses Mercury of a later major version than 1, as nvlink's finalizer does [mercury-version].
fn too_new(module: &Module<'_>) -> Option<Diagnostic> {
    let is_new = |record: &Attribute<'_>| {
        record.code == compat::MERCURY_ISA_MAJOR_MINOR_VERSION && record.value & 0xff > 1
    };
    let mut sections = module.sections.values();
    let section = sections.find(|section| {
        section.kind == SectionKind::Compat
            && module.attributes[section.attributes].iter().any(is_new)
    })?;
    let name = module.objects[section.object].display();
    let fatal = Diagnostic::fatal(
        input::MERCURY_VERSION,
        format!("Internal FNLZR error '{name}'"),
    );
    let note = "its Mercury is of a later version";
    Some(fatal.at(section.object.index_u32(), 0).note(note))
}

/// The first toolkit whose Mercury has the form of that of 13.0: CUDA 12.9.
const FIRST_KNOWN: u32 = 129;

/// Reports Mercury of a compiler before 12.9, which has another form; for later toolkits, of all
/// compilers before 13.0.
fn of_earlier_compiler(module: &Module<'_>) -> Option<Diagnostic> {
    let is_older = module.toolkit.release <= Toolkit::DEFAULT.release;
    let toolkit = |object: &Object<'_>| {
        let functions = &module.functions[object.functions];
        let mut functions = functions.iter();
        let function = functions.find(|function| names_no_mercury_version(module, function))?;
        let list = function.views.merc?.info?;
        let mut records = module.attributes[module.sections[list].attributes].iter();
        let record = records.find(|record| record.code == attributes::CUDA_API_VERSION);
        let toolkit = record.and_then(|record| record.word(0));
        let is_known = is_older && toolkit.is_some_and(|number| number >= FIRST_KNOWN);
        (!is_known).then_some(toolkit)
    };
    let objects = module.objects.iter();
    let mut objects = objects.filter_map(|(id, object)| Some((id, object, toolkit(object)?)));
    let (id, object, toolkit) = objects.next()?;
    let compiler = match toolkit {
        Some(number) => format!("CUDA {}.{}", number / 10, number % 10),
        None => "CUDA before 13.0".to_owned(),
    };
    let what = format!(
        "'{}' was compiled with {compiler}: its code for sm_{} needs NVIDIA's finalizer",
        object.display(),
        object.sm(),
    );
    let finding = Diagnostic::fatal(mercury::NEEDS_FINALIZER, what)
        .note("compilers before 13.0 write another form of Mercury, of which nvlink makes the code anew")
        .help("compile it with CUDA 13.0, or give the linker its PTX instead");
    let finding = match objects.count() {
        0 => finding,
        1 => finding.note("and 1 more object of such compilers"),
        more => finding.note(format!("and {more} more objects of such compilers")),
    };
    Some(finding.at(id.index_u32(), 0))
}

/// Returns `true` if a section holds debug information of a kind that is known to be linked
/// exactly, by its name in the view.
pub(crate) fn is_debug(name: &[u8]) -> bool {
    const KNOWN: [&[u8]; 3] = [
        b".nv_debug_info_reg_sass",
        b".nv_debug_info_reg_type",
        b".nv_debug_line_sass",
    ];
    KNOWN.contains(&name) || name.starts_with(b".debug_") || name.starts_with(b".nv_debug_ptx_txt")
}

/// Returns `true` if sections of this name are joined in both views: debug information, and what a
/// program may have under names of its own.
pub(crate) fn is_joined(name: &[u8], flags: SectionFlags) -> bool {
    is_debug(name) || !flags.contains(SectionFlags::ALLOC)
}

/// The views of an object of more bytes are compared by all threads.
const LARGE_OBJECT: usize = 1 << 19;

/// How many sections of a large object a thread compares at a time.
const SECTIONS_AT_A_TIME: usize = 1 << 10;

/// Returns `true` if a section is one of the unified tables that compilers write.
fn is_known_table(section: &Section<'_>) -> bool {
    matches!(
        (section.ty, section.name),
        (sht::CUDA_UNIFIED_FUNCTIONS, b".nv.uft.entry")
            | (sht::CUDA_UNIFIED_VARIABLES, b".nv.udt.entry")
            | (sht::CUDA_UNIFIED_DATA, b".nv.udt")
    )
}

/// Adds what cannot be linked exactly.
pub(super) fn refuse(module: &Module<'_>, threads: &Threads, findings: &mut Vec<Diagnostic>) {
    let capmerc = module.is_capmerc();
    findings.extend(too_new(module));
    let mut refused = |code: Code, what: &str, section: Option<SectionId>, object: u32| {
        let mut finding = Diagnostic::fatal(code, what).at(object, 0);
        if let Some(section) = section {
            finding = finding.note(located(module, section));
        }
        findings.push(finding);
    };
    let of_linker = |object: &Object<'_>| object.state == ObjectState::Linker;
    let earlier = match capmerc {
        true => of_earlier_compiler(module),
        false => None,
    };
    // Nothing else is said of code that is not linked anyway.
    if let Some(finding) = earlier {
        findings.push(finding);
        return;
    }
    let views = match capmerc {
        true => compared(module, threads),
        false => Vec::new(),
    };
    let are_compared = capmerc && views.iter().all(Option::is_none);
    let mut views = views.into_iter();
    for (id, object) in module.objects.iter() {
        if of_linker(object) {
            continue;
        }
        let name = || object.display();
        if object.sm() != module.target.sm && !is_copied(module, object) {
            let what = format!(
                "'{}' for sm_{}: another target needs NVIDIA's finalizer",
                name(),
                object.sm()
            );
            refused(mercury::NEEDS_FINALIZER, &what, None, id.index_u32());
        }
        if let Some(Some(finding)) = views.next() {
            let what = format!(
                "the two views of '{}' do not stand for each other: {finding}",
                name()
            );
            refused(mercury::TWO_VIEWS, &what, None, id.index_u32());
        }
    }
    if !capmerc {
        return;
    }
    for (id, section) in module.sections.iter() {
        let is_mercury = section.flags.contains(SectionFlags::MERCURY);
        let what = match section.kind {
            SectionKind::Other if is_mercury => mercury::SECTION,
            SectionKind::ConstantBank(bank) if !matches!(bank, 3 | ADDRESS_BANK) => {
                mercury::CONSTANT_BANK
            }
            SectionKind::FunctionConstants(bank) if bank != 2 => mercury::FUNCTION_BANK,
            SectionKind::Debug if !is_debug(section.name) => mercury::DEBUG_SECTION,
            SectionKind::MercuryText if section.owner.is_none() => mercury::UNOWNED,
            SectionKind::Unified if !is_known_table(section) => mercury::UNIFIED_TABLE,
            _ if section.ty == sht::CUDA_MERCURY_RELA && section.relocs.is_empty() => {
                mercury::EMPTY_RELOCATIONS
            }
            _ => continue,
        };
        refused(what, what.title(), Some(id), section.object.index_u32());
    }
    // Without it they keep their own.
    if module.options.strict {
        let shared = shared(module);
        let rows = shared.rows.into_iter();
        let other_rows = rows.filter(|(later, first)| !same_sites(module, *later, *first));
        let lists = shared.lists.into_iter();
        let other_lists = lists.filter(|(later, first)| !same_attributes(module, *later, *first));
        for (later, _) in other_rows.chain(other_lists) {
            let what = mercury::LOCAL_FUNCTIONS;
            let object = module.sections[later].object.index_u32();
            refused(what, what.title(), Some(later), object);
        }
    }
    for (_, object) in module.objects.iter() {
        for id in object.functions.iter() {
            let function = &module.functions[id];
            let (text, object) = (function.views.sass.text, function.object.index_u32());
            let Some(merc) = function.views.merc else {
                refused(
                    mercury::MISSING,
                    mercury::MISSING.title(),
                    Some(text),
                    object,
                );
                continue;
            };
            if are_compared && is_code_of(module, text, merc.text) {
                continue;
            }
            let size = module.sections[text].size();
            let parsed = Capmerc::parse(module.sections[merc.text].bytes());
            if let Err(error) = parsed.and_then(|capmerc| capmerc.covers(size)) {
                let what = format!("Mercury of another form: {error}");
                refused(mercury::FORM, &what, Some(merc.text), object);
            }
        }
    }
}

/// An object whose views are compared at once, or by all threads later.
enum Compared<'data> {
    Found(Option<Finding>),
    Later(Box<Views<'data>>),
}

/// Compares the views of each object but the linker's, and returns the findings.
fn compared(module: &Module<'_>, threads: &Threads) -> Vec<Option<Finding>> {
    let objects = module.objects.values();
    let objects = objects.filter(|object| object.state != ObjectState::Linker);
    let objects: Vec<&Object<'_>> = objects.collect();
    let bytes = objects.iter().map(|object| object.image.len());
    let work = Work::Bytes(bytes.sum());
    let read = threads.map(work, &objects, |object| {
        let sections = &module.sections[object.sections];
        let names = sections.iter().map(|section| section.name);
        let views = Views::read(object.image, names);
        match views {
            Some(views) if object.image.len() >= LARGE_OBJECT => Compared::Later(Box::new(views)),
            views => Compared::Found(views.and_then(|views| views.check_all())),
        }
    });
    let first = |read: Compared<'_>| match read {
        Compared::Found(finding) => finding,
        Compared::Later(views) => {
            let parts = views.parts(SECTIONS_AT_A_TIME);
            let found = threads.map(work, &parts, |part| views.check(part));
            found.into_iter().flatten().next()
        }
    };
    read.into_iter().map(first).collect()
}

/// Returns `true` if Mercury names this code as what it stands for: where nothing was found by
/// [`compared`], it does stand for it.
fn is_code_of(module: &Module<'_>, text: SectionId, mercury: SectionId) -> bool {
    let section = &module.sections[text];
    let index = module.objects[section.object].sections.ordinal(text);
    let named = module.sections[mercury].bytes().first_chunk::<4>();
    let named = named.map(|word| u32::from_le_bytes(*word) as usize);
    index.is_some() && index == named && section.size() == section.bytes().len() as u64
}
