; Parameters by value, variable arguments, memory of a size that is not known, vectors, calls with prototypes.
target triple = "nvptx64-nvidia-cuda"

%big = type { [20 x i32], double }

declare void @llvm.va_start(ptr)
declare void @llvm.va_end(ptr)

define i32 @first(i32 %n, ...) noinline {
  %list = alloca ptr
  call void @llvm.va_start(ptr %list)
  %a = va_arg ptr %list, i32
  %b = va_arg ptr %list, i32
  call void @llvm.va_end(ptr %list)
  %c = add i32 %a, %b
  ret i32 %c
}

define <4 x float> @vectors(<4 x float> %a, <2 x half> %b) noinline {
  %c = extractelement <2 x half> %b, i32 1
  %d = fpext half %c to float
  %e = insertelement <4 x float> %a, float %d, i32 2
  ret <4 x float> %e
}

define %big @made(ptr byval(%big) align 8 %p, i128 %wide) noinline {
  %a = load %big, ptr %p
  %b = trunc i128 %wide to i32
  %c = insertvalue %big %a, i32 %b, 0, 3
  ret %big %c
}

define ptx_kernel void @values(ptr addrspace(1) %out, ptr byval(%big) align 8 %p, <4 x float> %v, <2 x half> %h, ptr %f) {
  %a = call i32 (i32, ...) @first(i32 2, i32 5, i32 7)
  %b = call %big @made(ptr byval(%big) align 8 %p, i128 77)
  %c = extractvalue %big %b, 0, 3
  %d = call <4 x float> @vectors(<4 x float> %v, <2 x half> %h)
  %e = extractelement <4 x float> %d, i32 2
  %g = fptosi float %e to i32
  %i = call <2 x i32> %f(i32 %g, ptr byval(%big) align 8 %p)
  %j = extractelement <2 x i32> %i, i32 1
  %k = add i32 %a, %c
  %l = add i32 %k, %j
  store i32 %l, ptr addrspace(1) %out
  ret void
}

!nvvm.annotations = !{!0}
!0 = !{ptr @values, !"kernel", i32 1}
