//! Why an object takes part, or does not.

use cuweld_ir::Module;
use cuweld_ir::Object;
use cuweld_ir::ObjectState;

use crate::link::select_objects::Awaited;
use crate::link::select_objects::remarks::about;
use crate::suggest::nearest;

/// Says of each object whose file or member ends with this name why it takes part or does not.
/// Linear in the link.
pub(super) fn explain(module: &Module<'_>, name: &str) -> String {
    let mut text = String::new();
    let mut awaited = Awaited::default();
    for (id, object) in module.objects.iter() {
        if object.state != ObjectState::Linker && is_named(object, name) {
            let why = about(module, id, &awaited);
            text.push_str(&format!("{}\n", why.message(module)));
        }
        if object.state == ObjectState::Included {
            awaited.add(module, object);
        }
    }
    if text.is_empty() {
        let objects = module.objects.values().flat_map(|object| {
            let file = object.name.rsplit(|byte| *byte == b'/').next();
            [object.name, object.member, file.unwrap_or(b"")]
        });
        let known = objects.filter_map(|name| std::str::from_utf8(name).ok());
        let meant = nearest(name, known).map(|near| format!("; did you mean '{near}'?"));
        let meant = meant.unwrap_or_default();
        return format!("'{name}': no object of the link{meant}\n");
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
