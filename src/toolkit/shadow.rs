//! A shadow toolkit: a CUDA toolkit's folder over again, with cuweld in the place of nvlink.
//!
//! nvcc calls nvlink by its bare name, and puts its own folder in front of `PATH` before; so it
//! takes another nvcc folder to have another linker. The folder holds links to everything in the
//! toolkit but two files: `bin/nvlink` is cuweld, and `bin/nvcc.profile` names the real toolkit as
//! its root, so that include and library folders are passed on as they always are.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::path::PathBuf;

use thiserror::Error;

use super::installed;
use super::profile::Profile;

/// Says that a folder is one of ours and may be made anew, and of which toolkit: a line with its
/// version, if it is known, and one with its root.
const MARKER: &str = ".cuweld-toolkit";

/// Why there is no shadow toolkit.
#[derive(Debug, Error)]
pub enum ToolkitError {
    /// The folder is no toolkit.
    #[error("'{}' is not the root of a CUDA toolkit: there is no bin/nvcc with its nvcc.profile", .0.display())]
    NotAToolkit(PathBuf),
    /// The folder holds something else.
    #[error("'{}' exists, and is not a toolkit that cuweld made", .0.display())]
    Occupied(PathBuf),
    /// The system said no.
    #[error("cannot make '{}': {error}", path.display())]
    System {
        /// What was to be made.
        path: PathBuf,
        /// Why it was not.
        error: io::Error,
    },
}

/// The toolkit that a shadow was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shadowed {
    /// Its root.
    pub root: PathBuf,
    /// Its version, if its linker or compiler could be asked.
    pub version: Option<String>,
}

impl Shadowed {
    /// Asks the toolkit with this root for its version.
    pub fn of_root(root: PathBuf) -> Self {
        let mut tools = ["nvlink", "nvcc"]
            .into_iter()
            .filter_map(|name| installed::program(&root, name));
        let version = tools.find_map(|tool| installed::version_of(&tool));
        Shadowed { root, version }
    }

    /// Finds the toolkit behind the shadow whose linker is the program at a path.
    pub fn of_linker(program: &Path) -> Option<Self> {
        let root = program.parent()?.parent()?;
        let text = fs::read_to_string(root.join(MARKER)).ok()?;
        let (version, root) = text.split_once('\n')?;
        Some(Shadowed {
            root: root.into(),
            version: (!version.is_empty()).then(|| version.to_owned()),
        })
    }

    /// Finds the toolkit behind the shadow that this program was called in.
    pub fn of_this_program() -> Option<Self> {
        Self::of_linker(&this_program())
    }

    /// Returns as which linker cuweld stands in for the toolkit's.
    pub fn profile(&self) -> Option<Profile> {
        self.version.as_deref().map(Profile::of)
    }

    fn marker(&self) -> Vec<u8> {
        let version = self.version.as_deref().unwrap_or_default();
        let mut text = format!("{version}\n").into_bytes();
        text.extend(self.root.as_os_str().as_bytes());
        text
    }
}

/// Returns the path by which this program was called, links not followed.
pub fn this_program() -> PathBuf {
    let path = rustix::param::linux_execfn();
    PathBuf::from(std::ffi::OsStr::from_bytes(path.to_bytes()))
}

/// Makes the shadow of the toolkit `from` in the folder `to`, with `linker` as its nvlink, and as its
/// nvcc, too, if that `is_nvcc`. A shadow that is there already is replaced. Returns the toolkit.
pub fn make_shadow(
    from: &Path,
    to: &Path,
    (linker, is_nvcc): (&Path, bool),
) -> Result<Shadowed, ToolkitError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| ToolkitError::System { path, error }
    };
    // Not resolved further: its spelling gets into the output, in the record of the -L options.
    let from = std::path::absolute(from).map_err(failed(from))?;
    let Some(from) = installed::find_root(&from) else {
        return Err(ToolkitError::NotAToolkit(from));
    };
    let profile = from.join("bin/nvcc.profile");
    let shadowed = Shadowed::of_root(from.clone());
    clear(to)?;
    let bin = to.join("bin");
    fs::create_dir_all(&bin).map_err(failed(&bin))?;
    fs::write(to.join(MARKER), shadowed.marker()).map_err(failed(to))?;
    link_entries(&from, to, &["bin", MARKER])?;
    let ours = match is_nvcc {
        true => &["nvlink", "nvcc"][..],
        false => &["nvlink"],
    };
    link_entries(&from.join("bin"), &bin, &[ours, &["nvcc.profile"]].concat())?;
    for name in ours {
        let tool = bin.join(name);
        symlink(linker, &tool).map_err(failed(&tool))?;
    }
    let text = fs::read_to_string(&profile).map_err(failed(&profile))?;
    let edited = bin.join("nvcc.profile");
    fs::write(&edited, edit_profile(&text, &from)).map_err(failed(&edited))?;
    Ok(shadowed)
}

/// Removes an older shadow; only links, our marker and our profile are in it.
fn clear(to: &Path) -> Result<(), ToolkitError> {
    let failed = |error| ToolkitError::System {
        path: to.to_owned(),
        error,
    };
    let first = match fs::read_dir(to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
        Ok(mut entries) => entries.next(),
    };
    if first.is_none() {
        Ok(())
    } else if to.join(MARKER).is_file() {
        fs::remove_dir_all(to).map_err(failed)
    } else {
        Err(ToolkitError::Occupied(to.to_owned()))
    }
}

/// Links all entries of a folder but some.
fn link_entries(from: &Path, to: &Path, but: &[&str]) -> Result<(), ToolkitError> {
    let failed = |error| ToolkitError::System {
        path: to.to_owned(),
        error,
    };
    for entry in fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        if !but.iter().any(|but| name == *but) {
            symlink(entry.path(), to.join(&name)).map_err(failed)?;
        }
    }
    Ok(())
}

/// Returns nvcc's profile with the real toolkit's root, spelt as the real nvcc spells it. The
/// folder of nvcc itself (`_HERE_`) stays ours elsewhere, which is what brings our nvlink in.
fn edit_profile(text: &str, root: &Path) -> String {
    let mut edited = String::with_capacity(text.len());
    for line in text.lines() {
        let name = line.split(['=', '+', ' ', '\t']).next();
        if name == Some("TOP") {
            let here = root.join("bin");
            edited.push_str(&line.replace("$(_HERE_)", &here.to_string_lossy()));
        } else {
            edited.push_str(line);
        }
        edited.push('\n');
    }
    edited
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn toolkit(root: &Path) {
        for folder in ["bin/crt", "include", "lib64"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        for file in ["nvcc", "ptxas"] {
            fs::write(root.join("bin").join(file), file).unwrap();
        }
        let nvlink = root.join("bin/nvlink");
        fs::write(
            &nvlink,
            "#!/bin/sh\necho Cuda tools, release 13.2, V13.2.51\n",
        )
        .unwrap();
        fs::set_permissions(nvlink, fs::Permissions::from_mode(0o755)).unwrap();
        let profile =
            "\nTOP              = $(_HERE_)/..\nTOPICS = x\nPATH += $(TOP)/nvvm/bin:$(_HERE_):\n";
        fs::write(root.join("bin/nvcc.profile"), profile).unwrap();
    }

    #[test]
    fn everything_is_linked_but_two_files() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let (from, to, linker) = (root.join("cuda"), root.join("shadow"), root.join("cuweld"));
        toolkit(&from);
        fs::write(&linker, "ours").unwrap();
        for _ in 0..2 {
            let shadowed = make_shadow(&from, &to, (&linker, false)).unwrap();
            assert_eq!(shadowed.version.as_deref(), Some("13.2.51"));
            let nvlink = to.join("bin/nvlink");
            assert_eq!(Shadowed::of_linker(&nvlink), Some(shadowed));
            assert_eq!(Shadowed::of_linker(&from.join("bin/nvlink")), None);
            let read = |name: &str| fs::read_to_string(to.join(name)).unwrap();
            assert_eq!(read("bin/nvlink"), "ours");
            assert_eq!(read("bin/ptxas"), "ptxas");
            let expected = format!(
                "\nTOP              = {}/bin/..\nTOPICS = x\nPATH += $(TOP)/nvvm/bin:$(_HERE_):\n",
                from.display()
            );
            assert_eq!(read("bin/nvcc.profile"), expected);
            assert!(to.join("include").is_dir() && to.join("bin/crt").is_dir());
        }
        let real = fs::read_to_string(from.join("bin/ptxas")).unwrap();
        assert_eq!(real, "ptxas");
    }

    #[test]
    fn other_folders_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        toolkit(&root.join("cuda"));
        fs::create_dir(root.join("mine")).unwrap();
        fs::write(root.join("mine/file"), "").unwrap();
        let make = |from: &str, to: &str| {
            let linker = (Path::new("/bin/true"), true);
            make_shadow(&root.join(from), &root.join(to), linker)
        };
        assert!(matches!(
            make("cuda", "mine"),
            Err(ToolkitError::Occupied(_))
        ));
        assert!(matches!(
            make("mine", "new"),
            Err(ToolkitError::NotAToolkit(_))
        ));
        assert!(matches!(
            make("none", "new"),
            Err(ToolkitError::NotAToolkit(_))
        ));
        assert!(!root.join("new").exists());
    }
}
