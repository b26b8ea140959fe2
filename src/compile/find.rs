//! Where NVIDIA's compilers are.

use std::ffi::OsString;
use std::path::Path;
use std::path::PathBuf;

use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::system;

/// Where to look for compilers. Each field is as the user gave it, in an option or in the
/// environment.
#[derive(Clone, Debug, Default)]
pub struct ToolPaths {
    /// The program `ptxas` itself (`--cuweld-ptxas`, `CUWELD_PTXAS`).
    pub ptxas: Option<PathBuf>,
    /// The root of the toolkit that the program is the linker of, in a shadow of it.
    pub toolkit: Option<PathBuf>,
    /// The toolkit's root (`CUDA_HOME`).
    pub cuda_home: Option<PathBuf>,
    /// Folders of programs (`PATH`).
    pub path: Option<OsString>,
}

/// No compiler was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingTool {
    /// The program's name.
    tool: &'static str,
    /// Places that were looked at, in order.
    looked_at: Vec<String>,
}

impl ToolPaths {
    /// Returns the program `ptxas`: the one that was named, else that of the toolkit, else that of
    /// `CUDA_HOME`, else the first on `PATH`. One that was named and is not there is not replaced by another.
    pub fn ptxas(&self) -> Result<PathBuf, MissingTool> {
        self.find("ptxas", self.ptxas.as_deref())
    }

    fn find(&self, tool: &'static str, named: Option<&Path>) -> Result<PathBuf, MissingTool> {
        let mut looked_at = Vec::new();
        if let Some(named) = named {
            if is_program(named) {
                return Ok(absolute(named));
            }
            looked_at.push(format!("'{}'", named.display()));
            return Err(MissingTool { tool, looked_at });
        }
        if let Some(root) = &self.toolkit {
            let program = root.join("bin").join(tool);
            if is_program(&program) {
                return Ok(absolute(&program));
            }
            looked_at.push(format!("the toolkit ('{}')", program.display()));
        }
        if let Some(root) = &self.cuda_home {
            let program = root.join("bin").join(tool);
            if is_program(&program) {
                return Ok(absolute(&program));
            }
            looked_at.push(format!("$CUDA_HOME/bin ('{}')", program.display()));
        } else {
            looked_at.push("$CUDA_HOME/bin (not set)".to_owned());
        }
        let folders = self.path.iter().flat_map(std::env::split_paths);
        for folder in folders.filter(|folder| !folder.as_os_str().is_empty()) {
            let program = folder.join(tool);
            if is_program(&program) {
                return Ok(absolute(&program));
            }
        }
        looked_at.push("$PATH".to_owned());
        Err(MissingTool { tool, looked_at })
    }
}

impl MissingTool {
    /// Returns the places that were looked at, in order.
    pub fn looked_at(&self) -> String {
        self.looked_at.join(", ")
    }

    /// Returns the error, for the first input that needs the tool.
    pub fn diagnostic(&self, input: &str) -> Diagnostic {
        let tool = self.tool;
        let option = format!("--cuweld-{tool}");
        let variable = format!("CUWELD_{}", tool.to_uppercase());
        Diagnostic::fatal(
            system::NO_COMPILER,
            format!("cuweld: '{input}' holds PTX, and there is no {tool} to compile it"),
        )
        .note(format!("looked at {}", self.looked_at()))
        .help(format!(
            "install the CUDA toolkit's {tool}, or name it with {option} or {variable}; \
             or give cubins (nvcc -gencode with code=sm_XX, ptxas -c)"
        ))
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Makes a path absolute, since compilers run in a folder of their own.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(folder: &Path, name: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        std::fs::create_dir_all(folder).unwrap();
        let path = folder.join(name);
        std::fs::write(&path, "").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn the_order_is_named_then_toolkit_then_cuda_home_then_path() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let named = program(&root.join("named"), "my-ptxas");
        let own = program(&root.join("shadowed/bin"), "ptxas");
        let home = program(&root.join("toolkit/bin"), "ptxas");
        std::fs::create_dir(root.join("empty")).unwrap();
        let second = program(&root.join("second"), "ptxas");
        let path = std::env::join_paths([root.join("empty"), root.join("second")]).unwrap();
        let mut tools = ToolPaths {
            ptxas: Some(named.clone()),
            toolkit: Some(root.join("shadowed")),
            cuda_home: Some(root.join("toolkit")),
            path: Some(path),
        };
        assert_eq!(tools.ptxas(), Ok(named));
        tools.ptxas = None;
        assert_eq!(tools.ptxas(), Ok(own));
        tools.toolkit = None;
        assert_eq!(tools.ptxas(), Ok(home));
        tools.cuda_home = Some(root.join("empty"));
        assert_eq!(tools.ptxas(), Ok(second));
        tools.path = None;
        let text = format!("{:?}", tools.ptxas().unwrap_err().diagnostic("a.ptx"));
        assert!(
            text.contains("'a.ptx' holds PTX, and there is no ptxas"),
            "{text}"
        );
        assert!(
            text.contains("CUWELD_PTXAS") && text.contains("$CUDA_HOME/bin ("),
            "{text}"
        );
        tools.ptxas = Some(root.join("second"));
        assert!(tools.ptxas().is_err(), "a folder is no program");
    }
}
