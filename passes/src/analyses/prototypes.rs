//! The prototypes of functions.
//!
//! Objects say the prototype of a function in two places: in a (0,-2) row of the call graph if they
//! take its address, else in `.nv.prototype`. nvlink keeps one for each function, which is the one
//! of the output, and the one by which indirect calls find it:
//!
//! - A (0,-2) row sets it, whatever it was, but not that of a copy that was not taken into the link.
//! - A row of `.nv.prototype` sets it if none is known, else it has to be the same.
//! - Of functions that the driver provides what stands after `|`, the registers that a call may change,
//!   is not compared; the last row sets it. Compilers of other toolkits write other ones there.

use cuweld_ir::CallKind;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Module;
use cuweld_ir::ObjectId;
use cuweld_ir::SymbolId;
use cuweld_ir::SymbolRef;
use cuweld_ir::table::EntityId;

use super::counting_calls::is_taken;

/// Prototypes by resolved symbol, up to the last that has one.
#[derive(Debug, Default)]
pub struct Prototypes<'data> {
    known: Vec<Option<&'data [u8]>>,
}

/// A row that does not agree with what is known.
#[derive(Clone, Copy, Debug)]
pub struct Mismatch<'data> {
    /// The function, as the object has it.
    pub symbol: SymbolId,
    /// The function.
    pub link: LinkSymbolId,
    /// What the row says.
    pub here: &'data [u8],
    /// What was known.
    pub known: &'data [u8],
}

impl<'data> Prototypes<'data> {
    /// Returns the prototypes of a resolved module.
    pub fn new(module: &Module<'data>) -> Self {
        let mut prototypes = Prototypes::default();
        for (id, _) in module.included_objects() {
            prototypes.read(module, id, |_| {});
        }
        prototypes
    }

    /// Returns the prototype of a function.
    pub fn get(&self, link: LinkSymbolId) -> Option<&'data [u8]> {
        self.known.get(link.index()).copied().flatten()
    }

    /// Reads the rows of one more object.
    pub fn read(
        &mut self,
        module: &Module<'data>,
        object: ObjectId,
        mut mismatch: impl FnMut(Mismatch<'data>),
    ) {
        let row = &module.objects[object];
        let link_of = |target: SymbolRef| {
            let symbol = target.symbol()?;
            Some((symbol, module.symbols[symbol].link?))
        };
        for call in &module.calls[row.calls] {
            if call.kind == CallKind::AddressTaken
                && is_taken(module, call.from)
                && let Some((_, link)) = link_of(call.from)
            {
                *self.known(module, link) = Some(call.prototype);
            }
        }
        for record in &module.prototypes[row.prototypes] {
            let Some((symbol, link)) = link_of(record.function) else {
                continue;
            };
            let here = record.prototype;
            let known = self.known(module, link);
            let Some(before) = known.filter(|before| *before != here) else {
                *known = Some(here);
                continue;
            };
            if module
                .toolkit
                .is_system_function(module.symbols[symbol].name)
                && without_registers(before) == without_registers(here)
            {
                *known = Some(here);
                continue;
            }
            mismatch(Mismatch {
                symbol,
                link,
                here,
                known: before,
            });
        }
    }

    fn known(&mut self, module: &Module<'_>, link: LinkSymbolId) -> &mut Option<&'data [u8]> {
        if self.known.len() <= link.index() {
            self.known.resize(module.link_symbols.len(), None);
        }
        &mut self.known[link.index()]
    }
}

/// Returns the part of a prototype with the types of results and parameters.
fn without_registers(prototype: &[u8]) -> &[u8] {
    prototype
        .split(|byte| *byte == b'|')
        .next()
        .unwrap_or_default()
}
