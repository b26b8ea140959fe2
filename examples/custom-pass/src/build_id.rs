//! `build-id`: adds a variable with the identifier of a build to the first object of a link, so that a
//! program can tell by it which device code it runs.
//!
//! The variable is `__build_id`, bytes in global memory that end with a zero. Host code reads it as any
//! other variable of the module.

use cuweld_elf::symbol::Binding;
use cuweld_elf::symbol::SymbolOther;
use cuweld_elf::symbol::SymbolType;
use cuweld_elf::target::section_types::SectionFlags;
use cuweld_elf::target::section_types::sht;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::Section;
use cuweld_ir::SectionContent;
use cuweld_ir::Symbol;
use cuweld_ir::SymbolPlace;
use cuweld_ir::edit::Edits;
use cuweld_passes::Changed;
use cuweld_passes::Pass;
use cuweld_passes::PassCx;
use cuweld_passes::PassError;
use cuweld_passes::PassInfo;
use cuweld_passes::options::OptionInfo;
use cuweld_passes::options::OptionType;
use cuweld_passes::registry::Registry;
use serde::Deserialize;

const OPTIONS: &[OptionInfo] = &[OptionInfo {
    name: "id",
    ty: OptionType::String,
    default: "unknown",
    doc: "The identifier of the build.",
}];

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct BuildId {
    id: String,
}

impl Default for BuildId {
    fn default() -> Self {
        BuildId {
            id: "unknown".to_owned(),
        }
    }
}

/// Adds the pass.
pub fn register(registry: &mut Registry) {
    registry.register_with_options::<BuildId>();
}

impl Pass for BuildId {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "build-id",
            summary: "Add a variable with the identifier of a build",
            doc: include_str!("build_id.rs"),
            options: OPTIONS,
            // What `classify` gives each section, it gives this one, too.
            before: Some(Phase::Classified),
            // Code as Mercury names sections and symbols of its object by number.
            refuses: &["mercury"],
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        let Some(object) = module.objects.ids().next() else {
            return Ok(Changed::No);
        };
        let bytes = cx.arena.joined(self.id.as_bytes(), b"\0");
        let refused = |error: cuweld_ir::edit::EditError| PassError::Internal(error.to_string());
        let mut edits = Edits::new(module).map_err(refused)?;
        let section = edits.add_section(Section {
            object,
            name: b".nv.global.init",
            ty: sht::CUDA_GLOBAL_INIT,
            flags: SectionFlags::ALLOC | SectionFlags::WRITE,
            align: 1,
            content: SectionContent::Bytes(bytes),
            ..Section::default()
        });
        edits.add_symbol(Symbol {
            object,
            name: b"__build_id",
            bind: Binding::GLOBAL,
            ty: SymbolType::CUDA_OBJECT,
            other: SymbolOther::GLOBAL,
            place: SymbolPlace::Section(section),
            size: bytes.len() as u64,
            ..Symbol::default()
        });
        edits.apply(module).map_err(refused)?;
        Ok(Changed::Yes)
    }
}
