//! The recipes of `docs/using/device-link.md`: the program of `examples/dlink`, built by make, CMake, Meson and Bazel with
//! `cuweld dlink` as the device link.
//!
//! Without the oracle (`eval "$(tests/tools/oracle)"`), CMake or Meson the builds that need them are left out. Bazel builds if
//! `CUWELD_BAZEL` names it.

use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;

use super::builds::build_tool;
use crate::harness::oracle;

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const CUWELD: &str = env!("CARGO_BIN_EXE_cuweld");

/// A copy of the example, with a toolkit.
struct Recipe {
    owner: tempfile::TempDir,
    /// Root of NVIDIA's toolkit as PyPI has it.
    real: PathBuf,
}

/// What a build made, relative to the folder of the recipe.
struct Built<'a> {
    program: &'a str,
    /// The output of the device link.
    device: &'a str,
    /// Its inputs.
    inputs: [&'a str; 3],
}

impl Recipe {
    /// Returns `None` where NVIDIA's tools are not installed.
    fn new() -> Result<Option<Self>> {
        let Some(tools) = oracle::tools() else {
            say("nothing is built, there is no nvcc 13.0.88 (see tests/tools/oracle)")?;
            return Ok(None);
        };
        let recipe = Recipe {
            owner: tempfile::tempdir()?,
            real: tools.parent().unwrap_or(&tools).to_owned(),
        };
        copy(
            &Path::new(ROOT).join("examples/dlink"),
            &recipe.path("project"),
        )?;
        std::fs::create_dir(recipe.path("bin"))?;
        symlink(CUWELD, recipe.path("bin/cuweld"))?;
        recipe.install()?;
        Ok(Some(recipe))
    }

    /// Makes a toolkit in the form in which NVIDIA's installer has it: build tools look for `lib64` and `targets`.
    fn install(&self) -> Result {
        let cuda = self.cuda();
        let target = cuda.join("targets/x86_64-linux");
        std::fs::create_dir_all(&target)?;
        std::fs::create_dir(cuda.join("bin"))?;
        for program in std::fs::read_dir(self.real.join("bin"))? {
            let program = program?;
            symlink(program.path(), cuda.join("bin").join(program.file_name()))?;
        }
        let (include, lib) = (self.real.join("include"), self.real.join("lib"));
        symlink(self.real.join("nvvm"), cuda.join("nvvm"))?;
        symlink(&include, cuda.join("include"))?;
        symlink(&lib, cuda.join("lib64"))?;
        symlink(&include, target.join("include"))?;
        symlink(&lib, target.join("lib"))?;
        Ok(())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.owner.path().join(name)
    }

    fn cuda(&self) -> PathBuf {
        self.path("cuda")
    }

    /// Returns a command that runs in the folder of the project, with nvcc and cuweld on its `PATH`.
    fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut folders = vec![self.path("bin"), self.cuda().join("bin")];
        folders.extend(std::env::split_paths(
            &std::env::var_os("PATH").unwrap_or_default(),
        ));
        let mut command = Command::new(program);
        command
            .current_dir(self.path("project"))
            .env("PATH", std::env::join_paths(folders).unwrap_or_default())
            .env("CUDA_PATH", self.cuda())
            .env("CUDAARCHS", "90-real")
            // Meson takes any that is installed.
            .env("CCACHE_DISABLE", "1")
            .env("LC_ALL", "C");
        command
    }

    /// Checks that the device link is what NVIDIA's nvlink makes of the same inputs, save for the note that names the
    /// linker, that the program has it, and that the program starts.
    fn check(&self, built: &Built<'_>) -> Result {
        run(self
            .command("nvlink")
            .arg("-arch=sm_90")
            .args(built.inputs)
            .args(["-o", "reference.cubin"]))?;
        let differences = self
            .command(CUWELD)
            .args(["diff", "--all", "--ignore-layout", "reference.cubin"])
            .arg(built.device)
            .output()?;
        let text = String::from_utf8(differences.stdout)?;
        let lines: Vec<&str> = text.lines().skip(2).collect();
        assert!(!lines.is_empty(), "{:?}", differences.stderr);
        for line in lines {
            // Segments are as large as the note makes them.
            let is_known = ["note .note.nv.tkinfo ", "segment program header "]
                .iter()
                .any(|start| line.starts_with(start));
            assert!(is_known, "{line}");
        }
        let code = self.device_code(built.device)?;
        let all = self.device_code(built.program)?;
        let is_there = all.windows(code.len()).any(|part| part == code);
        assert!(is_there && !code.is_empty(), "the program has other code");
        // It registers its code before it looks for a GPU.
        let program = self.path("project").join(built.program);
        let done = Command::new(program).output()?;
        let said = String::from_utf8(done.stdout)?;
        assert!(
            ["no device ran the kernel\n", "16\n"].contains(&said.as_str()),
            "{said} {}",
            done.status
        );
        Ok(())
    }

    /// Returns the section with the fatbins of a file.
    fn device_code(&self, file: &str) -> Result<Vec<u8>> {
        let out = self.path("fatbin");
        run(self
            .command("objcopy")
            .args(["-O", "binary", "--only-section=.nv_fatbin", file])
            .arg(&out))?;
        Ok(std::fs::read(out)?)
    }
}

fn say(message: &str) -> std::io::Result<()> {
    writeln!(std::io::stdout(), "recipes: {message}")
}

/// Copies a folder with the folders in it.
fn copy(from: &Path, to: &Path) -> Result {
    std::fs::create_dir(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Runs a command that is to succeed, and returns what it printed.
fn run(command: &mut Command) -> Result<String> {
    let done = command.output()?;
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    if done.status.success() {
        return Ok(text);
    }
    let errors = String::from_utf8_lossy(&done.stderr);
    Err(format!("{command:?} failed:\n{text}{errors}").into())
}

/// Make links again after an input changed, also a library that only cuweld has found, and not else.
#[test]
fn make() -> Result {
    let Some(recipe) = Recipe::new()? else {
        return Ok(());
    };
    let make = || -> Result<bool> {
        let cuda = format!("CUDA={}", recipe.cuda().display());
        let said = run(recipe.command("make").args(["-j2", &cuda]))?;
        Ok(said.contains("cuweld dlink"))
    };
    assert!(make()?);
    recipe.check(&Built {
        program: "app",
        device: "device.o",
        inputs: ["main.o", "scale.o", "liboffset.a"],
    })?;
    assert!(!make()?, "nothing has changed");
    for input in ["scale.o", "liboffset.a"] {
        std::fs::File::options()
            .append(true)
            .open(recipe.path("project").join(input))?
            .set_modified(std::time::SystemTime::now())?;
        assert!(make()?, "{input} has changed");
        assert!(!make()?, "{input} has not changed again");
    }
    Ok(())
}

/// CMake's rules take cuweld in nvcc's place; and nvcc of a shadow toolkit does CMake's device link as NVIDIA's nvcc does.
#[test]
fn cmake() -> Result {
    let Some(recipe) = Recipe::new()? else {
        return Ok(());
    };
    let Some(cmake) = build_tool("cmake", &recipe.real) else {
        return Ok(say("there is no cmake")?);
    };
    let build = |folder: &str, setting: String| -> Result {
        run(recipe
            .command(&cmake)
            .args(["-B", folder, "-G", "Unix Makefiles"])
            .arg(setting))?;
        run(recipe
            .command(&cmake)
            .args(["--build", folder, "--parallel", "2"]))
        .map(drop)
    };
    let include = recipe.path("project/cuweld.cmake");
    build(
        "build",
        format!("-DCMAKE_PROJECT_INCLUDE={}", include.display()),
    )?;
    recipe.check(&Built {
        program: "build/app",
        device: "build/CMakeFiles/app.dir/cmake_device_link.o",
        inputs: [
            "build/CMakeFiles/app.dir/src/main.cu.o",
            "build/CMakeFiles/app.dir/src/scale.cu.o",
            "build/liboffset.a",
        ],
    })?;

    let shadow = recipe.path("shadow");
    run(recipe
        .command(CUWELD)
        .args(["toolkit", "--device-link", "--from"])
        .arg(recipe.cuda())
        .arg("--to")
        .arg(&shadow))?;
    let nvcc = shadow.join("bin/nvcc");
    build(
        "shadowed",
        format!("-DCMAKE_CUDA_COMPILER={}", nvcc.display()),
    )?;
    // CMake's own command once more, with either nvcc: they are to write the same fatbin.
    let script = recipe.path("project/shadowed/CMakeFiles/app.dir/dlink.txt");
    let script = std::fs::read_to_string(script)?;
    let written = "CMakeFiles/app.dir/cmake_device_link.o";
    let mut code = Vec::new();
    for (nvcc_of, output) in [(recipe.cuda(), "ref/o"), (shadow, "ours/o")] {
        let nvcc_of = nvcc_of.join("bin/nvcc");
        let build = recipe.path("project/shadowed");
        std::fs::create_dir_all(build.join(output).parent().ok_or("no parent")?)?;
        let line = script
            .replace(
                nvcc.to_str().ok_or("no text")?,
                nvcc_of.to_str().ok_or("no text")?,
            )
            .replace(written, output);
        run(recipe
            .command("sh")
            .args(["-c", &line])
            .current_dir(build)
            .env("CUWELD_STAMP", "nvlink-13.0.88"))?;
        code.push(recipe.device_code(&format!("shadowed/{output}"))?);
    }
    assert!(code[0] == code[1], "the fatbins differ");
    Ok(())
}

#[test]
fn meson() -> Result {
    let Some(recipe) = Recipe::new()? else {
        return Ok(());
    };
    let tools = ["meson", "ninja"].map(|name| build_tool(name, &recipe.real));
    let [Some(meson), Some(ninja)] = tools else {
        return Ok(say("there is no meson, or no ninja")?);
    };
    run(recipe
        .command(&meson)
        .args(["setup", "--buildtype=release", "build"])
        .env("NINJA", &ninja))?;
    let build = || run(recipe.command(&ninja).args(["-C", "build"]));
    build()?;
    recipe.check(&Built {
        program: "build/app",
        device: "build/device.o",
        inputs: [
            "build/libprogram.a.p/src_main.cu.o",
            "build/libprogram.a.p/src_scale.cu.o",
            "build/liboffset.a",
        ],
    })?;
    assert!(build()?.contains("no work to do"));
    Ok(())
}

/// Bazel itself, where one is named: the action runs in its sandbox, and comes from its cache in another folder.
#[test]
fn bazel() -> Result {
    let Some(recipe) = Recipe::new()? else {
        return Ok(());
    };
    let Some(bazel) = std::env::var_os("CUWELD_BAZEL") else {
        return Ok(say("CUWELD_BAZEL names no bazel")?);
    };
    let build = |project: &Path| {
        std::fs::create_dir(project.join("bin"))?;
        std::fs::copy(CUWELD, project.join("bin/cuweld"))?;
        let setting =
            |name: &str, folder: &str| format!("{name}={}", recipe.path(folder).display());
        let mut command = recipe.command(&bazel);
        command
            .current_dir(project)
            .args(["--batch", &setting("--output_user_root", "bazel")])
            .args(["build", "//:app", &setting("--disk_cache", "cache")])
            .arg(setting("--define=CUDA", "cuda"));
        let done = command.output()?;
        let text = String::from_utf8_lossy(&done.stderr).into_owned();
        if done.status.success() {
            return Ok::<_, Box<dyn Error>>(text);
        }
        Err(text.into())
    };
    copy(&recipe.path("project"), &recipe.path("other"))?;
    build(&recipe.path("project"))?;
    recipe.check(&Built {
        program: "bazel-bin/app",
        device: "bazel-bin/device.o",
        inputs: [
            "bazel-bin/main.o",
            "bazel-bin/scale.o",
            "bazel-bin/liboffset.a",
        ],
    })?;
    let text = build(&recipe.path("other"))?;
    assert!(text.contains("6 remote cache hit"), "{text}");
    Ok(())
}

/// The action of the Bazel rule, with words in a file, writes the same wherever and by whomever it is run.
#[test]
fn outputs_depend_on_the_inputs_alone() -> Result {
    let owner = tempfile::tempdir()?;
    let words = "out/a.o\nout/b.o\n--arch\nsm_90\n-o\nout/device.o\n";
    let mut outputs = Vec::new();
    for (folder, zone) in [("one", "UTC"), ("a/deeper one", "Asia/Tokyo")] {
        let folder = owner.path().join(folder);
        std::fs::create_dir_all(folder.join("out"))?;
        for object in ["a.o", "b.o"] {
            let from = Path::new(ROOT).join("examples/rdc").join(object);
            std::fs::copy(from, folder.join("out").join(object))?;
        }
        std::fs::write(folder.join("out/device.params"), words)?;
        let mut link = Command::new(CUWELD);
        link.args(["dlink", "--options-file=out/device.params"])
            .current_dir(&folder)
            .env_clear()
            .env("TZ", zone)
            .env("HOME", &folder);
        run(&mut link)?;
        outputs.push(std::fs::read(folder.join("out/device.o"))?);
    }
    assert!(outputs[0] == outputs[1], "the outputs differ");
    for folder in [owner.path().as_os_str(), OsStr::new("out/device")] {
        let bytes = folder.as_encoded_bytes();
        let is_there = outputs[0].windows(bytes.len()).any(|part| part == bytes);
        assert!(!is_there, "the output has a path in it");
    }
    Ok(())
}

/// Each block of code in the page stands in the file of the example that it shows.
#[test]
fn the_page_shows_the_recipes() -> Result {
    let page = std::fs::read_to_string(format!("{ROOT}/docs/using/device-link.md"))?;
    let files = BTreeMap::from([
        ("make", "Makefile"),
        ("cmake", "cuweld.cmake"),
        ("meson", "meson.build"),
        ("python", "BUILD.bazel"),
    ]);
    for (language, file) in files {
        let text = std::fs::read_to_string(format!("{ROOT}/examples/dlink/{file}"))?;
        let block = page
            .split_once(&format!("```{language}\n"))
            .and_then(|(_, rest)| rest.split_once("```"))
            .ok_or_else(|| format!("the page has no block of {language}"))?;
        assert!(text.contains(block.0), "{file} is another");
    }
    Ok(())
}
