//! Why an object takes part, or does not.

use cuweld_ir::Module;
use cuweld_ir::Object;
use cuweld_ir::ObjectId;
use cuweld_ir::ObjectState;

use crate::link::select_objects::Awaited;

/// Says of each object whose file or member ends with this name why it takes part or does not.
/// Linear in the link.
pub(super) fn explain(module: &Module<'_>, name: &str) -> String {
    let mut text = String::new();
    let mut awaited = Awaited::default();
    for (id, object) in module.objects.iter() {
        if object.state != ObjectState::Linker && is_named(object, name) {
            let why = reason(module, id, &awaited);
            text.push_str(&format!("'{}' {why}\n", object.display()));
        }
        if object.state == ObjectState::Included {
            awaited.add(module, object);
        }
    }
    if text.is_empty() {
        return format!("'{name}': no object of the link\n");
    }
    text
}

/// Returns `true` if a name is that of a file or a member, or the last parts of a path.
fn is_named(object: &Object<'_>, name: &str) -> bool {
    let ends = |whole: &[u8]| {
        let before = whole.strip_suffix(name.as_bytes());
        before.is_some_and(|before| before.is_empty() || before.ends_with(b"/"))
    };
    ends(object.name) || ends(object.member) || object.display() == name
}

fn reason(module: &Module<'_>, id: ObjectId, awaited: &Awaited<'_>) -> String {
    let object = &module.objects[id];
    match object.state {
        ObjectState::SkippedExecutable => "takes no part: it is a finished executable".to_owned(),
        ObjectState::SkippedUnneeded => {
            "takes no part: when it is its turn, no function is undefined that the driver does not provide".to_owned()
        }
        ObjectState::Candidate | ObjectState::Linker => "is not decided".to_owned(),
        ObjectState::Included if !object.system_library => {
            "takes part: objects and members of libraries do, all but those of the device runtime".to_owned()
        }
        ObjectState::Included if module.options.keep_system_libraries => {
            "takes part: -keep-system-libraries".to_owned()
        }
        ObjectState::Included => match first_awaited(module, id, awaited) {
            Some((name, user)) => {
                format!("takes part: when it is its turn, '{name}' is undefined, which '{user}' needs")
            }
            None => "takes part".to_owned(),
        },
    }
}

/// Returns the first name that objects before this one wait for, and the object that does.
fn first_awaited(
    module: &Module<'_>,
    id: ObjectId,
    awaited: &Awaited<'_>,
) -> Option<(String, String)> {
    let before = module
        .included_objects()
        .take_while(|(other, _)| *other < id);
    for (_, object) in before {
        let mut symbols = module.symbols[object.symbols].iter();
        if let Some(symbol) = symbols.find(|symbol| awaited.waits_for(symbol)) {
            let name = String::from_utf8_lossy(symbol.name).into_owned();
            return Some((name, object.display()));
        }
    }
    None
}
