//! Module ids: the names under which the host registers device modules.

use super::error::InputError;
use crate::file_name;

/// Marks an id as defined by a device-linked stub instead of requested by an object.
const DEFINED: &[u8] = b"def ";

/// The contents of a `__nv_module_id` section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleIds<'data> {
    /// Ids to register, in section order.
    pub ids: Vec<&'data [u8]>,
    /// For a stub made by an earlier device link: the modules that were linked then.
    pub prelinked: Vec<&'data [u8]>,
}

/// Splits a `__nv_module_id` section, which begins at `offset` of its file, at its NULs; zeros at
/// the end are padding.
pub fn parse<'data>(
    section: &'data [u8],
    offset: u64,
    file: &str,
) -> Result<ModuleIds<'data>, InputError> {
    let length = section
        .iter()
        .rposition(|&byte| byte != 0)
        .map_or(0, |last| last + 1);
    let Some(text) = section.get(..length).filter(|text| !text.is_empty()) else {
        return Ok(ModuleIds::default());
    };
    // A run of NULs separates like one, but an empty id in first place counts.
    let parts = text.split(|&byte| byte == 0).enumerate();
    let ids: Vec<_> = parts
        .filter(|(index, id)| *index == 0 || !id.is_empty())
        .map(|(_, id)| id)
        .collect();
    // Only a section that begins with `def ` is a stub's: in second place it is a plain id.
    if !text.starts_with(DEFINED) {
        return Ok(ModuleIds {
            ids,
            prelinked: Vec::new(),
        });
    }
    let prelinked = ids
        .into_iter()
        .map(|id| {
            id.strip_prefix(DEFINED)
                .ok_or_else(|| InputError::UnexpectedModuleIds {
                    file: file.to_owned(),
                    offset,
                    id: String::from_utf8_lossy(id).into_owned(),
                })
        })
        .collect::<Result<_, _>>()?;
    Ok(ModuleIds {
        ids: Vec::new(),
        prelinked,
    })
}

/// Returns the id of an input that brings none: its absolute path with every byte outside of
/// `[0-9A-Za-z]` replaced by an underscore. `name` is the name that messages use (`PATH` or
/// `PATH:member`), `folder` the real path of the current folder.
pub fn default_id(folder: &str, name: &str) -> String {
    let path = if name.starts_with('/') {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    };
    let bytes = file_name::bytes(&path);
    bytes
        .iter()
        .map(|byte| {
            if byte.is_ascii_alphanumeric() {
                char::from(*byte)
            } else {
                '_'
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_split_at_nuls() {
        let ids = |section| parse(section, 0, "f").unwrap().ids;
        assert_eq!(ids(b"_x1\0_x2\0\0\0"), [b"_x1", b"_x2"]);
        assert_eq!(ids(b"_q"), [b"_q"]);
        assert_eq!(ids(b"\0_q\0\0_r"), [b"".as_slice(), b"_q", b"_r"]);
        assert_eq!(ids(b"_q\0def _r"), [b"_q".as_slice(), b"def _r"]);
        assert!(ids(b"\0\0").is_empty() && ids(b"").is_empty());
    }

    #[test]
    fn stubs_name_what_was_linked() {
        let stub = parse(b"def _x1\0def _x2\0", 0, "f").unwrap();
        assert_eq!(
            stub,
            ModuleIds {
                ids: vec![],
                prelinked: vec![b"_x1", b"_x2"]
            }
        );
        let error = parse(b"def _x1\0_x2\0", 0x40, "f").unwrap_err();
        assert_eq!(
            &*error.findings()[0].message,
            "unexpected data in module_ids"
        );
    }

    #[test]
    fn default_ids_are_mangled_paths() {
        assert_eq!(
            default_id("/tmp/x", "../sel/c_sm_90.cubin"),
            "_tmp_x____sel_c_sm_90_cubin"
        );
        assert_eq!(default_id("/cwd", "nm.a:member.o"), "_cwd_nm_a_member_o");
        assert_eq!(default_id("/cwd", "/a/b.o"), "_a_b_o");
    }
}
