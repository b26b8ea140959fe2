//! The Python package of cuweld: what `cuweld/__init__.py` is made of.

mod files;
mod findings;
mod index;
mod linker;
mod module;
mod pass;
mod rows;

use pyo3::prelude::*;

/// The part of the package that is in Rust.
#[pymodule]
mod _cuweld {
    #[pymodule_export]
    use crate::files::diff;
    #[pymodule_export]
    use crate::files::disasm;
    #[pymodule_export]
    use crate::files::inspect;
    #[pymodule_export]
    use crate::files::size;
    #[pymodule_export]
    use crate::findings::Finding;
    #[pymodule_export]
    use crate::linker::InputError;
    #[pymodule_export]
    use crate::linker::LinkCancelled;
    #[pymodule_export]
    use crate::linker::LinkError;
    #[pymodule_export]
    use crate::linker::Linked;
    #[pymodule_export]
    use crate::linker::Linker;
    #[pymodule_export]
    use crate::linker::Ran;
    #[pymodule_export]
    use crate::linker::SettingError;
    #[pymodule_export]
    use crate::module::Module;
    #[pymodule_export]
    use crate::pass::PassContext;
    #[pymodule_export]
    use crate::pass::phases;
    #[pymodule_export]
    use crate::rows::Attribute;
    #[pymodule_export]
    use crate::rows::Call;
    #[pymodule_export]
    use crate::rows::Function;
    #[pymodule_export]
    use crate::rows::LinkSymbol;
    #[pymodule_export]
    use crate::rows::Object;
    #[pymodule_export]
    use crate::rows::Relocation;
    #[pymodule_export]
    use crate::rows::Row;
    #[pymodule_export]
    use crate::rows::Rows;
    #[pymodule_export]
    use crate::rows::Section;
    #[pymodule_export]
    use crate::rows::Symbol;
}
