//! What is in files, as the documents that the command line writes as JSON.

use std::cell::RefCell;
use std::collections::BTreeSet;

use cuweld::InputArena;
use cuweld::diff::Category;
use cuweld::diff::DiffReport;
use cuweld::diff::diff_images;
use cuweld::diff::only_image;
use cuweld::disasm::Listing;
use cuweld::inspect::Node;
use cuweld::inspect::Report;
use cuweld::inspect::Selection;
use cuweld::inspect::inspect_bytes;
use cuweld::size::ObjectMap;
use cuweld::size::Options;
use cuweld::size::SizeReport;
use cuweld::size::Source;
use pyo3::exceptions::PyRuntimeError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use serde::Serialize;

use crate::linker::InputError;

/// A file: its name, which messages use, and its bytes.
pub type File = (PyBackedBytes, PyBackedBytes);

fn nodes<'data>(files: &'data [File], arena: &'data InputArena) -> Vec<Node<'data>> {
    files
        .iter()
        .map(|(name, bytes)| inspect_bytes(name, bytes, arena))
        .collect()
}

/// Makes dictionaries and lists of what serde writes as JSON.
pub fn object(py: Python<'_>, value: &impl Serialize) -> PyResult<Py<PyAny>> {
    let text = json(value)?;
    loads(py, &text)
}

fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

fn loads(py: Python<'_>, text: &str) -> PyResult<Py<PyAny>> {
    let object = py.import("json")?.call_method1("loads", (text,))?;
    Ok(object.unbind())
}

/// Reads what is in files. `tables` of `None` are all.
#[pyfunction]
pub fn inspect(
    py: Python<'_>,
    files: Vec<File>,
    tables: Option<Vec<String>>,
    sections: Vec<String>,
) -> PyResult<Py<PyAny>> {
    let mut selection = match tables {
        None => Selection::ALL,
        Some(names) => Selection::from_names(&names).map_err(PyValueError::new_err)?,
    };
    selection.only_sections = sections;
    let text = py.detach(|| {
        let arena = InputArena::new();
        let mut report = Report::new(nodes(&files, &arena));
        selection.apply(&mut report);
        json(&report)
    })?;
    loads(py, &text)
}

/// Compares the device ELF files that two files are or hold.
#[pyfunction]
pub fn diff(
    py: Python<'_>,
    left: File,
    right: File,
    ignore_layout: bool,
    limit: Option<usize>,
) -> PyResult<Py<PyAny>> {
    let text = py.detach(|| {
        let arena = InputArena::new();
        let nodes = [&left, &right].map(|(name, bytes)| inspect_bytes(name, bytes, &arena));
        let [left, right] = &nodes;
        let names = [left.name.to_string(), right.name.to_string()];
        let images = (only_image(left).map_err(InputError::new_err)?, {
            only_image(right).map_err(InputError::new_err)?
        });
        let mut differences = diff_images(images.0, images.1).map_err(|(side, error)| {
            let name = names.get(side).map_or("", String::as_str);
            InputError::new_err(format!("'{name}': {error}"))
        })?;
        if ignore_layout {
            differences.retain(|difference| difference.category != Category::Layout);
        }
        let limit = limit.unwrap_or(usize::MAX);
        let [left, right] = &names;
        json(&DiffReport::new(left, right, differences, limit))
    })?;
    loads(py, &text)
}

/// Measures files, beside others if there are any; `maps` are link maps as JSON.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub fn size(
    py: Python<'_>,
    files: Vec<File>,
    base: Vec<File>,
    by: Vec<String>,
    archs: Vec<String>,
    maps: Vec<String>,
    demangle: bool,
    rows: Option<usize>,
) -> PyResult<Py<PyAny>> {
    let text = py.detach(|| {
        let sources: Vec<Source> = by
            .iter()
            .map(|name| source(name))
            .collect::<PyResult<_>>()?;
        let maps: Vec<ObjectMap> = maps
            .iter()
            .map(|map| {
                let map = ObjectMap::parse(map.as_bytes());
                map.map_err(|error| PyValueError::new_err(error.to_string()))
            })
            .collect::<PyResult<_>>()?;
        let arena = InputArena::new();
        let (files, base) = (nodes(&files, &arena), nodes(&base, &arena));
        let options = Options {
            sources: &sources,
            archs: &archs,
            maps: &maps,
            demangles: demangle,
        };
        let report = SizeReport::new(&files, &base, options);
        let mut report = report.map_err(|error| PyValueError::new_err(error.to_string()))?;
        if let Some(rows) = rows {
            report.limit(rows);
        }
        json(&report)
    })?;
    loads(py, &text)
}

fn source(name: &str) -> PyResult<Source> {
    Source::from_name(name).ok_or_else(|| {
        let known: Vec<&str> = Source::ALL.iter().map(|(_, name, _)| *name).collect();
        let message = format!("'{name}' is no source: they are {}", known.join(", "));
        PyValueError::new_err(message)
    })
}

/// Lists the instructions of files, of these functions alone if any is named.
#[pyfunction]
pub fn disasm(py: Python<'_>, files: Vec<File>, functions: Vec<String>) -> PyResult<Py<PyAny>> {
    let text = py.detach(|| {
        let arena = InputArena::new();
        let files = nodes(&files, &arena);
        let found = RefCell::new(BTreeSet::new());
        let wanted = |name: &str| {
            let is_wanted = functions.iter().any(|wanted| wanted == name);
            if is_wanted {
                found.borrow_mut().insert(name.to_owned());
            }
            is_wanted || functions.is_empty()
        };
        let mut listing = Listing::new(&files, &wanted);
        if !functions.is_empty() {
            listing.images.retain(|image| !image.functions.is_empty());
        }
        let found = found.into_inner();
        let missing = functions.iter().find(|name| !found.contains(*name));
        match missing {
            Some(name) => Err(InputError::new_err(format!(
                "no file has a function '{name}'"
            ))),
            None => json(&listing),
        }
    })?;
    loads(py, &text)
}
