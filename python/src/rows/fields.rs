//! What fields of rows refer to, and until when they can be changed.

use cuweld_ir::Phase;
use cuweld_ir::SymbolRef;
use cuweld_ir::table::EntityId;
use pyo3::exceptions::PyTypeError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::Row;
use super::Table;
use super::row;
use crate::module::IrModule;

/// The phases in which a name can be changed: after `classify` has found out what belongs together,
/// before it is decided what names refer to.
pub const NAMES: [Phase; 2] = [Phase::Classified, Phase::Resolved];

/// A row that a field refers to.
pub type Referred = (Table, usize);

/// Makes the object of what a field refers to.
pub fn referred(
    row_of: &Row,
    py: Python<'_>,
    referred: Option<Referred>,
) -> PyResult<Option<Py<PyAny>>> {
    let module = row_of.module.bind(py);
    referred
        .map(|(table, index)| row(module, table, index))
        .transpose()
}

/// Makes the objects of rows.
pub fn all_referred(
    row_of: &Row,
    py: Python<'_>,
    rows: impl Iterator<Item = Referred>,
) -> PyResult<Vec<Py<PyAny>>> {
    let module = row_of.module.bind(py);
    rows.map(|(table, index)| row(module, table, index))
        .collect()
}

/// Returns what an optional id of a table refers to.
pub fn to(table: Table, id: Option<impl EntityId>) -> Option<Referred> {
    id.map(|id| (table, id.index()))
}

/// Returns what a symbol index of a file refers to.
pub fn target(reference: SymbolRef) -> Option<Referred> {
    match reference {
        SymbolRef::None => None,
        SymbolRef::Symbol(id) => Some((Table::Symbols, id.index())),
        SymbolRef::Section(id) => Some((Table::Sections, id.index())),
    }
}

/// Returns the symbol or section of the same module that a Python object is.
pub fn as_target(row_of: &Row, value: Option<&Bound<'_, PyAny>>) -> PyResult<SymbolRef> {
    let Some(value) = value else {
        return Ok(SymbolRef::None);
    };
    let wrong = || PyTypeError::new_err("a Symbol or a Section of the same module, or None");
    let value = value.cast::<Row>().map_err(|_| wrong())?.get();
    if !value.module.is(&row_of.module) {
        return Err(wrong());
    }
    match value.table {
        Table::Symbols => Ok(SymbolRef::Symbol(EntityId::new(value.index))),
        Table::Sections => Ok(SymbolRef::Section(EntityId::new(value.index))),
        _ => Err(wrong()),
    }
}

/// Refuses a change of a field that has no effect, or a wrong one, in the module's phase.
pub fn changeable(module: &IrModule<'_>, what: &str, [from, until]: [Phase; 2]) -> PyResult<()> {
    if (from..until).contains(&module.phase) {
        return Ok(());
    }
    let (from, until, is) = (from.name(), until.name(), module.phase.name());
    Err(PyValueError::new_err(format!(
        "{what} can be changed from '{from}' on until the module is '{until}'; it is '{is}'"
    )))
}

/// Returns the value with a name, or an error that lists the names.
pub fn named<T>(
    value: Option<T>,
    name: &str,
    names: impl IntoIterator<Item = &'static str>,
) -> PyResult<T> {
    value.ok_or_else(|| {
        let names: Vec<&str> = names.into_iter().collect();
        PyValueError::new_err(format!("'{name}' is none of {}", names.join(", ")))
    })
}

/// Sets a field. Returns whether that changed it.
pub fn set<T: PartialEq>(field: &mut T, value: T) -> bool {
    let is_new = *field != value;
    *field = value;
    is_new
}
