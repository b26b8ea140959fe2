//! Names of files as the protocol has them: `file:` URIs.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::path::PathBuf;

/// Returns the path of a `file:` URI; other documents have none.
pub fn path_of(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    // What stands before the path is a host: of ours it is empty or `localhost`.
    let path = rest.get(rest.find('/')?..)?;
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    loop {
        match rest {
            [b'%', high, low, tail @ ..] => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                let byte = digit(high)? * 16 + digit(low)?;
                bytes.push(u8::try_from(byte).ok()?);
                rest = tail;
            }
            [byte, tail @ ..] => {
                bytes.push(*byte);
                rest = tail;
            }
            [] => return Some(PathBuf::from(OsString::from_vec(bytes))),
        }
    }
}

/// Returns the URI of an absolute path.
pub fn uri_of(path: &Path) -> String {
    let mut uri = String::from("file://");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            byte => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_uris_are_one_to_one() {
        let path = Path::new("/a b/é%.lir");
        assert_eq!(uri_of(path), "file:///a%20b/%C3%A9%25.lir");
        assert_eq!(path_of(&uri_of(path)).as_deref(), Some(path));
        assert_eq!(path_of("file://localhost/x"), Some(PathBuf::from("/x")));
        assert_eq!(path_of("untitled:1"), None);
        assert_eq!(path_of("file:///%zz"), None);
    }
}
