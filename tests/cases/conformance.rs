//! Live comparison with nvlink 13.0.88: the committed cases, and generated programs.
//!
//! What nvlink writes of a case is committed and compared for each of its targets by `links`; that it still does is asked of one
//! target of each case, of all with `CUWELD_LIVE=all`; those of tests/live for two.
//!
//! Without the oracle (`eval "$(tests/tools/oracle)"`) this runs 0 live cases and passes. `CUWELD_SEEDS=200` runs more programs,
//! `CUWELD_SEEDS=17..18` runs one, for sm_90 or the targets of `CUWELD_ARCH=sm_75,sm_90a` (`all` stands for every SASS target). A
//! program that links differently stays in `target/conformance/<seed>-<arch>`, with the report.

use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::case::{Case, Expect};
use crate::harness::link::{Expected, Linker, Outcome, compare};
use crate::harness::oracle;
use libtest_mimic::{Arguments, Conclusion, Failed, Trial};

/// Target of generated programs that is tested most.
const MAIN_ARCH: &str = "sm_90";
/// The other targets without Mercury.
const OTHER_ARCHS: [&str; 7] = [
    "sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90a",
];
const DEFAULT_SEEDS: u32 = 40;
const DEFAULT_SEEDS_OF_OTHERS: u32 = 12;

pub fn run_all(arguments: &Arguments) -> Result<Conclusion, Box<dyn Error>> {
    let mut trials = Vec::new();
    match oracle::tools() {
        Some(tools) => {
            let each_target = std::env::var("CUWELD_LIVE").is_ok_and(|which| which == "all");
            for case in Case::all()?
                .into_iter()
                .filter(|case| case.expect != Expect::Deviation)
            {
                let targets = match each_target {
                    true => case.arch.len(),
                    false => 1,
                };
                for arch in case.arch.iter().rev().take(targets) {
                    let (nvlink, name) = (
                        Linker::nvlink(tools.join("nvlink")),
                        format!("conformance::links/{}/{arch}", case.path),
                    );
                    let (folder, link_arguments) = (case.folder.clone(), case.arguments(arch));
                    let ours = Linker::ours().strict(case.strict);
                    let trial = move || {
                        against(&nvlink, &ours, &folder, &link_arguments).map_err(Failed::from)
                    };
                    trials.push(Trial::test(name, trial));
                }
            }
            for case in Case::live()? {
                if let Some(package) = &case.needs
                    && !is_fetched(package)?
                {
                    writeln!(
                        std::io::stdout(),
                        "conformance: ran 0 links of live/{}, tests/tools/oracle --{package} fails",
                        case.name
                    )?;
                    continue;
                }
                // The first and the last: older targets, and newer ones.
                let count = case.arch.len();
                let is_run = |at: usize| each_target || at == 0 || at + 1 == count;
                let archs = (0..).zip(case.arch.clone()).filter(|(at, _)| is_run(*at));
                for (_, arch) in archs {
                    let (case, tools) = (case.clone(), tools.clone());
                    trials.push(Trial::test(
                        format!("conformance::live/{}/{arch}", case.name),
                        move || live(&case, &arch, &tools),
                    ));
                }
            }
            for (arch, seed) in programs()? {
                let tools = tools.clone();
                trials.push(Trial::test(
                    format!("conformance::seed/{seed}/{arch}"),
                    move || generated(seed, &arch, &tools),
                ));
            }
        }
        None => {
            let mut out = std::io::stdout();
            writeln!(
                out,
                "conformance: ran 0 live cases, there is no nvlink 13.0.88 (see tests/tools/oracle)"
            )?;
        }
    }
    Ok(libtest_mimic::run(arguments, trials))
}

/// Whether a package beside the toolkit is here; it is fetched once.
fn is_fetched(package: &str) -> Result<bool, Box<dyn Error>> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tools/oracle");
    let mut command = Command::new("timeout");
    command.args(["300", script, &format!("--{package}")]);
    Ok(command.output()?.status.success())
}

/// The programs to make: target and seed. `CUWELD_SEEDS` is a number of seeds, or a range `FROM..TO`; `CUWELD_ARCH` a
/// list of targets, or `all`. Without either, every target has its turn.
fn programs() -> Result<Vec<(String, u32)>, Box<dyn Error>> {
    let seeds = match std::env::var("CUWELD_SEEDS") {
        Err(_) => None,
        Ok(text) => Some(match text.split_once("..") {
            Some((from, to)) => from.parse()?..to.parse()?,
            None => 0..text.parse()?,
        }),
    };
    let archs: Vec<String> = match std::env::var("CUWELD_ARCH") {
        Ok(list) if list != "all" => list.split(',').map(String::from).collect(),
        Err(_) if seeds.is_some() => vec![MAIN_ARCH.into()],
        _ => [MAIN_ARCH]
            .iter()
            .chain(&OTHER_ARCHS)
            .map(|arch| (*arch).into())
            .collect(),
    };
    let default = |arch: &str| match arch {
        MAIN_ARCH => 0..DEFAULT_SEEDS,
        _ => 0..DEFAULT_SEEDS_OF_OTHERS,
    };
    Ok(archs
        .into_iter()
        .flat_map(|arch| {
            let seeds = seeds.clone().unwrap_or_else(|| default(&arch));
            seeds.map(move |seed| (arch.clone(), seed))
        })
        .collect())
}

fn link(linker: &Linker, folder: &Path, arguments: &[String]) -> Result<Outcome, String> {
    let outcome = linker.link(folder, arguments);
    outcome.map_err(|error| error.to_string())
}

fn equal(theirs: Outcome, ours: &Outcome) -> Result<(), String> {
    let expected = Expected {
        exit: theirs.exit,
        lines: Some(theirs.lines),
        output: theirs.output,
    };
    compare(ours, &expected)
}

fn against(
    nvlink: &Linker,
    ours: &Linker,
    folder: &Path,
    arguments: &[String],
) -> Result<(), String> {
    let theirs = link(nvlink, folder, arguments)?;
    let ours = link(ours, folder, arguments)?;
    if theirs.exit.is_none() {
        // nvlink crashed: there is nothing to be equal to, but we must not crash too.
        return if ours.exit.is_some() {
            Ok(())
        } else {
            Err(format!("crashed, as nvlink does:\n{}", ours.stderr))
        };
    }
    equal(theirs, &ours)
}

/// Compares a link that keeps code which nvlink makes anew (deviation D12), but for that code; the output checks itself.
fn kept(nvlink: &Linker, folder: &Path, arguments: &[String]) -> Result<(), String> {
    let ours = |option: &str| {
        let arguments = [&[option.to_owned()], arguments].concat();
        link(&Linker::ours(), folder, &arguments)
    };
    let mut theirs = link(nvlink, folder, arguments)?;
    let mut kept = ours("--cuweld-self-check")?;
    let strictly = ours("--cuweld-strict-finalize")?;
    match crate::harness::kept_schedule::mask(&mut theirs, &mut kept, &strictly, |_| false) {
        Some(_) => equal(theirs, &kept),
        None => Err("no code is kept".to_owned()),
    }
}

/// Builds the inputs of a case of `tests/live` and links them with both.
fn live(case: &Case, arch: &str, tools: &Path) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    run(
        Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tools/bless"))
            .args(["--live".as_ref(), folder.path()])
            .args(["--arch", arch, &case.name]),
    )?;
    let nvlink = Linker::nvlink(tools.join("nvlink"));
    let folder = folder.path().join(&case.name);
    let arguments = case.arguments(arch);
    Ok(match case.expect {
        Expect::Deviation => kept(&nvlink, &folder, &arguments),
        _ => against(&nvlink, &Linker::ours(), &folder, &arguments),
    }?)
}

/// Makes program number `seed`, compiles it for `arch` and links it with both.
fn generated(seed: u32, arch: &str, tools: &Path) -> Result<(), Failed> {
    let folder = work_folder().join(format!("{seed}-{arch}"));
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    let generator = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance/generate.py");
    run(Command::new("python3")
        .arg(generator)
        .arg(seed.to_string())
        .arg(&folder)
        .arg(arch))?;
    let arch = format!("-arch={arch}");
    let mut arguments = vec![arch.clone()];
    let options = std::fs::read_to_string(folder.join("options.txt"))?;
    arguments.extend(options.lines().map(str::to_owned));
    for line in std::fs::read_to_string(folder.join("modules.txt"))?.lines() {
        // name of the module, then options for ptxas or nvcc
        let mut words = line.split_whitespace();
        let module = words.next().ok_or("modules.txt has an empty line")?;
        let object = format!("{module}.cubin");
        let mut compiler = if module.ends_with(".cu") {
            let mut nvcc = Command::new(tools.join("nvcc"));
            nvcc.args([&arch, "-rdc=true", "-cubin", module]);
            nvcc
        } else {
            let mut ptxas = Command::new(tools.join("ptxas"));
            ptxas.args([&arch, "-m64", "-c", &format!("{module}.ptx")]);
            ptxas
        };
        compiler.args(words).args(["-o", &object]);
        run(compiler.current_dir(&folder))?;
        arguments.push(object);
    }
    let nvlink = Linker::nvlink(tools.join("nvlink"));
    match against(&nvlink, &Linker::ours(), &folder, &arguments) {
        Ok(()) => Ok(std::fs::remove_dir_all(&folder)?),
        Err(report) => {
            std::fs::write(
                folder.join("report.txt"),
                format!("nvlink {}\n{report}", arguments.join(" ")),
            )?;
            Err(format!("{} (kept)\n{report}", folder.display()).into())
        }
    }
}

fn work_folder() -> PathBuf {
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    temporary.parent().unwrap_or(temporary).join("conformance")
}

fn run(command: &mut Command) -> Result<(), Failed> {
    let done = command.output()?;
    if done.status.success() {
        return Ok(());
    }
    Err(format!(
        "{command:?} failed:\n{}{}",
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr)
    )
    .into())
}
