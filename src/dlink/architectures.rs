//! For which targets inputs have code: `--arch all`.

use std::collections::BTreeSet;

use cuweld_elf::Target;

use crate::input::InputArena;
use crate::input::archive;
use crate::input::fatbin;
use crate::input::fatbin::MemberKind;
use crate::input::host_object::DeviceCode;
use crate::input::host_object::HostObject;
use crate::input::identify::FileKind;
use crate::input::identify::device_elf_sm;
use crate::input::identify::elf_kind;
use crate::input::identify::identify;
use crate::input::mapped::load;

/// The targets that an input has code for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputTargets {
    /// The input's name.
    pub input: String,
    /// The targets, in their order.
    pub targets: BTreeSet<Target>,
}

/// Finds the targets of the inputs that have code to link. What cannot be read is left out: the
/// links say why.
pub fn targets_of(inputs: &[String], arena: &InputArena) -> Vec<InputTargets> {
    let found = inputs.iter().map(|input| {
        let bytes = load(input, arena).unwrap_or_default();
        let mut targets = BTreeSet::new();
        match identify(input, bytes, false) {
            Ok(FileKind::Archive) => {
                let members = archive::members(bytes).members.into_iter();
                let members = members.filter_map(|member| member.data);
                members.for_each(|bytes| of_host_object(bytes, &mut targets));
            }
            Ok(FileKind::HostObject) => of_host_object(bytes, &mut targets),
            Ok(FileKind::Fatbin) => of_fatbin(bytes, &mut targets),
            Ok(FileKind::Cubin) => {
                let sm = device_elf_sm(bytes).map(|sm| format!("sm_{sm}"));
                targets.extend(sm.and_then(|name| Target::parse(&name)));
            }
            _ => {}
        }
        InputTargets {
            input: input.clone(),
            targets,
        }
    });
    found.filter(|input| !input.targets.is_empty()).collect()
}

/// Returns the targets that all inputs have code for.
pub fn common(inputs: &[InputTargets]) -> Vec<Target> {
    let mut inputs = inputs.iter();
    let mut targets = inputs.next().map(|input| input.targets.clone());
    for input in inputs {
        if let Some(targets) = &mut targets {
            targets.retain(|target| input.targets.contains(target));
        }
    }
    targets.into_iter().flatten().collect()
}

fn of_host_object(bytes: &[u8], targets: &mut BTreeSet<Target>) {
    if elf_kind(bytes).is_some()
        && let Ok(host) = HostObject::parse(bytes)
        && let DeviceCode::Relocatable { fatbin, .. } = host.device_code
    {
        of_fatbin(fatbin, targets);
    }
}

fn of_fatbin(bytes: &[u8], targets: &mut BTreeSet<Target>) {
    let members = fatbin::parse(bytes).unwrap_or_default();
    let code = members
        .iter()
        .filter(|member| member.kind() == MemberKind::Elf && member.is_visible());
    targets.extend(code.filter_map(|member| member.arch()));
}
