//! The walk through an archive: every member, in order.

use crate::file_name;
use cuweld_elf::raw::EM_CUDA;
use cuweld_ir::ObjectOrigin;

use super::archive;
use super::device_input::Image;
use super::diagnostic::IgnoredReason;
use super::discover::Source;
use super::discover::Walk;
use super::error::InputError;
use super::identify;
use super::mapped::Files;

impl<'data, F> Walk<'_, 'data, F>
where
    F: Files<'data>,
{
    pub(super) fn archive(
        &mut self,
        whole: Source<'_>,
        bytes: &'data [u8],
    ) -> Result<(), InputError> {
        let path = whole.path;
        if whole.is_system() && self.found.inputs.is_empty() {
            // Nothing can be undefined yet. nvlink then does not look into it, nor remember it.
            self.ignore(whole, IgnoredReason::RuntimeFirst);
            return Ok(());
        }
        if !whole.is_told {
            let identity = self.files.identity(path);
            match self.archives.binary_search(&identity) {
                Ok(_) => {
                    self.ignore(whole, IgnoredReason::RepeatedArchive);
                    return Ok(());
                }
                Err(place) => self.archives.insert(place, identity),
            }
        }
        let list = archive::members(bytes);
        let mut cut_off = list.cut_off.is_some();
        let count = list.members.len();
        for (index, member) in list.members.into_iter().enumerate() {
            let name = file_name::text(member.name);
            let bytes = match member.data {
                Some(bytes) => bytes,
                None => self.thin_member(path, &name, member.offset)?,
            };
            let is_last = index + 1 == count;
            let source = Source {
                member: Some(&name),
                ..whole
            };
            match identify::elf_kind(bytes) {
                Some(kind) if kind.machine == EM_CUDA => {
                    self.cubin_in_archive(source, bytes);
                }
                Some(_) if member.extended_name && self.options.strict => {
                    cut_off = true;
                    break;
                }
                Some(_) => {
                    if member.extended_name {
                        self.deviate(
                            "D06",
                            format!(
                                "'{}' is read; {} does not know BSD's archive members",
                                source.display(),
                                self.options.toolkit.linker()
                            ),
                        );
                    }
                    self.host_object(source, bytes)?;
                }
                None if self.options.strict => {
                    cut_off = true;
                    break;
                }
                None if is_last => {}
                None => self.deviate(
                    "D06",
                    format!(
                        "members after '{}' are read; {} stops there",
                        source.display(),
                        self.options.toolkit.linker()
                    ),
                ),
            }
        }
        if let Some(offset) = list.cut_off
            && !self.options.strict
        {
            return Err(InputError::DamagedArchive {
                file: path.to_owned(),
                members: count,
                offset,
            });
        }
        if cut_off {
            self.ignore(whole, IgnoredReason::RestOfArchive);
        }
        Ok(())
    }

    /// Reads a member of a thin archive. Its path counts from the archive's folder; nvlink takes it
    /// from the current one.
    fn thin_member(
        &mut self,
        archive: &str,
        name: &str,
        offset: u64,
    ) -> Result<&'data [u8], InputError> {
        let folder = archive.rsplit_once('/').map(|(folder, _)| folder);
        if let Some(folder) = folder
            && !self.options.strict
            && !name.starts_with('/')
            && let Ok(bytes) = self.files.open(&format!("{folder}/{name}"))
        {
            let linker = self.options.toolkit.linker();
            let text = format!(
                "'{folder}/{name}' is the member of the thin archive '{archive}'; {linker} opens '{name}'"
            );
            self.deviate("D05", text);
            return Ok(bytes);
        }
        match self.files.open(name) {
            Ok(bytes) => Ok(bytes),
            Err(error) => Err(InputError::ThinMember {
                file: name.to_owned(),
                archive: archive.to_owned(),
                offset,
                reason: error.to_string(),
            }),
        }
    }

    fn cubin_in_archive(&mut self, source: Source<'_>, bytes: &'data [u8]) {
        self.found.host_info.set_unknown(&source.display());
        if self.options.strict {
            return self.ignore(source, IgnoredReason::CubinInArchive);
        }
        let sm = identify::device_elf_sm(bytes);
        let fits =
            sm.is_some_and(|sm| self.options.toolkit.accepts(self.options.target, sm, false));
        if !fits {
            return self.ignore(source, IgnoredReason::MemberArchNotFound);
        }
        self.deviate(
            "D08",
            format!(
                "'{}' is linked; {} ignores cubins in archives",
                source.display(),
                self.options.toolkit.linker()
            ),
        );
        self.raw(source, Image::Cubin(bytes), ObjectOrigin::Cubin);
    }
}
