//! Where a link looks for libraries and compilers: `--print-search-dirs`.

use super::CompileOptions;
use super::lto;
use super::nvjitlink::NvJitLink;
use crate::input::DiscoverOptions;

/// Returns a line for the libraries of `-l`, for ptxas and for libnvJitLink: where they are looked
/// for, and what is found. Nothing is opened.
pub fn search_dirs(discover: &DiscoverOptions<'_>, compile: &CompileOptions) -> String {
    let path = discover.search_path();
    let folders: Vec<&str> = path.folders().collect();
    let ptxas = match compile.tools.ptxas() {
        Ok(path) => path.display().to_string(),
        Err(missing) => format!("not found; looked at {}", missing.looked_at()),
    };
    let library = NvJitLink::find(compile.lto.library.as_deref(), &lto::folders(compile));
    let library = match library.components().count() {
        1 => format!("{}, which the loader looks for", library.display()),
        _ => library.display().to_string(),
    };
    format!(
        "libraries: {}\nptxas: {ptxas}\nlibnvJitLink: {library}\n",
        match folders.is_empty() {
            true => "no folder is given".to_owned(),
            false => folders.join(":"),
        }
    )
}
