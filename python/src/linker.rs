//! A link of bytes in memory.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;

use cuweld::Kind;
use cuweld::LinkMap;
use cuweld::Target;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::exceptions::PyRuntimeError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::findings::Finding;

create_exception!(
    cuweld,
    LinkError,
    PyException,
    "The link failed: `findings` say why."
);
create_exception!(
    cuweld,
    LinkCancelled,
    PyException,
    "The function that is told of progress ended the link."
);
create_exception!(
    cuweld,
    InputError,
    PyValueError,
    "An input is not what it was said to be, or there is too much of it."
);
create_exception!(
    cuweld,
    SettingError,
    PyValueError,
    "There is no such setting, or it does not take the value."
);

/// A link that is to be done: settings first, then inputs, in the order in which they are linked.
#[pyclass(module = "cuweld")]
pub struct Linker {
    /// `None` once it has linked.
    linker: Option<cuweld::Linker>,
    /// What the function that is told of progress raised.
    raised: Raised,
}

type Raised = Arc<Mutex<Option<PyErr>>>;

/// What came of a link.
#[pyclass(frozen, get_all, module = "cuweld")]
pub struct Linked {
    /// The device ELF file.
    cubin: Py<PyBytes>,
    /// What there is to say of the link.
    findings: Vec<Finding>,
    /// How much was linked: "inputs", "input_bytes", "output_bytes".
    statistics: BTreeMap<&'static str, u64>,
    /// What lies where in the output, as docs/using/files.md says, if the setting `map` asks for it.
    map: Option<Py<PyAny>>,
}

const KINDS: [(&str, Kind); 7] = [
    ("any", Kind::Any),
    ("cubin", Kind::Cubin),
    ("ptx", Kind::Ptx),
    ("ltoir", Kind::LtoIr),
    ("fatbin", Kind::Fatbin),
    ("object", Kind::Object),
    ("library", Kind::Library),
];

#[pymethods]
impl Linker {
    #[new]
    fn new(arch: &str) -> PyResult<Self> {
        let target = Target::parse(arch);
        let target = target.ok_or_else(|| {
            PyValueError::new_err(format!("'{arch}' is no architecture such as sm_90"))
        })?;
        Ok(Linker {
            linker: Some(cuweld::Linker::new(target)),
            raised: Raised::default(),
        })
    }

    /// Sets what a word names.
    fn set(&mut self, word: &str, values: Vec<String>) -> PyResult<()> {
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        let set = self.open()?.set(word, &values);
        set.map_err(|finding| SettingError::new_err(finding.to_string()))
    }

    /// Calls a function before each pass, with its name, its number from 1 and their number. It
    /// cancels the link by `False`, or by an exception, which `link` raises then.
    fn progress(&mut self, function: Py<PyAny>) -> PyResult<()> {
        let linker = self.linker.take().ok_or_else(too_late)?;
        let raised = Arc::clone(&self.raised);
        self.linker = Some(linker.progress(move |pass, number, of| {
            Python::attach(|py| match tell(py, &function, pass, number, of) {
                Ok(flow) => flow,
                Err(error) => {
                    *raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    ControlFlow::Break(())
                }
            })
        }));
        Ok(())
    }

    /// Adds an input: its bytes, the name that messages use, and what it is.
    #[pyo3(signature = (data, name, kind = "any"))]
    fn add(&mut self, data: &[u8], name: String, kind: &str) -> PyResult<()> {
        let mut kinds = KINDS.iter();
        let Some((_, kind)) = kinds.find(|(word, _)| *word == kind) else {
            let words = KINDS.map(|(word, _)| word).join(", ");
            let error = format!("'{kind}' is no kind: they are {words}");
            return Err(PyValueError::new_err(error));
        };
        let added = self.open()?.push(data.to_vec(), *kind, name);
        added.map_err(|error| InputError::new_err(error.to_string()))
    }

    /// Links, which a linker does once, while other threads of Python run.
    fn link(&mut self, py: Python<'_>) -> PyResult<Linked> {
        let linker = self.linker.take().ok_or_else(too_late)?;
        let linked = py.detach(|| linker.link());
        let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = raised.take() {
            return Err(error);
        }
        match linked {
            Ok(linked) => Ok(Linked {
                map: linked.map.map(|map| object(py, &map)).transpose()?,
                cubin: PyBytes::new(py, &linked.cubin).unbind(),
                findings: linked.diagnostics.iter().map(Finding::from).collect(),
                statistics: BTreeMap::from([
                    ("inputs", linked.statistics.inputs as u64),
                    ("input_bytes", linked.statistics.input_bytes),
                    ("output_bytes", linked.statistics.output_bytes),
                ]),
            }),
            Err(error @ cuweld::LinkError::Cancelled) => {
                Err(LinkCancelled::new_err(error.to_string()))
            }
            Err(error) => {
                let raised = LinkError::new_err(error.to_string());
                if let cuweld::LinkError::Failed { diagnostics } = error {
                    let findings: Vec<_> = diagnostics.iter().map(Finding::from).collect();
                    raised.value(py).setattr("findings", findings)?;
                }
                Err(raised)
            }
        }
    }

    /// Lists the words of settings.
    #[staticmethod]
    fn words() -> Vec<&'static str> {
        cuweld::Linker::words().collect()
    }
}

impl Linker {
    fn open(&mut self) -> PyResult<&mut cuweld::Linker> {
        self.linker.as_mut().ok_or_else(too_late)
    }
}

fn too_late() -> PyErr {
    PyValueError::new_err("the linker has linked already")
}

fn tell(
    py: Python<'_>,
    function: &Py<PyAny>,
    pass: &str,
    number: usize,
    of: usize,
) -> PyResult<ControlFlow<()>> {
    let answer = function.bind(py).call1((pass, number, of))?;
    Ok(match answer.is(false.into_pyobject(py)?) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    })
}

/// Makes dictionaries and lists of a map.
fn object(py: Python<'_>, map: &LinkMap) -> PyResult<Py<PyAny>> {
    let text = serde_json::to_string(map);
    let text = text.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    let object = py.import("json")?.call_method1("loads", (text,))?;
    Ok(object.unbind())
}
