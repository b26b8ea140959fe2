//! Codes of `.nv.info` records (EIATTR_*), with what the linker knows of them.

macro_rules! attributes {
    ($($code:literal $name:ident,)*) => {
        $(
            #[doc = concat!("EIATTR_", stringify!($name), ".")]
            pub const $name: u8 = $code;
        )*

        /// Returns the name of a code, without `EIATTR_`; `None` for codes that NVIDIA's tools do
        /// not name.
        pub fn attribute_name(code: u8) -> Option<&'static str> {
            match code {
                $($code => Some(stringify!($name)),)*
                _ => None,
            }
        }

        /// Returns the code with this name.
        pub fn attribute_by_name(name: &str) -> Option<u8> {
            match name {
                $(stringify!($name) => Some($code),)*
                _ => None,
            }
        }
    };
}

attributes! {
    0x00 ERROR,
    0x01 PAD,
    0x02 IMAGE_SLOT,
    0x03 JUMPTABLE_RELOCS,
    0x04 CTAIDZ_USED,
    0x05 MAX_THREADS,
    0x06 IMAGE_OFFSET,
    0x07 IMAGE_SIZE,
    0x08 TEXTURE_NORMALIZED,
    0x09 SAMPLER_INIT,
    0x0a PARAM_CBANK,
    0x0b SMEM_PARAM_OFFSETS,
    0x0c CBANK_PARAM_OFFSETS,
    0x0d SYNC_STACK,
    0x0e TEXID_SAMPID_MAP,
    0x0f EXTERNS,
    0x10 REQNTID,
    0x11 FRAME_SIZE,
    0x12 MIN_STACK_SIZE,
    0x13 SAMPLER_FORCE_UNNORMALIZED,
    0x14 BINDLESS_IMAGE_OFFSETS,
    0x15 BINDLESS_TEXTURE_BANK,
    0x16 BINDLESS_SURFACE_BANK,
    0x17 KPARAM_INFO,
    0x18 SMEM_PARAM_SIZE,
    0x19 CBANK_PARAM_SIZE,
    0x1a QUERY_NUMATTRIB,
    0x1b MAXREG_COUNT,
    0x1c EXIT_INSTR_OFFSETS,
    0x1d S2RCTAID_INSTR_OFFSETS,
    0x1e CRS_STACK_SIZE,
    0x1f NEED_CNP_WRAPPER,
    0x20 NEED_CNP_PATCH,
    0x21 EXPLICIT_CACHING,
    0x22 ISTYPEP_USED,
    0x23 MAX_STACK_SIZE,
    0x24 SUQ_USED,
    0x25 LD_CACHEMOD_INSTR_OFFSETS,
    0x26 LOAD_CACHE_REQUEST,
    0x27 ATOM_SYS_INSTR_OFFSETS,
    0x28 COOP_GROUP_INSTR_OFFSETS,
    0x29 COOP_GROUP_MASK_REGIDS,
    0x2a SW1850030_WAR,
    0x2b WMMA_USED,
    0x2c HAS_PRE_V10_OBJECT,
    0x2d ATOMF16_EMUL_INSTR_OFFSETS,
    0x2e ATOM16_EMUL_INSTR_REG_MAP,
    0x2f REGCOUNT,
    0x30 SW2393858_WAR,
    0x31 INT_WARP_WIDE_INSTR_OFFSETS,
    0x32 SHARED_SCRATCH,
    0x33 STATISTICS,
    0x34 INDIRECT_BRANCH_TARGETS,
    0x35 SW2861232_WAR,
    0x36 SW_WAR,
    0x37 CUDA_API_VERSION,
    0x38 NUM_MBARRIERS,
    0x39 MBARRIER_INSTR_OFFSETS,
    0x3a COROUTINE_RESUME_ID_OFFSETS,
    0x3b SAM_REGION_STACK_SIZE,
    0x3c PER_REG_TARGET_PERF_STATS,
    0x3d CTA_PER_CLUSTER,
    0x3e EXPLICIT_CLUSTER,
    0x3f MAX_CLUSTER_RANK,
    0x40 INSTR_REG_MAP,
    0x41 RESERVED_SMEM_USED,
    0x42 RESERVED_SMEM_0_SIZE,
    0x43 UCODE_SECTION_DATA,
    0x44 UNUSED_LOAD_BYTE_OFFSET,
    0x45 KPARAM_INFO_V2,
    0x46 SYSCALL_OFFSETS,
    0x47 SW_WAR_MEMBAR_SYS_INSTR_OFFSETS,
    0x48 GRAPHICS_GLOBAL_CBANK,
    0x49 SHADER_TYPE,
    0x4a VRC_CTA_INIT_COUNT,
    0x4b TOOLS_PATCH_FUNC,
    0x4c NUM_BARRIERS,
    0x4d TEXMODE_INDEPENDENT,
    0x4e PERF_STATISTICS,
    0x4f AT_ENTRY_FRAGMENTS,
    0x50 SPARSE_MMA_MASK,
    0x51 TCGEN05_1CTA_USED,
    0x52 TCGEN05_2CTA_USED,
    0x53 GEN_ERRBAR_AT_EXIT,
    0x54 REG_RECONFIG,
    0x55 ANNOTATIONS,
    0x57 STACK_CANARY_TRAP_OFFSETS,
    0x58 STUB_FUNCTION_KIND,
    0x59 LOCAL_CTA_ASYNC_STORE_OFFSETS,
    0x5a MERCURY_FINALIZER_OPTIONS,
    0x5b BLOCKS_ARE_CLUSTERS,
    0x5c SANITIZE,
    0x5d SYSCALLS_FALLBACK,
    0x5e CUDA_REQ,
    0x5f MERCURY_ISA_VERSION,
    0x61 RTCORE_ENTRY,
    0x62 CLUSTER_LAUNCH_CONTROL_USED,
    0x64 MIN_PER_CTA_MEMORY_SIZE,
    0x65 IGNOREOOB_CP_ASYNC_BULK_INSTR_OFFSETS,
    0x66 LANGUAGE,
    0x68 MULTIMEM_USED,
    0x6b NVSAL_SW_WAR,
    0x6d PREEXIT_USED,
}

/// The version of Mercury, 1.0, of compilers before 13.0, which name none.
pub const FIRST_MERCURY_ISA: u16 = 0x0100;

/// Returns `true` if a record holds places of instructions, which each view of code has its own of.
pub const fn holds_places(code: u8) -> bool {
    matches!(
        code,
        EXIT_INSTR_OFFSETS
            | S2RCTAID_INSTR_OFFSETS
            | LD_CACHEMOD_INSTR_OFFSETS
            | ATOM_SYS_INSTR_OFFSETS
            | COOP_GROUP_INSTR_OFFSETS
            | ATOMF16_EMUL_INSTR_OFFSETS
            | ATOM16_EMUL_INSTR_REG_MAP
            | INT_WARP_WIDE_INSTR_OFFSETS
            | INDIRECT_BRANCH_TARGETS
            | MBARRIER_INSTR_OFFSETS
            | INSTR_REG_MAP
            | COROUTINE_RESUME_ID_OFFSETS
            | UNUSED_LOAD_BYTE_OFFSET
            | SYSCALL_OFFSETS
            | SW_WAR_MEMBAR_SYS_INSTR_OFFSETS
            | ANNOTATIONS
            | STACK_CANARY_TRAP_OFFSETS
            | LOCAL_CTA_ASYNC_STORE_OFFSETS
            | IGNOREOOB_CP_ASYNC_BULK_INSTR_OFFSETS
    )
}

/// Returns the number of leading 32-bit words of an S record's payload that are symbol indices.
pub const fn reference_words(code: u8, payload_words: usize) -> usize {
    match code {
        IMAGE_SLOT
        | IMAGE_OFFSET
        | IMAGE_SIZE
        | TEXTURE_NORMALIZED
        | SAMPLER_INIT
        | PARAM_CBANK
        | FRAME_SIZE
        | MIN_STACK_SIZE
        | SAMPLER_FORCE_UNNORMALIZED
        | BINDLESS_IMAGE_OFFSETS
        | KPARAM_INFO
        | MAX_STACK_SIZE
        | LOAD_CACHE_REQUEST
        | REGCOUNT
        | SAM_REGION_STACK_SIZE
        | KPARAM_INFO_V2
            if payload_words > 0 =>
        {
            1
        }
        EXTERNS => payload_words,
        _ => 0,
    }
}
