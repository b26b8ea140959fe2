// The code of a link stub of two modules, those of ../three, for 64-bit Arm. tests/it/dlink/assembly.rs holds the stub against
// what GNU as makes of it. Functions that only the stub has are global here, so that references to them stay relocations.
	.globl cuweld_unregister, cuweld_register

	.text
	.p2align 4
cuweld_unregister:
	.cfi_startproc
	adrp	x0, cuweld_handle
	add	x0, x0, :lo12:cuweld_handle
	ldr	x0, [x0]
	b	__cudaUnregisterFatBinary
	.cfi_endproc

	.globl __cudaRegisterLinkedBinary_0fc5d568_4_a_cu_61ecfcf6
__cudaRegisterLinkedBinary_0fc5d568_4_a_cu_61ecfcf6:
	.cfi_startproc
	stp	x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset x29, -32
	.cfi_offset x30, -24
	mov	x29, sp
	stp	x19, x20, [sp, #16]
	.cfi_offset x19, -16
	.cfi_offset x20, -8
	mov	x19, x0
	adrp	x0, cuweld_module_ids
	add	x0, x0, :lo12:cuweld_module_ids
	blr	x3
	adrp	x0, :got:__fatbinwrap_0fc5d568_4_a_cu_61ecfcf6
	ldr	x0, [x0, :got_lo12:__fatbinwrap_0fc5d568_4_a_cu_61ecfcf6]
	mov	x1, x19
	ldp	x19, x20, [sp, #16]
	ldp	x29, x30, [sp], #32
	.cfi_def_cfa_offset 0
	.cfi_restore x19
	.cfi_restore x20
	.cfi_restore x29
	.cfi_restore x30
	b	cuweld_register
	.cfi_endproc

	.globl __cudaRegisterLinkedBinary_1d707a86_4_b_cu_8e450714
__cudaRegisterLinkedBinary_1d707a86_4_b_cu_8e450714:
	.cfi_startproc
	stp	x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset x29, -32
	.cfi_offset x30, -24
	mov	x29, sp
	stp	x19, x20, [sp, #16]
	.cfi_offset x19, -16
	.cfi_offset x20, -8
	mov	x19, x0
	adrp	x0, cuweld_module_ids+8
	add	x0, x0, :lo12:cuweld_module_ids+8
	blr	x3
	adrp	x0, :got:__fatbinwrap_1d707a86_4_b_cu_8e450714
	ldr	x0, [x0, :got_lo12:__fatbinwrap_1d707a86_4_b_cu_8e450714]
	mov	x1, x19
	ldp	x19, x20, [sp, #16]
	ldp	x29, x30, [sp], #32
	.cfi_def_cfa_offset 0
	.cfi_restore x19
	.cfi_restore x20
	.cfi_restore x29
	.cfi_restore x30
	b	cuweld_register
	.cfi_endproc

cuweld_register:
	.cfi_startproc
	adrp	x2, cuweld_registered_modules
	add	x2, x2, :lo12:cuweld_registered_modules
	ldr	w3, [x2]
	ldr	x4, [x0, #8]
	adrp	x5, cuweld_prelinked_fatbins
	add	x5, x5, :lo12:cuweld_prelinked_fatbins
	str	x4, [x5, x3, lsl #3]
	adrp	x5, cuweld_callbacks
	add	x5, x5, :lo12:cuweld_callbacks
	str	x1, [x5, x3, lsl #3]
	add	w3, w3, #1
	str	w3, [x2]
	movz	w4, #2
	movk	w4, #0, lsl #16
	cmp	w3, w4
	b.eq	1f
	ret
1:
	stp	x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset x29, -32
	.cfi_offset x30, -24
	mov	x29, sp
	stp	x19, x20, [sp, #16]
	.cfi_offset x19, -16
	.cfi_offset x20, -8
	adrp	x0, cuweld_descriptor
	add	x0, x0, :lo12:cuweld_descriptor
	bl	__cudaRegisterFatBinary
	adrp	x19, cuweld_handle
	add	x19, x19, :lo12:cuweld_handle
	str	x0, [x19]
	adrp	x0, cuweld_unregister
	add	x0, x0, :lo12:cuweld_unregister
	bl	atexit
	mov	w20, #0
2:	ldr	x0, [x19]
	adrp	x1, cuweld_callbacks
	add	x1, x1, :lo12:cuweld_callbacks
	ldr	x1, [x1, x20, lsl #3]
	blr	x1
	add	w20, w20, #1
	movz	w4, #2
	movk	w4, #0, lsl #16
	cmp	w20, w4
	b.ne	2b
	ldr	x0, [x19]
	ldp	x19, x20, [sp, #16]
	ldp	x29, x30, [sp], #32
	.cfi_def_cfa_offset 0
	.cfi_restore x19
	.cfi_restore x20
	.cfi_restore x29
	.cfi_restore x30
	b	__cudaRegisterFatBinaryEnd
	.cfi_endproc
