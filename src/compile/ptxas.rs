//! The program `ptxas`, run as nvlink runs its own copy of it.

use std::io;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use tempfile::TempDir;

use super::record;
use crate::input::PtxImage;
use crate::input::Target;
use crate::replay_root::may_run_file;

/// What nvlink's compiler calls its input in messages.
const INPUT_NAME: &str = "application ptx input";
/// The object's name in the compiler's folder.
const OUTPUT_NAME: &str = "cuweld.cubin";
/// The object's name if the compiler is not told one.
const DEFAULT_NAME: &str = "elf.o";
/// Bytes that Linux takes as one argument of a program, without the NUL after it.
const LONGEST_ARGUMENT: usize = (128 << 10) - 1;

/// Options for ptxas that come from the link's command line. nvlink passes these and no others, as
/// the option records of the compiled objects show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PtxasOptions {
    /// `-g`, without `-suppress-debug-info`.
    pub debug: bool,
    /// The elements of `-Xptxas`, each of which may hold several options.
    pub extra: Vec<String>,
    /// `-maxrregcount`.
    pub max_registers: Option<i32>,
    /// `-device-stack-protector`.
    pub stack_protector: Option<bool>,
    /// `-split-compile`.
    pub split_compile: Option<i32>,
    /// `-Ofc`, if it is not 0.
    pub fast_compile: Option<String>,
    /// Compile for family-specific targets as such: nvlink leaves the `f` out.
    pub family: bool,
}

/// Options with which a program may lack functions.
const FOR_OBJECTS: [&str; 4] = ["-c", "--compile-only", "-ewp", "--extensible-whole-program"];

impl PtxasOptions {
    /// Returns `true` if code is compiled for the debugger.
    pub fn debugs(&self) -> bool {
        let mut words = self.extra_words();
        self.debug || words.any(|word| matches!(word, "-g" | "--device-debug"))
    }

    /// Returns the options without those that let a program lack functions; `None` if there are no
    /// such ones.
    pub fn of_whole_program(&self) -> Option<Self> {
        let is_left = |word: &&str| !FOR_OBJECTS.contains(word);
        let left = self.extra_words().filter(is_left).map(str::to_owned);
        let left = PtxasOptions {
            extra: left.collect(),
            ..self.clone()
        };
        (left.extra.len() < self.extra_words().count()).then_some(left)
    }

    fn extra_words(&self) -> impl Iterator<Item = &str> {
        let extra = self.extra.iter();
        extra.flat_map(|text| text.split_ascii_whitespace())
    }
}

/// Why PTX was not compiled.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The compiler refused the text or an option.
    #[error("ptxas reports errors")]
    Refused {
        /// What it wrote.
        messages: String,
    },
    /// The compiler could not be run.
    #[error("cannot {action}: {error}")]
    System {
        /// What failed.
        action: &'static str,
        /// What the system says.
        error: io::Error,
    },
}

/// A compiled object.
#[derive(Debug)]
pub struct Compiled {
    /// The relocatable device ELF.
    pub cubin: Vec<u8>,
    /// What the compiler wrote, such as warnings.
    pub messages: String,
    /// How long the compiler ran.
    pub milliseconds: f64,
    /// The release of the compiler, in words, if the object says it.
    pub release: Option<String>,
}

/// A compiler for one target.
#[derive(Clone, Debug)]
pub struct Ptxas {
    path: PathBuf,
    target: Target,
    /// Options after those of the fatbin member.
    options: Vec<String>,
    /// Whether code is compiled for the debugger.
    debugs: bool,
}

impl Ptxas {
    /// Returns the compiler at a path.
    pub fn new(path: PathBuf, target: Target, options: &PtxasOptions) -> Self {
        Ptxas {
            path,
            target: match options.family {
                true => target,
                false => target.without_family(),
            },
            options: link_options(options),
            debugs: options.debugs(),
        }
    }

    /// Returns the path of the program.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Compiles PTX to a relocatable object.
    pub fn compile(&self, ptx: PtxImage<'_>) -> Result<Compiled, CompileError> {
        let mut options = vec!["-c".to_owned()];
        let member = String::from_utf8_lossy(ptx.options);
        options.extend(member.split_ascii_whitespace().map(str::to_owned));
        options.extend(self.options.iter().cloned());
        self.run(ptx.text, &options)
    }

    /// Returns `true` if a whole program can be compiled to what nvlink's own compiler makes of it.
    /// With debug information ptxas records the names of its files, nvlink's has none: the text is
    /// an argument then, which has at most 128 KiB.
    pub fn takes_program(&self, text: &[u8]) -> bool {
        let text = without_padding(text);
        !self.debugs || text.len() <= LONGEST_ARGUMENT && std::str::from_utf8(text).is_ok()
    }

    /// Compiles a whole program, such as the result of link-time optimisation, to an executable
    /// device ELF. Only the link's own options apply.
    ///
    /// # Errors
    ///
    /// Fails if the compiler does, or if [`Ptxas::takes_program`] denies the program.
    pub fn compile_program(&self, text: &[u8]) -> Result<Compiled, CompileError> {
        if !self.debugs {
            return self.run(text, &self.options);
        }
        let text = std::str::from_utf8(without_padding(text)).map_err(|error| {
            let error = io::Error::new(io::ErrorKind::InvalidData, error);
            let action = "pass the program to ptxas";
            CompileError::System { action, error }
        })?;
        let words = ["--input-as-string", text];
        self.run_in(&own_folder()?, &self.options, &words, DEFAULT_NAME)
    }

    /// Runs the compiler on a file whose name is that of nvlink's input.
    fn run(&self, text: &[u8], options: &[String]) -> Result<Compiled, CompileError> {
        let system = |action| move |error| CompileError::System { action, error };
        let folder = own_folder()?;
        std::fs::write(folder.path().join(INPUT_NAME), without_padding(text))
            .map_err(system("write a temporary file"))?;
        self.run_in(
            &folder,
            options,
            &[INPUT_NAME, "-o", OUTPUT_NAME],
            OUTPUT_NAME,
        )
    }

    /// Runs the compiler in a folder of its own, with options and then `words`. It writes `output`.
    fn run_in(
        &self,
        folder: &TempDir,
        options: &[String],
        words: &[&str],
        output: &str,
    ) -> Result<Compiled, CompileError> {
        let system = |action| move |error| CompileError::System { action, error };
        may_run_file(&self.path).map_err(system("run ptxas"))?;
        let start = Instant::now();
        let result = Command::new(&self.path)
            .current_dir(folder.path())
            .args(["-arch", &self.target.to_string(), "-m", "64"])
            .args(options)
            .args(words)
            .output()
            .map_err(system("run ptxas"))?;
        let milliseconds = start.elapsed().as_secs_f64() * 1e3;
        let messages = String::from_utf8_lossy(&result.stdout).into_owned()
            + &String::from_utf8_lossy(&result.stderr);
        if !result.status.success() {
            return Err(CompileError::Refused { messages });
        }
        let mut cubin = std::fs::read(folder.path().join(output))
            .map_err(system("read the compiled object"))?;
        let release = record::release(&cubin);
        record::forget_files(&mut cubin, INPUT_NAME, OUTPUT_NAME);
        Ok(Compiled {
            cubin,
            messages,
            milliseconds,
            release,
        })
    }
}

/// Makes a folder for one run of the compiler.
fn own_folder() -> Result<TempDir, CompileError> {
    let made = tempfile::Builder::new().prefix("cuweld-").tempdir();
    made.map_err(|error| CompileError::System {
        action: "make a temporary folder",
        error,
    })
}

/// Returns PTX without the NULs at its end, which text in fatbins has.
fn without_padding(text: &[u8]) -> &[u8] {
    match text.iter().rposition(|byte| *byte != 0) {
        Some(last) => text.get(..=last).unwrap_or(text),
        None => b"",
    }
}

/// Returns the options that follow the member's own, so that the command line's registers limit
/// wins.
fn link_options(options: &PtxasOptions) -> Vec<String> {
    let mut words: Vec<String> = options
        .extra
        .iter()
        .flat_map(|element| element.split_ascii_whitespace())
        .map(str::to_owned)
        .collect();
    if let Some(count) = options.max_registers {
        words.extend(["-maxrregcount".to_owned(), count.to_string()]);
    }
    if let Some(on) = options.stack_protector {
        words.extend(["-device-stack-protector".to_owned(), on.to_string()]);
    }
    if let Some(threads) = options.split_compile {
        words.extend(["-split-compile".to_owned(), threads.to_string()]);
    }
    if let Some(level) = &options.fast_compile {
        words.extend(["-Ofc".to_owned(), level.clone()]);
    }
    if options.debug {
        words.push("-g".to_owned());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_options_come_in_nvlinks_order() {
        let options = PtxasOptions {
            debug: true,
            extra: vec![" -O1  ".to_owned(), String::new(), "-v -dlcm=ca".to_owned()],
            max_registers: Some(32),
            stack_protector: Some(false),
            split_compile: Some(2),
            fast_compile: Some("max".to_owned()),
            family: false,
        };
        let expected = "-O1 -v -dlcm=ca -maxrregcount 32 -device-stack-protector false -split-compile 2 -Ofc max -g";
        assert_eq!(link_options(&options).join(" "), expected);
        assert!(link_options(&PtxasOptions::default()).is_empty());
    }

    #[test]
    fn a_program_that_is_no_compiler_is_an_error() {
        let ptx = PtxImage {
            text: b".version 9.0\0\0",
            options: b"",
            arch: None,
        };
        let target = Target::parse("sm_90").unwrap();
        let compile = |path: &str| {
            Ptxas::new(path.into(), target, &PtxasOptions::default())
                .compile(ptx)
                .unwrap_err()
        };
        assert!(matches!(
            compile("/bin/false"),
            CompileError::Refused { .. }
        ));
        assert!(matches!(compile("/bin/true"), CompileError::System { .. }));
        assert!(matches!(
            compile("/none/ptxas"),
            CompileError::System { .. }
        ));
    }
}
