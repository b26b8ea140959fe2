//! The walk over the inputs, in nvlink's order.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;

use cuweld_elf::raw::ET_EXEC;
use cuweld_ir::ObjectOrigin;

use super::arena::GivenFile;
use super::arena::InputArena;
use super::arena::ToldInput;
use super::device_input::DeviceInput;
use super::device_input::Image;
use super::device_input::NvvmImage;
use super::device_input::PtxImage;
use super::device_input::SkipReason;
use super::device_input::mark_prelinked;
use super::diagnostic::DiagnosticKind;
use super::diagnostic::IgnoredReason;
use super::diagnostic::InputDiagnostic;
use super::discover_options::DiscoverOptions;
use super::error::InputError;
use super::fatbin;
use super::file_identity::FileIdentity;
use super::host_info::HostInfo;
use super::host_object::DeviceCode;
use super::host_object::HostObject;
use super::identify;
use super::identify::FileKind;
use super::identify::identify;
use super::library_search::Candidate;
use super::mapped::Files;
use super::mapped::Loader;
use super::mapped::Sharing;
use super::module_id;
use super::module_id::ModuleIds;
use cuweld_passes::threads::Threads;

/// Paths that contain this belong to NVIDIA's device runtime.
const SYSTEM_LIBRARY: &str = "cudadevrt";

/// From this SM number on, files named `.ptx` are linked.
const FIRST_SM_FOR_RAW_PTX: u16 = 90;

/// How many files are opened before the first of them is looked into, where threads may unpack what
/// they hold.
const FILES_AHEAD: usize = 16;

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Discovered<'data> {
    /// Objects in link order.
    pub inputs: Vec<DeviceInput<'data>>,
    /// Which kernels and variables the host refers to.
    pub host_info: HostInfo<'data>,
    /// Warnings and notes, in the order in which they arose.
    pub diagnostics: Vec<InputDiagnostic>,
}

/// A fatal error, and what was found and said before it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{error}")]
pub struct DiscoverFailure<'data> {
    /// The error.
    pub error: InputError,
    /// The inputs before it, which nvlink has read by then.
    pub found: Discovered<'data>,
}

/// Finds the device images of files. The files must not be changed while the link runs.
pub fn discover<'data>(
    options: &DiscoverOptions<'_>,
    arena: &'data InputArena,
) -> Result<Discovered<'data>, Box<DiscoverFailure<'data>>> {
    discover_with(options, None, arena, &mut |_, _, _| {
        ControlFlow::Continue(())
    })
}

/// The callback that receives what was found, one window of files after the other: the inputs, how
/// many files were looked into so far, and how many there are. Whether inputs are skipped may
/// change until all are found. The rest need not be looked for if one of these ends the link.
pub type Told<'t, 'data> =
    &'t mut dyn FnMut(&[DeviceInput<'data>], usize, usize) -> ControlFlow<()>;

/// Returns `true` if the first of some files has few of their bytes.
fn is_small_part(files: &[io::Result<&[u8]>]) -> bool {
    let size = |file: &io::Result<&[u8]>| file.as_ref().map_or(0, |bytes| bytes.len());
    let all: usize = files.iter().map(size).sum();
    files.first().is_some_and(|first| size(first) <= all / 8)
}

/// What ends the walk before its last file.
enum Ended {
    /// The callback ended it.
    Enough,
    Failed(InputError),
}

impl From<InputError> for Ended {
    fn from(error: InputError) -> Self {
        Ended::Failed(error)
    }
}

/// Does the same as [`discover()`], with threads that open many files and unpack compressed
/// members.
pub fn discover_with<'data>(
    options: &DiscoverOptions<'_>,
    threads: Option<&Threads>,
    arena: &'data InputArena,
    told: Told<'_, 'data>,
) -> Result<Discovered<'data>, Box<DiscoverFailure<'data>>> {
    arena.set_limits(options.limits);
    match (arena.files(), arena.shared()) {
        (Some(files), _) => Walk::new(options, threads, arena, &Given(files)).run(told),
        (None, Some(files)) => {
            let sharing = Sharing { arena, files };
            Walk::new(options, threads, arena, &sharing).run(told)
        }
        (None, None) => Walk::new(options, threads, arena, &Loader::new(arena, threads)).run(told),
    }
}

/// Names and bytes in place of files.
struct Given<'data>(&'data BTreeMap<String, GivenFile>);

impl<'data> Files<'data> for Given<'data> {
    fn open(&self, path: &str) -> io::Result<&'data [u8]> {
        let bytes = self.0.get(path).map(|file| file.bytes.as_slice());
        bytes.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn identity(&self, path: &str) -> FileIdentity {
        FileIdentity::Name(path.to_owned())
    }

    fn told(&self, path: &str) -> Option<&ToldInput> {
        self.0.get(path)?.told.as_ref()
    }
}

/// Where an image comes from.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) path: &'a str,
    pub(super) member: Option<&'a str>,
    /// It is a host object that does not say which kernels it refers to.
    pub(super) is_silent: bool,
    /// The caller says what it is, so that nothing is read out of its name.
    pub(super) is_told: bool,
}

impl<'a> Source<'a> {
    pub(super) fn file(path: &'a str) -> Self {
        Source {
            path,
            member: None,
            is_silent: false,
            is_told: false,
        }
    }

    /// Returns `true` if nvlink takes the source for a part of the device runtime library.
    pub(super) fn is_system(&self) -> bool {
        !self.is_told && self.path.contains(SYSTEM_LIBRARY)
    }

    pub(super) fn display(&self) -> String {
        match self.member {
            Some(member) => format!("{}:{member}", self.path),
            None => self.path.to_owned(),
        }
    }
}

pub(super) struct Walk<'a, 'data, F> {
    pub(super) options: &'a DiscoverOptions<'a>,
    /// What limits the threads that unpack ahead; `None` for none of them.
    pub(super) threads: Option<&'a Threads>,
    pub(super) arena: &'data InputArena,
    pub(super) files: &'a F,
    /// Archives seen so far, sorted.
    pub(super) archives: Vec<FileIdentity>,
    pub(super) found: Discovered<'data>,
    ordinal: Option<usize>,
    /// Whether there was an error that is not fatal.
    failed: bool,
    /// Whether there was PTX to compile.
    compiles: bool,
}

impl<'a, 'data, F> Walk<'a, 'data, F>
where
    F: Files<'data>,
{
    fn new(
        options: &'a DiscoverOptions<'a>,
        threads: Option<&'a Threads>,
        arena: &'data InputArena,
        files: &'a F,
    ) -> Self {
        Walk {
            options,
            threads,
            arena,
            files,
            archives: Vec::new(),
            found: Discovered::default(),
            ordinal: None,
            failed: options.errors.before,
            compiles: false,
        }
    }

    fn run(
        mut self,
        told: Told<'_, 'data>,
    ) -> Result<Discovered<'data>, Box<DiscoverFailure<'data>>> {
        let result = self.walk(told);
        mark_prelinked(&mut self.found.inputs);
        match result {
            Ok(()) => Ok(self.found),
            Err(error) => Err(Box::new(DiscoverFailure {
                error,
                found: self.found,
            })),
        }
    }

    /// Walks over all inputs. All libraries are searched for before any input is opened, which is
    /// the order of nvlink's warnings.
    fn walk(&mut self, told: Told<'_, 'data>) -> Result<(), InputError> {
        let libraries = self.find_libraries()?;
        let paths = self.options.inputs.iter().chain(&libraries);
        let paths: Vec<&str> = paths.map(String::as_str).collect();
        self.found.inputs.reserve(paths.len());
        let window = self.threads.map_or(1, |_| FILES_AHEAD);
        let (mut done, all) = (0, paths.len());
        let loader = self.files;
        let ended = loader.in_windows(&paths, window, |files| {
            let mut files = files.into_iter();
            // If it ends the link, the others need not be unpacked; and few wait for a small one.
            let first = if done == 0 && is_small_part(files.as_slice()) {
                1
            } else {
                0
            };
            for count in [first, files.len() - first] {
                if count == 0 {
                    continue;
                }
                let before = self.found.inputs.len();
                let part: Vec<_> = files.by_ref().take(count).collect();
                self.unpack_ahead(part.iter().flatten().copied());
                for (path, bytes) in paths.iter().skip(done).zip(part) {
                    self.ordinal = Some(done);
                    done += 1;
                    let bytes = bytes.map_err(|error| InputError::CannotOpen {
                        file: (*path).to_owned(),
                        reason: error.to_string(),
                    })?;
                    match loader.told(path) {
                        Some(told) => {
                            let source = Source {
                                is_told: true,
                                ..Source::file(&told.name)
                            };
                            match told.is_compiled {
                                true => {
                                    self.raw(source, Image::Cubin(bytes), ObjectOrigin::Compiled);
                                }
                                false => self.file_of(source, told.kind, bytes)?,
                            }
                        }
                        None => self.file(path, bytes)?,
                    }
                }
                let inputs = self.found.inputs.get(before..).unwrap_or(&[]);
                if told(inputs, done, all).is_break() {
                    return Err(Ended::Enough);
                }
            }
            Ok(())
        });
        match ended {
            Err(Ended::Failed(error)) => Err(error),
            Ok(()) | Err(Ended::Enough) => Ok(()),
        }
    }

    fn find_libraries(&mut self) -> Result<Vec<String>, InputError> {
        let search = self.options.search_path();
        // Each library may be there as two files.
        let files = self.options.libraries.len() * search.folders().count() * 2;
        if let Err(error) = self.options.limits.lookups(files as u64) {
            let file = self.options.libraries.first().cloned().unwrap_or_default();
            return Err(InputError::Limit { file, error });
        }
        let mut warnings = Vec::new();
        let mut paths = Vec::new();
        let mut result = Ok(());
        for library in self.options.libraries {
            let look = |path: &str| match self.files.open(path) {
                Ok(bytes) => Candidate::File(bytes),
                Err(error) if error.kind() == io::ErrorKind::IsADirectory => Candidate::Folder,
                Err(_) => Candidate::Absent,
            };
            match search.find(library, look, &mut warnings) {
                Ok(path) => paths.extend(path),
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        for kind in warnings {
            self.diagnose(kind);
        }
        result.map(|()| paths)
    }

    fn file(&mut self, path: &str, bytes: &'data [u8]) -> Result<(), InputError> {
        let source = Source::file(path);
        let mut kind = identify(path, bytes, self.options.lto)?;
        if let FileKind::Ignored(reason) = kind
            && !self.options.strict
            && let Some(found) = identify::by_content(reason, bytes)
        {
            let linker = self.options.toolkit.linker();
            let text = format!(
                "'{path}' is linked for what it holds; {linker} goes by its name and ignores it"
            );
            self.deviate("D07", text);
            kind = found;
        }
        self.file_of(source, kind, bytes)
    }

    /// Looks into a file of a known kind.
    fn file_of(
        &mut self,
        source: Source<'_>,
        kind: FileKind,
        bytes: &'data [u8],
    ) -> Result<(), InputError> {
        let fatbinary = matches!(kind, FileKind::Fatbin | FileKind::Ptx);
        if self.failed && (fatbinary || matches!(kind, FileKind::HostObject | FileKind::Archive)) {
            return Err(InputError::AfterError {
                file: source.path.to_owned(),
                fatbinary,
            });
        }
        match kind {
            FileKind::Ignored(reason) => self.ignore(source, reason),
            FileKind::Cubin => self.raw(source, Image::Cubin(bytes), ObjectOrigin::Cubin),
            FileKind::Ptx => {
                let image = PtxImage {
                    text: bytes,
                    options: b"",
                    arch: None,
                };
                self.raw(source, Image::Ptx(image), ObjectOrigin::Cubin);
            }
            FileKind::Nvvm => {
                let image = NvvmImage {
                    stored: bytes,
                    container: bytes,
                    options: b"",
                    obfuscated: false,
                    arch: None,
                };
                self.raw(source, Image::Nvvm(image), ObjectOrigin::Cubin);
            }
            FileKind::Fatbin => {
                match self.fatbin(source, bytes, 0)? {
                    Some(image) => self.raw(source, image, ObjectOrigin::Fatbin),
                    None => {
                        // [host-lists-count]
                        if !self.options.registers {
                            self.found.host_info.set_unknown(source.path);
                        }
                        let skip = Some(SkipReason::NoCode);
                        self.add(source, None, ModuleIds::default(), true, skip);
                    }
                }
                self.further_regions(source, bytes, 0, true)?;
            }
            FileKind::HostObject => self.host_object(source, bytes)?,
            FileKind::Archive => self.archive(source, bytes)?,
        }
        Ok(())
    }

    /// Adds an image that is a file of its own.
    pub(super) fn raw(&mut self, source: Source<'_>, image: Image<'data>, origin: ObjectOrigin) {
        if is_executable(&image) {
            return self.ignore(source, IgnoredReason::DeviceExecutable);
        }
        let target = self.options.target;
        let is_ptx_file = !source.is_told && identify::extension(source.path) == Some("ptx");
        let mut skip = None;
        let is_dropped = is_ptx_file && target.sm < FIRST_SM_FOR_RAW_PTX;
        if is_dropped && !self.options.strict {
            let file = source.display();
            let linker = self.options.toolkit.linker();
            let text = format!(
                "'{file}' is linked; {linker} drops files named .ptx for targets below sm_90"
            );
            self.deviate("D03", text);
        }
        if is_dropped && self.options.strict {
            self.diagnose(DiagnosticKind::RawPtxDropped {
                file: source.display(),
                target,
            });
            skip = Some(SkipReason::RawPtx);
        } else if !source.is_system() && !matches!(image, Image::Nvvm(_)) {
            // Nobody knows which of its kernels are launched. Those of LTO-IR have to be named.
            self.found.host_info.set_unknown(source.path);
        }
        self.add(source, Some(image), ModuleIds::default(), true, skip);
        if let Some(input) = self.found.inputs.last_mut() {
            input.origin = origin;
        }
    }

    pub(super) fn host_object(
        &mut self,
        source: Source<'_>,
        bytes: &'data [u8],
    ) -> Result<(), InputError> {
        let file = source.display();
        let not_found = |offset: u64, reason: String| InputError::FatbinNotFound {
            file: file.clone(),
            offset,
            reason,
        };
        let object = HostObject::parse(bytes)
            .map_err(|error| not_found(error.offset(), error.to_string()))?;
        let source = Source {
            is_silent: !object.references.names_kernels(),
            ..source
        };
        // Only objects with device code to link tell which kernels they refer to.
        match object.device_code {
            DeviceCode::None | DeviceCode::WholeProgram => self.found.host_info.set_unknown(&file),
            DeviceCode::Relocatable { .. } | DeviceCode::Missing { .. } => self
                .found
                .host_info
                .add(&file, &object.references, source.is_system()),
        }
        let module_ids = module_id::parse(object.module_ids, object.module_ids_offset, &file)?;
        if !module_ids.prelinked.is_empty() {
            // Its device code is linked already, whichever way the stub holds it.
            self.add(source, None, module_ids, false, Some(SkipReason::Stub));
            return Ok(());
        }
        let (fatbin, offset) = match object.device_code {
            DeviceCode::Relocatable { fatbin, offset } => (fatbin, offset),
            DeviceCode::None => {
                self.ignore(source, IgnoredReason::NoDeviceCode);
                return Ok(());
            }
            DeviceCode::WholeProgram => {
                self.ignore(source, IgnoredReason::WholeProgramDeviceCode);
                return Ok(());
            }
            DeviceCode::Missing { offset } => {
                return Err(not_found(
                    offset,
                    "there is .nvFatBinSegment, but neither __nv_relfatbin nor .nv_fatbin"
                        .to_owned(),
                ));
            }
        };
        if !fatbin::has_magic(fatbin) {
            return Err(not_found(
                offset,
                "__nv_relfatbin does not begin with a fatbin".to_owned(),
            ));
        }
        let image = self.fatbin(source, fatbin, offset)?;
        if image.is_none() && source.is_system() {
            let references = &object.references;
            self.found.host_info.add_runtime_without_code(references);
        }
        if image.as_ref().is_some_and(is_executable) {
            self.ignore(source, IgnoredReason::DeviceExecutable);
        } else {
            self.add(source, image, module_ids, false, None);
        }
        self.further_regions(source, fatbin, offset, false)
    }

    /// Adds what fatbins after the first one hold, as `ld -r` puts them one after the other.
    fn further_regions(
        &mut self,
        source: Source<'_>,
        bytes: &'data [u8],
        base: u64,
        raw: bool,
    ) -> Result<(), InputError> {
        let regions = fatbin::further_regions(bytes);
        if regions.is_empty() || self.options.strict {
            return Ok(());
        }
        let file = source.display();
        let count = regions.len();
        let linker = self.options.toolkit.linker();
        let text = format!(
            "{count} more fatbins of '{file}' are linked; {linker} reads only the first of several (as ld -r makes them)"
        );
        self.deviate("D04", text);
        for region in regions {
            // Each region reaches to the end of the bytes.
            let offset = base + (bytes.len() - region.len()) as u64;
            let image = self.fatbin(source, region, offset)?;
            if image.as_ref().is_some_and(|image| !is_executable(image)) {
                self.add(source, image, ModuleIds::default(), raw, None);
                if let Some(input) = self.found.inputs.last_mut() {
                    input.continues = true;
                }
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        source: Source<'_>,
        image: Option<Image<'data>>,
        module_ids: ModuleIds<'data>,
        raw: bool,
        skip: Option<SkipReason>,
    ) {
        let is_compiled = matches!(skip, None | Some(SkipReason::RawPtx));
        self.compiles |= is_compiled && matches!(image, Some(Image::Ptx(_)));
        self.found.inputs.push(DeviceInput {
            path: source.path.to_owned(),
            member: source.member.map(str::to_owned),
            image,
            module_ids,
            system_library: source.is_system(),
            is_silent: raw || source.is_silent,
            raw,
            origin: ObjectOrigin::Fatbin,
            continues: false,
            ordinal: self.ordinal.unwrap_or_default(),
            skip,
        });
    }

    pub(super) fn ignore(&mut self, source: Source<'_>, reason: IgnoredReason) {
        self.diagnose(DiagnosticKind::Ignored {
            file: source.display(),
            reason,
        });
    }

    pub(super) fn deviate(&mut self, id: &'static str, text: String) {
        self.diagnose(DiagnosticKind::Deviation { id, text });
    }

    pub(super) fn diagnose(&mut self, kind: DiagnosticKind) {
        let is_error = !(self.compiles && self.options.errors.until_ptx)
            && match kind {
                DiagnosticKind::SmArchNotFound { .. } => self.options.errors.arch_not_found,
                DiagnosticKind::SkippingIncompatible { .. } => self.options.errors.skipped_library,
                _ => false,
            };
        self.failed |= is_error;
        self.found.diagnostics.push(InputDiagnostic {
            is_error,
            ordinal: self.ordinal,
            inputs_before: self.found.inputs.len(),
            kind,
        });
    }
}

/// Returns `true` if an image is a linked cubin, which is dropped without a message.
fn is_executable(image: &Image<'_>) -> bool {
    match image {
        Image::Cubin(bytes) => identify::elf_kind(bytes).is_some_and(|kind| kind.e_type == ET_EXEC),
        Image::Ptx(_) | Image::Nvvm(_) => false,
    }
}
