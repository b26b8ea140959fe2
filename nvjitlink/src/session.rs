//! A link: what is added, what comes of it, and its two logs.

use std::borrow::Cow;
use std::fs;
use std::io::ErrorKind;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;
use std::time::Instant;

use cuweld::CompileError;
use cuweld::CompileOptions;
use cuweld::Kind;
use cuweld::LinkError;
use cuweld::LinkOptions;
use cuweld::Linker;
use cuweld::Look;
use cuweld::PtxasOptions;
use cuweld::Toolkit;
use cuweld::diagnostics::Diagnostic;
use cuweld::diagnostics::Severity;
use cuweld::diagnostics::nvlink_word;

use crate::options::Options;
use crate::options::Refused;
use crate::real::RealLink;
use crate::result::ResultCode;
use crate::surroundings::Surroundings;

/// The kinds of input by their numbers, with the names that messages use.
const KINDS: [(i32, Option<Kind>, &str); 8] = [
    (1, Some(Kind::Cubin), "CUBIN"),
    (2, Some(Kind::Ptx), "PTX"),
    (3, Some(Kind::LtoIr), "LTOIR"),
    (4, Some(Kind::Fatbin), "FATBIN"),
    (5, Some(Kind::Object), "OBJECT"),
    (6, Some(Kind::Library), "LIBRARY"),
    // No tool writes an index.
    (7, None, "INDEX"),
    (10, Some(Kind::Any), "ANY"),
];

/// A link from `nvJitLinkCreate` to `nvJitLinkDestroy`.
pub(crate) struct Session {
    options: Options,
    /// The toolkit whose library it stands in for, if that does not depend on the inputs.
    toolkit: Option<&'static Toolkit>,
    /// What is linked; `None` if the options were refused, and once it is linked.
    linker: Option<Linker>,
    /// NVIDIA's library, which does all of a link with `-lto`, and with PTX where there is no ptxas.
    real: Option<RealLink>,
    /// What NVIDIA's library takes over with: where it may be, the options, and the kinds of the
    /// inputs so far.
    over: (Vec<PathBuf>, Vec<String>, Vec<i32>),
    /// Why there is none although it is needed.
    lacks_real: String,
    error_log: String,
    info_log: String,
    cubin: Option<Vec<u8>>,
    started: Instant,
    log: Option<PathBuf>,
}

impl Session {
    /// Begins a link with options. The toolkit is that of the set of functions that the client
    /// calls: 13 and this minor version, if it calls one.
    pub(crate) fn create(
        words: &[&str],
        minor: Option<u32>,
        surroundings: Surroundings,
    ) -> (Session, ResultCode) {
        let of_set = minor.and_then(|minor| Toolkit::by_version(&format!("13.{minor}")));
        let chosen = surroundings.toolkit.or(of_set);
        let mut session = Session {
            options: Options::default(),
            toolkit: chosen,
            linker: None,
            real: None,
            over: Default::default(),
            lacks_real: String::new(),
            error_log: String::new(),
            info_log: String::new(),
            cubin: None,
            started: Instant::now(),
            log: surroundings.log.clone(),
        };
        let known = chosen.unwrap_or(Toolkit::newest());
        match Options::parse(words.iter().copied(), known) {
            Ok(options) => session.options = options,
            Err(Refused(code, text)) => {
                session.error_log.push_str(&text);
                return (session, code);
            }
        }
        session.write_down(&format!("create {}", words.join(" ")));
        if session.options.lto {
            match RealLink::create(&surroundings.real, words) {
                Ok((real, code)) => {
                    session.real = Some(real);
                    return (session, code);
                }
                Err(lacks) => session.lacks_real = lacks,
            }
        }
        let words = words.iter().map(ToString::to_string).collect();
        session.over = (surroundings.real.clone(), words, Vec::new());
        session.linker = session.options.target.map(|target| {
            let linker = Linker::new(target)
                .options(session.link_options(surroundings.stamps))
                .compile(session.compile_options(&surroundings));
            match chosen {
                Some(toolkit) => linker.toolkit(toolkit),
                None => linker,
            }
        });
        (session, ResultCode::SUCCESS)
    }

    /// Returns the options that change bytes.
    fn link_options(&self, stamps: bool) -> LinkOptions {
        let mut options = LinkOptions::default();
        options.relocatable = self.options.relocatable;
        options.debug = self.options.debug;
        options.host.kernels_used = self.options.kernels_used.clone();
        options.host.variables_used = self.options.variables_used.clone();
        options.reports.resources = self.options.verbose;
        options.mercury.copy_within_family = true;
        options.record.options = b"JIT API Command Line Options".to_vec();
        options.record.output_name = b"in-memory-ELF-image".to_vec();
        options.record.stamp_nvlink = stamps;
        if stamps {
            options.record.tool_name = Some(b"nvJIT API".to_vec());
            options.record.tool_branch =
                b"Build system must define TOOLS_VERSION_EXTENDED".to_vec();
        }
        options
    }

    fn compile_options(&self, surroundings: &Surroundings) -> CompileOptions {
        let mut extra = self.options.xptxas.clone();
        extra.extend(self.options.verbose.then(|| "-v".to_owned()));
        CompileOptions {
            tools: surroundings.tools.clone(),
            ptxas: PtxasOptions {
                debug: self.options.debug,
                extra,
                max_registers: self.options.max_registers,
                family: true,
                ..PtxasOptions::default()
            },
            ..CompileOptions::default()
        }
    }

    /// Adds an input of a kind, by its number; `None` for a name that is null.
    pub(crate) fn add(&mut self, kind: i32, data: &[u8], name: Option<&str>) -> ResultCode {
        if let Some(real) = &mut self.real {
            return real.add(kind, data, name);
        }
        let shown = name.unwrap_or("(null)");
        if data.is_empty() {
            return ResultCode::INVALID_INPUT;
        }
        let mut kinds = KINDS.iter();
        let Some((_, known, word)) = kinds.find(|(number, ..)| *number == kind) else {
            return self.fail(
                ResultCode::INCORRECT_INPUT_TYPE,
                &format!("unsupported input type: {shown}"),
            );
        };
        let Some(linker) = &mut self.linker else {
            let what = format!("ERROR 1: empty elfw when adding cubin{shown}");
            return self.fail(ResultCode::INTERNAL, &what);
        };
        let other_kind =
            format!("ERROR 1: bad input: does not match type NVJITLINK_INPUT_{word}{shown}");
        let Some(mut known) = *known else {
            return self.fail(ResultCode::INCORRECT_INPUT_TYPE, &other_kind);
        };
        // An object may be a cubin: NVIDIA's library adds nothing then, without a word.
        if known == Kind::Object && linker.look(data, Kind::Cubin) != Look::OtherKind {
            known = Kind::Cubin;
        }
        let added = match linker.look(data, known) {
            Look::OtherKind if known == Kind::Any => {
                let what = format!("unrecognized input type: {shown}");
                return self.fail(ResultCode::UNRECOGNIZED_INPUT, &what);
            }
            Look::OtherKind => return self.fail(ResultCode::INCORRECT_INPUT_TYPE, &other_kind),
            Look::OtherTarget if matches!(known, Kind::Cubin | Kind::Any) => {
                let what = format!("ERROR 4: bad input:{shown}");
                return self.fail(ResultCode::INVALID_INPUT, &what);
            }
            Look::OtherTarget => {
                let what = format!("ERROR 3: bad input: {shown}");
                return self.fail(ResultCode::INVALID_INPUT, &what);
            }
            Look::SassAlone => {
                let what = format!(
                    "Mercury or Capmerc target was requested, but SASS input {shown} was found."
                );
                return self.fail(ResultCode::INVALID_INPUT, &what);
            }
            Look::Damaged => {
                let what = format!("ERROR 1: bad input: malformed cubin ELF{shown}");
                return self.fail(ResultCode::INVALID_INPUT, &what);
            }
            Look::LtoIr if !self.options.lto => {
                let what = "ERROR 1: LTO-IR input cannot be used without LTO enabled (-lto)";
                return self.fail(ResultCode::LTO_NOT_ENABLED, what);
            }
            Look::Ptx if matches!(known, Kind::Ptx | Kind::Any) => match linker.compile_ptx(data) {
                Ok((compiled, remark)) => {
                    self.info_log
                        .push_str(&said_by_compiler(&compiled.messages));
                    let added = linker.push_compiled(compiled, shown.to_owned());
                    remark.iter().for_each(|remark| self.tell(remark));
                    added
                }
                Err(error) => {
                    let added = self
                        .hand_over(&error)
                        .map(|real| real.add(kind, data, name));
                    return added.unwrap_or_else(|| self.ptx_fails(&error, name));
                }
            },
            _ => linker.push(data.to_vec(), known, shown.to_owned()),
        };
        match added {
            Ok(()) => {
                self.over.2.push(kind);
                ResultCode::SUCCESS
            }
            Err(error) => self.fail(ResultCode::INVALID_INPUT, &error.to_string()),
        }
    }

    /// Hands all inputs so far to NVIDIA's library, which has a compiler of PTX within, if it is there
    /// and ptxas is not.
    fn hand_over(&mut self, error: &CompileError) -> Option<&mut RealLink> {
        let is_missing = matches!(error, CompileError::System { error, .. } if error.kind() == ErrorKind::NotFound);
        let (files, words, kinds) = &self.over;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (mut real, _) = RealLink::create(files, &words)
            .ok()
            .filter(|_| is_missing)?;
        let linker = self.linker.take()?;
        for ((name, bytes), kind) in linker.inputs().zip(kinds) {
            // What it says of them is in its log.
            real.add(*kind, bytes, Some(name));
        }
        self.write_down("NVIDIA's library links: there is PTX and no ptxas");
        Some(self.real.insert(real))
    }

    fn ptx_fails(&mut self, error: &CompileError, name: Option<&str>) -> ResultCode {
        match error {
            CompileError::Refused { messages } => {
                self.error_log.push_str(&said_by_compiler(messages));
            }
            error => self.error_log.push_str(&format!(
                "cuweld: {error}; name ptxas with CUWELD_PTXAS or NVIDIA's library with CUWELD_NVJITLINK, or give cubins\n"
            )),
        }
        let name = name.map_or(String::new(), |name| format!(" ({name})"));
        let what = format!("ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX{name}");
        self.fail(ResultCode::PTX_COMPILE, &what)
    }

    /// Adds a file.
    pub(crate) fn add_file(&mut self, kind: i32, path: &str) -> ResultCode {
        match fs::read(path) {
            Ok(bytes) => self.add(kind, &bytes, Some(path)),
            Err(_) => self.fail(ResultCode::INVALID_INPUT, &format!("no such file: {path}")),
        }
    }

    /// Links what was added.
    pub(crate) fn complete(&mut self) -> ResultCode {
        if let Some(real) = &self.real {
            return real.complete();
        }
        if self.options.lto {
            let what = format!(
                "cuweld: link-time optimisation needs NVIDIA's libnvJitLink: {}",
                self.lacks_real
            );
            return self.fail(ResultCode::NVVM_COMPILE, &what);
        }
        let Some(linker) = self.linker.take() else {
            return ResultCode::INTERNAL;
        };
        self.tell_time("nvJitLink time until Complete", self.started);
        let start = Instant::now();
        let (diagnostics, code) = match linker.link() {
            Ok(linked) => {
                self.write_down(&linked.to_string());
                self.cubin = Some(linked.cubin);
                (linked.diagnostics, ResultCode::SUCCESS)
            }
            Err(LinkError::Failed { diagnostics }) => (diagnostics, ResultCode::INTERNAL),
            Err(LinkError::Cancelled) => (Vec::new(), ResultCode::INTERNAL),
        };
        diagnostics.iter().for_each(|finding| self.tell(finding));
        if code != ResultCode::SUCCESS {
            let toolkit = self.toolkit.unwrap_or(Toolkit::DEFAULT);
            let words = match toolkit.release >= RENAMED {
                true => "complete",
                false => "finish",
            };
            let is_fatal = |finding: &Diagnostic| finding.severity == Severity::Fatal;
            let number = match diagnostics.iter().any(is_fatal) {
                true => 1,
                false => 9,
            };
            self.fail(code, &format!("ERROR {number}: {words}"));
        }
        self.tell_time("nvJitLinkComplete time to finish", start);
        code
    }

    /// Writes the milliseconds since a time into the info log, if they were asked for.
    fn tell_time(&mut self, what: &str, since: Instant) {
        if self.options.time {
            let milliseconds = since.elapsed().as_secs_f64() * 1e3;
            self.info_log
                .push_str(&format!("{what}: {milliseconds:.6}\n"));
        }
    }

    /// Writes what is said of the link into a log, as nvlink words it.
    fn tell(&mut self, finding: &Diagnostic) {
        let text = finding.text();
        let line = match finding.severity {
            Severity::Report => text.into_owned(),
            severity => format!("{}: {text}\n", nvlink_word(severity)),
        };
        match finding.severity >= Severity::ErrorLine {
            true => self.error_log.push_str(&line),
            false => self.info_log.push_str(&line),
        }
    }

    /// Returns the linked code.
    pub(crate) fn cubin(&self) -> Result<Cow<'_, [u8]>, ResultCode> {
        match &self.real {
            Some(real) => real
                .get("nvJitLinkGetLinkedCubinSize", "nvJitLinkGetLinkedCubin")
                .map(Cow::Owned),
            None => self
                .cubin
                .as_deref()
                .map(Cow::Borrowed)
                .ok_or(ResultCode::INTERNAL),
        }
    }

    /// Returns the PTX that link-time optimisation made.
    pub(crate) fn ptx(&self) -> Result<Cow<'_, [u8]>, ResultCode> {
        match &self.real {
            Some(real) => real
                .get("nvJitLinkGetLinkedPtxSize", "nvJitLinkGetLinkedPtx")
                .map(Cow::Owned),
            None => Err(ResultCode::INVALID_INPUT),
        }
    }

    /// Returns the LTO-IR of a link with `-r`.
    pub(crate) fn lto_ir(&self) -> Result<Cow<'_, [u8]>, ResultCode> {
        match &self.real {
            Some(real) => real
                .get("nvJitLinkGetLinkedLTOIRSize", "nvJitLinkGetLinkedLTOIR")
                .map(Cow::Owned),
            None => Err(ResultCode::INVALID_INPUT),
        }
    }

    /// Returns the error log with a NUL at its end, nothing if it is empty.
    pub(crate) fn error_log(&self) -> Result<Cow<'_, [u8]>, ResultCode> {
        match &self.real {
            Some(real) => real
                .get("nvJitLinkGetErrorLogSize", "nvJitLinkGetErrorLog")
                .map(Cow::Owned),
            None => Ok(Cow::Owned(with_nul(&self.error_log))),
        }
    }

    /// Returns the info log with a NUL at its end, nothing if it is empty.
    pub(crate) fn info_log(&self) -> Result<Cow<'_, [u8]>, ResultCode> {
        match &self.real {
            Some(real) => real
                .get("nvJitLinkGetInfoLogSize", "nvJitLinkGetInfoLog")
                .map(Cow::Owned),
            None => Ok(Cow::Owned(with_nul(&self.info_log))),
        }
    }

    fn fail(&mut self, code: ResultCode, what: &str) -> ResultCode {
        self.error_log.push_str(what);
        self.error_log.push('\n');
        code
    }

    /// Writes a line to the file of `CUWELD_JITLINK_LOG`, from which users see that the library is
    /// in use.
    fn write_down(&self, what: &str) {
        let Some(path) = &self.log else { return };
        let open = |path: &Path| fs::OpenOptions::new().create(true).append(true).open(path);
        // A log that cannot be written changes no link.
        let _ = open(path).and_then(|mut file| {
            writeln!(file, "cuweld libnvJitLink [{}]: {what}", std::process::id())
        });
    }
}

/// The first release that says `complete` where those before say `finish`.
const RENAMED: cuweld::Release = cuweld::Release {
    major: 13,
    minor: 2,
};

/// Returns what the program ptxas wrote in the form of NVIDIA's library, which has a compiler of its
/// own: lines that go on are marked, and nothing follows a fatal error.
fn said_by_compiler(messages: &str) -> String {
    let is_fatal = messages.contains("; fatal   : ");
    let lines = messages.lines().filter(|line| {
        let is_end = *line == "ptxas fatal   : Ptx assembly aborted due to errors";
        !(is_fatal && is_end)
    });
    let marked = lines.map(|line| match line.starts_with("    ") {
        true => format!("ptxas         . {line}\n"),
        false => format!("{line}\n"),
    });
    marked.collect()
}

fn with_nul(log: &str) -> Vec<u8> {
    match log {
        "" => Vec::new(),
        log => [log.as_bytes(), b"\0"].concat(),
    }
}
