//! The search for `-l` libraries.
//!
//! Folders are tried in the order of `-L`, then of `LIBRARY_PATH`; in each, `libX.so` comes before
//! `libX.a` (and then is ignored like every shared object). An archive for another host is passed
//! over with a warning. A library that is nowhere is no error: nvcc passes on all `-l` options, and
//! most libraries hold no device code.

use super::archive;
use super::diagnostic::DiagnosticKind;
use super::error::InputError;
use super::identify;

/// Host architectures, the values of `-cpu-arch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum CpuArch {
    /// 32-bit x86.
    X86,
    /// x86-64, which nvlink for x86-64 also takes `unknown` for.
    #[default]
    X86_64,
    /// 32-bit Arm.
    ArmV7,
    /// 64-bit Arm.
    Aarch64,
    /// 64-bit little-endian POWER.
    Ppc64Le,
    /// 64-bit RISC-V, since CUDA 13.3.
    RiscV64,
}

impl CpuArch {
    /// The values of `-cpu-arch`.
    pub const NAMES: [(&'static str, CpuArch); 7] = [
        ("AARCH64", CpuArch::Aarch64),
        ("ARMv7", CpuArch::ArmV7),
        ("PPC64LE", CpuArch::Ppc64Le),
        ("RISCV64", CpuArch::RiscV64),
        ("X86", CpuArch::X86),
        ("X86_64", CpuArch::X86_64),
        ("unknown", CpuArch::X86_64),
    ];

    /// Parses a value of `-cpu-arch`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::NAMES
            .into_iter()
            .find(|(known, _)| *known == name)
            .map(|(_, arch)| arch)
    }

    /// Returns the `e_machine` of the architecture's objects.
    pub fn machine(self) -> u16 {
        match self {
            CpuArch::X86 => 3,
            CpuArch::ArmV7 => 40,
            CpuArch::X86_64 => 62,
            CpuArch::Aarch64 => 183,
            CpuArch::Ppc64Le => 21,
            CpuArch::RiscV64 => 243,
        }
    }
}

/// What lies under a path.
pub enum Candidate<'data> {
    /// Nothing that can be read.
    Absent,
    /// A folder.
    Folder,
    /// A file with this content.
    File(&'data [u8]),
}

/// Where to look.
#[derive(Clone, Copy, Debug)]
pub struct SearchPath<'a> {
    /// The `-L` folders.
    pub folders: &'a [String],
    /// The value of `LIBRARY_PATH`, colon-separated.
    pub environment: Option<&'a str>,
    /// Archives must be for this host.
    pub cpu_arch: CpuArch,
}

impl SearchPath<'_> {
    /// Returns the folders in which libraries are looked for.
    pub fn folders(&self) -> impl Iterator<Item = &str> {
        let environment = self
            .environment
            .into_iter()
            .flat_map(|value| value.split(':'));
        let folders = self.folders.iter().map(String::as_str).chain(environment);
        folders.filter(|folder| !folder.is_empty())
    }

    /// Finds a library: its path, or `None` if it is nowhere. `look` reads a path.
    pub fn find<'data>(
        &self,
        library: &str,
        mut look: impl FnMut(&str) -> Candidate<'data>,
        warnings: &mut Vec<DiagnosticKind>,
    ) -> Result<Option<String>, InputError> {
        for folder in self.folders() {
            let shared = format!("{folder}/lib{library}.so");
            if matches!(look(&shared), Candidate::File(_)) {
                return Ok(Some(shared));
            }
            let file = format!("{folder}/lib{library}.a");
            match look(&file) {
                Candidate::Absent => (),
                Candidate::Folder => {
                    return Err(InputError::LibraryIsFolder {
                        file,
                        library: library.to_owned(),
                    });
                }
                Candidate::File(bytes) => match self.check(bytes, |member| {
                    [&format!("{folder}/{member}"), member]
                        .into_iter()
                        .find_map(|path| match look(path) {
                            Candidate::File(bytes) => Some(bytes),
                            _ => None,
                        })
                }) {
                    Fit::Compatible => return Ok(Some(file)),
                    Fit::Incompatible(why) => warnings.push(DiagnosticKind::SkippingIncompatible {
                        file,
                        library: library.to_owned(),
                        why,
                    }),
                    Fit::NoArchive => return Err(InputError::ArchiveFormat { file }),
                },
            }
        }
        Ok(None)
    }

    /// Decides by the first member for the host or that is no ELF file: those for other hosts, and
    /// cubins, are passed over. `open` reads a member of a thin archive; one that cannot be read fits,
    /// so that its library says so.
    fn check<'data>(
        &self,
        bytes: &'data [u8],
        mut open: impl FnMut(&str) -> Option<&'data [u8]>,
    ) -> Fit {
        let Some(names) = bytes.get(MAGIC_SIZE..).filter(|names| !names.is_empty()) else {
            return Fit::Incompatible("it has no members, so that nothing of it is needed");
        };
        // nvlink looks for the end of the first member's name, and not at the magic number.
        let name_end = names.iter().find(|byte| matches!(byte, b'/' | 0));
        if name_end != Some(&b'/') {
            return Fit::NoArchive;
        }
        if !identify::is_archive(bytes) {
            return Fit::Incompatible("it is no archive");
        }
        let is_thin = bytes.starts_with(identify::THIN_ARCHIVE_MAGIC);
        let members = archive::members(bytes).members;
        let count = members.len();
        for (at, member) in members.into_iter().enumerate() {
            let data = match is_thin {
                true => open(&String::from_utf8_lossy(member.name)),
                false => member.data,
            };
            let Some(data) = data else {
                return Fit::Compatible;
            };
            match identify::elf_kind(data) {
                Some(kind) if kind.machine != self.cpu_arch.machine() => (),
                Some(_) => return Fit::Compatible,
                None if at == 0 => break,
                None => {
                    return Fit::Incompatible(
                        "its members are for another host (`-cpu-arch`), up to one that is no object",
                    );
                }
            }
            if at + 1 == count {
                return Fit::Incompatible("its members are for another host (`-cpu-arch`)");
            }
        }
        Fit::Incompatible("its first member is no object")
    }
}

/// Files that hold no more than an archive's magic are passed over.
const MAGIC_SIZE: usize = 8;

enum Fit {
    Compatible,
    /// The reason.
    Incompatible(&'static str),
    NoArchive,
}

#[cfg(test)]
mod tests {
    use super::super::test_files::archive;
    use super::super::test_files::cubin;
    use super::super::test_files::host_object;
    use super::super::test_files::thin_archive;
    use super::*;

    fn library(machine: u16) -> Vec<u8> {
        let mut object = host_object(&[(".text", b"x")]);
        object[18..20].copy_from_slice(&machine.to_le_bytes());
        archive(&[("a.o", &object)])
    }

    fn search(
        files: &[(&str, &[u8])],
        cpu_arch: CpuArch,
    ) -> (Result<Option<String>, String>, Vec<&'static str>) {
        let folders = ["d1".to_owned(), "d2".to_owned()];
        let path = SearchPath {
            folders: &folders,
            environment: Some("e1::e2"),
            cpu_arch,
        };
        let mut warnings = Vec::new();
        let look = |path: &str| match files.iter().find(|(name, _)| *name == path) {
            Some((_, b"folder")) => Candidate::Folder,
            Some((_, bytes)) => Candidate::File(bytes),
            None => Candidate::Absent,
        };
        let found = path.find("x", look, &mut warnings);
        let why = warnings.iter().map(|warning| match warning {
            DiagnosticKind::SkippingIncompatible { why, .. } => *why,
            other => panic!("{other:?}"),
        });
        (
            found.map_err(|error| error.findings()[0].message.to_string()),
            why.collect(),
        )
    }

    #[test]
    fn folders_come_in_order_and_so_before_a() {
        let lib = library(62);
        let found = |files: &[(&str, &[u8])]| search(files, CpuArch::X86_64).0.unwrap();
        let path = |name: &str| Some(name.to_owned());
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[("libx.a", &lib)]), None);
        assert_eq!(
            found(&[("e2/libx.a", &lib), ("e1/libx.a", &lib)]),
            path("e1/libx.a")
        );
        assert_eq!(
            found(&[("e1/libx.a", &lib), ("d2/libx.a", &lib)]),
            path("d2/libx.a")
        );
        assert_eq!(
            found(&[("d2/libx.so", b"?"), ("d1/libx.a", &lib)]),
            path("d1/libx.a")
        );
        assert_eq!(
            found(&[("d1/libx.so", b"?"), ("d1/libx.a", &lib)]),
            path("d1/libx.so")
        );
    }

    #[test]
    fn archives_for_other_hosts_are_passed_over() {
        let (arm, x86) = (library(183), library(62));
        let files: &[(&str, &[u8])] = &[("d1/libx.a", &arm), ("d2/libx.a", &x86)];
        assert_eq!(
            search(files, CpuArch::X86_64),
            (
                Ok(Some("d2/libx.a".to_owned())),
                vec!["its members are for another host (`-cpu-arch`)"]
            )
        );
        assert_eq!(
            search(files, CpuArch::Aarch64),
            (Ok(Some("d1/libx.a".to_owned())), vec![])
        );
        let text = archive(&[("readme", b"some text")]);
        let empty = "it has no members, so that nothing of it is needed";
        for (bytes, why) in [
            (b"".as_slice(), empty),
            (b"hello", empty),
            (b"!<arch>\n", empty),
            (b"no archive/", "it is no archive"),
            (
                &library(190),
                "its members are for another host (`-cpu-arch`)",
            ),
            (&text, "its first member is no object"),
        ] {
            assert_eq!(
                search(&[("d1/libx.a", bytes)], CpuArch::X86_64),
                (Ok(None), vec![why])
            );
        }
        // A later member for the host suffices, unless one before it is no ELF file.
        let host = |machine: u16| {
            let mut object = host_object(&[]);
            object[18..20].copy_from_slice(&machine.to_le_bytes());
            object
        };
        let (cubin, arm, x86, text) = (cubin(1, 0), host(183), host(62), b"text".to_vec());
        let stops = "its members are for another host (`-cpu-arch`), up to one that is no object";
        for (members, cpu_arch, why) in [
            (vec![&cubin, &x86], CpuArch::X86_64, None),
            (vec![&arm, &x86], CpuArch::X86_64, None),
            (vec![&cubin, &arm, &x86], CpuArch::X86_64, None),
            (vec![&x86, &arm], CpuArch::Aarch64, None),
            (vec![&arm, &text, &x86], CpuArch::X86_64, Some(stops)),
        ] {
            let members: Vec<(&str, &[u8])> = members
                .iter()
                .map(|member| ("a.o", member.as_slice()))
                .collect();
            let (found, warnings) = search(&[("d1/libx.a", &archive(&members))], cpu_arch);
            assert_eq!(found.unwrap().is_some(), why.is_none());
            assert_eq!(warnings, why.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn members_of_thin_archives_are_read() {
        let thin = thin_archive("a.o");
        let (x86, arm) = (host_object(&[]), {
            let mut object = host_object(&[]);
            object[18..20].copy_from_slice(&183_u16.to_le_bytes());
            object
        });
        let other = "its members are for another host (`-cpu-arch`)";
        for (member, why) in [
            (Some(("d1/a.o", &x86)), None),
            (Some(("a.o", &x86)), None),
            (Some(("d1/a.o", &arm)), Some(other)),
            (None, None),
        ] {
            let mut files: Vec<(&str, &[u8])> = vec![("d1/libx.a", &thin)];
            files.extend(member.map(|(path, bytes)| (path, bytes.as_slice())));
            let (found, warnings) = search(&files, CpuArch::X86_64);
            assert_eq!(found.unwrap().is_some(), why.is_none());
            assert_eq!(warnings, why.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_is_no_archive_is_fatal() {
        let result = |bytes: &[u8]| {
            search(&[("d1/libx.a", bytes)], CpuArch::X86_64)
                .0
                .unwrap_err()
        };
        assert_eq!(result(&[b'x'; 9]), "unexpected archive format");
        assert_eq!(result(b"folder"), "Memory allocation failure");
    }

    #[test]
    fn cpu_archs_parse() {
        assert_eq!(CpuArch::parse("AARCH64"), Some(CpuArch::Aarch64));
        assert_eq!(CpuArch::parse("x86_64"), None);
    }
}
