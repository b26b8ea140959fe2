//! Rows of objects and sections.

use cuweld_ir::ObjectId;
use cuweld_ir::ObjectState;
use cuweld_ir::Phase;
use cuweld_ir::SectionId;
use cuweld_ir::SectionInfo;
use cuweld_ir::SectionKind;
use cuweld_ir::table::EntityId;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3::types::PyString;

use super::Row;
use super::Rows;
use super::Table;
use super::fields::NAMES;
use super::fields::all_referred;
use super::fields::changeable;
use super::fields::referred;
use super::fields::set;
use super::fields::to;
use super::name_bytes;
use super::name_text;

/// An object of the link.
#[pyclass(frozen, extends = Row, module = "cuweld")]
pub struct Object;

#[pymethods]
impl Object {
    #[getter]
    fn name(slf: &Bound<'_, Self>) -> PyResult<Py<PyString>> {
        let row = slf.as_super().get();
        let name = row.read(|module| module.objects[ObjectId::new(row.index)].name.to_vec())?;
        name_text(slf.py(), &name)
    }

    #[getter]
    fn member(slf: &Bound<'_, Self>) -> PyResult<Py<PyString>> {
        let row = slf.as_super().get();
        let name = row.read(|module| module.objects[ObjectId::new(row.index)].member.to_vec())?;
        name_text(slf.py(), &name)
    }

    #[getter]
    fn sm(slf: &Bound<'_, Self>) -> PyResult<u16> {
        let row = slf.as_super().get();
        row.read(|module| module.objects[ObjectId::new(row.index)].sm())
    }

    #[getter]
    fn flags(slf: &Bound<'_, Self>) -> PyResult<u32> {
        let row = slf.as_super().get();
        row.read(|module| module.objects[ObjectId::new(row.index)].e_flags)
    }

    #[getter]
    fn has_mercury(slf: &Bound<'_, Self>) -> PyResult<bool> {
        let row = slf.as_super().get();
        row.read(|module| module.objects[ObjectId::new(row.index)].is_capmerc())
    }

    #[getter]
    fn is_system_library(slf: &Bound<'_, Self>) -> PyResult<bool> {
        let row = slf.as_super().get();
        row.read(|module| module.objects[ObjectId::new(row.index)].system_library)
    }

    #[getter]
    fn state(slf: &Bound<'_, Self>) -> PyResult<&'static str> {
        let row = slf.as_super().get();
        row.read(|module| module.objects[ObjectId::new(row.index)].state.name())
    }

    #[getter]
    fn is_included(slf: &Bound<'_, Self>) -> PyResult<bool> {
        let row = slf.as_super().get();
        row.read(|module| module.objects[ObjectId::new(row.index)].state == ObjectState::Included)
    }

    #[getter]
    fn image(slf: &Bound<'_, Self>) -> PyResult<Py<PyBytes>> {
        let row = slf.as_super().get();
        let image = row.read(|module| module.objects[ObjectId::new(row.index)].image.to_vec())?;
        Ok(PyBytes::new(slf.py(), &image).unbind())
    }

    #[getter]
    fn sections(slf: &Bound<'_, Self>) -> PyResult<Rows> {
        let row = slf.as_super().get();
        let range = row.read(|module| module.objects[ObjectId::new(row.index)].sections)?;
        Ok(Rows::of_range(row, slf.py(), Table::Sections, range))
    }

    #[getter]
    fn symbols(slf: &Bound<'_, Self>) -> PyResult<Rows> {
        let row = slf.as_super().get();
        let range = row.read(|module| module.objects[ObjectId::new(row.index)].symbols)?;
        Ok(Rows::of_range(row, slf.py(), Table::Symbols, range))
    }

    #[getter]
    fn functions(slf: &Bound<'_, Self>) -> PyResult<Rows> {
        let row = slf.as_super().get();
        let range = row.read(|module| module.objects[ObjectId::new(row.index)].functions)?;
        Ok(Rows::of_range(row, slf.py(), Table::Functions, range))
    }

    #[getter]
    fn relocations(slf: &Bound<'_, Self>) -> PyResult<Rows> {
        let row = slf.as_super().get();
        let range = row.read(|module| module.objects[ObjectId::new(row.index)].relocs)?;
        Ok(Rows::of_range(row, slf.py(), Table::Relocations, range))
    }

    #[getter]
    fn attributes(slf: &Bound<'_, Self>) -> PyResult<Rows> {
        let row = slf.as_super().get();
        let range = row.read(|module| module.objects[ObjectId::new(row.index)].attributes)?;
        Ok(Rows::of_range(row, slf.py(), Table::Attributes, range))
    }

    #[getter]
    fn calls(slf: &Bound<'_, Self>) -> PyResult<Rows> {
        let row = slf.as_super().get();
        let range = row.read(|module| module.objects[ObjectId::new(row.index)].calls)?;
        Ok(Rows::of_range(row, slf.py(), Table::Calls, range))
    }
}

/// The largest alignment of a section, in bytes, as in files that are read.
const LARGEST_ALIGN: u64 = 1 << 20;

/// A section of an object.
#[pyclass(frozen, extends = Row, module = "cuweld")]
pub struct Section;

#[pymethods]
impl Section {
    #[getter]
    fn object(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        let row = slf.as_super().get();
        let object = row.read(|module| module.sections[SectionId::new(row.index)].object)?;
        referred(row, slf.py(), to(Table::Objects, Some(object)))
    }

    #[getter]
    fn name(slf: &Bound<'_, Self>) -> PyResult<Py<PyString>> {
        let row = slf.as_super().get();
        let name = row.read(|module| module.sections[SectionId::new(row.index)].name.to_vec())?;
        name_text(slf.py(), &name)
    }

    #[setter]
    fn set_name(slf: &Bound<'_, Self>, name: &Bound<'_, PyString>) -> PyResult<()> {
        let (row, name) = (slf.as_super().get(), name_bytes(name)?);
        row.change(|arena, module| {
            changeable(module, "the name of a section", NAMES)?;
            let section = &mut module.sections[SectionId::new(row.index)];
            Ok(section.name != name && set(&mut section.name, arena.bytes(&name)))
        })
    }

    #[getter(r#type)]
    fn ty(slf: &Bound<'_, Self>) -> PyResult<String> {
        let row = slf.as_super().get();
        row.read(|module| {
            let section = &module.sections[SectionId::new(row.index)];
            section.type_name().into_owned()
        })
    }

    #[getter]
    fn flags(slf: &Bound<'_, Self>) -> PyResult<u64> {
        let row = slf.as_super().get();
        row.read(|module| module.sections[SectionId::new(row.index)].flags.bits())
    }

    #[getter]
    fn flag_names(slf: &Bound<'_, Self>) -> PyResult<Vec<String>> {
        let row = slf.as_super().get();
        let names = row.read(|module| {
            let section = &module.sections[SectionId::new(row.index)];
            (section.flags.bits() != 0).then(|| section.flag_names())
        })?;
        let names = names.unwrap_or_default();
        let names = names.split('|').filter(|name| !name.is_empty());
        Ok(names.map(str::to_owned).collect())
    }

    #[getter]
    fn align(slf: &Bound<'_, Self>) -> PyResult<u64> {
        let row = slf.as_super().get();
        row.read(|module| module.sections[SectionId::new(row.index)].align)
    }

    #[setter]
    fn set_align(slf: &Bound<'_, Self>, align: u64) -> PyResult<()> {
        let row = slf.as_super().get();
        if !align.is_power_of_two() && align != 0 || align > LARGEST_ALIGN {
            let message =
                format!("an alignment is 0 or a power of two up to {LARGEST_ALIGN}, not {align}");
            return Err(PyValueError::new_err(message));
        }
        row.change(|_, module| {
            let phases = [Phase::Lowered, Phase::Placed];
            changeable(module, "the alignment of a section", phases)?;
            let section = &mut module.sections[SectionId::new(row.index)];
            Ok(set(&mut section.align, align))
        })
    }

    #[getter]
    fn entry_size(slf: &Bound<'_, Self>) -> PyResult<u64> {
        let row = slf.as_super().get();
        row.read(|module| module.sections[SectionId::new(row.index)].entsize)
    }

    #[getter]
    fn size(slf: &Bound<'_, Self>) -> PyResult<u64> {
        let row = slf.as_super().get();
        row.read(|module| module.sections[SectionId::new(row.index)].size())
    }

    #[getter]
    fn data(slf: &Bound<'_, Self>) -> PyResult<Py<PyBytes>> {
        let row = slf.as_super().get();
        let bytes =
            row.read(|module| module.sections[SectionId::new(row.index)].bytes().to_vec())?;
        Ok(PyBytes::new(slf.py(), &bytes).unbind())
    }

    #[getter]
    fn kind(slf: &Bound<'_, Self>) -> PyResult<String> {
        let row = slf.as_super().get();
        row.read(|module| {
            let kind = module.sections[SectionId::new(row.index)].kind;
            kind.name().into_owned()
        })
    }

    #[setter]
    fn set_kind(slf: &Bound<'_, Self>, kind: &str) -> PyResult<()> {
        let row = slf.as_super().get();
        if kind != SectionKind::Stripped.name() {
            let message = "the kind of a section follows from its type and name: it can be set to 'stripped' alone";
            return Err(PyValueError::new_err(message));
        }
        row.change(|_, module| {
            let phases = [Phase::Classified, Phase::Merged];
            changeable(module, "the kind of a section", phases)?;
            let is_mercury = module.target.is_mercury();
            let section = &mut module.sections[SectionId::new(row.index)];
            // As `strip-debug` does, and where nothing else relies on the section.
            match section.kind {
                SectionKind::Debug | SectionKind::Other | SectionKind::Relocs if !is_mercury => {
                    section.kind = SectionKind::Stripped;
                    Ok(true)
                }
                SectionKind::Stripped => Ok(false),
                kind => Err(PyValueError::new_err(format!(
                    "a section of kind '{}' cannot be left out of a link for {}",
                    kind.name(),
                    module.target
                ))),
            }
        })
    }

    #[getter]
    fn owner(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        let row = slf.as_super().get();
        let owner = row.read(|module| module.sections[SectionId::new(row.index)].owner)?;
        referred(row, slf.py(), to(Table::Functions, owner))
    }

    #[getter]
    fn link(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        let row = slf.as_super().get();
        let link = row.read(|module| module.sections[SectionId::new(row.index)].link)?;
        referred(row, slf.py(), to(Table::Sections, link))
    }

    #[getter]
    fn applies_to(slf: &Bound<'_, Self>) -> PyResult<Option<Py<PyAny>>> {
        let row = slf.as_super().get();
        let info = row.read(|module| module.sections[SectionId::new(row.index)].info)?;
        let section = match info {
            SectionInfo::Section(section) => Some(section),
            _ => None,
        };
        referred(row, slf.py(), to(Table::Sections, section))
    }

    #[getter]
    fn relocated_by(slf: &Bound<'_, Self>) -> PyResult<Vec<Py<PyAny>>> {
        let row = slf.as_super().get();
        let index = row.module.get().index()?;
        let relocations = index.relocations(SectionId::new(row.index));
        let relocations = relocations.map(|id| (Table::Relocations, id.index()));
        all_referred(row, slf.py(), relocations)
    }

    #[getter]
    fn place(slf: &Bound<'_, Self>) -> PyResult<Option<u64>> {
        let row = slf.as_super().get();
        row.read(|module| module.sections[SectionId::new(row.index)].place)
    }

    #[getter]
    fn is_linked(slf: &Bound<'_, Self>) -> PyResult<bool> {
        let row = slf.as_super().get();
        row.read(|module| module.is_section_linked(SectionId::new(row.index)))
    }

    #[getter]
    fn relocations(slf: &Bound<'_, Self>) -> PyResult<Rows> {
        let row = slf.as_super().get();
        let range = row.read(|module| module.sections[SectionId::new(row.index)].relocs)?;
        Ok(Rows::of_range(row, slf.py(), Table::Relocations, range))
    }

    #[getter]
    fn attributes(slf: &Bound<'_, Self>) -> PyResult<Rows> {
        let row = slf.as_super().get();
        let range = row.read(|module| module.sections[SectionId::new(row.index)].attributes)?;
        Ok(Rows::of_range(row, slf.py(), Table::Attributes, range))
    }
}
