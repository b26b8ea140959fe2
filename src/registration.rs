//! The file of `--register-link-binaries`: which modules a device link took in, for the host stub
//! that registers them at program start.

use std::collections::BTreeMap;
use std::fmt::Write;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::link;
use cuweld_ir::Module;
use cuweld_passes::link::select_objects::links_runtime;

use crate::input::DeviceInput;
use crate::input::SkipReason;
use crate::input::default_id;

/// What is registered.
pub struct Registration {
    /// The ids of the modules.
    pub module_ids: Vec<String>,
    /// A remark on each module id that several inputs have.
    repeated: Vec<Diagnostic>,
}

impl Registration {
    /// Returns the text of the file.
    pub fn text(&self) -> String {
        let ids = &self.module_ids;
        let mut text = format!("#define NUM_PRELINKED_OBJECTS {}\n", ids.len());
        for id in ids {
            let _ = writeln!(text, "DEFINE_REGISTER_FUNC({id})");
        }
        text
    }

    /// Takes what there is to remark.
    pub fn remarks(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.repeated)
    }
}

/// A module id, and the input that has it.
struct Id {
    id: String,
    input: String,
}

/// Returns what is registered: the first id of each linked input in link order, then the further
/// ids of inputs that have several, the last first.
///
/// `folder` is the current directory; an input without ids has one made of its path.
pub fn registration(inputs: &[DeviceInput<'_>], module: &Module<'_>, folder: &str) -> Registration {
    let mut objects = module.objects.values().peekable();
    let mut passed = 0;
    let mut first: Vec<Id> = Vec::new();
    let mut further: Vec<Id> = Vec::new();
    for input in inputs {
        let mut ids = ids(input);
        match input.skip {
            Some(SkipReason::Stub | SkipReason::RawPtx | SkipReason::NoCode) => continue,
            Some(SkipReason::AlreadyLinked) => {
                further.extend(ids.skip(1));
                continue;
            }
            None => {}
        }
        let member = input.member.as_deref().unwrap_or("");
        let object = input.image.and_then(|_| {
            objects.next_if(|object| {
                object.name == input.path.as_bytes() && object.member == member.as_bytes()
            })
        });
        passed += usize::from(object.is_some());
        let left_out = match object {
            Some(object) => !object.state.is_included(),
            None if input.image.is_some() => true,
            // The device runtime without code for the target, as if it had some.
            None => input.system_library && !links_runtime(module, passed),
        };
        if left_out || input.continues {
            continue;
        }
        first.push(ids.next().unwrap_or_else(|| own_id(input, folder)));
        further.extend(ids);
    }
    of(&first, &further)
}

fn ids(input: &DeviceInput<'_>) -> impl Iterator<Item = Id> {
    input.module_ids.ids.iter().map(|id| Id {
        id: String::from_utf8_lossy(id).into_owned(),
        input: input.to_string(),
    })
}

/// Returns the id of an input without any.
fn own_id(input: &DeviceInput<'_>, folder: &str) -> Id {
    let input = input.to_string();
    Id {
        id: default_id(folder, &input),
        input,
    }
}

/// Returns what is registered of a program that was optimised as a whole: the last input comes
/// first. `keeps_runtime` says that the device runtime is part of it (`-keep-system-libraries`).
pub fn registration_of_program(
    inputs: &[DeviceInput<'_>],
    folder: &str,
    keeps_runtime: bool,
) -> Registration {
    let (mut first, mut further) = (Vec::new(), Vec::new());
    let linked = inputs
        .iter()
        .filter(|input| input.skip.is_none() && !input.continues)
        .filter(|input| keeps_runtime || !input.system_library);
    for input in linked.rev() {
        let mut ids = ids(input);
        first.push(ids.next().unwrap_or_else(|| own_id(input, folder)));
        further.extend(ids);
    }
    of(&first, &further)
}

fn of(first: &[Id], further: &[Id]) -> Registration {
    let all = first.iter().chain(further.iter().rev());
    let module_ids = all.clone().map(|Id { id, .. }| id.clone()).collect();
    let mut known: BTreeMap<&str, &str> = BTreeMap::new();
    let mut repeated = Vec::new();
    for Id { id, input } in all {
        if let Some(other) = known.insert(id, input) {
            let message = format!(
                "'{other}' and '{input}' have one module id, '{id}': the host's linker will find two definitions for it"
            );
            let note = "compile one of them from a source of another name, or in another folder";
            repeated.push(Diagnostic::remark(link::REPEATED_MODULE_ID, message).note(note));
        }
    }
    Registration {
        module_ids,
        repeated,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_ids_are_told() {
        let id = |id: &str, input: &str| Id {
            id: id.to_owned(),
            input: input.to_owned(),
        };
        let registration = of(
            &[id("_1_x_cu", "a/x.o"), id("_2_y_cu", "y.o")],
            &[id("_1_x_cu", "lib.a:x.o")],
        );
        assert_eq!(registration.text().matches("_1_x_cu").count(), 2);
        let said: Vec<String> = registration
            .repeated
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            said,
            [
                "'a/x.o' and 'lib.a:x.o' have one module id, '_1_x_cu': the host's linker will find two definitions for it"
            ]
        );
    }
}
