//! Options that nvlink accepts without naming them in its help. Drivers pass some of them; none is
//! recorded.

use super::OptionId;
use super::OptionSpec;
use super::Recorded;
use super::Section;
use super::ValueKind;

const fn hidden(
    id: OptionId,
    name: &'static str,
    kind: ValueKind,
    help: &'static str,
) -> OptionSpec {
    OptionSpec::new(id, Section::Hidden, kind, help)
        .names(name, name)
        .recorded(Recorded::Never)
}

pub(super) const OPTIONS: [OptionSpec; 12] = [
    hidden(
        OptionId::Shared,
        "shared",
        ValueKind::Flag,
        "nvcc -shared passes it; without effect on the link.",
    ),
    hidden(
        OptionId::HostCcbin,
        "host-ccbin",
        ValueKind::Text,
        "The host compiler, asked for the linker script of -ghls=lcs-abs.",
    ),
    hidden(
        OptionId::Xlinker,
        "Xlinker",
        ValueKind::List,
        "Options for the host linker.",
    )
    .names("", "Xlinker"),
    hidden(
        OptionId::ForceRela,
        "force-rela",
        ValueKind::Flag,
        "Write relocations with explicit addends.",
    ),
    hidden(
        OptionId::AllowUndefinedGlobals,
        "allow-undefined-globals",
        ValueKind::Flag,
        "Leave undefined variables to the loader.",
    ),
    hidden(
        OptionId::ReserveNullPointer,
        "reserve-null-pointer",
        ValueKind::Flag,
        "Place nothing at address zero of a memory.",
    ),
    hidden(
        OptionId::DisableSmemReservation,
        "disable-smem-reservation",
        ValueKind::Boolean,
        "Do not reserve the system's part of shared memory.",
    ),
    hidden(
        OptionId::SyscallConstOffset,
        "syscall-const-offset",
        ValueKind::Number(None),
        "Where the system call table begins in its constant bank.",
    ),
    hidden(
        OptionId::ForcePartialLto,
        "force-partial-lto",
        ValueKind::Flag,
        "Optimise at link time, then link the result with the rest.",
    ),
    hidden(
        OptionId::ForceWholeLto,
        "force-whole-lto",
        ValueKind::Flag,
        "Optimise all of the program at link time.",
    ),
    hidden(
        OptionId::VerboseTkinfo,
        "verbose-tkinfo",
        ValueKind::Boolean,
        "Record the names of inputs and output, as -g does, or do not.",
    ),
    hidden(
        OptionId::ToolName,
        "tool-name",
        ValueKind::Text,
        "The name in messages and in the record.",
    ),
];
