//! Archives: regular and thin, GNU and BSD names, with or without a symbol index.
//!
//! Every member counts, in order; the index is not used. Reading stops without an error at the
//! first damaged header or cut-off member, as nvlink's does.

use object::read::archive::ArchiveFile;

use super::identify;

/// A member of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArchiveMember<'data> {
    /// The name; for a thin archive the path as the archive has it.
    pub name: &'data [u8],
    /// The contents; `None` in a thin archive.
    pub data: Option<&'data [u8]>,
    /// Where the contents begin in the archive, or in a thin archive the header's end.
    pub offset: u64,
    /// The name stands in front of the contents, BSD's form, which nvlink does not know.
    pub extended_name: bool,
}

/// The members of an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members<'data> {
    /// Members in archive order.
    pub members: Vec<ArchiveMember<'data>>,
    /// Where reading stopped before the end of the file: after the last member that is whole.
    pub cut_off: Option<u64>,
}

/// Reads the member list.
pub fn members(bytes: &[u8]) -> Members<'_> {
    let start = if identify::is_archive(bytes) {
        identify::ARCHIVE_MAGIC.len() as u64
    } else {
        0
    };
    let Ok(archive) = ArchiveFile::parse(bytes) else {
        return Members {
            members: Vec::new(),
            cut_off: Some(start),
        };
    };
    let mut list = Members::default();
    let mut behind = start;
    for member in archive.members() {
        let read = member.and_then(|member| {
            let data = if archive.is_thin() {
                None
            } else {
                Some(member.data(bytes)?)
            };
            Ok(ArchiveMember {
                name: member.name(),
                data,
                offset: member.file_range().0,
                extended_name: member
                    .header()
                    .is_some_and(|header| header.name.starts_with(b"#1/")),
            })
        });
        match read {
            Ok(member) => {
                let length = member.data.map_or(0, <[u8]>::len) as u64;
                behind = member.offset.saturating_add(length).next_multiple_of(2);
                list.members.push(member);
            }
            Err(_) => {
                list.cut_off = Some(behind);
                break;
            }
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::super::test_files::archive;
    use super::super::test_files::thin_archive;
    use super::*;

    fn names(bytes: &[u8]) -> Vec<String> {
        let list = members(bytes);
        assert_eq!(list.cut_off, None);
        list.members
            .iter()
            .map(|m| String::from_utf8_lossy(m.name).into_owned())
            .collect()
    }

    #[test]
    fn names_of_all_forms() {
        let long = "a_name_of_more_than_fifteen.o";
        let bytes = archive(&[("a.o", b"xyz"), (long, b"12"), ("c.o", b"")]);
        assert_eq!(names(&bytes), ["a.o", long, "c.o"]);
        let data: Vec<_> = members(&bytes)
            .members
            .iter()
            .map(|m| m.data.unwrap())
            .collect();
        assert_eq!(data, [b"xyz".as_slice(), b"12", b""]);

        let mut bsd = b"!<arch>\n".to_vec();
        bsd.extend_from_slice(b"#1/20           0           0     0     644     22        `\n");
        bsd.extend_from_slice(b"long_bsd_name.o\0\0\0\0\0hi");
        assert_eq!(names(&bsd), ["long_bsd_name.o"]);
        assert_eq!(members(&bsd).members[0].data, Some(b"hi".as_slice()));
    }

    #[test]
    fn thin_archives_have_paths() {
        let thin = thin_archive("dir/a.o");
        let list = members(&thin);
        assert_eq!(
            list.members,
            [ArchiveMember {
                name: b"dir/a.o",
                data: None,
                offset: list.members[0].offset,
                extended_name: false,
            }]
        );
        assert_eq!(list.cut_off, None);
    }

    #[test]
    fn cut_off_archives_give_what_is_whole() {
        let bytes = archive(&[("a.o", b"wxyz"), ("b.o", b"12")]);
        let second = 8 + 60 + 4;
        for length in 0..bytes.len() {
            let list = members(&bytes[..length]);
            let whole = usize::from(length >= second);
            assert_eq!(list.members.len(), whole, "{length}");
            let place = match length {
                8 => None,
                ..8 => Some(0),
                _ if length == second => None,
                _ if length < second => Some(8),
                _ => Some(second as u64),
            };
            assert_eq!(list.cut_off, place, "{length}");
        }
    }
}
