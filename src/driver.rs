//! The way of the data: discover inputs, lower, run the pipeline, give back the image.
//!
//! Architecture Invariant: one direction, no way back, and no linking rule here.

use cuweld_ir::Arena;
use cuweld_ir::LinkOptions;
use cuweld_ir::Module;
use cuweld_ir::Target;
use cuweld_ir::elf;
use cuweld_ir::elf::note_records::cuda_info_fields;
use cuweld_ir::elf::raw::ET_EXEC;
use cuweld_ir::elf::raw::FileHeader;
use cuweld_ir::elf::read::ObjectPart;
use cuweld_ir::elf::validate::ArchitectureError;
use cuweld_ir::elf::validate::ObjectFacts;
use cuweld_ir::elf::validate::StructureError;
use cuweld_ir::elf::validate::validate_architecture;
use cuweld_ir::target::compat;
use cuweld_ir::target::section_types::sht;
use cuweld_passes::Diagnostic;
use zerocopy::FromBytes;

use crate::input::DeviceInput;
use crate::input::HostInfo;
use crate::input::Image;
use crate::input::host_info::ReferenceKind;

/// A device image with its name, ready to be lowered.
#[derive(Clone, Copy, Debug)]
pub struct NamedImage<'data> {
    /// The input as given.
    pub name: &'data str,
    /// The archive member, or empty.
    pub member: &'data str,
    /// The device ELF.
    pub image: &'data [u8],
    /// It belongs to the device runtime library.
    pub system_library: bool,
}

impl NamedImage<'_> {
    fn display(&self) -> String {
        if self.member.is_empty() {
            self.name.to_owned()
        } else {
            format!("{}:{}", self.name, self.member)
        }
    }
}

/// Picks the images to lower out of what was discovered. PTX and LTO-IR need NVIDIA's compiler,
/// which is not called yet: a typed refusal.
pub fn images<'data>(
    inputs: &[DeviceInput<'data>],
    arena: &'data Arena,
) -> Result<Vec<NamedImage<'data>>, Diagnostic> {
    let mut images = Vec::new();
    for input in inputs.iter().filter(|input| input.skip.is_none()) {
        let what = match &input.image {
            None => continue,
            Some(Image::Cubin(image)) => {
                images.push(NamedImage {
                    name: arena.string(&input.path),
                    member: arena.string(input.member.as_deref().unwrap_or("")),
                    image,
                    system_library: input.system_library,
                });
                continue;
            }
            Some(Image::Ptx(_)) => "PTX, which has to be compiled",
            Some(Image::Nvvm(_)) => "LTO-IR, which has to be compiled",
        };
        return Err(Diagnostic::fatal(format!("cuweld: unsupported: '{input}' holds {what}"))
            .help("compile it to a relocatable cubin first (ptxas -c)"));
    }
    Ok(images)
}

/// Takes the host's kernel references into the link options, if they apply to this link.
pub fn apply_host_info(options: &mut LinkOptions, host_info: &HostInfo<'_>, ignore: bool) {
    if ignore || options.relocatable || !host_info.prunes_kernels() {
        return;
    }
    let patterns = |kind| -> Vec<String> {
        let patterns = host_info.patterns(kind).iter();
        patterns.map(|pattern| String::from_utf8_lossy(pattern).into_owned()).collect()
    };
    options.host_kernels_external = Some(patterns(ReferenceKind::ExternalKernel));
    options.host_kernels_internal = Some(patterns(ReferenceKind::InternalKernel));
}

/// Lowers images into a new module, in link order. The first image that does not fit ends the link.
///
/// `strict` ignores damaged objects without a message where nvlink does (deviation D01).
pub fn lower<'data>(
    images: &[NamedImage<'data>],
    target: Target,
    options: LinkOptions,
    strict: bool,
) -> Result<Module<'data>, Diagnostic> {
    let mut module = Module::new(target, options);
    for image in images {
        let part = match elf::read_object(image.image, image.name.as_bytes(), image.member.as_bytes())
        {
            Ok(part) => part,
            Err(error) => match damaged(image, &error, target, strict) {
                Some(diagnostic) => return Err(diagnostic),
                None => continue,
            },
        };
        let Ok((file, _)) = FileHeader::ref_from_prefix(image.image) else { continue };
        if file.e_type.get() != ET_EXEC {
            validate_architecture(file, facts(&part), target)
                .map_err(|error| misfit(image, error, file, target))?;
        }
        let id = module
            .append(part)
            .map_err(|error| Diagnostic::fatal(format!("cuweld: '{}': {error}", image.display())))?;
        module.objects[id].system_library = image.system_library;
    }
    Ok(module)
}

/// What an object says of its toolkit and variant.
fn facts(part: &ObjectPart<'_>) -> ObjectFacts {
    let section = |id: cuweld_ir::SectionId| {
        use cuweld_ir::table::EntityId;
        part.sections.get(id.index())
    };
    let cuda_info = part
        .notes
        .iter()
        .find(|note| {
            note.section
                .and_then(section)
                .is_some_and(|section| section.name == b".note.nv.cuinfo")
        })
        .and_then(|note| cuda_info_fields(note.desc))
        .map(|(version, _, toolkit)| (version, toolkit));
    let specific = part.attributes.iter().any(|record| {
        record.code == compat::CUDA_ACCELERATOR_TARGET
            && record.value == 1
            && record.section.and_then(section).is_some_and(|row| row.ty == sht::CUDA_COMPAT)
    });
    ObjectFacts { cuda_info, specific }
}

fn damaged(
    image: &NamedImage<'_>,
    error: &elf::ReadError,
    target: Target,
    strict: bool,
) -> Option<Diagnostic> {
    let file = image.display();
    if matches!(error, elf::ReadError::Structure(StructureError::Not64Bit)) {
        return Some(Diagnostic::fatal(format!(
            "Input file '{file}' size does not match target '-m64'"
        )));
    }
    if strict && !target.is_mercury() {
        return None;
    }
    let mut diagnostic = Diagnostic::fatal(format!("cuweld: '{file}' is damaged: {error}"))
        .note("nvlink 13.0.88 ignores this input without a message, and its code is lost");
    diagnostic.deviation = Some("D01");
    Some(diagnostic)
}

fn misfit(
    image: &NamedImage<'_>,
    error: ArchitectureError,
    file: &FileHeader,
    target: Target,
) -> Diagnostic {
    let message = error.to_string().replace("{file}", &image.display());
    let diagnostic = Diagnostic::fatal(message);
    match error {
        ArchitectureError::Sm { found, .. } => diagnostic
            .note(format!("'{}' was compiled for sm_{found}", image.display()))
            .help(format!("compile it for {target}, or link with -arch=sm_{found}")),
        ArchitectureError::Abi { osabi, version } => diagnostic.note(format!(
            "OSABI {osabi:#x}, ABI version {version}, e_flags {:#x}",
            file.flags.get()
        )),
        ArchitectureError::TooNew { found } => diagnostic
            .note(format!("it was made by toolkit {}.{}", found / 10, found % 10)),
        _ => diagnostic,
    }
}
