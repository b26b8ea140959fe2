//! The file of a link map: JSON if its name ends in `.json`, otherwise text.

use std::io;
use std::io::Write;
use std::path::Path;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::usage;
use cuweld_passes::reports::link_map::LinkMap;

use crate::file_name;
use crate::output::write_atomically;

/// Writes a map to a file, or to `stdout` if the path is `-`.
///
/// # Errors
///
/// Those of the system.
pub(crate) fn write(map: &LinkMap, path: &Path, stdout: &mut dyn Write) -> io::Result<()> {
    let bytes = contents(map, path)?;
    match path == Path::new("-") {
        true => stdout.write_all(&bytes),
        false => write_atomically(path, &bytes).map(drop),
    }
}

fn contents(map: &LinkMap, path: &Path) -> io::Result<Vec<u8>> {
    if path
        .extension()
        .is_some_and(|extension| extension == "json")
    {
        let mut json = serde_json::to_vec(map)?;
        json.push(b'\n');
        return Ok(json);
    }
    // Names that are no UTF-8 are written as they are.
    Ok(file_name::bytes(&map.to_string()).into_owned())
}

/// Says that a map was asked for and there is none.
pub(crate) fn missing() -> Diagnostic {
    let message = "no map is written: link-time optimisation made the whole program";
    Diagnostic::remark(usage::OUTPUT, message)
}
