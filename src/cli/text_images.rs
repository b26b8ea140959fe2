//! The images that a text names: whole files, or what host objects, fatbins and archives hold.

use cuweld_ir::text::ImageKey;
use sha2::Digest;
use sha2::Sha256;

use crate::input::InputArena;
use crate::input::archive;
use crate::input::decompress::decompress;
use crate::input::fatbin;
use crate::input::host_object::DeviceCode;
use crate::input::host_object::HostObject;
use crate::input::identify::FileKind;
use crate::input::identify::elf_kind;
use crate::input::identify::identify;
use crate::input::mapped::load;

/// Finds an image in the file where the link had it. The file must not be changed meanwhile.
/// `None` if it is not there, as the code that PTX was compiled to.
pub fn find<'data>(key: &ImageKey<'_>, arena: &'data InputArena) -> Option<&'data [u8]> {
    let name = std::str::from_utf8(key.name).ok()?;
    let bytes = load(name, arena).ok()?;
    if is_image(bytes, key) {
        return Some(bytes);
    }
    match identify(name, bytes, false).ok()? {
        FileKind::Archive => {
            let members = archive::members(bytes).members.into_iter();
            let mut named = members.filter(|member| member.name == key.member);
            named.find_map(|member| {
                // A member of a thin archive is a file of its own.
                let bytes = match member.data {
                    Some(data) => data,
                    None => load(std::str::from_utf8(member.name).ok()?, arena).ok()?,
                };
                is_image(bytes, key)
                    .then_some(bytes)
                    .or_else(|| in_host_object(bytes, key, arena))
            })
        }
        FileKind::HostObject => in_host_object(bytes, key, arena),
        FileKind::Fatbin => in_fatbin(bytes, key, arena),
        _ => None,
    }
}

fn is_image(bytes: &[u8], key: &ImageKey<'_>) -> bool {
    bytes.len() as u64 == key.size && <[u8; 32]>::from(Sha256::digest(bytes)) == key.sha256
}

fn in_host_object<'data>(
    bytes: &'data [u8],
    key: &ImageKey<'_>,
    arena: &'data InputArena,
) -> Option<&'data [u8]> {
    elf_kind(bytes)?;
    match HostObject::parse(bytes).ok()?.device_code {
        DeviceCode::Relocatable { fatbin, .. } => in_fatbin(fatbin, key, arena),
        _ => None,
    }
}

fn in_fatbin<'data>(
    bytes: &'data [u8],
    key: &ImageKey<'_>,
    arena: &'data InputArena,
) -> Option<&'data [u8]> {
    let regions = std::iter::once(bytes).chain(fatbin::further_regions(bytes));
    let members = regions.flat_map(|region| fatbin::parse(region).unwrap_or_default());
    members
        .filter(|member| {
            member.stored.len() as u64 == key.size || member.unpacked_size() == key.size
        })
        .filter_map(|member| decompress(&member, arena).ok())
        .find(|image| is_image(image, key))
}
