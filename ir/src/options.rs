//! Options of a link.

/// Options of the link that change output bytes or messages. Everything a pass needs to know of the
/// command line is here, so that a module in text form is complete.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct LinkOptions {
    /// `-r`: write a relocatable object.
    pub relocatable: bool,
    /// `-g`: keep everything, record file names.
    pub debug: bool,
    /// `-suppress-debug-info`: with `-g`, shared variables have no symbols.
    pub suppress_debug_info: bool,
    /// `-preserve-relocs`.
    pub preserve_relocs: bool,
    /// `--force-rela`: relocations without addend get one, what the field holds.
    pub force_rela: bool,
    /// `-keep-system-libraries`.
    pub keep_system_libraries: bool,
    /// `-allow-undefined-globals`: undefined variables in global memory are left to the driver.
    pub allow_undefined_globals: bool,
    /// Link-time optimisation made one object of a whole program: what host information leaves out
    /// goes as options let it go.
    pub whole_program: bool,
    /// Reproduce nvlink even where its output does not do what the program says
    /// (`docs/deviations.md`).
    pub strict: bool,
    /// Link objects of later releases of the toolkit's major version, by the toolkit's rules: it is the
    /// newest that is known, and nobody asked for it by name.
    pub accept_newer: bool,
    /// What host code refers to.
    pub host: HostReferences,
    /// Layout of memory.
    pub memory: MemoryOptions,
    /// What the output says of the link.
    pub record: LinkRecord,
    /// What the link says and checks.
    pub reports: Reports,
    /// Code for sm_100 and later.
    pub mercury: MercuryOptions,
}

/// What host code refers to: names by options, patterns by host information.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct HostReferences {
    /// `-kernels-used`: kernels whose name contains one of these stay; `None` if not given.
    pub kernels_used: Option<Vec<String>>,
    /// `-variables-used`, if given.
    pub variables_used: Option<Vec<String>>,
    /// Patterns of externally visible kernels that host code references (`.nvHRKE`), if host
    /// information applies to this link.
    pub kernels_external: Option<Vec<String>>,
    /// Patterns of internal kernels that host code references (`.nvHRKI`), if host information
    /// applies.
    pub kernels_internal: Option<Vec<String>>,
    /// Patterns of externally visible variables that host code references (`.nvHRDE`, `.nvHRCE`),
    /// if host information applies to this link.
    pub variables_external: Option<Vec<String>>,
    /// Patterns of internal variables that host code references (`.nvHRDI`, `.nvHRCI`), if host
    /// information applies.
    pub variables_internal: Option<Vec<String>>,
}

/// Layout of memory.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct MemoryOptions {
    /// `--reserve-null-pointer`: no shared variable is at address 0.
    pub reserve_null_pointer: bool,
    /// `-disable-smem-reservation=true`: shared memory has no reserved block.
    pub disable_shared_reservation: bool,
}

/// What the output says of the link.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct LinkRecord {
    /// The options as the tool note records them.
    pub options: Vec<u8>,
    /// Base name of the output, if it is recorded (`-g`, `--verbose-tkinfo`).
    pub output_name: Vec<u8>,
    /// Record the linker of the toolkit as the tool instead of ourselves.
    pub stamp_nvlink: bool,
    /// `-tool-name`: the linker that the tool note names, if given.
    pub tool_name: Option<Vec<u8>>,
    /// The branch that the tool note names in place of the toolkit's; empty for that one. A library
    /// has one of its own, and the compiler of PTX within.
    pub tool_branch: Vec<u8>,
}

/// What the link says and checks.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Reports {
    /// `-v`: report what kernels need of memory, registers and barriers.
    pub resources: bool,
    /// `-dump-callgraph`, with or without `-no-demangle`: show the call graph.
    pub call_graph: bool,
    /// `-extrawarn`: say which functions have their address taken and no call.
    pub extra_warnings: bool,
    /// `-suppress-stack-size-warning`.
    pub suppress_stack_size_warning: bool,
    /// `-Werror`, unless warnings are silenced: a warning about an object ends the link after it.
    pub warnings_are_errors: bool,
    /// `--edbg`, bit 0: say what the finalizer's front end does.
    pub trace_finalizer: bool,
    /// `CAN_FINALIZE_DEBUG`: show each decision about the architecture of an object.
    pub trace_compatibility: bool,
    /// `--self-check`: the file is read again and proved against the objects.
    pub self_check: bool,
}

/// Code for sm_100 and later.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct MercuryOptions {
    /// `--opportunistic-finalization-lvl` 2 and up: code for another SM of the target's family is
    /// copied.
    pub copy_within_family: bool,
    /// `--opportunistic-finalization-lvl` 3 and up: so is code for an SM of another family.
    pub copy_across_families: bool,
    /// `--cap-merc`: objects of SASS alone are refused.
    pub cap_merc: bool,
    /// Which code is made anew.
    pub finalize: Finalize,
    /// A kernel that nvlink would schedule anew is an error, not kept as it was compiled
    /// (`docs/formats/mercury.md`).
    pub strict: bool,
}

/// Which code is made anew as NVIDIA's finalizer makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Finalize {
    /// Code for which the rules give what its object has.
    #[default]
    Certified,
    /// None: all code is kept as it was compiled.
    Keep,
    /// Also code for which the rules do not give what its object has, to measure them.
    Trust,
}

impl Finalize {
    /// Returns what a word stands for.
    pub fn from_word(word: &str) -> Option<Finalize> {
        let mut known = [Finalize::Certified, Finalize::Keep, Finalize::Trust].into_iter();
        known.find(|known| known.word() == word)
    }

    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Finalize::Certified => "certified",
            Finalize::Keep => "keep",
            Finalize::Trust => "trust",
        }
    }
}
