//! `cuweld toolkit`: a CUDA toolkit with cuweld in the place of nvlink, and what would link with
//! what.

use std::io;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;

use clap::Args;
use cuweld_elf::toolkit::Toolkit;

use crate::compile::nvjitlink::NvJitLink;
use crate::toolkit::installed;
use crate::toolkit::profile::Profile;
use crate::toolkit::shadow::Shadowed;
use crate::toolkit::shadow::ToolkitError;
use crate::toolkit::shadow::make_shadow;

/// Arguments of `cuweld toolkit`.
#[derive(Args, Debug)]
pub struct ToolkitArgs {
    /// The toolkit: the folder above its bin/nvcc, or one that a package manager installs into
    /// (/usr, $CONDA_PREFIX, a virtual environment).
    #[arg(long, value_name = "CUDA_ROOT", requires = "to")]
    from: Option<PathBuf>,
    /// The folder to make.
    #[arg(long, value_name = "DIR", requires = "from")]
    to: Option<PathBuf>,
    /// Do `nvcc -dlink` in one process, too: its nvcc is cuweld, which has nvcc do everything else.
    #[arg(long, requires = "from")]
    device_link: bool,
    /// Say what would link with what in a toolkit, and make nothing.
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with = "from",
        required_unless_present = "from"
    )]
    check: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &ToolkitArgs, stdout: &mut dyn Write, stderr: &mut dyn Write) -> io::Result<u8> {
    if let Some(folder) = &args.check {
        return check(folder, stdout, stderr);
    }
    let (Some(from), Some(to)) = (&args.from, &args.to) else {
        return Ok(2);
    };
    let linker = std::env::current_exe()?;
    let shadowed = match make_shadow(from, to, (&linker, args.device_link)) {
        Ok(shadowed) => shadowed,
        Err(error) => {
            writeln!(stderr, "error: {error}")?;
            return Ok(1);
        }
    };
    warn(&shadowed, stderr)?;
    let root = std::path::absolute(to)?;
    let bin = |name: &str| root.join("bin").join(name);
    let as_linker = match shadowed.profile() {
        Some(profile) => format!(", as {} does", profile.toolkit().linker()),
        None => String::new(),
    };
    writeln!(
        stdout,
        "{} links with cuweld{as_linker}. Use it as\n  \
         nvcc:   {} ...\n  \
         CMake:  -DCMAKE_CUDA_COMPILER={}\n  \
         clang:  --cuda-path={}",
        show(&root),
        show(&bin("nvcc")),
        show(&bin("nvcc")),
        show(&root),
    )?;
    Ok(0)
}

/// Says what a user of the toolkit has to know.
fn warn(toolkit: &Shadowed, stderr: &mut dyn Write) -> io::Result<()> {
    let root = show(&toolkit.root);
    let Some(version) = &toolkit.version else {
        return writeln!(
            stderr,
            "warning: '{root}' does not say its version: links are those of the newest toolkit that made an input"
        );
    };
    match Profile::of(version).warning() {
        Some(warning) => writeln!(stderr, "warning: '{root}' is CUDA {version}; {warning}"),
        None => Ok(()),
    }
}

/// Prints what is in a toolkit, and what would link with what.
fn check(folder: &Path, stdout: &mut dyn Write, stderr: &mut dyn Write) -> io::Result<u8> {
    let folder = std::path::absolute(folder)?;
    // Of a shadow its toolkit is looked at.
    let shadowed = Shadowed::of_linker(&folder.join("bin/nvlink"));
    let root = match &shadowed {
        Some(shadowed) => Some(shadowed.root.clone()),
        None => installed::find_root(&folder),
    };
    let Some(root) = root else {
        writeln!(stderr, "error: {}", ToolkitError::NotAToolkit(folder))?;
        return Ok(1);
    };
    let toolkit = Shadowed::of_root(root);
    let root = show(&toolkit.root);
    match shadowed {
        Some(_) => writeln!(stdout, "{}, in the place of {root}", show(&folder))?,
        None => writeln!(stdout, "{root}")?,
    }
    for (what, text) in rows(&toolkit) {
        writeln!(stdout, "  {what:<14} {text}")?;
    }
    warn(&toolkit, stderr)?;
    Ok(0)
}

/// Returns what links with what in a toolkit, a row each.
fn rows(toolkit: &Shadowed) -> [(&'static str, String); 6] {
    let root = &toolkit.root;
    let profile = toolkit.profile();
    let links_as = profile.map_or(Toolkit::newest(), Profile::toolkit);
    let linker = links_as.linker();
    let version = |name| {
        let version = installed::program(root, name).and_then(|path| installed::version_of(&path));
        version.unwrap_or_else(|| "none".to_owned())
    };
    let optimiser = optimiser(root).unwrap_or_else(|| "none".to_owned());
    let of = |number: u32| format!("{}.{}", number / 10, number % 10);
    let newest = match profile {
        Some(Profile::Newer(_)) | None => "later ones of CUDA 13".to_owned(),
        Some(_) => of(links_as.number),
    };
    let from_100 = match links_as.release == Toolkit::DEFAULT.release {
        true => linker.clone(),
        false => format!("{linker}; code of older compilers stays as it is (deviation D12)"),
    };
    [
        (
            "nvlink",
            format!("{}: cuweld links as {linker}", version("nvlink")),
        ),
        (
            "ptxas",
            format!("{}: compiles PTX among the inputs", version("ptxas")),
        ),
        (
            "libnvJitLink",
            format!("{optimiser}: optimises LTO-IR (-dlto)"),
        ),
        (
            "objects",
            format!("of CUDA {} to {newest}", of(links_as.oldest_number)),
        ),
        ("up to sm_90a", linker),
        ("from sm_100 on", from_100),
    ]
}

/// Returns the version of a toolkit's libnvJitLink, or that it cannot be loaded.
fn optimiser(root: &Path) -> Option<String> {
    let path = Toolkit::jit_libraries()
        .into_iter()
        .find_map(|name| installed::library(root, name))?;
    let version = NvJitLink::load(Some(&path), &[]).and_then(|library| library.version());
    Some(match version {
        Ok((major, minor)) => format!("{major}.{minor}"),
        Err(_) => "unusable".to_owned(),
    })
}

fn show(path: &Path) -> std::path::Display<'_> {
    path.display()
}
