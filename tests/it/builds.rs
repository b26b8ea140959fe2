//! Real builds: nvcc, CMake and clang with a shadow toolkit (`cuweld toolkit`) and with NVIDIA's own, and the programs that come of it.
//!
//! Without the oracle (`eval "$(tests/tools/oracle)"`) CMake or clang's tools (Debian: clang-tools-19) the builds that need them are left out.

use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::oracle;
use crate::harness::oracle::Reference;

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

const KERNEL: &str = "__device__ int g(int); __global__ void k(int* p) { *p = g(*p); }\n";
const FUNCTION: &str = "__device__ int g(int x) { return x * 3; }\n";
const MAIN: &str = "__global__ void k(int*); int main() { k<<<1, 1>>>(nullptr); return 0; }\n";
const CMAKE: &str = "cmake_minimum_required(VERSION 3.20)
project(demo CXX CUDA)
set(CMAKE_CUDA_SEPARABLE_COMPILATION ON)
add_library(fn STATIC g.cu)
add_executable(app main.cu k.cu)
target_link_libraries(app PRIVATE fn)
set_property(TARGET app fn PROPERTY CUDA_ARCHITECTURES 80-real 90-real)
";

/// A program's sources, with a toolkit of ours and NVIDIA's.
struct Build {
    owner: tempfile::TempDir,
    /// Root of NVIDIA's toolkit.
    real: PathBuf,
    /// Root of the one that links with cuweld.
    shadow: PathBuf,
}

impl Build {
    /// None where NVIDIA's tools are not installed.
    fn new() -> Result<Option<Self>> {
        let Some(tools) = oracle::tools() else {
            writeln!(
                std::io::stdout(),
                "builds: nothing is built, there is no nvcc 13.0.88 (see tests/tools/oracle)"
            )?;
            return Ok(None);
        };
        let owner = tempfile::tempdir()?;
        let (real, shadow) = (
            tools.parent().unwrap_or(&tools).to_owned(),
            owner.path().join("toolkit"),
        );
        run(Command::new(env!("CARGO_BIN_EXE_cuweld")).args([
            "toolkit".as_ref(),
            "--from".as_ref(),
            real.as_os_str(),
            "--to".as_ref(),
            shadow.as_os_str(),
        ]))?;
        let build = Build {
            owner,
            real,
            shadow,
        };
        for (file, text) in [
            ("k.cu", KERNEL),
            ("g.cu", FUNCTION),
            ("main.cu", MAIN),
            ("CMakeLists.txt", CMAKE),
        ] {
            std::fs::write(build.folder().join(file), text)?;
        }
        Ok(Some(build))
    }

    fn folder(&self) -> &Path {
        self.owner.path()
    }

    /// Runs a program of a toolkit in the folder of the sources.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.folder())
            .env("CUWELD_STAMP", "nvlink-13.0.88")
            .env("LC_ALL", "C");
        command
    }

    /// Builds with both toolkits; the linked device code of the programs is to be the same.
    fn compare(&self, program: &str, build: impl Fn(&Path) -> Result) -> Result {
        let (mut images, mut fatbins) = (Vec::new(), Vec::new());
        for toolkit in [&self.real, &self.shadow] {
            build(toolkit)?;
            images.push(self.device_code(program)?);
            fatbins.push(self.fatbin(program)?);
        }
        assert!(!images[0].is_empty(), "no device code");
        assert!(!fatbins[0].is_empty(), "no fatbin");
        assert!(
            fatbins[0] == fatbins[1],
            "the fatbins of the programs differ"
        );
        assert!(
            images[0] == images[1],
            "the device code of the programs differs"
        );
        Ok(())
    }

    /// The section of a program that holds its fatbins.
    fn fatbin(&self, program: &str) -> Result<Vec<u8>> {
        let out = self.folder().join("fatbin");
        run(Command::new("objcopy")
            .args(["-O", "binary", "--only-section=.nv_fatbin"])
            .arg(self.folder().join(program))
            .arg(&out))?;
        Ok(std::fs::read(out)?)
    }

    /// All device images of a program, in order.
    fn device_code(&self, program: &str) -> Result<Vec<Vec<u8>>> {
        let out = tempfile::tempdir()?;
        let cuobjdump = self.real.join("bin/cuobjdump");
        run(Command::new(cuobjdump)
            .args(["-xelf", "all"])
            .arg(self.folder().join(program))
            .current_dir(out.path()))?;
        let mut files: Vec<PathBuf> = std::fs::read_dir(out.path())?
            .map(|entry| Ok(entry?.path()))
            .collect::<std::io::Result<_>>()?;
        files.sort();
        files.iter().map(|file| Ok(std::fs::read(file)?)).collect()
    }

    /// PyPI's toolkit has its libraries in another folder than nvcc expects.
    fn library_path(&self) -> String {
        format!("-L{}", self.real.join("lib").display())
    }
}

/// A shadow of another toolkit links as that toolkit's linker does, whatever made the objects, and says its version.
#[test]
fn shadows_link_as_their_toolkit() -> Result {
    let Some(build) = Build::new()? else {
        return Ok(());
    };
    for version in ["13.3.73", "13.5.37"] {
        let Some(other) = Reference::of_toolkit(version) else {
            writeln!(
                std::io::stdout(),
                "builds: no shadow of {version}, it is not installed (see tests/tools/toolkit)"
            )?;
            continue;
        };
        let real = other.nvlink.ancestors().nth(2).ok_or("no root")?;
        let shadow = build.folder().join(version);
        let cuweld = Path::new(env!("CARGO_BIN_EXE_cuweld"));
        run(Command::new(cuweld).arg("toolkit").args([
            "--from".as_ref(),
            real,
            "--to".as_ref(),
            &shadow,
        ]))?;
        let said = Command::new(shadow.join("bin/nvlink")).arg("-V").output()?;
        let said = String::from_utf8(said.stdout)?;
        assert!(said.contains(&format!(", V{version}\n")), "{said}");
        for folder in [real, &shadow] {
            let check = Command::new(cuweld)
                .arg("toolkit")
                .arg("--check")
                .arg(folder)
                .output()?;
            let check = String::from_utf8(check.stdout)?;
            assert!(
                check.contains(&format!("cuweld links as nvlink {version}\n")),
                "{check}"
            );
        }
        // The objects are of 13.0: it is the shadow that makes the link one of its toolkit.
        let nvcc = || build.command(&build.real.join("bin/nvcc"));
        for name in ["k", "g"] {
            let (source, object) = (format!("{name}.cu"), format!("{name}.cubin"));
            run(nvcc().args(["-rdc=true", "-cubin", "-arch=sm_90", &source, "-o", &object]))?;
        }
        let mut outputs = Vec::new();
        for toolkit in [real, &shadow] {
            run(build
                .command(&toolkit.join("bin/nvcc"))
                .env("CUWELD_STAMP", "nvlink")
                .args(["-dlink", "-cubin", "-arch=sm_90", "k.cubin", "g.cubin"])
                .args(["-o", "out.cubin", &build.library_path()]))?;
            outputs.push(std::fs::read(build.folder().join("out.cubin"))?);
        }
        assert!(outputs[0] == outputs[1], "{version}: the outputs differ");
        // The shadow is not there where the link is run again.
        let linker = shadow.join("bin/nvlink");
        run(build.command(&linker).env("CUWELD_STAMP", "nvlink").args([
            "-arch=sm_90",
            "k.cubin",
            "g.cubin",
            "-o",
            "first.cubin",
            "--cuweld-repro=link.tar",
        ]))?;
        let shown = build
            .command(cuweld)
            .args(["replay", "--show", "link.tar"])
            .output()?;
        let shown = String::from_utf8(shown.stdout)?;
        assert!(
            shown.contains(&format!("nvlink --cuweld-toolkit={version} ")),
            "{shown}"
        );
    }
    Ok(())
}

fn run(command: &mut Command) -> Result {
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

#[test]
fn nvcc_links_several_sources() -> Result {
    let Some(build) = Build::new()? else {
        return Ok(());
    };
    build.compare("app", |toolkit| {
        run(build.command(&toolkit.join("bin/nvcc")).args([
            "-rdc=true",
            "-arch=sm_90",
            "main.cu",
            "k.cu",
            "g.cu",
            "-o",
            "app",
            &build.library_path(),
        ]))
    })
}

#[test]
fn nvcc_links_ptx() -> Result {
    let Some(build) = Build::new()? else {
        return Ok(());
    };
    let compile = "-gencode=arch=compute_80,code=compute_80";
    build.compare("app", |toolkit| {
        let nvcc = || build.command(&toolkit.join("bin/nvcc"));
        run(nvcc().args(["-rdc=true", "-c", compile, "main.cu", "k.cu", "g.cu"]))?;
        run(nvcc().args([
            "-arch=sm_90",
            "main.o",
            "k.o",
            "g.o",
            "-o",
            "app",
            &build.library_path(),
        ]))
    })?;
    Ok(())
}

#[test]
fn cmake_builds_with_separable_compilation() -> Result {
    let Some(build) = Build::new()? else {
        return Ok(());
    };
    let Some(cmake) = build_tool("cmake", &build.real) else {
        writeln!(std::io::stdout(), "builds: there is no cmake")?;
        return Ok(());
    };
    build.compare("build/app", |toolkit| {
        let _ = std::fs::remove_dir_all(build.folder().join("build"));
        let setting = |name: &str, value: String| format!("-D{name}={value}");
        run(build
            .command(&cmake)
            .args(["-S", ".", "-B", "build"])
            .arg(setting(
                "CMAKE_CUDA_COMPILER",
                toolkit.join("bin/nvcc").display().to_string(),
            ))
            .arg(setting("CMAKE_CUDA_FLAGS", build.library_path())))?;
        run(build.command(&cmake).args(["--build", "build"]))
    })
}

/// A cubin on the command line and one in an archive, which clang's wrapper takes apart.
#[test]
fn clang_nvlink_wrapper_links() -> Result {
    let Some(build) = Build::new()? else {
        return Ok(());
    };
    let Some(wrapper) = on_path("clang-nvlink-wrapper") else {
        writeln!(
            std::io::stdout(),
            "builds: there is no clang-nvlink-wrapper"
        )?;
        return Ok(());
    };
    let nvcc = || build.command(&build.real.join("bin/nvcc"));
    for name in ["k", "g"] {
        let (source, object) = (format!("{name}.cu"), format!("{name}.cubin"));
        run(nvcc().args(["-rdc=true", "-cubin", "-arch=sm_90", &source, "-o", &object]))?;
    }
    run(build
        .command(Path::new("ar"))
        .args(["rcs", "libfn.a", "g.cubin"]))?;
    let mut outputs = Vec::new();
    for toolkit in [&build.real, &build.shadow] {
        run(build
            .command(&wrapper)
            .arg(format!("--cuda-path={}", toolkit.display()))
            .args(["--arch=sm_90", "k.cubin", "-L.", "-lfn", "-o", "out.cubin"]))?;
        outputs.push(std::fs::read(build.folder().join("out.cubin"))?);
    }
    assert!(outputs[0] == outputs[1], "the outputs differ");
    Ok(())
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(std::iter::once(PathBuf::from("/usr/lib/llvm-19/bin")))
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

/// Returns a build tool on `PATH`, or where `tests/tools/oracle` installs it beside `toolkit`.
pub fn build_tool(name: &str, toolkit: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let installed = toolkit
        .ancestors()
        .nth(5)
        .map(|environment| environment.join("bin"));
    std::env::split_paths(&path)
        .chain(installed)
        .map(|folder| folder.join(name))
        .find(|program| program.is_file())
}

/// XLA looks for `bin/nvlink` of a toolkit, asks for its version, and links the cubins of a program with these words alone.
#[test]
fn xla_starts_nvlink() -> Result {
    let Some(build) = Build::new()? else {
        return Ok(());
    };
    for (index, text) in [KERNEL, FUNCTION].into_iter().enumerate() {
        let source = format!("{index}.cu");
        std::fs::write(build.folder().join(&source), text)?;
        let words = ["-cubin", "-rdc=true", "-arch=sm_90a", &source, "-o"];
        let output = format!("{index}.cubin");
        run(build
            .command(&build.real.join("bin/nvcc"))
            .args(words)
            .arg(output))?;
    }
    let mut linked = Vec::new();
    for toolkit in [&build.real, &build.shadow] {
        let nvlink = toolkit.join("bin/nvlink");
        let version = build.command(&nvlink).arg("--version").output()?;
        let version = String::from_utf8(version.stdout)?;
        // XLA's \bV(\d+)\.(\d+)\.(\d+)\b, which is to be 11.8 or later.
        let number = version
            .split([' ', '\n', ','])
            .find_map(|word| word.strip_prefix('V'));
        assert_eq!(number, Some("13.0.88"), "{version}");
        let words = ["-arch=sm_90a", "0.cubin", "1.cubin", "-o", "out.cubin"];
        run(build.command(&nvlink).args(words))?;
        linked.push(std::fs::read(build.folder().join("out.cubin"))?);
    }
    assert!(linked[0] == linked[1], "the outputs differ");
    Ok(())
}
