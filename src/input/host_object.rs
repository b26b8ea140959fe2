//! Host objects: where nvcc puts device code, module ids and host references.
//!
//! Only section names count, no symbol and no relocation is looked at. `.nvFatBinSegment` says that
//! there is device code; `__nv_relfatbin` holds it, from its first byte on.

use cuweld_elf::raw::SectionHeader;
use cuweld_elf::validate::StructureError;
use cuweld_elf::validate::validate_structure;

use super::host_info::HostReferences;

/// The section type without bytes in the file.
const SHT_NOBITS: u32 = 8;

/// What a host object's sections say about device code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceCode<'data> {
    /// None at all.
    None,
    /// Whole-program device code (`.nv_fatbin` only), which is not linked.
    WholeProgram,
    /// Relocatable device code: the contents of `__nv_relfatbin`.
    Relocatable {
        /// The bytes.
        fatbin: &'data [u8],
        /// Where in the file they begin.
        offset: u64,
    },
    /// `.nvFatBinSegment` without either of the fatbin sections.
    Missing {
        /// Where in the file that section begins.
        offset: u64,
    },
}

/// The sections of a host object that matter to a device link.
#[derive(Clone, Debug)]
pub struct HostObject<'data> {
    /// Its device code.
    pub device_code: DeviceCode<'data>,
    /// Contents of `__nv_module_id`, empty if there is none.
    pub module_ids: &'data [u8],
    /// Where in the file that section begins.
    pub module_ids_offset: u64,
    /// The `.nvHR*` sections.
    pub references: HostReferences<'data>,
}

impl<'data> HostObject<'data> {
    /// Reads the section table. The error says what is wrong with it.
    pub fn parse(bytes: &'data [u8]) -> Result<Self, StructureError> {
        let headers = validate_structure(bytes)?;
        let names = headers
            .sections
            .get(headers.section_names)
            .and_then(|section| contents(bytes, section))
            .unwrap_or_default();
        let mut segment = None;
        let mut relocatable = None;
        let mut whole_program = false;
        let mut module_ids: (&[u8], u64) = (b"", 0);
        let mut references = HostReferences::default();
        for section in headers.sections {
            let Some(name) = section_name(names, section) else {
                continue;
            };
            // Host objects have many other sections; only NVIDIA's names begin like these.
            if !name.starts_with(b".nv") && !name.starts_with(b"__nv") {
                continue;
            }
            let data = contents(bytes, section).unwrap_or_default();
            let offset = section.offset.get();
            match name {
                b".nvFatBinSegment" => segment = Some(offset),
                b".nv_fatbin" => whole_program = true,
                b"__nv_relfatbin" => relocatable = relocatable.or(Some((data, offset))),
                b"__nv_module_id" => module_ids = (data, offset),
                _ => references.add(name, data),
            }
        }
        let device_code = match (segment, relocatable, whole_program) {
            (None, _, _) => DeviceCode::None,
            (Some(_), Some((fatbin, offset)), _) => DeviceCode::Relocatable { fatbin, offset },
            (Some(_), None, true) => DeviceCode::WholeProgram,
            (Some(offset), None, false) => DeviceCode::Missing { offset },
        };
        let (module_ids, module_ids_offset) = module_ids;
        Ok(HostObject {
            device_code,
            module_ids,
            module_ids_offset,
            references,
        })
    }
}

fn contents<'data>(bytes: &'data [u8], section: &SectionHeader) -> Option<&'data [u8]> {
    if section.ty.get() == SHT_NOBITS {
        return None;
    }
    let start = usize::try_from(section.offset.get()).ok()?;
    let length = usize::try_from(section.size.get()).ok()?;
    bytes.get(start..start.checked_add(length)?)
}

fn section_name<'data>(names: &'data [u8], section: &SectionHeader) -> Option<&'data [u8]> {
    let rest = names.get(section.name.get() as usize..)?;
    rest.split(|&byte| byte == 0).next()
}

#[cfg(test)]
mod tests {
    use super::super::test_files::host_object;
    use super::*;

    fn device_code(sections: &[(&str, &[u8])]) -> String {
        let bytes = host_object(sections);
        match HostObject::parse(&bytes).unwrap().device_code {
            DeviceCode::Relocatable { fatbin, offset } => {
                assert!(bytes[offset as usize..].starts_with(fatbin));
                format!("Relocatable({fatbin:?})")
            }
            DeviceCode::Missing { .. } => "Missing".to_owned(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn section_names_decide() {
        assert_eq!(device_code(&[(".text", b"x")]), "None");
        assert_eq!(device_code(&[("__nv_relfatbin", b"x")]), "None");
        assert_eq!(device_code(&[(".nvFatBinSegment", b"x")]), "Missing");
        let whole_program: &[(&str, &[u8])] = &[(".nvFatBinSegment", b""), (".nv_fatbin", b"x")];
        assert_eq!(device_code(whole_program), "WholeProgram");
        let both: &[(&str, &[u8])] = &[
            (".nv_fatbin", b"x"),
            ("__nv_relfatbin", b"\x07"),
            (".nvFatBinSegment", b""),
        ];
        assert_eq!(device_code(both), "Relocatable([7])");
    }

    #[test]
    fn module_ids_are_found() {
        let bytes = host_object(&[("__nv_module_id", b"_a\0"), ("__nv_other", b"x")]);
        assert_eq!(HostObject::parse(&bytes).unwrap().module_ids, b"_a\0");
    }

    #[test]
    fn broken_section_tables_are_errors() {
        let bytes = host_object(&[(".text", b"x")]);
        assert!(HostObject::parse(&bytes[..bytes.len() - 1]).is_err());
        let mut elf32 = bytes.clone();
        elf32[4] = 1;
        assert!(HostObject::parse(&elf32).is_err());
    }
}
