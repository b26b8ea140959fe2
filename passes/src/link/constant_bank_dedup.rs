//! `constant-bank-dedup`: equal compiler constants are stored once [pool-beyond-limit].
//!
//! While every kernel's bank fits into 64 KiB nvlink merges nothing. If one does not, all kernels
//! that have such a bank get one pool: bank by bank, last created first, the kernel's own constants
//! and those of the device functions that it reaches, each function once. A value that the pool has
//! is not added again, if nvlink has a table for its size; a zero of at most 8 bytes is.
//!
//! Constants of other sizes nvlink adds to the pool, but leaves the code with addresses from
//! before. A link that has such constants and needs the pool is refused.
//!
//! With `below-limit` banks that fit are merged too, without those exceptions, if that makes the
//! output smaller.
//!
//! Linear in the constants and in the pieces of banks.

mod remarks;

use std::borrow::Cow;
use std::ops::Range;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::link;
use cuweld_diagnostics::codes::unsupported;
use cuweld_elf::align::align_up;
use cuweld_ir::FunctionId;
use cuweld_ir::Module;
use cuweld_ir::Phase;
use cuweld_ir::PoolPart;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::SymbolId;
use cuweld_ir::SymbolPlace;
use cuweld_ir::SymbolRef;
use cuweld_ir::table::EntityId;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use serde::Deserialize;

use crate::analyses::LiveFunctions;
use crate::analyses::Preserved;
use crate::analyses::value_tables::has_table;
use crate::analyses::value_tables::is_empty_value;
use crate::link::place_memory::CONSTANT_BANK_LIMIT;
use crate::options::OptionInfo;
use crate::options::OptionType;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::PassInfo;
use crate::remark::Remarks;

/// The bank of compiler constants.
const BANK: u8 = 2;

/// What is known of the options.
const OPTIONS: &[OptionInfo] = &[OptionInfo {
    name: "below-limit",
    ty: OptionType::Bool,
    default: "false",
    doc: "Merge constants of banks that fit, too, if that makes the output smaller; nvlink does not.",
}];

/// The `constant-bank-dedup` pass.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ConstantBankDedup {
    /// Merge constants of banks that fit, too.
    pub below_limit: bool,
}

impl Pass for ConstantBankDedup {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "constant-bank-dedup",
            summary: "Store equal compiler constants once where a bank would be too large",
            doc: include_str!("constant_bank_dedup.rs"),
            options: OPTIONS,
            requires: Phase::Placed,
            before: Some(Phase::Planned),
            once: true,
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
        if module.bank_pieces.iter().all(|piece| piece.bank != BANK) {
            return Ok(Changed::No);
        }
        let banks = Banks::new(module, cx.analyses.get::<LiveFunctions>(module));
        let too_large = banks.sizes.iter().any(|size| *size > CONSTANT_BANK_LIMIT);
        if !too_large && !self.below_limit || banks.sizes.is_empty() {
            return Ok(Changed::No);
        }
        let below_limit = self.below_limit;
        if let Some(refusal) = banks.refusal(module) {
            if !too_large {
                return Ok(Changed::No);
            }
            cx.diagnostics.emit(refusal);
            return Err(PassError::Diagnosed);
        }
        let pool = match Pool::new(module, &banks, below_limit) {
            Ok(pool) => pool,
            Err(section) => {
                cx.diagnostics.emit(untabled(module, section));
                return Err(PassError::Diagnosed);
            }
        };
        let before = banks.sizes.iter().sum::<u64>();
        let after = pool.end.saturating_mul(banks.sizes.len() as u64);
        if !too_large && after >= before {
            return Ok(Changed::No);
        }
        if pool.end > CONSTANT_BANK_LIMIT {
            banks.report_too_large(module, cx);
            return Err(PassError::Diagnosed);
        }
        if let Some(section) = pool.misplaced {
            cx.diagnostics.emit(untabled(module, section));
            return Err(PassError::Diagnosed);
        }
        cx.statistics.add("constants", pool.values.len() as u64);
        cx.statistics.add("constants merged", pool.merged);
        cx.statistics.add("bytes before", before);
        cx.statistics.add("bytes after", after);
        for (symbol, offset) in pool.values {
            if let Some(link) = module.symbols[symbol].link {
                module.link_symbols[link].value = Some(offset);
            }
        }
        // Those of a bank of the module come after them.
        let of_module = std::mem::replace(&mut module.pool_parts, pool.parts);
        module.pool_parts.extend(of_module);
        Ok(Changed::Yes)
    }

    fn remarks(&self, module: &Module<'_>, remarks: &mut Remarks) {
        remarks::make(module, remarks);
    }
}

/// What kernels have of the bank before anything is merged.
struct Banks {
    /// The kernels that have any, in the order in which their banks are created.
    kernels: Vec<FunctionId>,
    /// Size in bytes of the bank of each.
    sizes: Vec<u64>,
    /// The sections in the order in which the pool takes them.
    sections: Vec<SectionId>,
}

impl Banks {
    fn new(module: &Module<'_>, live: &LiveFunctions) -> Self {
        let mut of_kernel: Vec<Vec<usize>> = vec![Vec::new(); module.functions.len()];
        for (index, piece) in module.bank_pieces.iter().enumerate() {
            if piece.bank == BANK {
                of_kernel[piece.kernel.index()].push(index);
            }
        }
        let kernels = live.kernels.iter().map(|(_, function)| *function);
        let kernels = kernels.filter(|function| !of_kernel[function.index()].is_empty());
        let mut kernels: Vec<FunctionId> = kernels.rev().collect();
        kernels = by_bank_section(module, &kernels, &of_kernel);
        kernels.reverse();
        let sizes = kernels
            .iter()
            .map(|kernel| {
                let pieces = of_kernel[kernel.index()].iter();
                pieces
                    .map(|index| {
                        let piece = &module.bank_pieces[*index];
                        let size = module.sections[piece.section].size();
                        piece.offset.saturating_add(size)
                    })
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        let mut taken = vec![false; module.sections.len()];
        let mut sections = Vec::new();
        for kernel in kernels.iter().rev() {
            for index in &of_kernel[kernel.index()] {
                let section = module.bank_pieces[*index].section;
                if !std::mem::replace(&mut taken[section.index()], true) {
                    sections.push(section);
                }
            }
        }
        Banks {
            kernels,
            sizes,
            sections,
        }
    }

    /// Reports why these constants cannot be taken apart, if they cannot.
    fn refusal(&self, module: &Module<'_>) -> Option<Diagnostic> {
        let refused = |section: SectionId, what: &str| {
            let name = String::from_utf8_lossy(module.sections[section].name).into_owned();
            let object = module.sections[section].object;
            Diagnostic::fatal(
                unsupported::EQUAL_CONSTANTS,
                format!("constants that only fit if equal values are merged: {what}"),
            )
            .note(format!(
                "'{name}' in '{}'",
                module.objects[object].display()
            ))
        };
        let discarded = |section: &&SectionId| !module.is_section_linked(**section);
        if let Some(section) = self.sections.iter().find(discarded) {
            return Some(refused(*section, "some belong to a replaced copy"));
        }
        let is_constants = |section: SectionId| {
            module.sections[section].kind == SectionKind::FunctionConstants(BANK)
        };
        for reloc in module.relocs.values() {
            if let SymbolRef::Section(section) = reloc.target
                && is_constants(section)
            {
                return Some(refused(section, "a relocation refers to their section"));
            }
            if let SectionInfo::Section(patched) = module.sections[reloc.section].info
                && is_constants(patched)
            {
                return Some(refused(patched, "some are relocated"));
            }
        }
        None
    }

    fn report_too_large(&self, module: &Module<'_>, cx: &mut PassCx<'_, '_>) {
        for (kernel, size) in self.kernels.iter().zip(&self.sizes) {
            if *size > CONSTANT_BANK_LIMIT {
                let name = String::from_utf8_lossy(module.function_name(*kernel)).into_owned();
                cx.diagnostics.emit(
                    Diagnostic::error(
                        link::COMPILER_CONSTANTS,
                        format!(
                            "Entry function '{name}' uses too much data for compiler-generated \
                         constants; please recompile with -Xptxas --disable-optimizer-constants"
                        ),
                    )
                    .note(format!(
                        "bank {BANK} needs {size:#x} bytes of {CONSTANT_BANK_LIMIT:#x}"
                    )),
                );
            }
        }
    }
}

/// Returns the kernels in the order of their sections of constants, last created first. Sections of
/// kernels without constants of their own were created last, at first need, kernels last created
/// first.
fn by_bank_section(
    module: &Module<'_>,
    kernels: &[FunctionId],
    of_kernel: &[Vec<usize>],
) -> Vec<FunctionId> {
    let own = |kernel: FunctionId| {
        let first = of_kernel[kernel.index()].first();
        let section = first.map(|index| module.bank_pieces[*index].section);
        section.filter(|section| module.sections[*section].owner == Some(kernel))
    };
    let (mut with, mut without): (Vec<FunctionId>, Vec<FunctionId>) =
        kernels.iter().partition(|kernel| own(**kernel).is_some());
    with.sort_by_key(|kernel| std::cmp::Reverse(own(*kernel)));
    let mut ordinal = vec![0; module.functions.len()];
    for (index, kernel) in kernels.iter().enumerate() {
        ordinal[kernel.index()] = index;
    }
    without.sort_by_key(|kernel| of_kernel[kernel.index()].first().copied());
    let section_of = |kernel: &FunctionId| {
        let first = of_kernel[kernel.index()].first();
        first.map(|index| module.bank_pieces[*index].section)
    };
    let mut late = Vec::with_capacity(kernels.len());
    for group in without.chunk_by(|a, b| section_of(a) == section_of(b)) {
        let mut group = group.to_vec();
        group.sort_by_key(|kernel| ordinal[kernel.index()]);
        late.extend(group);
    }
    late.reverse();
    late.extend(with);
    late
}

fn untabled(module: &Module<'_>, section: SectionId) -> Diagnostic {
    let row = &module.sections[section];
    Diagnostic::refusal(unsupported::MISPLACED_CONSTANTS)
        .note(format!(
            "'{}' in '{}'",
            String::from_utf8_lossy(row.name),
            module.objects[row.object].display()
        ))
        .help("the option 'below-limit' of the pass 'constant-bank-dedup' places them")
}

/// The constants of all kernels in one bank.
struct Pool {
    parts: Vec<PoolPart>,
    /// The offset in bytes of each constant.
    values: Vec<(SymbolId, u64)>,
    /// How many constants have the place of another one.
    merged: u64,
    /// Size in bytes.
    end: u64,
    /// The section of the first constant that nvlink places wrongly.
    misplaced: Option<SectionId>,
}

impl Pool {
    /// Adds constant by constant; the section of a constant that lies outside of it is an error.
    fn new(module: &Module<'_>, banks: &Banks, below_limit: bool) -> Result<Self, SectionId> {
        let mut pool = Pool {
            parts: Vec::new(),
            values: Vec::new(),
            merged: 0,
            end: 0,
            misplaced: None,
        };
        let mut of_section: Vec<Vec<SymbolId>> = vec![Vec::new(); module.sections.len()];
        for (id, symbol) in module.symbols.iter() {
            if let SymbolPlace::Section(section) = symbol.place
                && symbol.is_compiler_constant()
                && module.sections[section].kind == SectionKind::FunctionConstants(BANK)
            {
                of_section[section.index()].push(id);
            }
        }
        let mut known: HashMap<(u64, Cow<'_, [u8]>), u64, FixedState> = HashMap::default();
        for section in &banks.sections {
            let row = &module.sections[*section];
            let contents = module.patched_bytes(*section);
            for id in &of_section[section.index()] {
                let (start, size) = (module.symbols[*id].value, module.symbols[*id].size);
                let range = usize::try_from(start).ok().zip(usize::try_from(size).ok());
                let bytes = range
                    .and_then(|(start, size)| part(&contents, start..start.checked_add(size)?))
                    .ok_or(*section)?;
                // What an address needs is no more than what it had.
                let align = if below_limit && start != 0 {
                    row.align.max(1).min(1 << start.trailing_zeros())
                } else {
                    row.align.max(1)
                };
                let key = (if below_limit { 0 } else { row.align }, bytes);
                let is_looked_up = below_limit || has_table(size, row.align);
                if !is_looked_up {
                    pool.misplaced.get_or_insert(*section);
                }
                let found = known
                    .get(&key)
                    .copied()
                    .filter(|at| at.is_multiple_of(align));
                let may_merge = is_looked_up && (below_limit || !is_empty_value(&key.1));
                if let Some(at) = found.filter(|_| may_merge) {
                    pool.values.push((*id, at));
                    pool.merged += 1;
                    continue;
                }
                let offset = align_up(pool.end, align);
                pool.end = offset.saturating_add(size);
                pool.values.push((*id, offset));
                pool.parts.push(PoolPart {
                    bank: BANK,
                    section: *section,
                    start,
                    size,
                    offset,
                });
                known.entry(key).or_insert(offset);
            }
        }
        Ok(pool)
    }
}

/// Returns a part of contents, copied only where they are.
fn part<'c>(contents: &Cow<'c, [u8]>, range: Range<usize>) -> Option<Cow<'c, [u8]>> {
    match contents {
        Cow::Borrowed(bytes) => bytes.get(range).map(Cow::Borrowed),
        Cow::Owned(bytes) => bytes.get(range).map(|bytes| Cow::Owned(bytes.to_vec())),
    }
}
