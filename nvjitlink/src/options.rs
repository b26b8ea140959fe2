//! The options of a link, as `nvJitLinkCreate` takes them.

use cuweld::Target;
use cuweld::Toolkit;

use crate::result::ResultCode;

/// The options of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// `-arch`; `None` for a virtual one.
    pub(crate) target: Option<Target>,
    pub(crate) lto: bool,
    pub(crate) ptx: bool,
    pub(crate) debug: bool,
    pub(crate) relocatable: bool,
    pub(crate) verbose: bool,
    pub(crate) time: bool,
    pub(crate) max_registers: Option<i32>,
    /// Options for ptxas: those of `-Xptxas`, and those that it has, too.
    pub(crate) xptxas: Vec<String>,
    pub(crate) kernels_used: Option<Vec<String>>,
    pub(crate) variables_used: Option<Vec<String>>,
}

/// Why options are refused: the result, and what the error log says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused(pub(crate) ResultCode, pub(crate) String);

/// Options without a value. Those of compilation take one that nobody reads.
const FLAGS: [&str; 12] = [
    "-lto",
    "-ptx",
    "-g",
    "-r",
    "-relocatable-link",
    "-verbose",
    "-time",
    "-lineinfo",
    "-optimize-unused-variables",
    "-no-cache",
    "-Ofc",
    "-nvvm-latest",
];

/// Options with a value after `=` that only link-time optimisation reads.
const OF_COMPILATION: [&str; 8] = [
    "-split-compile",
    "-ftz",
    "-prec-div",
    "-prec-sqrt",
    "-fma",
    "-Xnvvm",
    "-split-compile-extended",
    "-jump-table-density",
];

/// SMs that were supported once.
const GONE: [u16; 8] = [50, 52, 53, 60, 61, 62, 70, 72];

impl Options {
    /// Reads options. The first that is wrong ends it.
    pub(crate) fn parse<'o>(
        words: impl IntoIterator<Item = &'o str>,
        toolkit: &Toolkit,
    ) -> Result<Options, Refused> {
        let mut options = Options::default();
        let mut arch = None;
        for word in words {
            options.word(word, &mut arch)?;
        }
        let Some(arch) = arch else {
            return Err(Refused(ResultCode::MISSING_ARCH, String::new()));
        };
        options.arch(arch, toolkit)?;
        if options.ptx && !options.lto {
            let text = "ERROR: -ptx requires -lto\n".to_owned();
            return Err(Refused(ResultCode::INCOMPATIBLE_OPTIONS, text));
        }
        Ok(options)
    }

    fn word<'o>(&mut self, word: &'o str, arch: &mut Option<&'o str>) -> Result<(), Refused> {
        let unrecognized = || {
            let text = format!("unrecognized option: {word}\n");
            Err(Refused(ResultCode::UNRECOGNIZED_OPTION, text))
        };
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        if FLAGS.contains(&name) {
            match name {
                "-lto" => self.lto = true,
                "-ptx" => self.ptx = true,
                "-g" => self.debug = true,
                "-r" | "-relocatable-link" => self.relocatable = true,
                "-verbose" => self.verbose = true,
                "-time" => self.time = true,
                "-lineinfo" => self.xptxas.push(name.to_owned()),
                _ => {}
            }
            return Ok(());
        }
        let Some(value) = value else {
            return match word.strip_prefix("-O") {
                Some("0" | "3") => {
                    self.xptxas.push(word.to_owned());
                    Ok(())
                }
                Some(level) if level.parse::<u32>().is_ok() => {
                    let text =
                        format!("unsupported value of -O: {level}. Only 0 and 3 are supported.\n");
                    Err(Refused(ResultCode::UNRECOGNIZED_OPTION, text))
                }
                _ => unrecognized(),
            };
        };
        match name {
            "-arch" => *arch = Some(value),
            "-maxrregcount" => self.max_registers = value.parse().ok().filter(|count| *count > 0),
            "-Xptxas" => self.xptxas.push(value.to_owned()),
            "-kernels-used" => push(&mut self.kernels_used, value),
            "-variables-used" => push(&mut self.variables_used, value),
            "-uidx" => {
                let text = match std::fs::exists(value) {
                    Ok(true) => format!("ERROR: File '{value}' is no index\n"),
                    _ => format!("ERROR: File '{value}' does not exist\n"),
                };
                return Err(Refused(ResultCode::INVALID_INPUT, text));
            }
            _ if OF_COMPILATION.contains(&name) => {}
            _ => return unrecognized(),
        }
        Ok(())
    }

    fn arch(&mut self, arch: &str, toolkit: &Toolkit) -> Result<(), Refused> {
        let refused = |code, name: &str, what: &str| {
            let text = format!("ERROR NVJITLINK_ERROR_{name}: {what}\n");
            Err(Refused(code, text))
        };
        let real = arch.strip_prefix("sm_");
        let of_virtual = || {
            let mut prefixes = ["compute_", "lto_"].into_iter();
            prefixes.find_map(|prefix| arch.strip_prefix(prefix))
        };
        let Some(name) = real.or_else(of_virtual) else {
            let what = format!("missing option value (-arch={arch})");
            return refused(
                ResultCode::UNRECOGNIZED_OPTION,
                "UNRECOGNIZED_OPTION",
                &what,
            );
        };
        // A letter that no target has is not looked at.
        let digits: String = name.chars().take_while(char::is_ascii_digit).collect();
        let parsed = Target::parse(&format!("sm_{name}"));
        let target = parsed.or_else(|| Target::parse(&format!("sm_{digits}")));
        let sm = digits.parse::<u16>().unwrap_or_default();
        match target {
            Some(target) if toolkit.has_target(target.sm) => {
                self.target = Some(target).filter(|_| real.is_some());
            }
            _ if GONE.contains(&sm) => {
                let what = format!("unsupported architecture (compute_{name})");
                return refused(ResultCode::UNSUPPORTED_ARCH, "UNSUPPORTED_ARCH", &what);
            }
            _ => {
                let what = format!("unrecognized architecture (compute_{name})");
                return refused(ResultCode::UNRECOGNIZED_ARCH, "UNRECOGNIZED_ARCH", &what);
            }
        }
        if self.target.is_none() && !self.ptx {
            let text = "ERROR: virtual arch requires -ptx\n".to_owned();
            return Err(Refused(ResultCode::INCOMPATIBLE_OPTIONS, text));
        }
        Ok(())
    }
}

fn push(list: &mut Option<Vec<String>>, name: &str) {
    list.get_or_insert_default().push(name.to_owned());
}
