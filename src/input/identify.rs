//! What kind of file an input is.
//!
//! The decision is nvlink's: the name's extension first, then the first bytes. Extensions are case
//! sensitive; only the base name counts, and a base name without a dot is never looked into.

use cuweld_elf::raw::EM_CUDA;
use cuweld_elf::raw::ET_REL;
use memchr::memmem;

use super::diagnostic::IgnoredReason;
use super::error::InputError;
use super::fatbin;

/// Magic number of regular archives.
pub const ARCHIVE_MAGIC: &[u8] = b"!<arch>\n";
/// Magic number of thin archives.
pub const THIN_ARCHIVE_MAGIC: &[u8] = b"!<thin>\n";
/// Magic number of ELF files.
pub const ELF_MAGIC: &[u8] = b"\x7fELF";

/// Files shorter than this cannot be opened, says nvlink, unless they are empty or archives.
const SHORTEST_FILE: usize = 56;

/// The kind of an input file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A device ELF.
    Cubin,
    /// A fatbin that is not wrapped in a host object.
    Fatbin,
    /// PTX text.
    Ptx,
    /// NVVM or LTO-IR.
    Nvvm,
    /// A regular or thin archive.
    Archive,
    /// A relocatable host ELF.
    HostObject,
    /// Takes no part in a device link.
    Ignored(IgnoredReason),
}

/// Returns the text after the last dot of the base name; `None` without a dot.
pub fn extension(path: &str) -> Option<&str> {
    let base = path.rsplit_once('/').map_or(path, |(_, base)| base);
    base.rsplit_once('.').map(|(_, extension)| extension)
}

/// The three header fields that kinds depend on: `e_ident[EI_CLASS]`, `e_type`, `e_machine`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElfKind {
    /// 1 for ELF32, 2 for ELF64.
    pub class: u8,
    /// `e_type`.
    pub e_type: u16,
    /// `e_machine`.
    pub machine: u16,
}

/// Returns the kind of an ELF file, or `None` if the file is not one.
pub fn elf_kind(bytes: &[u8]) -> Option<ElfKind> {
    if !bytes.starts_with(ELF_MAGIC) {
        return None;
    }
    let half = |offset: usize| {
        let field = bytes.get(offset..)?.first_chunk::<2>()?;
        // Big-endian hosts are read as such; device files are little-endian.
        Some(if bytes.get(5) == Some(&2) {
            u16::from_be_bytes(*field)
        } else {
            u16::from_le_bytes(*field)
        })
    };
    Some(ElfKind {
        class: *bytes.get(4)?,
        e_type: half(16)?,
        machine: half(18)?,
    })
}

/// Returns `true` if the bytes begin like an archive.
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(ARCHIVE_MAGIC) || bytes.starts_with(THIN_ARCHIVE_MAGIC)
}

/// Decides what an input is. `lto` says whether `-lto` was given.
pub fn identify(path: &str, bytes: &[u8], lto: bool) -> Result<FileKind, InputError> {
    let file = || path.to_owned();
    if bytes.is_empty() {
        return Ok(FileKind::Ignored(IgnoredReason::Empty));
    }
    if bytes.len() < SHORTEST_FILE && !is_archive(bytes) {
        return Err(InputError::CannotOpen {
            file: file(),
            reason: format!("it has {} bytes, too few for any input", bytes.len()),
        });
    }
    let Some(extension) = extension(path) else {
        return Ok(FileKind::Ignored(IgnoredReason::NoExtension));
    };
    match extension {
        "cubin" => identify_cubin(path, bytes),
        "fatbin" if fatbin::has_magic(bytes) => Ok(FileKind::Fatbin),
        "fatbin" => Err(InputError::FatbinWrongFormat { file: file() }),
        "ptx" => device_code(bytes).ok_or_else(|| InputError::UnrecognizedFormat { file: file() }),
        "ltoir" | "nvvm" if lto => Ok(FileKind::Nvvm),
        "ltoir" | "nvvm" => Err(InputError::NvvmWithoutLto { file: file() }),
        "bc" => Err(InputError::Bitcode { file: file() }),
        _ if is_archive(bytes) => Ok(FileKind::Archive),
        _ => identify_other(path, extension, bytes),
    }
}

fn identify_cubin(path: &str, bytes: &[u8]) -> Result<FileKind, InputError> {
    if !bytes.starts_with(ELF_MAGIC) {
        return Err(InputError::CubinNotElf {
            file: path.to_owned(),
        });
    }
    // Read as device files are, whatever byte order the header speaks of.
    match bytes.get(18..20) {
        Some(machine) if machine == EM_CUDA.to_le_bytes() => Ok(FileKind::Cubin),
        _ => Err(InputError::CubinNotDeviceElf {
            file: path.to_owned(),
        }),
    }
}

fn identify_other(path: &str, extension: &str, bytes: &[u8]) -> Result<FileKind, InputError> {
    let ignored = |reason| Ok(FileKind::Ignored(reason));
    match elf_kind(bytes) {
        None => ignored(IgnoredReason::UnknownContent),
        Some(kind) if kind.machine == EM_CUDA && extension == "o" => identify_cubin(path, bytes),
        Some(kind) if kind.machine == EM_CUDA => ignored(IgnoredReason::CubinExtension),
        Some(_) if extension == "so" => ignored(IgnoredReason::SharedObject),
        Some(kind) if kind.e_type == ET_REL => Ok(FileKind::HostObject),
        Some(_) => ignored(IgnoredReason::LinkedHostFile),
    }
}

/// Returns the kind of an ignored file by its contents alone, if these are device code beyond
/// doubt.
pub fn by_content(reason: IgnoredReason, bytes: &[u8]) -> Option<FileKind> {
    let by_name = matches!(
        reason,
        IgnoredReason::NoExtension | IgnoredReason::UnknownContent | IgnoredReason::CubinExtension
    );
    if !by_name {
        return None;
    }
    match elf_kind(bytes) {
        Some(kind) if kind.machine != EM_CUDA => {
            (kind.e_type == ET_REL).then_some(FileKind::HostObject)
        }
        None if is_archive(bytes) => Some(FileKind::Archive),
        _ => device_code(bytes),
    }
}

/// Returns the kind of device code that is not wrapped in a host object, by its contents. LTO-IR
/// counts under its own names only.
fn device_code(bytes: &[u8]) -> Option<FileKind> {
    if fatbin::has_magic(bytes) && bytes.get(4..6) == Some(&[1, 0]) {
        return Some(FileKind::Fatbin);
    }
    if elf_kind(bytes).is_some_and(|kind| kind.machine == EM_CUDA) {
        return Some(FileKind::Cubin);
    }
    is_ptx_text(bytes).then_some(FileKind::Ptx)
}

/// Returns the SM number of a device ELF, from its flags.
pub fn device_elf_sm(bytes: &[u8]) -> Option<u16> {
    let flags = u32::from_le_bytes(*bytes.get(48..)?.first_chunk()?);
    Some((flags >> 8) as u16)
}

/// Returns `true` if the first token after blanks and comments is `.version`, which every PTX
/// module begins with.
pub fn is_ptx_text(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    loop {
        rest = rest.trim_ascii_start();
        let comment_end: &[u8] = match rest {
            [b'/', b'/', ..] => b"\n",
            [b'/', b'*', ..] => b"*/",
            _ => return rest.starts_with(b".version"),
        };
        let body = rest.get(2..).unwrap_or_default();
        let Some(at) = memmem::find(body, comment_end) else {
            return false;
        };
        rest = body.get(at + comment_end.len()..).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a 64-byte ELF header.
    fn elf(e_type: u16, machine: u16) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[16..18].copy_from_slice(&e_type.to_le_bytes());
        bytes[18..20].copy_from_slice(&machine.to_le_bytes());
        bytes
    }

    fn padded(start: &[u8]) -> Vec<u8> {
        let mut bytes = start.to_vec();
        bytes.resize(64.max(start.len()), b' ');
        bytes
    }

    fn kind(path: &str, bytes: &[u8]) -> FileKind {
        identify(path, bytes, false).unwrap()
    }

    fn first_line(path: &str, bytes: &[u8]) -> String {
        identify(path, bytes, false).unwrap_err().findings()[0]
            .message
            .to_string()
    }

    #[test]
    fn extensions_are_of_the_base_name() {
        for (path, expected) in [
            ("a.o", Some("o")),
            ("x.d/a", None),
            ("a.so.1", Some("1")),
            ("a.", Some("")),
            (".o", Some("o")),
            ("", None),
        ] {
            assert_eq!(extension(path), expected, "{path}");
        }
    }

    #[test]
    fn short_files_cannot_be_opened() {
        assert_eq!(
            kind("a.cubin", b""),
            FileKind::Ignored(IgnoredReason::Empty)
        );
        assert_eq!(
            first_line("a.o", &[1; 55]),
            "Could not open input file 'a.o'"
        );
        assert_eq!(
            first_line("noext", &[1; 55]),
            "Could not open input file 'noext'"
        );
        assert_eq!(
            kind("a.o", &[1; 56]),
            FileKind::Ignored(IgnoredReason::UnknownContent)
        );
        assert_eq!(kind("a.xyz", b"!<arch>\n"), FileKind::Archive);
        assert_eq!(first_line("a.cubin", b"!<arch>\n"), "cubin not an elf?");
    }

    #[test]
    fn extensions_decide_before_contents() {
        assert_eq!(
            kind("a", &elf(1, 62)),
            FileKind::Ignored(IgnoredReason::NoExtension)
        );
        assert_eq!(kind("a.cubin", &elf(1, 190)), FileKind::Cubin);
        assert_eq!(
            first_line("a.cubin", &elf(1, 62)),
            "cubin not a device elf?"
        );
        assert_eq!(first_line("a.fatbin", &elf(1, 190)), "fatbin wrong format?");
        assert_eq!(
            first_line("a.bc", &elf(1, 190)),
            "should never see bc files"
        );
        let nvvm = "should only see nvvm files when -lto";
        assert_eq!(first_line("a.ltoir", &elf(1, 190)), nvvm);
        assert_eq!(first_line("a.nvvm", &elf(1, 190)), nvvm);
        assert_eq!(identify("a.ltoir", &[1; 64], true).unwrap(), FileKind::Nvvm);
    }

    #[test]
    fn contents_decide_elsewhere() {
        assert_eq!(kind("a.o", &elf(1, 190)), FileKind::Cubin);
        assert_eq!(
            kind("a.obj", &elf(1, 190)),
            FileKind::Ignored(IgnoredReason::CubinExtension)
        );
        for machine in [62, 183, 40] {
            assert_eq!(kind("a.xyz", &elf(1, machine)), FileKind::HostObject);
        }
        assert_eq!(
            kind("a.so", &elf(1, 62)),
            FileKind::Ignored(IgnoredReason::SharedObject)
        );
        assert_eq!(kind("a.so.1", &elf(1, 62)), FileKind::HostObject);
        assert_eq!(
            kind("a.o", &elf(3, 62)),
            FileKind::Ignored(IgnoredReason::LinkedHostFile)
        );
        assert_eq!(kind("a.so", &padded(b"!<arch>\n")), FileKind::Archive);
        assert_eq!(kind("a.a", &padded(b"!<thin>\n")), FileKind::Archive);
    }

    #[test]
    fn ptx_files_hold_text_cubins_or_fatbins() {
        let text = padded(b"// one\n /* two \n*/ .version 9.0\n");
        assert_eq!(kind("a.ptx", &text), FileKind::Ptx);
        assert_eq!(
            kind("a.txt", &text),
            FileKind::Ignored(IgnoredReason::UnknownContent)
        );
        assert_eq!(kind("a.ptx", &elf(1, 190)), FileKind::Cubin);
        assert_eq!(
            kind("a.ptx", &padded(b"\x50\xed\x55\xba\x01\0")),
            FileKind::Fatbin
        );
        for text in [
            b".target sm_90".as_slice(),
            b"/* .version",
            b"x .version 9",
            b"/",
            b"\x50\xed\x55\xba\x02\0",
            b"\xed\x43\x4e\x7f",
            &elf(1, 62),
        ] {
            assert_eq!(
                first_line("a.ptx", &padded(text)),
                "Binary format for key='0', ident='' is not recognized"
            );
        }
    }
}
