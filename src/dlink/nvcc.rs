//! The steps of `nvcc -dlink`, as `nvcc --dryrun` prints them.
//!
//! nvcc itself decides what a device link is made of: its command line is large, and has defaults,
//! environment variables and files of its own. Steps that are not all known here are nvcc's to do.

use thiserror::Error;

use super::fatbin::Compression;
use super::stub::Host;
use super::stub::HostForm;
use super::stub::Visibility;
use crate::Target;

/// What a line of the dry run begins with; others are messages.
const STEP: &str = "#$ ";
/// The option that names a file with the arguments of nvlink.
const OPTIONS_FILE: &str = "-optf";
/// The source of the host object.
const LINK_STUB: &str = "link.stub";

/// The steps of a device link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps {
    /// The arguments of nvlink, for each target.
    pub links: Vec<Vec<String>>,
    /// What is packed: the target and the name of its cubin.
    pub images: Vec<(Target, String)>,
    /// How it is packed.
    pub compression: Compression,
    /// Whether everything is packed.
    pub compress_all: bool,
    /// Whether it is for a debugger.
    pub debug: bool,
    /// The name of all images.
    pub ident: String,
    /// The form of the host object.
    pub host: HostForm,
    /// The host object.
    pub output: String,
    /// What nvcc says beside its steps.
    pub messages: String,
}

/// Why the steps are nvcc's to do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unknown {
    /// The text is none that a shell reads as it stands.
    #[error("a step that a shell has to read: {0}")]
    Shell(String),
    /// A program that is not known, or is not expected there.
    #[error("another step: {0}")]
    Program(String),
    /// A word of fatbinary or the compiler.
    #[error("an option of {program}: {word}")]
    Word {
        /// Whose word it is.
        program: &'static str,
        /// The word.
        word: String,
    },
    /// Files that the user wants to see.
    #[error("files that are kept")]
    Kept,
    /// Something that each device link has.
    #[error("there is no {0}")]
    Lacks(&'static str),
}

impl Steps {
    /// Reads what `nvcc --dryrun` has written.
    ///
    /// # Errors
    ///
    /// Steps of which not all is known.
    pub fn parse(text: &str) -> Result<Self, Unknown> {
        let mut steps = Steps {
            links: Vec::new(),
            images: Vec::new(),
            compression: Compression::Default,
            compress_all: false,
            debug: false,
            ident: String::new(),
            host: HostForm {
                host: Host::X86_64,
                visibility: Visibility::Default,
            },
            output: String::new(),
            messages: String::new(),
        };
        for line in text.lines() {
            match line.strip_prefix(STEP) {
                None => {
                    steps.messages.push_str(line);
                    steps.messages.push('\n');
                }
                Some(step) if is_assignment(step) => {}
                Some(step) => steps.step(step)?,
            }
        }
        if steps.output.is_empty() {
            return Err(Unknown::Lacks("host object"));
        }
        let mut files = steps.images.iter().map(|(_, file)| file);
        if files.any(|file| name_in_run(file).is_none()) {
            return Err(Unknown::Kept);
        }
        if !steps.links_are_in_files() {
            steps.check_links()?;
        }
        Ok(steps)
    }

    /// Returns `true` if the arguments of nvlink are in files, which a dry run does not write: those
    /// of [`Self::links`] only name them.
    pub fn links_are_in_files(&self) -> bool {
        let is_in_file =
            |words: &Vec<String>| matches!(words.as_slice(), [option, _] if option == OPTIONS_FILE);
        self.links.iter().any(is_in_file)
    }

    /// Takes over the arguments of nvlink from a run, in which its files have other names.
    ///
    /// # Errors
    ///
    /// Links that are not those of the images.
    pub fn take_links(&mut self, links: Vec<Vec<String>>) -> Result<(), Unknown> {
        for (_, file) in &mut self.images {
            let mut outputs = links.iter().filter_map(|words| output_of(words));
            let output = outputs.find(|output| name_in_run(output) == name_in_run(file));
            output.unwrap_or("").clone_into(file);
        }
        self.links = links;
        self.check_links()
    }

    fn check_links(&self) -> Result<(), Unknown> {
        let mut files = self.images.iter().map(|(_, file)| file);
        match files.all(|file| self.link_of(file).is_some()) {
            true if self.images.len() == self.links.len() => Ok(()),
            _ => Err(Unknown::Lacks("link for each image")),
        }
    }

    /// Returns which of the links writes a file.
    pub fn link_of(&self, file: &str) -> Option<usize> {
        let mut outputs = self.links.iter().map(|words| output_of(words));
        outputs.position(|output| output == Some(file))
    }

    fn step(&mut self, step: &str) -> Result<(), Unknown> {
        let step = without_redirection(step);
        if step.contains(['$', '`', '|', '>', '<', ';', '&', '*', '?', '~']) {
            return Err(Unknown::Shell(step.to_owned()));
        }
        let words = shlex::split(step).ok_or_else(|| Unknown::Shell(step.to_owned()))?;
        let unexpected = || Unknown::Program(step.to_owned());
        let (program, words) = words.split_first().ok_or_else(unexpected)?;
        // In this order, and each once but nvlink.
        let is_packed = !self.images.is_empty();
        let is_done = !self.output.is_empty();
        match program.as_str() {
            "nvlink" if !is_packed => self.links.push(words.to_vec()),
            "fatbinary" if !is_packed && !self.links.is_empty() => self.fatbinary(words)?,
            // What there might be from an earlier run.
            "rm" if !is_done => {}
            name if is_packed && !is_done && is_compiler(name) => self.compiler(words)?,
            _ => return Err(unexpected()),
        }
        Ok(())
    }

    fn fatbinary(&mut self, words: &[String]) -> Result<(), Unknown> {
        let mut links = false;
        for word in words {
            let unknown = || Unknown::Word {
                program: "fatbinary",
                word: word.clone(),
            };
            match word.as_str() {
                "-64" => {}
                "-link" => links = true,
                "-g" => self.debug = true,
                "-compress-all" | "--compress-all" => self.compress_all = true,
                word => {
                    let (name, value) = word.split_once('=').ok_or_else(unknown)?;
                    match name {
                        // Recorded for PTX alone.
                        "--cmdline" | "--embedded-fatbin" => {}
                        "--ident" => value.clone_into(&mut self.ident),
                        "--compress-mode" => {
                            let mode = <Compression as clap::ValueEnum>::from_str(value, false);
                            self.compression = mode.map_err(|_| unknown())?;
                        }
                        "--image3" => self.images.push(image(value).ok_or_else(unknown)?),
                        _ => return Err(unknown()),
                    }
                }
            }
        }
        match links && !self.images.is_empty() {
            true => Ok(()),
            false => Err(Unknown::Lacks("image to link")),
        }
    }

    /// Takes the compilation of the host object. The words that change nothing of what ours does are
    /// known; of the others, such as those for another machine, it is not known what they would do.
    fn compiler(&mut self, words: &[String]) -> Result<(), Unknown> {
        let mut machine = None;
        let mut has_source = false;
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "-o" => words
                    .next()
                    .map_or("", String::as_str)
                    .clone_into(&mut self.output),
                "-m64" => machine = Host::here(),
                "-fvisibility=default" => self.host.visibility = Visibility::Default,
                "-fvisibility=hidden" => self.host.visibility = Visibility::Hidden,
                // Whose value is a word of its own.
                "-x" | "-isystem" | "-D" | "-I" => drop(words.next()),
                word if word.ends_with(LINK_STUB) && !word.starts_with('-') => has_source = true,
                word if is_harmless(word) => {}
                _ => {
                    return Err(Unknown::Word {
                        program: "the compiler",
                        word: word.clone(),
                    });
                }
            }
        }
        self.host.host = machine.ok_or(Unknown::Lacks("machine of the host"))?;
        match has_source {
            true => Ok(()),
            false => Err(Unknown::Lacks("link stub")),
        }
    }
}

/// Returns a step without the files that take its messages, which `--threads` gives to each.
fn without_redirection(step: &str) -> &str {
    let parts = step.trim_end().rsplit_once(" > ");
    let is_file = |file: &str, end| file.ends_with(end) && !file.contains(char::is_whitespace);
    parts
        .and_then(|(step, files)| {
            let (output, errors) = files.split_once(" 2>")?;
            (is_file(output, "_stdout") && is_file(errors, "_stderr")).then_some(step)
        })
        .unwrap_or(step)
}

/// Returns what a link writes.
fn output_of(words: &[String]) -> Option<&str> {
    let output = words.iter().position(|word| word == "-o")?;
    words.get(output + 1).map(String::as_str)
}

/// Returns what the name of a temporary file has after the number of the run; `None` for a file that
/// is kept.
fn name_in_run(file: &str) -> Option<&str> {
    let name = file.rsplit('/').next()?;
    let (_, name) = name.strip_prefix("tmpxft_")?.split_once('-')?;
    Some(name)
}

/// Returns `true` if a step sets a variable.
fn is_assignment(step: &str) -> bool {
    let name = step.split_once('=').map(|(name, _)| name);
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.is_some_and(|name| !name.is_empty() && name.bytes().all(is_letter))
}

/// Returns `true` for compilers of this machine: those for others have the machine in their names.
fn is_compiler(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let base = name.split_once('-').map_or(name, |(base, version)| {
        match version
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
        {
            true => base,
            false => "",
        }
    });
    ["gcc", "g++", "cc", "c++", "clang", "clang++"].contains(&base)
}

/// Returns `true` for words of a compiler that do not change what the host object does.
fn is_harmless(word: &str) -> bool {
    // Code that the program wants run as well.
    let hook = word.strip_prefix("-D__NV_EXTRA_");
    if let Some(hook) = hook {
        return hook.ends_with('=');
    }
    let known = [
        "-c",
        "-w",
        "-pipe",
        "-pedantic",
        "-pthread",
        "-fopenmp",
        "-fvisibility-inlines-hidden",
    ];
    let families = ["-D", "-I", "-W", "-O", "-g", "-std=", "-march=", "-mtune="];
    let forms = ["-fPIC", "-fpic", "-fPIE", "-fpie", "-fno-"];
    known.contains(&word)
        || families
            .iter()
            .chain(&forms)
            .any(|begin| word.starts_with(begin))
}

/// Reads `kind=elf,sm=90,file=x.cubin`.
fn image(text: &str) -> Option<(Target, String)> {
    let rest = text.strip_prefix("kind=elf,sm=")?;
    let (sm, file) = rest.split_once(",file=")?;
    Some((Target::parse(&format!("sm_{sm}"))?, file.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = r##"#$ _SPACE_= 
#$ TOP=/cuda/bin/..
nvcc warning : something
#$ nvlink -m64 --arch=sm_80 --register-link-binaries="/tmp/t.reg.c"    "-L/cuda/bin/..//lib64" -cpu-arch=X86_64 -report-arch "a.o"  -lcudadevrt  -o "/tmp/tmpxft_1a_0-5_d.cubin" --host-ccbin "gcc"
#$ nvlink -m64 --arch=sm_90a --register-link-binaries="/tmp/t.reg.c" "a.o" -o "/tmp/tmpxft_1a_0-6_d.cubin" --host-ccbin "gcc"
#$ fatbinary -64 -compress-all --ident="a.o b.o " --cmdline="--compile-only  -g " -g -link --compress-mode=size "--image3=kind=elf,sm=80,file=/tmp/tmpxft_1a_0-5_d.cubin" "--image3=kind=elf,sm=90a,file=/tmp/tmpxft_1a_0-6_d.cubin" --embedded-fatbin="/tmp/4.fatbin.c" 
#$ rm /tmp/4.fatbin
#$ g++-12 -std=c++17 -D__CUDA_ARCH_LIST__=800,900 -c -x c++ -fPIC -DFATBINFILE="\"/tmp/4.fatbin.c\"" -I. -D__NV_EXTRA_INITIALIZATION= -D__NV_EXTRA_FINALIZATION=  -O2 -Wno-psabi "-I/cuda/include"   "-isystem" "/cuda/include/cccl"    -D "A=1" -m64 -g "/cuda/bin/crt/link.stub" -o "d.o" 
"##;

    #[test]
    fn steps_of_two_targets_are_read() {
        let steps = Steps::parse(TWO).unwrap();
        assert_eq!(steps.messages, "nvcc warning : something\n");
        assert_eq!(steps.links.len(), 2);
        assert!(steps.links[0].contains(&"--register-link-binaries=/tmp/t.reg.c".to_owned()));
        let names: Vec<String> = steps
            .images
            .iter()
            .map(|(target, _)| target.to_string())
            .collect();
        assert_eq!(names, ["sm_80", "sm_90a"]);
        assert_eq!(steps.link_of("/tmp/tmpxft_1a_0-6_d.cubin"), Some(1));
        assert_eq!(
            (steps.compression, steps.compress_all, steps.debug),
            (Compression::Size, true, true)
        );
        assert_eq!((&*steps.ident, &*steps.output), ("a.o b.o ", "d.o"));
        assert_eq!(steps.host.visibility, Visibility::Default);
        let hidden = TWO.replace(
            "-fPIC",
            "-fPIC -fvisibility=hidden -fvisibility-inlines-hidden",
        );
        let hidden = Steps::parse(&hidden).unwrap().host.visibility;
        assert_eq!(hidden, Visibility::Hidden);
    }

    #[test]
    fn steps_that_run_side_by_side_are_the_same() {
        let files = "  > /tmp/tmpxft_1-7_3a_stdout 2>/tmp/tmpxft_1-7_3a_stderr\n";
        let text = TWO
            .replace(" \n", files)
            .replace("\"gcc\"\n", &format!("\"gcc\"{files}"));
        assert_ne!(text, TWO);
        assert_eq!(Steps::parse(&text), Steps::parse(TWO));
    }

    #[test]
    fn other_steps_are_left_to_nvcc() {
        for (known, other) in [
            ("g++-12", "aarch64-linux-gnu-g++"),
            ("g++-12", "icpx"),
            ("-m64 -g", "-m32 -g"),
            ("-fPIC", "-fsanitize=address"),
            ("-fPIC", "-fvisibility=protected"),
            (
                "-D__NV_EXTRA_FINALIZATION=",
                "-D__NV_EXTRA_FINALIZATION=f();",
            ),
            ("fatbinary -64", "fatbinary -32"),
            ("kind=elf,sm=80", "kind=ptx,sm=80"),
            ("sm=80,file", "sm=70,file"),
            (
                "/tmp/tmpxft_1a_0-5_d.cubin\"",
                "/tmp/tmpxft_1a_0-7_d.cubin\"",
            ),
            ("link.stub", "other.cc"),
            ("-compress-all", "-new-option"),
            ("--host-ccbin \"gcc\"", "> /tmp/a_stdout"),
            ("\"a.o\"  -lcudadevrt", "\"$a.o\""),
            ("#$ rm /tmp/4.fatbin", "#$ cicc x.ii"),
            ("#$ rm /tmp/4.fatbin", "#$ nvlink -m64 x.o -o y.cubin"),
        ] {
            let text = TWO.replacen(known, other, 1);
            assert_ne!(text, TWO, "{known}");
            assert!(Steps::parse(&text).is_err(), "{other}");
        }
        assert!(Steps::parse("").is_err());
        let kept = TWO.replace("tmpxft_1a_0-", "");
        assert_eq!(Steps::parse(&kept), Err(Unknown::Kept));
    }

    #[test]
    fn links_of_a_run_take_the_place_of_names_of_files() {
        let lines = TWO.lines().map(|line| match line.starts_with("#$ nvlink") {
            true => "#$ nvlink -optf \"/tmp/tmpxft_1a_0-9.optf\"".to_owned(),
            false => line.to_owned(),
        });
        let text = lines.collect::<Vec<_>>().join("\n");
        let links = |names: [&str; 2]| {
            let link = |name| ["-m64", "-o", name].map(str::to_owned).to_vec();
            names.map(link).to_vec()
        };
        let mut steps = Steps::parse(&text).unwrap();
        assert!(steps.links_are_in_files());
        let names = ["/t/tmpxft_2b_0-6_d.cubin", "/t/tmpxft_2b_0-5_d.cubin"];
        assert_eq!(steps.take_links(links(names)), Ok(()));
        assert_eq!(steps.images[0].1, names[1]);
        assert_eq!(steps.link_of(names[1]), Some(1));
        let other = ["/t/tmpxft_2b_0-6_d.cubin", "/t/tmpxft_2b_0-8_d.cubin"];
        assert!(steps.take_links(links(other)).is_err());
    }
}
