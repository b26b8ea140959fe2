//! The file of `--register-link-binaries`: which modules a device link took in, for the host stub
//! that registers them at program start.

use std::fmt::Write;

use cuweld_ir::Module;

use crate::input::DeviceInput;
use crate::input::SkipReason;
use crate::input::default_id;

/// Returns the text of the file: the first id of each linked input in link order, then the further
/// ids of inputs that have several, the last first.
///
/// `folder` is the current directory; an input without ids has one made of its path.
pub fn registration(inputs: &[DeviceInput<'_>], module: &Module<'_>, folder: &str) -> String {
    let mut objects = module.objects.values().peekable();
    let mut first: Vec<String> = Vec::new();
    let mut further: Vec<String> = Vec::new();
    for input in inputs {
        let ids: Vec<String> = input
            .module_ids
            .ids
            .iter()
            .map(|id| String::from_utf8_lossy(id).into_owned())
            .collect();
        match input.skip {
            Some(SkipReason::Stub | SkipReason::RawPtx) => continue,
            Some(SkipReason::AlreadyLinked) => {
                further.extend(ids.into_iter().skip(1));
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
        let left_out = match object {
            Some(object) => !object.state.is_included(),
            None => input.image.is_some() || input.system_library,
        };
        if left_out || input.continues {
            continue;
        }
        let mut ids = ids.into_iter();
        first.push(
            ids.next()
                .unwrap_or_else(|| default_id(folder, &input.to_string())),
        );
        further.extend(ids);
    }
    text_of(&first, &further)
}

/// Returns the text of the file for a program that was optimised as a whole: the last input comes
/// first.
pub fn registration_of_program(inputs: &[DeviceInput<'_>], folder: &str) -> String {
    let (mut first, mut further) = (Vec::new(), Vec::new());
    let linked = inputs
        .iter()
        .filter(|input| input.skip.is_none() && !input.system_library && !input.continues);
    for input in linked.rev() {
        let mut ids = input
            .module_ids
            .ids
            .iter()
            .map(|id| String::from_utf8_lossy(id).into_owned());
        first.push(
            ids.next()
                .unwrap_or_else(|| default_id(folder, &input.to_string())),
        );
        further.extend(ids);
    }
    text_of(&first, &further)
}

fn text_of(first: &[String], further: &[String]) -> String {
    let mut text = String::new();
    let all = first.iter().chain(further.iter().rev());
    let _ = writeln!(
        text,
        "#define NUM_PRELINKED_OBJECTS {}",
        all.clone().count()
    );
    for id in all {
        let _ = writeln!(text, "DEFINE_REGISTER_FUNC({id})");
    }
    text
}
