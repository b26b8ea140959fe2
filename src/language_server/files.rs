//! Files that documents name, read with care: a document may be a stranger's, and is opened without
//! anybody having said that what it names is to be read.

use std::path::Path;
use std::path::PathBuf;

use cuweld_ir::Arena;
use cuweld_ir::text::ImageKey;

/// The most bytes of a file that a pipeline names.
const MOST_BYTES: u64 = 16 << 20;

/// The folders in which relative names are looked for, in this order.
#[derive(Clone, Debug, Default)]
pub struct Folders(pub Vec<PathBuf>);

impl Folders {
    /// Returns the first file of this name; devices, pipes and folders are none.
    pub fn find(&self, name: &Path) -> Option<PathBuf> {
        let mut paths = self.0.iter().map(|folder| folder.join(name));
        match name.is_absolute() {
            true => is_file(name).then(|| name.to_owned()),
            false => paths.find(|path| is_file(path)),
        }
    }

    /// Returns the image that a text only names, if a file of its size is there.
    pub fn image<'data>(&self, key: &ImageKey<'_>, arena: &'data Arena) -> Option<&'data [u8]> {
        let name = std::str::from_utf8(key.name).ok()?;
        let path = self.find(&crate::file_name::path(name))?;
        let size = path.metadata().ok()?.len();
        if size != key.size || !key.member.is_empty() {
            return None;
        }
        Some(arena.bytes(&std::fs::read(path).ok()?))
    }
}

fn is_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file())
}

/// Reads a text file that a pipeline names; `None` for one that is none, or too large.
pub fn read_text(path: &Path) -> Option<String> {
    let metadata = path.metadata().ok()?;
    if !metadata.is_file() || metadata.len() > MOST_BYTES {
        return None;
    }
    std::fs::read_to_string(path).ok()
}
