//! The images of device code in a file.

use crate::inspect::Content;
use crate::inspect::DeviceElf;
use crate::inspect::Name;
use crate::inspect::Node;

/// An image of device code, and where it stands.
#[derive(Clone, Debug)]
pub struct Image<'n, 'data> {
    /// The file, as it was named.
    pub file: Name<'data>,
    /// The member of an archive that it stands in, with those around it: `b.o`, `inner.a:b.o`.
    pub member: Option<String>,
    /// Architecture, such as `sm_90a`.
    pub arch: String,
    /// What it is.
    pub kind: ImageKind<'n, 'data>,
    /// Its size in bytes, after unpacking.
    pub size: u64,
    /// How it is stored, if it is a member of a fatbin.
    pub packaging: Option<Packaging>,
}

/// What an image is.
#[derive(Clone, Copy, Debug)]
pub enum ImageKind<'n, 'data> {
    /// A device ELF.
    Elf(&'n DeviceElf<'data>),
    /// PTX text.
    Ptx,
    /// LTO-IR.
    LtoIr,
    /// A member of a fatbin that is none of these, or is damaged.
    Other,
}

/// How a member of a fatbin is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packaging {
    /// Bytes in the file, without the member's header.
    pub stored: u64,
    /// Whether the bytes are packed.
    pub is_packed: bool,
}

impl Image<'_, '_> {
    /// Returns the architecture with the kind of code: `sm_90`, `sm_90 PTX`.
    pub fn code(&self) -> String {
        match self.kind {
            ImageKind::Elf(_) => self.arch.clone(),
            ImageKind::Ptx => format!("{} PTX", self.arch),
            ImageKind::LtoIr => format!("{} LTO-IR", self.arch),
            ImageKind::Other => format!("{} other", self.arch),
        }
    }
}

/// Lists the images in a file, in order.
pub fn collect<'n, 'data>(file: &'n Node<'data>) -> Vec<Image<'n, 'data>> {
    let mut images = Vec::new();
    let place = Place {
        file: file.name,
        member: None,
        of_fatbin: None,
    };
    add(file, &place, &mut images);
    images
}

/// Where in a file nodes are looked at.
#[derive(Clone)]
struct Place<'data> {
    file: Name<'data>,
    member: Option<String>,
    /// Architecture and packaging of the fatbin's member.
    of_fatbin: Option<(String, Packaging)>,
}

fn add<'n, 'data>(node: &'n Node<'data>, place: &Place<'data>, images: &mut Vec<Image<'n, 'data>>) {
    let mut image = |kind, arch: String, size| {
        images.push(Image {
            file: place.file,
            member: place.member.clone(),
            arch: match &place.of_fatbin {
                Some((arch, _)) => arch.clone(),
                None => arch,
            },
            kind,
            size,
            packaging: place.of_fatbin.as_ref().map(|(_, packaging)| *packaging),
        });
    };
    match &node.content {
        Content::DeviceElf(elf) => {
            image(ImageKind::Elf(elf), elf.header.arch.clone(), node.size);
        }
        Content::Ptx(ptx) => image(ImageKind::Ptx, ptx.target.to_string(), node.size),
        Content::LtoIr => image(ImageKind::LtoIr, String::new(), node.size),
        Content::Archive(archive) => {
            for member in &archive.members {
                let name = member.name.to_string();
                let place = Place {
                    member: Some(match &place.member {
                        Some(outer) => format!("{outer}:{name}"),
                        None => name,
                    }),
                    ..place.clone()
                };
                add(member, &place, images);
            }
        }
        Content::HostElf(host) => {
            host.fatbins.iter().for_each(|it| add(it, place, images));
        }
        Content::Fatbin(fatbin) => {
            fatbin.members.iter().for_each(|it| add(it, place, images));
        }
        Content::FatbinMember(member) => {
            let packaging = Packaging {
                stored: member.stored_size,
                is_packed: member.codec != "none",
            };
            let place = Place {
                of_fatbin: Some((member.arch.clone(), packaging)),
                ..place.clone()
            };
            match &member.data {
                Some(data) if !matches!(data.content, Content::Unknown) => {
                    add(data, &place, images);
                }
                _ => images.push(Image {
                    file: place.file,
                    member: place.member.clone(),
                    arch: member.arch.clone(),
                    kind: ImageKind::Other,
                    size: match &member.data {
                        Some(data) => data.size,
                        None => member.stored_size,
                    },
                    packaging: Some(packaging),
                }),
            }
        }
        Content::Unknown => {}
    }
}
