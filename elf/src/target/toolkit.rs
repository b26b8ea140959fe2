//! What belongs to toolkit 13.0.88 alone: version words, strings, accepted names.

/// Toolkit version in `.note.nv.cuinfo`: 13.0.
pub const TOOLKIT: u32 = 0x82;

/// Oldest toolkit whose sm_90 objects are accepted: 12.0.
pub const OLDEST_TOOLKIT: u32 = 0x78;

/// Objects of older toolkits (10.0) make nvlink record HAS_PRE_V10_OBJECT [pre-v10-object].
pub const FIRST_V10_TOOLKIT: u32 = 0x64;

/// Owner name of NVIDIA's notes.
pub const NOTE_OWNER: &[u8] = b"NVIDIA Corp\0";

/// `n_type` of `.note.nv.cuinfo`.
pub const NOTE_CUDA_INFO: u32 = 1000;

/// `n_type` of `.note.nv.tkinfo`.
pub const NOTE_TOOL_INFO: u32 = 2000;

/// Tool name that `--stamp=nvlink-13.0.88` records.
pub const STAMP_TOOL: &str = "nvlink";
/// Tool version that `--stamp=nvlink-13.0.88` records.
pub const STAMP_VERSION: &str = "Cuda compilation tools, release 13.0, V13.0.88";
/// Tool branch that `--stamp=nvlink-13.0.88` records.
pub const STAMP_BRANCH: &str = "Build cuda_13.0.r13.0/compiler.36424714_0";

/// Contents of `.nv.rel.action`: the field layout of CONST_FIELD22_37 for older drivers.
pub const REL_ACTION: [u8; 16] = [
    0x73, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0x25, 0, 0x05, 0x36,
];

/// Functions that may stay undefined because the driver provides them, besides those that begin with
/// [`SYSTEM_CALL_PREFIX`] [system-functions]. ptxas knows the same names: it takes no address of them.
const SYSTEM_FUNCTIONS: [&[u8]; 33] = [
    b"__assertfail",
    b"__profile",
    b"cnpCtxSynchronize",
    b"cnpDeviceGetAttribute",
    b"cnpDeviceGetName",
    b"cnpEventCreate",
    b"cnpEventDestroy",
    b"cnpEventRecord",
    b"cnpFuncGetAttribute",
    b"cnpGetCacheConfig",
    b"cnpGetDevice",
    b"cnpGetDeviceCount",
    b"cnpGetLastError",
    b"cnpGetLimit",
    b"cnpGetParameterBuffer",
    b"cnpGetParameterBufferV2",
    b"cnpGetSharedMemConfig",
    b"cnpLaunchDevice",
    b"cnpLaunchDeviceV2",
    b"cnpSetLastError",
    b"cnpStreamCreate",
    b"cnpStreamDestroy",
    b"cnpStreamWaitEvent",
    b"cudaGraphKernelNodeSetEnabled",
    b"cudaGraphKernelNodeSetGridDim",
    b"cudaGraphKernelNodeSetParam",
    b"cudaGraphKernelNodeUpdatesApply",
    b"cudaGraphLaunch",
    b"cudaGraphSetConditional",
    b"free",
    b"malloc",
    b"vfprintf",
    b"vprintf",
];

/// What the names of system calls begin with.
const SYSTEM_CALL_PREFIX: &[u8] = b"__cuda_syscall";

/// Whether an undefined function of this name is accepted.
pub fn is_system_function(name: &[u8]) -> bool {
    name.starts_with(SYSTEM_CALL_PREFIX) || SYSTEM_FUNCTIONS.binary_search(&name).is_ok()
}

/// Undefined in the device runtime: how many bytes of constants of all kernels there are.
pub const CONSTANTS_SIZE: &[u8] = b".nv.ptx.const0.size";

/// The unified table symbol whose relocations always go in a link without tables [unified-offset-goes].
pub const UNIFIED_FUNCTIONS_OFFSET: &[u8] = b"__UFT_OFFSET";

/// The name that relocatable output has for the dynamic shared memory of each kernel that uses some
/// [dynamic-shared-instance].
pub const DYNAMIC_SHARED_INSTANCE: &[u8] = b"externsharedinstance";

/// Whether a name is one of the unified table symbols that the output drops when there is no table.
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

/// Whether a name is that of a variable in reserved shared memory that ptxas makes: one in every object with code for sm_110,
/// and one in objects with `tcgen05.alloc`.
pub fn is_reserved_shared_variable(name: &[u8]) -> bool {
    matches!(
        name,
        b"__nv_reservedSMEM_gb10b_war_var" | TENSOR_MEMORY_PARTITION
    )
}

/// The variable that code with `tcgen05.alloc` keeps its columns of tensor memory in.
pub const TENSOR_MEMORY_PARTITION: &[u8] = b"__nv_reservedSMEM_tcgen05_partition";

/// Where parameters begin in bank 0 of kernels for sm_100 and up, in bytes: the least place of the slots of textures behind.
pub const MERCURY_PARAMETERS_START: u64 = 0x380;

/// Where variables in reserved shared memory begin, in bytes, in the SASS view of executables.
pub const RESERVED_SHARED_START: u64 = 0x40;

/// The name of the reserved shared memory symbols, which stay undefined in executables.
pub fn is_reserved_shared_symbol(name: &[u8]) -> bool {
    name.starts_with(b".nv.reservedSmem.")
}
