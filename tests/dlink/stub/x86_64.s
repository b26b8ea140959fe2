# The code of a link stub of two modules, those of ../three, for x86-64. tests/it/dlink/assembly.rs holds the stub against what
# GNU as makes of it. Functions that only the stub has are global here, so that references to them stay relocations.
	.globl cuweld_unregister, cuweld_register

	.text
	.p2align 4
cuweld_unregister:
	.cfi_startproc
	mov	cuweld_handle(%rip), %rdi
	jmp	__cudaUnregisterFatBinary@PLT
	.cfi_endproc

	.globl __cudaRegisterLinkedBinary_0fc5d568_4_a_cu_61ecfcf6
__cudaRegisterLinkedBinary_0fc5d568_4_a_cu_61ecfcf6:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	mov	%rdi, %rbx
	lea	cuweld_module_ids(%rip), %rdi
	call	*%rcx
	mov	__fatbinwrap_0fc5d568_4_a_cu_61ecfcf6@GOTPCREL(%rip), %rdi
	mov	%rbx, %rsi
	pop	%rbx
	.cfi_def_cfa_offset 8
	.cfi_restore %rbx
	jmp	cuweld_register@PLT
	.cfi_endproc

	.globl __cudaRegisterLinkedBinary_1d707a86_4_b_cu_8e450714
__cudaRegisterLinkedBinary_1d707a86_4_b_cu_8e450714:
	.cfi_startproc
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	mov	%rdi, %rbx
	lea	cuweld_module_ids+8(%rip), %rdi
	call	*%rcx
	mov	__fatbinwrap_1d707a86_4_b_cu_8e450714@GOTPCREL(%rip), %rdi
	mov	%rbx, %rsi
	pop	%rbx
	.cfi_def_cfa_offset 8
	.cfi_restore %rbx
	jmp	cuweld_register@PLT
	.cfi_endproc

cuweld_register:
	.cfi_startproc
	mov	cuweld_registered_modules(%rip), %eax
	mov	8(%rdi), %rdx
	lea	cuweld_prelinked_fatbins(%rip), %rcx
	mov	%rdx, (%rcx,%rax,8)
	lea	cuweld_callbacks(%rip), %rdx
	mov	%rsi, (%rdx,%rax,8)
	add	$1, %eax
	mov	%eax, cuweld_registered_modules(%rip)
	.byte	0x3d; .long 2 # cmp $2, %eax
	je	1f
	ret
1:	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16
	lea	cuweld_descriptor(%rip), %rdi
	call	__cudaRegisterFatBinary@PLT
	mov	%rax, cuweld_handle(%rip)
	lea	cuweld_unregister(%rip), %rdi
	call	atexit@PLT
	xor	%ebx, %ebx
2:	mov	cuweld_handle(%rip), %rdi
	lea	cuweld_callbacks(%rip), %rax
	call	*(%rax,%rbx,8)
	add	$1, %ebx
	.byte	0x81, 0xfb; .long 2 # cmp $2, %ebx
	jne	2b
	mov	cuweld_handle(%rip), %rdi
	pop	%rbx
	.cfi_def_cfa_offset 8
	.cfi_restore %rbx
	jmp	__cudaRegisterFatBinaryEnd@PLT
	.cfi_endproc
