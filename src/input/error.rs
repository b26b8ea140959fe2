//! Fatal input errors, with nvlink's wording and ours.

use cuweld_diagnostics::Code;
use cuweld_diagnostics::Diagnostic;
use cuweld_diagnostics::codes::input;
use cuweld_diagnostics::codes::system;
use cuweld_diagnostics::codes::unsupported;
use thiserror::Error;

use super::codec::DecompressError;
use super::fatbin::FatbinError;
use crate::limits::LimitError;

/// Why discovery stopped. The Display text is ours; [`InputError::findings`] has nvlink's.
///
/// `file` is the input as messages name it: `PATH`, or `PATH:member`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InputError {
    /// Missing, unreadable, a folder, or too short for any input.
    #[error("cannot open '{file}': {reason}")]
    CannotOpen {
        /// The input.
        file: String,
        /// What the system or we have to say.
        reason: String,
    },
    /// A member of a thin archive cannot be opened.
    #[error(
        "cannot open '{file}', a member of the thin archive '{archive}' (at {offset:#x}): {reason}"
    )]
    ThinMember {
        /// The member's path as the archive has it.
        file: String,
        /// The thin archive.
        archive: String,
        /// Where in the archive the member's header ends.
        offset: u64,
        /// What the system has to say.
        reason: String,
    },
    /// A `.cubin` that is no ELF file.
    #[error("'{file}' is not an ELF file: no magic number at 0x0")]
    CubinNotElf {
        /// The input.
        file: String,
    },
    /// A `.cubin` for another machine.
    #[error("'{file}' is an ELF file for another machine than CUDA's (e_machine at 0x12)")]
    CubinNotDeviceElf {
        /// The input.
        file: String,
    },
    /// A `.fatbin` without the magic number.
    #[error("'{file}' is not a fatbin: no magic number at 0x0")]
    FatbinWrongFormat {
        /// The input.
        file: String,
    },
    /// A host object says it has device code, but no fatbin can be read from it.
    #[error("no fatbin in the host object '{file}', at {offset:#x}: {reason}")]
    FatbinNotFound {
        /// The input.
        file: String,
        /// Where in the input something is wrong.
        offset: u64,
        /// What is missing.
        reason: String,
    },
    /// A `.ptx` that holds neither PTX, nor a cubin, nor a fatbin.
    #[error("'{file}' holds at 0x0 neither PTX text, nor a cubin, nor a fatbin")]
    UnrecognizedFormat {
        /// The input.
        file: String,
    },
    /// A fatbin of another format version.
    #[error("the fatbin at {base:#x} of '{file}' has format version {version}, only 1 is known")]
    FatbinVersion {
        /// The input.
        file: String,
        /// Where in the input the fatbin begins.
        base: u64,
        /// Its version.
        version: u16,
    },
    /// The headers of a fatbin contradict each other or its size.
    #[error("malformed fatbin at {base:#x} of '{file}': {error}")]
    MalformedFatbin {
        /// The input.
        file: String,
        /// Where in the input the fatbin begins; the error's offsets count from there.
        base: u64,
        /// What is wrong, and where.
        error: FatbinError,
    },
    /// The chosen member cannot be decompressed.
    #[error("cannot decompress the fatbin member {member} at {offset:#x} of '{file}': {error}")]
    Decompress {
        /// The input.
        file: String,
        /// The member, such as `ELF sm_90`.
        member: String,
        /// Where in the input it is.
        offset: u64,
        /// What went wrong.
        error: DecompressError,
    },
    /// More is asked for than a link may take.
    #[error("{error} (at '{file}')")]
    Limit {
        /// The input, or the library that is looked for.
        file: String,
        /// The limit.
        error: LimitError,
    },
    /// PTX or a device ELF that only NVIDIA's tools can read.
    #[error("the fatbin member {member} at {offset:#x} of '{file}' is obfuscated")]
    Obfuscated {
        /// The input.
        file: String,
        /// The member, such as `PTX sm_90`.
        member: String,
        /// Where in the input it is.
        offset: u64,
    },
    /// A member without an architecture.
    #[error("the fatbin member at {offset:#x} of '{file}' has the SM number 0")]
    UnknownArch {
        /// The input.
        file: String,
        /// Where in the input the member is.
        offset: u64,
    },
    /// An ELF member that is no ELF64 file.
    #[error("the fatbin member {member} at {offset:#x} of '{file}' is not a 64-bit ELF file")]
    WordSize {
        /// The input.
        file: String,
        /// The member, such as `ELF sm_90`.
        member: String,
        /// Where in the input it is.
        offset: u64,
    },
    /// Only LTO-IR fits the target, and `-lto` is not given.
    #[error("'{file}' holds only LTO-IR for this target")]
    LtoObjects {
        /// The input.
        file: String,
    },
    /// `.ltoir` or `.nvvm` without `-lto`.
    #[error("'{file}' is NVVM IR, but this is not an LTO link")]
    NvvmWithoutLto {
        /// The input.
        file: String,
    },
    /// A `.bc` file.
    #[error("'{file}' is LLVM bitcode, which cannot be device-linked")]
    Bitcode {
        /// The input.
        file: String,
    },
    /// An archive ends in the middle of a member.
    #[error("the archive '{file}' is damaged or cut off after {members} members, at {offset:#x}")]
    DamagedArchive {
        /// The archive.
        file: String,
        /// How many members are whole.
        members: usize,
        /// Where what comes after them begins.
        offset: u64,
    },
    /// A file found by `-l` is no archive.
    #[error("'{file}' is not an archive: no name of a member at 0x8 that ends with a slash")]
    ArchiveFormat {
        /// The library.
        file: String,
    },
    /// A folder carries the name of a library.
    #[error("'{file}', found for -l{library}, is a folder")]
    LibraryIsFolder {
        /// Path of the folder.
        file: String,
        /// The library looked for.
        library: String,
    },
    /// A warning became an error (`-Werror`), and after it comes an input that is more than a
    /// cubin.
    #[error("'{file}' is not looked at after an error")]
    AfterError {
        /// The input.
        file: String,
        /// Whether it is a fatbin or PTX, and no host object or archive.
        fatbinary: bool,
    },
    /// Ids of a stub and of an object in one section.
    #[error(
        "__nv_module_id at {offset:#x} of '{file}' mixes linked modules and module ids: '{id}'"
    )]
    UnexpectedModuleIds {
        /// The input.
        file: String,
        /// Where in the input the section begins.
        offset: u64,
        /// The first id out of place.
        id: String,
    },
}

impl InputError {
    /// Returns the input at fault, as messages name it.
    pub fn file(&self) -> &str {
        match self {
            InputError::CannotOpen { file, .. }
            | InputError::ThinMember { file, .. }
            | InputError::CubinNotElf { file }
            | InputError::CubinNotDeviceElf { file }
            | InputError::FatbinWrongFormat { file }
            | InputError::FatbinNotFound { file, .. }
            | InputError::UnrecognizedFormat { file }
            | InputError::FatbinVersion { file, .. }
            | InputError::MalformedFatbin { file, .. }
            | InputError::Decompress { file, .. }
            | InputError::Limit { file, .. }
            | InputError::Obfuscated { file, .. }
            | InputError::UnknownArch { file, .. }
            | InputError::WordSize { file, .. }
            | InputError::LtoObjects { file }
            | InputError::NvvmWithoutLto { file }
            | InputError::Bitcode { file }
            | InputError::DamagedArchive { file, .. }
            | InputError::ArchiveFormat { file }
            | InputError::AfterError { file, .. }
            | InputError::LibraryIsFolder { file, .. }
            | InputError::UnexpectedModuleIds { file, .. } => file,
        }
    }

    /// Returns the code of its finding.
    pub fn code(&self) -> Code {
        match self {
            InputError::CannotOpen { .. } => input::CANNOT_OPEN,
            InputError::ThinMember { .. } => input::THIN_ARCHIVE_MEMBER,
            InputError::CubinNotElf { .. } => input::NOT_ELF,
            InputError::CubinNotDeviceElf { .. } => input::NOT_DEVICE_ELF,
            InputError::FatbinWrongFormat { .. } => input::NOT_FATBIN,
            InputError::FatbinNotFound { .. } => input::MISSING_FATBIN,
            InputError::UnrecognizedFormat { .. } => input::UNKNOWN_FORMAT,
            InputError::FatbinVersion { .. } => input::FATBIN_VERSION,
            InputError::MalformedFatbin { .. } => input::DAMAGED_FATBIN,
            InputError::Decompress { .. } => input::DECOMPRESSION,
            InputError::Limit { .. } => system::LIMIT,
            InputError::Obfuscated { .. } => unsupported::OBFUSCATED,
            InputError::UnknownArch { .. } => input::UNKNOWN_ARCH,
            InputError::WordSize { .. } => input::WORD_SIZE,
            InputError::LtoObjects { .. } | InputError::NvvmWithoutLto { .. } => input::ONLY_LTO_IR,
            InputError::Bitcode { .. } => input::BITCODE,
            InputError::DamagedArchive { .. } => input::TRUNCATED_ARCHIVE,
            InputError::ArchiveFormat { .. } => input::NOT_AN_ARCHIVE,
            InputError::LibraryIsFolder { .. } => input::LIBRARY_IS_FOLDER,
            InputError::AfterError { .. } => input::AFTER_ERROR,
            InputError::UnexpectedModuleIds { .. } => input::MODULE_IDS,
        }
    }

    /// Returns nvlink's messages, a finding for each line. The last one is fatal, and has the help.
    pub fn findings(&self) -> Vec<Diagnostic> {
        const INTERNAL: &str = "elfLink internal error";
        const FATBINARY: &str = "elfLink fatbinary error";
        let code = self.code();
        let fatal = |text: &str| Diagnostic::fatal(code, text);
        let error = |text: &str| Diagnostic::error(code, text);
        let file = self.file();
        let cannot_open = || fatal(&format!("Could not open input file '{file}'"));
        let unrecognized = || error("Binary format for key='0', ident='' is not recognized");
        let mut findings = match self {
            InputError::CannotOpen { .. } => vec![cannot_open()],
            InputError::ThinMember { .. } => vec![cannot_open(), fatal(INTERNAL)],
            InputError::CubinNotElf { .. } => vec![fatal("cubin not an elf?")],
            InputError::CubinNotDeviceElf { .. } => vec![fatal("cubin not a device elf?")],
            InputError::FatbinWrongFormat { .. } => vec![fatal("fatbin wrong format?")],
            InputError::FatbinNotFound { .. } => {
                vec![
                    fatal(&format!("Could not find fatbin in '{file}'")),
                    fatal(INTERNAL),
                ]
            }
            InputError::UnrecognizedFormat { .. } | InputError::FatbinVersion { .. } => {
                vec![unrecognized(), fatal(FATBINARY)]
            }
            InputError::MalformedFatbin { .. } => vec![fatal(FATBINARY)],
            InputError::Decompress { error: cause, .. } => {
                let mut lines = vec![error("Uncompress failed"); cause.nvlink_repeats()];
                lines.push(fatal(FATBINARY));
                lines
            }
            InputError::UnknownArch { .. } => vec![fatal("Unknown arch name ''"), fatal(FATBINARY)],
            InputError::WordSize { .. } => {
                vec![fatal(&format!(
                    "Input file '{file}' size does not match target '-m64'"
                ))]
            }
            InputError::LtoObjects { .. } => vec![fatal("LTO objects found, use -dlto")],
            InputError::NvvmWithoutLto { .. } => {
                vec![fatal("should only see nvvm files when -lto")]
            }
            InputError::Bitcode { .. } => vec![fatal("should never see bc files")],
            InputError::Obfuscated { .. } => vec![fatal(&self.to_string())],
            InputError::DamagedArchive { .. } | InputError::Limit { .. } => {
                vec![fatal(&format!("cuweld: {self}"))]
            }
            InputError::ArchiveFormat { .. } => {
                vec![fatal("unexpected archive format"), fatal(INTERNAL)]
            }
            InputError::AfterError {
                fatbinary: true, ..
            } => vec![fatal(FATBINARY)],
            InputError::AfterError { .. } => vec![fatal(INTERNAL)],
            InputError::LibraryIsFolder { .. } => vec![fatal("Memory allocation failure")],
            InputError::UnexpectedModuleIds { .. } => vec![fatal("unexpected data in module_ids")],
        };
        if let Some(last) = findings.last_mut() {
            last.helps.extend(self.help());
        }
        findings
    }

    /// Returns what more is known about the error, and what the user can do.
    pub fn help(&self) -> Option<String> {
        if let InputError::Obfuscated { .. } = self {
            return Some(
                "only NVIDIA's tools can read it; build it without obfuscation".to_owned(),
            );
        }
        if let InputError::Limit { error, .. } = self {
            return Some(error.help());
        }
        let advice = match self {
            InputError::ThinMember { .. } => {
                "paths in a thin archive are looked up from the current folder; \
                 link from where `ar` ran, or make a regular archive"
            }
            InputError::CubinNotDeviceElf { .. } => "give host objects the extension .o",
            InputError::LtoObjects { .. } | InputError::NvvmWithoutLto { .. } => {
                "link with -dlto, or compile with code=sm_XX beside code=lto_XX"
            }
            InputError::Bitcode { .. } => "compile it to PTX or to a relocatable object first",
            InputError::FatbinWrongFormat { .. }
            | InputError::MalformedFatbin { .. }
            | InputError::Decompress { .. }
            | InputError::FatbinNotFound { .. } => {
                "the file seems damaged or cut off; build it again"
            }
            _ => return Some(self.to_string()),
        };
        Some(format!("{self}; {advice}"))
    }
}
