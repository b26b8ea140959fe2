//! CUDA 13.0, from which later releases differ by little.

use super::Stamp;
use super::Toolkit;
use crate::behaviours::Release;

/// CUDA 13.0, in its last version.
pub static V13_0: Toolkit = BASE;

/// What [`V13_0`] holds, for the tables of other releases.
pub(super) const BASE: Toolkit = Toolkit {
    release: Release {
        major: 13,
        minor: 0,
    },
    patch: 88,
    version: "13.0.88",
    stamp: Stamp {
        name: "nvlink-13.0.88",
        tool: "nvlink",
        version: "Cuda compilation tools, release 13.0, V13.0.88",
        branch: "Build cuda_13.0.r13.0/compiler.36424714_0",
    },
    number: 0x82,
    oldest_number: 0x78,
    first_v10_number: 0x64,
    relocation_action: [
        0x73, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0x25, 0, 0x05, 0x36,
    ],
    system_call_prefix: b"__cuda_syscall",
    system_functions: &[
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
    ],
    mercury_version: 0x101,
    finalizer_version: 0,
    mercury_parameters_start: 0x380,
    reserved_shared_start: 0x40,
    jit_library: "libnvJitLink.so.13",
};
