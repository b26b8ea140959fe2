//! Kernels with more parameters than objects of older toolkits leave room for.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::link;
use cuweld_elf::target::attributes;
use cuweld_ir::Attribute;
use cuweld_ir::Fate;
use cuweld_ir::Module;

/// Bytes of parameters that a kernel may have beside any object below sm_90, 4 KiB and what is
/// before them.
const ROOM: u16 = 0x1100;

/// The first toolkit whose objects leave room for more below sm_90.
const FIRST_WITH_ROOM: u32 = 121;

/// The first SM for which all objects leave room for more.
const FIRST_SM_WITH_ROOM: u16 = 90;

/// Returns an error for each parameter of kernels with more than [`ROOM`] bytes of them, where an
/// object of the link is of a toolkit before 12.1 [large-parameters].
pub(super) fn found(module: &Module<'_>) -> Vec<Diagnostic> {
    if module.target.sm >= FIRST_SM_WITH_ROOM {
        return Vec::new();
    }
    let is_older = |toolkit: u32| toolkit < FIRST_WITH_ROOM;
    let mut objects = module.included_objects();
    let Some((_, older)) = objects.find(|(_, row)| is_older(module.origin(row).toolkit)) else {
        return Vec::new();
    };
    // Kernels that options leave out count.
    let kernels = module.functions.values();
    let kernels =
        kernels.filter(|row| row.fate == Fate::Prevailing && module.symbols[row.symbol].is_entry());
    let lists = kernels.filter_map(|row| {
        let list = module.sections[row.views.merged_info()?].attributes;
        let records = module.attributes[list].iter();
        let size = |record: &Attribute<'_>| match record.code {
            attributes::CBANK_PARAM_SIZE => record.value,
            _ => 0,
        };
        let is_large = records.clone().any(|record| size(record) > ROOM);
        let is_parameter = |record: &&Attribute<'_>| {
            matches!(
                record.code,
                attributes::KPARAM_INFO | attributes::KPARAM_INFO_V2
            )
        };
        is_large.then(|| (row.symbol, records.filter(is_parameter).count()))
    });
    let errors = lists.flat_map(|(symbol, parameters)| {
        let kernel = String::from_utf8_lossy(module.symbols[symbol].name);
        let error = Diagnostic::error(
            link::LARGE_PARAMETERS,
            "For kernel functions with parameter size higher than 4k bytes on sm_7x and sm_8x, all objects must be compiled with 12.1 or later",
        )
        .note(format!("the kernel is '{kernel}', and '{}' was compiled before", older.display()));
        std::iter::repeat_n(error, parameters)
    });
    errors.collect()
}
