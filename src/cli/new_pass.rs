//! `cuweld new-pass`: makes a project for a pass, with a test.

use std::io;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;

use crate::extend;
use crate::file_name;
use crate::new_pass::Name;
use crate::new_pass::Project;
use crate::new_pass::Source;
use crate::new_pass::Way;

/// Arguments of `cuweld new-pass`.
#[derive(clap::Args, Debug)]
pub struct NewPassArgs {
    /// The name of the pass in pipelines: lower-case letters, digits and '-'.
    name: String,
    #[command(flatten)]
    way: WayArgs,
    /// The folder to make, which must not be there yet; by default the name.
    #[arg(long, value_name = "DIR", value_parser = file_name::parse)]
    dir: Option<PathBuf>,
    /// Where the source of cuweld is, for --rust and --plugin: a folder, or an address for git. By
    /// default the folder is looked for above this program and above the current folder.
    #[arg(long, value_name = "FOLDER|URL")]
    cuweld: Option<String>,
}

#[derive(clap::Args, Debug)]
#[group(required = true, multiple = false)]
struct WayArgs {
    /// A crate in Rust with a driver of its own: a program that is cuweld with the pass.
    #[arg(long)]
    rust: bool,
    /// A plugin in Rust, which an installed cuweld loads.
    #[arg(long)]
    plugin: bool,
    /// A plugin in C.
    #[arg(long)]
    c: bool,
    /// A program in Python, which reads and writes modules as text.
    #[arg(long)]
    python: bool,
}

impl WayArgs {
    fn way(&self) -> Way {
        match (self.rust, self.plugin, self.c) {
            (true, ..) => Way::Rust,
            (_, true, _) => Way::Plugin,
            (_, _, true) => Way::C,
            _ => Way::Python,
        }
    }
}

/// Runs the command: 1 if no project can be made.
pub fn run(args: &NewPassArgs, stdout: &mut dyn Write, stderr: &mut dyn Write) -> io::Result<u8> {
    match make(args) {
        Ok(said) => {
            stdout.write_all(said.as_bytes())?;
            Ok(0)
        }
        Err(error) => {
            writeln!(stderr, "error: {error}")?;
            Ok(1)
        }
    }
}

/// Makes the project. Returns what to say of it.
fn make(args: &NewPassArgs) -> Result<String, String> {
    let name = Name::parse(&args.name).map_err(|error| format!("'{}': {error}", args.name))?;
    if extend::registry().get(&args.name).is_some() {
        return Err(format!(
            "'{name}' is a pass of cuweld: one of your own would take its place in every link"
        ));
    }
    let way = args.way.way();
    let source = match way.needs_source() {
        true => Some(source(args.cuweld.as_deref())?),
        false => None,
    };
    let program = program();
    let folder = match &args.dir {
        Some(folder) => folder.clone(),
        None => PathBuf::from(&args.name),
    };
    let project = Project {
        name: &name,
        way,
        source: source.as_ref(),
        program: &program,
    };
    project.write(&folder).map_err(|error| error.to_string())?;
    Ok(format!(
        "'{}' has the pass '{name}' and a test of it:\n  cd {}\n  {}\n",
        folder.display(),
        folder.display(),
        way.test_command(&program)
    ))
}

/// Returns where cuweld's crates come from.
fn source(given: Option<&str>) -> Result<Source, String> {
    let is_repository = |folder: &Path| folder.join("pass-test/Cargo.toml").is_file();
    match given {
        Some(address) if address.contains("://") => Ok(Source::Git(address.to_owned())),
        Some(folder) => {
            let path = std::fs::canonicalize(file_name::path(folder));
            let path = path.map_err(|error| format!("cannot open '{folder}': {error}"))?;
            match is_repository(&path) {
                true => Ok(Source::Folder(path)),
                false => Err(format!("'{folder}' is not the source of cuweld")),
            }
        }
        None => {
            let starts = [std::env::current_exe(), std::env::current_dir()];
            let mut starts = starts.iter().flatten();
            let found = starts.find_map(|start| start.ancestors().find(|it| is_repository(it)));
            match found {
                Some(folder) => Ok(Source::Folder(folder.to_owned())),
                None => Err(
                    "where is the source of cuweld? Say it with --cuweld FOLDER or --cuweld URL"
                        .to_owned(),
                ),
            }
        }
    }
}

/// Returns how tests call this program: by its name if that is found, else by its path.
fn program() -> String {
    let name = "cuweld";
    let this = std::env::current_exe().and_then(std::fs::canonicalize);
    let Ok(this) = this else {
        return name.to_owned();
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file());
    let is_this = found.and_then(|file| std::fs::canonicalize(file).ok()) == Some(this.clone());
    match is_this {
        true => name.to_owned(),
        false => this.to_string_lossy().into_owned(),
    }
}
