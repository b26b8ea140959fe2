//! Names of symbols that mean something to compilers, linker and driver.

/// Undefined in the device runtime: how many bytes of constants of all kernels there are.
pub const CONSTANTS_SIZE: &[u8] = b".nv.ptx.const0.size";

/// The unified table symbol whose relocations always go in a link without tables
/// [unified-offset-goes].
pub const UNIFIED_FUNCTIONS_OFFSET: &[u8] = b"__UFT_OFFSET";

/// The name that relocatable output has for the dynamic shared memory of each kernel that uses some
/// [dynamic-shared-instance].
pub const DYNAMIC_SHARED_INSTANCE: &[u8] = b"externsharedinstance";

/// Returns `true` if a name is one of the unified table symbols that the output drops when there is
/// no table.
pub fn is_unified_table_symbol(name: &[u8]) -> bool {
    matches!(
        name,
        b"__UFT"
            | b"__UFT_END"
            | b"__UFT_OFFSET"
            | b"__UFT_CANONICAL"
            | b"__UDT"
            | b"__UDT_END"
            | b"__UDT_OFFSET"
            | b"__UDT_CANONICAL"
    )
}

/// Where the part of reserved shared memory begins that kernels may use.
pub const RESERVED_SHARED_OFFSET: &[u8] = b".nv.reservedSmem.offset0";

/// The beginning of the reserved part, where code asks for it.
const RESERVED_SHARED_BEGIN: &[u8] = b".nv.reservedSmem.begin";

/// The end of the reserved part.
pub const RESERVED_SHARED_CAP: &[u8] = b".nv.reservedSmem.cap";

/// The address of the end of the reserved part in bytes.
pub const RESERVED_SHARED_END: u64 = 0x400;

/// Returns the address in shared memory that a symbol of the reserved part has in the SASS view of
/// objects with Mercury, whose symbols of the Mercury view have 0; `None` for other symbols.
pub fn reserved_shared_place(name: &[u8]) -> Option<u64> {
    match name {
        RESERVED_SHARED_OFFSET => Some(0x40),
        RESERVED_SHARED_CAP => Some(RESERVED_SHARED_END),
        _ => None,
    }
}

/// Returns `true` if a name is that of the stub of a unified function.
pub fn is_unified_stub(name: &[u8]) -> bool {
    name.starts_with(b"__cuda_uf_stub_")
}

/// A variable in reserved shared memory: its name, its alignment and its size in bytes.
type ReservedVariable = (&'static [u8], u64, u64);

/// In every object with code for sm_110.
const BARRIER_WORKAROUND: ReservedVariable = (b"__nv_reservedSMEM_gb10b_war_var", 16, 128);

/// The variable that code with `tcgen05.alloc` keeps its columns of tensor memory in.
const TENSOR_MEMORY_PARTITION: ReservedVariable = (b"__nv_reservedSMEM_tcgen05_partition", 1, 32);

/// Those that code of compilers before 13.0 has in its place. Their objects cannot be linked with
/// later ones [tensor-memory-versions].
const OLDER_TENSOR_MEMORY: [ReservedVariable; 3] = [
    (b"__nv_reservedSMEM_devtool_atexit_pc", 8, 8),
    (b"__nv_reservedSMEM_allocation_mask", 4, 4),
    (b"__nv_reservedSMEM_allocation_phase", 1, 1),
];

/// The variables that sections of reserved shared memory hold, in the order of their offsets: that
/// of the largest alignment comes first [reserved-shared-variables-order].
const RESERVED_SHARED_SECTIONS: [&[ReservedVariable]; 4] = [
    &[BARRIER_WORKAROUND],
    &[TENSOR_MEMORY_PARTITION],
    &[BARRIER_WORKAROUND, TENSOR_MEMORY_PARTITION],
    &OLDER_TENSOR_MEMORY,
];

/// Returns `true` if a name is that of a variable in reserved shared memory, with this alignment and
/// size in bytes.
pub fn is_reserved_shared_variable(name: &[u8], align: u64, size: u64) -> bool {
    let mut variables = RESERVED_SHARED_SECTIONS.into_iter().flatten();
    variables.any(|known| *known == (name, align, size))
}

/// Returns the variables of a section of reserved shared memory with this alignment and size in
/// bytes; none of one that no compiler makes.
fn reserved_shared_variables(section: (u64, u64)) -> &'static [ReservedVariable] {
    let is_it = |variables: &&[ReservedVariable]| {
        let align = variables.iter().map(|variable| variable.1).max();
        let size = variables.iter().map(|variable| variable.2).sum();
        (align.unwrap_or(0), size) == section
    };
    let known = RESERVED_SHARED_SECTIONS.into_iter().find(is_it);
    known.unwrap_or_default()
}

/// Returns `true` if a section of reserved shared memory with this alignment and size in bytes holds
/// a variable with this alignment and size.
pub fn holds_reserved_shared_variable(section: (u64, u64), variable: (u64, u64)) -> bool {
    let mut variables = reserved_shared_variables(section).iter();
    variables.any(|known| (known.1, known.2) == variable)
}

/// Returns the offset in bytes of a variable in reserved shared memory, from the section of its
/// object and its own alignment and size.
pub fn reserved_shared_variable_offset(section: (u64, u64), variable: (u64, u64)) -> u64 {
    let variables = reserved_shared_variables(section).iter();
    let before = variables.take_while(|known| (known.1, known.2) != variable);
    before.map(|known| known.2).sum()
}

/// Returns `true` for names of variables in which code keeps its columns of tensor memory. What
/// follows the name in a table of names may stand after it.
pub fn is_tensor_memory_variable(name: &[u8]) -> bool {
    let mut variables = OLDER_TENSOR_MEMORY.iter().chain([&TENSOR_MEMORY_PARTITION]);
    name.starts_with(b"__nv_reservedSMEM_")
        && variables.any(|(known, ..)| matches!(name.strip_prefix(*known), Some([] | [0, ..])))
}

/// Returns the names of variables of which an object cannot have one beside this one in the same
/// link [tensor-memory-versions].
pub fn other_tensor_memory(name: &[u8]) -> &'static [&'static [u8]] {
    match name {
        b"__nv_reservedSMEM_tcgen05_partition" => &[
            b"__nv_reservedSMEM_allocation_mask",
            b"__nv_reservedSMEM_allocation_phase",
        ],
        _ if OLDER_TENSOR_MEMORY.iter().any(|known| known.0 == name) => {
            &[TENSOR_MEMORY_PARTITION.0]
        }
        _ => &[],
    }
}

/// How large the descriptors of textures, samplers and surfaces are, of which code asks the one that
/// a handle leads to for its properties: `txq` and `suq` of a handle in a register.
const DESCRIPTOR_SIZES: [&[u8]; 4] = [
    b".nv.unified.texrefDescSize",
    b".nv.independent.texrefDescSize",
    b".nv.independent.samplerrefDescSize",
    b".nv.surfrefDescSize",
];

/// Returns `true` for the names of sizes of descriptors. What follows the name in a table of names
/// may stand after it.
pub fn is_descriptor_size(name: &[u8]) -> bool {
    name.starts_with(b".nv.")
        && DESCRIPTOR_SIZES.iter().any(|known| {
            let rest = name.strip_prefix(*known);
            matches!(rest, Some([] | [0, ..]))
        })
}

/// Returns `true` for names that stay undefined in executables, for the driver to fill in.
pub fn is_of_driver(name: &[u8]) -> bool {
    is_reserved_shared_symbol(name) || is_descriptor_size(name)
}

/// Returns `true` if a name begins with a dot and is one that compilers or nvlink write.
pub fn is_dotted(name: &[u8]) -> bool {
    [
        CONSTANTS_SIZE,
        RESERVED_SHARED_BEGIN,
        RESERVED_SHARED_OFFSET,
        RESERVED_SHARED_CAP,
    ]
    .contains(&name)
        || is_descriptor_size(name)
        || name.starts_with(b".nv.constant.optimizer.")
}

/// How many columns of tensor memory code for debuggers may use: since CUDA 13.3, beside
/// `tcgen05.alloc`.
const TENSOR_MEMORY_COLUMNS: &[u8] = b"__tcgen05_tmem_max_col_size";

/// Returns `true` for names of the reserved shared memory and of tensor memory that stay undefined in
/// executables. What follows the name in a table of names may stand after it.
pub fn is_reserved_shared_symbol(name: &[u8]) -> bool {
    // Asked of the name of each relocation's symbol: most differ in their first bytes already.
    match name {
        [b'.', b'n', ..] => name.starts_with(b".nv.reservedSmem."),
        [b'_', b'_', ..] => {
            let rest = name.strip_prefix(TENSOR_MEMORY_COLUMNS);
            matches!(rest, Some([] | [0, ..]))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the offsets that nvlink gives the variables of an object of ptxas 12.9.
    #[test]
    fn the_largest_alignment_comes_first() {
        let section = (8, 13);
        let offsets = OLDER_TENSOR_MEMORY.map(|(_, align, size)| {
            assert!(holds_reserved_shared_variable(section, (align, size)));
            reserved_shared_variable_offset(section, (align, size))
        });
        assert_eq!(offsets, [0, 8, 12]);
        assert_eq!(reserved_shared_variable_offset((16, 160), (1, 32)), 128);
        assert!(!holds_reserved_shared_variable((16, 160), (8, 8)));
    }
}
