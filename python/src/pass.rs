//! Passes written in Python.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::Severity;
use cuweld_diagnostics::codes::extension;
use cuweld_ir::Phase;
use cuweld_passes::Changed;
use cuweld_passes::Pass;
use cuweld_passes::PassCx;
use cuweld_passes::PassError;
use cuweld_passes::PassInfo;
use cuweld_passes::Remark;
use cuweld_passes::RemarkInfo;
use cuweld_passes::Required;
use cuweld_passes::options::OptionInfo;
use cuweld_passes::options::OptionType;
use cuweld_passes::pipeline::Facts;
use cuweld_passes::registry::Registry;
use cuweld_passes::remark::Entity;
use pyo3::exceptions::PyException;
use pyo3::exceptions::PyTypeError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::module::IrModule;
use crate::module::Module;
use crate::module::phase;
use crate::rows::Row;

/// What Python tells of a pass.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Description {
    name: String,
    summary: String,
    doc: String,
    requires: String,
    establishes: Option<String>,
    before: Option<String>,
    refuses: Vec<String>,
    once: bool,
    required: bool,
    options: Vec<OptionDescription>,
}

/// What Python tells of an option of a pass.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct OptionDescription {
    name: String,
    /// "bool", "int", "str", "list", or "choice".
    kind: String,
    choices: Vec<String>,
    default: String,
    doc: String,
}

/// What a Python pass raised, for the error of the link.
pub type Raised = Arc<Mutex<Option<PyErr>>>;

/// The remarks of passes in Python.
const SAID: RemarkInfo = RemarkInfo {
    name: "said",
    doc: "The pass calls `remark`",
};

/// Returns a text that lives as long as the program. Each text is kept once, so that a pass that is
/// registered for many links takes memory for one.
fn interned(text: &str) -> &'static str {
    static TEXTS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = texts.get(text) {
        return known;
    }
    let text: &'static str = text.to_owned().leak();
    texts.insert(text);
    text
}

/// Returns a list of texts that lives as long as the program.
fn interned_list(list: &[String]) -> &'static [&'static str] {
    static LISTS: Mutex<BTreeSet<&'static [&'static str]>> = Mutex::new(BTreeSet::new());
    let list: Vec<&'static str> = list.iter().map(|text| interned(text)).collect();
    let mut lists = LISTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = lists.get(list.as_slice()) {
        return known;
    }
    let list: &'static [&'static str] = list.leak();
    lists.insert(list);
    list
}

/// Returns a table of options that lives as long as the program.
fn interned_options(options: Vec<OptionInfo>) -> &'static [OptionInfo] {
    static TABLES: Mutex<Vec<&'static [OptionInfo]>> = Mutex::new(Vec::new());
    let mut tables = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = tables.iter().find(|table| ***table == *options) {
        return known;
    }
    let table: &'static [OptionInfo] = options.leak();
    tables.push(table);
    table
}

impl Description {
    fn info(&self) -> PyResult<PassInfo> {
        let options: Vec<OptionInfo> = self
            .options
            .iter()
            .map(OptionDescription::info)
            .collect::<PyResult<_>>()?;
        let known = |fact: &&String| !Facts::ALL.iter().any(|info| info.name == **fact);
        if let Some(unknown) = self.refuses.iter().find(known) {
            let facts: Vec<_> = Facts::ALL.iter().map(|info| info.name).collect();
            let message = format!(
                "'{unknown}' is no fact of a link: they are {}",
                facts.join(", ")
            );
            return Err(PyValueError::new_err(message));
        }
        Ok(PassInfo {
            name: interned(&self.name),
            summary: interned(&self.summary),
            doc: interned(&self.doc),
            options: interned_options(options),
            requires: phase(&self.requires)?,
            establishes: self.establishes.as_deref().map(phase).transpose()?,
            before: self.before.as_deref().map(phase).transpose()?,
            refuses: interned_list(&self.refuses),
            once: self.once,
            required: if self.required {
                Required::Always
            } else {
                Required::No
            },
            remarks: &[SAID],
            ..PassInfo::DEFAULT
        })
    }
}

impl OptionDescription {
    fn info(&self) -> PyResult<OptionInfo> {
        let ty = match self.kind.as_str() {
            "bool" => OptionType::Bool,
            "int" => OptionType::Integer,
            "str" => OptionType::String,
            "list" => OptionType::Strings,
            "choice" => OptionType::Choice(interned_list(&self.choices)),
            kind => return Err(PyTypeError::new_err(format!("no kind of option: '{kind}'"))),
        };
        Ok(OptionInfo {
            name: interned(&self.name),
            ty,
            default: interned(&self.default),
            doc: interned(&self.doc),
        })
    }
}

/// Makes what adds a pass in Python to a registry. `run` is called with the module, a
/// [`PassContext`] and the options as JSON.
pub fn add_pass(
    description: &Description,
    run: Py<PyAny>,
    raised: Raised,
) -> PyResult<cuweld::extend::AddPasses> {
    let info = description.info()?;
    let run = Arc::new(run);
    Ok(cuweld::extend::AddPasses::new(
        move |registry: &mut Registry| {
            let (run, raised) = (Arc::clone(&run), Arc::clone(&raised));
            registry.register_made(info, move |options| {
                let options = serde_json::to_string(options.table()).map_err(|error| {
                    cuweld_passes::options::OptionError::Invalid(error.to_string())
                })?;
                Ok(Box::new(PythonPass {
                    info,
                    run: Arc::clone(&run),
                    options,
                    raised: Arc::clone(&raised),
                }))
            });
        },
    ))
}

struct PythonPass {
    info: PassInfo,
    run: Arc<Py<PyAny>>,
    /// As JSON.
    options: String,
    raised: Raised,
}

impl Pass for PythonPass {
    fn info(&self) -> PassInfo {
        self.info
    }

    fn run<'data>(
        &self,
        module: &mut IrModule<'data>,
        cx: &mut PassCx<'_, 'data>,
    ) -> Result<Changed, PassError> {
        let name = self.info.name;
        let outcome = Python::attach(|py| {
            let context = Bound::new(py, PassContext::new(cx.remarks.is_on()))?;
            let (returned, changed) = Module::lend(py, module, cx.arena, |handle| {
                let arguments = (handle, &context, &self.options);
                self.run
                    .bind(py)
                    .call1(arguments)?
                    .extract::<Option<bool>>()
            })?;
            let said = std::mem::take(&mut *context.get().lock());
            PyResult::Ok((returned, changed, said))
        });
        let (returned, changed, said) = match outcome {
            Ok(outcome) => outcome,
            Err(error) => return Err(self.failed(error, cx)),
        };
        let mut findings = said.findings.iter();
        let is_fatal = findings.any(|finding| finding.severity == Severity::Fatal);
        said.tell(module, cx);
        let returned = returned.map_err(|error| self.failed(error, cx))?;
        if is_fatal {
            return Err(PassError::Diagnosed);
        }
        if changed && returned == Some(false) {
            let message = format!("cuweld: pass '{name}' changed the module, and returned False");
            let finding = Diagnostic::fatal(extension::RESULT, message);
            let help = "return nothing, and what was changed is found out";
            cx.diagnostics.emit(finding.help(help));
            return Err(PassError::Diagnosed);
        }
        if changed || self.info.establishes.is_some() {
            if let Some(establishes) = self.info.establishes {
                module.phase = establishes;
            }
            self.verify(module, cx)?;
        }
        Ok(Changed::from(changed || returned == Some(true)))
    }
}

impl PythonPass {
    /// Refuses a module that breaks the invariants of its phase.
    fn verify(&self, module: &IrModule<'_>, cx: &mut PassCx<'_, '_>) -> Result<(), PassError> {
        const SHOWN: usize = 20;
        let broken = cuweld_ir::verify(module);
        if broken.is_empty() {
            return Ok(());
        }
        let message = format!(
            "cuweld: the module that pass '{}' left breaks invariants of the IR",
            self.info.name
        );
        let mut finding = Diagnostic::fatal(extension::RESULT, message);
        finding.notes = broken.iter().take(SHOWN).map(ToString::to_string).collect();
        if broken.len() > SHOWN {
            finding
                .notes
                .push(format!("and {} more", broken.len() - SHOWN));
        }
        cx.diagnostics.emit(finding);
        Err(PassError::Diagnosed)
    }

    /// Makes the error of a link of what a pass raised.
    fn failed(&self, error: PyErr, cx: &mut PassCx<'_, '_>) -> PassError {
        let name = self.info.name;
        let (what, lines) = Python::attach(|py| {
            let lines: PyResult<Vec<String>> = (|| {
                // The first frame is the package's own.
                let traceback = error.traceback(py).map(|first| first.getattr("tb_next"));
                let traceback = traceback.transpose()?;
                let error = (error.get_type(py), error.value(py), traceback);
                let module = py.import("traceback")?;
                module.call_method1("format_exception", error)?.extract()
            })();
            (error.to_string(), lines.unwrap_or_default())
        });
        let message = format!("cuweld: pass '{name}' raised {what}");
        let mut finding = Diagnostic::fatal(extension::EXCEPTION, message);
        let lines = lines.iter().flat_map(|line| line.lines());
        finding.notes = lines.map(str::to_owned).collect();
        cx.diagnostics.emit(finding);
        *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        PassError::Diagnosed
    }
}

/// What a pass says while it runs.
#[derive(Default)]
struct Said {
    findings: Vec<Diagnostic>,
    counts: Vec<(String, u64)>,
    /// The id of a row, and a text.
    remarks: Vec<(Option<String>, String)>,
}

impl Said {
    fn tell(self, module: &IrModule<'_>, cx: &mut PassCx<'_, '_>) {
        for finding in self.findings {
            cx.diagnostics.emit(finding);
        }
        for (name, count) in self.counts {
            cx.statistics.add(interned(&name), count);
        }
        for (id, text) in self.remarks {
            let about = id.as_deref().and_then(|id| Entity::parse(id, module));
            cx.remarks.emit(|| match about {
                Some(about) => Remark::about(&SAID, about).words(format!(" {text}")),
                None => Remark::of_link(&SAID).words(text),
            });
        }
    }
}

/// What a pass in Python is given beside the module: where it says things.
#[pyclass(frozen, module = "cuweld")]
pub struct PassContext {
    said: Mutex<Said>,
    hears_remarks: bool,
}

impl PassContext {
    fn new(hears_remarks: bool) -> Self {
        PassContext {
            said: Mutex::default(),
            hears_remarks,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl PassContext {
    /// Whether somebody listens to remarks.
    #[getter]
    fn hears_remarks(&self) -> bool {
        self.hears_remarks
    }

    fn finding(
        &self,
        severity: &str,
        message: &str,
        notes: Vec<String>,
        helps: Vec<String>,
    ) -> PyResult<()> {
        let severity = match severity {
            "note" => Severity::Note,
            "info" => Severity::Info,
            "warning" => Severity::Warning,
            "error" => Severity::Error,
            "fatal" => Severity::Fatal,
            other => return Err(PyValueError::new_err(format!("no severity: '{other}'"))),
        };
        let mut finding = Diagnostic::new(severity, extension::FINDING, message);
        finding.notes = notes;
        finding.helps = helps;
        self.lock().findings.push(finding);
        Ok(())
    }

    fn count(&self, name: String, count: u64) {
        self.lock().counts.push((name, count));
    }

    fn remark(&self, about: Option<&Bound<'_, Row>>, text: String) {
        let id = about.map(|row| row.get().id());
        if self.hears_remarks {
            self.lock().remarks.push((id, text));
        }
    }
}

/// Returns `true` if an exception is one that ends programs, such as `KeyboardInterrupt`.
pub fn ends_programs(py: Python<'_>, error: &PyErr) -> bool {
    !error.is_instance_of::<PyException>(py)
}

/// The phases, in order.
#[pyfunction]
pub fn phases() -> Vec<&'static str> {
    Phase::ALL.map(Phase::name).to_vec()
}
