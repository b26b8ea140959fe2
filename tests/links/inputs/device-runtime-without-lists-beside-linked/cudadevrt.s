# Device code to link, as the device runtime has it, without lists of what host code refers to.
.section __nv_relfatbin, "a"
.align 8
code:
.incbin "sm_90/code.fatbin"

.section .nvFatBinSegment, "aw"
.align 8
.long 0x466243b1, 1
.quad code, 0

.section __nv_module_id, "a"
.asciz "__NV_MODULE_ID"
