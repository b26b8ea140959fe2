//! What sizes are grouped by, and the label of a part for each.

use std::collections::BTreeMap;

use cuweld_demangle::family;
use thiserror::Error;

use super::collect::Image;
use super::collect::ImageKind;
use super::object_map::ObjectMap;
use super::part::Part;
use super::part::Place;
use crate::inspect::DeviceElf;
use crate::inspect::Functions;
use crate::inspect::Name;
use crate::inspect::functions::Reached;

/// What sizes are grouped by; bloaty calls these data sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// Files that were named.
    Files,
    /// Members of archives.
    Members,
    /// Architectures, with the kind of code.
    Archs,
    /// Sections without the functions that they belong to: `.text`, `.nv.info`.
    Kinds,
    /// Sections by name.
    Sections,
    /// Functions and variables, with their rows, names, records and relocations.
    Symbols,
    /// Kernels, with the functions that no other kernel reaches.
    Kernels,
    /// Functions by template: all instances are one.
    Templates,
    /// Objects that were linked.
    Objects,
}

impl Source {
    /// All sources with their names. The second name is bloaty's, where that is another.
    pub const ALL: [(Source, &'static str, &'static str); 9] = [
        (Source::Kinds, "kinds", ""),
        (Source::Sections, "sections", ""),
        (Source::Symbols, "symbols", ""),
        (Source::Kernels, "kernels", ""),
        (Source::Templates, "templates", "shortsymbols"),
        (Source::Objects, "objects", "compileunits"),
        (Source::Members, "members", "armembers"),
        (Source::Files, "files", "inputfiles"),
        (Source::Archs, "archs", ""),
    ];

    /// Returns the source of this name.
    pub fn from_name(name: &str) -> Option<Source> {
        let mut all = Source::ALL.into_iter();
        let is_named = |(_, own, other): &(Source, &str, &str)| *own == name || *other == name;
        all.find(|row| !name.is_empty() && is_named(row))
            .map(|(source, ..)| source)
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        let mut all = Source::ALL.into_iter();
        all.find(|(source, ..)| *source == self)
            .map_or("", |(_, name, _)| name)
    }

    /// Returns `true` if an image is one part for this source, so that its bytes in the file, which
    /// may be packed, can be told.
    pub fn is_of_images(self) -> bool {
        matches!(self, Source::Files | Source::Members | Source::Archs)
    }
}

/// Why there are no labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "which object each part came from is known only with the map of the link, in JSON (--map FILE)"
)]
pub struct NoMap;

/// The labels of the parts of one image.
pub struct Labels<'i, 'data> {
    image: &'i Image<'i, 'data>,
    functions: &'i Functions<'data>,
    reached: Vec<Reached>,
    map: Option<&'i ObjectMap>,
    demangles: bool,
    /// Names as in the source, and those of templates.
    known: [BTreeMap<Name<'data>, String>; 2],
}

/// `e_type` of linked files.
const EXEC: u32 = 2;

impl<'i, 'data> Labels<'i, 'data> {
    /// Prepares the labels of an image with these functions.
    pub fn new(
        image: &'i Image<'i, 'data>,
        functions: &'i Functions<'data>,
        map: Option<&'i ObjectMap>,
        demangles: bool,
    ) -> Self {
        Labels {
            image,
            functions,
            reached: functions.reached(),
            map,
            demangles,
            known: Default::default(),
        }
    }

    /// Returns the label of a part; of the whole image without one.
    ///
    /// # Errors
    ///
    /// Objects are asked for, and the image is a linked file without a map.
    pub fn label(&mut self, source: Source, part: Option<&Part<'data>>) -> Result<String, NoMap> {
        Ok(match source {
            Source::Files => self.image.file.to_string(),
            Source::Members => self.member(),
            Source::Archs => self.image.code(),
            Source::Objects => return self.object(part),
            source => match (self.image.kind, part) {
                (ImageKind::Elf(elf), Some(part)) => self.of_part(source, elf, part),
                (ImageKind::Ptx, _) => "[PTX]".to_owned(),
                (ImageKind::LtoIr, _) => "[LTO-IR]".to_owned(),
                (ImageKind::Elf(_) | ImageKind::Other, _) => "[other]".to_owned(),
            },
        })
    }

    fn member(&self) -> String {
        let file = || self.image.file.to_string();
        self.image.member.clone().unwrap_or_else(file)
    }

    fn object(&self, part: Option<&Part<'data>>) -> Result<String, NoMap> {
        match (self.image.kind, part, self.map) {
            (ImageKind::Elf(_), Some(part), Some(map)) => Ok(map.object(part)),
            (ImageKind::Elf(elf), ..) if elf.header.file_type.value == EXEC => Err(NoMap),
            _ => Ok(self.member()),
        }
    }

    fn of_part(&mut self, source: Source, elf: &DeviceElf<'data>, part: &Part<'data>) -> String {
        let section = match part.place {
            Place::FileHeader => return "[ELF Header]".to_owned(),
            Place::ProgramHeaders => return "[ELF Program Headers]".to_owned(),
            Place::SectionHeaders => return "[ELF Section Headers]".to_owned(),
            Place::Unmapped => return "[Unmapped]".to_owned(),
            Place::Section(index) => elf.sections.get(index as usize),
        };
        let Some(section) = section else {
            return "[Unmapped]".to_owned();
        };
        let owner = self.functions.of_section(section.index);
        let owner = owner.and_then(|owner| self.functions.list.get(owner));
        // `.text.f` is `.text` of `f`.
        let kind = owner.and_then(|owner| {
            let kind = section.name.0.strip_suffix(owner.name.0)?;
            kind.strip_suffix(b".").filter(|kind| !kind.is_empty())
        });
        let nameless = || match kind {
            Some(kind) => format!("[section {}]", Name(kind)),
            None => format!("[section {}]", section.name),
        };
        match (source, part.symbol, part.function) {
            (Source::Kinds, ..) => match kind {
                Some(kind) => Name(kind).to_string(),
                None => section.name.to_string(),
            },
            (Source::Sections, ..) => match (kind, owner) {
                (Some(kind), Some(owner)) => {
                    let kind = Name(kind).to_string();
                    let owner = owner.name;
                    format!("{kind}.{}", self.name(owner, false))
                }
                _ => section.name.to_string(),
            },
            (Source::Kernels, _, Some(function)) => self.kernel(function),
            (Source::Kernels, Some(_), None) => "[variables]".to_owned(),
            (Source::Templates, Some(symbol), _) => self.name(symbol, true).to_owned(),
            (_, Some(symbol), _) => self.name(symbol, false).to_owned(),
            (_, None, _) => nameless(),
        }
    }

    /// Returns the kernel that alone reaches a function.
    fn kernel(&mut self, function: usize) -> String {
        let reached = self.reached.get(function).copied().unwrap_or_default();
        let kernel = match reached {
            Reached::By(kernel) => self.functions.list.get(kernel),
            Reached::BySeveral => return "[several kernels]".to_owned(),
            Reached::ByNone => return "[no kernel]".to_owned(),
        };
        let name = kernel.map_or_else(Name::default, |kernel| kernel.name);
        self.name(name, false).to_owned()
    }

    /// Returns a name as it is shown.
    fn name(&mut self, name: Name<'data>, is_family: bool) -> &str {
        let (demangles, known) = (self.demangles, &mut self.known[usize::from(is_family)]);
        known.entry(name).or_insert_with(|| {
            let explained = match (is_family, demangles) {
                (true, _) => family(name.0),
                (false, true) => name.demangled(),
                (false, false) => None,
            };
            let explained = explained.map(|text| Name(text.as_bytes()).to_string());
            explained.unwrap_or_else(|| name.to_string())
        })
    }
}
