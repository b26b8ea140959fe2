//! Rows of a module as objects of Python: an id and the module, fields are properties.
//!
//! A row holds nothing of the module. Rows are never removed from a module, so that an id stays that
//! of its row; one that a plugin took out all the same is an `IndexError`.

mod fields;
mod objects;
mod records;
mod symbols;

use cuweld_demangle::demangle;
use cuweld_ir::AttributeId;
use cuweld_ir::CallId;
use cuweld_ir::FunctionId;
use cuweld_ir::IdRange;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::ObjectId;
use cuweld_ir::RelocId;
use cuweld_ir::SectionId;
use cuweld_ir::SymbolId;
use cuweld_ir::table::EntityId;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PySlice;
use pyo3::types::PySliceIndices;
use pyo3::types::PyString;

pub use self::objects::Object;
pub use self::objects::Section;
pub use self::records::Attribute;
pub use self::records::Call;
pub use self::records::LinkSymbol;
pub use self::records::Relocation;
pub use self::symbols::Function;
pub use self::symbols::Symbol;
use crate::module::IrModule;
use crate::module::Module;

/// The tables that have rows of their own in Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Table {
    Objects,
    Sections,
    Symbols,
    Functions,
    Relocations,
    Attributes,
    Calls,
    LinkSymbols,
}

impl Table {
    const ALL: [Table; 8] = [
        Table::Objects,
        Table::Sections,
        Table::Symbols,
        Table::Functions,
        Table::Relocations,
        Table::Attributes,
        Table::Calls,
        Table::LinkSymbols,
    ];

    /// Returns what ids begin with in the text form.
    fn prefix(self) -> &'static str {
        match self {
            Table::Objects => ObjectId::PREFIX,
            Table::Sections => SectionId::PREFIX,
            Table::Symbols => SymbolId::PREFIX,
            Table::Functions => FunctionId::PREFIX,
            Table::Relocations => RelocId::PREFIX,
            Table::Attributes => AttributeId::PREFIX,
            Table::Calls => CallId::PREFIX,
            Table::LinkSymbols => LinkSymbolId::PREFIX,
        }
    }

    fn rows(self, module: &IrModule<'_>) -> usize {
        match self {
            Table::Objects => module.objects.len(),
            Table::Sections => module.sections.len(),
            Table::Symbols => module.symbols.len(),
            Table::Functions => module.functions.len(),
            Table::Relocations => module.relocs.len(),
            Table::Attributes => module.attributes.len(),
            Table::Calls => module.calls.len(),
            Table::LinkSymbols => module.link_symbols.len(),
        }
    }

    /// Returns the name of a row; empty for rows without one, and for none.
    fn name<'data>(self, module: &IrModule<'data>, index: usize) -> &'data [u8] {
        let symbol = match self {
            Table::Objects => {
                let object = module.objects.get(ObjectId::new(index));
                return object.map_or(b"", |row| row.name);
            }
            Table::Sections => {
                let section = module.sections.get(SectionId::new(index));
                return section.map_or(b"", |row| row.name);
            }
            Table::Symbols => Some(SymbolId::new(index)),
            Table::Functions => {
                let function = module.functions.get(FunctionId::new(index));
                function.map(|row| row.symbol)
            }
            Table::LinkSymbols => {
                let link = module.link_symbols.get(LinkSymbolId::new(index));
                link.map(|row| row.first)
            }
            Table::Relocations | Table::Attributes | Table::Calls => None,
        };
        let symbol = symbol.and_then(|symbol| module.symbols.get(symbol));
        symbol.map_or(b"", |row| row.name)
    }

    /// Returns table and index of a row with an id of the text form.
    pub fn parse(id: &str, module: &IrModule<'_>) -> Option<(Self, usize)> {
        let digits = id.find(|letter: char| letter.is_ascii_digit())?;
        let (prefix, number) = id.split_at_checked(digits)?;
        let index: usize = number.parse().ok()?;
        let mut tables = Table::ALL.into_iter();
        let table = tables.find(|table| table.prefix() == prefix)?;
        (index < table.rows(module)).then_some((table, index))
    }
}

/// A row of a module.
#[pyclass(frozen, subclass, module = "cuweld")]
pub struct Row {
    module: Py<Module>,
    table: Table,
    index: usize,
}

impl Row {
    fn new(module: &Bound<'_, Module>, table: Table, index: usize) -> Self {
        Row {
            module: module.clone().unbind(),
            table,
            index,
        }
    }

    /// Returns the index, in a module that has the row.
    fn check(&self, module: &IrModule<'_>) -> PyResult<()> {
        match self.index < self.table.rows(module) {
            true => Ok(()),
            false => Err(PyIndexError::new_err(format!(
                "there is no row {}",
                self.id()
            ))),
        }
    }

    /// Reads something of the module, which has the row.
    fn read<R>(&self, read: impl for<'data> FnOnce(&IrModule<'data>) -> R) -> PyResult<R> {
        self.module.get().with(|_, module| {
            self.check(module)?;
            Ok(read(module))
        })?
    }

    /// Changes the module, which has the row. The function returns whether it has changed anything.
    fn change(
        &self,
        change: impl for<'data> FnOnce(&'data cuweld_ir::Arena, &mut IrModule<'data>) -> PyResult<bool>,
    ) -> PyResult<()> {
        self.module.get().change(|arena, module| {
            self.check(module)?;
            change(arena, module)
        })
    }
}

#[pymethods]
impl Row {
    /// Its id in the text form, such as `fn3`.
    #[getter]
    pub fn id(&self) -> String {
        format!("{}{}", self.table.prefix(), self.index)
    }

    /// Its place in the table.
    #[getter]
    fn index(&self) -> usize {
        self.index
    }

    /// The module that has it.
    #[getter]
    fn module(&self, py: Python<'_>) -> Py<Module> {
        self.module.clone_ref(py)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Row>().is_ok_and(|other| {
            let other = other.get();
            self.module.is(&other.module) && (self.table, self.index) == (other.table, other.index)
        })
    }

    fn __hash__(&self) -> u64 {
        (self.module.as_ptr() as u64)
            .wrapping_mul(31)
            .wrapping_add(self.table as u64)
            .wrapping_mul(31)
            .wrapping_add(self.index as u64)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let row = slf.get();
        let class = slf.get_type().name()?.to_string();
        let name = row
            .read(|module| String::from_utf8_lossy(row.table.name(module, row.index)).into_owned());
        Ok(match name {
            Ok(name) if !name.is_empty() => format!("<{class} {} {name}>", row.id()),
            _ => format!("<{class} {}>", row.id()),
        })
    }
}

/// Makes the object of a row.
pub fn row(module: &Bound<'_, Module>, table: Table, index: usize) -> PyResult<Py<PyAny>> {
    macro_rules! made {
        ($class:ident) => {{
            let row = PyClassInitializer::from(Row::new(module, table, index));
            Ok(Py::new(module.py(), row.add_subclass($class))?.into_any())
        }};
    }
    match table {
        Table::Objects => made!(Object),
        Table::Sections => made!(Section),
        Table::Symbols => made!(Symbol),
        Table::Functions => made!(Function),
        Table::Relocations => made!(Relocation),
        Table::Attributes => made!(Attribute),
        Table::Calls => made!(Call),
        Table::LinkSymbols => made!(LinkSymbol),
    }
}

/// Makes a text of a name, which may be any bytes: what is no UTF-8 becomes surrogates.
pub fn name_text(py: Python<'_>, name: &[u8]) -> PyResult<Py<PyString>> {
    match std::str::from_utf8(name) {
        Ok(text) => Ok(PyString::new(py, text).unbind()),
        Err(_) => {
            let bytes = pyo3::types::PyBytes::new(py, name);
            let text = bytes.call_method1("decode", ("utf-8", "surrogateescape"))?;
            Ok(text.cast_into::<PyString>()?.unbind())
        }
    }
}

/// Returns the bytes of a name that [`name_text`] may have made.
pub fn name_bytes(name: &Bound<'_, PyString>) -> PyResult<Vec<u8>> {
    if let Ok(text) = name.to_cow() {
        return Ok(text.as_bytes().to_vec());
    }
    name.call_method1("encode", ("utf-8", "surrogateescape"))?
        .extract()
}

/// Some rows of a table, in order.
#[pyclass(frozen, sequence, module = "cuweld")]
pub struct Rows {
    module: Py<Module>,
    table: Table,
    start: usize,
    end: usize,
}

impl Rows {
    /// All rows that a module has now.
    pub fn all(module: &Bound<'_, Module>, table: Table) -> PyResult<Self> {
        let end = module.get().with(|_, module| table.rows(module))?;
        Ok(Rows {
            module: module.clone().unbind(),
            table,
            start: 0,
            end,
        })
    }

    fn of_range<K: EntityId>(row: &Row, py: Python<'_>, table: Table, range: IdRange<K>) -> Self {
        Rows {
            module: row.module.clone_ref(py),
            table,
            start: range.start(),
            end: range.end(),
        }
    }
}

#[pymethods]
impl Rows {
    fn __len__(&self) -> usize {
        self.end - self.start
    }

    fn __getitem__(&self, index: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let py = index.py();
        let module = self.module.bind(py);
        let length = self.__len__() as isize;
        if let Ok(slice) = index.cast::<PySlice>() {
            let PySliceIndices {
                start,
                step,
                slicelength,
                ..
            } = slice.indices(length)?;
            let places = (0..slicelength as isize).map(|number| start + number * step);
            let rows = places.map(|place| row(module, self.table, self.start + place as usize));
            let rows: Vec<_> = rows.collect::<PyResult<_>>()?;
            return Ok(rows.into_pyobject(py)?.unbind());
        }
        let index: isize = index.extract()?;
        let place = if index < 0 { index + length } else { index };
        match (0..length).contains(&place) {
            true => row(module, self.table, self.start + place as usize),
            false => Err(PyIndexError::new_err("there is no such row")),
        }
    }

    fn __iter__(slf: &Bound<'_, Self>) -> RowIterator {
        let rows = slf.get();
        RowIterator {
            module: rows.module.clone_ref(slf.py()),
            table: rows.table,
            next: rows.start.into(),
            end: rows.end,
        }
    }

    fn __contains__(&self, row: &Bound<'_, PyAny>) -> bool {
        row.cast::<Row>().is_ok_and(|row| {
            let row = row.get();
            let range = self.start..self.end;
            self.module.is(&row.module) && self.table == row.table && range.contains(&row.index)
        })
    }

    /// Lists the rows with a name, in the file or as in the source. Linear in the number of rows.
    fn named(&self, py: Python<'_>, name: &Bound<'_, PyString>) -> PyResult<Vec<Py<PyAny>>> {
        let wanted = name_bytes(name)?;
        let source = String::from_utf8_lossy(&wanted).into_owned();
        let found = self.module.get().with(|_, module| {
            let by = |is_it: &dyn Fn(&[u8]) -> bool| -> Vec<usize> {
                let rows = self.start..self.end;
                rows.filter(|row| is_it(self.table.name(module, *row)))
                    .collect()
            };
            let found = by(&|name| name == wanted);
            match found.is_empty() {
                true => by(&|name| demangle(name).is_some_and(|name| name == source)),
                false => found,
            }
        })?;
        let module = self.module.bind(py);
        let rows = found
            .into_iter()
            .map(|index| row(module, self.table, index));
        rows.collect()
    }

    fn __repr__(&self) -> String {
        format!("<Rows {}{}..{}>", self.table.prefix(), self.start, self.end)
    }
}

/// Walks over rows.
#[pyclass(frozen, module = "cuweld")]
pub struct RowIterator {
    module: Py<Module>,
    table: Table,
    next: std::sync::atomic::AtomicUsize,
    end: usize,
}

#[pymethods]
impl RowIterator {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let next = self.next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        match next < self.end {
            true => row(self.module.bind(py), self.table, next).map(Some),
            false => Ok(None),
        }
    }
}
