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

/// The variables in reserved shared memory that ptxas makes, with their alignments and sizes in
/// bytes: one in every object with code for sm_110, and one in objects with `tcgen05.alloc`.
const RESERVED_SHARED_VARIABLES: [(&[u8], u64, u64); 2] = [
    (b"__nv_reservedSMEM_gb10b_war_var", 16, 128),
    (TENSOR_MEMORY_PARTITION, 1, 32),
];

/// Returns `true` if a name is that of a variable in reserved shared memory, with this alignment and
/// size in bytes.
pub fn is_reserved_shared_variable(name: &[u8], align: u64, size: u64) -> bool {
    RESERVED_SHARED_VARIABLES.contains(&(name, align, size))
}

/// Returns `true` if a section of reserved shared memory with this alignment and size in bytes holds
/// a variable with this alignment and size, alone or beside the other one.
pub fn holds_reserved_shared_variable(section: (u64, u64), variable: (u64, u64)) -> bool {
    let both = RESERVED_SHARED_VARIABLES
        .iter()
        .fold((1, 0), |(align, size), row| {
            (row.1.max(align), size + row.2)
        });
    section == variable || section == both
}

/// Returns the offset in bytes of a variable in reserved shared memory, from the section of its
/// object and its own alignment and size: that of the largest alignment comes first
/// [reserved-shared-variables-order].
pub fn reserved_shared_variable_offset(section: (u64, u64), variable: (u64, u64)) -> u64 {
    match variable.0 == section.0 {
        true => 0,
        false => section.1.saturating_sub(variable.1),
    }
}

/// The variable that code with `tcgen05.alloc` keeps its columns of tensor memory in.
pub const TENSOR_MEMORY_PARTITION: &[u8] = b"__nv_reservedSMEM_tcgen05_partition";

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
