//! `report-resources`: what the link and its kernels need of memory, registers and barriers (`-v`).
//!
//! A line for global memory and module-wide constants, then two lines for each kernel, last defined
//! first [kernels-in-order-of-definition]. Registers, barriers and stack are those of the merged attribute records, so that they
//! count what the kernel reaches; a kernel that reaches a recursion is shown with its own frame
//! [reported-frame]. The report comes last, also after errors that are not fatal.
//!
//! With `format` the pass reports whether `-v` is given or not, as a table or as JSON: of each
//! kernel what `-v` says, which function its registers are for, and the chain of calls that needs
//! the most stack. `*` in a chain is an indirect call; a chain that enters a recursion ends there
//! with `...`. Linear in the call graph and in the length of the chains.

mod call_chains;
mod kernels;

use std::fmt::Write as _;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::NvlinkPhase;
use cuweld_diagnostics::codes::report;
use cuweld_elf::symbol::header;
use cuweld_elf::target::attributes as code;
use cuweld_ir::FunctionId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::SectionId;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolPlace;
use cuweld_ir::SymbolRef;
use cuweld_ir::table::EntityId;
use serde::Deserialize;

use crate::analyses::LiveFunctions;
use crate::analyses::Preserved;
use crate::analyses::SharedParameters;
use crate::link::place_memory::CONSTANT_BANK_LIMIT;
use crate::link::place_memory::constant_merge;
use crate::link::place_memory::constant_merge::ConstantMerge;
use crate::link::place_memory::constants_again;
use crate::link::place_memory::constants_again::Again;
use crate::link::place_memory::headers::SLOT_SIZE;
use crate::options::OptionInfo;
use crate::options::OptionType;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::PassInfo;

/// What is known of the options.
const OPTIONS: &[OptionInfo] = &[OptionInfo {
    name: "format",
    ty: OptionType::Choice(&["nvlink", "table", "json"]),
    default: "nvlink",
    doc: "How the report looks; `nvlink` is the lines of `-v`, and nothing without `-v`.",
}];

/// How the report looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    #[default]
    Nvlink,
    Table,
    Json,
}

/// The `report-resources` pass.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReportResources {
    format: Format,
}

impl Pass for ReportResources {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "report-resources",
            summary: "Report what the link and its kernels need of memory, registers and barriers, if asked to",
            doc: include_str!("report_resources.rs"),
            options: OPTIONS,
            requires: Phase::Placed,
            once: true,
            reports: true,
            preserves: Preserved::All,
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        if self.format != Format::Nvlink {
            let rows = kernels::rows(module, cx.analyses.get(module), cx.analyses.get(module));
            let report = match self.format {
                Format::Json => kernels::json(&rows),
                _ => kernels::table(&rows),
            };
            cx.diagnostics.emit(Diagnostic::report(report));
            return Ok(Changed::No);
        }
        if !module.options.reports.resources {
            return Ok(Changed::No);
        }
        let mut say = |text| {
            let info = Diagnostic::info(report::RESOURCES, text);
            cx.diagnostics
                .emit(info.of_phase(NvlinkPhase::Resources).at(1, 0));
        };
        say(module_memory(module));
        let needs = Needs::new(module);
        let live = cx.analyses.get::<LiveFunctions>(module);
        for (link, function) in live.kernels.iter().copied().rev() {
            let name = String::from_utf8_lossy(module.link_name(link));
            say(format!("Function properties for '{name}':"));
            say(needs.of(module, link, function));
        }
        Ok(Changed::No)
    }
}

/// Formats the memory of a module: `N bytes gmem, N bytes cmem[3]`.
fn module_memory(module: &Module<'_>) -> String {
    let (mut initialised, mut uninitialised) = (0_u64, 0_u64);
    let mut banks: Vec<(u8, u64)> = Vec::new();
    let capmerc = module.is_capmerc();
    for (id, section) in module.sections.iter() {
        let Some(place) = section.place.filter(|_| module.is_section_linked(id)) else {
            continue;
        };
        let end = place.saturating_add(section.size());
        match section.kind {
            SectionKind::GlobalInit => initialised = initialised.max(end),
            SectionKind::Global => uninitialised = uninitialised.max(end),
            // The Mercury view has banks without numbers.
            SectionKind::ConstantBank(bank) if is_module_bank(bank) && !capmerc => {
                grow(&mut banks, bank, end);
            }
            _ => {}
        }
    }
    for link in module.link_symbols.values() {
        let is_common = link
            .definition
            .is_some_and(|definition| module.symbols[definition].place == SymbolPlace::Common);
        if is_common {
            uninitialised = uninitialised.max(link.value.unwrap_or(0).saturating_add(link.size));
        }
    }
    // Merged constants leave the bank smaller than what was placed.
    for (bank, size) in &mut banks {
        let planned = module.plan.as_ref().and_then(|plan| {
            let name = format!(".nv.constant{bank}");
            plan.sections
                .iter()
                .find(|section| section.name == name.as_bytes())
        });
        if let Some(section) = planned {
            *size = section.size;
        } else if module.options.strict
            && *bank == constant_merge::BANK
            && constant_merge::is_active(module)
        {
            // A link that failed has no plan.
            *size = ConstantMerge::new(module).size;
        } else if *bank == constants_again::BANK
            && *size > CONSTANT_BANK_LIMIT
            && !module.options.relocatable
            && !constant_merge::is_active(module)
        {
            *size = Again::new(module).size;
        }
    }
    let mut text = format!("{} bytes gmem", initialised.saturating_add(uninitialised));
    add_banks(&mut text, &banks);
    text
}

/// Returns `true` if a bank is one of the module, and not of each kernel. Reports leave out a bank
/// where it should not be, though it is in the output [reported-banks].
fn is_module_bank(bank: u8) -> bool {
    matches!(bank, 1 | 3..=6)
}

fn grow(banks: &mut Vec<(u8, u64)>, bank: u8, end: u64) {
    match banks.iter_mut().find(|(known, _)| *known == bank) {
        Some((_, size)) => *size = end.max(*size),
        None => {
            let place = banks.partition_point(|(known, _)| *known < bank);
            banks.insert(place, (bank, end));
        }
    }
}

fn add_banks(text: &mut String, banks: &[(u8, u64)]) {
    for (bank, size) in banks {
        let _ = write!(text, ", {size} bytes cmem[{bank}]");
    }
}

/// What the records and sections say of each function.
struct Needs {
    /// REGCOUNT, by resolved symbol.
    registers: Vec<u32>,
    /// FRAME_SIZE, by resolved symbol.
    frame: Vec<u32>,
    /// MIN_STACK_SIZE, by resolved symbol.
    stack: Vec<Option<u32>>,
    /// NUM_BARRIERS, or the count in flags, by function.
    barriers: Vec<u8>,
    /// Sizes in bytes of constant banks, by function.
    banks: Vec<Vec<(u8, u64)>>,
    /// Size in bytes of `.nv.local.F`, by function.
    local: Vec<u64>,
    /// Whether the Mercury view is linked.
    capmerc: bool,
    relocatable: bool,
}

impl Needs {
    fn new(module: &Module<'_>) -> Self {
        let (links, functions) = (module.link_symbols.len(), module.functions.len());
        let mut needs = Needs {
            registers: vec![0; links],
            frame: vec![0; links],
            stack: vec![None; links],
            barriers: vec![0; functions],
            banks: vec![Vec::new(); functions],
            local: vec![0; functions],
            capmerc: module.is_capmerc(),
            relocatable: module.options.relocatable,
        };
        for list in &module.merged_info {
            match list.function {
                None => {
                    for id in &list.records {
                        needs.module_record(module, &module.attributes[*id]);
                    }
                }
                Some(function) => {
                    // Of relocatable output, whose records are the inputs'.
                    needs.barriers[function.index()] = module.functions[function].flag_barriers;
                    for id in &list.records {
                        let record = &module.attributes[*id];
                        if record.code == code::NUM_BARRIERS {
                            needs.barriers[function.index()] = (record.value & 0xff) as u8;
                        }
                    }
                }
            }
        }
        for piece in &module.bank_pieces {
            let symbol = module.functions[piece.kernel].symbol;
            let pool = if module.symbols[symbol].is_entry() {
                module.pool_size(piece.bank)
            } else {
                0
            };
            let size = match pool {
                0 => module.bank_size(piece),
                size => size,
            };
            // What a replacement left empty is no bank.
            if !is_module_bank(piece.bank) && size > 0 {
                grow(&mut needs.banks[piece.kernel.index()], piece.bank, size);
            }
        }
        // The bank of all local kernels of a name.
        for &(kernel, holder) in SharedParameters::of(module).kernels() {
            needs.banks[kernel.index()] = needs.banks[holder.index()].clone();
        }
        if let Some(last) = module.header_slots.last() {
            let end = last.offset.saturating_add(SLOT_SIZE);
            for (id, function) in module.functions.iter() {
                if function.header_kinds != 0 {
                    grow(&mut needs.banks[id.index()], 0, end);
                }
            }
        }
        for (id, _) in module.sections.iter() {
            needs.section(module, id);
        }
        needs
    }

    fn module_record(&mut self, module: &Module<'_>, record: &cuweld_ir::Attribute<'_>) {
        let target = module.refs(record).first().copied();
        let link = target
            .and_then(SymbolRef::symbol)
            .and_then(|symbol| module.symbols[symbol].link);
        let (Some(link), Some(value)) = (link, record.word(0)) else {
            return;
        };
        match record.code {
            code::REGCOUNT => self.registers[link.index()] = value,
            code::FRAME_SIZE => self.frame[link.index()] = value,
            code::MIN_STACK_SIZE => self.stack[link.index()] = Some(value),
            _ => {}
        }
    }

    fn section(&mut self, module: &Module<'_>, id: SectionId) {
        let section = &module.sections[id];
        let Some(owner) = section.owner.filter(|_| module.is_section_linked(id)) else {
            return;
        };
        if section.kind == SectionKind::Local {
            self.local[owner.index()] = section.size();
        }
    }

    /// Returns the size in bytes of a kernel's shared memory.
    fn shared(&self, module: &Module<'_>, function: FunctionId) -> u64 {
        // The Mercury view has no reserved block.
        let reserved = match self.capmerc && !module.options.relocatable {
            true => module.reserved_shared_size(),
            false => 0,
        };
        match module.functions[function].shared {
            Some(frame) if frame.present => frame.size.saturating_sub(reserved),
            _ => 0,
        }
    }

    /// Returns the stack in bytes; that of the kernel alone if it reaches a recursion.
    fn stack(&self, link: LinkSymbolId) -> u32 {
        match self.stack[link.index()] {
            Some(u32::MAX) => self.frame[link.index()],
            Some(stack) => stack,
            None if self.relocatable => 0,
            // Of a kernel that is left out.
            None => self.frame[link.index()],
        }
    }

    fn of(&self, module: &Module<'_>, link: LinkSymbolId, function: FunctionId) -> String {
        let (shared, stack) = (self.shared(module, function), self.stack(link));
        let mut text = format!(
            "used {} registers, used {} barriers, {stack} stack, {shared} bytes smem",
            self.registers[link.index()],
            self.barriers[function.index()],
        );
        if !self.capmerc {
            add_banks(&mut text, &self.banks[function.index()]);
        }
        let _ = write!(text, ", {} bytes lmem", self.local[function.index()]);
        // The Mercury view has neither banks of kernels nor their slots in one.
        if self.capmerc {
            return text;
        }
        // [reported-slots]
        for (kind, plural) in [
            (header::TEXTURE, "textures"),
            (header::SURFACE, "surfaces"),
            (header::SAMPLER, "samplers"),
        ] {
            let slots = module.header_slots_of(function).filter(|slot| {
                let first = module.link_symbols[slot.symbol].first;
                module.symbols[first].ty.header_kind() == kind
            });
            match slots.count() {
                0 => {}
                count => {
                    let _ = write!(text, ", {count} {plural}");
                }
            }
        }
        text
    }
}
