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

/// The end of the reserved part.
pub const RESERVED_SHARED_CAP: &[u8] = b".nv.reservedSmem.cap";

/// Returns `true` if a name is that of the stub of a unified function.
pub fn is_unified_stub(name: &[u8]) -> bool {
    name.starts_with(b"__cuda_uf_stub_")
}

/// Returns `true` if a name is that of a variable in reserved shared memory that ptxas makes: one
/// in every object with code for sm_110, and one in objects with `tcgen05.alloc`.
pub fn is_reserved_shared_variable(name: &[u8]) -> bool {
    matches!(
        name,
        b"__nv_reservedSMEM_gb10b_war_var" | TENSOR_MEMORY_PARTITION
    )
}

/// The variable that code with `tcgen05.alloc` keeps its columns of tensor memory in.
pub const TENSOR_MEMORY_PARTITION: &[u8] = b"__nv_reservedSMEM_tcgen05_partition";

/// Returns the name of the reserved shared memory symbols, which stay undefined in executables.
pub fn is_reserved_shared_symbol(name: &[u8]) -> bool {
    name.starts_with(b".nv.reservedSmem.")
}
