//! Says where sections lie in the output, and what alignment costs.

use cuweld_elf::target::section_types::is_no_bits;
use cuweld_ir::Module;
use cuweld_ir::plan::PlanContent;

use crate::remark::Remark;
use crate::remark::RemarkInfo;
use crate::remark::Remarks;
use crate::remark::Value;

/// A section of the output has its place in the file.
pub(crate) const SECTION: RemarkInfo = RemarkInfo {
    name: "section",
    doc: "A section of the output has its place in the file",
};

pub(super) const KINDS: &[RemarkInfo] = &[SECTION];

/// Makes a remark about each section of the output, in the order of section numbers. n log n in the
/// sections.
pub(crate) fn make(module: &Module<'_>, remarks: &mut Remarks) {
    let Some(plan) = &module.plan else { return };
    let has_bytes = |index: &usize| {
        let row = &plan.sections[*index];
        !is_no_bits(row.ty, row.flags)
            && row.size != 0
            && !matches!(row.content, PlanContent::Alias(_))
    };
    let mut in_file: Vec<usize> = (0..plan.sections.len()).filter(has_bytes).collect();
    in_file.sort_by_key(|index| plan.sections[*index].offset);
    let mut padding = vec![0; plan.sections.len()];
    for pair in in_file.windows(2) {
        let before = &plan.sections[pair[0]];
        let end = before.offset.saturating_add(before.size);
        padding[pair[1]] = plan.sections[pair[1]].offset.saturating_sub(end);
    }
    for (number, row) in plan.sections.iter().enumerate().skip(1) {
        remarks.emit(|| {
            let name = String::from_utf8_lossy(row.name).into_owned();
            let remark = Remark::of_link(&SECTION)
                .words("section ")
                .argument("number", number)
                .words(" '")
                .argument("section", name)
                .words("' lies at ")
                .argument("offset", Value::Address(row.offset))
                .words(" of the file: ")
                .argument("size", row.size)
                .words(" bytes, alignment ")
                .argument("alignment", row.align);
            match padding[number] {
                0 => remark.silent("padding", 0_u64),
                padding => remark
                    .words(", after ")
                    .argument("padding", padding)
                    .words(" bytes of padding"),
            }
        });
    }
}
