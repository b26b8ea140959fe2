//! `plan-relocations`: what becomes of each relocation.
//!
//! What a relocation refers to decides, its type only rarely [kept-by-target]: against
//! functions and global memory it is kept for the driver; against everything else it is applied and
//! leaves, except the types that only the driver can apply. Executables first turn UNIFIED types
//! into plain ones.
//!
//! Linear in the rows.

mod actions;
mod copies;
mod facts;
mod frames;
pub(crate) mod lines;
mod refusal;
mod remarks;
mod row;
mod rows;
mod target_kind;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::deviation;
use cuweld_diagnostics::codes::input;
use cuweld_diagnostics::codes::mercury;
use cuweld_diagnostics::codes::unsupported;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::Reloc;
use cuweld_ir::RelocAction;
use cuweld_ir::RelocId;
use cuweld_ir::table::EntityId;

use crate::analyses::EarlyAliases;
use crate::analyses::Meanings;
use crate::analyses::Preserved;
use crate::link::place_memory::banks::bank_beyond_limit;
use crate::located::located;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::PassInfo;
use crate::remark::Remarks;
use crate::threads::Threads;
use crate::threads::Work;
use facts::Facts;
use facts::lost_shared;
use refusal::Refusal;
use refusal::refused;
use rows::Planner;
use rows::is_like;
pub(crate) use target_kind::loses_rows;

/// The `plan-relocations` pass.
#[derive(Debug, Default)]
pub struct PlanRelocations;

impl Pass for PlanRelocations {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "plan-relocations",
            summary: "Decide which relocations are kept, applied or dropped",
            doc: include_str!("plan_relocations.rs"),
            requires: Phase::Placed,
            establishes: Some(Phase::Planned),
            preserves: Preserved::All,
            remarks: remarks::KINDS,
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        if let Some(kernel) = bank_beyond_limit(module) {
            let name = String::from_utf8_lossy(module.function_name(kernel)).into_owned();
            cx.diagnostics.emit(Diagnostic::fatal(
                unsupported::BANK_LIMIT,
                format!("function '{name}' needs a constant bank beyond 64 KiB"),
            ));
            return Err(PassError::Diagnosed);
        }
        // No row depends on another: threads that decide on some of them store what becomes of each
        // in place.
        let lost_shared = lost_shared(module);
        let mut relocs = std::mem::take(&mut module.relocs);
        let meanings = cx.analyses.get::<Meanings>(module);
        let decided = decide(
            &Facts::new(module, meanings, lost_shared),
            relocs.rows_mut(),
            cx.threads,
        );
        module.relocs = relocs;
        let Decided {
            kept,
            applied,
            dropped,
            refusals,
            lost,
        } = decided;
        let mut failed = !refusals.is_empty();
        for (id, refusal) in refusals {
            let is_internal = matches!(refusal, Refusal::Internal(_));
            cx.diagnostics.emit(refused(module, id, refusal));
            // There nvlink ends.
            if is_internal {
                break;
            }
        }
        if !failed && module.is_capmerc() {
            let early = cx.analyses.get::<EarlyAliases>(module);
            match lines::place(module, early) {
                Ok(None) => {}
                Ok(Some(function)) => {
                    let note = lines::lines_once(module.function_name(function));
                    cx.diagnostics.emit(note);
                }
                Err(section) => {
                    cx.diagnostics.emit(
                        Diagnostic::refusal(mercury::LINE_TABLE)
                            .note(located(module, section))
                            .at(module.sections[section].object.index_u32(), 0),
                    );
                    failed = true;
                }
            }
        }
        if let Some((first, count)) = lost.filter(|_| !failed) {
            cx.diagnostics.emit(kept_address(module, first, count));
        }
        cx.statistics.add("kept", kept);
        cx.statistics.add("applied", applied);
        cx.statistics.add("dropped", dropped);
        if failed {
            Err(PassError::Diagnosed)
        } else {
            Ok(Changed::Yes)
        }
    }

    fn remarks(&self, module: &Module<'_>, remarks: &mut Remarks) {
        remarks::make(module, remarks);
    }
}

/// Says that an address in constants stays which nvlink leaves out, and how many there are of them.
fn kept_address(module: &Module<'_>, first: RelocId, count: u64) -> Diagnostic {
    let row = &module.relocs[first];
    let file = module.objects[module.sections[row.section].object].display();
    let symbol = row.target.symbol();
    let name = symbol.map_or(&b""[..], |id| module.symbols[id].name);
    let name = String::from_utf8_lossy(name);
    let message = match count {
        0 | 1 => format!("the address of '{name}' in constants of '{file}' stays"),
        _ => format!("{count} addresses in constants stay, the first that of '{name}' in '{file}'"),
    };
    Diagnostic::remark(deviation::KEPT_ADDRESS, message).deviates("D14")
}

/// What was decided on.
#[derive(Default)]
struct Decided {
    kept: u64,
    applied: u64,
    dropped: u64,
    refusals: Vec<(RelocId, Refusal)>,
    /// The first row that nvlink leaves out and that stays (deviation D14), and how many there are.
    lost: Option<(RelocId, u64)>,
}

impl Decided {
    /// Decides on rows, the first of which is at `start`.
    fn new(facts: &Facts<'_, '_>, start: usize, rows: &mut [Reloc]) -> Self {
        let mut decided = Decided::default();
        let mut planner = Planner::new(facts);
        let mut index = start;
        let mut rest = rows;
        while let Some((reloc, others)) = rest.split_first_mut() {
            decided.take(index, planner.decide(reloc), reloc.plan);
            index += 1;
            let lost = planner.keeps_lost();
            let mut done = 0;
            // Tables have many rows that fare as the first.
            if matches!(reloc.plan, RelocAction::Keep { .. })
                && others.first().is_some_and(|other| is_like(reloc, other))
                && let Some(run) = planner.run(reloc)
            {
                done = run.take(reloc, others);
                decided.kept += done as u64;
            }
            if lost {
                let (_, count) = decided.lost.get_or_insert((RelocId::new(index - 1), 0));
                *count += 1 + done as u64;
            }
            index += done;
            rest = others.get_mut(done..).unwrap_or(&mut []);
        }
        decided
    }

    /// Counts a row that was decided on.
    fn take(&mut self, index: usize, outcome: Result<(), Refusal>, plan: RelocAction) {
        match (outcome, plan) {
            (Err(refusal), _) => self.refusals.push((RelocId::new(index), refusal)),
            (_, RelocAction::Keep { .. }) => self.kept += 1,
            (_, RelocAction::Apply { .. } | RelocAction::Clear) => self.applied += 1,
            _ => self.dropped += 1,
        }
    }

    /// Adds what was decided on later rows.
    fn add(&mut self, later: Decided) {
        self.kept += later.kept;
        self.applied += later.applied;
        self.dropped += later.dropped;
        self.refusals.extend(later.refusals);
        if let Some((first, count)) = later.lost {
            self.lost.get_or_insert((first, 0)).1 += count;
        }
    }
}

/// Decides on every row.
fn decide(facts: &Facts<'_, '_>, rows: &mut [Reloc], threads: &Threads) -> Decided {
    let mut decided = Decided::default();
    let part = |start, rows: &mut [Reloc]| Decided::new(facts, start, rows);
    let parts = threads.map_chunks_mut(Work::Rows(rows.len()), rows, part);
    parts.into_iter().for_each(|part| decided.add(part));
    decided
}

/// Reports what nvlink says of the first relocation that lies after its section or refers to a symbol
/// that goes, also if names are undefined [errors-in-order].
pub(crate) fn ends_link(module: &Module<'_>, meanings: &Meanings) -> Option<Diagnostic> {
    let facts = Facts::new(module, meanings, lost_shared(module));
    let mut planner = Planner::new(&facts);
    module
        .relocs
        .iter()
        .find_map(|(id, reloc)| match planner.decide(&mut { *reloc }) {
            Err(refusal @ Refusal::Internal(input::PAST_END | input::DELETED_SYMBOL)) => {
                Some(refused(module, id, refusal))
            }
            _ => None,
        })
}
