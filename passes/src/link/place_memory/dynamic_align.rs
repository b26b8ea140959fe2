//! The alignment of dynamic shared memory, which objects of CUDA 13.1 and later say
//! [dynamic-shared-aligned].
//!
//! All names of dynamic shared memory that a kernel reaches are one address, which has the largest
//! of their alignments. nvlink takes that of one of them, and the others are misaligned: deviation
//! D21.

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::deviation;
use cuweld_diagnostics::codes::unsupported;
use cuweld_elf::align::align_up;
use cuweld_elf::behaviours::memory;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;

/// Alignment in bytes of dynamic shared memory of which nothing is said, and the least of all.
pub const DYNAMIC_ALIGN: u64 = 16;

/// Alignments in bytes of the dynamic shared memory that one kernel reaches.
#[derive(Clone, Copy, Debug)]
pub(super) struct DynamicAlign {
    /// That of the name that has the least.
    pub least: u64,
    /// That of the name that has the most, and of the address.
    pub most: u64,
    /// Whether an object says the alignment of any.
    pub is_said: bool,
}

impl DynamicAlign {
    /// Returns that of a kernel that reaches no name.
    pub fn none() -> Self {
        DynamicAlign {
            least: 0,
            most: 0,
            is_said: false,
        }
    }

    /// Adds a name.
    pub fn add(&mut self, module: &Module<'_>, name: LinkSymbolId) {
        let said = match module.toolkit.has(&memory::DYNAMIC_SHARED_ALIGNED) {
            true => module.symbols[module.link_symbols[name].first].value,
            false => 0,
        };
        self.is_said |= said > 0;
        let align = said.max(DYNAMIC_ALIGN);
        self.least = match self.least {
            0 => align,
            least => least.min(align),
        };
        self.most = self.most.max(align);
    }

    /// Returns `true` if the alignments give different addresses after `size` bytes.
    pub fn is_mixed(self, size: u64) -> bool {
        self.least != self.most && align_up(size, self.least) != align_up(size, self.most)
    }
}

/// Makes what is said of kernels whose dynamic shared memory has names of different alignments;
/// `None` if there are none. Strict mode refuses them.
pub(super) fn mixed(module: &Module<'_>, kernels: &[LinkSymbolId]) -> Option<Diagnostic> {
    let name = String::from_utf8_lossy(module.link_name(*kernels.first()?));
    let whose = match kernels.len() {
        1 => format!("kernel '{name}' has"),
        count => format!("{count} kernels have, the first is '{name}',"),
    };
    if module.options.strict {
        let code = unsupported::MIXED_DYNAMIC_ALIGN;
        let why = format!("{whose} names of dynamic shared memory with different alignments");
        return Some(Diagnostic::fatal(code, code.title()).note(why));
    }
    let message = format!("{whose} dynamic shared memory at the largest alignment of its names");
    Some(Diagnostic::remark(deviation::DYNAMIC_SHARED_ALIGN, message).deviates("D21"))
}
