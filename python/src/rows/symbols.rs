//! Rows of symbols and functions.

use cuweld_demangle::demangle;
use cuweld_ir::Fate;
use cuweld_ir::FunctionId;
use cuweld_ir::Phase;
use cuweld_ir::SymbolId;
use cuweld_ir::SymbolPlace;
use cuweld_ir::table::EntityId;
use cuweld_ir::text::binding_by_name;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3::types::PyString;

use super::Row;
use super::Table;
use super::fields::NAMES;
use super::fields::all_referred;
use super::fields::changeable;
use super::fields::named;
use super::fields::referred;
use super::fields::set;
use super::fields::to;
use super::name_bytes;
use super::name_text;

/// A symbol of an object.
#[pyclass(frozen, extends = Row, module = "cuweld")]
pub struct Symbol;

#[pymethods]
impl Symbol {
    #[getter]
    fn object(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        let row = slf.as_super().get();
        let object = row.read(|module| module.symbols[SymbolId::new(row.index)].object)?;
        referred(row, slf.py(), to(Table::Objects, Some(object)))
    }

    #[getter]
    fn name(slf: &Bound<'_, Self>) -> PyResult<Py<PyString>> {
        let row = slf.as_super().get();
        let name = row.read(|module| module.symbols[SymbolId::new(row.index)].name.to_vec())?;
        name_text(slf.py(), &name)
    }

    #[setter]
    fn set_name(slf: &Bound<'_, Self>, name: &Bound<'_, PyString>) -> PyResult<()> {
        let (row, name) = (slf.as_super().get(), name_bytes(name)?);
        row.change(|arena, module| {
            changeable(module, "the name of a symbol", NAMES)?;
            let symbol = &mut module.symbols[SymbolId::new(row.index)];
            Ok(symbol.name != name && set(&mut symbol.name, arena.bytes(&name)))
        })
    }

    #[getter]
    fn demangled(slf: &Bound<'_, Self>) -> PyResult<Option<String>> {
        let row = slf.as_super().get();
        row.read(|module| demangle(module.symbols[SymbolId::new(row.index)].name))
    }

    #[getter]
    fn binding(slf: &Bound<'_, Self>) -> PyResult<String> {
        let row = slf.as_super().get();
        row.read(|module| {
            let symbol = &module.symbols[SymbolId::new(row.index)];
            symbol.binding_name().into_owned()
        })
    }

    #[setter]
    fn set_binding(slf: &Bound<'_, Self>, binding: &str) -> PyResult<()> {
        let row = slf.as_super().get();
        let names = ["LOCAL", "GLOBAL", "WEAK"];
        let binding = named(binding_by_name(binding), binding, names)?;
        row.change(|_, module| {
            changeable(module, "the binding of a symbol", NAMES)?;
            let symbol = &mut module.symbols[SymbolId::new(row.index)];
            Ok(set(&mut symbol.bind, binding))
        })
    }

    #[getter(r#type)]
    fn ty(slf: &Bound<'_, Self>) -> PyResult<String> {
        let row = slf.as_super().get();
        row.read(|module| {
            let symbol = &module.symbols[SymbolId::new(row.index)];
            symbol.type_name().into_owned()
        })
    }

    #[getter]
    fn is_kernel(slf: &Bound<'_, Self>) -> PyResult<bool> {
        let row = slf.as_super().get();
        row.read(|module| module.symbols[SymbolId::new(row.index)].is_entry())
    }

    #[getter]
    fn is_undefined(slf: &Bound<'_, Self>) -> PyResult<bool> {
        let row = slf.as_super().get();
        row.read(|module| module.symbols[SymbolId::new(row.index)].is_undefined())
    }

    #[getter]
    fn section(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        let row = slf.as_super().get();
        let place = row.read(|module| module.symbols[SymbolId::new(row.index)].place)?;
        let section = match place {
            SymbolPlace::Section(section) => Some(section),
            _ => None,
        };
        referred(row, slf.py(), to(Table::Sections, section))
    }

    #[getter]
    fn value(slf: &Bound<'_, Self>) -> PyResult<u64> {
        let row = slf.as_super().get();
        row.read(|module| module.symbols[SymbolId::new(row.index)].value)
    }

    #[setter]
    fn set_value(slf: &Bound<'_, Self>, value: u64) -> PyResult<()> {
        let row = slf.as_super().get();
        row.change(|_, module| {
            let phases = [Phase::Lowered, Phase::Resolved];
            changeable(module, "the value of a symbol", phases)?;
            let symbol = &mut module.symbols[SymbolId::new(row.index)];
            Ok(set(&mut symbol.value, value))
        })
    }

    #[getter]
    fn size(slf: &Bound<'_, Self>) -> PyResult<u64> {
        let row = slf.as_super().get();
        row.read(|module| module.symbols[SymbolId::new(row.index)].size)
    }

    #[setter]
    fn set_size(slf: &Bound<'_, Self>, size: u64) -> PyResult<()> {
        let row = slf.as_super().get();
        row.change(|_, module| {
            let phases = [Phase::Lowered, Phase::Resolved];
            changeable(module, "the size of a symbol", phases)?;
            let symbol = &mut module.symbols[SymbolId::new(row.index)];
            Ok(set(&mut symbol.size, size))
        })
    }

    #[getter]
    fn function(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        let row = slf.as_super().get();
        let function = row.read(|module| module.symbols[SymbolId::new(row.index)].function)?;
        referred(row, slf.py(), to(Table::Functions, function))
    }

    #[getter]
    fn link_symbol(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        let row = slf.as_super().get();
        let link = row.read(|module| module.symbols[SymbolId::new(row.index)].link)?;
        referred(row, slf.py(), to(Table::LinkSymbols, link))
    }
}

/// A defined function of an object.
#[pyclass(frozen, extends = Row, module = "cuweld")]
pub struct Function;

/// The phases in which what a function needs can be changed: after it was read, before what
/// kernels need is computed of it.
const NEEDS: [Phase; 2] = [Phase::Classified, Phase::Merged];

#[pymethods]
impl Function {
    #[getter]
    fn object(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        let row = slf.as_super().get();
        let object = row.read(|module| module.functions[FunctionId::new(row.index)].object)?;
        referred(row, slf.py(), to(Table::Objects, Some(object)))
    }

    #[getter]
    fn symbol(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        let row = slf.as_super().get();
        let symbol = row.read(|module| module.functions[FunctionId::new(row.index)].symbol)?;
        referred(row, slf.py(), to(Table::Symbols, Some(symbol)))
    }

    #[getter]
    fn name(slf: &Bound<'_, Self>) -> PyResult<Py<PyString>> {
        let row = slf.as_super().get();
        let name = row.read(|module| module.function_name(FunctionId::new(row.index)).to_vec())?;
        name_text(slf.py(), &name)
    }

    #[getter]
    fn demangled(slf: &Bound<'_, Self>) -> PyResult<Option<String>> {
        let row = slf.as_super().get();
        row.read(|module| demangle(module.function_name(FunctionId::new(row.index))))
    }

    #[getter]
    fn is_kernel(slf: &Bound<'_, Self>) -> PyResult<bool> {
        let row = slf.as_super().get();
        row.read(|module| {
            let symbol = module.functions[FunctionId::new(row.index)].symbol;
            module.symbols[symbol].is_entry()
        })
    }

    #[getter]
    fn section(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        let row = slf.as_super().get();
        let views = row.read(|module| module.functions[FunctionId::new(row.index)].views)?;
        referred(row, slf.py(), to(Table::Sections, Some(views.sass.text)))
    }

    #[getter]
    fn info_section(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        let row = slf.as_super().get();
        let views = row.read(|module| module.functions[FunctionId::new(row.index)].views)?;
        referred(row, slf.py(), to(Table::Sections, views.sass.info))
    }

    #[getter]
    fn mercury_section(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        let row = slf.as_super().get();
        let views = row.read(|module| module.functions[FunctionId::new(row.index)].views)?;
        let text = views.merc.map(|view| view.text);
        referred(row, slf.py(), to(Table::Sections, text))
    }

    #[getter]
    fn calls(slf: &Bound<'_, Self>) -> PyResult<Vec<Py<PyAny>>> {
        let row = slf.as_super().get();
        let symbol = row.read(|module| module.functions[FunctionId::new(row.index)].symbol)?;
        let index = row.module.get().index()?;
        let calls = index.calls(symbol).iter();
        let calls = calls.map(|id| (Table::Calls, id.index()));
        all_referred(row, slf.py(), calls)
    }

    #[getter]
    fn fate(slf: &Bound<'_, Self>) -> PyResult<&'static str> {
        let row = slf.as_super().get();
        row.read(|module| module.functions[FunctionId::new(row.index)].fate.name())
    }

    #[setter]
    fn set_fate(slf: &Bound<'_, Self>, fate: &str) -> PyResult<()> {
        let row = slf.as_super().get();
        let fate = named(Fate::from_name(fate), fate, Fate::names())?;
        row.change(|_, module| {
            let phases = [Phase::Resolved, Phase::Live];
            changeable(module, "the fate of a function", phases)?;
            let function = &mut module.functions[FunctionId::new(row.index)];
            Ok(set(&mut function.fate, fate))
        })
    }

    #[getter]
    fn is_live(slf: &Bound<'_, Self>) -> PyResult<bool> {
        let row = slf.as_super().get();
        row.read(|module| module.is_function_live(FunctionId::new(row.index)))
    }

    #[getter]
    fn registers(slf: &Bound<'_, Self>) -> PyResult<u32> {
        let row = slf.as_super().get();
        row.read(|module| module.functions[FunctionId::new(row.index)].registers)
    }

    #[setter]
    fn set_registers(slf: &Bound<'_, Self>, registers: u32) -> PyResult<()> {
        let row = slf.as_super().get();
        let id = FunctionId::new(row.index);
        let record = row.module.get().index()?.register_record(id);
        row.change(|arena, module| {
            changeable(module, "the registers of a function", NEEDS)?;
            let mut changed = set(&mut module.functions[id].registers, registers);
            if let Some(record) = record {
                let rest = &mut module.attributes[record].rest;
                let word = registers.to_le_bytes();
                if !rest.starts_with(&word) && rest.len() >= word.len() {
                    *rest = arena.joined(&word, &rest[word.len()..]);
                    changed = true;
                }
            }
            Ok(changed)
        })
    }

    #[getter]
    fn stack_limit(slf: &Bound<'_, Self>) -> PyResult<u32> {
        let row = slf.as_super().get();
        row.read(|module| module.functions[FunctionId::new(row.index)].stack_limit)
    }

    #[getter]
    fn size(slf: &Bound<'_, Self>) -> PyResult<u64> {
        let row = slf.as_super().get();
        row.read(|module| {
            let text = module.functions[FunctionId::new(row.index)].views.sass.text;
            module.sections[text].size()
        })
    }

    #[getter]
    fn code(slf: &Bound<'_, Self>) -> PyResult<Py<PyBytes>> {
        let row = slf.as_super().get();
        let code = row.read(|module| {
            let text = module.functions[FunctionId::new(row.index)].views.sass.text;
            module.sections[text].bytes().to_vec()
        })?;
        Ok(PyBytes::new(slf.py(), &code).unbind())
    }
}
