//! The Python package of cuweld: what `cuweld/__init__.py` is made of.

mod findings;
mod linker;

use pyo3::prelude::*;

/// The part of the package that is in Rust.
#[pymodule]
mod _cuweld {
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
    use crate::linker::SettingError;
}
