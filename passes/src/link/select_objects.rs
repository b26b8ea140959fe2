//! `select-objects`: which objects take part.
//!
//! Every object that fits the target was lowered as a candidate. Finished executables are ignored.
//! A member of NVIDIA's device runtime library takes part only if, at its turn, a function is
//! undefined that the driver does not provide, as it does `vprintf`; variables do not count
//! [runtime-when-needed]. `-keep-system-libraries` lifts the condition.

pub(crate) mod remarks;

use std::any::TypeId;

use cuweld_elf::raw::ET_EXEC;
use cuweld_elf::symbol::Binding;
use cuweld_elf::symbol::SymbolType;
use cuweld_ir::HostReferences;
use cuweld_ir::Module;
use cuweld_ir::Object;
use cuweld_ir::ObjectState;
use cuweld_ir::Phase;
use cuweld_ir::Symbol;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use crate::analyses::Kinds;
use crate::analyses::Preserved;
use crate::pass::Changed;
use crate::pass::Pass;
use crate::pass::PassCx;
use crate::pass::PassError;
use crate::pass::PassInfo;
use crate::remark::Remarks;

/// The `select-objects` pass.
#[derive(Debug, Default)]
pub struct SelectObjects;

impl Pass for SelectObjects {
    fn info(&self) -> PassInfo {
        PassInfo {
            name: "select-objects",
            summary: "Decide which objects take part in the link",
            doc: include_str!("select_objects.rs"),
            requires: Phase::Classified,
            establishes: Some(Phase::Selected),
            preserves: Preserved::Only(&[TypeId::of::<Kinds>]),
            remarks: remarks::KINDS,
            ..PassInfo::DEFAULT
        }
    }

    fn run<'data>(
        &self,
        module: &mut Module<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        let mut links_silent_library = false;
        let states = states(module);
        let ids: Vec<_> = module.objects.ids().collect();
        for (id, state) in ids.into_iter().zip(states) {
            let object = &module.objects[id];
            links_silent_library |=
                state.is_included() && object.system_library && object.is_silent;
            module.objects[id].state = state;
            let counter = if state.is_included() {
                "included"
            } else {
                "skipped"
            };
            cx.statistics.add(counter, 1);
        }
        // [runtime-silent-if-linked]
        if links_silent_library {
            let named = module.options.host.clone();
            module.options.host = HostReferences {
                kernels_used: named.kernels_used,
                variables_used: named.variables_used,
                ..HostReferences::default()
            };
        }
        Ok(Changed::Yes)
    }

    fn remarks(&self, module: &Module<'_>, remarks: &mut Remarks) {
        remarks::make(module, remarks);
    }
}

/// Returns what becomes of each object, in order.
pub(crate) fn states(module: &Module<'_>) -> Vec<ObjectState> {
    let has_library = module.objects.values().any(|object| object.system_library);
    let mut awaited = Awaited::default();
    let objects = module.objects.values();
    let states = objects.map(|object| {
        let needed =
            awaited.any() || module.options.keep_system_libraries || !object.system_library;
        let state = if object.e_type == ET_EXEC {
            ObjectState::SkippedExecutable
        } else if needed {
            ObjectState::Included
        } else {
            ObjectState::SkippedUnneeded
        };
        if state == ObjectState::Included && has_library {
            awaited.add(module, object);
        }
        state
    });
    states.collect()
}

/// Returns `true` if a part of the device runtime library takes part that comes after so many objects
/// of a module. Looks at the symbols of these.
pub fn links_runtime(module: &Module<'_>, after: usize) -> bool {
    let mut awaited = Awaited::default();
    let objects = module.objects.values().take(after);
    for object in objects.filter(|object| object.state.is_included()) {
        awaited.add(module, object);
    }
    module.options.keep_system_libraries || awaited.any()
}

/// Undefined functions that a device runtime library is linked for, as objects take part one by
/// one.
#[derive(Default)]
pub(crate) struct Awaited<'data> {
    /// Whether each name is defined so far, or need not be.
    defined: HashMap<&'data [u8], bool, FixedState>,
    undefined: usize,
}

impl<'data> Awaited<'data> {
    /// Returns `true` if any function is awaited.
    pub(crate) fn any(&self) -> bool {
        self.undefined > 0
    }

    /// Returns `true` if a symbol refers to a function that is.
    pub(crate) fn waits_for(&self, symbol: &Symbol<'_>) -> bool {
        self.defined.get(symbol.name) == Some(&false)
    }

    /// Adds the symbols of an object that takes part.
    pub(crate) fn add(&mut self, module: &Module<'data>, object: &Object<'data>) {
        for symbol in &module.symbols[object.symbols] {
            if symbol.bind == Binding::LOCAL || symbol.name.is_empty() {
                continue;
            }
            let is_defined = !symbol.is_undefined();
            let counts = symbol.bind == Binding::GLOBAL
                && symbol.ty == SymbolType::FUNC
                && !module.toolkit.is_system_function(symbol.name);
            match self.defined.entry(symbol.name) {
                Entry::Vacant(entry) => {
                    entry.insert(is_defined || !counts);
                    self.undefined += usize::from(!is_defined && counts);
                }
                Entry::Occupied(mut entry) => {
                    if is_defined && !std::mem::replace(entry.get_mut(), true) {
                        self.undefined -= 1;
                    }
                }
            }
        }
    }
}
