//! What the finalizer is told.

use cuweld_elf::Target;
use cuweld_elf::check::View;
use cuweld_elf::finalize::OffTarget;
use cuweld_elf::toolkit::Toolkit;
use cuweld_ir::LinkOptions;
use cuweld_ir::ObjectOrigin;

use super::Conflict;
use super::FinalizerError;

/// From where the finalizer is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryPoint {
    /// A cubin on the command line.
    InputCubin,
    /// A member of a fatbin.
    FatbinMember,
    /// What the compiler made of PTX or LTO-IR.
    CompiledOutput,
    /// An object right before it is merged.
    PreMerge,
    /// The linked file.
    PostLink,
    /// A program that links in memory; a file that is finalized before its link.
    JitPreLink,
    /// A program that links in memory; a linked file.
    JitPostLink,
}

/// The two modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Before the link, on objects.
    PreLink,
    /// After the link, on the whole file.
    PostLink,
}

impl EntryPoint {
    /// Returns the place from which nvlink calls its finalizer for an object of a link.
    pub fn of_object(origin: ObjectOrigin) -> Self {
        match origin {
            ObjectOrigin::Cubin => EntryPoint::InputCubin,
            ObjectOrigin::Fatbin => EntryPoint::FatbinMember,
            ObjectOrigin::Compiled => EntryPoint::CompiledOutput,
        }
    }

    /// Returns the name of the entry in the trace.
    pub fn name(self) -> &'static str {
        match self {
            EntryPoint::InputCubin => "input cubin",
            EntryPoint::FatbinMember => "fatbin member",
            EntryPoint::CompiledOutput => "compiled output",
            EntryPoint::PreMerge => "pre-merge",
            EntryPoint::PostLink => "post-link",
            EntryPoint::JitPreLink => "JIT, pre-link",
            EntryPoint::JitPostLink => "JIT, post-link",
        }
    }

    /// Returns the mode.
    pub fn stage(self) -> Stage {
        match self {
            EntryPoint::PostLink | EntryPoint::JitPostLink => Stage::PostLink,
            _ => Stage::PreLink,
        }
    }

    /// Returns `true` if a program calls that links in memory.
    pub fn is_jit(self) -> bool {
        matches!(self, EntryPoint::JitPreLink | EntryPoint::JitPostLink)
    }
}

/// Kinds of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryKind {
    /// Mercury alone.
    Mercury,
    /// SASS with what turns it back into Mercury.
    Capmerc,
    /// SASS alone.
    Sass,
}

impl BinaryKind {
    /// All kinds, with the names of the option.
    pub const ALL: [(&'static str, BinaryKind); 3] = [
        ("mercury", BinaryKind::Mercury),
        ("capmerc", BinaryKind::Capmerc),
        ("sass", BinaryKind::Sass),
    ];

    /// Returns the kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let found = Self::ALL.into_iter().find(|(known, _)| *known == name);
        found.map(|(_, kind)| kind)
    }
}

/// Returns the name of an output that has none.
pub fn default_output_name(target: Target, kind: Option<BinaryKind>) -> &'static str {
    if !target.is_mercury() {
        return "cubin";
    }
    match kind.unwrap_or(BinaryKind::Capmerc) {
        BinaryKind::Sass => "sass.cubin",
        BinaryKind::Capmerc => "capmerc.cubin",
        BinaryKind::Mercury => "merc.cubin",
    }
}

/// The options of the finalizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinalizerOptions {
    /// `--binary-kind`: the kind of the output, capmerc for sm_100 and up.
    pub binary_kind: Option<BinaryKind>,
    /// `--cap-merc`: the same as `--binary-kind capmerc`.
    pub cap_merc: bool,
    /// `--self-check`: the file is read again and proved.
    pub self_check: bool,
    /// `--out-sass`: the SASS view alone, after a self-check.
    pub out_sass: bool,
    /// `--opportunistic-finalization-lvl`: 0 and 1 copy no code for another SM, 2 does within a
    /// family, 3 and 4 do beyond.
    pub opportunistic_level: u8,
    /// `--fastpath-off`: no copies.
    pub fast_path_off: bool,
    /// `--opt-level`: what the code generator does; nothing is compiled here.
    pub opt_level: u8,
    /// `--generate-line-info`: line tables of compiled code.
    pub generate_line_info: bool,
    /// `--disable-smem-reservation`: shared memory has no reserved block.
    pub disable_smem_reservation: bool,
    /// `--verbose-tkinfo`: the note of the tool names the file.
    pub verbose_tkinfo: bool,
    /// `--compile-as-at-entry-patch`, `--asatentrypatch`: code for a patch at a function's entry.
    pub at_entry_patch: bool,
    /// `--trap-into-debugger`: the code generator stops at failed assertions.
    pub trap_into_debugger: bool,
    /// `--edbg`: bit 0 traces.
    pub edbg: u32,
}

impl Default for FinalizerOptions {
    fn default() -> Self {
        FinalizerOptions {
            binary_kind: None,
            cap_merc: false,
            self_check: false,
            out_sass: false,
            opportunistic_level: 0,
            fast_path_off: false,
            opt_level: DEFAULT_OPT_LEVEL,
            generate_line_info: false,
            disable_smem_reservation: false,
            verbose_tkinfo: false,
            at_entry_patch: false,
            trap_into_debugger: false,
            edbg: 0,
        }
    }
}

/// The optimization level that stands for none given.
pub const DEFAULT_OPT_LEVEL: u8 = 3;

impl FinalizerOptions {
    /// Refuses options that contradict each other, and those that only a code generator can do.
    pub fn check(&self, target: Target) -> Result<(), FinalizerError> {
        let kind = self.binary_kind;
        let conflict = if self.opportunistic_level > 4 {
            Some(Conflict::Level(self.opportunistic_level))
        } else if self.cap_merc && kind.is_some_and(|kind| kind != BinaryKind::Capmerc) {
            Some(Conflict::Kinds)
        } else if self.wants_mercury() && !target.is_mercury() {
            Some(Conflict::Target)
        } else if self.out_sass && !self.self_check {
            Some(Conflict::OutSass)
        } else if self.out_sass && (self.cap_merc || kind == Some(BinaryKind::Mercury)) {
            Some(Conflict::OutSassKind)
        } else if self.fast_path_off && self.opportunistic_level >= 2 {
            Some(Conflict::FastPath)
        } else {
            None
        };
        if let Some(conflict) = conflict {
            return Err(FinalizerError::Conflict(conflict));
        }
        let compiled = [
            (kind == Some(BinaryKind::Mercury), "--binary-kind mercury"),
            (self.opt_level != DEFAULT_OPT_LEVEL, "--opt-level"),
            (self.generate_line_info, "--generate-line-info"),
            (self.at_entry_patch, "--compile-as-at-entry-patch"),
            (self.trap_into_debugger, "--trap-into-debugger"),
        ];
        match compiled.into_iter().find(|(given, _)| *given) {
            Some((_, option)) => Err(FinalizerError::NeedsCodeGenerator(option)),
            None => Ok(()),
        }
    }

    /// Returns `true` if a file with Mercury is asked for.
    pub fn wants_mercury(&self) -> bool {
        let kind = self.binary_kind;
        self.cap_merc || matches!(kind, Some(BinaryKind::Mercury | BinaryKind::Capmerc))
    }

    /// Returns the range of other SMs for which code is copied.
    pub fn copies(&self) -> OffTarget {
        match self.opportunistic_level {
            _ if self.fast_path_off => OffTarget::None,
            0 | 1 => OffTarget::None,
            2 => OffTarget::Family,
            _ => OffTarget::All,
        }
    }
}

/// One call of the finalizer. Fields up to `suppress_debug_info` are those of NVIDIA's structure of
/// 160 bytes, with their offset in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinalizerConfig {
    /// The optimization level of the call, at 24: 4, or 5 with `-g`.
    pub mode_selector: u32,
    /// `-g`, at 28.
    pub debug: bool,
    /// Line tables are left out, at 31.
    pub suppress_line_info: bool,
    /// The optimization level if there is no other, at 64: 3, and 0 with `-g`.
    pub fallback_opt_level: u32,
    /// The link has Mercury, at 104. First of the flags that `--edbg` shows.
    pub mercury_mode: bool,
    /// The output is for sm_90 or later, at 105. Second of the flags that `--edbg` shows.
    pub capmerc_mode: bool,
    /// Always set, at 106.
    pub enabled: bool,
    /// The target has the current file header, sm_75 and up, at 107.
    pub extended_debug: bool,
    /// `-suppress-debug-info`, at 108.
    pub suppress_debug_info: bool,
    /// The toolkit whose finalizer it stands in for.
    pub toolkit: &'static Toolkit,
    /// What is finalized for.
    pub target: Target,
    /// From where it is called.
    pub entry: EntryPoint,
    /// The name of the file in messages.
    pub name: String,
    /// Each decision about architectures is traced (`CAN_FINALIZE_DEBUG`).
    pub trace_compatibility: bool,
    /// The options.
    pub options: FinalizerOptions,
}

/// What messages call a file without a name.
const IN_MEMORY: &str = "in-memory-ELF-image";

impl FinalizerConfig {
    /// Creates a call without options.
    pub fn new(target: Target, entry: EntryPoint) -> Self {
        Self::with_debug(target, entry, false)
    }

    /// Returns the call of a link.
    pub fn of_link(
        (toolkit, target): (&'static Toolkit, Target),
        entry: EntryPoint,
        options: &LinkOptions,
    ) -> Self {
        let opportunistic_level = match (
            options.mercury.copy_within_family,
            options.mercury.copy_across_families,
        ) {
            (_, true) => 3,
            (true, false) => 2,
            (false, false) => 0,
        };
        FinalizerConfig {
            toolkit,
            suppress_debug_info: options.suppress_debug_info,
            options: FinalizerOptions {
                opportunistic_level,
                disable_smem_reservation: options.memory.disable_shared_reservation,
                verbose_tkinfo: !options.record.output_name.is_empty(),
                edbg: options.reports.trace_finalizer.into(),
                ..FinalizerOptions::default()
            },
            ..Self::with_debug(target, entry, options.debug)
        }
    }

    fn with_debug(target: Target, entry: EntryPoint, debug: bool) -> Self {
        FinalizerConfig {
            mode_selector: if debug { 5 } else { 4 },
            debug,
            suppress_line_info: false,
            fallback_opt_level: if debug { 0 } else { 3 },
            mercury_mode: target.is_mercury() && entry.stage() == Stage::PostLink,
            capmerc_mode: target.sm > 89,
            enabled: true,
            extended_debug: target.sm > 72,
            suppress_debug_info: false,
            toolkit: Default::default(),
            target,
            entry,
            name: IN_MEMORY.to_owned(),
            trace_compatibility: false,
            options: FinalizerOptions::default(),
        }
    }

    /// Returns the same call for a file with a name.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    fn traces(&self) -> bool {
        self.options.edbg & 1 != 0
    }

    /// Adds the trace lines from before the work.
    pub(super) fn trace_start(&self, trace: &mut Vec<String>) {
        if !self.traces() {
            return;
        }
        let is_jit = self.entry.is_jit();
        let post = self.entry.stage() == Stage::PostLink;
        trace.push(if is_jit {
            "FNLZR: JIT Path".to_owned()
        } else {
            format!("FNLZR: Input ELF: {}", self.name)
        });
        let mode = match (is_jit, post) {
            (false, false) => "FNLZR: Pre-Link Mode",
            (false, true) => "FNLZR: Post-Link Mode",
            (true, false) => "FNLZR: preLink Mode",
            (true, true) => "FNLZR: postLink Mode",
        };
        trace.push(mode.to_owned());
        let (first, second) = (u8::from(self.mercury_mode), u8::from(self.capmerc_mode));
        trace.push(format!("FNLZR: Flags [ {first} | {second} ]"));
        trace.push(format!("FNLZR: Entry point: {}", self.entry.name()));
        trace.push(format!("FNLZR: Starting {}", self.subject()));
    }

    /// Adds a trace line for each section that the SASS view does not have.
    pub(super) fn trace_skipped(&self, view: &View<'_>, trace: &mut Vec<String>) {
        let skipped = (0..)
            .zip(&view.sections)
            .filter(|(_, section)| section.is_mercury());
        if self.traces() {
            trace.extend(
                skipped.map(|(index, _): (u32, _)| format!("skip mercury section {index}")),
            );
        }
    }

    /// Adds a trace line for a file that one of NVIDIA's linkers wrote.
    pub(super) fn trace_linked(
        &self,
        already_linked: impl FnOnce() -> bool,
        trace: &mut Vec<String>,
    ) {
        if self.traces() && already_linked() {
            trace.push("FNLZR: already linked by nvlink or the nvJIT API".to_owned());
        }
    }

    /// Adds the trace line from after the work.
    pub(super) fn trace_end(&self, trace: &mut Vec<String>) {
        if self.traces() {
            trace.push(format!("FNLZR: Ending {}", self.subject()));
        }
    }

    fn subject(&self) -> &str {
        if self.entry.is_jit() {
            "JIT"
        } else {
            &self.name
        }
    }
}
