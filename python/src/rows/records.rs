//! Rows of relocations, attribute records, the call graph, and of what names stand for.

use cuweld_demangle::demangle;
use cuweld_ir::AttributeId;
use cuweld_ir::CallId;
use cuweld_ir::LinkSymbolId;
use cuweld_ir::Liveness;
use cuweld_ir::Phase;
use cuweld_ir::RelocAction;
use cuweld_ir::RelocId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SymbolRef;
use cuweld_ir::attribute::format;
use cuweld_ir::table::EntityId;
use cuweld_ir::text::format_name;
use cuweld_ir::text::reloc_type_name;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use pyo3::types::PyString;

use super::Row;
use super::Table;
use super::fields::as_target;
use super::fields::changeable;
use super::fields::named;
use super::fields::referred;
use super::fields::set;
use super::fields::target;
use super::fields::to;
use super::name_text;

/// A relocation.
#[pyclass(frozen, extends = Row, module = "cuweld")]
pub struct Relocation;

/// The phases in which a relocation can be changed: until it is known what becomes of it.
const UNPLANNED: [Phase; 2] = [Phase::Lowered, Phase::Planned];

#[pymethods]
impl Relocation {
    #[getter]
    fn section(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        let row = slf.as_super().get();
        let section = row.read(|module| module.relocs[RelocId::new(row.index)].section)?;
        referred(row, slf.py(), to(Table::Sections, Some(section)))
    }

    #[getter]
    fn applies_to(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        let row = slf.as_super().get();
        let info = row.read(|module| {
            let section = module.relocs[RelocId::new(row.index)].section;
            module.sections[section].info
        })?;
        let section = match info {
            SectionInfo::Section(section) => Some(section),
            _ => None,
        };
        referred(row, slf.py(), to(Table::Sections, section))
    }

    #[getter]
    fn offset(slf: &Bound<'_, Self>) -> PyResult<u64> {
        let row = slf.as_super().get();
        row.read(|module| module.relocs[RelocId::new(row.index)].offset)
    }

    #[getter(r#type)]
    fn ty(slf: &Bound<'_, Self>) -> PyResult<String> {
        let row = slf.as_super().get();
        let ty = row.read(|module| module.relocs[RelocId::new(row.index)].ty)?;
        Ok(reloc_type_name(ty).into_owned())
    }

    #[getter]
    fn target(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        let row = slf.as_super().get();
        let of = row.read(|module| module.relocs[RelocId::new(row.index)].target)?;
        referred(row, slf.py(), target(of))
    }

    #[setter]
    fn set_target(slf: &Bound<'_, Self>, value: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let row = slf.as_super().get();
        let new = as_target(row, value)?;
        row.change(|_, module| {
            changeable(module, "the target of a relocation", UNPLANNED)?;
            let reloc = &mut module.relocs[RelocId::new(row.index)];
            Ok(set(&mut reloc.target, new))
        })
    }

    #[getter]
    fn addend(slf: &Bound<'_, Self>) -> PyResult<i64> {
        let row = slf.as_super().get();
        row.read(|module| module.relocs[RelocId::new(row.index)].addend)
    }

    #[setter]
    fn set_addend(slf: &Bound<'_, Self>, addend: i64) -> PyResult<()> {
        let row = slf.as_super().get();
        row.change(|_, module| {
            changeable(module, "the addend of a relocation", UNPLANNED)?;
            let reloc = &mut module.relocs[RelocId::new(row.index)];
            Ok(set(&mut reloc.addend, addend))
        })
    }

    #[getter]
    fn action(slf: &Bound<'_, Self>) -> PyResult<&'static str> {
        let row = slf.as_super().get();
        let plan = row.read(|module| module.relocs[RelocId::new(row.index)].plan)?;
        Ok(match plan {
            RelocAction::Unplanned => "unplanned",
            RelocAction::Keep { .. } => "keep",
            RelocAction::Apply { .. } => "apply",
            RelocAction::Clear => "clear",
            RelocAction::Drop => "drop",
            RelocAction::Gone => "gone",
        })
    }

    #[getter]
    fn value(slf: &Bound<'_, Self>) -> PyResult<Option<u64>> {
        let row = slf.as_super().get();
        let plan = row.read(|module| module.relocs[RelocId::new(row.index)].plan)?;
        Ok(match plan {
            RelocAction::Apply { value, .. } => Some(value),
            _ => None,
        })
    }
}

/// A record of `.nv.info*` or `.nv.compat`.
#[pyclass(frozen, extends = Row, module = "cuweld")]
pub struct Attribute;

/// Returns the phases in which a record can be changed: one of an object until it is merged, one that
/// the linker made until the file is laid out.
fn changing(attribute: &cuweld_ir::Attribute<'_>) -> [Phase; 2] {
    let until = match attribute.section {
        Some(_) => Phase::Merged,
        None => Phase::LaidOut,
    };
    [Phase::Lowered, until]
}

#[pymethods]
impl Attribute {
    #[getter]
    fn section(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        let row = slf.as_super().get();
        let section = row.read(|module| module.attributes[AttributeId::new(row.index)].section)?;
        referred(row, slf.py(), to(Table::Sections, section))
    }

    #[getter]
    fn format(slf: &Bound<'_, Self>) -> PyResult<String> {
        let row = slf.as_super().get();
        let format = row.read(|module| module.attributes[AttributeId::new(row.index)].format)?;
        Ok(format_name(format).into_owned())
    }

    #[getter]
    fn code(slf: &Bound<'_, Self>) -> PyResult<String> {
        let row = slf.as_super().get();
        row.read(|module| {
            let attribute = &module.attributes[AttributeId::new(row.index)];
            let section = attribute.section.map(|section| module.sections[section]);
            let section = section.unwrap_or_default();
            section.attribute_name(attribute.code).into_owned()
        })
    }

    #[getter]
    fn value(slf: &Bound<'_, Self>) -> PyResult<u16> {
        let row = slf.as_super().get();
        row.read(|module| module.attributes[AttributeId::new(row.index)].value)
    }

    #[setter]
    fn set_value(slf: &Bound<'_, Self>, value: u16) -> PyResult<()> {
        let row = slf.as_super().get();
        row.change(|_, module| {
            let phases = changing(&module.attributes[AttributeId::new(row.index)]);
            changeable(module, "the value of a record", phases)?;
            let attribute = &mut module.attributes[AttributeId::new(row.index)];
            if attribute.format == format::SVAL {
                let message = "a record with a payload has no value: set its words";
                return Err(PyValueError::new_err(message));
            }
            Ok(set(&mut attribute.value, value))
        })
    }

    #[getter]
    fn symbols(slf: &Bound<'_, Self>) -> PyResult<Vec<Option<Py<PyAny>>>> {
        let row = slf.as_super().get();
        let refs: Vec<SymbolRef> = row.read(|module| {
            let attribute = &module.attributes[AttributeId::new(row.index)];
            module.refs(attribute).to_vec()
        })?;
        let refs = refs.into_iter();
        refs.map(|of| referred(row, slf.py(), target(of))).collect()
    }

    #[getter]
    fn payload(slf: &Bound<'_, Self>) -> PyResult<Py<PyBytes>> {
        let row = slf.as_super().get();
        let rest =
            row.read(|module| module.attributes[AttributeId::new(row.index)].rest.to_vec())?;
        Ok(PyBytes::new(slf.py(), &rest).unbind())
    }

    #[setter]
    fn set_payload(slf: &Bound<'_, Self>, payload: PyBackedBytes) -> PyResult<()> {
        set_payload(slf.as_super().get(), &payload)
    }

    #[getter]
    fn words(slf: &Bound<'_, Self>) -> PyResult<Vec<u32>> {
        let row = slf.as_super().get();
        row.read(|module| {
            let attribute = &module.attributes[AttributeId::new(row.index)];
            (0..).map_while(|word| attribute.word(word)).collect()
        })
    }

    #[setter]
    fn set_words(slf: &Bound<'_, Self>, words: Vec<u32>) -> PyResult<()> {
        let payload: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
        set_payload(slf.as_super().get(), &payload)
    }
}

fn set_payload(row: &Row, payload: &[u8]) -> PyResult<()> {
    row.change(|arena, module| {
        let phases = changing(&module.attributes[AttributeId::new(row.index)]);
        changeable(module, "the payload of a record", phases)?;
        let attribute = &mut module.attributes[AttributeId::new(row.index)];
        if attribute.format != format::SVAL {
            let message = "only records of format SVAL have a payload: set the value";
            return Err(PyValueError::new_err(message));
        }
        Ok(attribute.rest != payload && set(&mut attribute.rest, arena.bytes(payload)))
    })
}

/// A row of the call graph.
#[pyclass(frozen, extends = Row, module = "cuweld")]
pub struct Call;

#[pymethods]
impl Call {
    #[getter]
    fn kind(slf: &Bound<'_, Self>) -> PyResult<&'static str> {
        let row = slf.as_super().get();
        row.read(|module| module.calls[CallId::new(row.index)].kind.name())
    }

    #[getter]
    fn caller(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        let row = slf.as_super().get();
        let from = row.read(|module| module.calls[CallId::new(row.index)].from)?;
        referred(row, slf.py(), target(from))
    }

    #[getter]
    fn callee(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        let row = slf.as_super().get();
        let to = row.read(|module| module.calls[CallId::new(row.index)].to)?;
        referred(row, slf.py(), target(to))
    }

    #[getter]
    fn prototype(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyString>>> {
        let row = slf.as_super().get();
        let prototype =
            row.read(|module| module.calls[CallId::new(row.index)].prototype.to_vec())?;
        let prototype = Some(prototype).filter(|prototype| !prototype.is_empty());
        prototype
            .map(|prototype| name_text(slf.py(), &prototype))
            .transpose()
    }
}

/// What a name stands for in the whole link.
#[pyclass(frozen, extends = Row, module = "cuweld")]
pub struct LinkSymbol;

#[pymethods]
impl LinkSymbol {
    #[getter]
    fn name(slf: &Bound<'_, Self>) -> PyResult<Py<PyString>> {
        let row = slf.as_super().get();
        let name = row.read(|module| module.link_name(LinkSymbolId::new(row.index)).to_vec())?;
        name_text(slf.py(), &name)
    }

    #[getter]
    fn demangled(slf: &Bound<'_, Self>) -> PyResult<Option<String>> {
        let row = slf.as_super().get();
        row.read(|module| demangle(module.link_name(LinkSymbolId::new(row.index))))
    }

    #[getter]
    fn first(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        let row = slf.as_super().get();
        let first = row.read(|module| module.link_symbols[LinkSymbolId::new(row.index)].first)?;
        referred(row, slf.py(), to(Table::Symbols, Some(first)))
    }

    #[getter]
    fn definition(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        let row = slf.as_super().get();
        let definition =
            row.read(|module| module.link_symbols[LinkSymbolId::new(row.index)].definition)?;
        referred(row, slf.py(), to(Table::Symbols, definition))
    }

    #[getter]
    fn function(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        let row = slf.as_super().get();
        let function = row.read(|module| module.link_function(LinkSymbolId::new(row.index)))?;
        referred(row, slf.py(), to(Table::Functions, function))
    }

    #[getter]
    fn live(slf: &Bound<'_, Self>) -> PyResult<&'static str> {
        let row = slf.as_super().get();
        row.read(|module| {
            let link = &module.link_symbols[LinkSymbolId::new(row.index)];
            link.live.name()
        })
    }

    #[setter]
    fn set_live(slf: &Bound<'_, Self>, live: &str) -> PyResult<()> {
        let row = slf.as_super().get();
        let live = named(Liveness::from_name(live), live, Liveness::names())?;
        row.change(|_, module| {
            let phases = [Phase::Live, Phase::Merged];
            changeable(module, "whether a name is live", phases)?;
            let link = &mut module.link_symbols[LinkSymbolId::new(row.index)];
            Ok(set(&mut link.live, live))
        })
    }

    #[getter]
    fn is_live(slf: &Bound<'_, Self>) -> PyResult<bool> {
        let row = slf.as_super().get();
        row.read(|module| {
            let link = &module.link_symbols[LinkSymbolId::new(row.index)];
            link.live.is_live()
        })
    }

    #[getter]
    fn size(slf: &Bound<'_, Self>) -> PyResult<u64> {
        let row = slf.as_super().get();
        row.read(|module| module.link_symbols[LinkSymbolId::new(row.index)].size)
    }

    #[getter]
    fn value(slf: &Bound<'_, Self>) -> PyResult<Option<u64>> {
        let row = slf.as_super().get();
        row.read(|module| module.link_symbols[LinkSymbolId::new(row.index)].value)
    }

    #[getter]
    fn kernel(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        let row = slf.as_super().get();
        let kernel = row.read(|module| module.link_symbols[LinkSymbolId::new(row.index)].kernel)?;
        referred(row, slf.py(), to(Table::Functions, kernel))
    }

    #[getter]
    fn is_internal(slf: &Bound<'_, Self>) -> PyResult<bool> {
        let row = slf.as_super().get();
        row.read(|module| module.link_symbols[LinkSymbolId::new(row.index)].internal)
    }

    #[setter]
    fn set_is_internal(slf: &Bound<'_, Self>, is_internal: bool) -> PyResult<()> {
        let row = slf.as_super().get();
        row.change(|_, module| {
            let phases = [Phase::Resolved, Phase::LaidOut];
            changeable(module, "whether a name is internal", phases)?;
            let link = &mut module.link_symbols[LinkSymbolId::new(row.index)];
            Ok(set(&mut link.internal, is_internal))
        })
    }

    #[getter]
    fn order(slf: &Bound<'_, Self>) -> PyResult<Option<u32>> {
        let row = slf.as_super().get();
        row.read(|module| module.link_symbols[LinkSymbolId::new(row.index)].order)
    }

    #[setter]
    fn set_order(slf: &Bound<'_, Self>, order: Option<u32>) -> PyResult<()> {
        let row = slf.as_super().get();
        row.change(|_, module| {
            let phases = [Phase::Resolved, Phase::LaidOut];
            changeable(module, "the order of a name", phases)?;
            let link = &mut module.link_symbols[LinkSymbolId::new(row.index)];
            Ok(set(&mut link.order, order))
        })
    }
}
