//! `cuweld toolkit`: a CUDA toolkit with cuweld in the place of nvlink.

use std::io;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;

use clap::Args;

use crate::toolkit::make_shadow;

/// Arguments of `cuweld toolkit`.
#[derive(Args, Debug)]
pub struct ToolkitArgs {
    /// The root of the toolkit, the folder above its bin/nvcc.
    #[arg(long, value_name = "CUDA_ROOT")]
    from: PathBuf,
    /// The folder to make.
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
}

/// Runs the command.
pub fn run(args: &ToolkitArgs, stdout: &mut dyn Write, stderr: &mut dyn Write) -> io::Result<u8> {
    let linker = std::env::current_exe()?;
    if let Err(error) = make_shadow(&args.from, &args.to, &linker) {
        writeln!(stderr, "error: {error}")?;
        return Ok(1);
    }
    let root = std::path::absolute(&args.to)?;
    let bin = |name: &str| root.join("bin").join(name);
    writeln!(
        stdout,
        "{} links with cuweld. Use it as\n  \
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

fn show(path: &Path) -> std::path::Display<'_> {
    path.display()
}
