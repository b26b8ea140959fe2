//! Link cases: a folder `tests/links/<topic>/<case>` each, described by its `case.toml`.

use std::error::Error;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// What a case stands for.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Expect {
    /// The output is nvlink's, byte for byte.
    Identical,
    /// No output, nvlink's exit code and messages.
    Error,
    /// We differ on purpose; `docs/deviations.md` says why.
    Deviation,
}

/// What a case is about: a folder of `tests/links`, and a heading of `docs/SUPPORT.md`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Topic {
    /// Which files are taken, and what of them.
    Inputs,
    /// What a name stands for.
    Symbols,
    /// What stays in the output.
    Liveness,
    /// Global and constant data.
    Data,
    /// Shared memory.
    SharedMemory,
    /// Registers, barriers, stack and what else travels up the call graph.
    Resources,
    /// Relocations, textures.
    Relocations,
    /// `-g`, `-lineinfo`.
    Debug,
    /// `-r` and its output as input.
    Relocatable,
    /// Objects for sm_100 and up, which hold Mercury beside SASS.
    Mercury,
    /// What options do.
    Options,
    /// All else.
    #[default]
    Further,
}

#[allow(dead_code, reason = "only the runner for docs/SUPPORT.md needs it")]
impl Topic {
    /// All topics, in the order of the page.
    pub const ALL: [Topic; 12] = [
        Topic::Inputs,
        Topic::Symbols,
        Topic::Liveness,
        Topic::Data,
        Topic::SharedMemory,
        Topic::Resources,
        Topic::Relocations,
        Topic::Debug,
        Topic::Relocatable,
        Topic::Mercury,
        Topic::Options,
        Topic::Further,
    ];

    /// Its folder in `tests/links`.
    pub fn folder(self) -> &'static str {
        match self {
            Topic::Inputs => "inputs",
            Topic::Symbols => "symbols",
            Topic::Liveness => "liveness",
            Topic::Data => "data",
            Topic::SharedMemory => "shared-memory",
            Topic::Resources => "resources",
            Topic::Relocations => "relocations",
            Topic::Debug => "debug",
            Topic::Relocatable => "relocatable",
            Topic::Mercury => "mercury",
            Topic::Options => "options",
            Topic::Further => "further",
        }
    }

    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Topic::Inputs => "Inputs",
            Topic::Symbols => "Symbols",
            Topic::Liveness => "Liveness",
            Topic::Data => "Global and constant data",
            Topic::SharedMemory => "Shared memory",
            Topic::Resources => "Registers, barriers, stack",
            Topic::Relocations => "Relocations",
            Topic::Debug => "Debug information",
            Topic::Relocatable => "Relocatable output",
            Topic::Mercury => "Mercury: sm_100 and up",
            Topic::Options => "Options",
            Topic::Further => "Further cases",
        }
    }
}

/// `case.toml`. `{arch}` in any string stands for the target.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Name of its folder. No two cases have the same.
    #[serde(skip)]
    pub name: String,
    /// Topic and name, as the tests call it: `symbols/weak-variable`.
    #[serde(skip)]
    pub path: String,
    /// Where the case lies; links run in this folder.
    #[serde(skip)]
    pub folder: PathBuf,
    /// What the case shows, in a sentence.
    pub summary: String,
    /// What it is about.
    #[serde(skip)]
    pub topic: Topic,
    /// Targets it runs for.
    pub arch: Vec<String>,
    /// Inputs in link order.
    pub inputs: Vec<String>,
    /// Inputs that are missing on purpose.
    #[serde(default)]
    pub missing: Vec<String>,
    /// Committed files that options name.
    #[serde(default)]
    pub libraries: Vec<String>,
    /// Options in front of the inputs.
    #[serde(default)]
    pub options: Vec<String>,
    /// We link with `--cuweld-strict`: nvlink's output is known to be wrong, a deviation otherwise.
    #[serde(default)]
    pub strict: bool,
    /// A package beside the toolkit that `tests/tools/oracle --NEEDS` fetches; for cases of `tests/live`.
    pub needs: Option<String>,
    /// Kind of expectation.
    pub expect: Expect,
    /// The toolkits whose linkers are asked, in cases of `tests/toolkits`.
    #[serde(default)]
    pub toolkits: Vec<String>,
    /// Id in `docs/deviations.md`.
    pub deviation: Option<String>,
    /// Exit code.
    #[serde(default)]
    pub exit: i32,
    /// All lines of stderr.
    #[serde(default)]
    pub stderr: Vec<String>,
    /// What cuweld adds to the lines: all its notes and helps, in order, if any are given.
    #[serde(default)]
    pub explained: Vec<String>,
    /// How `tests/tools/bless` makes the inputs; the runners don't look at it.
    #[serde(default, rename = "build")]
    pub builds: Vec<toml::Table>,
}

impl Case {
    /// All cases of `tests/links`, sorted by name.
    pub fn all() -> Result<Vec<Self>, Box<dyn Error>> {
        let links = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/links");
        let mut cases = Vec::new();
        for entry in std::fs::read_dir(links)? {
            let folder = entry?.path();
            let is_of = |topic: &Topic| folder.ends_with(topic.folder());
            let topic = Topic::ALL.into_iter().find(is_of);
            let topic = topic.ok_or_else(|| format!("{} is no topic", folder.display()))?;
            for mut case in Self::in_folder(&folder)? {
                case.topic = topic;
                case.path = format!("{}/{}", topic.folder(), case.name);
                cases.push(case);
            }
        }
        cases.sort_by(|a, b| a.name.cmp(&b.name));
        match cases.windows(2).find(|pair| pair[0].name == pair[1].name) {
            Some(pair) => Err(format!("{} and {}", pair[0].path, pair[1].path).into()),
            None => Ok(cases),
        }
    }

    /// The cases of `tests/live`, whose inputs hold NVIDIA's device code and are made for each run.
    #[allow(dead_code, reason = "only live conformance has the tools")]
    pub fn live() -> Result<Vec<Self>, Box<dyn Error>> {
        let live = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live");
        let mut cases = Self::in_folder(&live)?;
        cases.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(cases)
    }

    /// The cases of `tests/toolkits`, each for several toolkits.
    #[allow(dead_code, reason = "only the binary of cases runs them")]
    pub fn of_toolkits() -> Result<Vec<Self>, Box<dyn Error>> {
        let toolkits = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/toolkits");
        let mut cases = Self::in_folder(&toolkits)?;
        cases.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(cases)
    }

    fn in_folder(root: &Path) -> Result<Vec<Self>, Box<dyn Error>> {
        let mut cases = Vec::new();
        for entry in std::fs::read_dir(root)? {
            let folder = entry?.path();
            if folder.join("case.toml").exists() {
                cases.push(Self::load(folder)?);
            }
        }
        Ok(cases)
    }

    fn load(folder: PathBuf) -> Result<Self, Box<dyn Error>> {
        let file = folder.join("case.toml");
        let text = std::fs::read_to_string(&file)?;
        let mut case: Self =
            toml::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        let wrong = |what: &str| Err(format!("{}: {what}", file.display()).into());
        match (case.expect, case.exit) {
            (Expect::Identical, 0) | (Expect::Deviation, _) => {}
            (Expect::Identical, _) => return wrong("an identical link exits with 0"),
            (Expect::Error, 0) => {
                return wrong("an error needs the exit code, run tests/tools/bless");
            }
            (Expect::Error, _) => {}
        }
        if (case.expect == Expect::Deviation) != case.deviation.is_some() {
            return wrong(
                "`deviation` names the entry of docs/deviations.md, for expect = \"deviation\" only",
            );
        }
        if case.arch.is_empty() {
            return wrong("no architecture: the case would test nothing");
        }
        case.name = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        case.path = case.name.clone();
        case.folder = folder;
        Ok(case)
    }

    /// The command line for one target, without the output.
    pub fn arguments(&self, arch: &str) -> Vec<String> {
        let mut arguments = vec![format!("-arch={arch}")];
        arguments.extend(
            self.options
                .iter()
                .chain(&self.inputs)
                .map(|argument| for_arch(argument, arch)),
        );
        arguments
    }

    /// The expected lines of stderr for one target.
    pub fn expected_lines(&self, arch: &str) -> Vec<String> {
        self.stderr
            .iter()
            .map(|line| for_arch(line, arch))
            .collect()
    }

    /// The expected notes and helps for one target.
    #[allow(dead_code, reason = "only the binary of cases compares them")]
    pub fn expected_explanations(&self, arch: &str) -> Vec<String> {
        self.explained
            .iter()
            .map(|line| for_arch(line, arch))
            .collect()
    }

    /// The expected output for one target.
    pub fn expected_output(&self, arch: &str) -> PathBuf {
        self.folder.join("expected").join(format!("{arch}.cubin"))
    }

    /// Committed files that a link of this case reads.
    pub fn files(&self, arch: &str) -> Vec<PathBuf> {
        let present = self
            .inputs
            .iter()
            .filter(|input| !self.missing.contains(input));
        present
            .chain(&self.libraries)
            .map(|file| self.folder.join(for_arch(file, arch)))
            .collect()
    }
}

fn for_arch(text: &str, arch: &str) -> String {
    text.replace("{arch}", arch)
}
