//! Unpacking ahead: where much is packed in the files that come next, threads unpack it before the
//! walk over the inputs asks for it.
//!
//! It stays in the arena until then. What cannot be unpacked does not: the walk meets it again, and
//! says so in its turn.

use cuweld_elf::raw::EM_CUDA;
use cuweld_passes::threads::Work;

use super::archive;
use super::decompress::Codec;
use super::decompress::unpack;
use super::discover::Walk;
use super::fatbin;
use super::fatbin::FatbinMember;
use super::fatbin::MemberKind;
use super::host_object::DeviceCode;
use super::host_object::HostObject;
use super::identify;
use super::mapped::Files;
use super::select::Selection;
use super::select::select;

impl<'data, F> Walk<'_, 'data, F>
where
    F: Files<'data>,
{
    /// Unpacks what links for the target take from these files, if that is worth more than one
    /// thread.
    pub(super) fn unpack_ahead(&self, files: impl Iterator<Item = &'data [u8]>) {
        // With -lto other members are taken, which stay packed.
        let Some(threads) = self.threads.filter(|_| !self.options.lto) else {
            return;
        };
        let mut members = Vec::new();
        for bytes in files {
            if identify::is_archive(bytes) {
                let list = archive::members(bytes).members.into_iter();
                for data in list.filter_map(|member| member.data) {
                    self.packed(data, &mut members);
                }
            } else {
                self.packed(bytes, &mut members);
            }
        }
        let sizes = members.iter().map(FatbinMember::unpacked_size);
        let bytes = sizes.fold(0, u64::saturating_add);
        let work = Work::Bytes(usize::try_from(bytes).unwrap_or(usize::MAX));
        let packed = members.iter().map(|member| member.stored.len() as u64);
        let is_allowed = self.options.limits.unpacked(bytes, packed.sum()).is_ok();
        if members.len() < 2 || threads.count(work) == 1 || !is_allowed {
            return;
        }
        let unpacked = threads.map(work, &members, |member| unpack(member).ok().flatten());
        for (member, bytes) in members.iter().zip(unpacked) {
            if let Some(bytes) = bytes {
                self.arena.keep_unpacked(member.stored, bytes);
            }
        }
    }

    /// Adds the packed members that fit the target, of a fatbin or of what is in a host object.
    fn packed(&self, bytes: &'data [u8], members: &mut Vec<FatbinMember<'data>>) {
        let bytes = if fatbin::has_magic(bytes) {
            bytes
        } else if identify::elf_kind(bytes).is_some_and(|kind| kind.machine != EM_CUDA)
            && let Ok(host) = HostObject::parse(bytes)
            && let DeviceCode::Relocatable { fatbin, .. } = host.device_code
        {
            fatbin
        } else {
            return;
        };
        for region in std::iter::once(bytes).chain(fatbin::further_regions(bytes)) {
            let all = fatbin::parse(region).unwrap_or_default();
            if let Selection::Member(member) =
                select(&all, (self.options.toolkit, self.options.target), false)
                && member.kind() != MemberKind::Nvvm
                && Codec::of(&member) != Codec::None
            {
                members.push(member);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::super::InputArena;
    use super::super::Target;
    use super::super::device_input::Image;
    use super::super::discover::discover_with;
    use super::super::discover_options::DiscoverOptions;
    use super::super::test_files::Member;
    use super::super::test_files::archive;
    use super::super::test_files::cubin;
    use super::super::test_files::fatbin as build;
    use super::*;
    use crate::jobs;

    #[test]
    fn threads_give_what_one_gives() {
        let folder = tempfile::tempdir().unwrap();
        let packed = |codec, sm, fill: u8, size: Option<u64>| {
            let mut image = cubin(1, 2);
            image.resize(3 << 20, fill);
            let member = Member::elf(sm, &image).packed(codec);
            build(&[match size {
                Some(size) => member.declared_size(size),
                None => member,
            }])
        };
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let mut inputs = vec![
            write("a.fatbin", &packed(Codec::Zstd, "sm_90", 1, None)),
            write("b.fatbin", &packed(Codec::Lz4, "sm_90", 2, None)),
            write("c.fatbin", &packed(Codec::Zlib, "sm_90", 3, None)),
            write("empty.a", &archive(&[("x.o", b"none")])),
        ];
        let found = |inputs: &[String], count| {
            let arena = InputArena::new();
            let options = DiscoverOptions::new(Target::parse("sm_90").unwrap(), inputs);
            let threads = jobs::threads(Some(count));
            let mut told = |_: &[_], _, _| ControlFlow::Continue(());
            let outcome = discover_with(&options, Some(&threads), &arena, &mut told);
            let (found, error) = match outcome {
                Ok(found) => (found, None),
                Err(failure) => (failure.found, Some(failure.error.to_string())),
            };
            let images: Vec<Vec<u8>> = found
                .inputs
                .iter()
                .filter_map(|input| match input.image {
                    Some(Image::Cubin(image)) => Some(image.to_vec()),
                    _ => None,
                })
                .collect();
            (images, format!("{:?}", found.diagnostics), error)
        };
        let alone = found(&inputs, 1);
        assert_eq!((alone.0.len(), &alone.2), (3, &None));
        assert!(found(&inputs, 2) == alone);
        inputs.push(write(
            "d.fatbin",
            &packed(Codec::Zstd, "sm_90", 4, Some(5 << 20)),
        ));
        inputs.push(write("e.fatbin", &packed(Codec::Zstd, "sm_90", 5, None)));
        inputs.push("none".to_owned());
        let damaged = found(&inputs, 1);
        assert!(damaged.2.is_some());
        assert!(found(&inputs, 2) == damaged);
    }

    #[test]
    fn what_ends_the_link_ends_the_walk() {
        let folder = tempfile::tempdir().unwrap();
        let write = |index: usize| {
            let path = folder.path().join(format!("{index}.cubin"));
            let mut image = cubin(1, 2);
            image.resize(if index == 0 { 1 << 10 } else { 1 << 12 }, 0);
            std::fs::write(&path, image).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let inputs: Vec<String> = (0..40).map(write).collect();
        let arena = InputArena::new();
        let options = DiscoverOptions::new(Target::parse("sm_90").unwrap(), &inputs);
        let threads = jobs::threads(Some(2));
        for (calls, expected) in [(1, 1), (2, 16), (9, 40)] {
            let mut left = calls;
            let mut told = |_: &[_], _, _| {
                left -= 1;
                match left {
                    0 => ControlFlow::Break(()),
                    _ => ControlFlow::Continue(()),
                }
            };
            let found = discover_with(&options, Some(&threads), &arena, &mut told);
            let count = found.ok().map(|found| found.inputs.len());
            assert_eq!(count, Some(expected));
        }
    }
}
