//! `strip-debug`: debug sections stay out of the output.
//!
//! Opt-in: nvlink keeps what its inputs hold, `.debug_frame` also without `-g`. Sections named
//! `.debug_*` and `.nv_debug_*` are marked as stripped, with the relocation sections that apply to
//! them. Code, variables and what kernels need are as without the pass; with `-g` dead code still
//! stays.
//!
//! Runs between `classify` and `merge-metadata`. Refused: objects with Mercury, whose two forms of
//! `.debug_frame` stand for each other.

use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;

use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::PassInfo;
use crate::remark::Remark;
use crate::remark::RemarkInfo;

const STRIPPED: RemarkInfo = RemarkInfo {
    name: "stripped",
    doc: "A section is left out",
};

/// The `strip-debug` pass.
#[derive(Debug, Default)]
pub struct StripDebug;

impl Pass for StripDebug {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "strip-debug",
            summary: "Leave debug sections out of the output",
            doc: include_str!("strip_debug.rs"),
            requires: Phase::Classified,
            before: Some(Phase::Merged),
            refuses: &["mercury"],
            remarks: &[STRIPPED],
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        let is_debug = |id: SectionId| module.sections[id].kind == SectionKind::Debug;
        let fixups_debug = |info| matches!(info, SectionInfo::Section(target) if is_debug(target));
        let stripped: Vec<SectionId> = module
            .sections
            .iter()
            .filter(|(id, section)| {
                is_debug(*id) || section.kind == SectionKind::Relocs && fixups_debug(section.info)
            })
            .map(|(id, _)| id)
            .collect();
        for id in &stripped {
            let section = &mut module.sections[*id];
            section.kind = SectionKind::Stripped;
            let size = section.size();
            cx.remarks.emit(|| {
                Remark::about(&STRIPPED, *id)
                    .words(" is left out: ")
                    .argument("size", size)
                    .words(" bytes for debuggers")
            });
            cx.statistics.add("sections", 1);
            cx.statistics.add("bytes", size);
        }
        Ok(Changed::from(!stripped.is_empty()))
    }
}
