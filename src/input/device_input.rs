//! The result of discovery: device images and where they come from.

use std::fmt;

use cuweld_ir::ObjectOrigin;

use super::Target;
use super::module_id::ModuleIds;

/// PTX to be compiled for the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PtxImage<'data> {
    /// The text; text from a fatbin ends with NULs.
    pub text: &'data [u8],
    /// Options for ptxas that the fatbin member carries, blank-separated.
    pub options: &'data [u8],
    /// The fatbin member's architecture, `None` for a PTX file.
    pub arch: Option<Target>,
}

/// NVVM or LTO-IR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NvvmImage<'data> {
    /// The bytes as stored. Those of a fatbin member may be compressed and obfuscated.
    pub stored: &'data [u8],
    /// The fatbin around it, from its header on, or one like it; the bytes themselves for an NVVM
    /// file.
    pub container: &'data [u8],
    /// Options for the compiler that the fatbin member carries.
    pub options: &'data [u8],
    /// Whether the bytes are obfuscated, as those of nvcc's fatbins are.
    pub obfuscated: bool,
    /// The fatbin member's architecture, `None` for an NVVM file.
    pub arch: Option<Target>,
}

/// What an input contributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Image<'data> {
    /// A device ELF. Its headers are not checked beyond class and type.
    Cubin(&'data [u8]),
    /// PTX.
    Ptx(PtxImage<'data>),
    /// NVVM or LTO-IR.
    Nvvm(NvvmImage<'data>),
}

/// Why an input takes no part in the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// A stub of an earlier device link; it has no image here.
    Stub,
    /// An earlier device link has linked this module: an input stub says so. Its further module
    /// ids still are registered.
    AlreadyLinked,
    /// Files named `.ptx` are compiled, but not linked, for targets below sm_90.
    RawPtx,
    /// A fatbin in a file of its own without code for the target.
    NoCode,
}

/// One object of the link, in link order.
#[derive(Clone, Debug)]
pub struct DeviceInput<'data> {
    /// The file as given, or as the library search put it together.
    pub path: String,
    /// Name of the archive member.
    pub member: Option<String>,
    /// What it contributes. `None` for a stub, and for a host object that has nothing for the
    /// target; the latter's module ids are registered all the same.
    pub image: Option<Image<'data>>,
    /// Module ids to register. Without any, it is [`default_id`](super::module_id::default_id).
    pub module_ids: ModuleIds<'data>,
    /// It belongs to the device runtime (its path contains `cudadevrt`): to be linked only if
    /// something is undefined when its turn comes.
    pub system_library: bool,
    /// Nothing says which of its kernels host code refers to.
    pub is_silent: bool,
    /// The file itself holds the image: it is a cubin, PTX or fatbin, not a host object.
    pub raw: bool,
    /// In what its image stands; [`ObjectOrigin::Compiled`] once it was compiled.
    pub origin: ObjectOrigin,
    /// It comes from a further fatbin of the input before it, or is the object of link-time
    /// optimisation: the inputs that it is made of are registered, and not it. Or it is LTO-IR in a
    /// file of its own, which is never registered, or the device runtime beside nothing else.
    pub continues: bool,
    /// Ordinal of the input: positional inputs in order, then `-l` libraries.
    pub ordinal: usize,
    /// Set if it takes no part in the link.
    pub skip: Option<SkipReason>,
}

impl<'data> DeviceInput<'data> {
    /// Creates an object that the linker made of several inputs; they are registered, and not it.
    pub fn unregistered(name: &str, image: Image<'data>) -> Self {
        DeviceInput {
            path: name.to_owned(),
            member: None,
            image: Some(image),
            module_ids: ModuleIds::default(),
            system_library: false,
            is_silent: false,
            raw: false,
            origin: ObjectOrigin::Compiled,
            continues: true,
            ordinal: 0,
            skip: None,
        }
    }
}

impl DeviceInput<'_> {
    /// Returns `true` if it is linked and has no code for the target.
    pub fn lacks_code(&self) -> bool {
        self.image.is_none() && matches!(self.skip, None | Some(SkipReason::NoCode))
    }
}

impl fmt::Display for DeviceInput<'_> {
    /// Writes the name that messages use: `PATH` or `PATH:member`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        match &self.member {
            Some(member) => write!(f, ":{member}"),
            None => Ok(()),
        }
    }
}

/// Marks what earlier device links have linked. A stub may come before or after the objects.
pub(super) fn mark_prelinked(inputs: &mut [DeviceInput<'_>]) {
    let mut linked: Vec<&[u8]> = Vec::new();
    for input in inputs.iter() {
        linked.extend_from_slice(&input.module_ids.prelinked);
    }
    linked.sort_unstable();
    let mut before = None;
    for input in inputs {
        if input.continues {
            input.skip = before;
            continue;
        }
        let first = input.module_ids.ids.first();
        if first.is_some_and(|id| linked.binary_search(id).is_ok()) {
            input.skip.get_or_insert(SkipReason::AlreadyLinked);
        }
        before = input.skip;
    }
}
