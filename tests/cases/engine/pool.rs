//! Compiled modules, kept from run to run in `target/conformance-pool`: ptxas takes 24 ms a module, nvcc 0.3 s. The name of an entry is the hash of
//! all that decides its bytes.

use std::collections::{BTreeSet, HashMap};
use std::error::Error;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::execute::wait;
use super::features;
use super::link::Source;

/// The toolkit that compiles; part of every key.
const COMPILER: &str = "13.0.88";

/// A compiler needs a second at most, but for some sources under few registers, which it does not finish.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// nvcc puts the path of a source into names, so there is one for each source, the same on every machine.
const CXX_FOLDER: &str = "/tmp/cuweld-conformance";

/// A compiled module.
pub struct Compiled {
    /// The cubin.
    pub bytes: Vec<u8>,
    /// What is in it.
    pub features: BTreeSet<String>,
}

/// The compiled modules.
pub struct Pool {
    folder: PathBuf,
    compilers: Vec<PathBuf>,
    loaded: Mutex<HashMap<String, Arc<Compiled>>>,
}

impl Pool {
    /// The pool in `folder`, filled by the compilers in these folders in turn; nvcc is that of the first.
    pub fn new(folder: PathBuf, compilers: Vec<PathBuf>) -> Self {
        Pool {
            folder,
            compilers,
            loaded: Mutex::default(),
        }
    }

    /// A source as an object for a target; the error is what the compiler says.
    pub fn object(&self, source: &Source, arch: &str) -> Result<Arc<Compiled>, Box<dyn Error>> {
        let key = key(source, arch);
        let lock = || {
            self.loaded
                .lock()
                .unwrap_or_else(|error| error.into_inner())
        };
        if let Some(found) = lock().get(&key) {
            return Ok(found.clone());
        }
        let folder = self.folder.join(key.get(..2).unwrap_or_default());
        let file = folder.join(format!("{key}.cubin"));
        let bytes = match std::fs::read(&file) {
            Ok(bytes) => bytes,
            Err(_) => {
                std::fs::create_dir_all(&folder)?;
                self.compile(source, arch, &key, &file)?;
                std::fs::read(&file)?
            }
        };
        let features = features::of_object(&bytes);
        let compiled = Arc::new(Compiled { bytes, features });
        lock().insert(key, compiled.clone());
        Ok(compiled)
    }

    /// Forgets what was loaded: links of one program follow each other, and it is not needed again.
    pub fn forget(&self) {
        let mut loaded = self
            .loaded
            .lock()
            .unwrap_or_else(|error| error.into_inner());
        if loaded.len() > 200 {
            loaded.clear();
        }
    }

    fn compile(
        &self,
        source: &Source,
        arch: &str,
        key: &str,
        file: &Path,
    ) -> Result<(), Box<dyn Error>> {
        // Written beside and renamed: two processes may compile the same module.
        let partial = file.with_extension(format!("{}.partial", std::process::id()));
        let turn = key.bytes().last().map_or(0, usize::from) % self.compilers.len();
        let (folder, tool, fixed) = if source.is_cxx() {
            let folder = Path::new(CXX_FOLDER).join(key.get(..16).unwrap_or_default());
            std::fs::create_dir_all(&folder)?;
            std::fs::write(
                folder.join("program.h"),
                source.header.as_deref().unwrap_or_default(),
            )?;
            (
                folder,
                self.compilers[0].join("nvcc"),
                ["-rdc=true", "-cubin"],
            )
        } else {
            let folder = file.with_extension(format!("{}.folder", std::process::id()));
            std::fs::create_dir_all(&folder)?;
            (folder, self.compilers[turn].join("ptxas"), ["-m64", "-c"])
        };
        std::fs::write(folder.join(&source.file), source.text.as_bytes())?;
        let said = folder.join("said");
        let said_file = File::create(&said)?;
        let mut child = Command::new(&tool)
            .arg(format!("-arch={}", source.arch(arch)))
            .args(fixed)
            .arg(&source.file)
            .args(
                source
                    .options
                    .iter()
                    .filter(|option| !option.starts_with("-arch=")),
            )
            .arg("-o")
            // The name may be recorded.
            .arg("out.cubin")
            .current_dir(&folder)
            .stdin(Stdio::null())
            .stdout(said_file.try_clone()?)
            .stderr(said_file)
            .spawn()?;
        let status = wait(&mut child, TIME_LIMIT)?;
        let said = std::fs::read(said)?;
        if status.success() {
            std::fs::rename(folder.join("out.cubin"), &partial).or_else(|_| {
                // Another file system.
                std::fs::copy(folder.join("out.cubin"), &partial).map(|_| ())
            })?;
        }
        std::fs::remove_dir_all(&folder)?;
        if !status.success() {
            return Err(format!(
                "{} {} {}: {status}: {}",
                tool.file_name().unwrap_or_default().display(),
                source.options.join(" "),
                source.file,
                String::from_utf8_lossy(&said)
            )
            .into());
        }
        Ok(std::fs::rename(&partial, file)?)
    }
}

fn key(source: &Source, arch: &str) -> String {
    let mut hash = Sha256::new();
    let header = source.header.as_deref().unwrap_or_default();
    for part in [COMPILER, arch, &source.file, &source.text, header] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    for option in &source.options {
        hash.update(option);
        hash.update([0]);
    }
    let mut text = String::new();
    for byte in hash.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The modules of one random program, in link order.
pub struct Program {
    /// One source a module, with the compiler options that belong to the program.
    pub modules: Vec<Source>,
}

/// The program generator as a process that answers requests.
pub struct Generator {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    folder: tempfile::TempDir,
}

impl Generator {
    /// Starts it.
    pub fn start() -> Result<Self, Box<dyn Error>> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance/generate.py");
        let mut child = Command::new("python3")
            .args(["-B", script, "--serve"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let requests = child.stdin.take().ok_or("no pipe to the generator")?;
        let answers = BufReader::new(child.stdout.take().ok_or("no pipe from the generator")?);
        Ok(Generator {
            child,
            requests,
            answers,
            folder: tempfile::tempdir()?,
        })
    }

    /// Program number `family`, written for a target.
    pub fn program(&mut self, family: u32, arch: &str) -> Result<Program, Box<dyn Error>> {
        let folder = self.folder.path().join(family.to_string());
        writeln!(self.requests, "{family} {} {arch}", folder.display())?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        if answer.trim() != "done" {
            return Err(format!("generate.py fails for program {family}").into());
        }
        let mut modules = Vec::new();
        for line in std::fs::read_to_string(folder.join("modules.txt"))?.lines() {
            let mut words = line.split_whitespace().map(str::to_owned);
            let name = words.next().ok_or("modules.txt has an empty line")?;
            let (file, header) = if name.ends_with(".cu") {
                let header = std::fs::read_to_string(folder.join("program.h"))?;
                (name, Some(header.into()))
            } else {
                (format!("{name}.ptx"), None)
            };
            modules.push(Source {
                text: std::fs::read_to_string(folder.join(&file))?.into(),
                file,
                header,
                options: words.collect(),
            });
        }
        std::fs::remove_dir_all(&folder)?;
        Ok(Program { modules })
    }
}

impl Drop for Generator {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
