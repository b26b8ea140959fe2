//! A link of bytes in memory.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::PoisonError;

use cuweld::Kind;
use cuweld::Target;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::files::object;
use crate::findings::Finding;
use crate::module::Module;
use crate::pass::Description;
use crate::pass::Raised;
use crate::pass::add_pass;
use crate::pass::ends_programs;

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
    /// What a pass raised.
    cause: Raised,
}

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
    /// What passes decided and why, if the setting `remarks` asks for it.
    remarks: Py<PyAny>,
}

/// What came of passes that were run over a module.
#[pyclass(frozen, get_all, module = "cuweld")]
pub struct Ran {
    /// What there is to say of the passes.
    findings: Vec<Finding>,
    /// What passes decided and why, if the setting `remarks` asks for it.
    remarks: Py<PyAny>,
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
            cause: Raised::default(),
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

    /// Adds a pass in Python, which `run` runs.
    fn add_pass(&mut self, description: Description, run: Py<PyAny>) -> PyResult<()> {
        let added = add_pass(&description, run, Arc::clone(&self.cause))?;
        let linker = self.linker.take().ok_or_else(too_late)?;
        self.linker = Some(linker.add_passes(added));
        Ok(())
    }

    /// Links, which a linker does once, while other threads of Python run.
    fn link(&mut self, py: Python<'_>) -> PyResult<Linked> {
        let linker = self.linker.take().ok_or_else(too_late)?;
        let linked = self.result(py, py.detach(|| linker.link()))?;
        Ok(Linked {
            map: linked.map.map(|map| object(py, &map)).transpose()?,
            cubin: PyBytes::new(py, &linked.cubin).unbind(),
            findings: linked.diagnostics.iter().map(Finding::from).collect(),
            statistics: BTreeMap::from([
                ("inputs", linked.statistics.inputs as u64),
                ("input_bytes", linked.statistics.input_bytes),
                ("output_bytes", linked.statistics.output_bytes),
            ]),
            remarks: object(py, &linked.remarks)?,
        })
    }

    /// Reads the inputs to a module that no pass has seen; the linker has them no more.
    fn lower(&mut self) -> PyResult<Module> {
        Ok(Module::of_inputs(self.open()?))
    }

    /// Runs the pipeline over a module as it is, up to a pass if one is named.
    fn run(
        &mut self,
        py: Python<'_>,
        module: &Bound<'_, Module>,
        stop_after: Option<String>,
    ) -> PyResult<Ran> {
        let linker = self.open()?.clone();
        let stop = stop_after.as_deref();
        let ran = module.get().run(py, |module, arena, findings| {
            linker.run_passes(module, arena, findings, stop)
        })?;
        self.ran(py, ran)
    }

    /// Runs the rest of the pipeline over a module, from a step on, up to another.
    fn run_rest(
        &mut self,
        py: Python<'_>,
        module: &Bound<'_, Module>,
        start_after: Option<String>,
        stop_after: Option<String>,
    ) -> PyResult<Ran> {
        let linker = self.open()?.clone();
        let steps = [start_after.as_deref(), stop_after.as_deref()];
        let ran = module.get().run(py, |module, arena, findings| {
            linker.run_rest(module, arena, findings, steps)
        })?;
        self.ran(py, ran)
    }

    /// Lists the words of settings.
    #[staticmethod]
    fn words() -> Vec<&'static str> {
        cuweld::Linker::words().collect()
    }
}

impl Linker {
    fn ran(&self, py: Python<'_>, ran: Result<cuweld::Ran, cuweld::LinkError>) -> PyResult<Ran> {
        let ran = self.result(py, ran)?;
        Ok(Ran {
            findings: ran.diagnostics.iter().map(Finding::from).collect(),
            remarks: object(py, &ran.remarks)?,
        })
    }

    /// Makes an exception of an error of a link, with what Python raised in its course.
    fn result<T>(&self, py: Python<'_>, result: Result<T, cuweld::LinkError>) -> PyResult<T> {
        let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = raised.take() {
            return Err(error);
        }
        let mut cause = self.cause.lock().unwrap_or_else(PoisonError::into_inner);
        let cause = cause.take();
        match result {
            Ok(value) => Ok(value),
            Err(_) if cause.as_ref().is_some_and(|cause| ends_programs(py, cause)) => {
                Err(cause.unwrap_or_else(too_late))
            }
            Err(error @ cuweld::LinkError::Cancelled) => {
                Err(LinkCancelled::new_err(error.to_string()))
            }
            Err(error) => {
                let raised = LinkError::new_err(error.to_string());
                if let cuweld::LinkError::Failed { diagnostics } = error {
                    let findings: Vec<_> = diagnostics.iter().map(Finding::from).collect();
                    raised.value(py).setattr("findings", findings)?;
                }
                raised.set_cause(py, cause);
                Err(raised)
            }
        }
    }

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
