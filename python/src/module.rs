//! The linker IR as Python sees it: one module, which owns what it borrows, or is lent by a link for
//! the time of a pass.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;

use cuweld::ModuleMemory;
use cuweld_diagnostics::Diagnostics;
use cuweld_ir::Arena;
use cuweld_ir::Phase;
use cuweld_ir::text;
use cuweld_ir::text::DumpBytes;
use cuweld_ir::text::ImageKey;
use pyo3::exceptions::PyKeyError;
use pyo3::exceptions::PyRuntimeError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3::types::PyDict;
use pyo3::types::PyTuple;
use self_cell::self_cell;

use crate::files::File;
use crate::index::Index;
use crate::linker::InputError;
use crate::rows::Rows;
use crate::rows::Table;
use crate::rows::row;

/// The module of `cuweld-ir`.
pub type IrModule<'data> = cuweld_ir::Module<'data>;

self_cell!(
    /// A module with the memory that it borrows.
    pub struct Holder {
        owner: ModuleMemory,
        #[not_covariant]
        dependent: IrModule,
    }
);

/// Where the module is.
enum State {
    Owned(Holder),
    Lent(Lent),
    /// Not here, for this reason.
    Away(&'static str),
}

/// A module that a link lends to a pass.
struct Lent {
    module: NonNull<IrModule<'static>>,
    arena: NonNull<Arena>,
}

// SAFETY: the pointers are followed under the lock of `Module::state` alone, and `Module::lend`
// takes them back, under the same lock, before it returns. Until then the thread that lends, to
// which module and arena belong, is in `lend` and does not touch them. So one thread at a time
// uses them, one after the other; neither is bound to a thread: both are `Send`.
unsafe impl Send for Lent {}

const RUNNING: &str = "passes are running on this module";
const ENDED: &str = "the pass that was lent this module has ended";

/// A module of the linker IR: all of one link, at a phase of it.
#[pyclass(frozen, name = "Module", module = "cuweld")]
pub struct Module {
    state: Mutex<State>,
    /// Whether anything was changed through Python.
    changed: AtomicBool,
    /// Whether the invariants have to be checked before a pass relies on them: after a text was read,
    /// or a change through Python.
    unverified: AtomicBool,
    /// What there is to say of the inputs, until passes run.
    said: Mutex<Diagnostics>,
    /// Whether passes have found errors, so that no file comes of it.
    failed: AtomicBool,
    /// Rows by what they are about, once some were asked for.
    index: Mutex<Option<Arc<Index>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A thread that panicked has left the value whole: it is replaced in one step.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Module {
    fn new(state: State, said: Diagnostics) -> Self {
        Module {
            state: Mutex::new(state),
            changed: AtomicBool::new(false),
            unverified: AtomicBool::new(false),
            said: Mutex::new(said),
            failed: AtomicBool::new(false),
            index: Mutex::new(None),
        }
    }

    /// Makes the module of a linker's inputs, which the linker has no more.
    pub fn of_inputs(linker: &mut cuweld::Linker) -> Self {
        let mut said = Diagnostics::default();
        let holder = Holder::new(linker.take_inputs(), |memory| {
            let (module, findings) = linker.lower(memory);
            said = findings;
            module
        });
        Self::new(State::Owned(holder), said)
    }

    /// Gives a function access to the module.
    ///
    /// The function must not run Python code: it is called under a lock.
    pub fn with<R>(
        &self,
        function: impl for<'data> FnOnce(&'data Arena, &mut IrModule<'data>) -> R,
    ) -> PyResult<R> {
        match &mut *lock(&self.state) {
            State::Owned(holder) => {
                Ok(holder.with_dependent_mut(|memory, module| function(memory.arena(), module)))
            }
            State::Lent(lent) => {
                // SAFETY: `lend` holds the only reference to the module, and one to the arena, for
                // longer than the state is `Lent`; the lock makes this access the only one.
                // `'static` stands for the lifetime of what the module borrows, which the function
                // cannot name: it takes any, so that it keeps nothing of the module and puts
                // nothing into it that lives shorter than the arena.
                let (arena, module) = unsafe { (lent.arena.as_ref(), lent.module.as_mut()) };
                Ok(function(arena, module))
            }
            State::Away(why) => Err(PyRuntimeError::new_err(*why)),
        }
    }

    /// Gives a function access to the module for a change, which it returns whether it has made.
    pub fn change(
        &self,
        function: impl for<'data> FnOnce(&'data Arena, &mut IrModule<'data>) -> PyResult<bool>,
    ) -> PyResult<()> {
        let changed = self.with(function)??;
        self.changed.fetch_or(changed, Ordering::Relaxed);
        self.unverified.fetch_or(changed, Ordering::Relaxed);
        Ok(())
    }

    /// Lends a module to Python while a function runs. Returns what the function returns, and
    /// whether Python has changed the module.
    pub fn lend<'data, R>(
        py: Python<'_>,
        module: &mut IrModule<'data>,
        arena: &'data Arena,
        function: impl FnOnce(&Bound<'_, Module>) -> R,
    ) -> PyResult<(R, bool)> {
        /// Takes the module back, also if the function panics.
        struct Back<'b, 'py>(&'b Bound<'py, Module>);
        impl Drop for Back<'_, '_> {
            fn drop(&mut self) {
                *lock(&self.0.get().state) = State::Away(ENDED);
            }
        }
        let lent = Lent {
            module: NonNull::from(module).cast(),
            arena: NonNull::from(arena),
        };
        let handle = Bound::new(py, Module::new(State::Away(ENDED), Diagnostics::default()))?;
        let back = Back(&handle);
        *lock(&handle.get().state) = State::Lent(lent);
        let result = function(&handle);
        drop(back);
        Ok((result, handle.get().changed.load(Ordering::Relaxed)))
    }

    /// Runs passes over the module by `run`, while other threads of Python run. Meanwhile it cannot be
    /// accessed.
    pub fn run<R: Send>(
        &self,
        py: Python<'_>,
        run: impl for<'data> FnOnce(
            &mut IrModule<'data>,
            &'data Arena,
            Diagnostics,
        ) -> Result<R, cuweld::LinkError>
        + Send,
    ) -> PyResult<Result<R, cuweld::LinkError>> {
        if self.failed.load(Ordering::Relaxed) {
            let message = "passes have found errors in this module: no link comes of it";
            return Err(PyRuntimeError::new_err(message));
        }
        self.refuse_broken(py)?;
        let mut holder = {
            let mut state = lock(&self.state);
            match std::mem::replace(&mut *state, State::Away(RUNNING)) {
                State::Owned(holder) => holder,
                other => {
                    let why = match &other {
                        State::Away(why) => why,
                        _ => "a module that is lent to a pass is run by its link",
                    };
                    *state = other;
                    return Err(PyRuntimeError::new_err(why));
                }
            }
        };
        let said = std::mem::take(&mut *lock(&self.said));
        // Passes may add rows.
        *lock(&self.index) = None;
        let (holder, result) = py.detach(move || {
            let result =
                holder.with_dependent_mut(|memory, module| run(module, memory.arena(), said));
            (holder, result)
        });
        self.failed.fetch_or(result.is_err(), Ordering::Relaxed);
        *lock(&self.state) = State::Owned(holder);
        Ok(result)
    }

    /// Returns rows by what they are about.
    pub fn index(&self) -> PyResult<Arc<Index>> {
        let mut index = lock(&self.index);
        Ok(match &*index {
            Some(index) => Arc::clone(index),
            None => {
                let made = Arc::new(self.with(|_, module| Index::new(module))?);
                *index = Some(Arc::clone(&made));
                made
            }
        })
    }

    fn is_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Refuses a module that breaks invariants, if it was read or changed since they were checked:
    /// passes and the writer rely on them.
    fn refuse_broken(&self, py: Python<'_>) -> PyResult<()> {
        const SHOWN: usize = 5;
        if !self.unverified.load(Ordering::Relaxed) {
            return Ok(());
        }
        let broken = self.verify(py)?;
        if broken.is_empty() {
            self.unverified.store(false, Ordering::Relaxed);
            return Ok(());
        }
        let shown = broken.iter().take(SHOWN).map(String::as_str);
        let mut message = "the module breaks invariants of the IR: ".to_owned();
        message += &shown.collect::<Vec<_>>().join("; ");
        if broken.len() > SHOWN {
            message += &format!("; and {} more", broken.len() - SHOWN);
        }
        Err(InputError::new_err(message))
    }
}

/// Returns the words of all phases.
fn phases() -> String {
    Phase::ALL.map(Phase::name).join(", ")
}

/// Returns the phase with this name.
pub fn phase(name: &str) -> PyResult<Phase> {
    Phase::from_name(name).ok_or_else(|| {
        PyValueError::new_err(format!("there is no phase '{name}': they are {}", phases()))
    })
}

#[pymethods]
impl Module {
    /// Reads a module in text form. Contents that the text only names are looked for in `inputs`, by
    /// name.
    #[staticmethod]
    #[pyo3(signature = (text, inputs = None))]
    fn parse(py: Python<'_>, text: &str, inputs: Option<Bound<'_, PyAny>>) -> PyResult<Self> {
        let inputs: Vec<File> = match inputs {
            None => Vec::new(),
            Some(inputs) => {
                let files = py.import("cuweld._files")?;
                files.call_method1("files_of", (inputs,))?.extract()?
            }
        };
        let holder = py.detach(|| {
            Holder::try_new(ModuleMemory::new(), |memory| {
                let arena = memory.arena();
                let resolve = |key: &ImageKey<'_>| {
                    let mut inputs = inputs.iter();
                    let (_, bytes) = inputs.find(|(name, bytes)| {
                        key.member.is_empty() && **name == *key.name && {
                            bytes.len() as u64 == key.size
                        }
                    })?;
                    Some(arena.bytes(bytes))
                };
                text::parse(text, arena, &resolve)
            })
        });
        let holder = holder.map_err(|error| InputError::new_err(error.to_string()))?;
        let module = Self::new(State::Owned(holder), Diagnostics::default());
        module.unverified.store(true, Ordering::Relaxed);
        Ok(module)
    }

    /// Returns the text form, in which contents are `full`, by `ref` to the inputs, or a `hash`.
    #[pyo3(signature = (bytes = "full"))]
    fn print(&self, py: Python<'_>, bytes: &str) -> PyResult<String> {
        let form = DumpBytes::from_name(bytes).ok_or_else(|| {
            let words = DumpBytes::ALL.map(DumpBytes::name).join(", ");
            PyValueError::new_err(format!(
                "'{bytes}' is no form of contents: they are {words}"
            ))
        })?;
        py.detach(|| self.with(|_, module| text::print(module, form)))
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        self.print(py, DumpBytes::Full.name())
    }

    fn __repr__(&self) -> String {
        let shown = self.with(|_, module| {
            let (target, phase) = (module.target, module.phase.name());
            let (objects, functions) = (module.objects.len(), module.functions.len());
            format!("<Module {target} {phase}: {objects} objects, {functions} functions>")
        });
        shown.unwrap_or_else(|error| format!("<Module: {error}>"))
    }

    /// Lists the invariants of the IR that the module breaks.
    fn verify(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        py.detach(|| {
            self.with(|_, module| {
                let errors = cuweld_ir::verify(module);
                errors.iter().map(ToString::to_string).collect()
            })
        })
    }

    /// Writes the device ELF: what was linked, or, before `resolved`, the one object again.
    fn write(&self, py: Python<'_>) -> PyResult<Py<PyBytes>> {
        if self.is_failed() {
            let message = "passes have found errors in this module: no file comes of it";
            return Err(PyRuntimeError::new_err(message));
        }
        self.refuse_broken(py)?;
        let written =
            py.detach(|| self.with(|arena, module| cuweld::Linker::cubin(module, arena)))?;
        let cubin = written.map_err(|finding| PyRuntimeError::new_err(finding.to_string()))?;
        Ok(PyBytes::new(py, &cubin).unbind())
    }

    /// Runs passes over the module as it is: names, passes in Python, pipelines in one line.
    #[pyo3(name = "run", signature = (*passes, stop_after = None, **settings))]
    fn run_passes<'py>(
        slf: &Bound<'py, Self>,
        passes: &Bound<'py, PyTuple>,
        stop_after: Option<String>,
        settings: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let settings = settings.unwrap_or_else(|| PyDict::new(py));
        let run = (slf, passes, stop_after, settings);
        py.import("cuweld")?.call_method1("_run", run)
    }

    /// Runs the rest of the standard pipeline, or of the one in the settings. Returns the cubin.
    #[pyo3(signature = (*, start_after = None, **settings))]
    fn link<'py>(
        slf: &Bound<'py, Self>,
        start_after: Option<String>,
        settings: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let settings = settings.unwrap_or_else(|| PyDict::new(py));
        let link = (slf, start_after, settings);
        py.import("cuweld")?.call_method1("_link_module", link)
    }

    /// How far the link has come.
    #[getter]
    fn phase(&self) -> PyResult<&'static str> {
        self.with(|_, module| module.phase.name())
    }

    /// What it is linked for.
    #[getter]
    fn target(&self) -> PyResult<String> {
        self.with(|_, module| module.target.to_string())
    }

    /// The version of the toolkit whose linker the link stands in for.
    #[getter]
    fn toolkit(&self) -> PyResult<&'static str> {
        self.with(|_, module| module.toolkit.version)
    }

    /// Whether the link writes an object that can be linked again.
    #[getter]
    fn is_relocatable(&self) -> PyResult<bool> {
        self.with(|_, module| module.options.relocatable)
    }

    #[getter]
    fn objects(slf: &Bound<'_, Self>) -> PyResult<Rows> {
        Rows::all(slf, Table::Objects)
    }

    #[getter]
    fn sections(slf: &Bound<'_, Self>) -> PyResult<Rows> {
        Rows::all(slf, Table::Sections)
    }

    #[getter]
    fn symbols(slf: &Bound<'_, Self>) -> PyResult<Rows> {
        Rows::all(slf, Table::Symbols)
    }

    #[getter]
    fn functions(slf: &Bound<'_, Self>) -> PyResult<Rows> {
        Rows::all(slf, Table::Functions)
    }

    #[getter]
    fn relocations(slf: &Bound<'_, Self>) -> PyResult<Rows> {
        Rows::all(slf, Table::Relocations)
    }

    #[getter]
    fn attributes(slf: &Bound<'_, Self>) -> PyResult<Rows> {
        Rows::all(slf, Table::Attributes)
    }

    #[getter]
    fn calls(slf: &Bound<'_, Self>) -> PyResult<Rows> {
        Rows::all(slf, Table::Calls)
    }

    #[getter]
    fn link_symbols(slf: &Bound<'_, Self>) -> PyResult<Rows> {
        Rows::all(slf, Table::LinkSymbols)
    }

    /// Returns the row with an id of the text form, such as `fn3`.
    fn __getitem__(slf: &Bound<'_, Self>, id: &str) -> PyResult<Py<PyAny>> {
        let found = slf.get().with(|_, module| Table::parse(id, module))?;
        let (table, index) = found.ok_or_else(|| PyKeyError::new_err(id.to_owned()))?;
        row(slf, table, index)
    }
}
