//! What the process that loads the library says: environment variables.
//!
//! Architecture Invariant: no other module of this crate reads the environment.

use std::path::PathBuf;

use cuweld::ToolPaths;
use cuweld::Toolkit;

/// What the environment says.
pub(crate) struct Surroundings {
    /// `CUWELD_TOOLKIT`.
    pub(crate) toolkit: Option<&'static Toolkit>,
    /// `CUWELD_STAMP` is `nvjitlink`: the output says that NVIDIA's library made it.
    pub(crate) stamps: bool,
    /// `CUWELD_JITLINK_LOG`: a file to which each link is written down.
    pub(crate) log: Option<PathBuf>,
    /// Where ptxas is: `CUWELD_PTXAS`, `CUDA_HOME` or `CUDA_PATH`, `PATH`.
    pub(crate) tools: ToolPaths,
    /// NVIDIA's library, in the order in which it is tried: `CUWELD_NVJITLINK`, else below
    /// `CUDA_HOME` or `CUDA_PATH`, else in `LD_LIBRARY_PATH`, else in `/usr/local/cuda`.
    pub(crate) real: Vec<PathBuf>,
}

impl Surroundings {
    /// Reads the environment.
    pub(crate) fn read() -> Self {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let text = |name: &str| variable(name).and_then(|value| value.into_string().ok());
        let home = variable("CUDA_HOME").or_else(|| variable("CUDA_PATH"));
        let home = home.map(PathBuf::from);
        let real = match variable("CUWELD_NVJITLINK") {
            Some(named) => vec![PathBuf::from(named)],
            None => {
                let usual = PathBuf::from("/usr/local/cuda");
                let roots = home.iter().chain([&usual]);
                let below = roots.flat_map(|root| [root.join("lib64"), root.join("lib")]);
                let searched = variable("LD_LIBRARY_PATH");
                let searched = searched.iter().flat_map(std::env::split_paths);
                let folders = below.chain(searched);
                folders.map(|folder| folder.join(FILE_NAME)).collect()
            }
        };
        Surroundings {
            toolkit: text("CUWELD_TOOLKIT").and_then(|version| Toolkit::by_version(&version)),
            stamps: text("CUWELD_STAMP").is_some_and(|stamp| stamp.starts_with("nvjitlink")),
            log: variable("CUWELD_JITLINK_LOG").map(PathBuf::from),
            tools: ToolPaths {
                ptxas: variable("CUWELD_PTXAS").map(PathBuf::from),
                toolkit: None,
                cuda_home: home,
                path: variable("PATH"),
            },
            real,
        }
    }
}

/// The name of NVIDIA's library, and of ours.
const FILE_NAME: &str = "libnvJitLink.so.13";
